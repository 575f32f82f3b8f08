"""SDOH: the step is the gradient of the divergence, probabilities are probabilities, and labels in both forms count."""

import numpy as np
import pytest

from ohash.models import registry
from ohash.models.online.sdoh import SDOH, divergence_step, pair_probabilities
from tests.models.digits import mean_map


def chunk(seed, n=30, d=6, r=5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(3, d))[y] + 0.5 * rng.normal(size=(n, d))
    return X, y, rng.normal(size=(d, r)) / np.sqrt(d)


@pytest.mark.parametrize("seed", range(4))
def test_the_step_goes_down_the_gradient_of_the_divergence(seed):
    """KL(P || Q) by finite differences: with distances over 4 and both orders of a pair, the constant is 1."""
    X, y, W = chunk(seed)
    P = pair_probabilities(np.where(y[:, None] == y, 1.0, 0.1))
    _, gradient = divergence_step(X, W, np.tanh(X @ W), P)
    numeric = np.zeros_like(W)
    for place in np.ndindex(W.shape):
        sides = []
        for step in (1e-6, -1e-6):
            moved = W.copy()
            moved[place] += step
            sides.append(divergence_step(X, moved, np.tanh(X @ moved), P)[0])
        numeric[place] = (sides[0] - sides[1]) / 2e-6
    np.testing.assert_allclose(gradient, numeric, atol=1e-8)


def test_probabilities_of_pairs():
    P = pair_probabilities(np.array([[9.0, 1.0, 0.0], [1.0, 9.0, 3.0], [0.0, 3.0, 9.0]]))
    assert (
        P.sum() == pytest.approx(1)
        and P[1, 2] == pytest.approx(3 / 8)
        and (np.diag(P) < 1e-300).all()
        and (P > 0).all()
    )
    assert np.isfinite(np.log(pair_probabilities(np.zeros((3, 3))))).all(), "no two points share a label"


def test_the_divergence_falls_in_a_chunk():
    X, y, W = chunk(1, n=60)
    model = SDOH(W=W, r=5, chunk=60, eta=20.0, threshold=1e-4, dtype="float64")
    P = pair_probabilities(np.where(y[:, None] == y, 1.0, np.exp(-0.5 / 0.3**2)))
    model.learn_points(X, np.arange(60), y)
    before, after = (divergence_step(X, V, np.tanh(X @ V), P)[0] for V in (W, model.W))
    assert after < before - 0.1


def test_flags_are_compared_by_their_cosine():
    X, y, W = chunk(2, n=20)
    flags = np.zeros((20, 4), bool)
    flags[np.arange(20), y] = True
    flags[:5, 3] = True
    flags[7] = False
    model = SDOH(W=W, r=5, chunk=20, dtype="float64")
    model.learn_points(X[:10], np.arange(10), flags[:10])
    model._buffer_labels[10:] = flags[10:]
    length = np.sqrt(np.maximum(flags.sum(axis=1), 1))
    np.testing.assert_allclose(model._similarity(), (flags @ flags.T.astype(float)) / np.outer(length, length))


def test_a_single_step_of_any_length_is_taken():
    X, y, W = chunk(3, n=20)
    model = SDOH(W=W, r=5, chunk=20, steps=1, eta=0.5, dtype="float64")
    model.learn_points(X, np.arange(20), y)
    P = pair_probabilities(np.where(y[:, None] == y, 1.0, np.exp(-0.5 / 0.3**2)))
    np.testing.assert_allclose(model.W, W - 0.5 * divergence_step(X, W, np.tanh(X @ W), P)[1], atol=1e-14)


@pytest.mark.slow
def test_digits():
    assert mean_map("sdoh") > 0.8


@pytest.mark.parametrize(("method", "names"), [
    ("bsodh", {"buffer", "buffer_words", "waiting", "codes", "words", "keys", "form"}),
    ("sdoh", {"buffer", "buffer_labels", "waiting", "form"}),
])  # fmt: skip
def test_chunks_have_the_names_that_saved_models_know(method, names):
    learner = registry.find(method).build(registry.find(method).params(chunk=10))
    X = np.random.default_rng(0).normal(size=(25, 4))
    learner.learn_points(X, np.arange(25), np.arange(25) % 3)
    assert names <= set(learner.state()[1])
