"""Sweeps as charts: lines with bands for one varied number, a heat map for two; one line a value of anything else."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ohash.experiment.params import experiment, rows_of
from ohash.experiment.results import Point
from ohash.experiment.sweep import Sweep
from ohash.models import registry
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Dash, Scale, Series
from ohash.plots.heat import HeatMap
from ohash.plots.over_pairs import share_limits
from ohash.plots.runs import DASHES, ROLES

ROOM = 0.03  # of the width, left of the first point and right of the last
# What a sweep can be drawn by: key -> (label, share between 0 and 1).
MEASURES = {
    "map": ("mAP", True), "recall_10": ("recall@10", True), "precision_10": ("precision@10", True),
    "auc": ("pair AUC", True), "cum_R": ("cumulative loss", False), "update_rate": ("update rate", True),
    "cpu_learn": ("CPU seconds of learning", False), "seconds": ("seconds of a cell", False),
}  # fmt: skip


def numeric(values: Sequence[Any]) -> bool:
    """Whether an axis of numbers can show them."""
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def lines(sweep: Sweep, found: Sequence[Point], measure: str, along: str) -> Chart:
    """Mean ± sd over seeds of a measure along one parameter, one line a combination of the others."""
    label, is_share = MEASURES[measure]
    axes = sweep.axes
    curves: list[Series] = []
    for at, (rest, some) in enumerate(groups_of(sweep, found, along)):
        x = np.array([dict(point.at)[along] for point in some], np.float64)
        y, sd = (np.array([getattr(point, name)(measure) for point in some]) for name in ("mean", "sd"))
        role, dash = _look(rest, at)
        name = title_of(rest) or label
        known = np.isfinite(y)
        band = sd[known] if np.isfinite(sd[known]).any() else None
        curves.append(Series(name, x[known], y[known], role=role, dash=dash, width=theme.THICK, spread=band))
        curves.append(Series(name, x[known], y[known], kind="points", role=role, listed=False))
    ends = share_limits(*(series.y for series in curves)) if is_share else (None, None)
    values = [float(value) for value in axes.get(along, [])]
    y_axis = Axis(label, lo=ends[0], hi=ends[1], format="share" if is_share else "number")
    done, total = sum(len(point.numbers) for point in found), len(sweep.cells)
    title = f"{label} against {symbol(sweep, along)}" + (f" ({done} of {total} cells)" if done < total else "")
    caption = "Mean over seeds, the band is one standard deviation. Judged on validation queries."
    return Chart(title, _axis(sweep, along, values), y_axis, tuple(curves), (), caption, f"{title}. Line chart.")


def groups_of(
    sweep: Sweep, found: Sequence[Point], along: str
) -> list[tuple[tuple[tuple[str, Any], ...], list[Point]]]:
    """What each line is, and its points in order; the same order as the lines of the chart."""
    groups: dict[tuple[tuple[str, Any], ...], list[Point]] = {}
    for point in found:
        rest = tuple((key, value) for key, value in point.at if key != along and key in sweep.axes)
        groups.setdefault(rest, []).append(point)
    return [(rest, sorted(some, key=lambda point: float(dict(point.at)[along]))) for rest, some in groups.items()]


def heat(sweep: Sweep, found: Sequence[Point], measure: str, x: str, y: str) -> HeatMap:
    """The mean over seeds for two parameters; the first value of all others."""
    label, _ = MEASURES[measure]
    axes = sweep.axes
    columns, rows = axes[x], axes[y]
    fixed = {key: values[0] for key, values in axes.items() if key not in (x, y)}
    z = np.full((len(rows), len(columns)), np.nan)
    for point in found:
        place = dict(point.at)
        if all(place.get(key) == value for key, value in fixed.items()):
            z[rows.index(place.get(y)), columns.index(place.get(x))] = point.mean(measure)
    title = f"{label} for {symbol(sweep, x)} and {symbol(sweep, y)}"
    if fixed:
        title += f", {title_of(tuple(fixed.items()))}"
    caption = "Mean over seeds, judged on validation queries; a cell that is not finished is empty."
    names = tuple(map(_text, columns)), tuple(map(_text, rows))
    return HeatMap(title, symbol(sweep, x), symbol(sweep, y), label, *names, z, caption, f"{title}. Heat map.")


def title_of(place: Sequence[tuple[str, Any]]) -> str:
    """A combination in words; a method by its title."""
    parts = []
    for key, value in place:
        if key == "method":
            parts.append(registry.find(str(value)).title)
        elif value is not None:
            parts.append(_text(value) if key == "dataset" else f"{key} = {_text(value)}")
    return ", ".join(parts)


def symbol(sweep: Sweep, key: str) -> str:
    """A parameter as the paper writes it."""
    rows = rows_of(sweep.cells[0].params) | rows_of(experiment())
    row = rows.get(key)
    return key if row is None else row.symbol or row.title


def _axis(sweep: Sweep, key: str, values: list[float]) -> Axis:
    known = sorted(values)
    steps = [b / a for a, b in pairwise(known) if a > 0]
    scale: Scale = "log" if steps and known[0] > 0 and known[-1] / known[0] >= 20 and min(steps) > 1.2 else "linear"
    tiny = scale == "log" and known[0] < 1e-3
    lo, hi = _with_room(known[0], known[-1], scale) if known and known[0] < known[-1] else (None, None)
    return Axis(symbol(sweep, key), scale, lo=lo, hi=hi, format="power" if tiny else "number")


def _with_room(lo: float, hi: float, scale: Scale) -> tuple[float, float]:
    """The first and the last point stand inside the frame."""
    if scale == "log":
        room = (hi / lo) ** ROOM
        return lo / room, hi * room
    room = (hi - lo) * ROOM
    return lo - room, hi + room


def _look(rest: Sequence[tuple[str, Any]], at: int) -> tuple[str, Dash]:
    method = dict(rest).get("method")
    if method is not None and len(rest) == 1:
        return theme.of_method(str(method)), "solid"
    return ROLES[at % len(ROLES)], DASHES[at // len(ROLES) % len(DASHES)]


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)
