"""How sure a score is: the interval over its queries, and the spread over seeds."""

from dataclasses import replace

import numpy as np
import pytest

from ohash import number_formats as formats
from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.evaluation.significance import half_width
from ohash.plots.live import charts
from ohash.plots.live.scores import AUC_PAIRS
from ohash.plots.renderers import echarts, plotly
from ohash.ui.live.numbers import numbers_html
from tests.plots.chart_parts import curve, names
from tests.plots.moments import picture


def test_a_checkpoint_knows_how_sure_it_is():
    run = Run(experiment("digits", pairs=120, judged_at="ends"))
    while not run.done:
        run.step(120)
    record, row = run.checkpoints.last_record, run.snapshot("done").checkpoints
    assert row["map_error"][-1] == pytest.approx(1.96 * record.ap.std(ddof=1) / np.sqrt(len(record.ap)))
    assert row["hit_10_error"][-1] == pytest.approx(half_width(record.hits[10]))
    assert 0 < row["recall_10_error"][-1] < 0.1
    first = run.checkpoints.change_errors.first
    change = {"map": record.ap - first["map"], "recall_10": record.neighbour_recall - first["recall_10"]}
    for name, each in change.items():
        assert row[f"{name}_change_error"][-1] == pytest.approx(half_width(each))
        assert each.mean() == pytest.approx(row[name][-1] - row[name][0]) and row[f"{name}_change_error"][0] == 0
    assert record.precisions[10].mean() == pytest.approx(record.precision_at_k[10])


def test_the_curve_has_the_band_of_its_queries():
    now = picture("oh")
    for metric in ("map", "recall_10"):
        line = curve(charts.quality(now, metric), "moving average")
        assert line.spread.tolist() == now.checkpoints[f"{metric}_error"].tolist() and (line.spread > 0).all()
    assert curve(charts.quality(now, "recall_100"), "moving average").spread is None


def test_the_axis_has_room_for_the_whole_band():
    now = picture("oh")
    checkpoints = {**now.checkpoints, "map_error": np.full_like(now.checkpoints["map"], 0.17)}
    chart = charts.quality(replace(now, checkpoints=checkpoints))
    line = curve(chart, "moving average")
    assert chart.y.lo <= (line.y - line.spread).min() and chart.y.hi >= min(1, (line.y + line.spread).max())


def test_a_band_is_drawn_live_as_an_area_upon_its_lower_edge():
    chart = charts.quality(picture("oh"))
    option = echarts.option(chart)
    band = [one for one in option["series"] if one["name"] == "moving average ±"]
    table = option["dataset"][band[0]["datasetIndex"]]["source"]
    low, width = (table.column(one["encode"]["y"]).to_numpy() for one in band)
    line = curve(chart, "moving average")
    np.testing.assert_allclose(low, (line.y - line.spread)[1:], rtol=1e-5)
    np.testing.assert_allclose(width, 2 * line.spread[1:], rtol=1e-5)
    assert len({one["stack"] for one in band}) == 1 and band[1]["areaStyle"]["opacity"] > 0


def test_no_band_of_a_score_leaves_0_to_1():
    now = picture("oh")
    wide = {"map_error": np.full_like(now.checkpoints["map"], 0.9)}
    chart = charts.quality(replace(now, checkpoints={**now.checkpoints, **wide}))
    line = curve(chart, "moving average")
    assert (line.y + line.spread).max() > 1 and (line.y - line.spread).min() < 0, "else nothing is tested"
    drawn = echarts.option(chart)
    parts = [one for one in drawn["series"] if one["name"] == "moving average ±"]
    table = drawn["dataset"][parts[0]["datasetIndex"]]["source"]
    low, width = (table.column(one["encode"]["y"]).to_numpy() for one in parts)
    assert low.min() == 0 and (low + width).max() == pytest.approx(1)
    still = next(one for one in plotly.figure(chart).data if one.name == "moving average ± spread")
    assert min(still.y) == 0 and max(still.y) == 1


def test_a_score_and_its_interval_read_as_they_are_drawn():
    now = picture("oh")

    def read(**numbers):
        return numbers_html(replace(now, numbers={**now.numbers, **numbers}))

    assert "<b>0.690<i>± 0.058</i></b>" in read(map=0.69, map_error=0.058)
    assert "<b>1.000<i>(0.735 to 1)</i></b>" in read(map=1.0, map_error=0.265)
    assert "<p>Ranges, ±, and the band" in read(map=1.0, map_error=0.265)
    assert "<p>±, and the band" in read(map=0.69, map_error=0.058, hit_10=1.0, hit_10_error=0.036), (
        "which it does not show"
    )
    assert "<b>0.018<i>(0 to 0.054)</i></b>" in read(recall_10=0.018, recall_10_error=0.036)
    assert "<em>1.000 (0.964 to 1) on 250 test queries</em>" in read(
        test_map=1.0, test_map_error=0.036, test_queries=250.0
    )
    assert "<b>&gt; 0.999</b>" in read(auc=0.9996) and "> .999" in formats.share(0.9996)


def test_the_hills_say_where_pairs_should_lie():
    caption = charts.hills(picture("oh")).caption
    assert "Similar pairs should lie at α or below, dissimilar ones at β·r or above." in caption


def test_the_axis_of_recall_is_named_shortly_enough_for_its_height():
    assert charts.quality(picture("oh"), "recall_10").y.name == "recall@10"


def test_other_seeds_give_a_median_and_its_spread_as_far_as_all_have_come():
    now = picture("oh")
    pairs = now.checkpoints["pairs"]
    ghosts = []
    for shift, reached in ((0.1, None), (-0.1, -3)):
        columns = {**now.checkpoints, "map": now.checkpoints["map"] + shift}
        ghosts.append(charts.ghost_of(replace(now, checkpoints={k: v[:reached] for k, v in columns.items()}), ""))
    chart = charts.quality(now, seeds=ghosts)
    line = curve(chart, "median of 3 seeds")
    assert line.x.tolist() == pairs[:-3].tolist()
    np.testing.assert_allclose(line.spread, 0.1, atol=1e-6)
    assert "; median of 3 seeds ." in chart.title
    assert chart.title.endswith(f" after {pairs[-4]:,.0f}"), "not to be read as the median where this run is now"
    level = charts.quality(now, seeds=[charts.ghost_of(now, "")])
    assert "; median of 2 seeds ." in level.title and " after " not in level.title
    assert "median of 3 seeds" not in names(charts.quality(now))


def test_the_auc_of_a_few_pairs_is_not_drawn():
    now = picture("oh")
    drawn = curve(charts.quality(now, "auc"), "pair AUC, last 2,048")
    assert np.isnan(drawn.y[drawn.x < AUC_PAIRS]).all() and np.isfinite(drawn.y[drawn.x >= AUC_PAIRS]).all()
