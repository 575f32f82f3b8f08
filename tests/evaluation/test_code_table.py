"""The code table against a fresh encode, and its bill against a literal count."""

import numpy as np
import pytest

from ohash import MMOH, OH
from ohash.core.codes import Codes, pack, sgn, unpack
from ohash.evaluation.code_table import CodeTable
from ohash.models.quantizers.random_codes import RandomCodes, RandomCodesParams
from tests.selection import alternate


def data(n=301, d=33, dtype=np.float32):
    return np.random.default_rng(0).normal(0.3, 1, (n, d)).astype(dtype)


def learn(model, X, pairs, seed):
    rng = np.random.default_rng(seed)
    i = rng.integers(0, len(X), pairs)
    return model.learn(X, i, (i + 1 + rng.integers(0, len(X) - 1, pairs)) % len(X), rng.choice([-1, 1], pairs))


def assert_equal_but_at_thresholds(codes, model, X):
    """Bits may differ from `encode` only where the projection is at its threshold, up to rounding."""
    Wt, threshold = (array.astype(np.float64) for array in model.hyperplanes)
    fresh = model.encode(X)
    bits, expected = (unpack(np.asarray(c).reshape(model.T, len(X), -1), model.r) for c in (codes, fresh))
    P = np.einsum("nd,mrd->mnr", X.astype(np.float64), Wt)
    scale = np.einsum("nd,mrd->mnr", np.abs(X.astype(np.float64)), np.abs(Wt))
    margin = np.abs(P - threshold[:, None, :]) / scale
    assert (margin[bits != expected] < 1e-5).all()
    assert (bits == sgn(P - threshold[:, None, :]))[margin > 1e-5].all()
    assert codes.shape == fresh.shape and codes.r == fresh.r and codes.version == fresh.version


MODELS = [
    lambda: OH(r=13, seed=1),
    lambda: OH(r=24, seed=1, dtype="float64"),
    lambda: OH(r=64, seed=1, center="frozen"),
    lambda: OH(r=21, seed=1, center="running"),
    lambda: MMOH(T=3, r=11, seed=1, center="ema"),
    lambda: MMOH(T=1, r=130, seed=1),
]


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("build", alternate(MODELS))
def test_the_table_equals_a_fresh_encode_and_a_fresh_table_after_any_learning(build, kept, monkeypatch):
    X, model = data(), build()
    if not kept:  # projections are computed, used and thrown away
        monkeypatch.setattr("ohash.evaluation.code_table.MAX_PROJECTION_BYTES", 0)
        monkeypatch.setattr("ohash.evaluation.projections.STEP_WORK", 20_000)
    if model.params.center != "none":
        model.warm_up(X[:50])
    table = CodeTable(model, X)
    table.refresh()
    for round_, pairs in enumerate([1, 0, 2, 40]):
        if pairs:
            before, low = model.bit_updates.copy(), _thresholds(model)
            learn(model, X, pairs, round_)
            moved = model.bit_updates != before
            dirty = int((moved if kept else moved | (low != _thresholds(model))).sum())
        else:
            dirty = 0
        assert table.stale == (table.version != model.version)
        old = table.codes.copy()
        done = table.refresh()
        assert not table.stale and done is table.last and done.version == model.version
        assert (done.columns, done.bits_recomputed) == (dirty, dirty * len(X))
        assert done.bits_flipped == int(np.bitwise_count(old ^ table.codes).sum(dtype=np.int64))
        assert_equal_but_at_thresholds(table.codes, model, X)
        fresh = CodeTable(model, X)
        fresh.refresh()
        np.testing.assert_array_equal(table.codes, fresh.codes)  # whichever columns went together
        np.testing.assert_array_equal(table.encode(X), table.codes)
        np.testing.assert_array_equal(table.encode(X[5:6]), table.codes[..., 5:6, :])


def _thresholds(model):
    Wt, threshold = model.hyperplanes
    return threshold.astype(Wt.dtype)


@pytest.mark.parametrize("build", [*MODELS, lambda: RandomCodes(RandomCodesParams(r=13))])
def test_items_that_look_different_are_encoded_by_the_hash_of_the_table(build):
    X, model = data(), build()
    rows = np.random.default_rng(1).permutation(len(X))[:40]
    if getattr(getattr(model, "params", None), "center", "none") != "none":
        model.warm_up(X[:50])
    table = CodeTable(model, X, rows)
    table.refresh()
    old, version = table.codes.copy(), table.version
    if hasattr(model, "learn"):
        learn(model, X, 20, 3)
    Y = (X[:, ::-1] + 0.1).astype(np.float32)
    expected = table.encode(Y[rows])
    steps = table.iter_reencode(Y, rows)
    with pytest.raises(StopIteration) as finished:
        while True:
            np.testing.assert_array_equal(table.codes, old)  # until it is done
            next(steps)
    np.testing.assert_array_equal(table.codes, expected)
    assert finished.value.value == int(np.bitwise_count(old ^ table.codes).sum(dtype=np.int64)) > 0
    assert table.version == version
    again = CodeTable(model, Y, rows)
    again.restore(table.state())
    for one in (table, again):
        one.refresh()
    fresh = CodeTable(model, Y[rows])
    fresh.refresh()
    np.testing.assert_array_equal(table.codes, fresh.codes)
    np.testing.assert_array_equal(again.codes, fresh.codes)
    with pytest.raises(ValueError, match="the 40 items of the table, got 301"):
        next(table.iter_reencode(Y))


def test_a_moving_mean_moves_thresholds_and_recomputes_nothing():
    X, model = data(), OH(r=16, seed=1, center="running", beta=0.01)
    model.warm_up(X[:3])
    table = CodeTable(model, X)
    table.refresh()
    trace = model.learn(X, [0] * 20, [1] * 20, [-1] * 20)  # R = 0 all along: only the mean follows
    assert not trace.updated.any()
    done = table.refresh()
    assert (done.columns, done.bits_recomputed) == (0, 0)
    assert done.bits_flipped > 0
    assert_equal_but_at_thresholds(table.codes, model, X)


def test_queries_are_encoded_by_the_hash_of_the_table_while_the_model_goes_on():
    X, model = data(), OH(r=24, seed=1)
    table = CodeTable(model, X)
    table.refresh()
    version, codes, queries = table.version, table.codes.copy(), table.encode(X[:20])
    learn(model, X, 60, 0)
    assert table.stale and table.version == version
    np.testing.assert_array_equal(table.codes, codes)
    np.testing.assert_array_equal(table.encode(X[:20]), queries)
    assert (model.encode(X[:20]) != queries).any()


def test_a_refresh_left_early_keeps_the_old_codes_and_the_next_one_is_whole(monkeypatch):
    monkeypatch.setattr("ohash.evaluation.projections.STEP_WORK", 20_000)
    X, model = data(), OH(r=24, seed=1)
    table = CodeTable(model, X)
    assert len(list(table.iter_refresh())) > 3
    codes = table.codes.copy()
    learn(model, X, 30, 0)
    steps = table.iter_refresh()
    shares = [next(steps), next(steps)]
    assert 0 < shares[0] < shares[1] < 1
    steps.close()
    np.testing.assert_array_equal(table.codes, codes)
    np.testing.assert_array_equal(table.encode(X), codes)
    learn(model, X, 1, 1)
    table.refresh()
    fresh = CodeTable(model, X)
    fresh.refresh()
    np.testing.assert_array_equal(table.codes, fresh.codes)


def test_learning_during_a_refresh_belongs_to_the_next_one(monkeypatch):
    monkeypatch.setattr("ohash.evaluation.projections.STEP_WORK", 20_000)
    X, model = data(), OH(r=24, seed=1)
    undisturbed = CodeTable(model, X)
    undisturbed.refresh()
    table = CodeTable(model, X)
    for _ in table.iter_refresh():
        learn(model, X, 3, 0)
    np.testing.assert_array_equal(table.codes, undisturbed.codes)
    assert table.stale
    table.refresh()
    undisturbed.refresh()
    np.testing.assert_array_equal(table.codes, undisturbed.codes)


class Planes:
    """Linear, and free to go back in time, as a model does that is restored from a checkpoint."""

    r = 4

    def __init__(self, W):
        self.history, self.version, self.threshold = W, 0, 0.0

    @property
    def hyperplanes(self):
        return self.history[self.version].T[None], np.full((1, 4), self.threshold)

    @property
    def bit_updates(self):
        return np.full((1, 4), self.version)

    def encode(self, X):
        return Codes(pack(X @ self.history[self.version] >= self.threshold), 4, self.version)

    def state(self):
        return {}, {}


def test_a_model_set_back_during_a_refresh_does_not_meet_half_new_projections(monkeypatch):
    monkeypatch.setattr("ohash.evaluation.projections.STEP_WORK", 500)
    X = data(d=6)
    model = Planes(np.random.default_rng(1).normal(size=(2, 6, 4)).astype(np.float32))
    table = CodeTable(model, X)
    table.refresh()
    model.version = 1
    steps = table.iter_refresh()
    next(steps)
    steps.close()
    model.version, model.threshold = 0, 0.25
    table.refresh()
    np.testing.assert_array_equal(table.codes, model.encode(X))


class Parity:
    """Not linear: bit k says whether at least k + version features are positive."""

    r, version = 5, 0

    def encode(self, X):
        count = (np.asarray(X) > 0).sum(axis=1)
        return Codes(pack(count[:, None] >= np.arange(5)[None] + self.version), 5, self.version)

    def state(self):
        return {}, {}


def test_a_method_without_columns_is_encoded_whole_and_billed_for_all_bits():
    X, model = data(d=6), Parity()
    table = CodeTable(model, X)
    assert table.refresh().bits_recomputed == len(X) * 5
    assert table.refresh().bits_recomputed == 0
    model.version = 1
    old = table.codes.copy()
    np.testing.assert_array_equal(table.encode(X), old)
    done = table.refresh()
    assert done.bits_recomputed == len(X) * 5
    assert done.bits_flipped == int(np.bitwise_count(old ^ model.encode(X)).sum()) > 0
    np.testing.assert_array_equal(table.codes, model.encode(X))


def test_rows_may_be_of_another_type_or_order_and_codes_cannot_be_written():
    X, model = data(), OH(r=24, seed=1)
    plain, other = CodeTable(model, X), CodeTable(model, np.asfortranarray(X.astype(np.float64)))
    plain.refresh()
    other.refresh()
    np.testing.assert_array_equal(plain.codes, other.codes)
    with pytest.raises(ValueError, match="read-only"):
        plain.codes[0] = 0


def test_bad_input_is_named():
    model = OH(r=8)
    with pytest.raises(ValueError, match=r"X must be finite, got nan"):
        CodeTable(model, [[np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"length at most 1e\+18, got 1e\+23 at row 0, column 1"):
        CodeTable(model, np.array([[1.0, 1e23]], np.float32))
    table = CodeTable(model, np.eye(3))
    with pytest.raises(ValueError, match=r"the table is empty: call refresh\(\)"):
        _ = table.codes
    table.refresh()
    with pytest.raises(ValueError, match=r"X must have 3 columns"):
        table.encode(np.eye(4))
