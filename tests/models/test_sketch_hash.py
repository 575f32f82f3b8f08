"""OSH: the Frequent Directions bound, the mean row, the batch PCA as an oracle, FROSH's transform, and calm bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard, subspace_angles

from ohash.models.online.sketch_hash import SketchHash, SketchHashParams
from ohash.models.online.sketching import (
    SHRUNK,
    SQUARES,
    align,
    append,
    compress,
    hadamard_transform,
    top_directions,
)
from tests.models.digits import mean_map, split


def decaying(rng, n, d):
    return rng.normal(size=(n, d)) * np.exp(-np.arange(d) / 4) @ np.linalg.qr(rng.normal(size=(d, d)))[0]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 30), st.integers(1, 200), st.integers(0, 99), st.integers(1, 60))
def test_the_bound_of_frequent_directions(half, d, n, seed, cut):
    rng = np.random.default_rng(seed)
    A = decaying(rng, n, d)
    B, filled, shrunk = np.zeros((2 * half, d)), 0, 0.0
    for start in range(0, n, cut):
        filled, more = append(B, filled, A[start : start + cut])
        shrunk += more
    errors = np.linalg.eigvalsh(A.T @ A - B.T @ B)
    size = (A**2).sum()
    assert errors[0] >= -1e-9 * size
    assert errors[-1] <= shrunk + 1e-9 * size
    assert shrunk <= (size - (B**2).sum()) / half + 1e-9 * size
    assert errors[-1] <= 2 * size / (2 * half) + 1e-9 * size


def test_mean_rows_make_the_exact_scatter():
    X = decaying(np.random.default_rng(1), 300, 10) + 5
    model = SketchHash(SketchHashParams(r=8, rows=16384, chunk=30, dtype="float64"))
    model.warm_up(X[:20])
    model._sketch = np.zeros((1000, 10))  # room for all: nothing is ever shrunk
    model.learn_points(X, np.arange(300))
    scatter = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    np.testing.assert_allclose(model._sketch.T @ model._sketch, scatter, atol=1e-9)
    np.testing.assert_allclose(model._middle, X.mean(axis=0), atol=1e-12)
    assert model._tally[SHRUNK] == 0 and model._tally[SQUARES] == pytest.approx(np.trace(scatter))


@pytest.mark.parametrize("sketch", ["fd", "frosh"])
def test_the_subspace_is_that_of_pca(sketch):
    """Data of rank 5, a sketch with room for twice that: exactly the span of the batch PCA."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(640, 5)) @ rng.normal(size=(5, 32)) + 3
    model = SketchHash(SketchHashParams(r=5, rows=20, chunk=64, sketch=sketch, dtype="float64"))
    model.learn_points(X, np.arange(640))
    V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:5].T
    assert subspace_angles(model.hyperplanes[0][0].T, V).max() < 1e-6
    W = model.hyperplanes[0][0]
    np.testing.assert_allclose(W @ W.T, np.eye(5), atol=1e-10)


@pytest.mark.parametrize("sketch", ["fd", "frosh"])
def test_the_strongest_directions_are_found(sketch):
    rng = np.random.default_rng(3)
    X = decaying(rng, 2000, 40)
    model = SketchHash(SketchHashParams(r=4, rows=40, chunk=128, sketch=sketch, dtype="float64"))
    model.learn_points(X, np.arange(2000))
    X = X[: 2000 // 128 * 128]
    V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:4].T
    captured = np.linalg.norm(X @ model.hyperplanes[0][0].T) ** 2 / np.linalg.norm(X @ V) ** 2
    assert captured > (0.98 if sketch == "fd" else 0.9)


def test_srht_is_unbiased():
    rng = np.random.default_rng(4)
    total = np.zeros((12, 12))
    for _ in range(3000):
        Phi = compress(np.eye(12), 6, rng)  # 12 rows are padded to 16
        total += Phi.T @ Phi
    np.testing.assert_allclose(total / 3000, np.eye(12), atol=0.05)


@pytest.mark.parametrize("m", [1, 2, 8, 32])
def test_the_fast_transform_is_the_hadamard_matrix(m):
    X = np.random.default_rng(5).normal(size=(m, 3))
    np.testing.assert_allclose(hadamard_transform(X), hadamard(m) @ X, atol=1e-12)


def test_alignment_is_the_nearest_basis():
    rng = np.random.default_rng(6)
    V, before = (np.linalg.qr(rng.normal(size=(9, 4)))[0] for _ in range(2))
    best = align(V, before)
    assert subspace_angles(best, V).max() < 1e-7
    for _ in range(200):
        Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        assert np.linalg.norm(best - before) <= np.linalg.norm(V @ Q - before) + 1e-12


def test_directions_not_seen_yet_stay_as_drawn():
    V = top_directions(np.array([[0.0, 2, 0, 0], [0, 0, 0, 0]]), 3, np.eye(4)[:, :3])
    np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-12)
    assert abs(V[1, 0]) == pytest.approx(1)


def test_bits_stay_calm_while_the_subspace_does():
    """On a stationary stream few bits flip from chunk to chunk; a rotation drawn anew would flip half of them."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(3000, 6)) @ rng.normal(size=(6, 20))
    model = SketchHash(SketchHashParams(r=6, rows=24, chunk=100))
    model.learn_points(X, np.arange(1500))
    before = np.unpackbits(np.asarray(model.encode(X)), axis=1)
    model.learn_points(X, np.arange(1500, 2000))
    assert (before != np.unpackbits(np.asarray(model.encode(X)), axis=1)).mean() < 0.02


def test_more_bits_than_dimensions():
    X = np.random.default_rng(8).normal(size=(200, 5))
    model = SketchHash(SketchHashParams(r=16, chunk=50, dtype="float64"))
    model.learn_points(X, np.arange(200))
    W = model.hyperplanes[0][0].T
    np.testing.assert_allclose(W @ W.T, np.eye(5), atol=1e-9)  # a tight frame
    assert len(np.unique(model.encode(X), axis=0)) > 50


@pytest.mark.slow
@pytest.mark.parametrize("sketch", ["fd", "frosh"])
def test_digits(sketch):
    assert mean_map("sketch_hash", rows=64, chunk=100, sketch=sketch) > 0.542 - 0.06
    assert split(0)[0].shape == (297, 64)
