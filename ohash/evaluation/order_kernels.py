"""Scores of rankings by real distances, already sorted; equal distances are ties, as everywhere."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np

from ohash.core.compile import kernel_for
from ohash.evaluation.hamming_kernels import array_type
from ohash.evaluation.ranking_kernels import HIDDEN, RELEVANT
from ohash.evaluation.tie_kernels import N_RELEVANT, bounds, curve, score

LEVELS = 101  # points of the curve: the nearest 0, 1, ..., 100 % of what a query can find


def _score_orders(
    D: Any,  # (b, n) float32
    order: Any,  # (b, n) int64, by rising D
    flags: Any,  # (b, n)
    ks: Any,  # rising
    harmonic: Any,  # (n + 1,) 0, 1, 1 + 1/2, ...
    scores: Any,  # (b, FIRST_K + 3 len(ks)), filled; NaN where nothing is relevant
    counts: Any,  # (LEVELS, 2) int64, added to
    sums: Any,  # (LEVELS, 2) float64, added to
) -> None:
    """Score a block of queries."""
    n = D.shape[1]
    size, relevant, level = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for b in range(D.shape[0]):
        found, shown, R = -1, 0, 0
        last = np.float32(0)
        for at in range(n):
            item = order[b, at]
            if flags[b, item] & HIDDEN:
                continue
            if found < 0 or D[b, item] != last:
                found += 1
                size[found], relevant[found] = 0, 0
                last = D[b, item]
            size[found] += 1
            relevant[found] += flags[b, item] & RELEVANT
            shown += 1
            R += flags[b, item] & RELEVANT
        found += 1
        scores[b, :] = np.nan
        scores[b, N_RELEVANT] = R
        if R == 0:
            continue
        passed = 0
        for c in range(found):
            passed += size[c]
            level[c] = -(-passed * (LEVELS - 1) // shown)
        bounds(found, size, relevant, harmonic, scores[b])
        curve(found, size, relevant, level, R, 0, scores[b], counts, sums)
        score(found, size, relevant, R, ks, harmonic, scores[b])


@cache
def score_orders() -> Callable[..., None]:
    """The scoring kernel; compiled at the first call on a machine, then read from disk."""
    u1, i8, f4, f8 = numba.types.uint8, numba.types.int64, numba.types.float32, numba.types.float64
    signature = numba.types.void(
        array_type(f4, 2, readonly=True), array_type(i8, 2, readonly=True), array_type(u1, 2, readonly=True),
        array_type(i8, 1, readonly=True), array_type(f8, 1, readonly=True), array_type(f8, 2), array_type(i8, 2),
        array_type(f8, 2),
    )  # fmt: skip
    return kernel_for(signature, _score_orders)
