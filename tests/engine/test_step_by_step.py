"""The viewer shows what the run learnt: the same pairs, steps and codes, whatever is looked at first."""

import math

import numpy as np
import pytest

from ohash.core.codes import sgn
from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.engine.step_by_step import FAR, KINDS, PairViewer
from tests.engine.runs import small


def learn(params, stop):
    """The trace of the pairs before `stop`, learnt one at a time, and the models after each."""
    run = Run(params, judge=False)
    traces = []
    for t in range(stop):
        run.apply_changes(run.hasher, t)
        i, j, s = run.world.pairs(t, t + 1)
        Z = run.world.mapped(run.world.drift.stage(t))
        traces.append((run.hasher.learn(Z, i, j, s), int(i[0]), int(j[0]), int(s[0])))
    return traces


@pytest.mark.parametrize(
    ("values", "changes"),
    [
        ({}, {}),
        ({"method": "mmoh", "T": 3, "r": 8}, {}),
        ({"drift": "rotate", "drift_at": 30}, {20: {"C": 0.01}, 45: {"beta": 0.3}}),
    ],
    ids=["oh", "mmoh", "drift and changes"],
)
def test_every_pair_is_seen_as_the_run_learnt_it(values, changes):
    params = small(**values)
    for at, change in changes.items():
        params = params.with_changes(at, **change)
    viewer = PairViewer(params)
    traces = learn(params, 60)
    for t in (59, 0, 31, 20, 45, 1):
        view = viewer.view(t)
        trace, i, j, s = traces[t]
        assert (view.i, view.j, view.s) == (i, j, s)
        tau = np.reshape(trace.tau, -1)
        assert [step.tau for step in view.steps] == pytest.approx(tau.tolist(), rel=1e-6)
        assert [step.D_h for step in view.steps] == np.reshape(trace.D_h, -1).tolist()
        for step in view.steps:
            if step.tau == 0:
                assert np.array_equal(step.h_i, step.h_i_after) and np.array_equal(step.h_j, step.h_j_after)


@pytest.mark.parametrize("options", [{"center": "ema", "ema": 0.2}, {"rounds": 3}], ids=["moving mean", "rounds"])
def test_the_pair_after_its_step_is_of_the_same_vectors_and_of_that_step_alone(options):
    """Where the mean moves with the pair, the codes after it are still those of the vectors that were learnt."""
    params = small(**options)
    viewer, seen = PairViewer(params), {"codes": 0, "steps": 0}
    for t in range(40):
        view, mean = viewer.view(t), viewer._before(t).mean.copy()
        step, (before, after) = view.steps[0], view.W[0]
        assert ((after - before) ** 2).sum() == pytest.approx(step.tau**2 * step.norm2, rel=1e-3)
        Z = viewer._features(t)
        codes = [sgn(after.T @ (Z[row] - mean)) for row in (view.i, view.j)]
        assert np.array_equal(codes[0], step.h_i_after) and np.array_equal(codes[1], step.h_j_after)
        seen["codes"] += step.updated
        seen["steps"] += view.left[0] < step.R_after
        assert view.left[0] == step.R_after or view.rounds > 1
    assert seen["codes"] > 5 and bool(seen["steps"]) == ("rounds" in options)
    left = viewer.find("loss left", 0)
    assert left is None or viewer.view(left).left[0] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_next_pair_of_a_kind_is_the_first_one(kind):
    viewer = PairViewer(small(C=0.02))
    at = viewer.find(kind, 10)
    assert at is not None
    assert any(KINDS[kind](step) for step in viewer.view(at).steps)
    assert not any(KINDS[kind](step) for t in range(10, at) for step in viewer.view(t).steps)
    assert viewer.find(kind, viewer.length) is None


def test_a_pair_that_c_caps_and_one_that_it_does_not():
    """With a tiny C every update is capped, with a huge one none is."""
    capped, free = PairViewer(small(C=1e-6)), PairViewer(small(C=1e6))
    assert capped.find("capped", 0) == capped.find("update", 0)
    assert free.find("capped", 0) is None


def test_what_if_changes_the_step_and_nothing_else():
    viewer = PairViewer(small())
    t = viewer.find("update", 5)
    before, other, again = viewer.view(t), viewer.view(t, C=1e-4), viewer.view(t)
    assert other.steps[0].tau == pytest.approx(min(1e-4, before.steps[0].ratio))
    assert again.steps[0].tau == before.steps[0].tau
    assert np.array_equal(again.steps[0].h_i_after, before.steps[0].h_i_after)


def test_two_items_of_ones_own_take_the_place_of_the_pair():
    view = PairViewer(small()).view(3, (5, 5, -1))
    assert (view.i, view.j, view.s) == (5, 5, -1)
    assert view.steps[0].D_h == 0 and view.steps[0].R == pytest.approx(view.steps[0].beta * len(view.steps[0].h_i))


def test_the_way_back_is_the_same_after_a_state_was_kept():
    params = small(pairs=3 * FAR)
    first, second = PairViewer(params), PairViewer(params)
    far = 2 * FAR + 7
    expected = [first.view(t).steps[0].loss for t in (FAR + 3, far)]
    second.view(far)
    assert [second.view(t).steps[0].loss for t in (FAR + 3, far)] == expected


def test_mistakes_are_named():
    viewer = PairViewer(small())
    with pytest.raises(ValueError, match=rf"t must be in \[0, {viewer.length - 1}\], got {viewer.length}"):
        viewer.view(viewer.length)
    with pytest.raises(ValueError, match="i must be in"):
        viewer.view(0, (10**9, 0, 1))
    with pytest.raises(ValueError, match=r"method must be oh or mmoh, .* got 'lsh'"):
        PairViewer(experiment("blobs2d", "lsh"))
    assert math.isfinite(viewer.view(0).steps[0].loss)


def test_an_answer_that_noise_has_turned_around_is_called_wrong():
    params = small(noise=0.3)
    viewer = PairViewer(params)
    labels = viewer.dataset.labels
    views = [viewer.view(t) for t in range(60)]
    assert [view.wrong for view in views] == [(labels[view.i] == labels[view.j]) != (view.s == 1) for view in views]
    assert 0 < sum(view.wrong for view in views) < 60
    assert not viewer.view(0, (views[0].i, views[0].j, -views[0].s)).wrong, "one's own answer is nobody's noise"
    assert not any(PairViewer(small()).view(t).wrong for t in range(20))
