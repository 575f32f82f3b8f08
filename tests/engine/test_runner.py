"""A run in a thread obeys, and is the same run."""

import threading
import time

import numpy as np
import pytest

from ohash.engine import saving
from ohash.engine.live.pace import LARGEST_CHUNK
from ohash.engine.live.runner import Runner
from ohash.engine.params import MAX_CHANGES
from ohash.engine.run import Run
from tests.engine.runs import assert_same, finish, small, straight
from tests.engine.wait import PATIENCE, settled, until

pytestmark = pytest.mark.usefixtures("few_checkpoints")


@pytest.mark.parametrize("method", ["oh", "mmoh", "lsh"])
def test_a_run_in_a_thread_is_the_straight_run(runner_of, method):
    params = small(method, pairs=2000)
    runner = runner_of(params).start()
    assert runner.finished.wait(PATIENCE)
    assert (runner.state, runner.error) == ("done", "")
    assert_same(runner.run, straight(params))
    now = runner.snapshot()
    assert (now.t, now.state) == (2000, "done") and now.numbers["map"] == runner.run.checkpoints.scores["map"][-1]


def test_a_thousand_random_commands(runner_of):
    """Whatever is said to it, the run that results is the straight run of its own parameters."""
    rng = np.random.default_rng(11)
    params = small(pairs=100_000, reencode="every", reencode_every=5000, center="running")
    runner = runner_of(params, paused=True).start()
    sequence, asked = [], 0
    for _ in range(1000):
        command = rng.integers(0, 8)
        if command == 0:
            runner.pause()
        elif command == 1:
            runner.resume()
        elif command == 2:
            runner.step(int(rng.integers(1, 40)))
        elif command == 3 and asked < 40:
            asked += 1
            try:
                runner.set(**{str(rng.choice(["beta", "C"])): float(rng.uniform(0.2, 0.9))})
            except ValueError as error:
                assert "at most 16" in str(error)
        elif command == 4:
            runner.pace([50.0, 5000.0, "accelerating", "unlimited", 1e5][rng.integers(0, 5)])
        elif command == 5:
            with pytest.raises(ValueError, match=r"must be|cannot change|needs"):
                [lambda: runner.set(beta=7.0), lambda: runner.set(r=8), lambda: runner.pace(0), lambda: runner.step(0)][
                    rng.integers(0, 4)
                ]()
        elif command == 6:
            now = runner.snapshot()
            if now is not None:
                sequence.append(now.seq)
        else:
            time.sleep(float(rng.uniform(0, 0.001)))
    runner.pace("unlimited")
    runner.resume()
    assert runner.finished.wait(PATIENCE)
    assert (runner.state, runner.error) == ("done", "")
    assert sequence == sorted(sequence)
    changes = runner.run.params.changes
    assert 1 <= len(changes) <= MAX_CHANGES
    assert_same(runner.run, straight(runner.run.params))
    assert runner.params == runner.run.params == runner.snapshot().params


def test_commands_from_several_threads(runner_of):
    runner = runner_of(small(pairs=4000)).start()

    def shout(seed):
        rng = np.random.default_rng(seed)
        for _ in range(60):
            [runner.pause, runner.resume, lambda: runner.step(7), lambda: runner.pace(1e5), runner.snapshot][
                rng.integers(0, 5)
            ]()
            with runner.between_steps():
                pass

    threads = [threading.Thread(target=shout, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    runner.pace("unlimited")
    runner.resume()
    assert runner.finished.wait(PATIENCE)
    assert_same(runner.run, straight(small(pairs=4000)))


# -- step, pause, set ----------------------------------------------------------------------------------------------


def test_a_run_that_was_stopped_while_it_waited_is_not_made(monkeypatch):
    room = threading.BoundedSemaphore(1)
    monkeypatch.setattr("ohash.engine.live.runner.PREPARING", room)
    with room:
        waiting = Runner(small("oh")).start()
        until(lambda: waiting.state == "starting")
        waiting.stop(wait=0)
    assert waiting.finished.wait(PATIENCE)
    assert waiting.run is None and waiting.state == "stopped" and waiting.snapshot() is None


def test_step_learns_exactly_n(runner_of):
    runner = runner_of(small(pairs=10**6), paused=True).start()
    assert settled(runner) == 0
    at = 0
    for n in (1, 1, 2, 50, 1000, 3):
        runner.step(n)
        until(lambda: runner._steps == 0)
        at += n
        assert settled(runner) == at
    runner.step(5)
    runner.step(6)
    until(lambda: runner._steps == 0)
    assert settled(runner) == at + 11


def test_step_while_running_counts_from_when_it_takes_hold(runner_of, monkeypatch):
    """The chunk under way when `step` is called is not part of the n pairs."""
    runner = runner_of(small(pairs=10**6)).start()
    inside, go_on = threading.Event(), threading.Event()
    original = Run.step
    seen = []

    def slow(self, limit):
        if not self.evaluating and self.t > 500 and not go_on.is_set():
            inside.set()
            go_on.wait(PATIENCE)
            done = original(self, limit)
            seen.append(self.t)
            return done
        return original(self, limit)

    monkeypatch.setattr(Run, "step", slow)
    assert inside.wait(PATIENCE)
    runner.step(5)
    go_on.set()
    until(lambda: runner._steps == 0)
    assert settled(runner) == seen[0] + 5


def test_pause_cancels_what_step_owed(runner_of, monkeypatch):
    runner = runner_of(small(pairs=10**6), paused=True).start()
    settled(runner)
    inside, go_on = threading.Event(), threading.Event()
    original = Run.step

    def slow(self, limit):
        if not self.evaluating and limit:
            inside.set()
            go_on.wait(PATIENCE)
        return original(self, limit)

    monkeypatch.setattr(Run, "step", slow)
    runner.step(10**5)
    assert inside.wait(PATIENCE)
    runner.pause()
    runner.step(3)
    go_on.set()
    until(lambda: runner._steps == 0)
    t = settled(runner)
    assert t <= LARGEST_CHUNK + 3 and t >= 3  # the chunk under way, and three
    time.sleep(0.05)
    assert runner.run.t == t


def test_a_run_that_waits_for_play_shows_the_reference_too(runner_of):
    runner = runner_of(small(dataset="digits", pairs=10**6), paused=True).start()
    settled(runner)
    until(lambda: "map_float" in runner.snapshot().numbers)


def test_paused_means_still(runner_of):
    runner = runner_of(small(pairs=10**7)).start()
    until(lambda: runner.run is not None and runner.run.t > 1000)
    runner.pause()
    t = settled(runner)
    until(lambda: (runner.snapshot().t, runner.snapshot().state) == (t, "paused") and not runner.run.evaluating)
    time.sleep(0.1)  # the picture of its last evaluation
    seq = runner.snapshot().seq
    time.sleep(0.7)
    assert runner.run.t == t
    assert runner.snapshot().seq == seq  # nothing new, nothing published
    runner.resume()
    until(lambda: runner.run.t > t)


@pytest.mark.slow
def test_saved_while_running_and_resumed(runner_of, tmp_path):
    params = small(pairs=20_000, reencode="every", reencode_every=300)
    with pytest.raises(ValueError, match="nothing to save yet"):
        Runner(params).save(tmp_path / "none.npz")
    runner = runner_of(params).start()
    until(lambda: runner.run is not None and runner.run.t > 1000)
    runner.set(beta=0.4)
    for k in range(5):
        runner.save(tmp_path / f"run{k}.npz")
    runner.save(tmp_path / "run.npz")
    assert runner.finished.wait(PATIENCE)
    again = runner_of(params, resume_from=tmp_path / "run.npz").start()
    assert again.finished.wait(PATIENCE) and (again.state, again.error) == ("done", "")
    assert_same(again.run, runner.run)
    assert_same(finish(saving.load(tmp_path / "run0.npz")), straight(saving.load(tmp_path / "run0.npz").params))


def test_saving_while_paused_learns_nothing(runner_of, tmp_path):
    runner = runner_of(small(dataset="digits", pairs=10**6), paused=True).start()
    until(lambda: runner.run is not None)
    for _ in range(20):
        runner.save(
            tmp_path / "run.npz"
        )  # finishes an evaluation under way; the thread must not take that for going on
    assert settled(runner) == 0


def test_a_copy_goes_on_from_where_the_run_is_and_has_its_moments(runner_of):
    runner = runner_of(small(pairs=20_000), pace=3000).start()
    assert Runner(small()).copy(pace="unlimited", paused=False) is None, "nothing has been made"
    until(lambda: runner.run is not None and runner.run.t > 500)
    other, now = runner.copy(pace="unlimited", paused=True)
    other.start()
    until(lambda: other.state == "paused" and other.snapshot() is not None)
    assert other.snapshot().t == other.run.t == now.t >= 500
    with other.between_steps():
        shown = other.moments.with_curves(other.run)
    assert [then.t for then, _ in shown][:-1] == [t for t in other.run.schedule if t < now.t], "all, from the start"
    other.set(beta=0.4)
    other.resume()
    assert other.finished.wait(PATIENCE) and other.error == ""
    assert [(change.at, change.value) for change in other.run.params.changes] == [(now.t, 0.4)]
    assert_same(other.run, straight(other.run.params))
    assert runner.run.params.changes == ()
    runner.pace("unlimited")
    assert runner.finished.wait(PATIENCE)
    assert_same(runner.run, straight(small(pairs=20_000)))


def test_while_a_batch_method_is_fitted_there_is_no_copy(runner_of, monkeypatch):
    runner = runner_of(small("itq", pairs=5000), paused=True).start()
    until(lambda: runner.state == "paused" and not runner.run.evaluating)
    copied = runner.copy(pace="unlimited", paused=True)
    assert copied is not None and copied[1].t == 0
    monkeypatch.setattr(Run, "evaluating", True)
    assert runner.copy(pace="unlimited", paused=True) is None
