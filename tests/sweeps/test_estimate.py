"""What a sweep will cost is measured, not guessed."""

import pytest

from ohash.sweeps import estimate as sweep_cost
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.specification import build_sweep
from tests.sweeps.sweeps import tiny_sweep


def test_the_cost_is_measured(store):
    chosen = tiny_sweep(seeds=3)
    before = sweep_cost.estimate_cost(chosen.cells, store)
    assert (before.cells, before.measured) == (6, 1) and 0 < before.on(2) < before.seconds
    SweepExecution(tiny_sweep(seeds=2), store, InlineExecutor()).run()
    after = sweep_cost.estimate_cost(chosen.cells, store)
    assert (after.cells, after.measured) == (2, 0)
    assert 0 < after.seconds < 60


def test_a_cell_costs_by_its_own_pairs_and_its_own_size(store, monkeypatch):
    begun = []

    def measured(params, own=None):
        begun.append(params)
        return sweep_cost.CellTimes(1.0, params.model.r / 1000, 0.25)

    monkeypatch.setattr(sweep_cost, "time_cell", measured)
    base = {"dataset": "blobs", "kernel": "none", "judged_at": "ends"}
    chosen = build_sweep(base=base, grid={"pairs": [1_000, 100_000], "r": [8, 16, 32]})
    cost = sweep_cost.estimate_cost(chosen.cells, store)
    assert [params.model.r for params in begun] == [32, 8] and cost.measured == 2
    assert cost.seconds == pytest.approx(
        sum(1 + n * r / 1000 + 4 * 0.25 for n in (1_000, 100_000) for r in (8, 16, 32))
    )
    calls = []
    once = sweep_cost.CellTimer(max_cells=1, on_cell=lambda at, of: calls.append((at, of)))
    assert sweep_cost.estimate_cost(chosen.cells, store, once).measured == 1 and calls == [(1, 1)]
    assert sweep_cost.estimate_cost(chosen.cells[:2], store, once).measured == 1 and len(begun) == 4, "r = 8 is new"
    assert sweep_cost.estimate_cost(chosen.cells, store, once).measured == 1 and len(begun) == 4, "32 is known"


def test_only_a_kernel_has_anchors_that_cost(store, monkeypatch):
    monkeypatch.setattr(sweep_cost, "time_cell", lambda params, own=None: sweep_cost.CellTimes(1.0, 1.0, 0.0))
    base = {"dataset": "blobs", "judged_at": "ends", "r": 8}
    for kernel, measured in (("rbf", 2), ("none", 1), ("given", 1), ("raw", 1)):
        chosen = build_sweep(base={**base, "kernel": kernel}, grid={"m": [16, 1000]})
        assert sweep_cost.estimate_cost(chosen.cells, store).measured == measured, kernel


def test_finished_cells_say_what_others_of_about_their_size_cost(store, monkeypatch):
    monkeypatch.setattr(sweep_cost, "time_cell", lambda params, own=None: sweep_cost.CellTimes(0.0, 1.0, 0.0))
    base = {"dataset": "blobs", "kernel": "none", "judged_at": "ends", "r": 8}
    chosen = build_sweep(base=base, grid={"pairs": [1_000, 2_000, 50_000]})
    for cell in chosen.cells[:1]:
        monkeypatch.setattr(store, "values", lambda keys, key=cell.key: {key: {"state": "done", "seconds": 3.0}})
    cost = sweep_cost.estimate_cost(chosen.cells, store)
    assert (cost.cells, cost.measured) == (2, 1), "what is fifty times as long is measured"
    assert cost.seconds == pytest.approx(6.0 + 50_000)


def test_cells_that_were_timed_before_are_not_started(store, monkeypatch):
    monkeypatch.setattr(sweep_cost, "time_cell", lambda params, own=None: pytest.fail("nothing needs to be timed"))
    chosen = tiny_sweep(seeds=2)
    cost = sweep_cost.estimate_cost(chosen.cells, store, seconds={cell.key: 5.0 for cell in chosen.cells})
    assert (cost.cells, cost.measured) == (4, 0) and cost.seconds == pytest.approx(20.0)


def test_the_speed_of_a_machine_is_the_median_of_what_was_timed(monkeypatch):
    monkeypatch.setattr(sweep_cost, "time_cell", lambda params, own=None: sweep_cost.CellTimes(6.0, 0.0, 0.0))
    cells = dict(zip((cell.params for cell in tiny_sweep(seeds=3).cells), (1.0, 2.0, 3.0), strict=False))
    assert sweep_cost.machine_factor(cells) == 3.0 and sweep_cost.machine_factor({}) == 1.0
