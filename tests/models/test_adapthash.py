"""AdaptHash: only chosen columns move, along the gradient; columns keep length 1; no loss, no step."""

import math

import numpy as np
import pytest

from ohash.models.online.adapthash import AdaptHash, AdaptHashParams
from tests.models.digits import mean_map


def squared_loss(W, x_i, x_j, s):
    f_u, f_v = (2 / (1 + np.exp(-(W.T @ x))) - 1 for x in (x_i, x_j))
    return (f_u @ f_v - W.shape[1] * s) ** 2


def chosen_bits(W, x_i, x_j, s, ratio):
    u, v = W.T @ x_i, W.T @ x_j
    r, D = len(u), int(((u >= 0) != (v >= 0)).sum())
    hinge = max(0, D - (1 - ratio) * r) if s > 0 else max(0, ratio * r - D)
    wrong = [k for k in range(r) if ((u[k] >= 0) != (v[k] >= 0)) == (s > 0)]
    wrong.sort(key=lambda k: -max(abs(u[k]), abs(v[k])))
    return wrong[: math.ceil(round(hinge, 9))]


def numeric_gradient(W, *pair):
    gradient = np.zeros_like(W)
    for at in np.ndindex(W.shape):
        up, down = W.copy(), W.copy()
        up[at] += 1e-6
        down[at] -= 1e-6
        gradient[at] = (squared_loss(up, *pair) - squared_loss(down, *pair)) / 2e-6
    return gradient


@pytest.mark.parametrize("lambda_", [0.0, 0.02])
def test_every_step_equals_the_formula(lambda_):
    rng = np.random.default_rng(0)
    X, r, ratio, eta = rng.normal(size=(60, 5)), 7, 0.8, 0.5
    model = AdaptHash(AdaptHashParams(r=r, ratio=ratio, eta=eta, lambda_=lambda_, dtype="float64"))
    model.start(5)
    moved = quiet = 0
    for t in range(0, 60, 2):
        s = 1 if t % 4 else -1
        W, before = model._Wt.T.copy(), model.bit_updates.copy()
        trace = model.learn(X, [t], [t + 1], [s])
        bits = chosen_bits(W, X[t], X[t + 1], s, ratio)
        expected = W.copy()
        if bits:
            expected[:, bits] -= eta / r * numeric_gradient(W, X[t], X[t + 1], s)[:, bits]
            expected -= lambda_ * W @ (W.T @ W - np.eye(r))
            expected /= np.linalg.norm(expected, axis=0)
        np.testing.assert_allclose(model._Wt.T, expected, atol=1e-7)
        np.testing.assert_allclose(np.linalg.norm(model._Wt, axis=1), 1, atol=1e-12)
        changed = np.flatnonzero(model.bit_updates[0] > before[0])
        assert trace.updated[0] == bool(bits)
        assert sorted(bits) == changed.tolist() if lambda_ == 0 else len(changed) in (0, r)
        if lambda_ == 0:
            still = np.setdiff1d(np.arange(r), bits)
            np.testing.assert_array_equal(model._Wt.T[:, still], W[:, still])
        moved, quiet = moved + bool(bits), quiet + (not bits)
    assert moved > 5 and quiet > 0


def test_the_step_follows_the_length_of_the_vectors():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 6))
    one, other = (AdaptHash(AdaptHashParams(r=8, dtype="float64")) for _ in range(2))
    one.warm_up(X)
    other.start(6)
    assert one._square[0] == pytest.approx((X**2).sum(axis=1).mean()) and other._square[0] == 1
    exact = AdaptHash(AdaptHashParams(r=8, eta=4.0 / one._square[0], dtype="float64"))
    pairs = rng.integers(0, 30, 20), rng.integers(30, 60, 20), rng.choice([-1, 1], 20)
    one.learn(X, *pairs)
    exact.learn(X, *pairs)
    np.testing.assert_allclose(one._Wt, exact._Wt, atol=1e-12)


@pytest.mark.slow
def test_digits():
    """The step was chosen on other data."""
    assert mean_map("adapthash") > 0.523 - 0.06
