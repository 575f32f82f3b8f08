"""How fast a run goes, and that a bad pace or step is named."""

import time

import numpy as np
import pytest

from ohash.engine.live import runner as runner_module
from ohash.engine.live.pace import FIRST_RATE, accelerated_pairs, pairs_per_second
from ohash.engine.live.runner import Runner
from tests.engine.runs import small
from tests.engine.wait import PATIENCE, settled, until
from tests.selection import first

pytestmark = pytest.mark.usefixtures("few_checkpoints")


def test_accelerating_pace_rises():
    rates = [pairs_per_second("accelerating", t) for t in (0, 1, 10, 1000, 10**5, 10**9)]
    assert rates[0] == FIRST_RATE and (np.diff(rates) > 0).all()
    seconds = np.cumsum([1 / pairs_per_second("accelerating", t) for t in range(100_000)])
    assert 25 < seconds[-1] < 30
    decades = [seconds[10 ** (k + 1) - 1] - seconds[10**k] for k in (3, 4)]
    assert max(decades) / min(decades) < 1.5
    for t in (100, 5_000, 99_999):
        assert accelerated_pairs(seconds[t]) == pytest.approx(t, rel=0.01)


class Time:
    """A clock that goes on by itself, a tick a look."""

    def __init__(self, tick):
        self.now, self.tick = 0.0, tick

    def __call__(self):
        self.now += self.tick
        return self.now


@pytest.mark.parametrize("pace", first([1, 10_000, 3.0, 100, np.float32(50)], 2))
def test_pace_is_kept(runner_of, pace):
    """By a clock of its own: the machine may be busy. It goes on by a nap of the runner at every look."""
    clock = Time(max(0.5 / float(pace), runner_module.GATHER_SECONDS / 4))
    runner = runner_of(small(pairs=10**6), pace=pace, judge=False, clock=clock).start()
    enough = max(40, 10 * runner_module.GATHER_SECONDS * float(pace))
    until(lambda: runner.run is not None and runner.run.t >= enough)
    runner.pause()
    settled(runner)
    assert 0.2 * clock.now * float(pace) <= runner.run.t <= clock.now * float(pace) + 1


def test_a_head_start_is_learnt_at_once_and_then_the_pace_is_kept(runner_of):
    goal = 0
    runner = runner_of(small(pairs=10**6), pace=0.001, head_start=lambda: goal).start()
    for goal in (700, 900):  # a recording plays on until it hands over
        until(lambda goal=goal: runner.run is not None and runner.run.t >= goal)
        time.sleep(0.05)
        assert runner.run.t == goal


def test_what_is_told_during_a_head_start_counts_after_it(runner_of):
    """Somebody has seen these pairs: who pauses stands there, who steps goes on from there, and so does a change."""
    runner = runner_of(small(pairs=10**6), paused=True, head_start=lambda: 700)
    runner.step(3)
    runner.set(C=0.5)
    assert settled(runner.start()) == 703
    assert [(change.at, change.name) for change in runner.params.changes] == [(700, "C")]


def test_pace_can_change_on_the_way(runner_of):
    runner = runner_of(small(pairs=30_000), pace=0.001).start()
    until(lambda: runner.state == "running")
    time.sleep(0.05)
    assert runner.run.t == 0
    runner.pace("unlimited")
    assert runner.finished.wait(PATIENCE) and runner.state == "done"


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "fast", None, True, [1]])
def test_bad_pace_is_named(bad):
    with pytest.raises(ValueError, match="pace must be pairs per second > 0, 'accelerating' or 'unlimited'"):
        Runner(small(), pace=bad)
    runner = Runner(small())
    with pytest.raises(ValueError, match="pace must be"):
        runner.pace(bad)


@pytest.mark.parametrize("bad", [0, -3, 2.5, True, "1"])
def test_bad_step_is_named(bad):
    with pytest.raises(ValueError, match="step needs a number of pairs >= 1"):
        Runner(small()).step(bad)
