"""A run depends on its parameters alone: not on chunks, pauses or being looked at."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.core.loss import dissimilar_threshold
from ohash.engine.params import MAX_CHANGES, Change, experiment
from ohash.engine.run import Run, run
from ohash.models.registry import find
from tests.engine.cases import CASES, CHANGES, OWN, case, finished_run
from tests.engine.runs import advance, assert_same, finish, own_data, small, straight
from tests.selection import first, share

pytestmark = pytest.mark.usefixtures("few_checkpoints")


@pytest.mark.parametrize("name", share(CASES, 1, of=3))
def test_results_do_not_depend_on_chunks(name):
    for seed in range(2):
        chunks = np.random.default_rng(seed).integers(1, 90, 50)
        assert_same(finished_run(name), finish(Run(case(name)), chunks))


@pytest.mark.parametrize("kind", first(OWN))
def test_results_on_own_data_do_not_depend_on_chunks(kind):
    dataset, values = own_data(kind)
    params = small("oh", "user", **values)
    whole = straight(params, dataset)
    assert whole.t == 700 and np.isfinite(whole.checkpoints.scores["map"]).all()
    assert_same(whole, finish(Run(params, dataset), [1, 2, 250, 13]))


@pytest.mark.slow
@given(chunks=st.lists(st.integers(1, 400), min_size=1, max_size=8))
@settings(deadline=None, max_examples=10)
def test_any_chunks(chunks):
    params = small(changes=CHANGES, center="running", pairs=400)
    assert_same(straight(params), finish(Run(params), chunks))


def test_seeds_differ_and_repeat():
    one, again, other = (straight(small(seed=seed, pairs=200)) for seed in (1, 1, 2))
    assert_same(one, again)
    assert not np.array_equal(one.hasher.W, other.hasher.W)
    assert not np.array_equal(one.checkpoints.scores["map"], other.checkpoints.scores["map"])


def test_looking_at_a_run_does_not_change_it():
    params = small(changes=CHANGES)
    watched = Run(params)
    while not watched.done:
        watched.step(31)
        watched.snapshot("running")
        _ = watched.checkpoints.first_codes
        if watched.t:
            watched.replay(watched.t // 2)
    assert_same(straight(params), watched)


@pytest.mark.parametrize("name", ["plain", "every", "rotate", "lsh"])
def test_the_judge_does_not_change_what_is_learnt(name):
    judged, unjudged = finished_run(name), straight(case(name), judge=False)
    assert len(unjudged.checkpoints.scores) == 0
    for column in judged.observer.columns.names:
        one, other = (going.observer.columns[column] for going in (judged, unjudged))
        assert np.array_equal(one, other, equal_nan=True), column


# -- live changes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "mmoh", "every", "running mean", "rotate"])
def test_a_live_change_is_the_same_as_a_declared_one(name):
    params = case(name)
    declared = params.changes
    live = Run(params)
    advance(live, 123)
    live.set(beta=0.4)
    advance(live, 124)
    live.set(beta=0.7, C=1.0)
    live.set(beta=0.35)  # before the next pair: replaces
    finish(live, [50])
    added = {Change(123, "beta", 0.4), Change(124, "C", 1.0), Change(124, "beta", 0.35)}
    assert set(live.params.changes) == {*declared, *added}
    assert_same(live, straight(live.params))


def test_changes_happen_at_exactly_their_pair():
    params = small(changes=CHANGES, dtype="float64")
    going = straight(params)
    model = find("oh").build(params.model)
    model.warm_up(going.Z[going.world.warm_rows])
    R = []
    for t in range(700):
        model.C = 0.2 if t >= 400 else 0.05
        model.beta = 0.6 if t >= 400 else 0.9 if t >= 137 else 0.5
        i, j, s = going.world.pairs(t, t + 1)
        R.append(model.learn(going.Z, i, j, s).R[0])
    assert np.array_equal(going.hasher.W, model.W)
    columns = going.observer.columns
    assert np.allclose(columns["cum_R"], np.cumsum(R)[columns["pairs"].astype(int) - 1], rtol=1e-12)
    off_by_one = straight(small(changes=(*CHANGES[:1], Change(138, "beta", 0.9), *CHANGES[2:]), dtype="float64"))
    assert not np.array_equal(off_by_one.hasher.W, model.W)


def test_a_bad_change_changes_nothing():
    going = advance(Run(small(alpha=4)), 50)
    before = going.params
    for bad in ({"beta": 0.1}, {"C": 0.2, "beta": 5.0}, {"r": 3.0}, {"C": float("nan")}):
        with pytest.raises(ValueError, match=r"must be|may set"):
            going.set(**bad)
        assert going.params is before
    for t in range(50, 50 + MAX_CHANGES):
        advance(going, t)
        going.set(C=0.001 * t)
    assert len(going.params.changes) == MAX_CHANGES
    advance(going, 50 + MAX_CHANGES)
    with pytest.raises(ValueError, match=f"changes must be at most {MAX_CHANGES}"):
        going.set(C=7.0)
    finish(going)


# -- what is recorded ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["oh", "mmoh"])
def test_history_is_the_sum_of_the_trace(method):
    params = small(method)
    going = straight(params)
    model = find(method).build(params.model)
    model.warm_up(going.Z[going.world.warm_rows])
    i, j, s = going.world.pairs(0, 700)
    trace = model.learn(going.Z, i, j, s)
    R, loss, updated, p0 = trace.R, trace.loss, trace.updated, trace.p0
    if method == "mmoh":
        R = np.where(s > 0, R.min(axis=1), R.sum(axis=1))
        loss, updated, p0 = loss.sum(axis=1), updated.any(axis=1), p0.sum(axis=1)
        assert R.sum() == pytest.approx(model.certificate.sum_R)
    columns = going.observer.columns
    at = columns["pairs"].astype(int) - 1
    for name, values in (("cum_R", R), ("cum_loss", loss), ("updated", updated), ("p0", p0)):
        assert np.allclose(columns[name], np.cumsum(values)[at], rtol=1e-12), name
    now = going.snapshot("done")
    assert now.numbers["cum_R"] == pytest.approx(R.sum()) and now.numbers["updated"] == updated.sum()
    assert np.array_equal(now.bit_updates, model.bit_updates)
    assert now.selections.tolist() == trace.updated.reshape(700, -1).sum(axis=0).tolist()


@pytest.mark.parametrize("name", ["plain", "mmoh", "float64", "rotate", "codes without half-spaces"])
def test_too_many_projections_to_keep_give_the_same_run(name, monkeypatch):
    kept = straight(case(name))
    monkeypatch.setattr("ohash.engine.frozen.KEPT_BYTES", 0)
    monkeypatch.setattr("ohash.evaluation.code_table.MAX_PROJECTION_BYTES", 0)
    assert_same(finish(Run(case(name)), [1, 60, 7]), kept)


@pytest.mark.parametrize("kind", ["rotate", "translate"])
def test_a_drift_is_entered_in_slices(kind, monkeypatch):
    params = small(drift=kind, drift_at=300)
    whole = straight(params)
    monkeypatch.setattr("ohash.engine.world.ROWS_PER_BLOCK", 50)
    monkeypatch.setattr("ohash.core.features.ROWS_PER_BLOCK", 50)
    monkeypatch.setattr("ohash.streams.drift.SLICE", 1000)
    monkeypatch.setattr("ohash.evaluation.projections.STEP_WORK", 10_000)
    going = advance(Run(params), 299)
    assert going.step(1) == 1 and going.evaluating
    for _ in range(12):  # 240 rows in 5 blocks, moved, mapped and projected twice
        assert going.step(100) == 0 and going.stage == 0
    finish(going)
    assert going.stage == 1 and np.array_equal(going.checkpoints.scores["pairs"], whole.checkpoints.scores["pairs"])
    assert np.allclose(
        going.checkpoints.scores["map"], whole.checkpoints.scores["map"], atol=0.02
    )  # BLAS may round other blocks otherwise


@pytest.mark.parametrize("method", ["oh", "mmoh", "lsh"])
@pytest.mark.parametrize(
    "more", [{}, {"alpha": 2, "beta": 0.45}, {"select": "largest"}, {"drift": "rotate", "drift_at": 90}]
)
def test_frozen_columns_equal_a_literal_computation(method, more):
    if method == "lsh":
        more = {key: value for key, value in more.items() if key.startswith("drift")}
    params = small(method, dtype="float64", pairs=200, **more)
    going = Run(params)
    Wt, threshold = (part.copy() for part in going.hasher.hyperplanes)
    finish(going)
    alpha, beta = getattr(params.model, "alpha", 0), getattr(params.model, "beta", 0.5)
    br = dissimilar_threshold(beta, 16)
    R, loss, D = [], [], []
    for t in range(200):
        (i,), (j,), (s,) = going.world.pairs(t, t + 1)
        Z = going.world.mapped(going.world.drift.stage(t))
        scored = []
        for m in range(len(Wt)):
            p, q = Wt[m] @ Z[i] - threshold[m], Wt[m] @ Z[j] - threshold[m]
            differ = (p >= 0) != (q >= 0)
            R_m = max(0.0, differ.sum() - alpha) if s > 0 else max(0.0, br - differ.sum())
            delta = np.minimum(abs(p), abs(q))[differ if s > 0 else ~differ]
            p0 = int(differ.sum() - alpha) if s > 0 else int(np.ceil(br) - differ.sum())
            chosen = (
                np.sort(delta)[::-1][:p0] if getattr(params.model, "select", "") == "largest" else np.sort(delta)[:p0]
            )
            scored.append((R_m, 2 * chosen.sum() + np.sqrt(R_m) if R_m > 0 else 0.0, differ.sum()))
        best = min(range(len(scored)), key=lambda m: scored[m][0])
        R.append(scored[best][0] if s > 0 else sum(one[0] for one in scored))
        loss.append(scored[best][1] if s > 0 else sum(one[1] for one in scored))
        D.append(min(one[2] for one in scored))
    columns = going.observer.columns
    at = columns["pairs"].astype(int) - 1
    assert np.allclose(columns["cum_R_frozen"], np.cumsum(R)[at], rtol=1e-10)
    assert np.allclose(columns["cum_loss_frozen"], np.cumsum(loss)[at], rtol=1e-8)
    s = np.concatenate([going.world.pairs(t, t + 1)[2] for t in range(200)])
    assert np.array_equal(going.observer.recent["similar_frozen"], np.bincount(np.array(D)[s > 0], minlength=17))


def test_learning_buys_something():
    now = straight(small(dataset="digits", pairs=3000, r=32)).snapshot("done")
    assert now.numbers["cum_R"] < 0.9 * now.numbers["cum_R_frozen"]
    assert now.numbers["map"] > now.numbers["map_start"] + 0.05
    assert now.columns["auc"][-1] > now.columns["auc_frozen"][-1]


# -- replay --------------------------------------------------------------------------------------------------------


def test_experiment_defaults_run():
    now = advance(Run(experiment("blobs2d", "oh", m=50)), 300).snapshot("running")
    assert now.t == 300 and np.isfinite(now.numbers["map"])


def test_a_method_without_kernel_may_wait_for_the_pairs_a_kernel_needs():
    kernel, raw = Run(small(m=128)), Run(small(kernel="none", warm=128))
    assert kernel.world.consumed == raw.world.consumed > Run(small(kernel="none")).world.consumed
    np.testing.assert_array_equal(kernel.world.pairs(0, 500), raw.world.pairs(0, 500))
    np.testing.assert_array_equal(kernel.world.warm_rows, raw.world.warm_rows)


def test_a_batch_method_may_be_fitted_to_everything_at_once():
    run = straight(small("itq", fit_to="all", dtype="float64"))
    assert len(set(run.checkpoints.scores["map"].tolist())) == 1  # a level line
    assert run.checkpoints.recomputed == run.checkpoints.codes.shape[1] * run.hasher.r  # once, after the warm-up
    whole = find("itq").build(run.params.model)
    whole.fit(run.Z[run.world.parts.train], None)
    np.testing.assert_array_equal(run.checkpoints.codes[0], whole.encode(run.Z[run.checkpoints.judge.rows]))


def test_what_is_no_experiment_is_named():
    with pytest.raises(ValueError, match=r"params must be those of experiment.* got 'digits'"):
        next(run("digits"))
