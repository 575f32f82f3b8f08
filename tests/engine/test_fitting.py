"""Batch methods in a run: fitted when something new has come, and elsewhere without a difference."""

import threading
from concurrent.futures import Future
from itertools import pairwise

import numpy as np
import pytest

from ohash.engine import fitting, saving
from ohash.engine.live.runner import Runner
from ohash.engine.params import experiment
from ohash.engine.run import Run
from tests.engine.runs import assert_same, finish, straight
from tests.engine.test_runner import PATIENCE, until

pytestmark = pytest.mark.usefixtures("few_checkpoints")


class Thread:
    """Fits in another thread; with a gate the second time only when it opens."""

    def __init__(self, gate=None):
        self.gate, self.fits, self.cancelled = gate, 0, 0

    def submit(self, values, arrays, heard):
        self.fits += 1
        gate = self.gate if self.fits > 1 else None
        future = Future()
        future.cancel = lambda: setattr(self, "cancelled", self.cancelled + 1) or True

        def work():
            if gate is None or gate.wait(PATIENCE):
                future.set_result(fitting.fit(values, arrays))

        threading.Thread(target=work, daemon=True).start()
        return future

    def wait(self, job):
        job.result(PATIENCE)

    def close(self):
        """The run cancels its own."""


@pytest.fixture
def always_elsewhere(monkeypatch):
    monkeypatch.setattr(fitting, "LONG_SECONDS", 0.0)


def batch(**values):
    return experiment("tiny", "itq", **{"m": 32, "r": 8, "pairs": 700, **values})


def fits_of(monkeypatch, params):
    counted = []
    original = fitting.Fitting.fit_here
    monkeypatch.setattr(
        fitting.Fitting, "fit_here", lambda self: counted.append(int(self._run.seen.sum())) or original(self)
    )
    return finish(Run(params)), counted


def test_no_fit_when_nothing_new_has_arrived(monkeypatch):
    going, counted = fits_of(monkeypatch, batch(pairs=20_000))
    assert counted == sorted(set(counted)), "each time there were more rows"
    assert counted[-1] == going.seen.sum() and len(counted) < len(going.schedule)


def test_much_data_is_fitted_again_when_a_fifth_more_has_come_and_at_the_end(monkeypatch):
    everything, at_each = fits_of(monkeypatch, batch(pairs=2_000))
    monkeypatch.setattr(fitting, "LARGE", 0)
    going, counted = fits_of(monkeypatch, batch(pairs=2_000))
    *before, end = counted
    assert end == at_each[-1] == going.seen.sum() and 2 < len(counted) < len(at_each)
    assert all(later >= fitting.WORTH_A_FIT * one for one, later in pairwise(before))
    assert bits_of(going) == bits_of(everything), "the end is the same"


def bits_of(run):
    return run.hasher.encode(run.Z).tobytes()


def test_a_drift_of_the_features_is_something_new(monkeypatch):
    params = batch(pairs=20_000, drift="rotate", drift_at=10_000)
    _, counted = fits_of(monkeypatch, params)
    assert counted.count(counted[-1]) == 2  # all rows before, and all as they have come again after the drift


@pytest.mark.parametrize("drift", ["rotate", "redefine"])
def test_what_came_before_a_drift_stays_as_it_came(tmp_path, drift):
    """A method cannot know how the rows of yesterday would look today."""
    method = "itq" if drift == "rotate" else "sdh"
    params = experiment("tiny", method, m=32, r=8, pairs=400, drift=drift, drift_at=200)
    going = Run(params)
    while going.t < 200 or going.evaluating:
        going.step(200 - going.t)
    assert going.stage == 1
    then, now = going.world.mapped(0), going.world.mapped(1)
    old, new = (going.labels_of(np.arange(len(then)), stage) for stage in (0, 1))
    X, y = _data(going)
    rows = going.training_set.rows
    assert np.array_equal(X, then[rows]) and (y is None or np.array_equal(y, old[rows]))
    while going.t < 260 or going.evaluating:
        going.step(260 - going.t)
    i, j, _ = going.world.pairs(200, 260)
    again = np.isin(going.training_set.rows, [i, j])
    assert again.any() and not again.all()
    for run in (going, _reopened(going, tmp_path)):
        rows, (X, y) = run.training_set.rows, _data(run)
        assert np.array_equal(X, np.where(again[:, None], now[rows], then[rows]))
        assert y is None or np.array_equal(y, np.where(again, new[rows], old[rows]))


def _data(run):
    rows = run.training_set.data()
    return rows["X"], rows.get("y")


@pytest.mark.parametrize("method", ["ksh", pytest.param("fasthash", marks=pytest.mark.slow)])
def test_where_no_labels_say_it_a_method_is_told_what_is_similar(method):
    few = {"trees": 2} if method == "fasthash" else {}
    params = experiment("tiny", method, kernel="rbf", m=32, r=4, pairs=300, similar_by="metric", labelled=60, **few)
    going = finish(Run(params))
    training_rows = going.training_set.data()
    assert training_rows["X"].shape == (60, 32) and "y" not in training_rows and not going.notes
    similarity = going.world.stream(0).similarity
    rows = np.array([np.flatnonzero((going.Z == x).all(axis=1))[0] for x in training_rows["X"]])
    i, j = np.triu_indices(60, 1)
    assert np.array_equal(training_rows["similar"][i, j], similarity.is_similar(rows[i], rows[j]))
    assert "y" in Run(params.with_values(similar_by="label")).training_set.data()


def _reopened(going, folder):
    saving.save(going, folder / "run.npz")
    return saving.load(folder / "run.npz")


@pytest.mark.usefixtures("always_elsewhere")
@pytest.mark.parametrize("method", ["itq", "sdh", pytest.param("fasthash", marks=pytest.mark.slow)])
def test_a_fit_elsewhere_makes_no_difference(method):
    params = experiment(
        "tiny", method, kernel="rbf", m=32, r=4, pairs=300, **({"trees": 3} if method == "fasthash" else {})
    )
    fitter = Thread()
    going = Run(params, fitter=fitter)
    while not going.done:
        going.step(97)
        going.wait(1.0)
    assert fitter.fits > 2
    assert_same(going, straight(params))


@pytest.mark.usefixtures("always_elsewhere")
@pytest.mark.slow
def test_a_live_run_in_real_workers_is_the_straight_run():
    params = batch()
    runner = Runner(params).start()
    assert runner.finished.wait(PATIENCE) and (runner.state, runner.error) == ("done", "")
    assert_same(runner.run, straight(params))


class Never:
    """Workers that take a fit and never end it."""

    def __init__(self):
        self.jobs = []

    def submit(self, *task, on_progress):
        self.jobs.append(Future())
        return self.jobs[-1]


def test_runs_that_wait_for_their_first_fit_let_others_be_made_and_can_be_stopped(monkeypatch):
    never = Never()
    monkeypatch.setattr(fitting, "workers", lambda: never)
    monkeypatch.setattr("ohash.engine.live.runner.PREPARING", threading.BoundedSemaphore(1))
    waiting = [Runner(batch(seed=seed)).start() for seed in range(3)]
    until(lambda: len(never.jobs) == 3)
    other = Runner(experiment("tiny", "oh", m=32, r=8, pairs=50)).start()
    assert other.finished.wait(PATIENCE) and other.state == "done"
    for runner in waiting:
        runner.stop()
    assert all(job.cancelled() for job in never.jobs)
    assert [(runner.state, runner.error) for runner in waiting] == [("stopped", "")] * 3


@pytest.mark.usefixtures("always_elsewhere")
def test_a_live_run_obeys_while_a_fit_goes_on(monkeypatch):
    gate = threading.Event()
    fitter = Thread(gate)
    monkeypatch.setattr("ohash.engine.live.runner.WorkerFitter", lambda room: fitter)
    runner = Runner(batch()).start()
    until(lambda: fitter.fits == 2)
    runner.pause()
    until(lambda: runner.snapshot() is not None and runner.snapshot().state == "paused")
    assert runner.run.fitting.waiting and runner.run.t == runner.run.schedule[1]
    with runner.between_steps():  # a visitor is let in, too
        assert runner.run.fitting.waiting
    runner.stop()
    assert runner.state == "stopped" and fitter.cancelled == 1, "it does not wait for the gate"
    gate.set()


@pytest.mark.usefixtures("always_elsewhere")
def test_a_failing_fit_is_an_error_of_the_run(monkeypatch):
    class Broken:
        def submit(self, values, arrays, heard):
            future = Future()
            future.set_exception(RuntimeError("no memory"))
            return future

        def wait(self, job):
            """It is over."""

        def close(self):
            """There is nothing."""

    monkeypatch.setattr("ohash.engine.live.runner.WorkerFitter", lambda room: Broken())
    runner = Runner(batch()).start()
    assert runner.finished.wait(PATIENCE)
    assert runner.state == "error" and "no memory" in runner.error


@pytest.mark.usefixtures("always_elsewhere")
def test_saving_waits_for_a_fit(tmp_path):
    params = batch()
    going = Run(params, fitter=Thread())
    while not going.fitting.waiting:
        going.step(97)
    saving.save(going, tmp_path / "run.npz")
    assert_same(finish(saving.load(tmp_path / "run.npz")), straight(params))
