"""A run in a thread obeys, and is the same run."""

import threading
import time

import numpy as np
import pytest

from ohash.experiment import runner as runner_module
from ohash.experiment import saved
from ohash.experiment.params import MOST_CHANGES, Change
from ohash.experiment.run import Run
from ohash.experiment.runner import FIRST_RATE, Runner
from tests.experiment.runs import assert_same, finish, small, straight

pytestmark = pytest.mark.usefixtures("few_checkpoints")
PATIENCE = 120.0  # seconds; the machine may be busy, and kernels may have to be compiled
SOON = 1.0  # obeying takes 50 ms and what a busy machine adds


def until(condition, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "took too long"
        time.sleep(0.002)


@pytest.fixture
def runner_of():
    """Runners that are stopped whatever happens."""
    made = []

    def make(params, *args, **more):
        made.append(Runner(params, *args, **more))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def settled(runner):
    """Paused, nothing owed, nothing pending, and shown."""

    def still():
        now = runner.snapshot()
        return (
            runner.state == "paused"
            and not runner._steps
            and not runner._changes
            and now is not None
            and now.state == "paused"
            and not runner.run.evaluating
            and now.t == runner.run.t
        )

    until(still)
    return runner.run.t


# -- the same run --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["oh", "mmoh", "lsh"])
def test_a_run_in_a_thread_is_the_straight_run(runner_of, method):
    params = small(method, pairs=2000)
    runner = runner_of(params).start()
    assert runner.finished.wait(PATIENCE)
    assert (runner.state, runner.error) == ("done", "")
    assert_same(runner.run, straight(params))
    now = runner.snapshot()
    assert (now.t, now.state) == (2000, "done") and now.numbers["map"] == runner.run.appraisal.judged["map"][-1]


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
            with pytest.raises(ValueError, match=r"must be|can change|needs"):
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
    assert 1 <= len(changes) <= MOST_CHANGES
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
    assert t <= runner_module.MOST_PAIRS + 3 and t >= 3  # the chunk under way, and three
    time.sleep(0.05)
    assert runner.run.t == t


def test_paused_means_still(runner_of):
    runner = runner_of(small(pairs=10**7)).start()
    until(lambda: runner.run is not None and runner.run.t > 1000)
    runner.pause()
    t = settled(runner)
    seq = runner.snapshot().seq
    time.sleep(0.7)
    assert runner.run.t == t
    assert runner.snapshot().seq == seq  # nothing new, nothing published
    runner.resume()
    until(lambda: runner.run.t > t)


def test_set_takes_hold_before_the_next_pair(runner_of):
    runner = runner_of(small(pairs=300), paused=True).start()
    settled(runner)
    runner.step(100)
    until(lambda: runner._steps == 0)
    settled(runner)
    ack = runner.set(beta=0.4, C=0.2)
    until(lambda: runner.snapshot().extra["ack"] == ack)
    assert set(runner.snapshot().params.changes) == {Change(100, "beta", 0.4), Change(100, "C", 0.2)}
    for value in (0.41, 0.42, 0.43):  # a slider being dragged while paused is one change
        ack = runner.set(beta=value)
    until(lambda: runner.snapshot().extra["ack"] == ack)
    assert len(runner.snapshot().params.changes) == 2
    runner.resume()
    assert runner.finished.wait(PATIENCE)
    assert set(runner.params.changes) == {Change(100, "beta", 0.43), Change(100, "C", 0.2)}
    assert_same(runner.run, straight(runner.params))


def test_a_change_before_the_run_is_prepared(runner_of):
    runner = runner_of(small())
    runner.set(beta=0.4)
    runner.start()
    assert runner.finished.wait(PATIENCE)
    assert runner.params.changes == (Change(0, "beta", 0.4),)
    assert_same(runner.run, straight(small(changes=[Change(0, "beta", 0.4)])))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"beta": 0.0}, "beta must be"),
        ({"beta": 0.2}, r"beta \* r must be larger than alpha"),
        ({"C": float("nan")}, "C must be"),
        ({"C": "large"}, "C must be"),
        ({"r": 64}, "only beta, C can change while oh runs, got 'r'"),
        ({"C": 0.3, "colour": 1.0}, "only beta, C can change while oh runs, got 'colour'"),
    ],
)
def test_what_cannot_be_set_is_refused_and_the_run_goes_on(runner_of, values, message):
    runner = runner_of(small(alpha=4, pairs=10**6), pace=2000).start()
    until(lambda: runner.run is not None and runner.run.t > 0)
    with pytest.raises(ValueError, match=message):
        runner.set(**values)
    t = runner.run.t
    until(lambda: runner.run.t > t + 50)
    assert runner.state == "running" and runner.params.changes == ()


def test_the_seventeenth_change_is_refused_and_the_run_goes_on(runner_of):
    runner = runner_of(small(pairs=10**6), pace=5000).start()
    until(lambda: runner.run is not None and runner.run.t > 0)
    with pytest.raises(ValueError, match="changes must be at most 16"):
        for k in range(100):
            t = runner.run.t
            ack = runner.set(C=0.001 * (k + 1))
            until(lambda ack=ack, t=t: runner._applied >= ack and runner.run.t > t)
    t = runner.run.t
    until(lambda: runner.run.t > t + 50)
    assert runner.state == "running" and len(runner.params.changes) == MOST_CHANGES


def test_a_change_that_no_longer_fits_when_its_turn_comes_is_told(runner_of, monkeypatch):
    runner = runner_of(small(pairs=10**6), paused=True).start()
    settled(runner)

    def refuse(self, **values):
        raise ValueError("too late")

    monkeypatch.setattr(Run, "set", refuse)
    ack = runner.set(beta=0.4)
    until(lambda: runner.snapshot().extra["ack"] == ack)
    assert runner.snapshot().extra["refused"] == "too late" and runner.state == "paused"


# -- life and death ------------------------------------------------------------------------------------------------


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

    monkeypatch.setattr(runner_module, "take", fail)
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
    """50 ms, and what a busy machine adds; measured while everything is evaluated all the time."""
    runner = runner_of(small(dataset="digits", pairs=10**9, reencode="every", reencode_every=200, r=128)).start()
    until(lambda: runner.run is not None and runner.run.t > 0)
    for _ in range(3):
        start = time.monotonic()
        runner.pause()
        until(lambda: runner.state == "paused")
        assert time.monotonic() - start < SOON
        runner.resume()
        until(lambda: runner.state == "running")
    start = time.monotonic()
    runner.stop()
    assert time.monotonic() - start < SOON and runner.state == "stopped" and runner.finished.is_set()


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
    time.sleep(0.6)
    stop.set()
    for thread in threads:
        thread.join()
    last, elapsed = runner.snapshot(), time.monotonic() - start
    assert not wrong and last.seq > first.seq and last.t > first.t
    assert last.seq - first.seq <= elapsed / runner_module.PUBLISH_SECONDS + 1  # at most ten a second


def test_sequence_numbers_rise_strictly(monkeypatch, runner_of):
    shown = []
    original = runner_module.take

    def note(*args, **more):
        shown.append(more["seq"])
        return original(*args, **more)

    monkeypatch.setattr(runner_module, "take", note)
    monkeypatch.setattr(runner_module, "PUBLISH_SECONDS", 0.0)
    runner = runner_of(small(pairs=3000)).start()
    assert runner.finished.wait(PATIENCE)
    assert len(shown) > 5 and (np.diff(shown) == 1).all() and runner.snapshot().seq == shown[-1]


# -- pace ----------------------------------------------------------------------------------------------------------


def test_accelerating_pace_rises():
    runner = Runner(small(), pace="accelerating")
    rates = [runner._pairs_a_second(t) for t in (0, 1, 10, 1000, 10**5, 10**9)]
    assert rates[0] == FIRST_RATE and (np.diff(rates) > 0).all()
    t = np.arange(100_000)
    assert 25 < (1 / (FIRST_RATE + runner_module.GROWTH * t)).sum() < 30  # seconds to 100,000 pairs
    decades = [(1 / (FIRST_RATE + runner_module.GROWTH * np.arange(10**k, 10 ** (k + 1)))).sum() for k in (3, 4, 5)]
    assert max(decades) / min(decades) < 1.5


class Time:
    """A clock that goes on by itself, a millisecond a look."""

    def __init__(self, tick):
        self.now, self.tick = 0.0, tick

    def __call__(self):
        self.now += self.tick
        return self.now


@pytest.mark.parametrize("pace", [1, 3.0, 100, 10_000, np.float32(50)])
def test_pace_is_kept(runner_of, pace):
    """By a clock of its own: the machine may be busy."""
    clock = Time(0.5 / float(pace))
    runner = runner_of(small(pairs=10**6), pace=pace, judge=False, clock=clock).start()
    enough = max(40, 10 * runner_module.GATHER_SECONDS * float(pace))
    until(lambda: runner.run is not None and runner.run.t >= enough)
    runner.pause()
    settled(runner)
    assert 0.2 * clock.now * float(pace) <= runner.run.t <= clock.now * float(pace) + 1


def test_pace_can_change_on_the_way(runner_of):
    runner = runner_of(small(pairs=30_000), pace=0.001).start()
    until(lambda: runner.state == "running")
    time.sleep(0.05)
    assert runner.run.t == 0
    runner.pace("unlimited")
    assert runner.finished.wait(PATIENCE) and runner.state == "done"


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "fast", None, True, [1]])
def test_bad_pace_is_named(bad):
    with pytest.raises(ValueError, match="pace must be pairs a second > 0, 'accelerating' or 'unlimited'"):
        Runner(small(), pace=bad)
    runner = Runner(small())
    with pytest.raises(ValueError, match="pace must be"):
        runner.pace(bad)


@pytest.mark.parametrize("bad", [0, -3, 2.5, True, "1"])
def test_bad_step_is_named(bad):
    with pytest.raises(ValueError, match="step needs a number of pairs >= 1"):
        Runner(small()).step(bad)


# -- save and resume -----------------------------------------------------------------------------------------------


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
    assert_same(finish(saved.load(tmp_path / "run0.npz")), straight(saved.load(tmp_path / "run0.npz").params))


def test_saving_while_paused_learns_nothing(runner_of, tmp_path):
    runner = runner_of(small(dataset="digits", pairs=10**6), paused=True).start()
    until(lambda: runner.run is not None)
    for _ in range(20):
        runner.save(
            tmp_path / "run.npz"
        )  # finishes an evaluation under way; the thread must not take that for going on
    assert settled(runner) == 0


def test_a_run_that_is_over_refuses_changes():
    runner = Runner(small(pairs=50), pace="unlimited").start()
    assert runner.finished.wait(60)
    with pytest.raises(ValueError, match="beta cannot change any more: the run is over"):
        runner.set(beta=0.4)
