"""Where the labels of upright marks go: above the plot, none over another, and no mark without words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from ohash.plots.chart import Mark
from ohash.plots.layout import fitted, text_width


@dataclass(frozen=True)
class Placed:
    """An upright mark with its label above the plot; `lane` is None where it has none, or another one's tells of it."""

    mark: Mark
    lane: int | None
    align: Literal["left", "center", "right"]
    label: str


def place(
    marks: Sequence[Mark], at: Callable[[float], float], width: float, size: float, lanes: int = 3
) -> list[Placed]:
    """Labels of upright marks in lanes above the plot, inside its width, none over another; later marks go first.

    Where there is no room for one, it shares that of its nearest neighbour, so that no mark is silent.
    """
    order = tuple(sorted(marks, key=lambda mark: mark.at))
    return list(_placed(order, tuple(at(mark.at) for mark in order), width, size, lanes))


@lru_cache(maxsize=256)  # from one picture to the next they seldom move
def _placed(
    order: tuple[Mark, ...], where: tuple[float, ...], width: float, size: float, lanes: int
) -> tuple[Placed, ...]:
    at = dict(zip((mark.at for mark in order), where, strict=True)).__getitem__
    groups = [[mark] for mark in order if mark.label]
    found, left_out = _stacked(groups, at, width, size, lanes)
    while left_out is not None and len(groups) > 1:
        gaps = [at(after[0].at) - at(before[-1].at) for before, after in pairwise(groups)]
        k = min((k for k in (left_out - 1, left_out) if 0 <= k < len(gaps)), key=lambda k: gaps[k])
        groups[k : k + 2] = [groups[k] + groups[k + 1]]
        found, left_out = _stacked(groups, at, width, size, lanes)
    told = {id(one.mark): one for one in found}
    return tuple(told.get(id(mark), Placed(mark, None, "center", "")) for mark in order)


def _stacked(
    groups: Sequence[Sequence[Mark]], at: Callable[[float], float], width: float, size: float, lanes: int
) -> tuple[list[Placed], int | None]:
    """One label a group, at its middle mark; and the first group, from the right, without room."""
    taken: list[list[tuple[float, float]]] = [[] for _ in range(lanes)]
    found: list[Placed] = []
    for k, group in reversed(list(enumerate(groups))):
        mark = group[len(group) // 2]
        middle = at(mark.at) * width
        room = max(middle, width - middle, 2 * min(middle, width - middle))
        label = fitted(shared([one.label for one in group]), room - 4, size)
        half = text_width(label, size) / 2 + 2
        align: Literal["left", "center", "right"] = "center"
        left = middle - half
        if left < 0 and middle + 2 * half <= width:
            align, left = "left", middle
        elif left < 0 or middle + half > width:
            align, left = "right", middle - 2 * half
        span = (left, left + 2 * half)
        free = (k for k in range(lanes) if all(span[1] <= a or b <= span[0] for a, b in taken[k]))
        lane = next(free, None)
        if lane is None:
            return found, k
        taken[lane].append(span)
        found.append(Placed(mark, lane, align, label))
    return found, None


def shared(labels: Sequence[str]) -> str:
    """One label for several marks in their order: of each name its first and its last value.

    >>> shared(["β = 0.51", "β = 0.52", "β = 0.53, C = 1"]), shared(["drift", "C = 1", "C = 1"])
    ('β = 0.51 … 0.53, C = 1', 'drift, C = 1')
    """
    values: dict[str, list[str]] = {}
    for part in ", ".join(labels).split(", "):
        name, _, value = part.partition(" = ")
        values.setdefault(name, []).append(value)
    return ", ".join(_of_one(name, several) for name, several in values.items())


def _of_one(name: str, values: Sequence[str]) -> str:
    if len(set(values)) > 1:
        return f"{name} = {values[0]} … {values[-1]}"
    return f"{name} = {values[0]}" if values[0] else name
