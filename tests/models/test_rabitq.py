"""RaBitQ: unbiased over rotations, for few, d and more bits; what is stored is what the formula says."""

import numpy as np
import pytest

from ohash.core.codes import unpack
from ohash.models.quantizers.rabitq import nearest_grid
from tests.models.digits_data import build, fitted_map, split
from tests.selection import first


def exact(queries, X, mean):
    q, x = (v - mean for v in (queries, X))
    return (q / np.linalg.norm(q, axis=1)[:, None]) @ (x / np.linalg.norm(x, axis=1)[:, None]).T


@pytest.mark.slow
@pytest.mark.parametrize("r", first([7, 16, 40]))
def test_the_estimate_is_unbiased_over_rotations(r):
    rng = np.random.default_rng(r)
    X, queries = rng.normal(size=(6, 16)), rng.normal(size=(5, 16))
    queries[0] = X[0] + 0.1 * rng.normal(size=16)
    draws = []
    for seed in range(1500):
        model = build("rabitq", r=r, seed=seed, dtype="float64", center="none")
        draws.append(model.estimate(queries, X))
    draws = np.stack(draws).astype(float)
    error = draws.mean(axis=0) - exact(queries, X, np.zeros(16))
    assert (np.abs(error) < 4.5 * draws.std(axis=0) / np.sqrt(len(draws)) + 1e-6).all()


def test_what_is_stored():
    _, X, _, _ = split(0)
    model = build("rabitq", r=64, seed=1, dtype="float64")
    model.warm_up(X)
    stored = model.quantise(X)
    unit = X - X.mean(axis=0, dtype=np.float64)
    norm = np.linalg.norm(unit, axis=1)
    rotated = unit / norm[:, None] @ model.W
    b = unpack(np.asarray(stored.codes), 64) / 8
    np.testing.assert_allclose(stored.alignment, (rotated * b).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(stored.norm, norm, rtol=1e-6)
    np.testing.assert_array_equal(stored.codes, model.encode(X))
    assert (stored.codes.r, stored.codes.version) == (64, model.version)
    assert 0.75 < stored.alignment.mean() < 0.85, "sqrt(2 / pi) in high dimensions"


@pytest.mark.parametrize("r", [5, 16, 70])
def test_the_estimate_is_the_formula(r):
    queries, X, _, _ = split(0)
    model = build("rabitq", r=r, seed=2, dtype="float64")
    model.warm_up(X)
    stored = model.quantise(X[:50])
    centred = queries[:6].astype(float) - X.mean(axis=0, dtype=np.float64)
    Rq = centred / np.linalg.norm(centred, axis=1)[:, None] @ model.W
    b = unpack(np.asarray(stored.codes), r) / np.sqrt(r)
    expected = [
        [sum(q[k] * item[k] for k in range(r)) / a for item, a in zip(b, stored.alignment, strict=True)] for q in Rq
    ]
    np.testing.assert_allclose(model.estimate(queries[:6], stored), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_the_estimate_ranks_better_than_hamming_and_distances_follow():
    queries, X, _, _ = split(0)
    model = build("rabitq", r=64, seed=0)
    model.warm_up(X)
    stored = model.quantise(X)
    truth = exact(queries.astype(float), X.astype(float), X.mean(axis=0, dtype=np.float64))
    estimate = model.estimate(queries, stored)
    hamming = -np.bitwise_count(model.encode(queries)[:, None] ^ np.asarray(stored.codes)).sum(axis=2, dtype=int)

    def recall(scores):
        top = [set(np.argsort(-row, kind="stable")[:10]) for row in scores]
        return np.mean([len(a & set(np.argsort(-row)[:10])) / 10 for a, row in zip(top, truth, strict=True)])

    assert recall(estimate) > recall(hamming) + 0.05
    squares = np.square(queries[:, None].astype(float) - X).sum(axis=2)
    error = model.estimate_distances(queries, stored) - squares
    assert abs(error.mean()) < 0.02 and np.abs(error).mean() < 0.25


def test_an_item_at_the_mean_is_estimated_as_nothing():
    model = build("rabitq", r=8, center="none")
    assert (model.estimate(np.ones((1, 8)), np.zeros((2, 8))) == 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_digits(seed):
    """Hamming distance on its bits is that of rotated sign: 0.490 to 0.504 at 32 bits."""
    assert fitted_map("rabitq", seed) == fitted_map("rotated", seed)


@pytest.mark.parametrize("B", [2, 4, 8])
def test_the_grid_of_a_row_does_not_depend_on_the_others(B):
    rows = np.random.default_rng(0).normal(size=(600, 24)).astype(np.float32)
    together = nearest_grid(rows, B)
    assert np.abs(together).max() <= 2**B - 1 and (together % 2 == 1).all()
    np.testing.assert_array_equal(together, np.concatenate([nearest_grid(row[None], B) for row in rows]))
