"""int8, product quantisation and float vectors: codes stand for vectors, and queries are measured to those."""

import importlib.util

import numpy as np
import pytest

from ohash.evaluation.neighbours import exact_neighbours
from ohash.models import base, registry
from tests.models.digits_data import build, split
from tests.selection import first

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 20)).astype(np.float32)
faiss = pytest.mark.skipif(importlib.util.find_spec("faiss") is None, reason="needs faiss")
METHODS = ["int8", pytest.param("pq", marks=faiss)]


def taught(key, rows=X, **options):
    model = build(key, **options)
    model.fit(rows, None) if key == "pq" else model.warm_up(rows)
    return model


@pytest.mark.parametrize("key", METHODS)
@pytest.mark.parametrize("asked", [1, 7, 40])
@pytest.mark.parametrize("r", [40, 20])
def test_distances_are_those_to_what_codes_stand_for(key, asked, r):
    model = taught(key, r=r)
    assert isinstance(model, base.AsymmetricHasher)
    stored = model.quantise(X)
    np.testing.assert_array_equal(stored, model.encode(X))
    decoded = model.decode(np.asarray(stored)).astype(float)
    assert decoded.shape == X.shape
    expected = np.square(X[:asked, None].astype(float) - decoded).sum(axis=2)
    np.testing.assert_allclose(model.estimate_distances(X[:asked], stored), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(model.encode(model.decode(np.asarray(stored))), stored)


def test_int8_is_within_half_a_step_and_cuts_what_is_beyond():
    model = taught("int8")
    decoded = model.decode(np.asarray(model.encode(X)))
    assert (np.abs(decoded - X) <= 0.5001 * model.step).all()
    assert model.r == 160 and model.encode(X).shape == (600, 20)
    far = np.full((1, 20), 1e6, np.float32)
    assert (model.encode(far) == 255).all() and (model.encode(-far) == 0).all()


def test_int8_of_the_first_dimensions():
    model = taught("int8", dims="first r", r=19)
    codes = model.encode(X)
    assert codes.shape == (600, 3) and codes[:, 2].max() < 8 and codes.r == 19
    decoded = model.decode(np.asarray(codes))
    assert (np.abs(decoded - X)[:, :3] <= 0.5001 * model.step[:3]).all()
    assert (decoded[:, 3:] == decoded[0, 3:]).all()
    with pytest.raises(ValueError, match="r must be at most 8 d = 160"):
        taught("int8", dims="first r", r=161)


def test_a_constant_dimension_comes_back():
    rows = X.copy()
    rows[:, 4] = 7
    model = taught("int8", rows)
    np.testing.assert_allclose(model.decode(np.asarray(model.encode(rows)))[:, 4], 7)


@faiss
def test_pq_takes_the_nearest_centroid_of_every_part():
    model = taught("pq", r=24)
    M, ksub, dsub = model.centroids.shape
    assert (M, ksub, dsub) == (3, 256, 7)  # 20 columns padded to 21
    padded = np.pad(X, ((0, 0), (0, 1))).reshape(600, 3, 7)
    near = np.square(padded[:, :, None] - model.centroids).sum(axis=3).argmin(axis=2)
    assert (near == np.asarray(model.encode(X))).mean() > 0.99


@faiss
def test_pq_of_few_points_keeps_them_all():
    model = taught("pq", X[:50], r=16)
    np.testing.assert_allclose(model.decode(np.asarray(model.encode(X[:50]))), X[:50], atol=1e-5)
    with pytest.raises(ValueError, match="r must be at most 160 bits"):
        taught("pq", r=168)


@faiss
def test_pq_error_falls_with_bits():
    errors = []
    for r in (8, 24, 80):
        model = taught("pq", r=r)
        errors.append(np.square(model.decode(np.asarray(model.encode(X))) - X).sum())
    assert errors[0] > 1.2 * errors[1] > 1.4 * errors[2]


@pytest.mark.parametrize("seed", first(range(3)))
@pytest.mark.parametrize(("key", "r", "least"), [("int8", 48, 0.98), pytest.param("pq", 64, 0.82, marks=faiss)])
def test_digits_neighbours(key, r, least, seed):
    """Recall@10 of exact neighbours on digits: int8 0.994 to 0.996 at 512 bits, pq 0.855 to 0.863 at 64 bits."""
    queries, database, _, _ = split(seed)
    model = taught(key, database, **({"r": r, "seed": seed} if key == "pq" else {}))
    exact = exact_neighbours(queries, database, 10, "l2")
    near = np.argsort(model.estimate_distances(queries, model.quantise(database)), axis=1)[:, :10]
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact, near, strict=True)])
    assert recall > least


def test_what_is_missing_is_said(monkeypatch):
    spec = registry.find("pq")
    monkeypatch.setattr(base, "find_spec", lambda name: None)
    assert spec.missing == "pip install ohash[faiss]" and registry.find("int8").missing == ""
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    with pytest.raises(ValueError, match=r"pq needs faiss: pip install ohash\[faiss\]"):
        build("pq").fit(X, None)


@pytest.mark.parametrize("offset", [0, 1000])
def test_float_vectors_rank_by_exact_distance_wherever_the_origin_is(offset):
    model, rows = taught("float"), X + np.float32(offset)
    squares = model.estimate_distances(rows[:5], model.quantise(rows))
    expected = [[((q - x) ** 2).sum() for x in rows.astype(float)] for q in rows[:5].astype(float)]
    np.testing.assert_allclose(squares, expected, rtol=1e-3, atol=1e-3)
    assert model.r == 640 and np.array_equal(model.decode(model.encode(rows)), rows)


@faiss
@pytest.mark.parametrize("offset", [1000, 10_000])
def test_pq_ranks_by_the_distance_to_its_codes_far_from_the_origin(offset):
    rows = X + np.float32(offset)
    model = build("pq", r=40).fit(rows, None)
    decoded = model.decode(model.encode(rows)).astype(float)
    expected = np.square(rows[:5, None].astype(float) - decoded).sum(axis=2)
    np.testing.assert_allclose(model.estimate_distances(rows[:5], model.quantise(rows)), expected, rtol=1e-3, atol=1e-3)
