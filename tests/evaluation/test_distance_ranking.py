"""Ranking by real distances: equal to the Hamming record where distances are Hamming's, and to the literal twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ohash
from ohash.evaluation.distance_ranking import iter_float_scores, iter_ranking
from ohash.runtime.progress import drain
from tests.evaluation.reference import average_precision, hit, orders, precision, reciprocal_rank
from tests.evaluation.strategies import cases


def ranked(D, relevant, **options):
    D = np.asarray(D, np.float32)
    *_, scores = iter_ranking(lambda a, b: D[a:b], *D.shape, relevant=relevant, **options)
    return scores


@given(case=cases(), hide=st.booleans(), block=st.sampled_from([None, 1, 3]))
@settings(max_examples=60, deadline=None)
def test_hamming_distances_give_the_hamming_record(case, hide, block):
    queries, database = case.queries[:1], case.database[:1]
    D = np.bitwise_count(queries[0][:, None] ^ database[0]).sum(axis=2, dtype=int)
    relevant = case.query_labels[:, None] == case.db_labels
    exclude = np.arange(D.shape[1]) % 3 == 1 if hide else None
    expected = ohash.retrieval(queries, database, relevant=relevant, exclude=exclude, k=(1, 3, 100), r=case.r)
    scores = ranked(D / 7 - 1, relevant, exclude=exclude, k=(1, 3, 100), block=block)
    for name in (
        "map",
        "map_low",
        "map_high",
        "mrr",
        "map_at_k",
        "precision_at_k",
        "hit_at_k",
        "ndcg_at_k",
        "auc",
        "ap",
    ):
        np.testing.assert_equal(getattr(scores, name), getattr(expected, name), err_msg=name)
    assert (scores.queries, scores.excluded) == (expected.queries, expected.excluded)
    assert np.isnan([scores.precision_radius, scores.recall_radius, scores.empty_ball]).all()


@given(
    D=st.lists(st.sampled_from([-1.5, 0.0, 0.25, 3.0]), min_size=1, max_size=6),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_every_order_that_ties_allow(D, data):
    relevant = data.draw(st.lists(st.booleans(), min_size=len(D), max_size=len(D)).filter(any))
    scores = ranked([D], np.array([relevant]), k=(1, 2))
    every = list(orders(D))
    for name, of in (
        ("map", lambda order: average_precision(order, relevant)),
        ("mrr", lambda order: reciprocal_rank(order, relevant)),
    ):
        assert getattr(scores, name) == pytest.approx(np.mean([of(order) for order in every]))
    for k in (1, 2):
        assert scores.precision_at_k[k] == pytest.approx(np.mean([precision(order, relevant, k) for order in every]))
        assert scores.hit_at_k[k] == pytest.approx(np.mean([hit(order, relevant, k) for order in every]))


def test_the_curve_is_over_shares_of_the_database():
    scores = ranked([np.arange(10.0)], [[0, 1, 9]])
    np.testing.assert_array_equal(scores.curve.radius, np.arange(101))
    assert scores.curve.recall[[0, 9, 10, 20, 99, 100]].tolist() == pytest.approx([0, 0, 1 / 3, 2 / 3, 2 / 3, 1])
    assert scores.curve.precision[[10, 20, 100]].tolist() == pytest.approx([1, 1, 0.3])


@pytest.mark.parametrize("D", [np.zeros((1, 2)), np.array([[0.0, np.nan, 1.0]])])
def test_bad_distances_are_refused(D):
    with pytest.raises(ValueError, match="distances must have shape"):
        list(iter_ranking(lambda a, b: D, 1, 3, relevant=[[0]]))


@given(n=st.integers(2, 40), seed=st.integers(0, 1000), hide=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_float_vectors_are_scored_as_any_other_ranking(n, seed, hide):
    rng = np.random.default_rng(seed)
    X, queries = rng.normal(size=(n, 3)), rng.normal(size=(4, 3))
    relevant, exclude = rng.random((4, n)) < 0.3, (rng.random((4, n)) < 0.3 if hide else None)
    scores = drain(iter_float_scores(queries, X, relevant, "l2", exclude=exclude))
    D = ((queries[:, None] - X) ** 2).sum(axis=2)
    for row in range(4):
        shown = np.ones(n, bool) if exclude is None else ~exclude[row]
        if not (relevant[row] & shown).any():
            assert all(np.isnan(each[row]) for each in scores.values())
            continue
        one = ranked(D[[row]], relevant[[row]], exclude=None if exclude is None else exclude[[row]], k=(10,))
        expected = {"map": one.map, "hit_10": one.hit_at_k[10], "mrr": one.mrr, "ndcg_10": one.ndcg_at_k[10]}
        for name, value in {**expected, "auc_later": one.auc}.items():
            assert scores[name][row] == pytest.approx(value, nan_ok=True), name
