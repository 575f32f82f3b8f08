"""Any moment of a run can be had again."""

import numpy as np
import pytest

from ohash.engine.run import Run
from ohash.models.registry import find
from tests.engine.cases import case
from tests.engine.runs import advance, small, straight
from tests.selection import alternate

pytestmark = pytest.mark.usefixtures("few_checkpoints")


@pytest.mark.parametrize(
    "name", alternate(["changes", "plain", "mmoh", "running mean", "rotate slowly", "redefine", "seen", "float64"])
)
def test_replay_gives_the_model_before_any_pair(name):
    params = case(name)
    going = straight(params)
    model = find(params.method).build(params.model)
    model.warm_up(going.world.mapped(0)[going.world.warm_rows])
    wanted = {0, 1, 99, 100, 101, 136, 137, 138, 249, 250, 251, 399, 400, 401, 690, 699}
    for t in range(700):
        going.apply_changes(model, t)
        Z = going.world.mapped(going.world.drift.stage(t))
        if t in wanted:
            again, (i, j, s) = going.replay(t)
            assert (i, j, s) == tuple(int(column[0]) for column in going.world.pairs(t, t + 1))
            assert np.array_equal(again.W, model.W) and np.array_equal(again.mean, model.mean)
            assert again.params == model.params
            step = again.learn_pair(Z[i], Z[j], s)
            trace = model.learn(Z, *going.world.pairs(t, t + 1))
            steps = step if isinstance(step, list) else [step]
            assert [one.R for one in steps] == np.atleast_1d(trace.R[0]).tolist()
            assert [one.D_h for one in steps] == np.atleast_1d(trace.D_h[0]).tolist()
            moved = np.atleast_1d(trace.updated[0])
            assert [one.tau for one, m in zip(steps, moved, strict=True) if m] == pytest.approx(
                np.atleast_1d(trace.tau[0])[moved].tolist()
            )
            assert np.array_equal(again.W, model.W)
        else:
            model.learn(Z, *going.world.pairs(t, t + 1))
    assert np.array_equal(going.hasher.W, model.W)


def test_replay_keeps_few_states_and_never_touches_the_run():
    going = straight(small(pairs=3000))
    before = going.hasher.W.copy()
    model, _ = going.replay(1500)
    model.learn(going.Z, *going.world.pairs(1500, 1600))
    assert np.array_equal(going.hasher.W, before)
    assert len(going.kept_states.states) <= 16
    once_more, _ = going.replay(1500)
    assert not np.array_equal(once_more.W, model.W)


def test_replay_of_a_method_that_does_not_learn():
    going = straight(case("lsh"))
    model, (i, j, _) = going.replay(350)
    assert np.array_equal(model.W, going.hasher.W) and i != j


@pytest.mark.parametrize("t", [-1, 200, 10**6])
def test_replay_of_what_has_not_come_is_refused(t):
    going = advance(Run(small()), 200)
    with pytest.raises(ValueError, match="t must be one of the 200 pairs learnt so far, 0 to 199"):
        going.replay(t)


# -- re-encoding ---------------------------------------------------------------------------------------------------
