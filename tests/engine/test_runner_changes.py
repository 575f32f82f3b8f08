"""Live changes: they take hold before the next pair, or are refused while the run goes on."""

from dataclasses import replace

import pytest

from ohash.engine.live.runner import Runner
from ohash.engine.params import MAX_CHANGES, Change
from ohash.engine.run import Run
from tests.engine.runs import assert_same, small, straight
from tests.engine.wait import PATIENCE, settled, until

pytestmark = pytest.mark.usefixtures("few_checkpoints")


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
        ({"r": 64}, "r cannot change while oh runs; beta, C can"),
        ({"C": 0.3, "colour": 1.0}, "colour cannot change while oh runs; beta, C can"),
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


def test_one_change_too_many_is_refused_and_the_run_goes_on(runner_of):
    known = tuple(Change(k, "C", 0.001 * (k + 1)) for k in range(MAX_CHANGES - 1))
    runner = runner_of(replace(small(pairs=10**6), changes=known), pace=5000).start()
    until(lambda: runner.run is not None and runner.run.t > MAX_CHANGES)
    ack = runner.set(C=0.5)
    until(lambda: runner._applied >= ack and runner.run.t > runner.params.changes[-1].at)  # at its pair it is replaced
    with pytest.raises(ValueError, match="changes must be at most 64"):
        runner.set(C=0.6)
    t = runner.run.t
    until(lambda: runner.run.t > t + 50)
    assert runner.state == "running" and len(runner.params.changes) == MAX_CHANGES


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


def test_a_run_that_is_over_refuses_changes():
    runner = Runner(small(pairs=50), pace="unlimited").start()
    assert runner.finished.wait(60)
    with pytest.raises(ValueError, match="beta cannot change any more: the run is over"):
        runner.set(beta=0.4)
