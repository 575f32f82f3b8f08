"""Exact neighbours, Hamming search, and recall, against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.core.codes import pack
from ohash.core.rows import RowView
from ohash.evaluation import neighbours
from ohash.evaluation.neighbour_recall import Cut, iter_recall, recall_at_k, recall_by_distances, recall_with_reranking
from ohash.evaluation.neighbours import exact_neighbours, iter_exact_neighbours
from ohash.evaluation.packed_codes import iter_search, search
from ohash.runtime.progress import drain
from tests.evaluation import reference
from tests.evaluation.strategies import cases


def nearness(metric, q, X):
    if metric == "l2":
        return -((X - q) ** 2).sum(axis=1)
    if metric == "cosine":
        return X @ q / (np.linalg.norm(X, axis=1) * np.linalg.norm(q))
    return X @ q


@pytest.mark.parametrize("metric", ["cosine", "l2", "dot"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_neighbours_equal_brute_force(metric, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(3, 1, (300, 7)).astype(dtype), rng.normal(3, 1, (40, 7)).astype(dtype)
    brute = [np.argsort(-nearness(metric, q.astype(float), X.astype(float)), kind="stable")[:10] for q in Q]
    np.testing.assert_array_equal(exact_neighbours(Q, X, 10, metric), brute)
    rows = rng.permutation(300)[:90]
    few = [np.argsort(-nearness(metric, q.astype(float), X[rows].astype(float)), kind="stable")[:10] for q in Q]
    monkeypatch.setattr(neighbours, "BLOCK_BYTES", 7 * 40 * 4)  # 3 or 7 items at a time: fewer than k, too
    shares, result = run(iter_exact_neighbours(Q, RowView(X, rows), 10, metric))
    np.testing.assert_array_equal(result, few)
    assert len(shares) > 12 and shares == sorted(shares)
    np.testing.assert_array_equal(exact_neighbours(Q, X, 10, metric), brute)


def run(work):
    """What a generator yields, and what it returns."""
    shares = []
    while True:
        try:
            shares.append(next(work))
        except StopIteration as finished:
            return shares, finished.value


@pytest.mark.parametrize("scale", [1e-30, 1e25])
@pytest.mark.parametrize("metric", ["cosine", "l2", "dot"])
def test_very_small_and_very_large_numbers(metric, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)).astype(np.float32) * np.float32(scale)
    brute = [np.argsort(-nearness(metric, q, X.astype(float)), kind="stable")[:7] for q in X[:9].astype(float)]
    np.testing.assert_array_equal(exact_neighbours(X[:9], X, 7, metric), brute)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "float16", "bool"])
def test_bytes_and_halves_are_measured_exactly(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if dtype == "bool" else 100, (300, 12)).astype(dtype)
    brute = [np.argsort(-nearness("l2", q, X.astype(float)), kind="stable")[:9] for q in X[:20].astype(float)]
    np.testing.assert_array_equal(exact_neighbours(X[:20], X, 9, "l2"), brute)


def test_more_ties_than_can_be_held_are_taken_query_by_query(monkeypatch):
    monkeypatch.setattr(neighbours, "MAX_CANDIDATES", 50)
    X = np.full((200, 3), 0.3, np.float32)
    assert (exact_neighbours(X[:5], X, 4, "l2", query_rows=np.arange(5))[4] == np.arange(4)).all()


def test_float32_neighbours_far_from_the_origin_keep_their_digits():
    """‖x‖² is 3e9 here, so that a plain float32 expansion of ‖q - x‖² has an error of hundreds."""
    rng = np.random.default_rng(0)
    X = (rng.normal(0, 1, (400, 4)) + 3e4).astype(np.float32)
    brute = [np.argsort(-nearness("l2", q, X.astype(float)), kind="stable")[:5] for q in X[:20].astype(float)]
    np.testing.assert_array_equal(exact_neighbours(X[:20], X, 5, "l2"), brute)


def test_a_query_does_not_find_itself_and_ties_go_by_index():
    X = np.array([[1.0, 0], [0, 1], [1, 0], [1, 0]])
    assert exact_neighbours(X[:1], X, 2, "l2").tolist() == [[0, 2]]
    assert exact_neighbours(X[:1], X, 3, "l2", query_rows=[0]).tolist() == [[2, 3, 1]]


@pytest.mark.parametrize("metric", ["cosine", "l2", "dot"])
def test_many_duplicates_at_the_last_place_go_by_index(metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 9))[rng.integers(0, 5, 400)].astype(np.float32)
    brute = [np.argsort(-nearness(metric, q, X.astype(float)).round(9), kind="stable")[:7] for q in X[:9].astype(float)]
    np.testing.assert_array_equal(exact_neighbours(X[:9], X, 7, metric), brute)


@settings(max_examples=40, deadline=None)
@given(cases(), st.integers(1, 40))
def test_search_equals_a_stable_sort(case, k):
    k = min(k, len(case.db_labels))
    indices, distances = search(case.queries, case.database, k, case.combine)
    for at in range(len(case.query_labels)):
        ranked_by = reference.keys(case.queries[:, at], case.database, case.combine)
        order = reference.stable(ranked_by)[:k]
        assert indices[at].tolist() == order
        assert distances[at].tolist() == [ranked_by[item][0] for item in order]
    parts = list(iter_search(case.queries, case.database, k, case.combine, block=1))
    np.testing.assert_array_equal(np.concatenate([part[0] for part in parts]), indices)


@settings(max_examples=30, deadline=None)
@given(cases(n=st.integers(2, 6), r=st.sampled_from([1, 2, 9])), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_recall_equals_the_mean_over_all_orders(case, k, seed):
    n = len(case.db_labels)
    k = min(k, n)
    rng = np.random.default_rng(seed)
    exact = np.array([rng.permutation(n)[:k] for _ in case.query_labels])
    recalls = recall_with_reranking(case.queries, case.database, exact, k, (1, 2, 4), case.combine)
    for factor in (1, 2, 4):
        brute = [
            np.mean([len(set(order[: factor * k]) & set(exact[at])) / k for order in reference.orders(ranked_by)])
            for at in range(len(exact))
            for ranked_by in [reference.keys(case.queries[:, at], case.database, case.combine)]
        ]
        assert recalls[factor] == pytest.approx(np.mean(brute), abs=1e-12)
    assert recall_at_k(case.queries, case.database, exact, k, case.combine) == recalls[1]


@pytest.mark.parametrize("own", [False, True])
def test_recall_by_distances_is_that_of_codes_with_these_distances(own):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 8, (60, 1)).astype(np.uint8)
    queries, rows = codes[:10], np.where(np.arange(10) % 3, np.arange(10), -1) if own else None
    exact = np.array([rng.permutation(np.arange(10, 60))[:9] for _ in queries])
    cuts = [Cut(4, 4), Cut(9, 9), Cut(4, 16), Cut(4, 59), Cut(4, 60)]
    D = np.bitwise_count(queries ^ codes.T).astype(np.float32)
    by_codes = drain(iter_recall(queries, codes, exact, cuts, rows))
    np.testing.assert_allclose(recall_by_distances(D, exact, cuts, rows), by_codes, atol=1e-12)
    assert 0 < by_codes[0].mean() < by_codes[2].mean() < by_codes[3].min() and (by_codes[4] == 1).all()


def test_re_ranking_by_float_vectors_really_gives_that_recall():
    """Search c k codes, sort them by the float distance, keep k, compare: with distinct distances nothing is random."""
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(500, 8)), rng.normal(size=(20, 8))
    W = rng.normal(size=(8, 256))
    codes, query_codes = pack(X @ W >= 0), pack(Q @ W >= 0)
    exact = exact_neighbours(Q, X, 10, "cosine")
    recalls = recall_with_reranking(query_codes, codes, exact, 10)
    assert list(recalls) == [1, 2, 4, 16]
    for factor, recall in recalls.items():
        shares = []
        for tie_breaker in range(20):
            order = np.random.default_rng(tie_breaker).permutation(500)
            candidates = order[search(query_codes, codes[order], 10 * factor)[0]]
            for at, items in enumerate(candidates):
                kept = items[np.argsort(-nearness("cosine", Q[at], X[items]))][:10]
                shares.append(len(set(kept) & set(exact[at])) / 10)
        assert recall == pytest.approx(np.mean(shares), abs=0.01)
    assert recalls[1] < recalls[2] < recalls[4] <= recalls[16]


def test_recall_leaves_the_query_itself_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    codes = pack(X @ rng.normal(size=(5, 40)) >= 0)
    rows = np.arange(10)
    exact = exact_neighbours(X[:10], X, 5, "cosine", query_rows=rows)
    recall = recall_at_k(codes[:10], codes, exact, 5, query_rows=rows)
    alone = [
        recall_at_k(codes[at : at + 1], np.delete(codes, at, axis=0), exact[at : at + 1] - (exact[at : at + 1] > at), 5)
        for at in rows
    ]
    assert recall == pytest.approx(np.mean(alone), abs=1e-12)
    farthest = search(codes[:10], codes, 60)[0][:, -5:]
    assert recall_with_reranking(codes[:10], codes, farthest, 5, (12,), query_rows=rows)[12] == 1.0
    assert recall_with_reranking(codes[:10], codes, farthest, 5, (11,), query_rows=rows)[11] < 0.3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exact_neighbours(np.ones((1, 2)), np.ones((3, 2)), 4), r"k must be at most 3.*got 4"),
        (lambda: exact_neighbours(np.ones((1, 2)), np.ones((3, 2)), 3, query_rows=[0]), r"k must be at most 2"),
        (lambda: exact_neighbours(np.ones((1, 3)), np.ones((3, 2)), 1), r"X_query must have the 2 columns of X_db"),
        (lambda: exact_neighbours([[np.nan]], [[1.0]], 1), r"X_query must be finite"),
        (lambda: exact_neighbours([[1.0]], [[1.0]], 1, "l1"), r"metric must be 'cosine', 'l2' or 'dot', got 'l1'"),
        (lambda: search(np.uint8([[0]]), np.uint8([[0]]), 2), r"k must be at most the number of db_codes, 1, got 2"),
        (lambda: recall_at_k(np.uint8([[0]]), np.uint8([[0]]), [[0]], 2), r"exact must hold.*2 or more.*; make it"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
