"""Several runs in one chart: a score over the pairs, or their parameters and scores side by side, one line per run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ohash import number_formats as formats
from ohash.core.parameters import Settings
from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.params import experiment, rows_of
from ohash.engine.snapshot import Snapshot
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Dash, Series
from ohash.plots.live.axes import last, pairs_axis, share_limits, x_of
from ohash.plots.live.scores import SCORES, TRUTHS, truth
from ohash.plots.renderers.echarts_frame import Option
from ohash.store.listing import ENDED, RunRow, truth_titles

# A colour and a dash: runs stay apart without colour too.
ROLES = ("now", "dissimilar", "distance", "bound", "threshold", "reference")
DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")
MAX_RUNS = len(ROLES) * len(DASHES)
# Runs whose pair counts differ by more than this factor are not ranked.
ALIKE = 1.1
# Parallel coordinates: so many parameters, and so many runs, the newest.
MAX_AXES, MAX_LINES = 8, 300
WIDE_RANGE = 20  # a parameter whose largest value is so many times its smallest has a logarithmic axis
ROOM = 0.06  # of an axis, above and below it
BRUSH_ROOM = 0.5  # of the way to the next axis: a box nearer than that is over an axis
SEED = "seed"


def overlay(runs: Sequence[tuple[str, Snapshot]], metric: str) -> Chart:
    """The runs (name, last picture), at most 18, over a logarithmic pair axis; of clicks there is no mAP."""
    score = SCORES[metric]
    curves = []
    for at, (name, now) in enumerate(runs[:MAX_RUNS]):
        has = metric not in TRUTH_SCORES or metric == truth_column(now.similar_by)
        y = now.checkpoints.get(metric, np.empty(0)) if has else np.empty(0)
        x = x_of(now.checkpoints) if len(y) else np.empty(0)
        dash = DASHES[at // len(ROLES) if len(runs) > len(ROLES) else at % len(DASHES)]
        curves.append(Series(name, x, y, role=ROLES[at % len(ROLES)], dash=dash, width=theme.THICK))
    longest = max((now for _, now in runs), key=lambda now: now.t, default=None)
    lo, hi = share_limits(*(series.y for series in curves))
    axis = Axis("pairs", "log", lo=1, hi=100, format="count") if longest is None else pairs_axis(longest)
    ends = {series.name: last(series.y) for series in curves if np.isfinite(series.y).any()}
    named = {truth(now, score) for _, now in runs}
    of = named.pop() if len(named) == 1 else TRUTHS[score.metric.truth]
    title = f"{of}: {score.short} has not been measured yet"
    unlike = _why_incomparable([now for _, now in runs[:MAX_RUNS]])
    if ends and len(curves) > 1 and unlike:
        title = f"{of}: {score.short} of {len(curves)} runs {unlike}, which cannot be ranked"
    elif ends:
        best = max(ends, key=lambda name: ends[name])
        title = f"{of}: {score.short} {'is' if unlike else 'ends at'} {formats.share(ends[best])}"
        title += f" for the best of {len(curves)}: {best}" if len(curves) > 1 else f" for {best}"
    alt = f"{title}. Line chart over pairs, one line per run."
    return Chart(title, axis, Axis(score.name, lo=lo, hi=hi, format="share"), tuple(curves), (), score.meaning, alt)


def _why_incomparable(runs: Sequence[Snapshot]) -> str:
    """Why the last scores of these runs say nothing about which is best; empty if they do."""
    if len({(now.params.dataset, now.params.content, now.similar_by) for now in runs}) > 1:
        return "on different data or truths"
    pairs = [now.t for now in runs]
    if pairs and max(pairs) > ALIKE * min(pairs):
        return f"of {formats.count(min(pairs))} to {formats.count(max(pairs))} pairs"
    return "" if all(now.state in ENDED for now in runs) else "that have not all finished"


@dataclass(frozen=True)
class ParallelAxis:
    """One upright axis: a parameter or a score, and where each run crosses it, 0 at its foot and 1 at its head."""

    label: str
    ends: tuple[str, str]
    places: Mapping[str, float]


def differing_settings(lines: Sequence[RunRow]) -> dict[str, Settings]:
    """The parameters in which runs differ, by symbol or name: the value of each run that has one, by its key."""
    names = dict.fromkeys(key for line in lines for key, _ in line.settings)
    symbols = {key: row.symbol or row.title for key, row in rows_of(experiment()).items()}
    settings = {line.key: dict(line.settings) for line in lines}
    columns = {name: {key: mine[name] for key, mine in settings.items() if name in mine} for name in names}
    return {
        symbols.get(name, name): values for name, values in columns.items() if len(set(map(repr, values.values()))) > 1
    }


def parallel_axes(lines: Sequence[RunRow]) -> list[ParallelAxis]:
    """The parameters in which the runs differ, then the scores; seeds are left out."""
    axes = [_axis(name, values) for name, values in differing_settings(lines).items() if name != SEED]
    for field, label in (("recall", "recall@10"), *reversed(truth_titles(lines).items())):
        scores = {line.key: getattr(line, field) for line in lines}
        measured = {key: value for key, value in scores.items() if value is not None}
        if len(set(measured.values())) > 1:
            axes.append(_axis(label, measured))
    return axes[-MAX_AXES:]


def _axis(label: str, values: Mapping[str, Any]) -> ParallelAxis:
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values.values()):
        order = sorted({str(value) for value in values.values()})
        places = {key: order.index(str(value)) / (len(order) - 1) for key, value in values.items()}
        return ParallelAxis(label, (order[0], order[-1]), places)
    lo, hi = min(values.values()), max(values.values())
    scale = math.log if lo > 0 and hi / lo >= WIDE_RANGE else float
    places = {key: (scale(value) - scale(lo)) / (scale(hi) - scale(lo)) for key, value in values.items()}
    ends = [f"{value:,}" if isinstance(value, int) else f"{value:.3g}" for value in (lo, hi)]
    return ParallelAxis(label, (ends[0], ends[1]), places)


def parallel_option(lines: Sequence[RunRow], axes: Sequence[ParallelAxis], *, dark: bool = False) -> Option:
    """Parallel coordinates for ECharts, as lines over a category per axis.

    Its own `parallel` series tells nobody what was brushed: `st.echarts_chart` reports only boxes of a `brush`.
    """
    ground, hue = theme.ground(dark), theme.colour("now", dark)
    best = axes[-1].places
    drawn = [
        {
            "type": "line", "name": line.name, "data": [axis.places.get(line.key) for axis in axes],
            "symbol": "circle", "symbolSize": 4, "connectNulls": False, "emphasis": {"focus": "series"},
            "lineStyle": {"color": hue, "width": 1.5, "opacity": 0.15 + 0.75 * best.get(line.key, 0.0)},
            "itemStyle": {"color": hue},
        }
        for line in lines
    ]  # fmt: skip
    upright = {
        "silent": True, "symbol": "none", "label": {"show": False}, "data": [{"xAxis": at} for at in range(len(axes))],
        "lineStyle": {"color": ground.faint, "type": "solid", "width": 1},
    }  # fmt: skip
    names = [f"{axis.label}\n{axis.ends[0]} –\n{axis.ends[1]}" for axis in axes]
    return {
        "animation": False,
        "backgroundColor": ground.background,
        "grid": {"left": 0, "right": 0, "top": 34, "bottom": 58},
        "xAxis": {
            "type": "category", "data": names, "boundaryGap": True, "axisTick": {"show": False},
            "axisLabel": {"interval": 0, "color": ground.ink, "fontSize": theme.SIZE_COMPACT, "lineHeight": 15},
            "axisLine": {"show": False},
        },
        "yAxis": {"type": "value", "min": -ROOM, "max": 1 + ROOM, "show": False},  # a box may enclose the ends
        "tooltip": {"trigger": "item", "formatter": "{a}"},
        "toolbox": {"right": 0, "top": 0},
        "brush": {
            "toolbox": ["rect", "clear"], "xAxisIndex": "all", "brushMode": "multiple", "throttleType": "debounce",
        },
        "series": [*drawn, {"type": "line", "name": "axes", "data": [], "silent": True, "markLine": upright}],
    }  # fmt: skip


def runs_in_boxes(
    lines: Sequence[RunRow], axes: Sequence[ParallelAxis], areas: Sequence[Mapping[str, Any]]
) -> list[RunRow]:
    """The runs that pass through every box on the axes under it; all of them without a box."""
    boxes = [area["coord_range"] for area in areas if len(area.get("coord_range") or ()) == 2]
    return [line for line in lines if all(_passes(line.key, axes, *box) for box in boxes)]


def _passes(key: str, axes: Sequence[ParallelAxis], across: Sequence[float], up: Sequence[float]) -> bool:
    left, right = sorted(across)
    under = [axis for at, axis in enumerate(axes) if left - BRUSH_ROOM < at < right + BRUSH_ROOM]
    if right - left >= 1:
        under = [axis for at, axis in enumerate(axes) if left <= at <= right]
    low, high = sorted(up)
    return all(key in axis.places and low <= axis.places[key] <= high for axis in under)
