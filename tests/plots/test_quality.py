"""Agreement over pairs: titles, drift and changes, the moving average."""

import re

import numpy as np
import pytest

import ohash
from ohash import number_formats as formats
from ohash.plots.live import charts
from ohash.plots.live.scores import _stages, moving_average
from ohash.plots.thinning import thin
from tests.plots.chart_parts import curve, labels, names
from tests.plots.moments import picture


def test_quality_tells_start_now_and_pairs():
    now = picture("oh")
    chart = charts.quality(now, reference=0.72)
    values = now.checkpoints["map"]
    assert (
        chart.title
        == f"Labels: mAP rises from {formats.share(values[0])} to {formats.share(values[-1])} in 1,500 pairs"
    )
    assert names(chart) == ["each checkpoint", "moving average"]
    assert curve(chart, "each checkpoint").y.tolist() == values.tolist()
    assert curve(chart, "each checkpoint").x[0] == 0 and chart.x.lo == 10 and chart.x.hi == 1_500
    assert thin(curve(chart, "each checkpoint"), chart).x[:4].tolist() == [10, 21, 46, 100]  # pair 0 is a line
    assert labels(chart) == [f"LSH start {formats.share(values[0])}", "float .72"]
    assert chart.x.scale == "log" and charts.quality(now, log=False).x.scale == "linear"
    assert chart.y.lo <= min(values.min(), 0.72) and chart.y.hi >= values.max()
    distance = charts.quality(now, "recall_10")
    assert distance.title.startswith("Distance: recall@10 falls from .46 to ")


def test_scores_of_clicks_come_with_the_level_of_a_random_order():
    rng = np.random.default_rng(0)
    i = rng.integers(0, 150, 600)
    mine = ohash.Dataset.from_arrays(rng.normal(size=(150, 8)), pairs=(i, (i + rng.integers(1, 150, 600)) % 150))
    *_, now = ohash.run(ohash.experiment(mine, "oh", r=16, pairs=100, kernel="none"), mine)
    for column in ("hit_10", "mrr", "ndcg_10", "auc_later"):
        chance = now.numbers[f"{column}_chance"]
        assert charts.quality(now, column).caption.endswith(f" A random order reaches {chance:.2g}.")
    assert now.numbers["auc_later_chance"] == 0.5 and 0.05 < now.numbers["hit_10_chance"] < 0.3
    assert "random order" not in charts.quality(now, "recall_10").caption


def test_quality_of_the_stream_has_the_frozen_copy():
    now = picture("oh")
    chart = charts.quality(now, "auc")
    assert names(chart) == ["W frozen", "pair AUC, last 2,048"]
    assert f"is {formats.share(now.numbers['auc'])}, with W frozen" in chart.title
    with pytest.raises(ValueError, match="metric must be one of map, "):
        charts.quality(now, "accuracy")


def test_drift_and_changes_are_marked_and_told():
    chart = charts.quality(picture("drift"))
    assert "drift" in labels(chart) and next(m for m in chart.marks if m.label == "drift").at == 120
    assert re.search(r"before the drift, \.\d\d after it, now \.\d\d$", chart.title)
    slowly = charts.quality(picture("slowly"))
    assert [label for label in labels(slowly) if "drift" in label] == ["drift begins", "drift ends"]
    changed = charts.quality(picture("changes"))
    marks = [mark for mark in changed.marks if mark.role == "change"]
    assert [(mark.at, mark.label) for mark in marks] == [(10, "C = 0.01"), (110, "C = 0.0005"), (130, "β = 0.3, C = 1")]


def test_moving_average_does_not_cross_a_drift():
    y = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    stage = np.array([0, 0, 0, 1, 1, 1])
    assert moving_average(y, stage).tolist() == y.tolist()
    assert moving_average(np.array([1.0, np.nan, 1.0]))[[0, 2]].tolist() == [1.0, 1.0]


def test_moving_average_does_not_cross_a_change():
    now = picture("changes")
    pairs, y = now.checkpoints["pairs"], np.arange(len(now.checkpoints["pairs"]), dtype=float)
    changed = now.params.changes[-1].at
    stage = _stages(pairs, now.params)
    assert stage[pairs <= changed].max() < stage[pairs > changed].min()
    y[pairs > changed] = 1000
    assert moving_average(y, stage)[pairs <= changed].max() < 1000
