"""Datasets of one's own, what is refused and how, and the seeded split."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from ohash.streams.data_split import split
from ohash.streams.dataset import Dataset, default_queries
from tests.streams.example_datasets import grouped

X = np.random.default_rng(0).normal(size=(30, 3))


@given(n=st.integers(4, 400), seed=st.integers(0, 2**32 - 1), train=st.sampled_from(["database", "disjoint"]))
def test_parts_are_disjoint_complete_and_sorted(n, seed, train):
    dataset = Dataset.from_arrays(np.arange(n)[:, None])
    parts = split(dataset, seed, train=train)
    rows = [parts.database, parts.validation, parts.test] + ([parts.train] if train == "disjoint" else [])
    together = np.concatenate(rows)
    assert np.array_equal(np.sort(together), np.arange(n))
    assert all((np.diff(part) > 0).all() for part in rows)
    assert (len(parts.validation), len(parts.test)) == dataset.queries
    assert parts.database_seen == (train == "database")
    if train == "database":
        assert np.array_equal(parts.train, parts.database)
    else:
        assert abs(len(parts.train) - len(parts.database)) <= 1


def test_the_split_is_seeded():
    dataset = grouped(200)
    first, again, other = split(dataset, 1), split(dataset, 1), split(dataset, 2)
    assert np.array_equal(first.test, again.test) and np.array_equal(first.validation, again.validation)
    assert not np.array_equal(first.test, other.test)


def test_queries_do_not_change_with_the_training_part():
    dataset = grouped(200)
    assert np.array_equal(split(dataset, 1).test, split(dataset, 1, train="disjoint").test)


def test_a_fixed_test_set_stays_out_of_everything_else():
    fixed = np.arange(20, 50)
    dataset = Dataset(key="f", title="f", X=np.eye(100, 3), queries=(7, 10), fixed_test=fixed)
    for seed in range(5):
        parts = split(dataset, seed)
        assert len(parts.test) == 10 and np.isin(parts.test, fixed).all()
        assert not np.isin(np.concatenate([parts.train, parts.database, parts.validation]), fixed).any()
        assert (len(parts.validation), len(parts.database)) == (7, 63)


def test_bad_training_part_is_named():
    with pytest.raises(ValueError, match="seed must be an integer >= 0, got -1"):
        split(grouped(30, 3), -1)
    with pytest.raises(ValueError, match="train must be 'database' or 'disjoint', got 'half'"):
        split(grouped(), 0, train="half")


@given(st.integers(4, 10**6))
def test_default_queries_always_leave_a_database(n):
    a, b = default_queries(n)
    assert 1 <= a <= 500 and 1 <= b <= 500 and a + b < n - 1


BAD = [
    ({"X": [1.0, 2.0]}, r"X must be a non-empty matrix \(n, d\), got shape \(2,\)"),
    ({"X": [["a", "b"]]}, "X must hold real numbers, got dtype"),
    ({"X": [[1.0, 2.0], [1.0]]}, "X must be a matrix"),
    ({"X": np.ones((3, 2))}, r"X must have at least 4 rows .*, got 3"),
    ({"X": np.ones((1, 2))}, r"X must have at least 4 rows .*, got 1"),
    ({"X": X, "queries": (20, 9)}, r"queries must be two counts >= 1 that leave .* of the 30 rows, got \(20, 9\)"),
    ({"X": np.where(np.arange(30)[:, None] == 7, np.nan, X)}, r"X must be finite, got nan at row 7, column 0"),
    ({"X": np.where(np.arange(30)[:, None] == 9, [0, np.inf, 0], X)}, r"X must be finite, got inf at row 9, column 1"),
    (
        {"X": np.where(np.arange(30)[:, None] == 9, [0, -1e23, 0], X)},
        r"X must .* 1e\+18, got -1e\+23 at row 9, column 1",
    ),
    ({"X": X, "labels": np.linspace(0, 1, 30)}, r"labels must be classes, .* got 0.0344828 at row 1; cut"),
    ({"queries": (0, 5)}, r"queries must be two counts >= 1 .* got \(0, 5\)"),
    ({"queries": (15, 14)}, r"queries must be two counts >= 1 .* got \(15, 14\)"),
    ({"metric": "hamming"}, "metric must be one of l2, cosine, dot, got 'hamming'"),
    (
        {"X": np.ma.masked_equal(np.arange(90.0).reshape(30, 3), 7)},
        "X must be .* masked value at row 2, column 1; fill",
    ),
    ({"X": scipy.sparse.csr_matrix(np.eye(30))}, r"X must be .* got a sparse csr_matrix; give X\.toarray\(\)"),
    ({"labels": np.ma.masked_equal(np.arange(30), 4)}, "labels must be .* masked value at row 4; fill"),
    ({"ids": np.ma.masked_equal(np.arange(30), 4)}, "ids must be .* masked value at row 4; fill"),
    ({"time": np.ma.masked_equal(np.arange(30), 4)}, "time must be .* masked value at row 4; fill"),
    ({"pairs": (np.ma.masked_equal([0, 1], 1), [1, 2])}, "pairs must be .* masked value at row 1; fill"),
    ({"pairs": np.ma.masked_equal([[0, 1], [2, 9]], 9)}, "pairs must be .* masked value at row 1; fill"),
    ({"labels": np.zeros(29)}, r"labels must have one entry .* per row of X, 30, got shape \(29,\)"),
    ({"labels": 3}, r"labels must have one entry .* got shape \(\)"),
    ({"labels": np.zeros((30, 2, 2))}, r"labels must have one entry .* got shape \(30, 2, 2\)"),
    ({"labels": np.zeros(30)}, "labels must have at least 2 classes, got 1"),
    ({"labels": np.r_[np.nan, np.ones(29)]}, "labels must be finite, got NaN or infinity"),
    ({"labels": np.full((30, 2), 2)}, r"labels of two dimensions must be flags \(0 or 1\)"),
    ({"labels": np.ones((30, 1), bool)}, "labels must have at least 2 classes, got 1"),
    ({"labels": ["a", None, 3] * 10}, "labels must be of one kind, .* got a mixture of NoneType, int, str"),
    ({"ids": ["a"] * 30}, "ids must be distinct, got 'a' again at row 1"),
    ({"ids": ["a", "b"]}, r"ids must have one entry per row of X, 30, got shape \(2,\)"),
    ({"ids": ["a", "b"], "pairs": (["a"], ["b"])}, r"ids must have one entry per row of X, 30, got shape \(2,\)"),
    ({"time": np.zeros(29)}, r"time must have one entry per row of X, 30, got shape \(29,\)"),
    ({"time": np.r_[np.nan, np.zeros(29)]}, "time must be finite, got NaN or infinity"),
    ({"time": ["soon"] * 30}, "time must be numbers, got dtype <U4"),
    ({"thumbnails": np.zeros((3, 8, 8), np.uint8)}, "thumbnails must have one entry per row of X, 30, got 3"),
    ({"pairs": ([0], [30])}, "j of pairs must be row numbers, integers 0 to 29, got 30 at pair 0"),
    ({"pairs": ([-1], [3])}, "i of pairs must be row numbers, integers 0 to 29"),
    ({"pairs": ([0.5], [1.0])}, "i of pairs must be row numbers, integers 0 to 29"),
    ({"pairs": (["a"], ["b"])}, "i of pairs must be row numbers.*give ids"),
    ({"pairs": ([0, 1], [1])}, "pairs must be .* equally long and not empty"),
    ({"pairs": ([], [])}, "pairs must be .* not empty"),
    ({"pairs": ([0],)}, "pairs must be .* got 1 of shape"),
    ({"pairs": ([0], [1], [1], [0.5], [2])}, "pairs must be .* got 5 of shape"),
    ({"pairs": ([[0, 1]], [[1, 2]])}, r"pairs must be .* of shape \(1, 2\)"),
    ({"pairs": (None, [1])}, "pairs must have i and j, got None"),
    ({"pairs": ([0, 1], [0, 1])}, "pairs must be of two different points, got only pairs of a point with itself"),
    ({"pairs": ([0, 1], [1, 2], [0, -1])}, r"s of pairs must be \+1 .* and -1 .*, or 1 and 0, got -1, 0 and 1 mixed"),
    ({"pairs": ([0, 1], [1, 2], [1, 3])}, r"s of pairs must be .* got 3 at pair 1"),
    ({"pairs": ([0, 1], [1, 2], np.array(["+1", "-1"], object))}, r"s of pairs must be \+1"),
    ({"pairs": ([0, 1], [1, 2], np.array([None, 1], object))}, r"s of pairs must be \+1"),
    ({"pairs": ([0], [1], [1], [np.nan])}, "time of pairs must be finite"),
    ({"pairs": ([0], [1], [1], ["now"])}, "time of pairs must be numbers"),
    (
        {"pairs": (["x"], ["a"]), "ids": [f"p{n}" for n in range(30)]},
        "i of pairs must be known ids, got 'x', which is not among ids$",
    ),
]


@pytest.mark.parametrize(("values", "message"), BAD)
def test_bad_input_is_named(values, message):
    with pytest.raises(ValueError, match=message):
        Dataset.from_arrays(**{"X": X, **values})


def test_text_labels_become_named_classes():
    dataset = Dataset.from_arrays(X, labels=["cat", "dog", "ape"] * 10)
    assert dataset.class_names == ("ape", "cat", "dog")
    assert dataset.labels[:3].tolist() == [1, 2, 0]


def test_pairs_by_ids_equal_pairs_by_rows():
    names = [f"p{n}" for n in range(30)][::-1]
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, 30, (2, 100))
    by_row = Dataset.from_arrays(X, pairs=(i, j)).pairs
    by_id = Dataset.from_arrays(X, pairs=([names[a] for a in i], [names[b] for b in j]), ids=names).pairs
    assert np.array_equal(by_row.i, by_id.i) and np.array_equal(by_row.j, by_id.j)
    assert (by_row.i != by_row.j).all() and len(by_row) == (i != j).sum()


def test_ones_and_zeros_are_signs_too():
    ones = Dataset.from_arrays(X, pairs=([0, 1, 2], [1, 2, 3], [1, 0, 1])).pairs
    assert ones.s.tolist() == [1, -1, 1]
    assert Dataset.from_arrays(X, pairs=([0, 1], [1, 2], [True, False])).pairs.s.tolist() == [1, -1]


def test_clicks_may_have_a_time_without_signs():
    signed = Dataset.from_arrays(X, pairs=([0, 1, 2], [1, 1, 3], [1, 1, 1], [3.0, 2.0, 1.0])).pairs
    plain = Dataset.from_arrays(X, pairs=([0, 1, 2], [1, 1, 3], None, [3.0, 2.0, 1.0])).pairs
    for pairs in (signed, plain):
        assert pairs.s is None and pairs.time.tolist() == [3.0, 1.0] and pairs.i.tolist() == [0, 2]


def test_what_similar_can_mean():
    pairs = ([0], [1])
    assert Dataset.from_arrays(X).similarities == ("metric", "topk")
    assert Dataset.from_arrays(X, labels=np.arange(30) % 2, pairs=pairs).similarities[:2] == ("clicks", "label")
    assert Dataset.from_arrays(X, pairs=([0, 1], [1, 2], [1, -1])).similarities[0] == "pairs"


def test_fingerprint_follows_the_content():
    def prints(**more):
        return Dataset.from_arrays(**{"X": X, **more}).fingerprint()

    changed = X.copy()
    changed[3, 1] += 1e-9
    labels = np.arange(30) % 2
    fingerprints = [
        prints(), prints(X=changed), prints(X=X.astype(np.float32)), prints(X=X.reshape(15, 6)), prints(labels=labels),
        prints(labels=1 - labels), prints(pairs=([0], [1])), prints(pairs=([1], [0])),
        prints(pairs=([0, 1], [1, 2], [1, -1])),
    ]  # fmt: skip
    assert len(set(fingerprints)) == len(fingerprints)
    assert prints() == fingerprints[0] and len(fingerprints[0]) == 16
