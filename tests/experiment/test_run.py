"""A run depends on its parameters alone: not on chunks, pauses or being looked at."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.core.loss import dissimilar_threshold
from ohash.experiment.params import Change, experiment
from ohash.experiment.run import Run, run
from ohash.experiment.snapshot import take
from ohash.models.registry import find
from tests.experiment.runs import advance, assert_same, finish, own_data, small, straight

pytestmark = pytest.mark.usefixtures("few_checkpoints")

CHANGES = (Change(0, "C", 0.05), Change(137, "beta", 0.9), Change(400, "C", 0.2), Change(400, "beta", 0.6))
CASES = {
    "plain": {},
    "changes": {"changes": CHANGES},
    "mmoh": {"method": "mmoh", "T": 2, "changes": CHANGES},
    "lsh": {"method": "lsh"},
    "float64": {"dtype": "float64"},
    "rounds, largest": {"rounds": 3, "select": "largest"},
    "no centring": {"center": "none"},
    "running mean": {"center": "running"},
    "forgetting mean": {"center": "ema", "ema": 0.05, "method": "mmoh", "T": 2},
    "every": {"reencode": "every", "reencode_every": 45},
    "never": {"reencode": "never", "center": "running"},
    "seen": {"database": "seen"},
    "seen, every": {"database": "seen", "reencode": "every", "reencode_every": 100, "method": "mmoh", "T": 2},
    "disjoint": {"train": "disjoint", "judged_by": "test"},
    "class": {"order": "class", "period": 150, "similar_share": 0.5},
    "time": {"order": "time", "noise": 0.1},
    "once": {"order": "once", "similar_share": 0.5},
    "metric": {"similar_by": "metric"},
    "rotate": {"drift": "rotate", "drift_at": 300},
    "rotate slowly": {"drift": "rotate-slowly", "drift_at": 200, "reencode": "every", "reencode_every": 77},
    "rotate, never": {"drift": "rotate", "drift_at": 333, "reencode": "never"},
    "translate": {"drift": "translate", "drift_at": 350, "method": "mmoh", "T": 2},
    "prior": {"drift": "prior", "drift_at": 250},
    "redefine": {"drift": "redefine", "drift_at": 250, "changes": (Change(250, "beta", 0.3),)},
    "codes without half-spaces": {"method": "klsh", "p": 24, "t": 8, "drift": "rotate", "drift_at": 300},
}  # fmt: skip
OWN = ("labels", "clicks", "pairs", "multi", "metric")


def case(name):
    values = dict(CASES[name])
    return small(values.pop("method", "oh"), **values)


# -- nothing but the parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_results_do_not_depend_on_chunks(name):
    params = case(name)
    whole = straight(params)
    for seed in range(2):
        chunks = np.random.default_rng(seed).integers(1, 90, 50)
        assert_same(whole, finish(Run(params), chunks))


@pytest.mark.parametrize("kind", OWN)
def test_results_on_own_data_do_not_depend_on_chunks(kind):
    dataset, values = own_data(kind)
    params = small("oh", "user", **values)
    whole = straight(params, dataset)
    assert whole.t == 700 and np.isfinite(whole.appraisal.judged["map"]).all()
    assert_same(whole, finish(Run(params, dataset), [1, 2, 250, 13]))


@given(chunks=st.lists(st.integers(1, 400), min_size=1, max_size=8))
@settings(deadline=None, max_examples=10)
def test_any_chunks(chunks):
    params = small(changes=CHANGES, center="running", pairs=400)
    assert_same(straight(params), finish(Run(params), chunks))


def test_seeds_differ_and_repeat():
    one, again, other = (straight(small(seed=seed, pairs=200)) for seed in (1, 1, 2))
    assert_same(one, again)
    assert not np.array_equal(one.hasher.W, other.hasher.W)
    assert not np.array_equal(one.appraisal.judged["map"], other.appraisal.judged["map"])


def test_looking_at_a_run_does_not_change_it():
    params = small(changes=CHANGES)
    watched = Run(params)
    while not watched.done:
        watched.step(31)
        take(watched, "running")
        _ = watched.appraisal.first_codes
        if watched.t:
            watched.replay(watched.t // 2)
    assert_same(straight(params), watched)


@pytest.mark.parametrize("name", ["plain", "every", "rotate", "lsh"])
def test_the_judge_does_not_change_what_is_learnt(name):
    judged, unjudged = straight(case(name)), straight(case(name), judge=False)
    assert len(unjudged.appraisal.judged) == 0
    for column in judged.history.columns.names:
        one, other = (going.history.columns[column] for going in (judged, unjudged))
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
    columns = going.history.columns
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
    for t in range(50, 66):
        advance(going, t)
        going.set(C=0.001 * t)
    assert len(going.params.changes) == 16
    advance(going, 100)
    with pytest.raises(ValueError, match="changes must be at most 16"):
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
    columns = going.history.columns
    at = columns["pairs"].astype(int) - 1
    for name, values in (("cum_R", R), ("cum_loss", loss), ("updated", updated), ("p0", p0)):
        assert np.allclose(columns[name], np.cumsum(values)[at], rtol=1e-12), name
    now = take(going, "done")
    assert now.numbers["cum_R"] == pytest.approx(R.sum()) and now.numbers["updated"] == updated.sum()
    assert np.array_equal(now.bit_updates, model.bit_updates)
    assert now.selections.tolist() == trace.updated.reshape(700, -1).sum(axis=0).tolist()


@pytest.mark.parametrize("name", ["plain", "mmoh", "float64", "rotate", "codes without half-spaces"])
def test_too_many_projections_to_keep_give_the_same_run(name, monkeypatch):
    kept = straight(case(name))
    monkeypatch.setattr("ohash.experiment.frozen.KEPT_BYTES", 0)
    monkeypatch.setattr("ohash.evaluation.table.KEPT_BYTES", 0)
    assert_same(finish(Run(case(name)), [1, 60, 7]), kept)


@pytest.mark.parametrize("kind", ["rotate", "translate"])
def test_a_drift_is_entered_in_slices(kind, monkeypatch):
    params = small(drift=kind, drift_at=300)
    whole = straight(params)
    monkeypatch.setattr("ohash.experiment.world.BLOCK", 50)
    monkeypatch.setattr("ohash.core.features.BLOCK", 50)
    monkeypatch.setattr("ohash.streams.drift.SLICE", 1000)
    monkeypatch.setattr("ohash.evaluation.projections.STEP_WORK", 10_000)
    going = advance(Run(params), 299)
    assert going.step(1) == 1 and going.evaluating
    for _ in range(12):  # 240 rows in 5 blocks, moved, mapped and projected twice
        assert going.step(100) == 0 and going.stage == 0
    finish(going)
    assert going.stage == 1 and np.array_equal(going.appraisal.judged["pairs"], whole.appraisal.judged["pairs"])
    assert np.allclose(
        going.appraisal.judged["map"], whole.appraisal.judged["map"], atol=0.02
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
    columns = going.history.columns
    at = columns["pairs"].astype(int) - 1
    assert np.allclose(columns["cum_R_frozen"], np.cumsum(R)[at], rtol=1e-10)
    assert np.allclose(columns["cum_loss_frozen"], np.cumsum(loss)[at], rtol=1e-8)
    s = np.concatenate([going.world.pairs(t, t + 1)[2] for t in range(200)])
    assert np.array_equal(going.history.recent["similar_frozen"], np.bincount(np.array(D)[s > 0], minlength=17))


def test_learning_buys_something():
    now = take(straight(small(dataset="digits", pairs=3000, r=32)), "done")
    assert now.numbers["cum_R"] < 0.9 * now.numbers["cum_R_frozen"]
    assert now.numbers["map"] > now.numbers["map_start"] + 0.05
    assert now.columns["auc"][-1] > now.columns["auc_frozen"][-1]


# -- replay --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["plain", "changes", "mmoh", "running mean", "rotate slowly", "redefine", "seen", "float64"]
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
    assert len(going.past.states) <= 16
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


def test_without_re_encoding_codes_stay_those_of_the_first_hash():
    going = straight(case("never"))
    fresh = straight(small(center="running"))
    assert np.array_equal(going.appraisal.codes, going.appraisal.first_codes)
    assert (going.appraisal.judged["map"] == going.appraisal.judged["map"][0]).all()
    assert np.array_equal(going.appraisal.judged["map_fresh"], fresh.appraisal.judged["map"])
    assert np.array_equal(fresh.appraisal.judged["map_fresh"], fresh.appraisal.judged["map"])
    assert going.appraisal.recomputed == going.appraisal.flipped == 0


def test_what_re_encoding_costs_is_counted():
    params = small(reencode="every", reencode_every=100, dtype="float64")
    going = Run(params)
    rows = going.Z[going.appraisal.judge.rows]
    recomputed = flipped = 0
    seen = going.hasher.bit_updates.copy()
    codes = going.hasher.encode(rows)
    for t in range(100, 701, 100):
        advance(going, t)
        moved = going.hasher.bit_updates != seen
        recomputed += int(moved.sum()) * len(rows)
        fresh = going.hasher.encode(rows)
        flipped += int(np.bitwise_count(fresh ^ codes).sum())
        seen, codes = going.hasher.bit_updates.copy(), fresh
        assert np.array_equal(going.appraisal.codes[0], fresh)
    assert going.appraisal.judged["recomputed"][-1] == going.appraisal.recomputed == recomputed
    assert going.appraisal.judged["flipped"][-1] == going.appraisal.flipped == flipped
    assert 0 < flipped < recomputed


def test_stale_codes_are_those_of_the_last_refresh():
    going = Run(small(reencode="every", reencode_every=300))
    advance(going, 300)
    then = going.hasher.encode(going.Z[going.appraisal.judge.rows])
    advance(going, 599)
    assert np.array_equal(going.appraisal.codes[0], then)
    assert not np.array_equal(going.hasher.encode(going.Z[going.appraisal.judge.rows]), then)


@pytest.mark.parametrize("reencode", ["every", "never"])
def test_a_moved_world_is_encoded_by_the_hash_of_the_table(reencode):
    """A drift changes the vectors, not the moment at which the table is brought up to date."""
    going = Run(small(drift="rotate", drift_at=250, reencode=reencode, reencode_every=200))
    advance(going, 200 if reencode == "every" else 0)
    then, _ = going.replay(0) if reencode == "never" else (find("oh").restore(*going.hasher.state()), None)
    advance(going, 251)
    assert going.stage == 1
    assert np.array_equal(going.appraisal.codes[0], then.encode(going.Z[going.appraisal.judge.rows]))
    assert going.appraisal.recomputed >= going.appraisal.codes.shape[1] * 16


def test_a_drift_at_the_very_end_is_not_judged():
    going = straight(small(drift="rotate", drift_at=700))
    assert going.stage == 0
    assert np.array_equal(going.appraisal.judged["map"], straight(small()).appraisal.judged["map"])


# -- kinds of runs -------------------------------------------------------------------------------------------------


def test_seen_grows_and_only_seen_items_are_found():
    going = Run(small(database="seen"))
    advance(going, 100)
    i, j, _ = going.world.pairs(0, 100)
    expected = np.unique(np.concatenate([i, j, going.world.warm_rows]))
    assert np.array_equal(np.flatnonzero(going.seen), expected)
    finish(going)
    full = straight(small())
    assert not np.array_equal(going.appraisal.judged["map"][:3], full.appraisal.judged["map"][:3])
    assert np.array_equal(going.hasher.W, full.hasher.W)


def test_nothing_of_a_disjoint_part_is_searched():
    with pytest.raises(ValueError, match="database='seen' needs train='database'"):
        Run(small(database="seen", train="disjoint"))


@pytest.mark.parametrize(("more", "seen"), [({}, True), ({"train": "disjoint"}, False)])
def test_every_result_says_whether_the_database_was_seen(more, seen):
    for now in run(small(pairs=150, **more)):
        assert now.database_seen is seen
        assert ("the database was not trained on" in now.notes) is not seen


@pytest.mark.parametrize("kind", ["clicks", "pairs"])
def test_given_pairs_search_everything_so_it_was_seen(kind):
    dataset, values = own_data(kind)
    now = take(straight(small("oh", "user", train="disjoint", **values), dataset), "done")
    assert now.database_seen
    assert all(np.isfinite(now.numbers[name]) for name in ("map", "hit_10", "mrr", "recall_10", "recall_100", "auc"))
    assert now.similar_by == kind


def test_classes_arrive_in_the_run_too():
    going = straight(small(order="class", period=200, similar_share=0.5, pairs=900))
    labels = going.world.dataset.labels
    i, j, _ = going.world.pairs(0, 900)
    start = going.world.consumed
    first = [np.flatnonzero(np.isin(labels[i], c) | np.isin(labels[j], c)).min() for c in range(2, 5)]
    assert all(f + start >= 200 * (c - 1) for c, f in zip(range(2, 5), first, strict=True))


def test_a_stream_that_ends_ends_the_run():
    going = straight(small(order="once", pairs=10**6))
    assert going.t == going.end == going.world.stream().length - going.world.consumed
    assert going.schedule[-1] == going.end and going.appraisal.judged["pairs"][-1] == going.end


def test_stopping_when_flat_does_not_depend_on_chunks():
    params = small("lsh", pairs=30_000, stop_when_flat=True)
    one = straight(params)
    assert one.done and one.t == one.schedule[7] < 30_000 and not one.evaluating
    assert_same(one, finish(Run(params), [17]))
    assert straight(small("lsh", pairs=3000)).t == 3000


# -- snapshots -----------------------------------------------------------------------------------------------------


def test_run_yields_checkpoints():
    params = small(pairs=300)
    shown = list(run(params))
    assert [now.t for now in shown] == Run(params).schedule
    assert [now.state for now in shown] == ["running"] * (len(shown) - 1) + ["done"]
    assert [len(now.checkpoints["map"]) for now in shown] == list(range(1, len(shown) + 1))
    assert all(now.params == params for now in shown)


@pytest.mark.parametrize("every", [1, 50, 64, 299, 300, 1000])
def test_run_yields_every_so_many_pairs(every):
    shown = [now.t for now in run(small(pairs=300), every=every)]
    assert shown == [*range(0, 300, every), 300]


def test_run_refuses_to_yield_never():
    with pytest.raises(ValueError, match="every must be a number of pairs >= 1, got 0"):
        next(run(small(), every=0))


def test_a_snapshot_is_whole_and_stays_as_it_is():
    going = advance(Run(small("mmoh", T=3)), 200)
    now = take(going, "paused", seq=7)
    kept = {name: column.copy() for name, column in now.columns.items()}
    recent, updates = {k: v.copy() for k, v in now.recent.items()}, now.bit_updates.copy()
    finish(going)
    assert all(np.array_equal(now.columns[name], kept[name], equal_nan=True) for name in kept)
    assert all(np.array_equal(now.recent[name], recent[name]) for name in recent)
    assert np.array_equal(now.bit_updates, updates) and now.t == 200 and now.seq == 7
    n = now.numbers
    assert n["bits"] == 48 and n["bytes"] == 6 and n["similar_share"] == pytest.approx(1 / 6, abs=0.01)
    assert n["map"] == now.checkpoints["map"][-1] and n["map_start"] == now.checkpoints["map"][0]
    assert n["map_mean"] == pytest.approx(now.checkpoints["map"][-5:].mean())
    assert now.columns["pairs"][-1] <= 200 and now.recent["outcome"].sum() == 200
    assert n["auc"] == pytest.approx(now.columns["auc"][-1])
    assert now.selections.shape == (3,) and now.bit_updates.shape == (3, 16)


def test_certificate_and_cpu_are_recorded():
    going = straight(small(dtype="float64"))
    assert (going.appraisal.judged["gap"] < 1e-12).all()
    assert going.appraisal.judged["bound"][-1] > going.history.total("cum_R")
    for name in ("cpu_learn", "cpu_encode", "cpu_evaluate"):
        column = going.appraisal.judged[name]
        assert (np.diff(column) >= 0).all() and column[-1] > 0
    lsh = straight(small("lsh"))
    assert np.isnan(lsh.appraisal.judged["gap"]).all()


def test_experiment_defaults_run():
    now = take(advance(Run(experiment("blobs2d", "oh", m=50)), 300), "running")
    assert now.t == 300 and np.isfinite(now.numbers["map"])


def test_a_method_without_kernel_may_wait_for_the_pairs_a_kernel_needs():
    kernel, raw = Run(small(m=128)), Run(small(kernel="none", warm=128))
    assert kernel.world.consumed == raw.world.consumed > Run(small(kernel="none")).world.consumed
    np.testing.assert_array_equal(kernel.world.pairs(0, 500), raw.world.pairs(0, 500))
    np.testing.assert_array_equal(kernel.world.warm_rows, raw.world.warm_rows)


def test_a_batch_method_may_be_fitted_to_everything_at_once():
    run = straight(small("itq", fit_to="all"))
    assert len(set(run.appraisal.judged["map"].tolist())) == 1  # a level line
    assert run.appraisal.recomputed == run.appraisal.codes.shape[1] * run.hasher.r  # once, after the warm-up
    whole = find("itq").build(run.params.model)
    whole.fit(run.Z[run.world.parts.train], None)
    np.testing.assert_array_equal(run.appraisal.codes[0], whole.encode(run.Z[run.appraisal.judge.rows]))


@pytest.mark.parametrize("values", [{"method": "lsh"}, {"center": "running", "C": 1e-9}, {"reencode": "never"}])
def test_codes_that_have_not_changed_are_not_judged_again(values, monkeypatch):
    run = straight(small(**values))
    judged = []
    evaluate = type(run.appraisal.judge).evaluate
    monkeypatch.setattr(type(run.appraisal.judge), "evaluate", lambda *args: judged.append(1) or evaluate(*args))
    again = straight(small(**values))
    assert_same(run, again)
    assert values.get("method") != "lsh" or len(judged) == 1
    assert run.appraisal.judged["map"][-1] == score(run)


def score(run):
    work = run.appraisal.judge.evaluate(run.appraisal.codes, run.hasher.r, None)
    while True:
        try:
            next(work)
        except StopIteration as finished:
            return finished.value["map"]
