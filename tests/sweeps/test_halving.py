"""Successive halving: who goes on follows from the store alone, and nothing stopped early is ranked."""

import csv
import io

import pytest

from ohash.engine.params import experiment
from ohash.plots import sweeps as charts
from ohash.store.store import Store
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.halving import group_of, open_rounds, planned_cells
from ohash.sweeps.report import best_of, importance, to_latex
from ohash.sweeps.results import best_points, collect_points, count_cells, halving_text, to_csv
from ohash.sweeps.saving import with_own_data
from ohash.sweeps.specification import build_sweep, from_values, read_sweep
from ohash.sweeps.sweep import code_for
from tests.engine.runs import own_data
from tests.sweeps.sweeps import BASE, tiny_sweep

BETAS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def halving_sweep(**more):
    return tiny_sweep(**{"grid": {"beta": BETAS}, "seeds": 2, "halving": {"factor": 2, "min_pairs": 30}, **more})


def test_rounds_have_a_factor_of_pairs_each_and_the_spec_is_read_back(tmp_path):
    sweep = halving_sweep()
    assert sweep.budgets == (30, 60, 120)
    assert len(planned_cells(sweep)) == 2 * (6 + 3 + 1)
    file = tmp_path / "a.json"
    file.write_text(sweep.to_json())
    assert read_sweep(file) == sweep and "halving={'factor': 2, 'min_pairs': 30}" in code_for(sweep)
    assert "halving" not in tiny_sweep().to_json(), "a sweep without it has the key it always had"


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ({"halving": {"factor": 2}}, "no min_pairs"),
        ({"halving": {"min_pairs": 10, "eta": 3}}, "factor and min_pairs, got eta"),
        ({"halving": {"min_pairs": 10, "factor": 1}}, "factor must be an integer >= 2"),
        ({"halving": {"min_pairs": True}}, "min_pairs must be an integer"),
        ({"halving": {"min_pairs": 50}}, "at most pairs / factor = 40 here, got 50"),
        ({"halving": {"min_pairs": 10}, "grid": {"pairs": [60, 120]}}, "pairs must be in base alone"),
    ],
)
def test_what_is_wrong_is_named(spec, match):
    with pytest.raises(ValueError, match=match):
        from_values({"base": BASE, **spec})


@pytest.mark.slow
def test_the_best_of_a_round_go_on_and_only_full_settings_are_ranked(store):
    sweep = halving_sweep()
    progress = SweepExecution(sweep, store, InlineExecutor()).run()
    assert (progress.done, progress.total) == (20, 20) and len(store.done()) == 20, "no other cell was run"
    points = collect_points(sweep, store)
    by_round = {pairs: [p for p in points if dict(p.at)["pairs"] == pairs] for pairs in sweep.budgets}
    assert [len(some) for some in by_round.values()] == [6, 3, 1]
    for pairs, following in ((30, 60), (60, 120)):
        here = by_round[pairs]
        on = {dict(p.at)["beta"] for p in by_round[following]}
        assert on == {dict(p.at)["beta"] for p in sorted(here, key=lambda p: -p.mean())[: len(on)]}
        assert {dict(p.at)["beta"] for p in here if p.outcome == "continued"} == on
        assert all(p.outcome == "stopped" for p in here if dict(p.at)["beta"] not in on)
    (full,) = by_round[120]
    assert full.outcome == "full" and best_of(points) == [full]
    (best,) = best_points(sweep, store)
    assert best.point.at == full.at and best.test is not None
    assert halving_text(sweep, store).startswith(
        "Successive halving: 6 settings with 30 pairs, then 3 settings with 60 pairs, then 1 setting with 120 pairs. "
    )
    rows = list(csv.DictReader(io.StringIO(to_csv(sweep, store))))
    assert len(rows) == 20 and {row["halving"] for row in rows} == {"all pairs", "continued", "stopped early"}
    latex = to_latex(sweep, points)
    assert latex.count(r"\textbf") == 1 and "stopped early and are not ranked" in latex
    assert latex.count(r" \\") == 1 + 6, "a header, and each setting once"
    chart = charts.lines(sweep, points, "map", "beta")
    assert {"30 pairs", "60 pairs", "120 pairs"} <= {series.name for series in chart.series}
    assert "best of those that ran all 120 pairs" in chart.caption
    assert not importance(sweep, points), "one parameter explains nothing beside itself: pairs are no parameter here"


@pytest.mark.slow
def test_stopped_anywhere_it_resumes_to_the_same_cells(tmp_path):
    """After every number of finished cells: the next call runs exactly those that are missing."""
    sweep = halving_sweep(seeds=1)
    whole = Store(tmp_path / "whole")
    SweepExecution(sweep, whole, InlineExecutor()).run()
    for most in (1, 5, 6, 8, 9):
        torn = Store(tmp_path / f"torn{most}")
        first = SweepExecution(sweep, torn, InlineExecutor())
        first._on_progress = lambda progress, most=most, first=first: progress.here >= most and first.cancelled.set()
        first.run()
        assert len(torn.done()) == most and count_cells(sweep, torn) == 10
        rounds = open_rounds(sweep, torn.values(cell.key for cell in sweep.cells))
        assert len(rounds) == (1 if most < 6 else 2 if most < 9 else 3)
        if len(rounds) < 3:
            assert best_points(sweep, torn) == [], "nothing has run all pairs yet"
            assert "to come" in halving_text(sweep, torn) and best_of(collect_points(sweep, torn)) == []
        second = SweepExecution(sweep, Store(torn.folder), InlineExecutor()).run()
        assert second.here == 10 - most and torn.done() == whole.done()


@pytest.mark.slow
def test_groups_halve_apart_and_a_failed_setting_does_not_go_on(store):
    sweep = build_sweep(
        base={**BASE, "m": 16},
        grid={"m": [8, 16, 24, 10_000]},  # there are not that many points
        cases=[{"method": "oh"}, {"method": "itq"}],
        halving={"factor": 2, "min_pairs": 60},
    )
    SweepExecution(sweep, store, InlineExecutor()).run()
    last = [point for point in collect_points(sweep, store) if dict(point.at)["pairs"] == 120]
    assert sorted(dict(point.at)["method"] for point in last) == ["itq", "itq", "oh", "oh"], "supervision apart"
    assert all(dict(point.at)["m"] != 10_000 and point.outcome == "full" for point in last)
    assert len(best_points(sweep, store)) == 2


def test_own_data_keep_the_draws_and_the_rounds():
    data, _ = own_data("labels")
    sweep = tiny_sweep(grid={}, random={"draws": 4, "beta": [0.1, 0.9]}, halving={"factor": 2, "min_pairs": 60})
    mine = with_own_data(sweep, data)
    assert (mine.random, mine.halving) == (sweep.random, sweep.halving)


def test_a_method_of_labels_competes_with_those_of_pairs_where_it_is_given_pairs():
    by_distance = experiment("fashion", "ksh", similar_by="metric")
    assert group_of(by_distance) == "fashion by metric, learning from pairs"
    assert group_of(experiment("fashion", "ksh")) == "fashion, learning from labels"
    assert group_of(experiment("debian", "ksh")) == "debian, learning from pairs", "by clicks, though nobody said so"
