"""Sweeps as data, and carried out: nothing twice, nothing lost, a failure stops nothing, the best chosen honestly."""

import json
import threading
import time
from concurrent.futures import Executor, Future

import numpy as np
import pytest

from ohash.evaluation.significance import paired_bootstrap
from ohash.experiment import own_data as own
from ohash.experiment import sweep_cost, sweeping, tasks, workshare
from ohash.experiment.best import bests
from ohash.experiment.executors import Inline
from ohash.experiment.params import experiment
from ohash.experiment.pool import WorkerPool
from ohash.experiment.results import points
from ohash.experiment.run import run
from ohash.experiment.store import Store, StoreError
from ohash.experiment.sweep import from_values, read, sweep
from ohash.experiment.sweep_files import delete_sweep, put_sweep, sweeps
from ohash.experiment.sweeping import Sweeping
from ohash.experiment.workshare import Claims, activity, cancel
from tests.experiment.runs import own_data

BASE = {"dataset": "tiny", "m": 16, "r": 8, "pairs": 120, "judged_at": "ends"}


def tiny_sweep(**more):
    return sweep(**{"base": BASE, "grid": {"beta": [0.25, 0.5]}, "seeds": 2, **more})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "home")


@pytest.fixture
def counted(monkeypatch):
    """The keys of the cells that were really run."""
    done = []

    def run(values, arrays, report=tasks.nobody):
        values_out, arrays_out = tasks.run(values, arrays, report)
        done.append(json.loads(values["params"])["seed"])
        return values_out, arrays_out

    monkeypatch.setattr(sweeping, "run", run)
    return done


# -- as data -------------------------------------------------------------------------------------------------------


def test_cells_are_every_combination_once():
    found = sweep(
        base=BASE,
        grid={"beta": [0.25, 0.5], "C": [0.1, 1.0]},
        cases=[{"method": "oh"}, {"method": "mmoh", "T": 2}],
        seeds=[3, 5],
    )
    assert len(found.cells) == len({cell.key for cell in found.cells}) == 16
    assert found.axes == {"method": ["oh", "mmoh"], "T": [None, 2], "beta": [0.25, 0.5], "C": [0.1, 1.0]}
    assert {cell.params.seed for cell in found.cells} == {3, 5}
    assert len(list(found.by_point())) == 8 and hash(found) == hash(from_values(json.loads(found.to_json())))
    assert len(sweep(base=BASE, grid={"beta": [0.5, 0.5]}).cells) == 1


def test_a_sweep_from_a_file(tmp_path):
    (tmp_path / "beta.toml").write_text(
        'seeds = 2\n[base]\ndataset = "tiny"\nm = 16\nr = 8\npairs = 120\njudged_at = "ends"\n'
        "[grid]\nbeta = [0.25, 0.5]\n"
    )
    found = read(tmp_path / "beta.toml")
    assert found.name == "beta" and [c.key for c in found.cells] == [c.key for c in tiny_sweep().cells]
    (tmp_path / "again.json").write_text(found.to_json())
    assert read(tmp_path / "again.json") == found and read(tmp_path / "again.json").key == found.key


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"beta": [1]}, "parameters belong into"),
        ({"grid": {"beta": 0.5}}, "list of values"),
        ({"grid": {"beta": []}}, "list of values"),
        ({"grid": {"beta": [7.0]}}, "beta must be"),
        ({"base": {"bta": 1}}, "unknown parameter bta"),
        ({"seeds": 0}, "seeds must be"),
        ({"seeds": True}, "seeds must be"),
        ({"seeds": [0.5]}, "seeds must be"),
        ({"base": 3}, "table of parameters"),
        ({"seeds": 1000, "grid": {"C": list(range(1, 200))}}, "at most 100,000 cells"),
    ],
)
def test_what_is_wrong_is_named(said, match, tmp_path):
    (tmp_path / "bad.json").write_text(json.dumps(said))
    with pytest.raises(ValueError, match=match) as caught:
        read(tmp_path / "bad.json")
    assert "bad.json" in str(caught.value)


# -- carried out -----------------------------------------------------------------------------------------------------


def test_a_finished_cell_never_runs_twice(store, counted):
    small, wide = tiny_sweep(), tiny_sweep(seeds=3)
    heard = []
    done = Sweeping(small, store, Inline(), lambda p: heard.append((p.done, p.failed, p.total))).run()
    assert (done.done, done.failed, done.here) == (4, 0, 4) and heard[-1] == (4, 0, 4)
    assert len(counted) == 4
    again = Sweeping(small, Store(store.folder), Inline()).run()
    assert (again.done, again.here) == (4, 0) and len(counted) == 4
    Sweeping(wide, store, Inline()).run()
    assert counted[4:] == [2, 2], "only the new seed"
    assert list(sweeps(store)) == [small.key, wide.key]
    delete_sweep(store, small.key)
    assert list(sweeps(store)) == [wide.key] and len(store.done()) == 6


def test_a_failing_cell_is_recorded_and_stops_nothing(store):
    bad = tiny_sweep(grid={"m": [16, 10_000]}, seeds=1)  # there are not that many points
    sweeping_now = Sweeping(bad, store, Inline())
    done = sweeping_now.run()
    assert (done.done, done.failed) == (1, 1) and "m must be at most" in next(iter(sweeping_now.errors.values()))
    (line,) = store.list(state="error")
    assert "m must be at most" in store.get(line.key).error
    waiting, failed = points(bad, store)
    assert (waiting.failed, failed.failed, failed.waiting) == (0, 1, 0)
    assert Sweeping(bad, store, Inline()).run().failed == 1, "it is tried again"


def test_results_are_those_of_the_runs(store):
    chosen = tiny_sweep()
    Sweeping(chosen, store, Inline()).run()
    for point in points(chosen, store):
        values = [tasks.run({"params": cell.params.to_json()}, {}) for cell in point.cells]
        scores = [found["scores/validation"]["map"] for found, _ in values]
        assert point.mean() == pytest.approx(np.mean(scores)) and point.sd() == pytest.approx(np.std(scores, ddof=1))


def test_the_best_is_chosen_on_validation_and_reported_on_test(store):
    chosen = tiny_sweep()
    Sweeping(chosen, store, Inline()).run()
    (found,) = bests(chosen, store)
    assert found.validation == max(point.mean() for point in points(chosen, store))
    ap = np.concatenate([store.frame(cell.key)[1]["ap/test"] for cell in found.point.cells])
    assert found.test == paired_bootstrap(ap, 0 * ap) and found.test.low < found.test.difference < found.test.high
    assert bests(tiny_sweep(seeds=[77]), store) == []


def test_the_test_queries_are_asked_once_when_every_cell_has_ended(store):
    chosen = tiny_sweep()
    Sweeping(tiny_sweep(seeds=1), store, Inline()).run()
    (found,) = bests(chosen, store)
    left = len(chosen.cells) // 2
    assert (
        found.test is None and found.waiting == left and f"when the {left} cells that are left have" in found.reported
    )
    Sweeping(chosen, store, Inline()).run()
    (found,) = bests(chosen, store)
    assert found.test is not None and "95 % interval" in found.reported


def test_damaged_runs_of_the_best_are_named_and_not_counted(store):
    chosen = tiny_sweep()
    Sweeping(chosen, store, Inline()).run()
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
    Sweeping(chosen, store, Inline()).run()
    (again,) = bests(chosen, store)
    assert again.reported == whole.reported and not again.lost


def test_there_is_a_best_of_each_truth_and_supervision(store):
    """A mAP by label and one by distance, or of what is told labels and what is not, are not the same thing."""
    grid = {"method": ["oh", "lsh"], "similar_by": ["label", "metric"]}
    chosen = tiny_sweep(grid=grid)
    Sweeping(chosen, store, Inline()).run()
    found = bests(chosen, store)
    learns = {"oh": "pairs", "lsh": "nothing"}
    assert {one.among for one in found} == {
        f"{BASE['dataset']} by {truth}, learning from {kind}"
        for truth in ("label", "metric")
        for kind in learns.values()
    }
    assert all(one.seeds == 2 and one.asked.endswith("test queries of each of 2 seeds") for one in found)


def test_a_store_that_cannot_be_written_is_said_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="OHASH_HOME"):
        Sweeping(tiny_sweep(), Store(tmp_path / "file" / "home"), Inline())


class Never(Executor):
    """Accepts everything, finishes nothing."""

    def submit(self, task, /, *args, **kwargs):
        self.future = Future()
        return self.future


def start(chosen, store, executor):
    going = Sweeping(chosen, store, executor)
    thread = threading.Thread(target=going.run, daemon=True)
    thread.start()
    return going, thread


def until(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "took too long"
        time.sleep(0.01)


def test_somebody_else_can_cancel(store, monkeypatch):
    monkeypatch.setattr(sweeping, "BEAT_SECONDS", 0.02)
    chosen, executor = tiny_sweep(), Never()
    _, thread = start(chosen, store, executor)
    until(lambda: chosen.key in activity(store) and activity(store)[chosen.key].alive)
    cancel(store, chosen.key)
    thread.join(60)
    now = activity(store)[chosen.key]
    assert not thread.is_alive() and executor.future.cancelled() and (now.state, now.alive) == ("cancelled", False)
    assert store.rows("SELECT * FROM claims") == []
    assert Sweeping(chosen, store, Inline()).run().done == 4


def test_two_at_once_share_the_work(store, counted):
    """While one sits on a cell, the other does the rest, and waits until the first has died."""
    chosen, executor = tiny_sweep(), Never()
    first, _ = start(chosen, store, executor)
    until(lambda: store.rows("SELECT * FROM claims"))
    second, thread = start(chosen, store, Inline())
    until(lambda: len(store.done()) == 3)
    time.sleep(0.1)
    assert len(counted) == 3 and thread.is_alive()
    executor.future.set_exception(RuntimeError("gone"))  # the first one's cell fails, and its claim ends
    thread.join(60)
    assert len(store.done()) == 4 and len(counted) == 4 and second.progress.done == 4
    assert first.errors


def test_the_claim_of_the_dead_is_free(store, monkeypatch):
    mine, other = Claims(store), Claims(store)
    assert mine.take(["a", "b"], 1) == ["a"] and other.take(["a", "b"], 2) == ["b"]
    mine.owner = mine.owner.replace(str(mine.owner.split(":")[1]), "999999999")  # no such process
    dead = Claims(store)
    dead.owner = mine.owner
    other.release(["b"])
    assert dead.take(["b"], 1) == ["b"] and other.take(["a", "b"], 2) == ["b"]
    monkeypatch.setattr(workshare, "STALE_SECONDS", -1.0)
    assert Claims(store).take(["a", "b"], 2) == ["a", "b"]


# -- data of one's own ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["labels", "clicks", "metric"])
def test_data_without_a_name_are_kept_and_give_the_same_numbers_everywhere(tmp_path, kind):
    mine, _ = own_data(kind)
    chosen = own.on_own(sweep("mine", base={"r": 8, "pairs": 150}, grid={"beta": [0.25, 0.5]}), mine)
    assert own.contents(chosen) == [mine.fingerprint()]
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    with pytest.raises(ValueError, match="--features FILE"):
        Sweeping(chosen, here, Inline()).run()
    for place in (here, there):
        own.keep(place, mine)
    assert Sweeping(chosen, here, Inline()).run().failed == 0
    with WorkerPool(1) as pool:
        assert Sweeping(chosen, there, pool).run().failed == 0
    maps = [[point.mean() for point in points(chosen, place)] for place in (here, there)]
    *_, alone = run(chosen.cells[0].params, mine)
    assert maps[0] == maps[1] and maps[0][0] == alone.numbers["map"]
    measuring = sweep_cost.Measuring({mine.fingerprint(): mine})
    assert sweep_cost.estimate(chosen.cells, Store(tmp_path / "third"), measuring).cells == 2


def test_kept_data_that_are_damaged_or_too_large_are_said(store, monkeypatch):
    mine, _ = own_data("labels")
    content = own.keep(store, mine)
    file = own.file_of(store, content)
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ValueError, match="damaged"):
        own.load(store, content)
    monkeypatch.setattr(own, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="--data DIR"):
        own.keep(store, mine)


def test_own_data_go_with_the_last_sweep_that_needs_them(store):
    mine, _ = own_data("labels")
    several = [own.on_own(sweep(name, base={"r": 8, "pairs": 150}), mine) for name in ("one", "other")]
    own.keep(store, mine)
    for one in several:
        put_sweep(store, one)
    delete_sweep(store, several[0].key)
    assert own.file_of(store, mine.fingerprint()).exists()
    delete_sweep(store, several[1].key)
    assert not own.file_of(store, mine.fingerprint()).exists()


def test_on_own_data_a_case_keeps_the_kernel_that_suits_its_method():
    mine, _ = own_data("labels")
    cases = [{"method": "oh"}, {"method": "sign"}, {"method": "oh", "kernel": "none", "r": 24}]
    kernels = [cell.params.features.kernel for cell in own.on_own(sweep(cases=cases), mine).cells]
    assert kernels == [experiment(mine, "oh").features.kernel, experiment(mine, "sign").features.kernel, "none"]
    with pytest.raises(ValueError, match="takes the place of the dataset"):
        own.on_own(sweep(grid={"dataset": ["digits", "blobs"]}), mine)


def test_the_cost_is_measured(store):
    chosen = tiny_sweep(seeds=3)
    before = sweep_cost.estimate(chosen.cells, store)
    assert (before.cells, before.measured) == (6, 1) and 0 < before.on(2) < before.seconds
    Sweeping(tiny_sweep(seeds=2), store, Inline()).run()
    after = sweep_cost.estimate(chosen.cells, store)
    assert (after.cells, after.measured) == (2, 0)
    assert 0 < after.seconds < 60


def test_a_cell_costs_by_its_own_pairs_and_its_own_size(store, monkeypatch):
    begun = []

    def measured(params, own=None):
        begun.append(params)
        return sweep_cost.Parts(1.0, params.model.r / 1000, 0.25)

    monkeypatch.setattr(sweep_cost, "measure", measured)
    base = {"dataset": "blobs", "kernel": "none", "judged_at": "ends"}
    chosen = sweep(base=base, grid={"pairs": [1_000, 100_000], "r": [8, 16, 32]})
    cost = sweep_cost.estimate(chosen.cells, store)
    assert [params.model.r for params in begun] == [32, 8] and cost.measured == 2
    assert cost.seconds == pytest.approx(
        sum(1 + n * r / 1000 + 4 * 0.25 for n in (1_000, 100_000) for r in (8, 16, 32))
    )
    told = []
    once = sweep_cost.Measuring(most=1, told=lambda at, of: told.append((at, of)))
    assert sweep_cost.estimate(chosen.cells, store, once).measured == 1 and told == [(1, 1)]
    assert sweep_cost.estimate(chosen.cells[:2], store, once).measured == 1 and len(begun) == 4, "r = 8 is new"
    assert sweep_cost.estimate(chosen.cells, store, once).measured == 1 and len(begun) == 4, "32 is known"


def test_finished_cells_say_what_others_of_about_their_size_cost(store, monkeypatch):
    monkeypatch.setattr(sweep_cost, "measure", lambda params, own=None: sweep_cost.Parts(0.0, 1.0, 0.0))
    base = {"dataset": "blobs", "kernel": "none", "judged_at": "ends", "r": 8}
    chosen = sweep(base=base, grid={"pairs": [1_000, 2_000, 50_000]})
    for cell in chosen.cells[:1]:
        monkeypatch.setattr(store, "values", lambda keys, key=cell.key: {key: {"state": "done", "seconds": 3.0}})
    cost = sweep_cost.estimate(chosen.cells, store)
    assert (cost.cells, cost.measured) == (2, 1), "what is fifty times as long is measured"
    assert cost.seconds == pytest.approx(6.0 + 50_000)
