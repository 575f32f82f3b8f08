"""The best of a sweep: chosen on validation queries, reported once on test queries."""

import numpy as np

from ohash.evaluation.significance import difference_over_seeds, paired_bootstrap
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import Inline
from ohash.sweeps.results import bests, points
from tests.sweeps.sweeps import BASE, tiny_sweep


def test_the_best_is_chosen_on_validation_and_reported_on_test(store):
    chosen = tiny_sweep()
    SweepExecution(chosen, store, Inline()).run()
    (found,) = bests(chosen, store)
    assert found.validation == max(point.mean() for point in points(chosen, store))
    each = [store.frame(cell.key)[1]["ap/test"] for cell in found.point.cells]
    ap = np.concatenate(each)
    assert found.test == difference_over_seeds(each, [0 * one for one in each])
    assert found.test.low <= paired_bootstrap(ap, 0 * ap).low < found.test.difference < found.test.high
    assert bests(tiny_sweep(seeds=[77]), store) == []


def test_the_test_queries_are_asked_once_when_every_cell_has_ended(store):
    chosen = tiny_sweep()
    SweepExecution(tiny_sweep(seeds=1), store, Inline()).run()
    (found,) = bests(chosen, store)
    left = len(chosen.cells) // 2
    assert (
        found.test is None and found.waiting == left and f"when the {left} cells that are left have" in found.reported
    )
    SweepExecution(chosen, store, Inline()).run()
    (found,) = bests(chosen, store)
    assert found.test is not None and "95 % interval" in found.reported


def test_damaged_runs_of_the_best_are_named_and_not_counted(store):
    chosen = tiny_sweep()
    SweepExecution(chosen, store, Inline()).run()
    (whole,) = bests(chosen, store)
    first, second = (cell.key for cell in whole.point.cells)
    store.trace(first).write_bytes(store.trace(first).read_bytes()[:300])
    (found,) = bests(chosen, store)
    ap = store.frame(second)[1]["ap/test"]
    assert found.test == paired_bootstrap(ap, 0 * ap) and (found.seeds, found.queries) == (1, whole.queries)
    assert f"the curves of {first} are lost: `python3 -m ohash runs delete {first}`" in found.reported
    store.trace(second).unlink()
    (found,) = bests(chosen, store)
    assert found.test is None and found.reported.startswith("what it reaches on the test queries is lost")
    store.delete([first, second])
    SweepExecution(chosen, store, Inline()).run()
    (again,) = bests(chosen, store)
    assert again.reported == whole.reported and not again.lost


def test_there_is_a_best_of_each_truth_and_supervision(store):
    """A mAP by label and one by distance, or of what is told labels and what is not, are not the same thing."""
    grid = {"method": ["oh", "lsh"], "similar_by": ["label", "metric"]}
    chosen = tiny_sweep(grid=grid)
    SweepExecution(chosen, store, Inline()).run()
    found = bests(chosen, store)
    learns = {"oh": "pairs", "lsh": "nothing"}
    assert {one.among for one in found} == {
        f"{BASE['dataset']} by {truth}, learning from {kind}"
        for truth in ("label", "metric")
        for kind in learns.values()
    }
    assert all(one.seeds == 2 and one.asked.endswith("test queries of each of 2 seeds") for one in found)
