"""Boosted trees as `boosted_trees` describes them, in plain NumPy and node by node: its slow twin."""

import itertools
import math

import numpy as np

from ohash.models.batch.boosted_trees import Tree


def quantise(x):
    """(codes, thresholds) of one feature."""
    values = sorted(set(x.tolist()))
    gaps = list(itertools.pairwise(values))
    if len(gaps) > 255:
        gaps = [gaps[math.floor((k + 0.5) * len(gaps) / 255)] for k in range(255)]
    thresholds = [low / 2 + high / 2 for low, high in gaps]
    return [sum(value > threshold for threshold in thresholds) for value in x], thresholds


def tree(X, thresholds, g, h, rows, features, depth, fewest):
    """Nodes in the order in which they are reached, level by level."""
    nodes, waiting = [], [(np.array(rows), 0)]
    for here, level in waiting:  # grows as it is read
        G, H = float(g[here].sum()), float(h[here].sum())
        best, split = G * G / H, None
        if level < depth:
            for f in features:
                for threshold in thresholds[f]:
                    goes_left = X[here, f] <= threshold
                    if min(goes_left.sum(), (~goes_left).sum()) < fewest:
                        continue
                    sides = (here[goes_left], here[~goes_left])
                    a, b = (float(g[side].sum()) ** 2 / float(h[side].sum()) for side in sides)
                    if a + b > best:
                        best, split = a + b, (f, threshold, sides)
        if split is None:
            nodes.append((-1, 0.0, -1, float(np.rint(0.1 * 4096 * (G / H))) / 4096))
        else:
            nodes.append((split[0], split[1], len(waiting), np.nan))
            waiting += [(side, level + 1) for side in split[2]]
    return Tree(*(np.array(column) for column in zip(*nodes, strict=True)))


def answer(one, x):
    """The leaf of a point."""
    node = 0
    while one.feature[node] >= 0:
        node = one.left[node] + (x[one.feature[node]] > one.threshold[node])
    return one.value[node]


def boost(X, z, trees, depth, rng):
    """(base, trees)."""
    n, d = X.shape
    thresholds = [quantise(X[:, f])[1] for f in range(d)]
    base = round(4096 * math.log((z > 0).sum() / (z < 0).sum())) / 4096
    F, grown = np.full(n, base), []
    for _ in range(trees):
        p = 1 / (1 + np.exp(np.clip(z * F, -16, 16)))
        p, h = np.rint(2**20 * p).astype(int), np.maximum(1, np.rint(2**20 * p * (1 - p))).astype(int)
        rows = trimmed(p)
        features = sorted(rng.permutation(d)[: max(32, math.ceil(d / 10))])
        grown.append(tree(X, thresholds, z * p, h, rows, features, depth, min(20, max(1, n // 20))))
        F = F + [answer(grown[-1], x) for x in X]
    return base, grown


def trimmed(p):
    """Points from the heaviest on, until they have 99 % of the weight, and all that are as heavy as the last."""
    kept = 0
    for weight in sorted(p.tolist(), reverse=True):
        kept += weight
        if 100 * kept >= 99 * int(p.sum()):
            return np.flatnonzero(p >= weight)
    raise AssertionError
