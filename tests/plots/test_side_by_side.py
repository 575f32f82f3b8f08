"""Two runs on one chart: both curves, their difference at the pointer, and codes of different length."""

from dataclasses import replace

import numpy as np
import pytest

from ohash.engine.params import experiment
from ohash.engine.run import run
from ohash.engine.snapshot import Snapshot
from ohash.plots import theme
from ohash.plots.chart import Chart
from ohash.plots.live import charts
from ohash.plots.live.other_runs import side_by_side, with_difference
from ohash.plots.renderers.echarts import option


def last(**values: float) -> Snapshot:
    *_, now = run(experiment("digits", "oh", **{"pairs": 600, **values}))
    return now


@pytest.fixture(scope="module")
def runs() -> tuple[Snapshot, Snapshot]:
    return last(r=16), last(r=32, C=0.01)


def curve(chart: Chart, name: str) -> tuple[np.ndarray, np.ndarray]:
    one = next(one for one in chart.series if one.name == name)
    return one.x, one.y


@pytest.mark.slow
def test_the_loss_has_both_runs_and_their_difference(runs: tuple[Snapshot, Snapshot]) -> None:
    now, other = (charts.loss(one) for one in runs)
    both = side_by_side(now, other, "pinned")
    x, difference = curve(both, "difference from pinned")
    x_other, y_other = curve(other, "learning")
    np.testing.assert_allclose(difference, curve(now, "learning")[1] - np.interp(x, x_other, y_other))
    hidden = next(one for one in both.series if one.name.startswith("difference"))
    assert hidden.opacity == 0 and not hidden.listed, "only the read-out tells it"
    mine = next(one for one in both.series if one.name == "learning")
    pinned = next(one for one in both.series if one.name == "pinned")
    assert theme.colour(mine.role) != theme.colour(pinned.role) and pinned.listed
    assert not any("difference" in one.name for one in side_by_side(charts.loss(runs[0], log=True), other, "p").series)


def test_the_caption_of_the_loss_tells_of_other_lengths_only(runs: tuple[Snapshot, Snapshot]) -> None:
    expected = "The loss grows with r: 16 bits here, 32 there."
    now, other = runs
    assert expected in side_by_side(charts.loss(now), charts.loss(other), "pinned", (16, 32)).caption
    assert "grows" not in side_by_side(charts.loss(now), charts.loss(other), "pinned", (16, 16)).caption
    for draw in (charts.hills, charts.tau):
        assert "grows" not in side_by_side(draw(now), draw(other), "pinned", (16, 32)).caption


def test_hills_of_other_lengths_are_brought_to_one(runs: tuple[Snapshot, Snapshot]) -> None:
    now, other = (charts.hills(one) for one in runs)
    both = side_by_side(now, other, "pinned")
    x, y = curve(both, "pinned: similar pairs")
    assert x.max() <= 16.6 and both.y.hi is not None and both.y.hi >= now.y.hi
    assert y.sum() * (x[1] - x[0]) == pytest.approx(100, abs=1)
    assert both.y.hi >= max(one.y.max() for one in both.series), "narrower hills are higher"


def test_steps_are_one_outline_with_a_difference(runs: tuple[Snapshot, Snapshot]) -> None:
    both = side_by_side(charts.tau(runs[0]), charts.tau(runs[1]), "pinned")
    x, outline = curve(both, "pinned")
    assert outline.sum() == pytest.approx(100, abs=0.5)
    at, difference = curve(both, "share of updates: difference from pinned")
    mine = curve(both, "not capped")[1] + curve(both, "capped at C")[1]
    np.testing.assert_allclose(difference, mine - np.interp(at, x, outline, left=0, right=0))


def test_the_pointer_finds_both_runs_and_their_difference_at_the_same_place(runs: tuple[Snapshot, Snapshot]) -> None:
    """The read-out tells what has a point there: points between those of the live run had no difference."""
    for now, other in (runs, runs[::-1]):
        hills = side_by_side(charts.hills(now), charts.hills(other), "pinned")
        for kind in ("similar pairs", "dissimilar pairs"):
            x, y = curve(hills, f"pinned: {kind}")
            own, mine = curve(hills, kind)
            at, difference = curve(hills, f"{kind}: difference from pinned")
            assert set(own) <= set(x) and np.array_equal(at, own) and y.sum() == pytest.approx(100)
            np.testing.assert_allclose(difference, mine - y[np.isin(x, own)])
    shorter = last(r=16, pairs=437, C=0.01)
    for now, other in ((runs[0], shorter), (shorter, runs[0])):
        loss = side_by_side(charts.loss(now), charts.loss(other), "pinned")
        own, x = curve(loss, "learning")[0], curve(loss, "pinned")[0]
        assert set(x[x <= own[-1]]) <= set(own) and len(x) > 5


def test_captions_say_how_the_other_run_is_drawn(runs: tuple[Snapshot, Snapshot]) -> None:
    now, other = runs
    hills, loss, tau = (
        side_by_side(draw(now), draw(other), "pinned") for draw in (charts.hills, charts.loss, charts.tau)
    )
    assert hills.caption.startswith("Dashed outlines: the pinned run, its 32 bits drawn as wide as 16. ")
    assert {one.role for one in hills.series if one.dash == "dashed"} == {"similar", "dissimilar"}
    same = side_by_side(charts.hills(now), charts.hills(now), "pinned")
    assert same.caption.startswith("Dashed outlines: the pinned run. ")
    assert loss.caption.startswith("In green: the pinned run. ")
    assert tau.caption.startswith("Dashed, in green: the pinned run. ")


def test_the_pair_auc_of_the_other_run_begins_where_that_of_this_one_does(runs: tuple[Snapshot, Snapshot]) -> None:
    now, other = runs
    chart = charts.quality(now, "auc", pinned=charts.ghost_of(other, "pinned"))
    for one in chart.series:
        assert one.x[np.isfinite(one.y)].min() >= 100, one.name


def test_the_score_has_its_difference_and_every_chart_is_drawn(runs: tuple[Snapshot, Snapshot]) -> None:
    now, other = runs
    score = with_difference(charts.quality(now, pinned=charts.ghost_of(other, "pinned: r = 32")), "pinned")
    _, difference = curve(score, "difference from pinned")
    assert np.isfinite(difference).any()
    drawn = [
        score,
        *(side_by_side(draw(now), draw(other), "pinned") for draw in (charts.hills, charts.loss, charts.tau)),
    ]
    for chart in drawn:
        assert option(chart, title=True, title_lines=2)["series"]


def test_a_run_that_has_not_begun_adds_nothing(runs: tuple[Snapshot, Snapshot]) -> None:
    now = charts.loss(runs[0])
    assert side_by_side(now, replace(now, series=()), "pinned") is now


@pytest.mark.slow
def test_a_pinned_run_that_is_further_along_does_not_press_the_live_one_flat() -> None:
    mine, other = (charts.loss(last(pairs=pairs)) for pairs in (300, 3000))
    x, y = curve(side_by_side(mine, other, "pinned"), "pinned")
    assert x[-1] == mine.x.hi and y[-1] < curve(other, "learning")[1][-1] / 2
