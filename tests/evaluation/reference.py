"""Slow, literal twins: loops over items, and over every order that ties allow."""

import math
from itertools import permutations, product

import numpy as np


def distance(a, b):
    """D_h of two packed codes, bit by bit."""
    return sum((int(x) >> k & 1) != (int(y) >> k & 1) for x, y in zip(a, b, strict=True) for k in range(8))


def keys(query, database, combine):
    """What each item is ranked by: query (T, bytes), database (T, n, bytes)."""
    T, n = len(database), database.shape[1]
    ranks = []
    for item in range(n):
        D = [distance(query[m], database[m, item]) for m in range(T)]
        ranks.append({"min": (min(D),), "sum": (sum(D),), "min_sum": (min(D), sum(D))}[combine])
    return ranks


def orders(ranked_by):
    """Every order of the items that is consistent with the keys."""
    classes = [[i for i, key in enumerate(ranked_by) if key == value] for value in sorted(set(ranked_by))]
    for parts in product(*(permutations(group) for group in classes)):
        yield [item for part in parts for item in part]


def stable(ranked_by):
    return sorted(range(len(ranked_by)), key=lambda item: (ranked_by[item], item))


def average_precision(order, relevant, k=None):
    """AP of one order; with k, of its beginning, divided by min(R, k)."""
    R = sum(relevant)
    k = len(order) if k is None else min(k, len(order))
    hits = total = 0.0
    for rank, item in enumerate(order[:k], start=1):
        if relevant[item]:
            hits += 1
            total += hits / rank
    return total / min(R, k)


def precision(order, relevant, k):
    k = min(k, len(order))
    return sum(relevant[item] for item in order[:k]) / k


def hit(order, relevant, k):
    return float(any(relevant[item] for item in order[:k]))


def reciprocal_rank(order, relevant):
    return next(1 / rank for rank, item in enumerate(order, start=1) if relevant[item])


def ndcg(order, relevant, k):
    """Discounted gain of the first k over that of the best order."""
    gains = [1 / math.log2(rank + 1) for rank in range(1, len(order) + 1)]
    gained = sum(gain for gain, item in zip(gains[:k], order, strict=False) if relevant[item])
    return gained / sum(gains[: min(sum(relevant), k)])


def ranking_auc(order, relevant):
    """Share of (relevant, other) pairs in the right order."""
    ranks = {item: rank for rank, item in enumerate(order)}
    pairs = [(a, b) for a in order for b in order if relevant[a] and not relevant[b]]
    return sum(ranks[a] < ranks[b] for a, b in pairs) / len(pairs) if pairs else math.nan


def tie_aware_ap(ranked_by, relevant):
    """He et al., CVPR 2018, term by term."""
    R = sum(relevant)
    total = before = hits_before = 0
    for value in sorted(set(ranked_by)):
        group = [item for item, key in enumerate(ranked_by) if key == value]
        n, hits = len(group), sum(relevant[item] for item in group)
        slope = (hits - 1) / (n - 1) if n > 1 else 0
        for t in range(1, n + 1):
            total += hits / n * (hits_before + 1 + (t - 1) * slope) / (before + t)
        before, hits_before = before + n, hits_before + hits
    return total / R


def auc(D_h, s):
    """Over all couples of a similar and a dissimilar pair."""
    similar = [D for D, label in zip(D_h, s, strict=True) if label > 0]
    dissimilar = [D for D, label in zip(D_h, s, strict=True) if label < 0]
    wins = [1.0 if a < b else 0.5 if a == b else 0.0 for a in similar for b in dissimilar]
    return float(np.mean(wins)) if wins else float("nan")
