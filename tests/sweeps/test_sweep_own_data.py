"""Sweeps on data of one's own: kept, sent along, forgotten with the last sweep that needs them."""

import pytest

from ohash.engine.params import experiment
from ohash.engine.run import run
from ohash.runtime.pool import WorkerPool
from ohash.store.store import Store
from ohash.sweeps import estimate as sweep_cost
from ohash.sweeps import saving as own
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.results import collect_points
from ohash.sweeps.saving import delete_sweep, save_sweep
from ohash.sweeps.specification import build_sweep
from tests.engine.runs import own_data


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["labels", "clicks", "metric"])
def test_data_without_a_name_are_kept_and_give_the_same_numbers_everywhere(tmp_path, kind):
    mine, _ = own_data(kind)
    chosen = own.with_own_data(build_sweep("mine", base={"r": 8, "pairs": 150}, grid={"beta": [0.25, 0.5]}), mine)
    assert own.own_fingerprints(chosen) == [mine.fingerprint()]
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    with pytest.raises(ValueError, match="--features FILE"):
        SweepExecution(chosen, here, InlineExecutor()).run()
    for place in (here, there):
        own.save_own_data(place, mine)
    assert SweepExecution(chosen, here, InlineExecutor()).run().failed == 0
    with WorkerPool(1) as pool:
        assert SweepExecution(chosen, there, pool).run().failed == 0
    scores = [[point.mean() for point in collect_points(chosen, place)] for place in (here, there)]
    *_, alone = run(chosen.cells[0].params, mine)
    assert scores[0] == scores[1] and scores[0][0] == alone.numbers["hit_10" if kind == "clicks" else "map"]
    measuring = sweep_cost.CellTimer({mine.fingerprint(): mine})
    assert sweep_cost.estimate_cost(chosen.cells, Store(tmp_path / "third"), measuring).cells == 2


def test_kept_data_that_are_damaged_or_too_large_are_said(store, monkeypatch):
    mine, _ = own_data("labels")
    content = own.save_own_data(store, mine)
    file = own.own_data_file(store, content)
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ValueError, match="damaged"):
        own.load_own_dataset(store, content)
    monkeypatch.setattr(own, "MAX_BYTES", 100)
    with pytest.raises(ValueError, match="--data DIR"):
        own.save_own_data(store, mine)


def test_own_data_go_with_the_last_sweep_that_needs_them(store):
    mine, _ = own_data("labels")
    several = [own.with_own_data(build_sweep(name, base={"r": 8, "pairs": 150}), mine) for name in ("one", "other")]
    own.save_own_data(store, mine)
    for one in several:
        save_sweep(store, one)
    delete_sweep(store, several[0].key)
    assert own.own_data_file(store, mine.fingerprint()).exists()
    delete_sweep(store, several[1].key)
    assert not own.own_data_file(store, mine.fingerprint()).exists()


def test_on_own_data_a_case_keeps_the_kernel_that_suits_its_method():
    mine, _ = own_data("labels")
    cases = [{"method": "oh"}, {"method": "sign"}, {"method": "oh", "kernel": "none", "r": 24}]
    kernels = [cell.params.features.kernel for cell in own.with_own_data(build_sweep(cases=cases), mine).cells]
    assert kernels == [experiment(mine, "oh").features.kernel, experiment(mine, "sign").features.kernel, "none"]
    with pytest.raises(ValueError, match="replaces the dataset"):
        own.with_own_data(build_sweep(grid={"dataset": ["digits", "blobs"]}), mine)
