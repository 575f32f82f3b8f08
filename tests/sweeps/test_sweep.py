"""Sweeps as data, and carried out: nothing twice, nothing lost, a failure stops nothing."""

import json
import sqlite3
import threading
import time
from collections import OrderedDict
from concurrent.futures import Executor, Future

import numpy as np
import pytest

from ohash.engine import tasks, world
from ohash.store import schema
from ohash.store.store import DATABASE, Store, StoreBusyError, StoreError
from ohash.sweeps import execution as sweeping
from ohash.sweeps import leases
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.leases import CellLeases, activity, cancel
from ohash.sweeps.results import collect_points
from ohash.sweeps.saving import delete_sweep, list_sweeps
from ohash.sweeps.specification import build_sweep, from_values, read_sweep
from tests.engine.wait import until
from tests.sweeps.sweeps import BASE, tiny_sweep


@pytest.fixture
def counted(monkeypatch):
    """The keys of the cells that were really run."""
    done = []

    def run(values, arrays, report=None):
        values_out, arrays_out = tasks.run(values, arrays, report)
        done.append(json.loads(values["params"])["seed"])
        return values_out, arrays_out

    monkeypatch.setattr(sweeping, "run", run)
    return done


# -- as data -------------------------------------------------------------------------------------------------------


def test_cells_are_every_combination_once():
    sweep = build_sweep(
        base=BASE,
        grid={"beta": [0.25, 0.5], "C": [0.1, 1.0]},
        cases=[{"method": "oh"}, {"method": "mmoh", "T": 2}],
        seeds=[3, 5],
    )
    assert len(sweep.cells) == len({cell.key for cell in sweep.cells}) == 16
    assert sweep.axes == {"method": ["oh", "mmoh"], "T": [None, 2], "beta": [0.25, 0.5], "C": [0.1, 1.0]}
    assert {cell.params.seed for cell in sweep.cells} == {3, 5}
    assert len(list(sweep.by_point())) == 8 and hash(sweep) == hash(from_values(json.loads(sweep.to_json())))
    assert len(build_sweep(base=BASE, grid={"beta": [0.5, 0.5]}).cells) == 1


def test_a_sweep_from_a_file(tmp_path):
    (tmp_path / "beta.toml").write_text(
        'seeds = 2\n[base]\ndataset = "tiny"\nm = 16\nr = 8\npairs = 120\njudged_at = "ends"\n'
        "[grid]\nbeta = [0.25, 0.5]\n"
    )
    sweep = read_sweep(tmp_path / "beta.toml")
    assert sweep.name == "beta" and [c.key for c in sweep.cells] == [c.key for c in tiny_sweep().cells]
    (tmp_path / "again.json").write_text(sweep.to_json())
    assert read_sweep(tmp_path / "again.json") == sweep and read_sweep(tmp_path / "again.json").key == sweep.key


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"beta": [1]}, "parameters belong in"),
        ({}, "at least \\[base\\] or \\[grid\\]"),
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
def test_what_is_wrong_is_named(values, match, tmp_path):
    (tmp_path / "bad.json").write_text(json.dumps(values))
    with pytest.raises(ValueError, match=match) as caught:
        read_sweep(tmp_path / "bad.json")
    assert "bad.json" in str(caught.value)
    with pytest.raises(ValueError, match=r"must be a TOML or JSON file, got .*none\.toml"):
        read_sweep(tmp_path / "none.toml")


# -- carried out -----------------------------------------------------------------------------------------------------


def test_a_finished_cell_never_runs_twice(store, counted):
    small, wide = tiny_sweep(), tiny_sweep(seeds=3)
    heard = []
    done = SweepExecution(small, store, InlineExecutor(), lambda p: heard.append((p.done, p.failed, p.total))).run()
    assert (done.done, done.failed, done.here) == (4, 0, 4) and heard[-1] == (4, 0, 4)
    assert len(counted) == 4
    again = SweepExecution(small, Store(store.folder), InlineExecutor()).run()
    assert (again.done, again.here) == (4, 0) and len(counted) == 4
    SweepExecution(wide, store, InlineExecutor()).run()
    assert counted[4:] == [2, 2], "only the new seed"
    assert list(list_sweeps(store)) == [small.key, wide.key]
    delete_sweep(store, small.key)
    assert list(list_sweeps(store)) == [wide.key] and len(store.done()) == 6


@pytest.mark.parametrize("days", [-1, 1])
def test_a_clock_that_jumps_changes_no_cell_and_no_pace(store, monkeypatch, days):
    jumped = []
    monkeypatch.setattr(time, "time", lambda real=time.time: real() + 86_400 * days * len(jumped))
    began = time.monotonic()
    done = SweepExecution(tiny_sweep(), store, InlineExecutor(), lambda p: jumped.append(p.done)).run()
    assert done.here == 4 and len(jumped) > 1
    assert 0 < done.seconds <= time.monotonic() - began


def test_a_world_is_made_once_however_many_seeds_there_are(store, monkeypatch):
    made = []

    class Counted(world.World):
        def __init__(self, params, dataset):
            made.append(params.seed)
            super().__init__(params, dataset)

    monkeypatch.setattr(world, "World", Counted)
    monkeypatch.setattr(world, "_worlds", OrderedDict())
    seeds = world.KEPT_WORLDS + 1
    assert SweepExecution(tiny_sweep(seeds=seeds), store, InlineExecutor()).run().done == 2 * seeds
    assert made == list(range(seeds))


@pytest.mark.slow
def test_a_failing_cell_is_recorded_and_stops_nothing(store):
    bad = tiny_sweep(grid={"m": [16, 10_000]}, seeds=1)  # there are not that many points
    sweeping_now = SweepExecution(bad, store, InlineExecutor())
    done = sweeping_now.run()
    assert (done.done, done.failed) == (1, 1) and "m must be at most" in next(iter(sweeping_now.errors.values()))
    (line,) = store.list(state="error")
    assert "m must be at most" in store.get(line.key).error
    waiting, failed = collect_points(bad, store)
    assert (waiting.failed, failed.failed, failed.waiting) == (0, 1, 0)
    assert SweepExecution(bad, store, InlineExecutor()).run().failed == 1, "it is tried again"


def test_results_are_those_of_the_runs(store):
    chosen = tiny_sweep()
    SweepExecution(chosen, store, InlineExecutor()).run()
    for point in collect_points(chosen, store):
        values = [tasks.run({"params": cell.params.to_json()}, {}) for cell in point.cells]
        scores = [found["scores/validation"]["map"] for found, _ in values]
        assert point.mean() == pytest.approx(np.mean(scores)) and point.sd() == pytest.approx(np.std(scores, ddof=1))


def test_a_store_that_cannot_be_written_is_said_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="OHASH_HOME"):
        SweepExecution(tiny_sweep(), Store(tmp_path / "file" / "home"), InlineExecutor())


def test_a_store_that_cannot_be_written_any_more_costs_nothing_that_has_finished(store, counted, monkeypatch):
    """Not the run that meets it, nor another that has finished meanwhile."""
    chosen = tiny_sweep()
    monkeypatch.setattr(sweeping, "capacity", lambda executor: 3)

    def held(work):
        raise StoreError("the database is locked")

    def run(values, arrays, report=None):
        if len(counted) == 2:
            monkeypatch.setattr(store, "transact", held)
        return tasks.run(values, arrays, report)

    monkeypatch.setattr(sweeping, "run", lambda *given: (run(*given), counted.append(given))[0])
    going = SweepExecution(chosen, store, InlineExecutor())
    with pytest.raises(StoreError, match="locked"):
        going.run()
    monkeypatch.undo()
    assert len(counted) == going.progress.done == 3 and not store.done()
    again = SweepExecution(chosen, Store(store.folder), InlineExecutor()).run()
    assert (again.done, again.here) == (4, 1)


class Holder:
    """Another program that holds the database of a store."""

    def __init__(self, store):
        self._db = sqlite3.connect(store.folder / DATABASE, isolation_level=None)

    def hold(self):
        self._db.execute("BEGIN EXCLUSIVE")

    def release(self):
        self._db.execute("ROLLBACK")


@pytest.fixture
def holder(store, monkeypatch):
    monkeypatch.setattr(schema, "BUSY_SECONDS", 0.02)
    monkeypatch.setattr(SweepExecution, "_beat", lambda *_: None)  # which on a busy machine may write for longer
    one = Holder(store)
    yield one
    one._db.close()


@pytest.mark.parametrize(("after", "files"), [("nothing", 0), ("three cells", 3), ("everything", 4)])
def test_a_sweep_waits_while_another_program_holds_the_database(store, counted, holder, monkeypatch, after, files):
    """What has finished is in files meanwhile, as the process may be killed; then it is listed, and the rest runs."""
    monkeypatch.setattr(sweeping, "capacity", lambda executor: 3)
    waits, run = [], sweeping.run

    def run_and_hold(*given):
        frame = run(*given)
        if after == "three cells" and len(counted) == 3:
            holder.hold()
        return frame

    def look(progress):
        if progress.held:
            waits.append(len(list(store.folder.glob("traces/*.parquet"))))
            if len(waits) == 2:
                holder.release()
        elif after == "everything" and progress.done == 4:
            holder.hold()

    monkeypatch.setattr(sweeping, "run", run_and_hold)
    if after == "nothing":
        holder.hold()
    chosen = tiny_sweep()
    done = SweepExecution(chosen, store, InlineExecutor(), look).run()
    assert waits == [files, files]
    assert (done.done, done.here, done.held) == (4, 4, False) and len(counted) == 4
    assert store.rows("SELECT * FROM claims") == [] and activity(store)[chosen.key].state == "done"


@pytest.mark.parametrize("stopped", [False, True])
def test_a_sweep_ends_if_the_database_is_held_for_long_or_it_is_stopped(store, counted, holder, monkeypatch, stopped):
    monkeypatch.setattr(sweeping, "HELD_SECONDS", 1e9 if stopped else 0.1)
    chosen, waits = tiny_sweep(), []

    def look(progress):
        waits.append(progress.held)
        if len(waits) == 2:
            holder.hold()
        if stopped and len(waits) == 4:
            going.cancelled.set()
        if len(waits) == 100:  # it would wait for ever
            holder.release()

    going = SweepExecution(chosen, store, InlineExecutor(), look)
    with pytest.raises(StoreBusyError, match="another program holds the database"):
        going.run()
    holder.release()
    assert waits[:3] == [False, False, True] and going.progress.done == 2
    assert (SweepExecution(chosen, Store(store.folder), InlineExecutor()).run().done, len(counted)) == (4, 4)


class Never(Executor):
    """Accepts everything, finishes nothing."""

    def submit(self, task, /, *args, **kwargs):
        self.future = Future()
        return self.future


def start(chosen, store, executor):
    going = SweepExecution(chosen, store, executor)
    thread = threading.Thread(target=going.run, daemon=True)
    thread.start()
    return going, thread


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
    assert SweepExecution(chosen, store, InlineExecutor()).run().done == 4


def test_two_at_once_share_the_work(store, counted):
    """While one sits on a cell, the other does the rest, and waits until the first has died."""
    chosen, executor = tiny_sweep(), Never()
    first, _ = start(chosen, store, executor)
    until(lambda: store.rows("SELECT * FROM claims"))
    second, thread = start(chosen, store, InlineExecutor())
    until(lambda: len(store.done()) == 3)
    time.sleep(0.1)
    assert len(counted) == 3 and thread.is_alive()
    executor.future.set_exception(RuntimeError("gone"))  # the first one's cell fails, and its claim ends
    thread.join(60)
    assert len(store.done()) == 4 and len(counted) == 4 and second.progress.done == 4
    assert first.errors


def test_the_claim_of_the_dead_is_free(store, monkeypatch):
    mine, other = CellLeases(store), CellLeases(store)
    assert mine.take(["a", "b"], 1) == ["a"] and other.take(["a", "b"], 2) == ["b"]
    mine.owner = mine.owner.replace(str(mine.owner.split(":")[1]), "999999999")  # no such process
    dead = CellLeases(store)
    dead.owner = mine.owner
    other.release(["b"])
    assert dead.take(["b"], 1) == ["b"] and other.take(["a", "b"], 2) == ["b"]
    monkeypatch.setattr(leases, "STALE_SECONDS", -1.0)
    assert CellLeases(store).take(["a", "b"], 2) == ["a", "b"]
