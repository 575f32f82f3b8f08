"""Limits, ticks and the places of labels: what the renderers share so that nothing overlaps or is cut off."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ohash.plots import words
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.thin import drawable

# Width of a character in units of the type size, on the generous side; capitals, m and w are wider.
CHARACTER, WIDE = 0.53, 0.76


def text_width(text: str, size: float) -> float:
    """About how wide a text is.

    >>> text_width("MMOH", 10) > text_width("mean", 10) > text_width("at", 10)
    True
    """
    wide = sum(letter.isupper() or letter in "mw%" for letter in text)
    return size * (CHARACTER * (len(text) - wide) + WIDE * wide)


def fitted(text: str, width: float, size: float) -> str:
    """The text, or so much of its beginning as has room.

    >>> fitted("pinned: OH", 60, 10), fitted("pinned: OH on test queries", 60, 10)
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


def tick_step(lo: float, hi: float, most: int = 5, *, whole: bool = False) -> float:
    """The distance of ticks, 1, 2 or 5 times a power of ten, for at most so many steps; `whole`: 1 at least.

    >>> tick_step(0, 1), tick_step(0.6, 1.0), tick_step(0, 40_000)
    (0.2, 0.1, 10000.0)
    """
    raw = (hi - lo) / most
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(step for step in (1, 2, 5, 10) if step * unit >= raw * (1 - 1e-9)) * unit
    return max(1.0, step) if whole else float(f"{step:.6g}")


def ticks(lo: float, hi: float, axis: Axis, most: int = 5) -> list[float]:
    """Tick values from lo to hi.

    >>> ticks(0.6, 1.0, Axis("mAP")), ticks(1, 20_000, Axis("pairs", "log"))
    ([0.6, 0.7, 0.8, 0.9, 1.0], [1.0, 10.0, 100.0, 1000.0, 10000.0])
    """
    if axis.at:
        return [value for value in axis.at if lo <= value <= hi]
    if axis.scale == "log":
        first, last = math.ceil(math.log10(lo) - 1e-9), math.floor(math.log10(hi) + 1e-9)
        every = -(-(last - first + 1) // (most + 2))
        return [float(f"1e{power}") for power in range(first, last + 1, every)]
    step = tick_step(lo, hi, most, whole=axis.format == "count")
    return [float(f"{k * step:.9g}") for k in range(math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9) + 1)]


def tick_label(value: float, axis: Axis) -> str:
    """A tick in words.

    >>> tick_label(0.6, Axis("", format="share")), tick_label(1e-8, Axis("", "log", format="power"))
    ('0.6', '10⁻⁸')
    """
    if axis.format == "power":
        return words.power(value)
    return words.count(value) if axis.format == "count" or abs(value) >= 1000 else f"{value:g}"


def position(value: float, lo: float, hi: float, scale: str) -> float:
    """Where a value lies between the ends of an axis, 0 to 1.

    >>> position(10, 1, 100, "log"), position(0.5, 0, 2, "linear")
    (0.5, 0.25)
    """
    if scale == "log":
        value, lo, hi = (math.log10(max(each, 1e-300)) for each in (value, lo, hi))
    return (value - lo) / (hi - lo) if hi > lo else 0.0


@dataclass(frozen=True)
class Beside:
    """A label beside the plot, or beside a lone point; `at` is where it belongs, `up` how far it must move."""

    of: Series | Mark
    at: tuple[float, float]
    up: float


def labelled(chart: Chart) -> list[Series | Mark]:
    """What has a label beside the plot or a point."""
    beside = [mark for mark in chart.marks if mark.label and mark.place == "beside"]
    return [*(one for one in chart.series if one.label and len(drawable(one, chart).x)), *beside]


def labels(chart: Chart, width: float, height: float, size: float) -> list[Beside]:
    """Labels of lines at the height of their ends, right of a plot of this size, so that they cover no curve.

    Those of points stand beside them. Where they would overlap they are moved up or down.
    """
    several = labelled(chart)
    if not several:
        return []
    x_ends, y_ends = limits(chart, "x"), limits(chart, "y")
    wanted: list[tuple[Series | Mark, tuple[float, float]]] = []
    for one in several:
        if isinstance(one, Mark):
            wanted.append((one, (x_ends[1], one.at)))
        else:
            drawn = drawable(one, chart)
            wanted.append((one, (float(drawn.x[-1]) if one.kind == "points" else x_ends[1], float(drawn.y[-1]))))
    places = [
        (position(x, *x_ends, chart.x.scale) * width, text_width(one.label, size),
         position(y, *y_ends, chart.y.scale) * height)
        for one, (x, y) in wanted
    ]  # fmt: skip
    moved = spread(places, 1.2 * size, 0, height)
    return [Beside(one, at, to - up) for (one, at), (_, _, up), to in zip(wanted, places, moved, strict=True)]


def spread(places: Sequence[tuple[float, float, float]], gap: float, lo: float, hi: float) -> list[float]:
    """Texts at (x, width, y): their y, moved as little as needed so that those side by side are `gap` apart.

    >>> spread([(0, 9, 10), (5, 9, 11), (50, 9, 12)], 8, 0, 100), spread([(0, 9, 98), (0, 9, 99)], 8, 0, 100)
    ([10.0, 18.0, 12.0], [92.0, 100.0])
    """
    order = sorted(range(len(places)), key=lambda at: places[at][2])
    found = [float(place[2]) for place in places]

    def meet(one: int, other: int) -> bool:
        (x, wide, _), (x_other, wide_other, _) = places[one], places[other]
        return x < x_other + wide_other and x_other < x + wide

    for k, at in enumerate(order):
        found[at] = max([found[at], lo, *(found[below] + gap for below in order[:k] if meet(at, below))])
    for k, at in reversed(list(enumerate(order))):
        found[at] = min([found[at], hi, *(found[above] - gap for above in order[k + 1 :] if meet(at, above))])
    return [float(value) for value in found]


def exponent(value: float) -> float:
    """The power of ten, exact where there is one.

    >>> exponent(1e-8), exponent(1000)
    (-8.0, 3.0)
    """
    power = math.log10(value)
    return float(round(power)) if abs(power - round(power)) < 1e-9 else power
