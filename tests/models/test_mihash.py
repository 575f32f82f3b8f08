"""MIHash: its step is the gradient of the mutual information, computed here a second time and by finite differences."""

import math

import numpy as np
import pytest

from ohash.models.online.mihash import MIHash, MIHashParams
from tests.models.digits import mean_map

R, D, A, K = 12, 8, 10.0, 5


def mutual_information(phi, phi_kept, near):
    """MI in bits of distance and neighbourhood, with triangular bins, a loop per sum."""
    r, n = len(phi), len(phi_kept)
    width = r / K
    near_counts, far_counts = [0.0] * (K + 1), [0.0] * (K + 1)
    for j in range(n):
        distance = (r - float(phi @ phi_kept[j])) / 2
        for b in range(K + 1):
            (near_counts if near[j] else far_counts)[b] += max(0.0, 1 - abs(distance - b * width) / width)
    p_near, p_far = np.array(near_counts) / near.sum(), np.array(far_counts) / (~near).sum()
    share = near.mean()
    return entropy(share * p_near + (1 - share) * p_far) - share * entropy(p_near) - (1 - share) * entropy(p_far)


def entropy(p):
    return -sum(float(v) * math.log2(v) for v in p if v > 0)


def relaxed(W, x):
    return 2 / (1 + np.exp(-A * (x @ W))) - 1


def gradient(W, x, kept, near, h=1e-6):
    """Central differences through phi(x) alone: the reservoir's codes are held."""
    phi_kept = relaxed(W, kept)
    slopes = np.zeros_like(W)
    for at in np.ndindex(W.shape):
        up, down = W.copy(), W.copy()
        up[at] += h
        down[at] -= h
        slopes[at] = mutual_information(relaxed(up, x), phi_kept, near)
        slopes[at] = (slopes[at] - mutual_information(relaxed(down, x), phi_kept, near)) / (2 * h)
    return slopes


def stream(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    return X / np.linalg.norm(X, axis=1, keepdims=True) / 3, rng.integers(0, 3, n)


@pytest.mark.parametrize("seed", range(4))
def test_the_step_is_the_gradient(seed):
    X, y = stream(seed, 31)
    model = MIHash(MIHashParams(r=R, steepness=A, bins=K, reservoir=30, eta=0.5, dtype="float64", seed=seed))
    model.learn_points(X[:30], np.arange(30), y[:30])
    assert model._filled[0] == 30
    W = model._Wt.T.copy()
    model.learn_points(X, [30], y[30:])
    expected = gradient(W, X[30], X[:30], y[:30] == y[30])
    np.testing.assert_allclose((model._Wt.T - W) / 0.5, expected, atol=1e-7)
    assert np.abs(expected).max() > 1e-4


def test_a_step_raises_the_information():
    X, y = stream(9, 121)
    model = MIHash(MIHashParams(r=R, steepness=A, bins=K, reservoir=200, eta=0.01, dtype="float64"))
    model.learn_points(X[:120], np.arange(120), y[:120])
    W = model._Wt.T.copy()
    model.learn_points(X, [120], y[120:])
    kept = relaxed(W, X[:120])
    near = y[:120] == y[120]
    before, after = (mutual_information(relaxed(V, X[120]), kept, near) for V in (W, model._Wt.T))
    assert after > before


def test_kept_projections_stay_in_step_with_W():
    X, y = stream(1, 3000)
    model = MIHash(MIHashParams(r=R, reservoir=50, dtype="float64"))
    model.learn_points(X, np.arange(3000), y)
    np.testing.assert_allclose(model._projected, model._kept @ model._Wt.T, atol=1e-10)


def test_nothing_is_learnt_without_both_kinds():
    X, _ = stream(2, 60)
    for y in (np.zeros(60, int), np.arange(60)):
        model = MIHash(MIHashParams(r=R, reservoir=20))
        model.learn_points(X, np.arange(60), y)
        assert model.version == 0 and model.seen == 60


def test_the_reservoir_is_a_uniform_sample():
    X = np.arange(400.0)[:, None] + 1
    counts = np.zeros(400)
    for seed in range(300):
        model = MIHash(MIHashParams(r=1, reservoir=40, seed=seed, dtype="float64"))
        model.learn_points(X, np.arange(400), np.zeros(400, int))
        assert len(np.unique(model._kept)) == 40
        counts[model._kept[:, 0].astype(int) - 1] += 1
    quarters = counts.reshape(4, 100).sum(axis=1) / (300 * 40)
    np.testing.assert_allclose(quarters, 0.25, atol=0.02)


@pytest.mark.slow
def test_digits():
    assert mean_map("mihash") > 0.888 - 0.06
