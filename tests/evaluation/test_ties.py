"""Every expectation against the enumeration of all orders that the distances allow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.evaluation.ranking import iter_retrieval, mean_ap, retrieval
from tests.evaluation import reference
from tests.evaluation.strategies import cases

SMALL = cases(n=st.integers(1, 6), r=st.sampled_from([1, 2, 3, 9]))


def single(codes):
    """The layout without a leading T, where there is but one model."""
    return codes[0] if len(codes) == 1 else codes


@settings(max_examples=60, deadline=None)
@given(SMALL)
def test_scores_equal_the_mean_over_all_orders(case):
    ks = (1, 2, 3, 5, 9)
    scores = retrieval(
        single(case.queries), single(case.database), case.query_labels, case.db_labels, combine=case.combine, k=ks
    )
    by_k = [(name, k) for name in ("ap", "p", "hit", "ndcg") for k in ks]
    expected = {name: [] for name in ("ap", "low", "high", "mrr", "auc", *by_k)}
    for at, label in enumerate(case.query_labels):
        relevant = [int(other == label) for other in case.db_labels]
        if not any(relevant):
            assert np.isnan(scores.ap[at])
            continue
        orders = list(reference.orders(reference.keys(case.queries[:, at], case.database, case.combine)))
        aps = [reference.average_precision(order, relevant) for order in orders]
        assert scores.ap[at] == pytest.approx(np.mean(aps), abs=1e-13)
        expected["ap"].append(np.mean(aps))
        expected["low"].append(min(aps))
        expected["high"].append(max(aps))
        expected["mrr"].append(np.mean([reference.reciprocal_rank(order, relevant) for order in orders]))
        for k in ks:
            expected["ap", k].append(np.mean([reference.average_precision(o, relevant, k) for o in orders]))
            expected["p", k].append(np.mean([reference.precision(o, relevant, k) for o in orders]))
            expected["hit", k].append(np.mean([reference.hit(o, relevant, k) for o in orders]))
            assert scores.hits[k][at] == pytest.approx(expected["hit", k][-1], abs=1e-13)
            expected["ndcg", k].append(np.mean([reference.ndcg(o, relevant, k) for o in orders]))
        if not all(relevant):
            expected["auc"].append(np.mean([reference.ranking_auc(order, relevant) for order in orders]))
    assert scores.queries == len(expected["ap"])
    assert scores.queries + scores.excluded == len(case.query_labels)
    if scores.queries:
        assert scores.map == pytest.approx(np.mean(expected["ap"]), abs=1e-13)
        assert scores.map_low == pytest.approx(np.mean(expected["low"]), abs=1e-13)
        assert scores.map_high == pytest.approx(np.mean(expected["high"]), abs=1e-13)
        assert scores.mrr == pytest.approx(np.mean(expected["mrr"]), abs=1e-13)
        for k in ks:
            assert scores.map_at_k[k] == pytest.approx(np.mean(expected["ap", k]), abs=1e-13)
            assert scores.precision_at_k[k] == pytest.approx(np.mean(expected["p", k]), abs=1e-13)
            assert scores.hit_at_k[k] == pytest.approx(np.mean(expected["hit", k]), abs=1e-13)
            assert scores.ndcg_at_k[k] == pytest.approx(np.mean(expected["ndcg", k]), abs=1e-12)
        if expected["auc"]:
            assert scores.auc == pytest.approx(np.mean(expected["auc"]), abs=1e-13)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_expected_and_stable_ap_equal_the_literal_twin_for_any_width_and_rule(case):
    rows = (case.queries, case.database, case.query_labels, case.db_labels)
    for ties in ("expected", "stable"):
        scores = retrieval(*rows, ties=ties, combine=case.combine, k=3)
        for at, label in enumerate(case.query_labels):
            relevant = [int(other == label) for other in case.db_labels]
            if any(relevant):
                ranked_by = reference.keys(case.queries[:, at], case.database, case.combine)
                order = reference.stable(ranked_by)
                literal = {
                    "expected": lambda: reference.tie_aware_ap(ranked_by, relevant),  # noqa: B023
                    "stable": lambda: reference.average_precision(order, relevant),  # noqa: B023
                }[ties]()
                assert scores.ap[at] == pytest.approx(literal, abs=1e-12)
        if scores.queries:
            assert mean_ap(*rows, ties=ties, combine=case.combine) == scores.map


@settings(max_examples=40, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
def test_expected_scores_do_not_depend_on_the_order_of_the_database_and_lie_within_the_bounds(case, random):
    scores = retrieval(case.queries, case.database, case.query_labels, case.db_labels, combine=case.combine, k=5)
    shuffled = list(range(len(case.db_labels)))
    random.shuffle(shuffled)
    again = retrieval(
        case.queries, case.database[:, shuffled], case.query_labels, case.db_labels[shuffled], combine=case.combine, k=5
    )
    np.testing.assert_array_equal(scores.ap, again.ap)
    assert scores.excluded == again.excluded
    scored = scores.ap[~np.isnan(scores.ap)]
    assert ((scored >= 0) & (scored <= 1 + 1e-12)).all()
    if len(scored):
        assert (scores.mrr, scores.precision_at_k, scores.hit_at_k) == (again.mrr, again.precision_at_k, again.hit_at_k)
        assert scores.map_low - 1e-12 <= scores.map <= scores.map_high + 1e-12
        stable = retrieval(
            case.queries, case.database, case.query_labels, case.db_labels, combine=case.combine, ties="stable"
        )
        assert (stable.map_low, stable.map_high) == (scores.map_low, scores.map_high)
        assert scores.map_low - 1e-12 <= stable.map <= scores.map_high + 1e-12


def test_stable_ap_by_hand():
    """Distances 1, 0, 1, 2; relevant: items 0, 2, 3. Order 1, 0, 2, 3; AP = (1/2 + 2/3 + 3/4) / 3."""
    query, database = np.uint8([[0b00]]), np.uint8([[0b01], [0b00], [0b10], [0b11]])
    rows = (query, database, [1], [1, 0, 1, 1])
    assert mean_ap(*rows, ties="stable") == pytest.approx((1 / 2 + 2 / 3 + 3 / 4) / 3)


def test_a_database_sorted_by_class_misleads_the_stable_order_only():
    """All codes equal: stable order reads the database; expected AP is near chance, whatever the order."""
    codes = np.zeros((10, 1), np.uint8)
    labels = np.repeat([0, 1], 5)
    assert mean_ap(codes[:1], codes, [0], labels, ties="stable") == 1.0
    assert mean_ap(codes[:1], codes, [1], labels, ties="stable") < 0.4
    assert mean_ap(codes[:1], codes, [0], labels) == mean_ap(codes[:1], codes, [1], labels) < 0.7


def test_long_tie_classes_use_harmonic_numbers_without_losing_digits():
    rng = np.random.default_rng(0)
    database = rng.integers(0, 8, (5000, 1), dtype=np.uint8)
    relevant = rng.random(5000) < 0.2
    ranked_by = reference.keys(np.uint8([[0]]), database[None], "min")
    scores = mean_ap(np.uint8([[0]]), database, relevant=relevant[None])
    assert scores == pytest.approx(reference.tie_aware_ap(ranked_by, relevant), rel=1e-12)


def test_many_models_and_bits_are_sorted_when_a_histogram_would_be_too_large():
    """r = 1024 and T = 4: 1025 * 4097 keys, far more than items; r = 16 takes the histogram."""
    rng = np.random.default_rng(1)
    for width in (2, 128):
        queries = rng.integers(0, 256, (4, 3, width), dtype=np.uint8)
        database = np.repeat(rng.integers(0, 256, (4, 20, width), dtype=np.uint8), 2, axis=1)
        labels = rng.integers(0, 2, 40)
        scores = retrieval(queries, database, [0, 1, 0], labels, combine="min_sum")
        for at, label in enumerate([0, 1, 0]):
            literal = reference.tie_aware_ap(
                reference.keys(queries[:, at], database, "min_sum"), [int(x) for x in labels == label]
            )
            assert scores.ap[at] == pytest.approx(literal, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(cases(), st.integers(1, 5))
def test_blocks_of_queries_change_nothing(case, block):
    rows = (case.queries, case.database, case.query_labels, case.db_labels)
    whole = retrieval(*rows, combine=case.combine, k=(1, 4))
    steps = list(iter_retrieval(*rows, combine=case.combine, k=(1, 4), block=block))
    assert [step.queries + step.excluded for step in steps] == [
        min(at + block, len(case.query_labels)) for at in range(0, len(case.query_labels), block)
    ]
    last = steps[-1]
    np.testing.assert_array_equal(last.ap, whole.ap)
    for name in ("radius", "precision", "recall", "macro_precision", "macro_recall"):
        np.testing.assert_array_equal(getattr(last.curve, name), getattr(whole.curve, name))
