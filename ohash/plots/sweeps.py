"""Sweeps as charts: lines with bands for one varied number, a heat map for two; one line per value of anything else.

Where no number varies, as in a comparison of methods, each point is a dot with its spread on a row of its own.

What was drawn at random is points: no line goes through settings that differ in everything. The best is marked.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from ohash.core.parameters import FrozenSettings, Value
from ohash.engine.narrative import amount
from ohash.engine.params import experiment, rows_of
from ohash.models import registry
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, HeatMap, Scale, Series
from ohash.plots.live.axes import share_limits
from ohash.plots.theme import case_styles
from ohash.sweeps.halving import group_of, planned_cells
from ohash.sweeps.report import LOWER_IS_BETTER, best_of, importance, symbol
from ohash.sweeps.results import Point, bits_differ_from_r, truths_of
from ohash.sweeps.sweep import Sweep

# Lines that can be told apart; so many, with names so long, are named beside their ends, more of them in the legend.
MAX_LINES, MAX_END_LABELS, MAX_END_LABEL = 12, 6, 16
Group = tuple[FrozenSettings, list[Point]]
# Ticks stand where something was run, unless there are many, or some closer than this share of the axis.
MAX_TICKS, CLOSEST = 9, 0.06
ROOM = 0.03  # of the width, left of the first point and right of the last
# What a sweep can be drawn by: key -> (label, share between 0 and 1).
MEASURES = {
    "map": ("mAP", True), "recall_10": ("recall@10", True), "precision_10": ("precision@10", True),
    "auc": ("pair AUC", True), "cum_R": ("cumulative loss", False), "update_rate": ("update rate", True),
    "cpu_learn": ("CPU seconds of learning", False), "seconds": ("seconds per cell", False),
}  # fmt: skip
CLICK_MEASURES = {"hit_10": ("hit@10", True), "mrr": ("MRR", True), "ndcg_10": ("nDCG@10", True)}
LABELS = MEASURES | CLICK_MEASURES


def measures_of(points: Sequence[Point]) -> list[str]:
    """What these points can be drawn by, the score they are chosen by first: of clicks there is no mAP."""
    truths = truths_of(points)
    clicks = CLICK_MEASURES if "hit_10" in truths else {}
    return list(dict.fromkeys([*truths, *clicks, *(measure for measure in MEASURES if measure != "map")]))


def numeric(values: Sequence[object]) -> bool:
    """Whether an axis of numbers can show them."""
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def lines(sweep: Sweep, points: Sequence[Point], measure: str, along: str) -> Chart:
    """Mean ± sd over seeds of a measure along one parameter, one line a combination of the others."""
    label, is_share = LABELS[measure]
    axes = sweep.axes
    curves: list[Series] = []
    groups = groups_of(sweep, points, along)
    drawn = _worth_drawing(groups, measure)
    names = names_of(groups, points)
    best = best_of(points, measure)
    at_line_end = (
        not sweep.random
        and 1 < len(drawn) <= MAX_END_LABELS
        and all(len(names[rest]) <= MAX_END_LABEL for rest, _ in drawn)
    )
    for (rest, some), look in zip(drawn, case_styles([_case(rest) for rest, _ in drawn]), strict=True):
        x = np.array([dict(point.at)[along] for point in some], np.float64)
        y, sd = (np.array([getattr(point, name)(measure) for point in some]) for name in ("mean", "sd"))
        name = names[rest] or label
        finite = np.isfinite(y)
        band = sd[finite] if np.isfinite(sd[finite]).any() and len(drawn) <= MAX_END_LABELS else None
        common: dict[str, Any] = {"role": look.role, "marker": look.marker, "group": _case(rest)[0]}
        width = theme.THICK if len(drawn) <= MAX_END_LABELS else theme.NORMAL
        if not sweep.random:
            line = Series(
                name, x[finite], y[finite], dash=look.dash, width=width, spread=band, listed=not at_line_end, **common
            )
            curves.append(replace(line, label=name) if at_line_end else line)
        notes = tuple(note(point, measure) for point, known in zip(some, finite, strict=True) if known)
        listed = bool(sweep.random) and len(drawn) > 1
        curves.append(Series(name, x[finite], y[finite], kind="points", listed=listed, notes=notes, **common))
        for point in some:
            if any(point is one for one in best):
                at = np.array([float(dict(point.at)[along])]), np.array([point.mean(measure)])
                curves.append(
                    Series(name, *at, "points", "best", marker="star", listed=False, notes=(note(point, measure),))
                )
    ends = share_limits(*(series.y for series in curves)) if is_share else (None, None)
    values = [float(value) for value in axes.get(along, [])]
    y_axis = Axis(label, lo=ends[0], hi=ends[1], format="share" if is_share else "number")
    title = f"{label} against {symbol(sweep, along)}" + ended_text(sweep, points)
    banded = ", the band is one standard deviation" if any(one.spread is not None for one in curves) else ""
    marked = _stars_text(sweep, points, best, measure)
    caption = f"{_average(points)}{banded}. Evaluated on validation queries.{marked}"
    if sweep.random:
        caption += " The other parameters were drawn at random, too."
    if len(drawn) < len(groups):
        which = "highest" if is_share else "lowest"
        caption += f" The {len(drawn)} of {len(groups)} lines that reach {which} are drawn; the table has all of them."
    return Chart(title, _axis(sweep, along, values), y_axis, tuple(curves), (), caption, f"{title}. Line chart.")


def dots(sweep: Sweep, points: Sequence[Point], measure: str) -> Chart:
    """One row per point, the best at the top: its mean as a dot, one standard deviation to either side as a line."""
    label, is_share = LABELS[measure]
    dots = rows_of_dots(points, measure)
    best = best_of(points, measure)
    names = tuple(name_of(sweep, point, points) for point in dots)
    curves: list[Series] = []
    looks = case_styles([_case(point.at) for point in dots])
    for row, (point, name, look) in enumerate(zip(dots, names, looks, strict=True)):
        mean, sd, at = point.mean(measure), point.sd(measure), float(row)
        common: dict[str, Any] = {"role": look.role, "listed": False}
        if math.isfinite(sd):
            curves.append(Series(name, np.array([mean - sd, mean + sd]), np.array([at, at]), **common))
        star = any(point is one for one in best)
        common |= {"marker": "star", "role": "best"} if star else {"marker": look.marker}
        notes = (f"{name}: {note(point, measure)}",)
        curves.append(Series(name, np.array([mean]), np.array([at]), "points", notes=notes, **common))
    ends = share_limits(*(series.x for series in curves)) if is_share else (None, None)
    x = Axis(label, lo=ends[0], hi=ends[1], format="share" if is_share else "number")
    y = Axis("", lo=-0.6, hi=len(dots) - 0.4, at=tuple(map(float, range(len(dots)))), names=names)
    title = f"{label} of {amount(len(dots), 'point')}" + ended_text(sweep, points)
    if set(sweep.axes) == {"method"}:
        title = f"{label} of {amount(len(dots), 'method')}" + ended_text(sweep, points)
    spread = ", the line is one standard deviation to either side" if any(len(one.x) > 1 for one in curves) else ""
    marked = _stars_text(sweep, points, best, measure)
    caption = f"{_average(points)}{spread}. Evaluated on validation queries.{marked}"
    return Chart(title, x, y, tuple(curves), (), caption, f"{title}. Dot chart.")


def rows_of_dots(points: Sequence[Point], measure: str) -> list[Point]:
    """The points in the order of the rows of `dots`, the lowest row first."""
    sign = -1 if measure in LOWER_IS_BETTER else 1
    ranked = [point for point in points if math.isfinite(point.mean(measure))]
    return sorted(ranked, key=lambda point: sign * point.mean(measure))


def name_of(sweep: Sweep, point: Point, points: Sequence[Point]) -> str:
    """What a point varies, in words, with its total bits where r does not say them."""
    bits = f", {point.bits} bits" if bits_differ_from_r(points) and point.bits else ""
    return title_of([(key, value) for key, value in point.at if key in sweep.axes]) + bits


def ended_text(sweep: Sweep, points: Sequence[Point]) -> str:
    """How many cells are done, for a title; "" if all are."""
    done, total = sum(len(point.numbers) for point in points), len(planned_cells(sweep))
    failed = sum(point.failed for point in points)
    return f" ({done} of {amount(total, 'cell')}{f', {failed} failed' if failed else ''})" if done < total else ""


def groups_of(sweep: Sweep, points: Sequence[Point], along: str) -> list[Group]:
    """What each line is, and its points in order; the same order as the lines of the chart."""
    groups: dict[FrozenSettings, list[Point]] = {}
    drawn = dict(sweep.random)
    for point in points:
        rest = tuple((key, value) for key, value in point.at if key != along and key in sweep.axes and key not in drawn)
        groups.setdefault(rest, []).append(point)
    return [(rest, sorted(some, key=lambda point: float(dict(point.at)[along]))) for rest, some in groups.items()]


def names_of(groups: Sequence[Group], points: Sequence[Point]) -> dict[FrozenSettings, str]:
    """Each line in words, without what goes along with the rest of its name: what a method always has, say.

    Where r does not say how long the codes are, the name does.
    """
    places = [rest for rest, _ in groups]
    spare: set[str] = set()
    for key in reversed(dict.fromkeys(key for rest in places for key, _ in rest)):
        shorter = {tuple((k, v) for k, v in rest if k not in spare and k != key) for rest in places}
        if key not in ("method", "dataset") and len(shorter) == len(places):
            spare.add(key)
    with_bits = bits_differ_from_r(points)
    names = {}
    for rest, some in groups:
        title = title_of([(key, value) for key, value in rest if key not in spare])
        names[rest] = ", ".join(filter(None, [title, _bits_text(some) if with_bits else ""]))
    return names


def _bits_text(points: Sequence[Point]) -> str:
    """The total bits of the codes of a line: a number, or a multiple of r."""
    lengths = [(point.bits, getattr(point.cells[0].params.model, "r", 0)) for point in points if point.bits]
    bits = {total for total, _ in lengths}
    if len(bits) == 1:
        return f"{bits.pop()} bits"
    ratios = {total / r for total, r in lengths if r}
    return f"{ratios.pop():g} r bits" if len(ratios) == 1 and ratios != {1.0} else ""


def heat(sweep: Sweep, points: Sequence[Point], measure: str, x: str, y: str) -> HeatMap:
    """The mean over seeds for two parameters; the first value of all others."""
    label, _ = LABELS[measure]
    axes = sweep.axes
    columns, rows = axes[x], axes[y]
    fixed = {key: values[0] for key, values in axes.items() if key not in (x, y)}
    z = np.full((len(rows), len(columns)), np.nan)
    notes = [["not finished"] * len(columns) for _ in rows]
    best, marked = best_of(points, measure), []
    for point in points:
        place = dict(point.at)
        if all(place.get(key) == value for key, value in fixed.items()):
            row, column = rows.index(place.get(y)), columns.index(place.get(x))
            z[row, column] = point.mean(measure)
            notes[row][column] = note(point, measure)
            if any(point is one for one in best):
                marked.append((row, column))
    title = f"{label} for {symbol(sweep, x)} and {symbol(sweep, y)}"
    if fixed:
        title += f", {title_of(tuple(fixed.items()))}"
    caption = f"{_average(points)}, evaluated on validation queries; unfinished cells are empty."
    names = tuple(map(_text, columns)), tuple(map(_text, rows))
    caption += " The best is framed." if marked else ""
    every = tuple(text for row_of_notes in notes for text in row_of_notes)
    return HeatMap(
        title, symbol(sweep, x), symbol(sweep, y), label, *names, z, caption, f"{title}. Heat map.", every,
        tuple(marked),
    )  # fmt: skip


def views(sweep: Sweep) -> list[tuple[str, str]]:
    """The ways to draw a sweep, the usual one first.

    ("heat", "") for two parameters, ("lines", key) along a number, ("dots", "") where no number varies.
    """
    numbers = [("lines", key) for key, values in sweep.axes.items() if numeric(values)]
    if sweep.axes and not numbers:
        numbers = [("dots", "")]
    if len(sweep.axes) != 2 or sweep.random:
        return numbers
    return [("heat", ""), *numbers] if len(numbers) == 2 else [*numbers, ("heat", "")]


def draw(sweep: Sweep, points: Sequence[Point], measure: str, view: tuple[str, str]) -> Chart | HeatMap:
    """A sweep in one of its views."""
    if view[0] == "heat":
        x, y = sweep.axes
        return heat(sweep, points, measure, x, y)
    if view[0] == "dots":
        return dots(sweep, points, measure)
    return lines(sweep, points, measure, view[1])


def note(point: Point, measure: str) -> str:
    """A point under the pointer: its mean, its standard deviation and the number of its seeds."""
    mean, sd, seeds = point.mean(measure), point.sd(measure), len(point.values(measure))
    if not math.isfinite(mean):
        return "not finished"
    spread = f" ± {sd:.3g}" if math.isfinite(sd) else ""
    return f"{mean:.4g}{spread} ({seeds} seed{'s' * (seeds != 1)})"


def importance_text(sweep: Sweep, points: Sequence[Point], measure: str) -> str:
    """How much of the variance each parameter explains alone; "" for fewer than two parameters or four points."""
    shares = importance(sweep, points, measure)
    if not shares:
        return ""
    parts = [
        f"{symbol(sweep, key)} {100 * share:.0f} %" for key, share in sorted(shares.items(), key=lambda one: -one[1])
    ]
    left = 1 - sum(shares.values())
    rest = f"{100 * max(0.0, left):.0f} % is due to their combinations and to chance"
    if left < -0.005:
        rest = "they overlap, because the parameters do not vary independently"
    which = " so far" if any(not point.numbers for point in points) else ""
    if sweep.halving:
        which = f" of the first round ({sweep.budgets[0]:,} pairs), in which all settings took part,"
    return (
        f"Share of the variance of {LABELS[measure][0]} over the points{which} that each parameter explains alone: "
        f"{', '.join(parts)}; {rest}."
    )


def _stars_text(sweep: Sweep, points: Sequence[Point], best: Sequence[Point], measure: str) -> str:
    """What the stars mean; a group in which nothing has a rival yet has none."""
    if not best:
        return ""
    ranked = [point for point in points if math.isfinite(point.mean(measure)) and point.outcome == "full"]
    several = len({group_of(point.cells[0].params) for point in ranked}) > 1
    text = " The star is the best" if len(best) == 1 else " The stars are the best"
    if several:
        text += f" of {'its' if len(best) == 1 else 'each'} supervision and data set"
    if sweep.halving:
        text += f" of those that ran all {sweep.budgets[-1]:,} pairs"
    if len({len(point.numbers) for point in ranked}) > 1:
        text += ", of the points with the most seeds so far"
    return f"{text}."


def _average(points: Sequence[Point]) -> str:
    counts = {len(point.numbers) for point in points if point.numbers}
    if max(counts, default=0) < 2:
        return "One seed"
    return f"Mean over {'up to ' if len(counts) > 1 else ''}{max(counts)} seeds"


def title_of(place: Sequence[tuple[str, Value]]) -> str:
    """A combination in words; a method by its title."""
    parts = []
    for key, value in place:
        if key == "method":
            parts.append(registry.find(str(value)).title)
        elif key == "pairs" and isinstance(value, int):
            parts.append(f"{value:,} pairs")
        elif value is not None:
            parts.append(_text(value) if key == "dataset" else f"{_letter(key)} = {_text(value)}")
    return ", ".join(parts)


@cache
def _letter(key: str) -> str:
    """A parameter of OH as the paper writes it; that of another method by its name."""
    row = rows_of(experiment()).get(key)
    return key if row is None else row.symbol or key


def _axis(sweep: Sweep, key: str, values: list[float]) -> Axis:
    ordered = sorted(values)
    steps = [b / a for a, b in pairwise(ordered) if a > 0]
    wide = bool(steps) and ordered[0] > 0 and ordered[-1] / ordered[0] >= 20 and min(steps) > 1.2
    scale: Scale = "log" if wide else "linear"
    tiny = scale == "log" and ordered[0] < 1e-3
    lo, hi = _with_room(ordered[0], ordered[-1], scale) if ordered and ordered[0] < ordered[-1] else (None, None)
    gaps = [b - a for a, b in pairwise(ordered)] if scale == "linear" else [math.log(step) for step in steps]
    tick_per_value = 1 < len(ordered) <= MAX_TICKS and min(gaps) >= CLOSEST * sum(gaps)
    at = tuple(ordered) if tick_per_value else ()
    return Axis(symbol(sweep, key), scale, lo=lo, hi=hi, format="power" if tiny else "number", at=at)


def _with_room(lo: float, hi: float, scale: Scale) -> tuple[float, float]:
    """The first and the last point stand inside the frame."""
    if scale == "log":
        room = (hi / lo) ** ROOM
        return lo / room, hi * room
    room = (hi - lo) * ROOM
    return lo - room, hi + room


def _worth_drawing(groups: list[Group], measure: str) -> list[Group]:
    """No more lines than can be told apart: those that reach the highest (of a cost: the lowest) value."""
    if len(groups) <= MAX_LINES:
        return groups

    def best_value(group: Group) -> float:
        values = [point.mean(measure) for point in group[1] if np.isfinite(point.mean(measure))]
        if not values:
            return -math.inf
        return max(values) if LABELS[measure][1] else -min(values)

    kept = sorted(range(len(groups)), key=lambda at: -best_value(groups[at]))[:MAX_LINES]
    return [groups[at] for at in sorted(kept)]


def _case(rest: FrozenSettings) -> tuple[str, str]:
    """The method of a line, and the rest of what it is."""
    return str(dict(rest).get("method", "")), title_of([(key, value) for key, value in rest if key != "method"])


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)
