"""How a run in a thread ends: errors, stops, visitors and viewers."""

import threading
import time

import numpy as np
import pytest

from ohash.engine.live import runner as runner_module
from ohash.engine.live.runner import Runner
from ohash.engine.run import Run
from tests.engine.runs import small
from tests.engine.wait import PATIENCE, SOON, until

pytestmark = pytest.mark.usefixtures("few_checkpoints")


def test_an_error_ends_the_run_with_its_text(runner_of, monkeypatch):
    runner = runner_of(small(pairs=10**6), pace=5000).start()
    until(lambda: runner.run is not None and runner.run.t > 100)

    def fail(*_):
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(Run, "_learn", fail)
    assert runner.finished.wait(PATIENCE)
    assert runner.state == "error" and runner.error == "RuntimeError: the disk is on fire"
    runner._thread.join(PATIENCE)
    assert not runner._thread.is_alive()
    now = runner.snapshot()
    assert (now.state, now.error) == ("error", runner.error) and now.t == runner.run.t


def test_an_error_while_preparing(runner_of):
    runner = runner_of(small(m=5000)).start()
    assert runner.finished.wait(PATIENCE)
    assert runner.state == "error" and "m must be at most" in runner.error and runner.snapshot() is None


def test_even_a_picture_that_fails_lets_viewers_know(runner_of, monkeypatch):
    hook = []
    monkeypatch.setattr(threading, "excepthook", hook.append)

    def fail(*_, **__):
        raise RuntimeError("no picture")

    monkeypatch.setattr(Run, "snapshot", fail)
    runner = runner_of(small()).start()
    assert runner.finished.wait(PATIENCE)
    assert runner.state == "error" and "no picture" in runner.error
    runner._thread.join(PATIENCE)


def test_stop_before_start():
    runner = Runner(small())
    runner.stop()
    assert runner.state == "stopped" and runner.finished.is_set() and runner.snapshot() is None
    runner.start()
    assert not runner._thread.is_alive()


def test_stop_while_preparing(monkeypatch):
    go_on = threading.Event()
    original = runner_module.Run

    def slow(*args, **more):
        go_on.wait(PATIENCE)
        return original(*args, **more)

    monkeypatch.setattr(runner_module, "Run", slow)
    runner = Runner(small()).start()
    until(lambda: runner.state == "starting")
    runner.stop(wait=0.01)
    go_on.set()
    assert runner.finished.wait(PATIENCE)
    assert runner.state == "stopped" and runner.run.t == 0 and runner.snapshot().state == "stopped"


@pytest.mark.slow  # for its clock: it is over in a moment
def test_stop_and_pause_are_obeyed_soon(runner_of):
    """50 ms, and what a busy machine adds; the quickest of some, while everything is evaluated all the time."""
    pauses, stops = [], []
    for _ in range(3):
        runner = runner_of(small(dataset="digits", pairs=10**9, reencode="every", reencode_every=200, r=128)).start()
        until(lambda runner=runner: runner.run is not None and runner.run.t > 0)
        start = time.monotonic()
        runner.pause()
        until(lambda runner=runner: runner.state == "paused")
        pauses.append(time.monotonic() - start)
        runner.resume()
        until(lambda runner=runner: runner.state == "running")
        start = time.monotonic()
        runner.stop()
        stops.append(time.monotonic() - start)
        assert runner.state == "stopped" and runner.finished.is_set()
    assert min(pauses) < SOON and min(stops) < SOON


def test_a_visitor_is_let_in_at_full_speed(runner_of):
    runner = runner_of(small(pairs=10**9), judge=False).start()
    until(lambda: runner.run is not None and runner.run.t > 0)
    for _ in range(5):
        start = time.monotonic()
        with runner.between_steps():
            waited = time.monotonic() - start
            t = runner.run.t
            runner.run.replay(t // 2)
            time.sleep(0.01)
            assert runner.run.t == t
        assert waited < PATIENCE
    t = runner.run.t
    until(lambda: runner.run.t > t)


def test_a_visitor_waits_for_one_step_at_most(runner_of, monkeypatch):
    """A lock alone would let the run take it again and again."""
    steps = []
    original = Run.step

    def count(self, limit):
        steps.append(1)
        return original(self, limit)

    monkeypatch.setattr(Run, "step", count)
    runner = runner_of(small(pairs=10**9), judge=False).start()
    until(lambda: len(steps) > 10)
    with runner._wake:
        runner._visitors += 1  # somebody has knocked, and has not come in yet
        knocked = len(steps)
    time.sleep(0.1)
    assert len(steps) <= knocked + 1
    with runner.between_steps():
        pass
    with runner._wake:
        runner._visitors -= 1
        runner._wake.notify_all()
    until(lambda: len(steps) > knocked + 10)


def test_several_viewers(runner_of):
    runner = runner_of(small(pairs=10**9), pace=20_000).start()
    until(lambda: runner.snapshot() is not None)
    wrong, stop = [], threading.Event()

    def watch():
        last = 0
        while not stop.is_set():
            now = runner.snapshot()
            if now.seq < last or len({len(column) for column in now.columns.values()}) != 1:
                wrong.append(now.seq)
            last = now.seq
            time.sleep(0.001)

    threads = [threading.Thread(target=watch) for _ in range(5)]
    for thread in threads:
        thread.start()
    first, start = runner.snapshot(), time.monotonic()
    until(lambda: runner.snapshot().seq >= first.seq + 4)
    stop.set()
    for thread in threads:
        thread.join()
    last, elapsed = runner.snapshot(), time.monotonic() - start
    assert not wrong and last.seq > first.seq and last.t > first.t
    assert last.seq - first.seq <= elapsed / runner_module.PUBLISH_SECONDS + 1  # at most a dozen a second


def test_sequence_numbers_rise_strictly(monkeypatch, runner_of):
    shown = []
    original = Run.snapshot

    def note(*args, **more):
        shown.extend([more["seq"]] if "seq" in more else [])  # a moment that is kept for a recording has none
        return original(*args, **more)

    monkeypatch.setattr(Run, "snapshot", note)
    monkeypatch.setattr(runner_module, "PUBLISH_SECONDS", 0.0)
    runner = runner_of(small(pairs=3000)).start()
    assert runner.finished.wait(PATIENCE)
    assert len(shown) > 5 and (np.diff(shown) == 1).all() and runner.snapshot().seq == shown[-1]


def test_a_change_is_published_at_once(monkeypatch, runner_of):
    monkeypatch.setattr(runner_module, "PUBLISH_SECONDS", 1e9)
    runner = runner_of(small(pairs=10**8)).start()
    until(lambda: runner.snapshot() is not None)
    number = runner.set(beta=0.7)
    until(lambda: runner.snapshot().extra["ack"] == number)
    assert runner.snapshot().params.changes
    runner.stop()


# -- pace ----------------------------------------------------------------------------------------------------------
