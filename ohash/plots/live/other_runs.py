"""Other runs on the charts of the live one.

A `Ghost` is what is kept of an earlier run so that it can be drawn behind the present one; `side_by_side` draws another
run in its own colour, with the difference for the read-out at the pointer.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Numbers
from ohash.engine.params import ExperimentParams
from ohash.engine.snapshot import Snapshot
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Series
from ohash.plots.live.axes import round_up
from ohash.plots.thinning import kept_rows, thin

MAX_POINTS = 200

ROLE = "pinned"
# What a chart of the other run contributes: its curves by name. The histogram of steps is joined to one outline.
CURVES = ("learning", "similar pairs", "dissimilar pairs")
STEPS = ("not capped", "capped at C")


@dataclass(frozen=True, eq=False)
class Ghost:
    """The curves of a run under a name, at most 200 points each."""

    label: str
    params: ExperimentParams
    columns: dict[str, npt.NDArray[np.float32]]
    checkpoints: dict[str, npt.NDArray[np.float32]]


def comparable(ghost: Ghost, params: ExperimentParams) -> bool:
    """Whether it is of the same data: scores on other data have no place on the same axis."""
    return (ghost.params.dataset, ghost.params.content) == (params.dataset, params.content)


def ghost_of(now: Snapshot, label: str) -> Ghost:
    """A thinned copy in float32, even on a logarithmic pair axis."""
    return Ghost(label, now.params, _thin(now.columns), _thin(now.checkpoints))


def _thin(columns: dict[str, npt.NDArray[np.float64]]) -> dict[str, npt.NDArray[np.float32]]:
    rows = kept_rows(np.maximum(1, columns["pairs"]), MAX_POINTS, "log")
    return {name: column[rows].astype(np.float32) for name, column in columns.items()}


def side_by_side(mine: Chart, other: Chart, name: str, bits: tuple[int, int] | None = None) -> Chart:
    """`mine` with the curves of `other` called `name`: lines in its colour, hills as dashed outlines of theirs.

    `bits` are the lengths of the codes of both, of which the caption of a loss tells if they differ.
    """
    if mine.empty or other.empty:
        return mine
    theirs = {one.name: one for one in _same_length(mine, other)}
    own = {one.name: thin(one, mine) for one in mine.series}
    added = [
        _outline(theirs[key], name)
        if theirs[key].kind == "step"
        else _line(_at_points_of(own.get(key), _clip_to_axis(theirs[key], mine.x)), name)
        for key in CURVES
        if key in theirs
    ]
    if all(key in theirs for key in STEPS):
        added.append(replace(_outline(_all_steps(theirs), name), name=name, role=ROLE))
    pairs = [(own[key], theirs[key]) for key in CURVES if key in own and key in theirs]
    if all(key in own and key in theirs for key in STEPS):
        pairs.append((_all_steps(own), _all_steps(theirs)))
    differences = [one for ours, their in pairs for one in _differences(mine, ours, their, name)]
    y = mine.y
    if y.hi is not None and other.y.hi is not None:
        y = replace(y, hi=max([y.hi, other.y.hi, *(round_up(float(one.y.max())) for one in added)]))
    legend = f"{_legend(mine, other, added, name)} " if added else ""
    if bits is not None and bits[0] != bits[1] and "learning" in own and "learning" in theirs:
        legend += f"The loss grows with r: {bits[0]} bits here, {bits[1]} there. "
    caption = f"{legend}{mine.caption}"
    return replace(mine, series=(*mine.series, *added, *differences), y=y, caption=caption)


def _clip_to_axis(series: Series, x: Axis) -> Series:
    """A line up to the end of the axis: a run that is further along would press the other one flat."""
    if x.hi is None or series.kind != "line" or not len(series.x) or series.x[-1] <= x.hi:
        return series
    end, last = int(np.searchsorted(series.x, x.hi, side="right")), np.interp(x.hi, series.x, series.y)
    return replace(series, x=np.append(series.x[:end], x.hi), y=np.append(series.y[:end], last))


def _at_points_of(ours: Series | None, theirs: Series) -> Series:
    """A line at the points of ours as far as they go: the pointer finds both, and their difference, at every one."""
    x, y = np.asarray(theirs.x, np.float64), np.asarray(theirs.y, np.float64)
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    if ours is None or not len(x) or not len(ours.x):
        return theirs
    at = np.asarray(ours.x, np.float64)
    at = np.concatenate([at[(at >= x[0]) & (at <= x[-1])], x[x > at[-1]]])
    return replace(theirs, x=at, y=np.interp(at, x, y), max_points=max(theirs.max_points, len(at)), spread=None)


def _legend(mine: Chart, other: Chart, added: list[Series], name: str) -> str:
    """How the other run is drawn, and whether its codes were brought to another length."""
    if added[0].role != ROLE:
        return f"Dashed outlines: the {name} run{_stretch(mine, other)}."
    return f"Dashed, in green: the {name} run." if added[0].dash == "dashed" else f"In green: the {name} run."


def _stretch(mine: Chart, other: Chart) -> str:
    if mine.x.hi is None or other.x.hi is None or mine.x.hi == other.x.hi:
        return ""
    here, there = (round(hi - 0.5) for hi in (mine.x.hi, other.x.hi))  # both axes end half a bit beyond r
    return f", its {there} bits drawn as wide as {here}"


def _all_steps(series: dict[str, Series]) -> Series:
    """The histogram of steps, capped or not."""
    uncapped, capped = (series[key] for key in STEPS)
    return replace(uncapped, name="share of updates", y=uncapped.y + capped.y)


def _same_length(mine: Chart, other: Chart) -> tuple[Series, ...]:
    """The series of `other`; hills of longer or shorter codes are brought to the length of `mine`, with equal areas."""
    if mine.x.unit != "bits" or mine.x.hi is None or other.x.hi is None or mine.x.hi == other.x.hi:
        return other.series
    scale = (mine.x.hi - 0.5) / (other.x.hi - 0.5)  # both axes end half a bit beyond r
    bars = next((one.x for one in mine.series if one.kind == "step" and len(one.x) > 1), None)
    return tuple(one if bars is None or len(one.x) < 2 else _in_bars(one, scale, bars) for one in other.series)


def _in_bars(series: Series, scale: float, bars: Numbers) -> Series:
    """A histogram stretched along x, in the bars of another, so that the pointer finds both; each bar has its share."""
    x, step, wide = series.x.astype(np.float64), float(series.x[1] - series.x[0]), float(bars[1] - bars[0])
    edges = scale * np.append(x - step / 2, x[-1] + step / 2)
    below, above = (max(0, math.ceil(gap / wide - 0.5)) for gap in (bars[0] - edges[0], edges[-1] - bars[-1]))
    bars = bars[0] + wide * np.arange(-below, len(bars) + above)
    ends = np.append(bars - wide / 2, bars[-1] + wide / 2)
    return replace(series, x=bars, y=np.diff(np.interp(ends, edges, np.append(0.0, np.cumsum(series.y)))))


def with_difference(chart: Chart, name: str) -> Chart:
    """A chart that shows both runs already, with the difference of the live one from the curve called `name`."""
    own = next((one for one in chart.series if one.name == "moving average"), None)
    their = next((one for one in chart.series if one.role == ROLE), None)
    if own is None or their is None or not len(their.x):
        return chart
    return replace(chart, series=(*chart.series, *_differences(chart, own, their, name)))


def _line(series: Series, name: str) -> Series:
    return replace(series, name=name, role=ROLE, width=theme.NORMAL, label="")


def _outline(series: Series, name: str) -> Series:
    return replace(series, name=f"{name}: {series.name}", dash="dashed", fill=0.0, width=theme.NORMAL, listed=False)


def _differences(chart: Chart, ours: Series, theirs: Series, name: str) -> list[Series]:
    """A line nobody sees, whose value the read-out tells; none on a logarithmic axis, where it may be negative."""
    if chart.y.scale == "log" or not len(theirs.x):
        return []
    x, values = np.asarray(theirs.x, np.float64), np.asarray(theirs.y, np.float64)
    finite = np.isfinite(values)
    if not finite.any():
        return []
    outside = 0.0 if ours.kind == "step" else np.nan  # beyond a histogram there is nothing
    at = np.interp(np.asarray(ours.x, np.float64), x[finite], values[finite], left=outside, right=outside)
    title = f"{ours.name}: difference from {name}" if ours.kind == "step" else f"difference from {name}"
    return [replace(ours, name=title, y=ours.y - at, opacity=0.0, fill=0.0, width=0.0, listed=False, spread=None)]
