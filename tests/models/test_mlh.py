"""MLH: its inference equals brute force over all code pairs, its bound bounds, its minibatches equal a slow twin."""

from itertools import product

import numpy as np
import pytest

from ohash.models.online.mlh import MLH, MLHParams, infer
from tests.models.digits import mean_map

R = 4
CODES = np.array(list(product([-1, 1], repeat=R)))


def loss(D, s, rho, weight, r=R):
    return max(D - rho + 1, 0) / (r - rho + 1) if s > 0 else weight * max(rho - D + 1, 0) / (rho + 1)


def inference(a, b, s, rho, weight):
    g_i, g_j = np.empty(len(a), np.int8), np.empty(len(a), np.int8)
    return infer(a, b, s > 0, rho, weight, g_i, g_j), g_i, g_j


@pytest.mark.parametrize("seed", range(60))
def test_inference_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, R)) * rng.choice([0.05, 0.3, 1])
    s, rho, weight = rng.choice([-1, 1]), int(rng.integers(0, R + 1)), rng.choice([0.5, 1, 3])
    value, g_i, g_j = inference(a, b, s, rho, weight)
    best = max(u @ a + v @ b + loss((u != v).sum(), s, rho, weight) for u in CODES for v in CODES)
    assert value == pytest.approx(best, abs=1e-12)
    assert g_i @ a + g_j @ b + loss((g_i != g_j).sum(), s, rho, weight) == pytest.approx(best, abs=1e-12)


def test_the_bound_is_above_the_loss_and_flat_where_both_vanish():
    rng = np.random.default_rng(1)
    for _ in range(300):
        a, b = rng.normal(size=(2, 10)) * rng.choice([0.02, 0.2, 2])
        s, rho = rng.choice([-1, 1]), int(rng.integers(1, 9))
        value, g_i, g_j = inference(a, b, s, rho, 1.0)
        h_i, h_j = np.where(a >= 0, 1, -1), np.where(b >= 0, 1, -1)
        empirical = loss((h_i != h_j).sum(), s, rho, 1.0, 10)
        assert value - np.abs(a).sum() - np.abs(b).sum() >= empirical - 1e-12
        if empirical == 0 and min(np.abs(a).min(), np.abs(b).min()) > 1:
            np.testing.assert_array_equal([g_i, g_j], [h_i, h_j])


def test_minibatches_equal_a_slow_twin():
    rng = np.random.default_rng(2)
    X, i, j, s = rng.normal(size=(30, 5)), *rng.integers(0, 30, (2, 50)), rng.choice([-1, 1], 50)
    model = MLH(MLHParams(r=6, batch=8, rho=0.5, eta=0.2, decay=0.01, lambda_=2, dtype="float64"))
    model.start(5)
    W, V = model._Wt.T.copy(), np.zeros((5, 6))
    trace = model.learn(X, i, j, s)
    for start in range(0, 48, 8):
        total = np.zeros_like(W)
        for t in range(start, start + 8):
            a, b = X[i[t]] @ W, X[j[t]] @ W
            _, g_i, g_j = inference(a, b, s[t], 3, 2.0)
            h_i, h_j = np.where(a >= 0, 1, -1), np.where(b >= 0, 1, -1)
            assert trace.D_h[t] == (h_i != h_j).sum()
            assert trace.updated[t] == ((h_i != g_i).any() or (h_j != g_j).any())
            total += np.outer(X[i[t]], h_i - g_i) + np.outer(X[j[t]], h_j - g_j)
        V = 0.9 * V + 0.2 * (total / 8 - 0.01 * W)
        W = W + V
    np.testing.assert_allclose(model._Wt.T, W, atol=1e-10)
    assert model.version == 6 and model._waiting[0] == 2


@pytest.mark.slow
def test_digits():
    assert mean_map("mlh", seeds=(0, 1), pairs=60_000) > 0.846 - 0.06
