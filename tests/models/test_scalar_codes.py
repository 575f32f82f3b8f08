"""More bits per dimension, rounded queries, BBQ-style codes, rotated scalar quantisation, OPQ; faiss is the oracle."""

import itertools
from importlib.util import find_spec

import numpy as np
import pytest

from ohash.models.quantizers.bbq import BBQ
from ohash.models.quantizers.pq import PQ
from ohash.models.quantizers.rabitq import RaBitQ
from ohash.models.quantizers.turboquant import TurboQuant, normal_levels

FAISS = pytest.mark.skipif(find_spec("faiss") is None, reason="needs faiss")


def data(n=2000, d=32, queries=40):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(n, d)) + 0.3).astype(np.float32)
    Q = (rng.normal(size=(queries, d)) + 0.3).astype(np.float32)
    return X, Q, ((Q[:, None] - X[None]) ** 2).sum(axis=2)


def recall(D, exact):
    near, true = np.argsort(D, axis=1)[:, :10], np.argsort(exact, axis=1)[:, :10]
    return np.mean([len(set(a) & set(b)) / 10 for a, b in zip(near, true, strict=True)])


def distances(model, X, Q):
    model.warm_up(X)
    return model.estimate_distances(Q, model.quantise(X))


@pytest.mark.parametrize("d", [7, 32])
@pytest.mark.parametrize(
    "make",
    [lambda d, B: RaBitQ(r=d, dim_bits=B), lambda d, B: TurboQuant(r=d, dim_bits=B), lambda d, B: BBQ(dim_bits=B)],
)
def test_more_bits_are_nearer_to_the_distance(make, d):
    X, Q, exact = data(d=d)
    errors = [np.abs(distances(make(d, B), X, Q) - exact).mean() for B in (1, 2, 3, 4)]
    assert all(a > b for a, b in itertools.pairwise(errors)), errors


@pytest.mark.parametrize("model", [RaBitQ(r=30, dim_bits=3), BBQ(), TurboQuant(r=30, dim_bits=3), TurboQuant(r=50)])
def test_decoded_products_are_the_distances(model):
    X, Q, _ = data()
    D = distances(model, X, Q)
    stored = model.quantise(X)
    products = model.project(Q) @ model.decode(stored).T
    squares = ((Q - model.mean) ** 2).sum(axis=1)
    np.testing.assert_allclose(squares[:, None] + stored.norm**2 - 2 * products, D, atol=2e-3)


def test_more_bits_leave_the_code_and_count_their_bytes():
    X = data()[0]
    one, four = RaBitQ(r=32), RaBitQ(r=32, dim_bits=4)
    one.warm_up(X)
    four.warm_up(X)
    np.testing.assert_array_equal(one.encode(X), four.encode(X))
    stored = four.quantise(X)
    np.testing.assert_array_equal(stored.codes, four.encode(X))
    assert four.extra_bytes == 8 + 12 == 8 + stored.refinement.shape[1]
    assert TurboQuant(r=32, dim_bits=2).extra_bytes == 4 + 8 - 4


def test_a_query_of_four_bits_costs_little():
    X, Q, exact = data()
    floats, rounded = (
        recall(distances(RaBitQ(r=32), X, Q), exact),
        recall(distances(RaBitQ(r=32, query_bits=4), X, Q), exact),
    )
    assert abs(floats - rounded) < 0.05
    assert (distances(RaBitQ(r=32, query_bits=4), X, Q) != distances(RaBitQ(r=32), X, Q)).any()


def test_the_point_at_the_mean_has_a_distance():
    X = np.concatenate([np.ones((3, 6)), np.zeros((3, 6)), np.full((1, 6), 0.5)]).astype(np.float32)
    for model in (RaBitQ(r=6, dim_bits=2), BBQ(), TurboQuant(r=6, dim_bits=2)):
        assert np.isfinite(distances(model, X, X)).all()


def test_levels_are_those_of_max():
    """J. Max, Quantizing for minimum distortion, 1960, table I."""
    np.testing.assert_allclose(normal_levels(1), [-0.7979, 0.7979], atol=1e-4)
    np.testing.assert_allclose(normal_levels(2), [-1.510, -0.4528, 0.4528, 1.510], atol=1e-3)
    np.testing.assert_allclose(normal_levels(3)[4:], [0.2451, 0.7560, 1.344, 2.152], atol=1e-3)


@FAISS
@pytest.mark.slow
@pytest.mark.parametrize("B", [1, 2, 4])
def test_rabitq_is_as_good_as_that_of_faiss(B):
    import faiss

    X, Q, exact = data(n=5000, d=64, queries=200)
    theirs = []
    for seed in range(3):
        rotation, codes = faiss.RandomRotationMatrix(64, 64), faiss.IndexRaBitQ(64, faiss.METRIC_L2, B)
        rotation.init(seed)
        codes.qb = 0
        index = faiss.IndexPreTransform(rotation, codes)
        index.train(X)
        index.add(X)
        near = index.search(Q, 10)[1]
        true = np.argsort(exact, axis=1)[:, :10]
        theirs.append(np.mean([len(set(a) & set(b)) / 10 for a, b in zip(near, true, strict=True)]))
    ours = [recall(distances(RaBitQ(r=64, dim_bits=B, seed=seed), X, Q), exact) for seed in range(3)]
    assert -0.02 < np.mean(ours) - np.mean(theirs) < 0.05, (ours, theirs)


@FAISS
@pytest.mark.slow
def test_opq_is_as_good_as_that_of_faiss_and_better_than_pq():
    import faiss

    rng = np.random.default_rng(0)
    X = (rng.normal(size=(5000, 32)) @ (rng.normal(size=(32, 32)) * np.exp(-np.arange(32) / 6))).astype(np.float32)
    Q = X[:200] + 0.1 * rng.normal(size=(200, 32)).astype(np.float32)
    exact = ((Q[:, None] - X[None]) ** 2).sum(axis=2)
    ours = {}
    for rotation in ("none", "learnt"):
        model = PQ(r=64, rotation=rotation).fit(X)
        codes = model.encode(X)
        D = model.estimate_distances(Q, codes)
        np.testing.assert_allclose(D[:, :50], ((Q[:, None] - model.decode(codes[:50])) ** 2).sum(axis=2), atol=1e-2)
        ours[rotation] = recall(D, exact)
    rotation = faiss.OPQMatrix(32, 8, 32)
    rotation.niter = 20  # of 50 by default, which take a minute
    index = faiss.IndexPreTransform(rotation, faiss.IndexPQ(32, 8, 8))
    index.train(X)
    index.add(X)
    true = np.argsort(exact, axis=1)[:, :10]
    theirs = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(index.search(Q, 10)[1], true, strict=True)])
    assert ours["learnt"] > ours["none"] and abs(ours["learnt"] - theirs) < 0.05, (ours, theirs)


@FAISS
def test_a_rotation_is_saved_and_older_files_have_none(tmp_path):
    import ohash

    X = data(n=300, d=8)[0]
    model = PQ(r=16, rotation="learnt", iterations=2).fit(X)
    ohash.save(model, tmp_path / "m.npz")
    np.testing.assert_array_equal(ohash.load(tmp_path / "m.npz").encode(X), model.encode(X))
    plain = PQ(r=16, iterations=2).fit(X)
    values, arrays = plain.state()
    del arrays["rotation"], values["params"]["rotation"]
    np.testing.assert_array_equal(PQ.restore(values, arrays).encode(X), plain.encode(X))
