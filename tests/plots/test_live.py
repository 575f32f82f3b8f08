"""Every chart of a run, at every moment of every method: traces, titles, empty states."""

import re
from dataclasses import replace

import numpy as np
import pytest

from ohash.experiment.observer_kernels import CLIPPED, UPDATED
from ohash.experiment.params import experiment
from ohash.experiment.story import headline
from ohash.plots import layout, live, theme, words
from ohash.plots.chart import Chart
from ohash.plots.echarts import option
from ohash.plots.echarts_frame import framed
from ohash.plots.ghost import MOST, Ghost
from ohash.plots.over_pairs import decades, rounded_up, share_limits
from ohash.plots.plotly import figure
from ohash.plots.scores import _stages, moving_average
from tests.plots.moments import EVERY, picture

VARIANTS = {
    **live.CHARTS,
    "recall": lambda now: live.quality(now, "recall_10"),
    "auc": lambda now: live.quality(now, "auc", log=False),
    "loss per pair": lambda now: live.loss(now, per_pair=True),
    "log loss and bound": lambda now: live.loss(now, log=True, bound=True),
    "prediction loss": lambda now: live.loss(now, what="loss", per_pair=True, bound=True),
    "all tau": lambda now: live.tau(now, recent=False),
}


def names(chart: Chart) -> list[str]:
    return [series.name for series in chart.series]


def labels(chart: Chart) -> list[str]:
    return [mark.label for mark in chart.marks]


def curve(chart: Chart, name: str):
    return next(series for series in chart.series if series.name == name)


@pytest.mark.parametrize("moment", EVERY)
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
        assert all((series.x >= 1).all() for series in chart.series)


@pytest.mark.parametrize("moment", ["start:oh", "start:mmoh", "start:lsh"])
def test_before_the_first_pair_every_chart_says_so(moment):
    for chart in (make(picture(moment)) for make in VARIANTS.values()):
        assert chart.empty and re.search(r"yet|has (no|one)", f"{chart.title} {chart.caption}")


def test_a_method_that_does_not_learn_says_what_it_lacks():
    now = picture("lsh")
    for make in (live.tau, live.tau_quantiles, live.update_rate, live.per_bit, live.certificate):
        chart = make(now)
        assert not chart.series and chart.title.startswith("LSH has no") and "does not learn" in chart.caption
    assert names(live.loss(now)) == ["W frozen"] and live.loss(now).title.startswith("LSH does not learn")
    assert live.quality(now).title.startswith("Labels: mAP stays at .")
    assert labels(live.hills(now)) == []


def test_quality_tells_start_now_and_pairs():
    now = picture("oh")
    chart = live.quality(now, reference=0.72)
    values = now.checkpoints["map"]
    assert chart.title == f"Labels: mAP rises from {words.share(values[0])} to {words.share(values[-1])} in 1,500 pairs"
    assert names(chart) == ["each checkpoint", "moving average"]
    assert curve(chart, "each checkpoint").y.tolist() == values.tolist()
    assert curve(chart, "each checkpoint").x[0] == 1  # pair 0 at the left edge
    assert labels(chart) == [f"LSH start {words.share(values[0])}", "float .72"]
    assert chart.x.scale == "log" and live.quality(now, log=False).x.scale == "linear"
    assert chart.y.lo <= min(values.min(), 0.72) and chart.y.hi >= values.max()
    distance = live.quality(now, "recall_10")
    assert distance.title.startswith("Distance: recall@10 falls from .46 to ")


def test_quality_of_the_stream_has_the_frozen_copy():
    now = picture("oh")
    chart = live.quality(now, "auc")
    assert names(chart) == ["W frozen", "pair AUC, last 2,048"]
    assert f"is {words.share(now.numbers['auc'])}, with W frozen" in chart.title
    with pytest.raises(ValueError, match="metric must be one of map, "):
        live.quality(now, "accuracy")


def test_drift_and_changes_are_marked_and_told():
    chart = live.quality(picture("drift"))
    assert "drift" in labels(chart) and next(m for m in chart.marks if m.label == "drift").at == 120
    assert re.search(r"before the drift, is \.\d\d after it, and \.\d\d at 140 pairs$", chart.title)
    slowly = live.quality(picture("slowly"))
    assert [label for label in labels(slowly) if "drift" in label] == ["drift begins", "drift ends"]
    changed = live.quality(picture("changes"))
    marks = [mark for mark in changed.marks if mark.role == "change"]
    assert [(mark.at, mark.label) for mark in marks] == [(1, "C = 0.01"), (110, "C = 0.0005"), (130, "β = 0.3, C = 1")]


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


def test_ghosts_are_thin_pale_short_and_named_beside_their_end():
    ghost = live.ghost_of(picture("long"), "β = 0.3")
    assert all(len(column) <= MOST and column.dtype == np.float32 for column in ghost.columns.values())
    assert ghost.columns["pairs"][0] == 1 and ghost.columns["pairs"][-1] == 1_000_000
    chart = live.quality(picture("oh"), "auc", ghosts=[ghost], pinned=live.ghost_of(picture("mmoh"), "pinned"))
    first, second = chart.series[:2]
    assert (first.name, first.role, first.listed, first.most) == ("β = 0.3", "ghost", False, 200)
    assert (second.name, second.role, second.listed) == ("pinned", "pinned", False)
    assert [one.label for one in chart.series[:4]] == ["β = 0.3", "pinned", "", ""]
    empty = live.ghost_of(picture("start:oh"), "nothing")
    assert names(live.quality(picture("oh"), ghosts=[empty])) == ["each checkpoint", "moving average"]
    left = {name: column[:1] for name, column in ghost.checkpoints.items()}
    assert "left at once" not in names(
        live.quality(picture("oh"), ghosts=[replace(ghost, label="left at once", checkpoints=left)])
    )
    bare = Ghost("bare", ghost.params, {"pairs": np.empty(0, np.float32)}, {"pairs": np.empty(0, np.float32)})
    assert "bare" not in names(live.quality(picture("oh"), "auc", ghosts=[bare]))


def test_a_run_of_other_data_does_not_set_the_scale():
    now = picture("oh")
    ghost = live.ghost_of(now, "pinned")
    low = replace(ghost, checkpoints={**ghost.checkpoints, "map": 0.01 * ghost.checkpoints["map"]})
    elsewhere = replace(low, params=experiment("moons"))
    assert live.quality(now, pinned=elsewhere).y == live.quality(now).y == live.quality(now, pinned=ghost).y
    assert live.quality(now, pinned=low).y.lo < live.quality(now).y.lo
    assert "pinned" in names(live.quality(now, pinned=elsewhere))


@pytest.mark.parametrize(("width", "size"), [(610, theme.SIZE_COMPACT), (760, theme.SIZE_STAGE)])
def test_a_label_beside_a_curve_ends_within_the_chart(width, size):
    chart = live.quality(picture("oh"), pinned=live.ghost_of(picture("oh"), "pinned, Digits: OH on test queries"))
    drawn = option(chart, dark=False, height=235, width=width, size=size)["series"]
    (line,) = (one for one in drawn if "endLabel" in one)
    frame = framed(chart, width, 235, size, heading=0, legend=False)
    text = line["endLabel"]["formatter"]
    (beside,) = (one for one in layout.labels(chart, frame.inner, frame.plot, size) if one.of.role == "pinned")
    end = frame.left + layout.position(beside.at[0], *frame.x, chart.x.scale) * frame.inner
    assert text.startswith("pinned, Digits") and end + 6 + layout.text_width(text, size) <= width


def test_labels_stand_right_of_the_plot_and_apart():
    """Of the start, the reference and a run that ended early: no curve is covered, wherever they lie."""
    now = picture("oh")
    start = now.checkpoints["map"][0]
    early = {name: column[:4] for name, column in now.checkpoints.items()}
    ghost = live.ghost_of(replace(now, checkpoints=early), "ended early")
    chart = live.quality(now, reference=start + 0.001, ghosts=[ghost])
    found = layout.labels(chart, 500, 150, 11)
    assert {one.of.label.partition(" ")[0] for one in found} == {"LSH", "float", "ended"}
    assert {one.at[0] for one in found} == {layout.limits(chart, "x")[1]}
    ends = layout.limits(chart, "y")
    heights = sorted(layout.position(one.at[1], *ends, "linear") * 150 + one.up for one in found)
    assert np.diff(heights).min() >= 1.2 * 11 - 1e-9
    drawn = option(chart, dark=False, height=235, width=610, size=11)["series"]
    (line,) = (one for one in drawn if "endLabel" in one)
    frame = framed(chart, 610, 235, 11, heading=0, legend=True)
    end = layout.position(float(ghost.checkpoints["pairs"][-1]), *frame.x, "log") * frame.inner
    assert line["endLabel"]["offset"][0] == pytest.approx(frame.inner - end)
    assert [one["label"]["position"] for one in drawn[-1]["markLine"]["data"]] == ["end", "end"]
    assert figure(chart).layout.annotations[-1].x == pytest.approx(np.log10(layout.limits(chart, "x")[1]))


def test_a_new_run_keeps_its_ghosts_before_its_first_pair():
    chart = live.quality(picture("start:oh"), ghosts=[live.ghost_of(picture("oh"), "before")])
    assert names(chart) == ["before"] and "not measured yet" in chart.title


def test_hills_are_shares_of_each_kind():
    now = picture("oh")
    chart = live.hills(now)
    assert names(chart) == ["dissimilar pairs", "similar pairs"]
    assert [series.role for series in chart.series] == ["dissimilar", "similar"]
    for series in chart.series:
        assert series.y.sum() == pytest.approx(100) and series.y[0] == 0 and series.y[-1] == 0
    assert labels(chart) == ["α = 0", "β·r = 24"] and [mark.at for mark in chart.marks] == [0, 24.0]
    mean = now.recent["similar"] @ np.arange(49) / now.recent["similar"].sum()
    assert chart.title.startswith(f"Pair AUC {words.share(now.numbers['auc'])}: similar pairs differ in")
    assert f"in {words.number(mean, 2)} of 48 bits" in chart.title
    assert labels(live.hills(picture("changes")))[1] == "β·r = 14.4"  # beta as it is now
    assert "nearest of the models" in live.hills(picture("mmoh")).caption


def test_long_codes_are_binned_without_loss():
    now = picture("long")
    for series in live.hills(now).series:
        assert len(series.x) <= 130 and series.y.sum() == pytest.approx(100)


def test_loss_against_the_frozen_copy():
    now = picture("oh")
    chart = live.loss(now)
    mine, frozen = now.numbers["cum_R"], now.numbers["cum_R_frozen"]
    less = f"{100 * (1 - mine / frozen):.0f} % less"
    assert (
        chart.title
        == f"Cumulative similarity loss R is {words.large(mine)}; with W frozen {words.large(frozen)}: {less}"
    )
    assert names(chart) == ["W frozen", "learning"]
    assert curve(chart, "learning").x[-1] == now.t and curve(chart, "learning").y[-1] == mine
    per_pair = live.loss(now, per_pair=True)
    assert curve(per_pair, "learning").y[-1] == pytest.approx(mine / now.t)
    assert "per pair" in per_pair.title and (live.loss(now, log=True).x.scale, chart.x.scale) == ("log", "linear")
    bound = live.loss(now, bound=True)
    certified = curve(bound, "certified bound")
    assert bound.y.scale == "log" and certified.y[-1] == now.checkpoints["bound"][-1]
    assert names(live.loss(now, what="loss", bound=True)) == ["W frozen", "learning"]  # it bounds R, not l
    with pytest.raises(ValueError, match="what must be one of R, loss"):
        live.loss(now, what="x")


def test_bound_is_hidden_where_it_does_not_hold():
    now = picture("changes")
    chart = live.loss(now, bound=True)
    holds = now.checkpoints["share_C"] >= 1
    assert not holds.all() and "not shown from there" in chart.caption
    assert np.isnan(curve(chart, "certified bound").y[~holds]).all()


def test_tau_says_how_many_are_capped():
    now = picture("oh")
    chart = live.tau(now)
    outcome = now.recent["outcome"]
    share = outcome[CLIPPED] / (outcome[CLIPPED] + outcome[UPDATED])
    assert chart.title == f"τ is capped at C = 0.1 in {words.percent(share)} of the recent updates"
    assert chart.x.scale == "log" and labels(chart) == ["C = 0.1"]
    full, capped = curve(chart, "taken in full"), curve(chart, "capped at C")
    assert full.y.sum() + capped.y.sum() == pytest.approx(100)
    assert capped.y.sum() == pytest.approx(100 * share, abs=0.5)  # C lies on the edge of a bin
    assert (full.x[full.y > 0] < 0.1).all() and (capped.x[capped.y > 0] > 0.1).all()
    assert chart.x.lo <= 0.1 <= chart.x.hi
    assert labels(live.tau(picture("changes"))) == ["C = 1"]
    assert "largest step of the models" in live.tau(picture("mmoh")).caption


def test_tau_quantiles_follow_C():
    now = picture("changes")
    chart = live.tau_quantiles(now)
    cap = curve(chart, "C")
    assert cap.kind == "hold" and cap.x.tolist() == [1, 110, 130, 150] and cap.y.tolist() == [0.01, 0.0005, 1.0, 1.0]
    assert chart.y.scale == "log" and chart.y.lo <= 0.0005 and chart.y.hi >= 1
    assert f"median step asked for is {words.number(now.columns['ratio_q50'][-1], 2)};" in chart.title


def test_update_rate_in_per_cent():
    now = picture("oh")
    chart = live.update_rate(now)
    assert chart.title.startswith(f"{words.percent(now.numbers['update_rate'])} of recent pairs changed W, ")
    assert np.nanmax(chart.series[0].y) <= 100 and chart.y.unit == "%"


def test_bits_models_and_cost():
    now = picture("mmoh")
    chart = live.bits(now)
    assert chart.series[0].y[-1] == now.numbers["recomputed"] and chart.series[1].y[-1] == now.numbers["flipped"]
    assert words.percent(now.numbers["flipped"] / now.numbers["recomputed"]) in chart.title
    assert live.bits(picture("never")).title == "No bit of the code table was computed again"
    bars = live.selections(now)
    assert bars.series[0].kind == "bar" and bars.series[0].y.tolist() == now.selections.tolist()
    assert bars.title.startswith(f"Model {now.selections.argmax() + 1} learnt most")
    assert live.selections(picture("oh")).title == "OH has one model"
    work = live.per_bit(now)
    assert labels(work) == ["", "model 1", "model 2", "model 3"]
    assert work.series[0].y[1:-1].tolist() == now.bit_updates.ravel().tolist()
    assert f"{now.bit_updates.max():,} times" in work.title
    cost = live.cost(now)
    assert names(cost) == ["learning", "encoding", "evaluation"] and cost.y.name == "CPU time (s)"


def test_old_codes_and_both_truths():
    gap = live.stale_gap(picture("never"))
    now = picture("never").numbers
    assert gap.title.startswith(f"Old codes cost {words.share(now['map_fresh'] - now['map'])} mAP")
    assert "every checkpoint" in live.stale_gap(picture("oh")).caption
    both = live.both_truths(picture("oh"))
    assert re.match(r"Labels: mAP rises from .* to .*; Distance: recall@10 falls from ", both.title)
    assert {series.role for series in both.series} == {"labels", "distance"}


def test_certificate_on_powers_of_ten():
    chart = live.certificate(picture("oh"))
    assert chart.y.scale == "log" and chart.y.format == "power" and "⁻" in chart.title
    assert "true at 100 % of the updates" in chart.caption


def test_limits_of_axes():
    assert rounded_up(0.9999999999) == 1 and rounded_up(1074) == 1200
    assert share_limits() == (0.0, 1.0) and share_limits(np.array([np.nan])) == (0.0, 1.0)
    assert share_limits(np.array([0.664, 0.935])) == (0.6, 1.0)
    assert share_limits(np.array([0.999])) == (0.8, 1.0)
    assert decades(float("nan")) == (0.1, 10.0) and decades(1e-5, 0.5) == (1e-5, 1.0)


def test_tables_hold_only_bits_and_distances_that_exist():
    now = picture("oh")
    r = now.bit_ones.size
    assert live.per_bit(now).table().iloc[:, 0].tolist() == list(range(1, r + 1))
    assert live.bit_balance(now).table().iloc[:, 0].between(1, r).all()
    assert live.hills(now).table().iloc[:, 0].between(0, r).all()


def test_the_float_reference_is_drawn_for_who_gives_none():
    now = picture("oh")
    (line,) = [mark for mark in live.quality(now).marks if mark.label.startswith("float")]
    assert line.at == now.numbers["map_float"]
    assert not any("float" in mark.label for mark in live.quality(now, "recall_10").marks)


def test_hills_of_one_kind_are_told_in_words():
    now = picture("oh")
    none = np.zeros_like(now.recent["similar"])
    for kind, missing in (("dissimilar", "similar"), ("similar", "dissimilar")):
        title = live.hills(replace(now, recent={**now.recent, missing: none}, numbers={})).title
        assert title.startswith(f"Only {kind} pairs so far: they differ in ") and "–" not in title
    assert live.hills(replace(now, numbers={})).title.startswith("Similar pairs differ in ")


def test_one_pair_is_not_several():
    now = picture("oh")
    first = {name: column[:2] for name, column in now.checkpoints.items()} | {"pairs": np.array([0.0, 1.0])}
    assert live.quality(replace(now, t=1, checkpoints=first)).title.endswith(" in 1 pair")
    assert "from 1 pair of" in headline(replace(now, t=1), now.params, "running")
