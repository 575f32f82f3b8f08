"""The charts of a run by name: Snapshot in, Chart out.

Every one works at any moment of any method: before the first pair it says that nothing is measured yet, and for a
method that does not learn from pairs it says what that method has not. `film` is some of them at every moment of a
run, on axes that stand still, so that only the curves move.
"""

from collections.abc import Sequence
from dataclasses import replace

from ohash.engine.judge import truth_column
from ohash.engine.observer import WINDOW
from ohash.engine.snapshot import Snapshot
from ohash.plots.chart import Chart
from ohash.plots.live.axes import AxisRanges
from ohash.plots.live.bits_and_costs import bit_balance, bits, certificate, cost, per_bit, selections
from ohash.plots.live.other_runs import Ghost, comparable, ghost_of
from ohash.plots.live.scores import SCORES, both_truths, prequential, quality, stale_gap
from ohash.plots.live.stream import hills, loss, tau, tau_quantiles, update_rate
from ohash.plots.thinning import thin

# Every chart that needs nothing but a snapshot, in the order of the page.
CHARTS = {
    "quality": quality,
    "hills": hills,
    "loss": loss,
    "tau": tau,
    "tau_quantiles": tau_quantiles,
    "both_truths": both_truths,
    "update_rate": update_rate,
    "bits": bits,
    "per_bit": per_bit,
    "bit_balance": bit_balance,
    "selections": selections,
    "stale_gap": stale_gap,
    "prequential": prequential,
    "cost": cost,
    "certificate": certificate,
}

__all__ = [
    "CHARTS", "SCORES", "Ghost", "bit_balance", "bits", "both_truths", "certificate", "comparable", "cost", "ghost_of",
    "hills", "loss", "per_bit", "prequential", "quality", "selections", "stale_gap", "tau", "tau_quantiles",
    "update_rate",
]  # fmt: skip

# Points of a curve of a film, which has many pictures.
MAX_POINTS = 100


def film(moments: Sequence[Snapshot], metric: str = "") -> list[dict[str, Chart]]:
    """Score, hills, cumulative loss and step size by name; the score is that of the truth if `metric` is not given."""
    pictures = [_charts(now, metric or truth_column(now.similar_by)) for now in moments]
    ranges = AxisRanges()
    settled = min(WINDOW, moments[-1].t)
    for now, charts in zip(moments, pictures, strict=True):
        for name, chart in charts.items():
            ranges.widen(name, chart, remember=now.t >= settled)
    return [
        {name: _lighter(ranges.widen(name, chart, remember=False)) for name, chart in charts.items()}
        for charts in pictures
    ]


def _charts(now: Snapshot, metric: str) -> dict[str, Chart]:
    return {"score": quality(now, metric), "hills": hills(now), "loss": loss(now), "tau": tau(now)}


def _lighter(chart: Chart) -> Chart:
    lines = (
        replace(one, max_points=min(one.max_points, MAX_POINTS)) if one.kind == "line" else one for one in chart.series
    )
    return replace(chart, series=tuple(thin(one, chart) for one in lines))
