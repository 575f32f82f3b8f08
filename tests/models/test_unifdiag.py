"""UnifDiag: the subspace is that of PCA, the basis stays orthonormal, every bit has the same variance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import subspace_angles

from ohash.models.online.unifdiag import UnifDiag, uniform_rotation
from tests.models.digits import mean_map


def decaying(rng, n, d, offset=0.0):
    return rng.normal(size=(n, d)) * np.exp(-np.arange(d) / 4) @ np.linalg.qr(rng.normal(size=(d, d)))[0] + offset


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 30), st.integers(0, 10**6), st.floats(1e-6, 1e6))
def test_the_rotation_makes_the_diagonal_uniform(q, seed, scale):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(q, rng.integers(1, q + 1)))  # of any rank
    C = scale * A @ A.T
    R = uniform_rotation(C)
    np.testing.assert_allclose(R.T @ R, np.eye(q), atol=1e-12)
    np.testing.assert_allclose(np.diag(R.T @ C @ R), np.trace(C) / q, rtol=1e-9)


@pytest.mark.parametrize("C", [np.zeros((4, 4)), np.eye(5), np.array([[3.0]]), np.diag([1.0, 0.0])])
def test_the_rotation_of_easy_matrices(C):
    R = uniform_rotation(C)
    np.testing.assert_allclose(np.diag(R.T @ C @ R), np.trace(C) / len(C), atol=1e-15)


def test_the_subspace_is_that_of_pca_and_every_bit_has_the_same_variance():
    X = decaying(np.random.default_rng(0), 4000, 20, offset=3.0)
    model = UnifDiag(r=5, dtype="float64")
    model.learn_points(X, np.arange(len(X)))
    axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:5].T
    assert np.degrees(subspace_angles(model.W, axes)).max() < 5
    np.testing.assert_allclose(model._mean, X.mean(axis=0), atol=1e-12)
    variance = ((X - X.mean(axis=0)) @ model.W).var(axis=0)
    assert variance.max() / variance.min() < 1.15
    plain = ((X - X.mean(axis=0)) @ axes).var(axis=0)
    assert plain.max() / plain.min() > 5


def test_the_basis_stays_orthonormal():
    X = decaying(np.random.default_rng(1), 20_000, 12)
    for memory in (1.0, 0.98):
        model = UnifDiag(r=6, memory=memory, dtype="float64")
        model.learn_points(X, np.arange(len(X)))
        np.testing.assert_allclose(model.W.T @ model.W, np.eye(6), atol=1e-9)
        np.testing.assert_allclose(model._inverse @ model._covariance, np.eye(6), atol=1e-6)


@pytest.mark.parametrize("memory", [0.5, 0.9, 1.0])
def test_directions_without_data_do_not_break_it(memory):
    X = np.random.default_rng(5).normal(size=(20_000, 3)) @ np.random.default_rng(6).normal(size=(3, 12))
    model = UnifDiag(r=8, memory=memory, dtype="float64")
    model.learn_points(X, np.arange(len(X)))
    np.testing.assert_allclose(model.W.T @ model.W, np.eye(8), atol=1e-6)
    captured = np.square((X - X.mean(axis=0)) @ model.W).sum() / np.square(X - X.mean(axis=0)).sum()
    assert captured > 0.999


def test_it_forgets_what_was_long_ago():
    rng = np.random.default_rng(2)
    early, late = decaying(rng, 2000, 16), decaying(rng, 2000, 16)
    X = np.concatenate([early, late])
    best = np.square(np.linalg.svd(late, compute_uv=False)[:4]).sum()

    def captured(memory):
        model = UnifDiag(r=4, memory=memory, dtype="float64")
        model.learn_points(X, np.arange(len(X)))
        return np.square(late @ model.W).sum() / best

    assert captured(0.99) > 0.95 and captured(1.0) < 0.9


def test_the_scale_of_the_data_does_not_matter():
    X = decaying(np.random.default_rng(3), 500, 10, offset=0.5)
    codes = []
    for scale in (1.0, 2.0**-20, 2.0**20):
        model = UnifDiag(r=7, dtype="float64")
        model.learn_points(scale * X, np.arange(500))
        codes.append(model.encode(scale * X).tobytes())
    assert codes[0] == codes[1] == codes[2]


def test_points_without_variance_change_nothing():
    model = UnifDiag(r=4, dtype="float64")
    model.start(6)
    W = model.W.copy()
    model.learn_points(np.ones((50, 6)), np.arange(50))
    np.testing.assert_allclose(model.W, W, atol=1e-15)
    assert np.isfinite(model.W).all()


@pytest.mark.slow
def test_digits():
    assert mean_map("unifdiag") > 0.5
