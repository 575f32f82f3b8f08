"""Similar by distance: either of two is among the nearest of the other."""

import os
from dataclasses import replace

import numpy as np
import pytest

from ohash.core.distances import pair_distances
from ohash.streams.data_split import split
from ohash.streams.dataset import Dataset, dataset_from_frame, dataset_to_frame
from ohash.streams.similarity import make_similarity
from ohash.streams.similarity import metric as metric_module
from ohash.streams.similarity.metric import MetricSimilarity
from tests.selection import first
from tests.streams.example_datasets import all_pairs, grouped, source_of, whole
from tests.streams.uniformity import kind_of, uniform_p


def either_of_two(X, pool, database, neighbours, metric):
    """Literal: sort every point's distances to the database without itself; a pair is near if either ball holds it."""
    n = len(X)
    D = np.array([pair_distances(np.repeat(X[a : a + 1], n, axis=0), X, metric) for a in range(n)])
    radius = np.array([np.sort(D[a, database[database != a]])[neighbours - 1] for a in range(n)])
    return D <= np.maximum(radius[:, None], radius)


@pytest.mark.parametrize("listed", [True, False])
def test_one_sided_is_the_plain_nearest_share_of_the_first_point(listed, monkeypatch):
    """GIST1M in the paper: every point has exactly 5 % neighbours, whoever else counts it among theirs."""
    if not listed:
        monkeypatch.setattr(metric_module, "LISTED", 0)
    X = np.random.default_rng(6).normal(size=(216, 5))
    dataset = replace(Dataset.from_arrays(X, queries=(8, 8)), one_sided=True)
    parts = split(dataset, 1)
    source = make_similarity(dataset, parts, "metric")
    D = np.linalg.norm(X[:, None] - X, axis=2)
    nearest = {a: set(parts.database[np.argsort(D[a, parts.database])][:10]) for a in parts.test}
    relevant = source.relevant(parts.test, parts.database)
    assert (relevant.sum(axis=1) == 10).all()
    assert all(set(parts.database[row]) == nearest[a] for a, row in zip(parts.test, relevant, strict=True))
    i, j = all_pairs(parts.train)
    near = source.is_similar(i, j)
    assert near.mean() == pytest.approx(10 / 199) and (near != source.is_similar(j, i)).any()
    if listed:
        assert source.natural_share == pytest.approx(near.mean())
    for draw, kind in ((source.draw_similar, True), (source.draw_dissimilar, False)):
        assert (source.is_similar(*draw(np.random.default_rng(0), 500)) == kind).all()
    both = make_similarity(Dataset.from_arrays(X, queries=(8, 8)), parts, "metric")
    assert np.array_equal(both.is_similar(i, j), near | source.is_similar(j, i))
    assert dataset.explain("metric") == "similar if the second is among the first's nearest 5 %"
    assert dataset.explain("topk") == "similar if either is among the other's nearest k"
    assert dataset.fingerprint() != replace(dataset, one_sided=False).fingerprint()
    assert dataset_from_frame(*dataset_to_frame(dataset)).one_sided


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("data", ["normal", "ties", "offset", "duplicates", "zeros"])
def test_metric_rule_equals_brute_force(metric, data):
    rng = np.random.default_rng(5)
    X = {
        "normal": rng.normal(size=(80, 6)),
        "ties": rng.integers(0, 3, (80, 3)).astype(float),
        "offset": rng.normal(size=(80, 6)) + 1e6,
        "duplicates": np.repeat(rng.normal(size=(10, 4)), 8, axis=0),
        "zeros": np.where(np.arange(80)[:, None] % 7 == 0, 0, rng.normal(size=(80, 4))),
    }[data]
    dataset = Dataset.from_arrays(X, metric=metric, queries=(8, 8))
    for how, k in ((("metric"), None), ("topk", 5)):
        parts = split(dataset, 1, train="disjoint")
        source = make_similarity(dataset, parts, how, top_k=5)
        neighbours = k or max(1, round(0.05 * len(parts.database)))
        near = either_of_two(X, parts.train, parts.database, neighbours, metric)
        i, j = all_pairs(np.arange(80))
        assert np.array_equal(source.is_similar(i, j), near[i, j])
        assert np.array_equal(source.relevant(parts.test, parts.database), near[np.ix_(parts.test, parts.database)])
        a, b = all_pairs(parts.train)
        assert source.natural_share == pytest.approx(near[a, b].mean(), abs=1e-12)
        drawn = source.draw_similar(np.random.default_rng(0), 2000)
        assert near[drawn].all() and np.isin(drawn, parts.train).all()
        assert {tuple(pair) for pair in zip(*drawn, strict=True)} <= set(zip(a[near[a, b]], b[near[a, b]], strict=True))


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("distinct", [1, 3, 40])
def test_equal_points_are_measured_once(metric, distinct, monkeypatch):
    """Among equal points every distance is a tie; all pairs of 600 in float64 would be 360,000."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(distinct, 4))[rng.integers(0, distinct, 600)].astype(np.float32)
    dataset = Dataset.from_arrays(X, metric=metric)
    parts = split(dataset, 0)
    measured = []
    apart = MetricSimilarity._distances
    monkeypatch.setattr(
        MetricSimilarity, "_distances", lambda self, i, j: (measured.append(len(i)), apart(self, i, j))[1]
    )
    source = MetricSimilarity(dataset, parts.train, parts.database)
    near = source.relevant(parts.test, parts.database)
    share = source.natural_share
    assert sum(measured) < 600 * 2 * distinct
    monkeypatch.undo()
    expected = either_of_two(X, parts.train, parts.database, source.neighbours, metric)
    assert np.array_equal(near, expected[np.ix_(parts.test, parts.database)])
    pool = expected[np.ix_(parts.train, parts.train)]
    assert share == pytest.approx((pool.sum() - np.trace(pool)) / (len(pool) * (len(pool) - 1)))


def test_whole_numbers_need_no_second_look(monkeypatch):
    X = np.random.default_rng(0).integers(0, 2, (300, 24)).astype(np.float32)
    dataset = Dataset.from_arrays(X)
    parts = split(dataset, 0)
    monkeypatch.setattr(MetricSimilarity, "_distances", None)
    source = MetricSimilarity(dataset, parts.train, parts.database)
    near = source.relevant(parts.test, parts.database)
    monkeypatch.undo()
    expected = either_of_two(X, parts.train, parts.database, source.neighbours, "l2")
    assert np.array_equal(near, expected[np.ix_(parts.test, parts.database)])


def test_hardly_any_pair_that_is_not_similar_is_not_listed(monkeypatch):
    monkeypatch.setattr(metric_module, "LISTED", 3000)
    source = source_of(Dataset.from_arrays(np.ones((300, 2))), "metric")
    assert source.natural_share == 1.0
    i, j = source.draw_similar(np.random.default_rng(0), 50)
    assert (i != j).all()


@pytest.mark.parametrize("block", first([64, 7, 1000]))
def test_metric_rule_does_not_depend_on_the_block(monkeypatch, block):
    dataset = Dataset.from_arrays(np.random.default_rng(0).normal(size=(150, 8)), queries=(5, 5))
    straight = source_of(dataset, "metric")
    grid = straight.relevant(np.arange(150), np.arange(150))
    monkeypatch.setattr(metric_module, "DISTANCES_AT_ONCE", block)
    again = source_of(dataset, "metric")
    assert np.array_equal(again.relevant(np.arange(150), np.arange(150)), grid)
    assert np.array_equal(again._similar_pairs(), straight._similar_pairs())


def test_the_last_neighbour_is_similar_and_its_pair_is_drawn():
    """The pair that defines a radius lies exactly on it: it must be inside, and among the listed pairs."""
    X = np.random.default_rng(2).normal(size=(300, 32)).astype(np.float32)
    dataset = Dataset.from_arrays(X, queries=(2, 2))
    rows = whole(300)
    source = MetricSimilarity(dataset, rows.train, rows.database, k=7)
    D = ((X[:, None].astype(np.float64) - X.astype(np.float64)) ** 2).sum(axis=2)
    seventh = np.argsort(D, axis=1)[:, 7]
    assert source.is_similar(np.arange(300), seventh).all()
    listed = {frozenset(pair) for pair in zip(*source._similar_pairs(), strict=True)}
    assert all(frozenset(pair) in listed for pair in zip(range(300), seventh.tolist(), strict=True))


def test_without_a_list_similar_pairs_are_the_same_set(monkeypatch):
    dataset = grouped(14, 2, queries=(1, 1))
    rows = whole(14)
    listed = MetricSimilarity(dataset, rows.train, rows.database, share=0.2)
    monkeypatch.setattr(metric_module, "LISTED", 0)
    rejecting = MetricSimilarity(dataset, rows.train, rows.database, share=0.2)
    wanted = kind_of(listed, True)
    assert uniform_p(rejecting.draw_similar(np.random.default_rng(1), 10_000), wanted) > 1e-4
    p = listed.natural_share
    assert abs(rejecting.natural_share - p) < 5 * np.sqrt(p * (1 - p) / 20_000)


def test_estimated_radii_say_so(monkeypatch):
    dataset = Dataset.from_arrays(np.random.default_rng(0).normal(size=(600, 3)), queries=(5, 5))
    exact = source_of(dataset, "metric")
    assert exact.note == ""
    monkeypatch.setattr(metric_module, "EXACT", 500)
    monkeypatch.setattr(metric_module, "SAMPLE", 200)
    estimated = source_of(dataset, "metric")
    assert estimated.note == "radii estimated from 200 of 590 database points"
    assert estimated.natural_share == pytest.approx(exact.natural_share, rel=0.4)
    assert estimated.natural_share != exact.natural_share
    # also where a point is asked for more neighbours than the sample holds
    assert source_of(dataset, "topk", top_k=589).natural_share > 0.9


def test_radii_of_a_large_file_are_measured_once(monkeypatch, tmp_path):
    monkeypatch.setenv("OHASH_HOME", str(tmp_path / "home"))
    for name, value in (("EXACT", 500), ("SAMPLE", 200), ("CACHED", 300)):
        monkeypatch.setattr(metric_module, name, value)
    X = np.random.default_rng(0).normal(size=(600, 3)).astype(np.float32)
    X[7] = X[300]
    np.save(tmp_path / "x.npy", X)
    in_memory = source_of(Dataset.from_arrays(X, queries=(5, 5)), "metric")

    def relevant(metric="l2"):
        mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
        source = source_of(Dataset.from_arrays(mapped, queries=(5, 5), metric=metric), "metric")
        return source.relevant(np.arange(5), source.database)

    expected = in_memory.relevant(np.arange(5), in_memory.database)
    assert not (tmp_path / "home").exists()  # what is no file cannot be known again
    np.testing.assert_array_equal(relevant(), expected)
    assert len(list((tmp_path / "home" / "cache").glob("radii-*.npy"))) == 1
    with monkeypatch.context() as patch:
        patch.setattr(MetricSimilarity, "_radii", pytest.fail)
        np.testing.assert_array_equal(relevant(), expected)
    assert (relevant("cosine") != expected).any()
    np.save(tmp_path / "x.npy", X[::-1])
    os.utime(tmp_path / "x.npy", ns=(1, 1))
    assert (relevant() != expected).any()
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("OHASH_HOME", str(tmp_path / "file"))
    np.testing.assert_array_equal(relevant(), expected)  # nowhere to keep them


@pytest.mark.parametrize("top_k", [0, 54, 10**5])
def test_too_many_neighbours_are_refused(top_k):
    dataset = grouped(60, queries=(3, 3))
    with pytest.raises(ValueError, match=rf"similar_by='topk' needs 1 to 53 neighbours, got {top_k}"):
        source_of(dataset, "topk", top_k=top_k)


# -- drawing by rejection ------------------------------------------------------------------------------------------
