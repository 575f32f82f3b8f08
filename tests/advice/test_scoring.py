"""Scores are expectations over ties: they equal the mean over every order, and known formulas."""

import itertools

import numpy as np
import pytest

from ohash.advice import scoring
from ohash.advice.click_log import ClickLog, QuerySet
from ohash.advice.coders import FloatCoder
from ohash.advice.scoring import DISCOUNT, Search, blocks, rank, rank_all
from ohash.evaluation.neighbours import exact_neighbours
from ohash.runtime.progress import drain

NONE = np.zeros(0, np.int64)


def log_of(X, n_docs, labels=None, metric="l2"):
    return ClickLog("made", np.asarray(X, np.float32), n_docs, NONE, NONE, metric, labels)


def by_distance(D, answers, exact=None, hidden=NONE, labels=None):
    """Scores of one query at the given distances: a one-column score whose bias is the distance."""
    D = np.asarray(D, np.float32)
    log = log_of(np.zeros((len(D) + 1, 1)), len(D), labels)
    query_set = QuerySet(np.array([len(D)]), (np.asarray(answers),), (hidden,), labels)
    items = lambda start, stop: (np.zeros((stop - start, 1), np.float32), D[start:stop])  # noqa: E731
    known = None if exact is None else np.asarray([exact])
    return drain(rank(log, query_set, np.zeros((1, 1), np.float32), items, known))


def over_all_orders(D, answers, exact):
    """The same for k = 10 by brute force over orders of ties at small n."""
    totals = []
    for order in itertools.permutations(range(len(D))):
        if any(D[a] > D[b] for a, b in itertools.pairwise(order)):
            continue
        first = order[:10]
        hits = [one in answers for one in first]
        best = DISCOUNT[: len(answers)].sum()
        gain = sum(DISCOUNT[at] for at, hit in enumerate(hits) if hit) / best
        totals.append([any(hits), gain, np.mean([one in first for one in exact])])
    return np.mean(totals, axis=0)


@pytest.mark.parametrize("filler", [8, 9])
def test_ties_at_the_end_of_the_ten_are_averaged(filler):
    """`filler` items lie before four tied ones, of which two are answers."""
    D = [*range(filler), 50, 50, 50, 50, 60]
    answers = [filler + 1, filler + 3]
    _, scores = by_distance(D, answers, exact=[0, filler + 1])
    shown = 10 - filler
    orders = list(itertools.permutations(range(4)))
    hit = np.mean([any(one in (1, 3) for one in order[:shown]) for order in orders])
    gain = np.mean([sum(DISCOUNT[filler + at] for at in range(shown) if order[at] in (1, 3)) for order in orders])
    assert scores.truth[0] == pytest.approx(hit)
    assert scores.ndcg[0] == pytest.approx(gain / DISCOUNT[:2].sum())
    assert scores.recall[0] == pytest.approx((1 + shown / 4) / 2)


def test_a_tie_beyond_the_hundred_is_counted_whole():
    D = np.zeros(400)
    _, scores = by_distance(D, [7], exact=[7])
    assert scores.truth[0] == pytest.approx(10 / 400) and scores.recall[0] == pytest.approx(10 / 400)
    assert scores.rescored_recall[0] == pytest.approx(100 / 400)


def test_small_cases_equal_brute_force():
    D = [1, 1, 2, 2, 2, 0]
    _, scores = by_distance(D, [1, 4], exact=[0, 4])
    hit, gain, recall = over_all_orders(D, {1, 4}, {0, 4})
    assert (scores.truth[0], scores.ndcg[0], scores.recall[0]) == pytest.approx((hit, gain, recall))


def test_hidden_items_are_not_shown():
    D = np.arange(30)
    assert by_distance(D, [10])[1].truth[0] == 0
    assert by_distance(D, [10], hidden=np.array([0]))[1].truth[0] == 1


def test_labels_count_every_answer_of_the_ten():
    labels = np.array([0, 0, 1, 1] * 10 + [0])
    near, scores = by_distance(np.arange(40), [], labels=labels)
    assert near[0].tolist() == list(range(10))
    assert scores.truth[0] == pytest.approx(np.mean(labels[:10] == 0))


@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_float_vectors_find_their_exact_neighbours_even_far_from_the_origin(metric):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(500, 12)) + (1000 if metric == "l2" else 0)).astype(np.float32)
    log = log_of(X, 500, metric=metric)
    query_set = QuerySet(np.arange(20), (NONE,) * 20, (NONE,) * 20)
    coder = FloatCoder(log.docs, dot=metric == "dot")
    near, scores = drain(rank(log, query_set, coder.query_vectors(X[:20]), blocks(log, coder), None))
    exact = exact_neighbours(X[:20], X, 10, metric, query_rows=np.arange(20))
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(near, exact, strict=True)]) > 0.99
    assert (scores.recall == 1).all()


def test_a_search_among_some_rows_is_that_of_a_smaller_log(monkeypatch):
    """Blocks and parts smaller than the data, so that several threads fill and judge; more queries than are held."""
    monkeypatch.setattr(scoring, "ROWS_PER_BLOCK", 64)
    monkeypatch.setattr(scoring, "HELD", 64 * 150)
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (500, 6)).astype(np.float32)  # ties, and exact sums
    log, rows = log_of(X, 400), np.sort(rng.choice(400, 150, replace=False))
    small = log_of(np.concatenate([X[rows], X[400:]]), 150)
    queries, answers = np.arange(400, 500), tuple(rng.choice(150, 3, replace=False) for _ in range(100))
    query_set = QuerySet(np.arange(150, 250), answers, (NONE,) * 100)
    all_asked = QuerySet(queries, tuple(rows[docs] for docs in answers), (NONE,) * 100)
    coder = FloatCoder(np.zeros((1, 6), np.float32))
    F = coder.query_vectors(X[400:])
    alone = [
        drain(rank(log, all_asked, F, blocks(log, coder), None)),
        drain(rank(small, query_set, F, blocks(small, coder), None)),
    ]
    searches = [Search(log, all_asked, F), Search(small, query_set, F, None, rows)]
    both = drain(rank_all(400, blocks(log, coder), searches))
    for (near, scores), (near_alone, scores_alone) in zip(both, alone, strict=True):
        np.testing.assert_array_equal(near, near_alone)
        for name, values in vars(scores_alone).items():
            np.testing.assert_array_equal(getattr(scores, name), values)
    assert 0 < both[1][1].truth.mean() < 1
