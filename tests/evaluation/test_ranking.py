"""Balls, curves, forms of relevance, hidden items, bad input."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings

from ohash import mean_ap, retrieval
from ohash.core.codes import Codes, pack
from tests.evaluation import reference
from tests.evaluation.strategies import cases


@settings(max_examples=30, deadline=None)
@given(cases())
def test_balls_and_the_curve_equal_the_literal_twin(case):
    radius = min(2, case.r)
    scores = retrieval(
        case.queries, case.database, case.query_labels, case.db_labels, combine=case.combine, radius=radius, r=case.r
    )
    largest = case.r * (len(case.queries) if case.combine == "sum" else 1)
    assert scores.curve.radius.tolist() == list(range(largest + 1))
    balls = []
    for at, label in enumerate(case.query_labels):
        relevant = case.db_labels == label
        if relevant.any():
            D = np.array([key[0] for key in reference.keys(case.queries[:, at], case.database, case.combine)])
            within = [rho >= D for rho in range(largest + 1)]
            balls.append([(ball.sum(), (relevant & ball).sum(), relevant.sum()) for ball in within])
    if not balls:
        assert np.isnan(scores.precision_radius)
        return
    size, hits, R = np.moveaxis(np.array(balls, dtype=float), 2, 0)
    share = hits / np.where(size > 0, size, 1)
    np.testing.assert_allclose(scores.curve.macro_precision, share.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(scores.curve.macro_recall, (hits / R).mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(scores.curve.precision, hits.sum(axis=0) / np.maximum(size.sum(axis=0), 1), atol=1e-12)
    np.testing.assert_allclose(scores.curve.recall, hits.sum(axis=0) / R[:, 0].sum(), atol=1e-12)
    assert scores.precision_radius == pytest.approx(share[:, radius].mean(), abs=1e-12)
    assert scores.recall_radius == pytest.approx((hits / R)[:, radius].mean(), abs=1e-12)
    assert scores.empty_ball == pytest.approx((size[:, radius] == 0).mean())


def test_an_empty_ball_has_precision_0_and_is_counted():
    query, database = np.uint8([[0], [255]]), np.uint8([[0b1], [0b1111]])
    scores = retrieval(query, database, [0, 0], [0, 1], radius=1)
    assert (scores.precision_radius, scores.recall_radius, scores.empty_ball) == (0.5, 0.5, 0.5)


def test_a_radius_beyond_r_holds_everything():
    scores = retrieval(np.uint8([[0]]), np.uint8([[255], [1]]), [0], [0, 1], radius=99)
    assert (scores.radius, scores.precision_radius, scores.recall_radius) == (99, 0.5, 1.0)


def test_queries_without_relevant_items_are_excluded_and_counted():
    codes = np.uint8([[0], [1], [3]])
    scores = retrieval(codes, codes, [0, 7, 8], [0, 0, 1], k=2)
    assert (scores.queries, scores.excluded) == (1, 2)
    assert np.isnan(scores.ap).tolist() == [False, True, True]
    assert scores.n_relevant.tolist() == [2, 0, 0]
    assert scores.map == scores.ap[0] == 1.0
    nothing = retrieval(codes, codes, [7, 7, 7], [0, 0, 1], k=2)
    assert np.isnan([nothing.map, nothing.map_at_k[2], nothing.mrr, nothing.precision_radius]).all()
    assert nothing.queries == 0
    assert np.isnan(mean_ap(codes, codes, [7, 7, 7], [0, 0, 1]))


def test_distances_beyond_127_and_255_are_right():
    """Codes of 512 bits at distances 0, 130, 300, 512: int8 and uint8 counters would put them out of order."""
    bits = np.arange(512)[None, :] < np.array([0, 130, 300, 512])[:, None]
    database = pack(bits)
    scores = retrieval(database[:1], database, [0], [1, 0, 1, 1])
    assert scores.map == pytest.approx(1 / 2)
    assert np.flatnonzero(np.diff(scores.curve.macro_recall)).tolist() == [129]
    assert np.flatnonzero(np.diff(scores.curve.macro_precision)).tolist() == [129, 299, 511]


def test_relevance_may_be_given_in_any_form():
    rng = np.random.default_rng(0)
    queries, database = rng.integers(0, 256, (5, 2), dtype=np.uint8), rng.integers(0, 256, (21, 2), dtype=np.uint8)
    relevant = rng.random((5, 21)) < 0.3
    lists = [np.flatnonzero(row).tolist() for row in relevant]
    wanted = retrieval(queries, database, relevant=relevant).ap
    literal = [
        reference.tie_aware_ap(reference.keys(queries[at : at + 1], database[None], "min"), list(relevant[at]))
        for at in range(5)
    ]
    np.testing.assert_allclose(wanted, literal, atol=1e-13)
    for form in (pack(relevant), lists, list(map(np.array, lists)), scipy.sparse.csr_matrix(relevant)):
        np.testing.assert_array_equal(retrieval(queries, database, relevant=form).ap, wanted)
    np.testing.assert_array_equal(retrieval(queries, database, relevant=np.asfortranarray(relevant)).ap, wanted)


def test_several_labels_are_relevant_if_they_share_one():
    rng = np.random.default_rng(0)
    queries, database = rng.integers(0, 256, (5, 2), dtype=np.uint8), rng.integers(0, 256, (20, 2), dtype=np.uint8)
    query_labels, db_labels = rng.random((5, 6)) < 0.3, rng.random((20, 6)) < 0.3
    shared = (query_labels.astype(int) @ db_labels.T.astype(int)) > 0
    wanted = retrieval(queries, database, relevant=shared).ap
    np.testing.assert_array_equal(retrieval(queries, database, query_labels, db_labels).ap, wanted)
    np.testing.assert_array_equal(retrieval(queries, database, query_labels * 1, db_labels * 1).ap, wanted)


def test_labels_may_be_many_negative_or_text():
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 256, (900, 1), dtype=np.uint8), rng.integers(-300, 300, 900)
    wanted = retrieval(codes, codes, relevant=labels[:, None] == labels[None]).map
    assert retrieval(codes, codes, labels, labels).map == wanted
    assert retrieval(codes, codes, labels.astype(str), labels.astype(str)).map == wanted


@pytest.mark.parametrize("ties", ["expected", "stable"])
@pytest.mark.parametrize("T", [1, 3])
def test_hidden_items_are_as_if_they_were_not_in_the_database(ties, T):
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 4, (T, 12, 1), dtype=np.uint8), np.arange(12) % 5 // 2
    own = retrieval(codes, codes, labels, labels, query_rows=np.arange(12), ties=ties, k=(3, 12))
    masked = retrieval(codes, codes, labels, labels, exclude=np.eye(12, dtype=bool), ties=ties, k=(3, 12))
    for at in range(12):
        others = np.delete(np.arange(12), at)
        alone = retrieval(codes[:, at : at + 1], codes[:, others], labels[at : at + 1], labels[others], ties=ties, k=3)
        assert own.ap[at] == masked.ap[at] == pytest.approx(alone.ap[0], abs=1e-13)
    np.testing.assert_array_equal(own.curve.precision, masked.curve.precision)
    assert own.precision_at_k[12] == pytest.approx(np.mean([(labels == y).sum() - 1 for y in labels]) / 11)


def test_items_hidden_from_all_queries_and_queries_that_are_not_in_the_database():
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 256, (30, 1), dtype=np.uint8), rng.integers(0, 3, 30)
    seen = np.arange(30) < 20
    hidden = retrieval(codes, codes, labels, labels, exclude=~seen)
    fewer = retrieval(codes, codes[seen], labels, labels[seen])
    np.testing.assert_allclose(hidden.ap, fewer.ap, atol=1e-13)
    nowhere = retrieval(codes, codes, labels, labels, query_rows=np.full(30, -1))
    np.testing.assert_array_equal(nowhere.ap, retrieval(codes, codes, labels, labels).ap)


def test_inputs_are_not_changed_and_may_be_read_only_and_strided():
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 256, (60, 2), dtype=np.uint8), rng.integers(0, 3, 30)
    strided, relevant = codes[::2], labels[:, None] == labels[None]
    relevant.flags.writeable = codes.flags.writeable = False
    copies = strided.copy(), relevant.copy()
    scores = retrieval(strided, strided, relevant=relevant, query_rows=np.arange(30))
    assert scores.map == retrieval(copies[0], copies[0], relevant=copies[1], query_rows=np.arange(30)).map
    np.testing.assert_array_equal(relevant, copies[1])


def test_codes_remember_their_length():
    codes = Codes(np.uint8([[0], [1]]), 5, 0)
    assert len(retrieval(codes, codes, [0, 0], [0, 0]).curve.radius) == 6
    assert len(retrieval(np.asarray(codes), np.asarray(codes), [0, 0], [0, 0]).curve.radius) == 9


GOOD = {"query_codes": np.zeros((2, 1), np.uint8), "db_codes": np.zeros((3, 1), np.uint8)}
LABELS = {"query_labels": [0, 1], "db_labels": [0, 1, 1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query_codes": np.zeros((2, 1))}, r"query_codes must be packed codes.*float64.*np.packbits\(bits"),
        ({"db_codes": np.zeros((0, 1), np.uint8)}, r"db_codes must be packed codes.*got shape \(0, 1\)"),
        ({"db_codes": np.zeros((3, 2), np.uint8)}, r"query_codes and db_codes.*\(2, 1\) and \(3, 2\); encode both"),
        ({"db_codes": np.zeros((2, 3, 1), np.uint8)}, r"the same number of models and bytes"),
        ({"combine": "max"}, r"combine must be one of 'min_sum', 'min', 'sum', got 'max'"),
        ({"ties": "best"}, r"ties must be 'expected' or 'stable', got 'best'"),
        ({"k": 0}, r"k must be an integer >= 1, got 0"),
        ({"k": (10, 2.5)}, r"k must be an integer, got 2.5"),
        ({"radius": -1}, r"radius must be an integer >= 0, got -1"),
        ({"r": 9}, r"r must be in \[1, 8\] for codes of 1 bytes, got 9"),
        ({"db_labels": [0, 1]}, r"db_labels must hold one label for each of the 3 codes.*\(2,\)"),
        ({"query_labels": [0.5, 1.0]}, r"query_labels must hold one label.*float64"),
        ({"query_labels": [[True], [False]]}, r"query_labels and db_labels must be of one kind"),
        ({"query_labels": [[2], [0]], "db_labels": [[1], [0], [0]]}, r"query_labels as a matrix must hold only False"),
        ({"db_labels": None}, r"relevance must be given once, got query_labels; pass"),
        ({"relevant": np.ones((2, 3), bool)}, r"got query_labels, db_labels, relevant; pass"),
        ({"query_labels": None, "db_labels": None}, r"got nothing; pass query_labels and db_labels, or relevant"),
        ({"exclude": np.ones((3, 2), bool)}, r"exclude must be a boolean matrix \(2, 3\).*\(3, 2\)"),
        ({"query_rows": [0]}, r"query_rows must be an integer vector \(2,\)"),
        ({"query_rows": [0, 3]}, r"query_rows must lie in 0 to 2, or be -1.*got 3"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        retrieval(**{**GOOD, **LABELS, **change})


@pytest.mark.parametrize(
    ("relevant", "message"),
    [
        ([[0]], r"relevant must hold one list for each of the 2 queries, got 1"),
        ([[0], [3]], r"relevant\[1\] must hold rows of the database, 0 to 2, got 3 to 3"),
        ([[0], [0.5]], r"relevant\[1\] must be a list of database rows"),
        (np.ones((2, 3)), r"relevant must be a boolean matrix \(2, 3\), its packed bits.*float64"),
        (scipy.sparse.csr_matrix((3, 2)), r"relevant must have shape \(2, 3\), got a sparse matrix"),
    ],
)
def test_bad_relations_are_named(relevant, message):
    with pytest.raises(ValueError, match=message):
        retrieval(**GOOD, relevant=relevant)


def test_codes_of_different_length_are_refused():
    with pytest.raises(ValueError, match=r"equally long, got 5 and 6 bits"):
        retrieval(Codes(np.uint8([[0]]), 5, 0), Codes(np.uint8([[0]]), 6, 0), [0], [0])
