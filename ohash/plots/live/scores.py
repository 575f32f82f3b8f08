"""How good the codes are, over the pairs: mAP, recall, pair AUC; both truths at once; old codes against fresh ones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ohash import number_formats as formats
from ohash.core.arrays import Numbers
from ohash.engine.judge import RERANKED, TRUTH_SCORES, truth_column
from ohash.engine.narrative import amount, change_error, truth_of
from ohash.engine.observer import WINDOW
from ohash.engine.params import ExperimentParams
from ohash.engine.snapshot import Snapshot
from ohash.evaluation.metric_descriptions import METRICS, Metric
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.live.axes import empty_chart, first, last, marks, pairs_axis, share_limits, x_of
from ohash.plots.live.other_runs import MAX_POINTS, Ghost, comparable

# Checkpoints on each side that a moving average takes in.
REACH = 2
# Fewest pairs whose AUC is drawn.
AUC_PAIRS = 100
TRUTHS = {"labels": "Labels", "distance": "Distance", "stream": "Stream", "codes": "Codes", "cost": "Cost"}


@dataclass(frozen=True)
class Score:
    """A column of the checkpoints (or, for the pair AUC, of the history) and its row in METRICS."""

    column: str
    metric: Metric
    k: int | None = None
    times: int | None = None

    @property
    def name(self) -> str:
        """As the legend and the axis name it."""
        return self.metric.name(self.k, self.times)

    @property
    def short(self) -> str:
        """As a sentence names it."""
        return self.name.removesuffix(" of exact neighbours")

    @property
    def meaning(self) -> str:
        """As a caption explains it."""
        return self.metric.meaning(self.k, self.times)


SCORES = {
    score.column: score
    for score in (
        Score("map", METRICS["map"]),
        Score("map_low", METRICS["map_low"]),
        Score("map_high", METRICS["map_high"]),
        Score("precision_10", METRICS["precision_at_k"], 10),
        Score("hit_10", METRICS["hit_at_k"], 10),
        Score("mrr", METRICS["mrr"]),
        Score("ndcg_10", METRICS["ndcg_at_k"], 10),
        Score("auc_later", METRICS["auc"]),
        Score("recall_10", METRICS["recall_at_k"], 10),
        Score("recall_100", METRICS["recall_at_k"], 100),
        *(Score(f"recall_10_x{c}", METRICS["recall_with_reranking"], 10, c) for c in RERANKED[1:]),
        Score("auc", METRICS["pair_auc"]),
    )
}


BAND_OF_SEEDS = "The grey band is one standard deviation over the seeds."
NOT_OVER_SEEDS = "Seeds are compared by the scores of checkpoints, not by the pair AUC of each one's own recent pairs."


def quality(
    now: Snapshot,
    metric: str = "",
    *,
    ghosts: Sequence[Ghost] = (),
    reference: float | None = None,
    pinned: Ghost | None = None,
    seeds: Sequence[Ghost] = (),
    log: bool = True,
) -> Chart:
    """A score over the pairs: now, its start, a float reference, the pinned run, the earlier ones and other seeds.

    Without `metric` it is the truth score. Without `reference`, mAP has that of the run itself. `seeds` are runs of
    the same experiment with other seeds.
    """
    metric = metric or truth_column(now.similar_by)
    if metric not in SCORES:
        raise ValueError(f"metric must be one of {', '.join(SCORES)}, got {metric!r}")
    score = SCORES[metric]
    source = now.columns if metric == "auc" else now.checkpoints
    x = pairs_axis(now, log=log)
    of = truth(now, score)
    y: Numbers = source.get(metric, np.empty(0))
    runs = [(ghost, _of_run(ghost, score, "ghost", theme.THIN)) for ghost in ghosts]
    runs += [(pinned, _of_run(pinned, score, "pinned", theme.NORMAL))] if pinned else []
    over_seeds = _over_seeds(now, score, seeds)
    present = [*over_seeds, *_present(now, score)]
    scaled = [*present, *(series for ghost, series in runs if comparable(ghost, now.params))]
    curves = [series for series in (*(series for _, series in runs), *present) if len(series.x)]
    lines = [*marks(now)]
    start = first(y)
    if metric != "auc" and math.isfinite(start):
        name = "LSH start" if "cum_R" in now.columns else "start"
        lines.append(Mark(start, f"{name} {formats.share(start)}", "y", "start", "dashed"))
    if reference is None and metric == "map":
        reference = now.numbers.get("map_float")
    if reference is not None and math.isfinite(reference):
        lines.append(Mark(reference, f"float {formats.share(reference)}", "y", "reference"))
    levels = [np.array([line.at for line in lines if line.axis == "y"])]
    bands = [edge for one in scaled for edge in _edges(one)]
    lo, hi = share_limits(*(series.y for series in scaled), *bands, *levels)
    y_axis = Axis(score.short, lo=lo, hi=hi, format="share")
    y = _auc_values(now, "auc") if metric == "auc" else y
    if not np.isfinite(y).any():
        empty = empty_chart(f"{of}: {score.short} has not been measured yet", x, y_axis)
        return Chart(empty.title, x, y_axis, tuple(curves), tuple(lines), empty.caption, empty.alt)
    if metric == "auc":
        recent, frozen = now.numbers.get("auc", math.nan), last(source["auc_frozen"])
        title = f"{of}: {score.short} of recent pairs is {formats.share(recent)}, with W frozen {formats.share(frozen)}"
    else:
        title = f"{of}: {score.short} {_story(now, score, y)}"
    caption = f"{score.meaning} {NOT_OVER_SEEDS}" if metric == "auc" and seeds else score.meaning
    if metric != "map" and math.isfinite(chance := now.numbers.get(f"{metric}_chance", math.nan)):
        caption += f" A random order reaches {chance:.2g}."
    for one in over_seeds:
        moment = f" after {one.x[-1]:,.0f}" if one.x[-1] < now.checkpoints["pairs"][-1] else ""
        title += f"; {one.name} {formats.share(last(one.y))}{moment}"
        caption += f" {BAND_OF_SEEDS}"
    return Chart(title, x, y_axis, tuple(curves), tuple(lines), caption, f"{title}. Line chart over pairs.")


def both_truths(now: Snapshot, *, log: bool = True) -> Chart:
    """Agreement with the labels and with the original distance in one chart, because they go opposite ways."""
    x, source, followed = pairs_axis(now, log=log), now.checkpoints, truth_column(now.similar_by)
    if not np.isfinite(source[followed]).any():
        return empty_chart(
            "Labels and distance have not been measured yet", x, Axis("score", lo=0, hi=1, format="share")
        )
    parts = []
    curves = []
    for key, role in ((followed, "labels"), ("recall_10", "distance")):
        score, y = SCORES[key], source[key]
        if not np.isfinite(y).any():
            continue
        error = change_error(now.numbers, key)
        parts.append(f"{truth(now, score)}: {score.short} {formats.trend(first(y), last(y), error)}".rstrip(","))
        smooth = moving_average(y, _stages(source["pairs"], now.params))
        curves.append(Series(score.short, x_of(source), smooth, role=role, width=theme.THICK))
        curves.append(
            Series(f"{score.short}, raw", x_of(source), y, role=role, width=theme.THIN, opacity=0.5, listed=False)
        )
    lo, hi = share_limits(*(series.y for series in curves))
    title = "; ".join(parts)
    caption = "Learning from labels moves codes away from the original distance: neither truth is the whole truth."
    alt = f"{title}. Two lines over pairs."
    return Chart(title, x, Axis("score", lo=lo, hi=hi, format="share"), tuple(curves), marks(now), caption, alt)


def prequential(now: Snapshot, *, log: bool = True) -> Chart:
    """Test, then train: what the points and pairs that have just come say of the codes before they are learnt."""
    x, source = pairs_axis(now, log=log), now.checkpoints
    y_axis = Axis("score", lo=0, hi=1, format="share")
    points, pairs = source["map_prequential"], _auc_values(now, "auc")
    curves = []
    parts = []
    if np.isfinite(pairs).any():
        curves.append(Series(f"pair AUC, last {WINDOW:,}", x_of(now.columns), pairs, role="distance"))
        parts.append(f"pair AUC {formats.share(last(pairs))}")
    if np.isfinite(points).any():
        curves.append(Series("mAP of new points", x_of(source), points, role="labels", width=theme.THICK))
        parts.insert(0, f"mAP {formats.share(last(points))}")
    if not curves:
        return empty_chart("No new point has queried the table yet", x, y_axis)
    title = f"New points and pairs, before they are learnt: {', '.join(parts)}"
    caption = "Each new point searches the table as it was; each new pair is ranked by its Hamming distance."
    lo, hi = share_limits(*(series.y for series in curves))
    y_axis = Axis("score", lo=lo, hi=hi, format="share")
    return Chart(title, x, y_axis, tuple(curves), marks(now), caption, f"{title}. Lines over pairs.")


def stale_gap(now: Snapshot, *, log: bool = True) -> Chart:
    """The truth score of the codes as stored against that if every code were computed afresh."""
    x, source, truth = pairs_axis(now, log=log), now.checkpoints, truth_column(now.similar_by)
    score = TRUTH_SCORES[truth]
    stored, fresh = source[truth], source.get(f"{truth}_fresh", np.empty(0))
    if not np.isfinite(fresh).any():
        return empty_chart(
            "Stale and fresh codes have not been compared yet", x, Axis(score, lo=0, hi=1, format="share")
        )
    lost = last(fresh) - last(stored)
    old, new = formats.share(last(stored)), formats.share(last(fresh))
    title = f"Stale codes cost {formats.share(lost)} {score}: {old} as stored, {new} fresh"
    if abs(lost) < 0.005:
        title = f"Stale codes cost nothing: {score} {old} as stored and fresh"
    caption = "The code table lags behind W; fresh means that every item is re-encoded now."
    if now.params.run.reencode == "checkpoint":
        caption = "The table is brought up to date at every checkpoint, so no code is stale when it is evaluated."
    curves = (
        Series("if re-encoded", x_of(source), fresh, role="fresh", dash="dashed"),
        Series("as stored", x_of(source), stored, role="now", width=theme.THICK),
    )
    lo, hi = share_limits(stored, fresh)
    y = Axis(score, lo=lo, hi=hi, format="share")
    return Chart(title, x, y, curves, marks(now), caption, f"{title}. Two lines over pairs.")


def moving_average(y: Numbers, stage: Numbers | None = None, reach: int = REACH) -> Numbers:
    """Centred mean over `reach` neighbours on each side, fewer at the ends, never across a change of stage.

    >>> moving_average(np.array([0.0, 3.0, 0.0, 3.0, 9.0]), reach=1).tolist()
    [0.0, 1.0, 2.0, 4.0, 9.0]
    """
    smooth = np.array(y, np.float64)
    stages = np.zeros(len(y)) if stage is None else stage
    for value in np.unique(stages):
        rows = np.flatnonzero((stages == value) & np.isfinite(y))
        place = np.arange(len(rows))
        k = np.minimum(reach, np.minimum(place, place[::-1]))
        sums = np.concatenate([[0.0], np.cumsum(y[rows])])
        smooth[rows] = (sums[place + k + 1] - sums[place - k]) / (2 * k + 1)
    return smooth


def truth(now: Snapshot, score: Score) -> str:
    """What a score agrees with, by the name it has here: labels, tracks, pairs."""
    return truth_of(now).capitalize() if score.metric.truth == "labels" else TRUTHS[score.metric.truth]


def _story(now: Snapshot, score: Score, y: Numbers) -> str:
    """From the start to now, or what the drift did."""
    pairs, edges = now.checkpoints["pairs"], now.params.drift.boundaries
    before, after = y[pairs < edges[0]] if edges else y, y[pairs >= edges[-1]] if edges else y
    if pairs[-1] == 0:
        return f"is {formats.share(last(y))} before the first pair"
    so_far = amount(int(pairs[-1]), "pair")
    if not edges or not len(before) or not len(y[pairs >= edges[0]]):
        error = change_error(now.numbers, score.column)
        return f"{formats.trend(first(y), last(y), error)} in {so_far}"
    before_drift = f"{formats.trend(first(before), last(before))} before the drift"
    if len(edges) == 1 and len(after) > 1:
        return f"{before_drift}, {formats.share(first(after))} after it, now {formats.share(last(y))}"
    return f"{before_drift}, now {formats.share(last(y))}"


def _present(now: Snapshot, score: Score) -> list[Series]:
    role = theme.method_role(now.params.method)
    if score.column == "auc":
        x = x_of(now.columns)
        return [
            Series("W frozen", x, _auc_values(now, "auc_frozen"), role="frozen", dash="dashed", width=theme.NORMAL),
            Series(f"{score.name}, last {WINDOW:,}", x, _auc_values(now, "auc"), role=role, width=theme.THICK),
        ]
    x, y = x_of(now.checkpoints), now.checkpoints.get(score.column, np.empty(0))
    if len(y) != len(x):
        return []
    smooth = moving_average(y, _stages(now.checkpoints["pairs"], now.params))
    error = now.checkpoints.get(f"{score.column}_error")
    return [
        Series("each checkpoint", x, y, role=role, width=theme.THIN, opacity=0.55),
        Series("moving average", x, smooth, role=role, width=theme.THICK, spread=error),
    ]


def _edges(series: Series) -> list[Numbers]:
    """The lower and the upper edge of the band around a curve, if it has one."""
    if series.spread is None:
        return []
    finite = np.isfinite(series.y) & np.isfinite(series.spread)
    y, spread = np.asarray(series.y)[finite], series.spread[finite]
    return [y - spread, y + spread]


def _over_seeds(now: Snapshot, score: Score, seeds: Sequence[Ghost]) -> list[Series]:
    """The median over this run and other seeds of it at the checkpoints that all have reached, and their spread."""
    if score.column == "auc" or not seeds:
        return []
    columns: list[Mapping[str, Numbers]] = [now.checkpoints, *(seed.checkpoints for seed in seeds)]
    shared = min(float(one["pairs"][-1]) if len(one["pairs"]) else -1.0 for one in columns)
    x = now.checkpoints["pairs"][now.checkpoints["pairs"] <= shared]
    if len(x) < 2 or any(score.column not in one for one in columns):
        return []
    curves = np.array([np.interp(x, one["pairs"], one[score.column]) for one in columns])
    name, smooth = f"median of {len(columns)} seeds", moving_average(np.median(curves, axis=0))
    spread = curves.std(axis=0, ddof=1)
    return [Series(name, x, smooth, role="reference", dash="dashed", width=theme.NORMAL, spread=spread)]


def _auc_values(run: Snapshot | Ghost, column: str) -> Numbers:
    """The pair AUC from AUC_PAIRS pairs on; of fewer it says little."""
    values = run.columns.get(column, np.empty(0))
    return np.where(run.columns["pairs"] >= AUC_PAIRS, values, np.nan) if len(values) else values


def _of_run(run: Ghost, score: Score, role: str, width: float) -> Series:
    source: Mapping[str, Numbers] = run.columns if score.column == "auc" else run.checkpoints
    y = _auc_values(run, "auc") if score.column == "auc" else source.get(score.column, np.empty(0))
    y = y if len(y) > 1 else np.empty(0)  # of a run that was left at once there is no line to draw
    x = x_of(source) if len(y) else np.empty(0)
    if run.params.run.judged_at == "ends" and score.column != "auc" and len(y):  # nothing is known between the ends
        end = x[-1:], y[-1:]
        return Series(run.label, *end, "points", role, width=width, listed=False, label=run.label)
    smooth = y if score.column == "auc" else moving_average(y, _stages(source["pairs"], run.params))
    return Series(
        run.label, x, smooth, role=role, width=width, max_points=MAX_POINTS, listed=False, label=run.label,
        optional_label=True,
    )  # fmt: skip


def _stages(pairs: Numbers, params: ExperimentParams) -> Numbers:
    """Which stage each pair count lies in, between drifts and live changes; a drift by small steps is one stage."""
    edges = params.drift.boundaries if len(params.drift.boundaries) < 3 else ()
    drifts = np.searchsorted(np.array(edges, np.float64), pairs, side="right")
    changes = np.array([change.at for change in params.changes], np.float64)
    return drifts + np.searchsorted(changes, pairs, side="left")  # at the pair itself it is judged, then it changes
