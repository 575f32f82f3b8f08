"""HMOH: perceptrons against a slow twin; nothing depends on a learning rate."""

import numpy as np
import pytest

from ohash.models.online.codewords import learn_hmoh
from ohash.models.online.hmoh import HMOH, HMOHParams
from tests.models.digits import mean_map


def literal(X, words, average):
    """One loop a sum: (W, sums), both (d, r)."""
    d, r = X.shape[1], words.shape[1]
    W, sums = np.zeros((d, r)), np.zeros((d, r))
    for x, b in zip(X, words, strict=True):
        for k in range(r):
            h = 1 if sum(W[c, k] * x[c] for c in range(d)) >= 0 else -1
            if h != b[k]:
                W[:, k] = W[:, k] + b[k] * x
            if h != b[k] or average == "points":
                sums[:, k] += W[:, k]
    return W, sums


@pytest.mark.parametrize("average", ["mistakes", "points", "none"])
def test_it_equals_the_slow_twin(average):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 5)), rng.integers(0, 3, 120)
    model = HMOH(HMOHParams(r=8, average=average, dtype="float64"))
    model.learn_points(X, np.arange(120), y)
    words = model.book[[list(model.classes).index(label) for label in y]]
    W, sums = literal(X, words, average)
    np.testing.assert_allclose(model._Wt.T, W, atol=1e-12)
    np.testing.assert_allclose(model._sums.T, sums, atol=1e-10)
    planes = model.hyperplanes[0][0].T
    np.testing.assert_allclose(planes, W if average == "none" else sums, atol=1e-10)


def test_a_learning_rate_would_change_no_code():
    rng = np.random.default_rng(2)
    X, words = rng.normal(size=(200, 6)), rng.choice([-1, 1], (200, 16)).astype(np.int8)
    codes = []
    for eta in (1.0, 0.25):
        Wt, sums = np.zeros((16, 6)), np.zeros((16, 6))
        learn_hmoh(Wt, sums, np.zeros(16, np.int64), np.zeros(2, np.int64), X, words, eta, False)
        codes.append(X @ sums.T >= 0)
    np.testing.assert_array_equal(*codes)


def test_a_bit_without_mistakes_has_no_hyperplane_yet_and_no_nan():
    model = HMOH(HMOHParams(r=8))
    model.learn_points(np.eye(3), [0], [0])
    assert np.isfinite(model.hyperplanes[0]).all() and (model.bit_updates <= 1).all()


def test_separable_classes_end_on_their_codewords():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 4, 400)
    X = 3 * np.eye(4)[y] + 0.2 * rng.normal(size=(400, 4))
    model = HMOH(HMOHParams(r=16, average="none", dtype="float64"))
    model.learn_points(X, np.arange(400), y)
    bits = np.unpackbits(np.asarray(model.encode(X)), axis=1, count=16, bitorder="little")
    expected = model.book[[list(model.classes).index(label) for label in y]] > 0
    assert (bits == expected).mean() > 0.999


@pytest.mark.slow
def test_digits():
    assert mean_map("hmoh") > 0.834 - 0.06
