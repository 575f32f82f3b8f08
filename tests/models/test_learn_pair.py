"""learn_pair: everything a teacher needs, by the kernel that learns."""

import json
import math

import numpy as np
import pytest

import ohash
from tests.core import reference
from tests.core.reference import random_stream
from tests.selection import first

X, AT_I, AT_J, S = random_stream(4, d=6, pairs=80, offset=0.2)
CENTRINGS = ("none", "frozen", "running", "ema")


def make(T, center="none", dtype="float64", **options):
    options = {"r": 10, "alpha": 1, "beta": 0.55, "C": 0.05, "seed": 2} | options
    model = (
        ohash.MMOH(T=T, center=center, dtype=dtype, **options) if T else ohash.OH(center=center, dtype=dtype, **options)
    )
    model.warm_up(X[:20])
    return model


def bits(model):
    values, arrays = model.state()
    return json.dumps(values, sort_keys=True), {name: array.tobytes() for name, array in arrays.items()}


@pytest.mark.parametrize("center", first(CENTRINGS))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("T", first([3, None]))
def test_every_field(T, dtype, center):
    """Against the slow twin's equations and the trace of `learn` on a second model, bit for bit in W."""
    model, silent = make(T, center, dtype), make(T, center, dtype)
    tight = 1e-11 if dtype == "float64" else 2e-5
    data = X.astype(dtype)
    seen = 0
    for i, j, s in zip(AT_I, AT_J, S.tolist(), strict=True):
        W_all, mean = np.atleast_3d(model.W).reshape(T or 1, 6, 10).astype(np.float64), model.mean.copy()
        x_i, x_j = data[i].astype(np.float64) - mean, data[j].astype(np.float64) - mean
        steps = model.learn_pair(data[i], data[j], s)
        trace = silent.learn(data, [i], [j], [s])
        W_after = np.atleast_3d(model.W).reshape(T or 1, 6, 10).astype(np.float64)
        assert isinstance(steps, list) == (T is not None)
        steps = steps if T else [steps]
        losses = [step.R for step in steps]
        for m, step in enumerate(steps):
            W = W_all[m]
            column = {name: np.asarray(value).reshape(1, -1)[0, m] for name, value in trace.columns().items()}
            np.testing.assert_allclose(step.p_i, W.T @ x_i, atol=tight)
            np.testing.assert_allclose(step.p_j, W.T @ x_j, atol=tight)
            assert step.h_i.tolist() == [1 if p >= 0 else -1 for p in step.p_i]
            assert step.h_j.tolist() == [1 if p >= 0 else -1 for p in step.p_j]
            assert step.D_h == reference.hamming(step.h_i, step.h_j) == column["D_h"]
            assert step.R == reference.similarity_loss(step.h_i, step.h_j, s, 1, 0.55) == column["R"]
            assert (step.s, step.alpha, step.beta, step.C) == (s, 1, 0.55, 0.05)
            pool = [k for k in range(10) if (step.h_i[k] != step.h_j[k]) == (s == 1)]
            assert step.flips.pool.tolist() == pool
            np.testing.assert_array_equal(step.flips.delta, np.minimum(np.abs(step.p_i), np.abs(step.p_j))[pool])
            g_i, g_j, p0 = list(step.h_i), list(step.h_j), len(step.flips.bits)
            for k, side in zip(step.flips.bits, step.flips.sides, strict=True):
                (g_i if side == "i" else g_j)[k] *= -1
            assert step.g_i.tolist() == g_i and step.g_j.tolist() == g_j and step.p0 == p0
            assert reference.similarity_loss(step.g_i, step.g_j, s, 1, 0.55) == 0
            assert step.sqrt_R == math.sqrt(step.R)
            assert step.loss == pytest.approx(step.H - step.G + step.sqrt_R, abs=1e-14)
            expected = reference.prediction_loss(W, x_i, x_j, step.h_i, step.h_j, step.g_i, step.g_j, step.R)
            assert step.loss == pytest.approx(expected, abs=20 * tight)
            M = reference.direction(x_i, x_j, step.h_i, step.h_j, step.g_i, step.g_j)
            assert step.norm2 == pytest.approx(reference.frobenius2(M), rel=10 * tight, abs=1e-12)
            assert step.updated == column["updated"] and step.degenerate == column["degenerate"]
            assert step.updated == (step.R > 0 and (s == -1 or m == losses.index(min(losses))))
            if step.updated:
                for name in ("loss", "ratio", "tau", "norm2", "p0"):
                    assert getattr(step, name) == pytest.approx(column[name], rel=1e-11), name
                assert step.tau_candidates == (0.05, step.ratio) and step.tau == min(step.tau_candidates)
                assert step.columns.tolist() == step.flips.bits.tolist()
                np.testing.assert_allclose(W_after[m], W + step.tau * M, atol=10 * tight)
                seen += 1
            else:
                assert step.tau == 0 and step.columns.size == 0
                np.testing.assert_array_equal(W_after[m], W)
            after = [reference.hash_code(W_after[m], x) for x in (x_i, x_j)]
            assert step.R_after == reference.similarity_loss(*after, s, 1, 0.55)
        assert bits(model) == bits(silent)
    assert seen > 30


@pytest.mark.parametrize("center", CENTRINGS)
@pytest.mark.parametrize("T", [None, 3])
def test_dry_run_changes_nothing_and_tells_the_same(T, center):
    model = make(T, center)
    for i, j, s in zip(AT_I[:25], AT_J[:25], S[:25], strict=True):
        before, W = bits(model), model.W
        dry = model.learn_pair(X[i], X[j], int(s), dry_run=True)
        assert bits(model) == before and model.W.base is W.base
        wet = model.learn_pair(X[i], X[j], int(s))
        for one, other in zip(dry if T else [dry], wet if T else [wet], strict=True):
            for name, value in vars(one).items():
                if name != "flips":
                    np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)
        assert bits(model) != before  # the clock has counted a pair


@pytest.mark.parametrize("T", [None, 3])
def test_dry_run_does_not_start_a_model(T):
    """W is drawn for the explanation, and forgotten; the random state is as it was, d is free."""
    model = ohash.MMOH(T=T, r=8, seed=3) if T else ohash.OH(r=8, seed=3)
    before = bits(model)
    step = model.learn_pair(X[0], X[1], -1, dry_run=True)
    assert bits(model) == before and model.d is None and model.version == 0
    again = model.learn_pair(X[0], X[1], -1)
    first, second = (step[0], again[0]) if T else (step, again)
    np.testing.assert_array_equal(first.p_i, second.p_i)
    other = ohash.OH(r=8, seed=3)
    other.learn_pair(X[0], X[1], -1, dry_run=True)
    other.learn_pair([1.0, 2.0], [3.0, 4.0], -1)
    assert other.d == 2


def test_overrides_hold_for_one_pair_only():
    model = make(None)
    i, j = next((i, j) for i, j in zip(AT_I, AT_J, strict=True) if model.learn_pair(X[i], X[j], -1, dry_run=True).R > 1)
    plain = model.learn_pair(X[i], X[j], -1, dry_run=True)
    wide = model.learn_pair(X[i], X[j], -1, dry_run=True, beta=1.0)
    assert wide.beta == 1 and wide.p0 == 10 - wide.D_h > plain.p0
    careful = model.learn_pair(X[i], X[j], -1, dry_run=True, C=1e-6)
    assert careful.tau == 1e-6 and careful.ratio == plain.ratio
    similar = model.learn_pair(X[i], X[j], 1, dry_run=True)
    lenient = model.learn_pair(X[i], X[j], 1, dry_run=True, alpha=similar.D_h)
    assert similar.p0 == max(0, similar.D_h - 1) and lenient.R == 0
    assert (model.alpha, model.beta, model.C) == (1, 0.55, 0.05)
    model.learn_pair(X[i], X[j], -1, C=0.01, beta=0.9)
    twin = make(None, C=0.01, beta=0.9)
    twin.learn_pair(X[i], X[j], -1)
    np.testing.assert_array_equal(model.W, twin.W)
    assert (model.alpha, model.beta, model.C) == (1, 0.55, 0.05)
    assert model.certificate.clipped == twin.certificate.clipped


def test_all_rounds_are_in_the_columns_and_the_last_in_R_after():
    """With several rounds the numbers tell of the first, `columns` and `R_after` of the whole."""
    model = make(None, rounds=5, C=0.05, select="largest")  # what was largest is so no more in the next round
    more = 0
    for i, j, s in zip(AT_I, AT_J, S, strict=True):
        W = model.W.copy()
        step = model.learn_pair(X[i], X[j], int(s))
        assert step.columns.tolist() == np.flatnonzero((model.W != W).any(axis=0)).tolist()
        assert set(step.flips.bits.tolist()) <= set(step.columns.tolist()) or not step.updated
        more += len(step.columns) > step.p0
    assert more > 5


def test_a_degenerate_pair():
    model = make(None, alpha=0)
    step = model.learn_pair(np.zeros(6), np.zeros(6), -1)
    assert step.degenerate and not step.updated and step.R == 5.5 == step.R_after
    assert step.tau == 0 and step.norm2 == 0 and math.isinf(step.ratio) and step.columns.size == 0
    assert step.p0 == 6 and set(step.flips.sides) == {"i"}  # what would have been flipped
    similar = model.learn_pair(np.zeros(6), np.zeros(6), 1)
    assert not similar.degenerate and similar.R == 0 and similar.ratio == 0


def test_mmoh_moves_one_model_for_a_similar_pair_and_all_for_a_dissimilar_one():
    model = make(4, alpha=0)
    ties = 0
    for i, j in zip(AT_I, AT_J, strict=True):
        steps = model.learn_pair(X[i], X[j], 1, dry_run=True)
        losses = [step.R for step in steps]
        chosen = [m for m, step in enumerate(steps) if step.updated]
        assert chosen == ([losses.index(min(losses))] if min(losses) > 0 else [])
        ties += losses.count(min(losses)) > 1
        steps = model.learn_pair(X[i], X[j], -1)
        assert [step.updated for step in steps] == [step.R > 0 for step in steps]
    assert ties > 5
