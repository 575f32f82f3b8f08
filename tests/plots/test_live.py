"""Every chart of a run, at every moment of every method: traces, titles, empty states."""

import re
from dataclasses import replace

import numpy as np
import pytest

from ohash import number_formats as formats
from ohash.engine.narrative import headline
from ohash.engine.observer import CLIPPED, UPDATED
from ohash.engine.params import Change, experiment
from ohash.engine.run import run
from ohash.plots.live import charts
from ohash.plots.live.axes import decades, round_up, share_limits
from ohash.plots.renderers.echarts import option
from ohash.plots.thinning import thin
from tests.engine.runs import SMALL, own_data
from tests.plots.chart_parts import curve, labels, names
from tests.plots.moments import EVERY, picture
from tests.selection import alternate

VARIANTS = {
    **charts.CHARTS,
    "recall": lambda now: charts.quality(now, "recall_10"),
    "auc": lambda now: charts.quality(now, "auc", log=False),
    "loss per pair": lambda now: charts.loss(now, per_pair=True),
    "log loss and bound": lambda now: charts.loss(now, log=True, bound=True),
    "prediction loss": lambda now: charts.loss(now, what="loss", per_pair=True, bound=True),
    "all tau": lambda now: charts.tau(now, recent=False),
}


@pytest.mark.parametrize("moment", alternate(EVERY))
@pytest.mark.parametrize("kind", VARIANTS)
def test_every_chart_at_every_moment(moment, kind):
    chart = VARIANTS[kind](picture(moment))
    assert len(chart.title) > 8 and not re.search(r"nan|inf\b|None", chart.title)
    assert chart.alt.startswith(chart.title) and chart.caption
    assert not re.search(r"nan|None", chart.caption)
    for axis in (chart.x, chart.y):
        assert axis.label
        assert axis.lo is None or axis.hi is None or axis.lo < axis.hi
        assert axis.scale == "linear" or axis.lo is None or axis.lo > 0
    assert all(np.isfinite(mark.at) for mark in chart.marks)
    assert len(chart.table().columns) == 1 + len(chart.series)
    if chart.x.label == "pairs" and chart.x.scale == "log":
        assert all((thin(series, chart).x >= chart.x.lo).all() for series in chart.series)


@pytest.mark.parametrize("moment", ["start:oh", "start:mmoh", "start:lsh"])
def test_before_the_first_pair_every_chart_says_so(moment):
    for chart in (make(picture(moment)) for make in VARIANTS.values()):
        assert chart.empty and re.search(r"yet|has (no|one)", f"{chart.title} {chart.caption}")


def test_a_method_that_does_not_learn_says_what_it_lacks():
    now = picture("lsh")
    for make in (charts.tau, charts.tau_quantiles, charts.update_rate, charts.per_bit, charts.certificate):
        chart = make(now)
        assert not chart.series and chart.title.startswith("LSH has no") and "does not learn" in chart.caption
    assert names(charts.loss(now)) == ["W frozen"] and charts.loss(now).title.startswith("LSH does not learn")
    assert charts.quality(now).title.startswith("Labels: mAP stays at .")
    assert labels(charts.hills(now)) == []


def test_hills_are_shares_of_each_kind():
    now = picture("oh")
    chart = charts.hills(now)
    assert names(chart) == ["dissimilar pairs", "similar pairs"]
    assert [series.role for series in chart.series] == ["dissimilar", "similar"]
    for series in chart.series:
        assert series.y.sum() == pytest.approx(100) and series.y[0] == 0 and series.y[-1] == 0
    assert labels(chart) == ["α = 0", "β·r = 24"] and [mark.at for mark in chart.marks] == [0, 24.0]
    mean = now.recent["similar"] @ np.arange(49) / now.recent["similar"].sum()
    assert chart.title.startswith(f"Pair AUC {formats.share(now.numbers['auc'])}: similar pairs differ in")
    assert f"in {formats.number(mean, 2)} of 48 bits" in chart.title
    assert labels(charts.hills(picture("changes")))[1] == "β·r = 14.4"  # beta as it is now
    assert "nearest of the models" in charts.hills(picture("mmoh")).caption


def test_both_hills_are_one_table():
    """The chart's own "Show data" lists the first table only."""
    for moment in EVERY:
        drawn = option(charts.hills(picture(moment)))
        assert len(drawn["dataset"]) <= 1, moment


def test_long_codes_are_binned_without_loss():
    now = picture("long")
    for series in charts.hills(now).series:
        assert len(series.x) <= 130 and series.y.sum() == pytest.approx(100)


def test_loss_against_the_frozen_copy():
    now = picture("oh")
    chart = charts.loss(now)
    mine, frozen = now.numbers["cum_R"], now.numbers["cum_R_frozen"]
    less = f"{100 * (1 - mine / frozen):.0f} % less"
    assert (
        chart.title
        == f"Cumulative loss R is {formats.approximate(mine)}; with W frozen {formats.approximate(frozen)}: {less}"
    )
    assert names(chart) == ["W frozen", "learning"]
    assert curve(chart, "learning").x[-1] == now.t and curve(chart, "learning").y[-1] == mine
    per_pair = charts.loss(now, per_pair=True)
    assert curve(per_pair, "learning").y[-1] == pytest.approx(mine / now.t)
    assert "per pair" in per_pair.title and (charts.loss(now, log=True).x.scale, chart.x.scale) == ("log", "linear")
    bound = charts.loss(now, bound=True)
    certified = curve(bound, "certified bound")
    assert bound.y.scale == "log" and certified.y[-1] == now.checkpoints["bound"][-1]
    assert names(charts.loss(now, what="loss", bound=True)) == ["W frozen", "learning"]  # it bounds R, not l
    with pytest.raises(ValueError, match="what must be one of R, loss"):
        charts.loss(now, what="x")


def test_bound_is_hidden_where_it_does_not_hold():
    now = picture("changes")
    chart = charts.loss(now, bound=True)
    holds = now.checkpoints["share_C"] >= 1
    assert not holds.all() and "not shown from there" in chart.caption
    assert np.isnan(curve(chart, "certified bound").y[~holds]).all()


def test_tau_says_how_many_are_capped():
    now = picture("oh")
    chart = charts.tau(now)
    outcome = now.recent["outcome"]
    share = outcome[CLIPPED] / (outcome[CLIPPED] + outcome[UPDATED])
    assert chart.title == f"τ is capped at C = 0.1 in {formats.percent(share)} of the recent updates"
    assert chart.x.scale == "log" and labels(chart) == ["C = 0.1"]
    full, capped = curve(chart, "not capped"), curve(chart, "capped at C")
    assert full.y.sum() + capped.y.sum() == pytest.approx(100)
    assert capped.y.sum() == pytest.approx(100 * share, abs=0.5)  # C lies on the edge of a bin
    assert (full.x[full.y > 0] < 0.1).all() and (capped.x[capped.y > 0] > 0.1).all()
    assert chart.x.lo <= 0.1 <= chart.x.hi
    assert labels(charts.tau(picture("changes"))) == ["C = 1"]
    assert "largest step of the models" in charts.tau(picture("mmoh")).caption


def test_tau_quantiles_follow_C():
    now = picture("changes")
    chart = charts.tau_quantiles(now)
    cap = curve(chart, "C")
    assert (
        cap.kind == "hold"
        and cap.x.tolist() == [chart.x.lo, 110, 130, 150]
        and cap.y.tolist() == [0.01, 0.0005, 1.0, 1.0]
    )
    assert chart.y.scale == "log" and chart.y.lo <= 0.0005 and chart.y.hi >= 1
    assert f"median uncapped step is {formats.number(now.columns['ratio_q50'][-1], 2)};" in chart.title


def test_C_is_a_line_from_the_left_end_of_the_axis():
    chart = charts.tau_quantiles(picture("oh"))
    assert chart.x.lo == 10 and thin(curve(chart, "C"), chart).x.tolist() == [10, 1500]


def test_a_run_whose_recent_pairs_need_no_update_says_so():
    now = picture("oh")
    still = {**now.recent, "ratio": np.zeros_like(now.recent["ratio"])}
    numbers = {**now.numbers, "update_rate": 0.0, "clipped_rate": np.nan}
    calm = replace(now, t=100_000, recent=still, numbers=numbers)
    chart = charts.tau(calm)
    assert chart.empty and chart.title == "No update among the last 2,048 pairs"
    assert f"{formats.count(now.totals['ratio'].sum())} updates came before" in chart.caption
    assert charts.tau_quantiles(calm).title.startswith(f"{chart.title}; before, the median uncapped step was ")
    assert charts.update_rate(calm).title == chart.title
    none = replace(calm, t=500, totals={**now.totals, "ratio": 0 * now.totals["ratio"]})
    assert charts.tau(none).caption == "No pair has needed an update so far."
    assert charts.tau(picture("start:oh")).caption == "Nothing measured yet."


def test_bits_that_are_the_same_for_every_item_are_counted():
    now = picture("oh")
    shares = np.full_like(now.bit_ones, 0.5)
    assert charts.bit_balance(replace(now, bit_ones=shares)).title.endswith("; all 48 change from item to item")
    shares[0, :2] = 0, 1
    assert charts.bit_balance(replace(now, bit_ones=shares)).title.endswith("; 2 of 48 are the same for every item")


def test_update_rate_in_per_cent():
    now = picture("oh")
    chart = charts.update_rate(now)
    assert chart.title.startswith(f"{formats.percent(now.numbers['update_rate'])} of recent pairs changed W, ")
    assert np.nanmax(chart.series[0].y) <= 100 and chart.y.unit == "%"


def test_bits_models_and_cost():
    now = picture("mmoh")
    chart = charts.bits(now)
    assert chart.series[0].y[-1] == now.numbers["recomputed"] and chart.series[1].y[-1] == now.numbers["flipped"]
    assert formats.percent(now.numbers["flipped"] / now.numbers["recomputed"]) in chart.title
    assert charts.bits(picture("never")).title == "No bit of the code table was recomputed"
    bars = charts.selections(now)
    assert bars.series[0].kind == "bar" and bars.series[0].y.tolist() == now.selections.tolist()
    assert bars.title.startswith(f"Model {now.selections.argmax() + 1} learnt most")
    assert charts.selections(picture("oh")).title == "OH has one model"
    work = charts.per_bit(now)
    assert labels(work) == ["", "model 1", "model 2", "model 3"]
    assert work.series[0].y[1:-1].tolist() == now.bit_updates.ravel().tolist()
    assert f"{now.bit_updates.max():,} times" in work.title
    cost = charts.cost(now)
    assert names(cost) == ["learning", "encoding", "evaluation"] and cost.y.name == "CPU time (s)"


def test_what_stale_codes_cost_on_clicks_is_hit_at_10():
    mine, values = own_data("clicks")
    params = experiment(mine, "oh", reencode="never", drift="rotate", drift_at=300, **{**SMALL, **values})
    *_, now = run(params, mine)
    stored, fresh = (now.checkpoints[name] for name in ("hit_10", "hit_10_fresh"))
    assert charts.quality(now).y.name == "hit@10" and "hit@10" in repr(now) and "mAP" not in repr(now)
    assert "hit@10" in now._repr_html_() and "mAP" not in now._repr_html_()
    gap = charts.stale_gap(now)
    assert [curve.y.tolist() for curve in gap.series] == [fresh.tolist(), stored.tolist()]
    assert gap.y.name == "hit@10" and "hit@10" in gap.title and not np.array_equal(stored, fresh)
    older = replace(now, checkpoints={name: y for name, y in now.checkpoints.items() if name != "hit_10_fresh"})
    assert charts.stale_gap(older).title == "Stale and fresh codes have not been compared yet"
    assert "hit_10_fresh" not in picture("never").checkpoints, "runs on labels have the columns they had"


def test_old_codes_and_both_truths():
    gap = charts.stale_gap(picture("never"))
    now = picture("never").numbers
    assert gap.title.startswith(f"Stale codes cost {formats.share(now['map_fresh'] - now['map'])} mAP")
    assert "every checkpoint" in charts.stale_gap(picture("oh")).caption
    both = charts.both_truths(picture("oh"))
    assert re.match(r"Labels: mAP rises from .* to .*; Distance: recall@10 falls from ", both.title)
    assert {series.role for series in both.series} == {"labels", "distance"}


def test_certificate_on_powers_of_ten():
    chart = charts.certificate(picture("oh"))
    assert chart.y.scale == "log" and chart.y.format == "power" and "⁻" in chart.title
    assert "satisfied at 100 % of the updates" in chart.caption


def test_limits_of_axes():
    assert round_up(0.9999999999) == 1 and round_up(1074) == 1200
    assert share_limits() == (0.0, 1.0) and share_limits(np.array([np.nan])) == (0.0, 1.0)
    assert share_limits(np.array([0.664, 0.935])) == (0.6, 1.0)
    assert share_limits(np.array([0.999])) == (0.8, 1.0)
    assert decades(float("nan")) == (0.1, 10.0) and decades(1e-5, 0.5) == (1e-5, 1.0)


def test_tables_hold_only_bits_and_distances_that_exist():
    now = picture("oh")
    r = now.bit_ones.size
    assert charts.per_bit(now).table().iloc[:, 0].tolist() == list(range(1, r + 1))
    assert charts.bit_balance(now).table().iloc[:, 0].between(1, r).all()
    assert charts.hills(now).table().iloc[:, 0].between(0, r).all()


def test_hills_of_one_kind_are_told_in_words():
    now = picture("oh")
    none = np.zeros_like(now.recent["similar"])
    for kind, missing in (("dissimilar", "similar"), ("similar", "dissimilar")):
        title = charts.hills(replace(now, recent={**now.recent, missing: none}, numbers={})).title
        assert title.startswith(f"Only {kind} pairs so far: they differ in ") and "–" not in title
    assert charts.hills(replace(now, numbers={})).title.startswith("Similar pairs differ in ")


def test_one_pair_is_not_several():
    now = picture("oh")
    first = {name: column[:2] for name, column in now.checkpoints.items()} | {"pairs": np.array([0.0, 1.0])}
    assert charts.quality(replace(now, t=1, checkpoints=first)).title.endswith(" in 1 pair")
    assert "from 1 pair of" in headline(replace(now, t=1), now.params, "running")


def test_the_cap_is_told_of_the_bars_after_a_change_of_C():
    now = picture(next(one for one in EVERY if one.endswith("changes")))
    changed = replace(now.params, changes=(Change(now.t - 1, "C", 1e6),))
    assert charts.tau(replace(now, params=changed)).title.startswith("C = 1,000,000 would cap 0 %")
