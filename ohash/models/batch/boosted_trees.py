"""Boosted trees for the logistic loss, on features that are quantised once for many fits.

F = base + Σ trees minimises Σ log(1 + exp(-z_i F_i)). With p_i = 1 / (1 + exp(z_i F_i)), how wrong F still is on point
i, its gradient is g_i = z_i p_i and its curvature h_i = p_i (1 - p_i). With G and H their sums over a node, the node is
split where G²/H of the two sides together is largest, and a leaf adds RATE · G/H. The lower feature, then the lower
threshold wins a tie. A tree is grown on the points with the largest p, which have KEPT_PERCENT of their sum (weight
trimming), and on a random SHARE of the features, MIN_FEATURES at least (LazyBoost).

F is a multiple of 1 / UNIT, and p and h are multiples of 1 / ONE. Sums of integers are exact in any order, so that no
tree depends on the order of a sum or on a vector width.
"""

from dataclasses import dataclass
from functools import cache
from math import ceil, log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats, Integers, Rows
from ohash.runtime.compile import strict_kernel

BINS = 256
RATE = 0.1
KEPT_PERCENT = 99
SHARE, MIN_FEATURES = 0.1, 32
UNIT, ONE = 2**12, 2**20
FARTHEST = 16 * UNIT  # |F| beyond which p is taken as there; it is 1e-7
MIN_LEAF_POINTS = 20  # points of a leaf


class Tree(NamedTuple):
    """Nodes, the root first: x goes to `left` if x[feature] <= threshold, else to `left + 1`; a leaf has feature -1."""

    feature: Rows
    threshold: Floats
    left: Rows
    value: Floats


@dataclass(frozen=True)
class QuantisedFeatures:
    """Codes (d, n) of at most BINS values, and the thresholds between them: x <= thresholds[j][b] iff its code <= b."""

    codes: npt.NDArray[np.uint8]
    thresholds: list[Floats]

    @classmethod
    def from_matrix(cls, X: npt.NDArray[np.float64]) -> "QuantisedFeatures":
        """Thresholds halfway between distinct values; if a feature has more than BINS, between some, evenly chosen."""
        codes, thresholds = np.empty(X.shape[::-1], np.uint8), []
        for j, x in enumerate(X.T):
            ordered = np.sort(x)
            gaps = np.flatnonzero(ordered[:-1] < ordered[1:])
            if len(gaps) >= BINS:
                gaps = gaps[(2 * np.arange(BINS - 1) + 1) * len(gaps) // (2 * (BINS - 1))]
            thresholds.append(ordered[gaps] / 2 + ordered[gaps + 1] / 2)
            codes[j] = np.searchsorted(thresholds[j], x)
        return cls(codes, thresholds)


@strict_kernel
def grow(
    codes: npt.NDArray[np.uint8], cuts: Integers, g: Integers, h: Integers, rows: Integers, features: Integers,
    depth: int, fewest: int, feature: Integers, cut: Integers, left: Integers, value: Integers,
) -> int:  # fmt: skip
    """Grow a tree on `rows`, which are reordered, and return its number of nodes.

    Feature f has cuts[f] thresholds. A code of at most `cut` goes left, and `value` is in units of F.
    """
    size, points = feature.shape[0], rows.shape[0]
    first, last, level = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    sums, right = np.empty((256, 3), np.int64), np.empty(points, np.int64)
    g_here, h_here = np.empty(points, np.int64), np.empty(points, np.int64)
    first[0], last[0], level[0] = 0, points, 0
    nodes, node = 1, 0
    while node < nodes:
        start, end = first[node], last[node]
        n, G, H = end - start, 0, 0
        for p in range(start, end):
            g_here[p], h_here[p] = g[rows[p]], h[rows[p]]
            G += g_here[p]
            H += h_here[p]
        feature[node], cut[node], left[node] = -1, 0, -1
        value[node] = np.int64(np.rint(RATE * UNIT * (float(G) / float(H))))
        if level[node] < depth and n >= 2 * fewest:
            best = float(G) * float(G) / float(H)
            for f in features:
                sums[: cuts[f] + 1] = 0
                of_feature = codes[f]
                for p in range(start, end):
                    b = of_feature[rows[p]]
                    sums[b, 0] += g_here[p]
                    sums[b, 1] += h_here[p]
                    sums[b, 2] += 1
                G_left, H_left, n_left = 0, 0, 0
                for b in range(cuts[f]):
                    if sums[b, 2] == 0:
                        continue
                    G_left += sums[b, 0]
                    H_left += sums[b, 1]
                    n_left += sums[b, 2]
                    if n_left < fewest:
                        continue
                    if n - n_left < fewest:
                        break
                    a, c = float(G_left), float(G - G_left)
                    gain = a * a / float(H_left) + c * c / float(H - H_left)
                    if gain > best:
                        best, feature[node], cut[node] = gain, f, b
        if feature[node] >= 0:
            of_feature, middle, others = codes[feature[node]], start, 0
            for p in range(start, end):
                i = rows[p]
                if of_feature[i] <= cut[node]:
                    rows[middle] = i
                    middle += 1
                else:
                    right[others] = i
                    others += 1
            rows[middle:end] = right[:others]
            left[node] = nodes
            first[nodes], last[nodes], level[nodes] = start, middle, level[node] + 1
            first[nodes + 1], last[nodes + 1], level[nodes + 1] = middle, end, level[node] + 1
            nodes += 2
        node += 1
    return nodes


@strict_kernel
def add_leaves(
    codes: npt.NDArray[np.uint8], feature: Integers, cut: Integers, left: Integers, value: Integers, F: Integers
) -> None:
    """Add the leaf of every point to its F."""
    for i in range(F.shape[0]):
        node = 0
        while feature[node] >= 0:
            node = left[node] + (1 if codes[feature[node], i] > cut[node] else 0)
        F[i] += value[node]


@cache
def wrong_and_curvature() -> tuple[Rows, Rows]:
    """How wrong, and h, in units of 1 / ONE, for every z F from -FARTHEST to FARTHEST; no curvature is 0."""
    p = 1 / (1 + np.exp(np.arange(-FARTHEST, FARTHEST + 1) / UNIT))
    return np.rint(ONE * p).astype(np.int64), np.maximum(1, np.rint(ONE * p * (1 - p))).astype(np.int64)


def heaviest(p: Rows) -> Rows:
    """The points with the largest p that have KEPT_PERCENT of the sum; those as heavy as the lightest are kept, too."""
    ordered = np.sort(p)[::-1]
    sums = ordered.cumsum()
    return np.flatnonzero(p >= ordered[np.searchsorted(100 * sums, KEPT_PERCENT * sums[-1])])


def boost(
    quantised: QuantisedFeatures, z: Rows, trees: int, depth: int, rng: np.random.Generator
) -> tuple[float, list[Tree]]:
    """(base, trees) that predict z in {-1, +1}, of which both must occur."""
    codes, thresholds = quantised.codes, quantised.thresholds
    (d, n), cuts = codes.shape, np.array([len(one) for one in thresholds])
    seen, fewest = min(d, max(MIN_FEATURES, ceil(SHARE * d))), min(MIN_LEAF_POINTS, max(1, n // 20))
    wrong, curvature = wrong_and_curvature()
    positive = int((z > 0).sum())
    base = round(UNIT * log(positive / (n - positive)))
    F, grown = np.full(n, base), []
    feature, cut, left, value = np.empty((4, min(2 ** (depth + 1), 2 * n) - 1), np.int64)
    for _ in range(trees):
        at = np.clip(z * F, -FARTHEST, FARTHEST) + FARTHEST
        p, h, features = wrong[at], curvature[at], np.sort(rng.permutation(d)[:seen])
        nodes = grow(codes, cuts, z * p, h, heaviest(p), features, depth, fewest, feature, cut, left, value)
        add_leaves(codes, feature, cut, left, value, F)
        at_cuts = [thresholds[f][b] if f >= 0 else 0.0 for f, b in zip(feature[:nodes], cut[:nodes], strict=True)]
        grown.append(Tree(feature[:nodes].copy(), np.array(at_cuts), left[:nodes].copy(), value[:nodes] / UNIT))
    return base / UNIT, grown
