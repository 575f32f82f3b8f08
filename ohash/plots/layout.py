"""Limits, ticks and the places of labels: what the renderers share so that nothing overlaps or is cut off.

Where the labels of upright marks go: above the plot, none over another, and no mark without words.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np

from ohash import number_formats as formats
from ohash.core.arrays import Numbers, Reals
from ohash.plots import line_labels, point_labels
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.thinning import drawable, thin

# Width of a character in units of the type size, on the generous side; capitals, m and w are wider.
CHARACTER, WIDE = 0.53, 0.76
GAP = 8.0  # px between the end of a line and its label
# A plot on a small laptop, compared with the width it is supposed to have.
NARROWER = 0.7


def text_width(text: str, size: float) -> float:
    """About how wide a text is.

    >>> text_width("MMOH", 10) > text_width("mean", 10) > text_width("at", 10)
    True
    """
    wide = sum(letter.isupper() or letter in "mw%" for letter in text)
    return size * (CHARACTER * (len(text) - wide) + WIDE * wide)


def truncate(text: str, width: float, size: float) -> str:
    """The text, or so much of its beginning as has room.

    >>> truncate("pinned: OH", 60, 10), truncate("pinned: OH on test queries", 60, 10)
    ('pinned: OH', 'pinned: O…')
    """
    if text_width(text, size) <= width:
        return text
    room = next((n for n in range(len(text) - 1, 0, -1) if text_width(f"{text[:n].rstrip()}…", size) <= width), 0)
    return f"{text[:room].rstrip(' ,:;(')}…"


def limits(chart: Chart, which: Literal["x", "y"]) -> tuple[float, float]:
    """The ends of an axis: as declared, else around the data and the marks, at ticks."""
    axis: Axis = getattr(chart, which)
    if axis.lo is not None and axis.hi is not None:
        return axis.lo, axis.hi
    drawn = [drawable(series, chart) for series in chart.series]
    parts = [getattr(series, which) for series in drawn]
    if which == "y":
        parts += [series.y + sign * series.spread for series in drawn if series.spread is not None for sign in (-1, 1)]
    parts.append(np.array([mark.at for mark in chart.marks if mark.axis == which and math.isfinite(mark.at)]))
    values = np.concatenate(parts)
    if axis.scale == "log":
        values = values[values > 0]
        lo, hi = (float(values.min()), float(values.max())) if len(values) else (1.0, 10.0)
        first, final = math.floor(math.log10(lo) + 1e-9), math.ceil(math.log10(hi) - 1e-9)
        ends = float(f"1e{first}"), float(f"1e{max(final, first + 1)}")
    else:
        lo, hi = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        lo = lo if axis.lo is None else axis.lo
        hi = hi if axis.hi is None else axis.hi
        step = tick_step(lo, hi if hi > lo else lo + 1, whole=axis.format == "count")
        ends = math.floor(lo / step + 1e-9) * step, max(math.ceil(hi / step - 1e-9), math.floor(lo / step) + 1) * step
    low, high = (float(f"{end:.9g}") for end in ends)
    return low if axis.lo is None else axis.lo, high if axis.hi is None else axis.hi


def tick_step(lo: float, hi: float, max_steps: int = 5, *, whole: bool = False) -> float:
    """The distance of ticks, 1, 2 or 5 times a power of ten, for at most so many steps; `whole`: 1 at least.

    >>> tick_step(0, 1), tick_step(0.6, 1.0), tick_step(0, 40_000)
    (0.2, 0.1, 10000.0)
    """
    raw = (hi - lo) / max_steps
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(step for step in (1, 2, 5, 10) if step * unit >= raw * (1 - 1e-9)) * unit
    return max(1.0, step) if whole else float(f"{step:.6g}")


def ticks(lo: float, hi: float, axis: Axis, max_steps: int = 5) -> list[float]:
    """Tick values from lo to hi.

    >>> ticks(0.6, 1.0, Axis("mAP")), ticks(1, 20_000, Axis("pairs", "log"))
    ([0.6, 0.7, 0.8, 0.9, 1.0], [1.0, 10.0, 100.0, 1000.0, 10000.0])
    """
    if axis.at:
        return [value for value in axis.at if lo <= value <= hi]
    if axis.scale == "log":
        first, last = math.ceil(math.log10(lo) - 1e-9), math.floor(math.log10(hi) + 1e-9)
        every = -(-(last - first + 1) // (max_steps + 2))
        return [float(f"1e{power}") for power in range(first, last + 1, every)]
    step = tick_step(lo, hi, max_steps, whole=axis.format == "count")
    return [float(f"{k * step:.9g}") for k in range(math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9) + 1)]


def tick_label(value: float, axis: Axis) -> str:
    """A tick in words.

    >>> tick_label(0.6, Axis("", format="share")), tick_label(1e-8, Axis("", "log", format="power"))
    ('0.6', '10⁻⁸')
    """
    if axis.names:
        return axis.names[axis.at.index(value)] if value in axis.at else ""
    if axis.format == "power":
        return formats.power(value)
    return formats.count(value) if axis.format == "count" or abs(value) >= 1000 else f"{value:g}"


def position(value: float, lo: float, hi: float, scale: str) -> float:
    """Where a value lies between the ends of an axis, 0 to 1.

    >>> position(10, 1, 100, "log"), position(0.5, 0, 2, "linear")
    (0.5, 0.25)
    """
    if scale == "log":
        value, lo, hi = (math.log10(max(each, 1e-300)) for each in (value, lo, hi))
    return (value - lo) / (hi - lo) if hi > lo else 0.0


def _positions(values: Numbers, lo: float, hi: float, scale: str) -> Reals:
    """`position` of many values, all positive on a logarithmic axis."""
    if scale == "log":
        values, lo, hi = np.log10(values), math.log10(lo), math.log10(hi)
    return np.asarray((values - lo) / (hi - lo)) if hi > lo else np.zeros(len(values))


@dataclass(frozen=True)
class SideLabel:
    """A label beside the plot, or beside a lone point; `at` is where it belongs, `up` how far it must move.

    One that is `over` its line ends where the line does. That of a lone point begins, or ends, `across` from it; where
    another point is as near, a line leads from the point to its `leader`.
    """

    of: Series | Mark
    at: tuple[float, float]
    up: float
    over: bool = False
    across: float | None = None
    leader: tuple[float, float] | None = None


def with_labels(chart: Chart) -> list[Series | Mark]:
    """What has a label beside the plot or a point."""
    level_marks = [mark for mark in chart.marks if mark.label and mark.axis == "y"]
    return [*(one for one in chart.series if one.label and len(drawable(one, chart).x)), *level_marks]


def labels(
    chart: Chart,
    width: float,
    height: float,
    size: float,
    narrowest: float | None = None,
    taller: float = 1.0,
    widest: float | None = None,
) -> list[SideLabel]:
    """Labels beside the last point of each series, and of level marks right of a plot of this size.

    Where they would overlap, or cover a lone point, they move up or down; an optional one without room is left out. Of
    a plot that follows the width of the window, `narrowest` is the smallest at which labels must not overlap: what is
    apart there is so in a wider one. `taller` is how many times as high the plot may be. Names of lone points
    are free up to the `widest`, too.
    """
    several = with_labels(chart)
    if not several:
        return []
    x_ends, y_ends = limits(chart, "x"), limits(chart, "y")
    wanted: list[tuple[Series | Mark, tuple[float, float]]] = []
    for one in several:
        if isinstance(one, Mark):
            wanted.append((one, (x_ends[1], one.at)))
        else:
            drawn = drawable(one, chart)
            wanted.append((one, (min(float(drawn.x[-1]), x_ends[1]), float(drawn.y[-1]))))
    places, close = (
        [
            (position(x, *x_ends, chart.x.scale) * across, text_width(one.label, size),
             position(y, *y_ends, chart.y.scale) * height)
            for one, (x, y) in wanted
        ]
        for across in (width, narrowest or width)
    )  # fmt: skip
    if all(isinstance(one, Series) and one.kind == "points" for one in several):
        return _beside_points(chart, wanted, (narrowest or width, widest or width), height, size)
    moved = spread(close, 1.2 * size, 0, height)
    inside = [
        at for at, (one, (x, _)) in enumerate(wanted)
        if isinstance(one, Series) and one.optional_label and one.kind == "line" and x < x_ends[1]
    ]  # fmt: skip
    heights, over = dict(enumerate(moved)), set[int]()
    if inside:
        others = [at for at in range(len(wanted)) if at not in inside]
        spaced = spread([places[at] for at in others], 1.2 * size, 0, height)
        heights = dict(zip(others, spaced, strict=True))
        least = narrowest or NARROWER * width
        narrow = [(x * least / width, wide, y) for x, wide, y in places]
        placed = _inside(chart, inside, narrow, heights, least, height, size, taller)
        heights |= {at: text.y for at, text in placed.items()}
        over = {at for at, text in placed.items() if text.over}
    placed_labels = {
        k: SideLabel(one, at, heights[k] - places[k][2], k in over)
        for k, (one, at) in enumerate(wanted)
        if k in heights
    }
    lone = [k for k, (one, _) in enumerate(wanted) if isinstance(one, Series) and one.kind == "points"]
    if lone and not inside:  # among lines, whose names stay where they are
        between = narrowest or width, widest or width
        texts = [(close[k][0], close[k][1], moved[k]) for k in range(len(wanted)) if k not in lone]
        around = _beside_points(chart, [wanted[k] for k in lone], between, height, size, texts)
        placed_labels |= dict(zip(lone, around, strict=True))
    return list(placed_labels.values())


def _beside_points(
    chart: Chart,
    wanted: Sequence[tuple[Series | Mark, tuple[float, float]]],
    between: tuple[float, float],
    height: float,
    size: float,
    texts: Sequence[tuple[float, float, float]] = (),
) -> list[SideLabel]:
    """Labels of lone points; they stand free in a plot of any width between these two.

    `texts` are those of lines, (x, width, y) in the narrowest plot: there they take the largest share of the width.
    """
    x_ends, y_ends = limits(chart, "x"), limits(chart, "y")

    def spots(x: Numbers, y: Numbers) -> tuple[tuple[float, float], ...]:
        up = height * _positions(y, *y_ends, chart.y.scale)
        return tuple(zip(_positions(x, *x_ends, chart.x.scale).tolist(), up.tolist(), strict=True))

    drawn = [drawable(one, chart) for one in chart.series]
    dots = tuple(spot for one in drawn if one.kind == "points" for spot in spots(one.x, one.y))
    lines = [spots(one.x, one.y) for one in drawn if one.kind == "line" and one.width and one.opacity]
    for mark in chart.marks:
        if mark.axis == "y":
            lines.append(spots(np.array(x_ends), np.array([mark.at, mark.at])))
        else:
            lines.append(spots(np.array([mark.at, mark.at]), np.array(y_ends)))
    for x, wide, y in texts:  # their upper and lower edges
        ends = x / between[0], (x + GAP + wide) / between[0]
        lines += [tuple((end, y + edge * size) for end in ends) for edge in (-0.5, 0.5)]
    places = [spots(np.array([x]), np.array([y]))[0] for _, (x, y) in wanted]
    named = tuple((place, text_width(one.label, size)) for place, (one, _) in zip(places, wanted, strict=True))
    widths = tuple(np.geomspace(*between, 4 if between[0] < between[1] else 1).tolist())
    placed = point_labels.place(named, dots, tuple(lines), size, height, widths)
    return [
        SideLabel(one, at, label.up, label.over, label.across, label.leader)
        for (one, at), label in zip(wanted, placed, strict=True)
    ]


def _inside(
    chart: Chart,
    inside: Sequence[int],
    places: Sequence[tuple[float, float, float]],
    label_heights: Mapping[int, float],
    width: float,
    height: float,
    size: float,
    taller: float,
) -> dict[int, line_labels.Text]:
    """Labels inside the plot that have room there; in a wider plot they cover less of the lines."""
    named = {id(one): at for at, one in enumerate(with_labels(chart))}
    x_ends, y_ends = limits(chart, "x"), limits(chart, "y")

    def across(x: float) -> float:
        return min(1.0, position(x, *x_ends, chart.x.scale)) * width

    def up(y: float) -> float:
        return position(y, *y_ends, chart.y.scale) * height

    lines: dict[int, line_labels.Line] = {}
    for k, one in enumerate(chart.series):
        drawn = thin(one, chart)
        if one.kind in ("line", "step", "hold") and one.width and one.opacity and len(drawn.x):
            x = width * np.minimum(1.0, _positions(drawn.x, *x_ends, chart.x.scale))
            lines[named.get(id(one), -1 - k)] = x, height * _positions(drawn.y, *y_ends, chart.y.scale)
    for k, mark in enumerate(chart.marks, len(chart.series)):
        level = mark.axis == "y"
        ends = (0.0, width) if level else (across(mark.at), across(mark.at))
        lines[-1 - k] = np.array(ends), np.array([up(mark.at)] * 2 if level else [0.0, height])

    def text(at: int, y: float) -> line_labels.Text:
        x, wide, _ = places[at]
        return line_labels.Text(x, y, wide)

    texts = {at: text(at, places[at][2]) for at in inside}
    return line_labels.place(texts, [text(at, y) for at, y in label_heights.items()], lines, size, height, taller)


def spread(places: Sequence[tuple[float, float, float]], gap: float, lo: float, hi: float) -> list[float]:
    """Texts at (x, width, y): their y, moved as little as needed so that those side by side are `gap` apart.

    >>> spread([(0, 9, 10), (5, 9, 11), (50, 9, 12)], 8, 0, 100), spread([(0, 9, 98), (0, 9, 99)], 8, 0, 100)
    ([10.0, 18.0, 12.0], [92.0, 100.0])
    """
    order = sorted(range(len(places)), key=lambda at: places[at][2])
    heights = [float(place[2]) for place in places]

    def meet(one: int, other: int) -> bool:
        (x, wide, _), (x_other, wide_other, _) = places[one], places[other]
        return x < x_other + wide_other and x_other < x + wide

    for k, at in enumerate(order):
        heights[at] = max([heights[at], lo, *(heights[below] + gap for below in order[:k] if meet(at, below))])
    for k, at in reversed(list(enumerate(order))):
        heights[at] = min([heights[at], hi, *(heights[above] - gap for above in order[k + 1 :] if meet(at, above))])
    return [float(value) for value in heights]


def exponent(value: float) -> float:
    """The power of ten, exact where there is one.

    >>> exponent(1e-8), exponent(1000)
    (-8.0, 3.0)
    """
    power = math.log10(value)
    return float(round(power)) if abs(power - round(power)) < 1e-9 else power


@dataclass(frozen=True)
class PlacedMark:
    """An upright mark with its label above the plot; `lane` is None where it has none, or another one's tells of it."""

    mark: Mark
    lane: int | None
    align: Literal["left", "center", "right"]
    label: str


def place(
    marks: Sequence[Mark], at: Callable[[float], float], width: float, size: float, lanes: int = 3
) -> list[PlacedMark]:
    """Labels of upright marks in lanes above the plot, inside its width, none over another; later marks go first.

    Where there is no room for one, it shares that of its nearest neighbour, so that no mark is silent.
    """
    order = tuple(sorted(marks, key=lambda mark: mark.at))
    return list(_place(order, tuple(at(mark.at) for mark in order), width, size, lanes))


@lru_cache(maxsize=256)  # from one picture to the next they seldom move
def _place(
    order: tuple[Mark, ...], where: tuple[float, ...], width: float, size: float, lanes: int
) -> tuple[PlacedMark, ...]:
    at = dict(zip((mark.at for mark in order), where, strict=True)).__getitem__
    groups = [[mark] for mark in order if mark.label]
    placed, left_out = _stack(groups, at, width, size, lanes)
    while left_out is not None and len(groups) > 1:
        gaps = [at(after[0].at) - at(before[-1].at) for before, after in pairwise(groups)]
        k = min((k for k in (left_out - 1, left_out) if 0 <= k < len(gaps)), key=lambda k: gaps[k])
        groups[k : k + 2] = [groups[k] + groups[k + 1]]
        placed, left_out = _stack(groups, at, width, size, lanes)
    by_mark = {id(one.mark): one for one in placed}
    return tuple(by_mark.get(id(mark), PlacedMark(mark, None, "center", "")) for mark in order)


def _stack(
    groups: Sequence[Sequence[Mark]], at: Callable[[float], float], width: float, size: float, lanes: int
) -> tuple[list[PlacedMark], int | None]:
    """One label per group, near its middle; and the first group, from the right, without room."""
    taken: list[list[tuple[float, float]]] = [[] for _ in range(lanes)]
    placed: list[PlacedMark] = []
    for k, group in reversed(list(enumerate(groups))):
        words = merge_labels([one.label for one in group])
        mark, room = _with_room(group, at, width, text_width(words, size) + 4)
        middle = at(mark.at) * width
        label = truncate(words, room - 4, size)
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
            return placed, k
        taken[lane].append(span)
        placed.append(PlacedMark(mark, lane, align, label))
    return placed, None


def _with_room(group: Sequence[Mark], at: Callable[[float], float], width: float, wanted: float) -> tuple[Mark, float]:
    """The mark of a group that its label stands at, and the room there: the one nearest its middle with enough."""

    def room(mark: Mark) -> float:
        middle = at(mark.at) * width
        return max(middle, width - middle, 2 * min(middle, width - middle))

    order = sorted(range(len(group)), key=lambda k: abs(k - len(group) // 2))
    best = max(order, key=lambda k: min(room(group[k]), wanted))
    return group[best], room(group[best])


def merge_labels(labels: Sequence[str]) -> str:
    """One label for several marks in their order: of each name its first and its last value.

    >>> merge_labels(["β = 0.51", "β = 0.52", "β = 0.53, C = 1"]), merge_labels(["drift", "C = 1", "C = 1"])
    ('β = 0.51 … 0.53, C = 1', 'drift, C = 1')
    """
    values: dict[str, list[str]] = {}
    for part in ", ".join(labels).split(", "):
        name, _, value = part.partition(" = ")
        values.setdefault(name, []).append(value)
    return ", ".join(_value_range(name, several) for name, several in values.items())


def _value_range(name: str, values: Sequence[str]) -> str:
    if len(set(values)) > 1:
        return f"{name} = {values[0]} … {values[-1]}"
    return f"{name} = {values[0]}" if values[0] else name
