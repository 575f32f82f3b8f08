"""The charts of a run at each of its moments, on axes that stand still, so that only the curves move."""

from collections.abc import Sequence
from dataclasses import replace

from ohash.engine.judge import truth_column
from ohash.engine.observer import WINDOW
from ohash.engine.snapshot import Snapshot
from ohash.plots.axis_ranges import AxisRanges
from ohash.plots.chart import Chart
from ohash.plots.live.charts import hills, loss, quality, tau
from ohash.plots.thinning import thin

# Points of a curve: a recording has many pictures.
MOST_POINTS = 100


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
    lines = (replace(one, most=min(one.most, MOST_POINTS)) if one.kind == "line" else one for one in chart.series)
    return replace(chart, series=tuple(thin(one, chart) for one in lines))
