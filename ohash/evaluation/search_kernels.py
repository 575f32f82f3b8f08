"""Exact nearest codes of each query: count distances, keep what lies within the k-th, sort only that."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np

from ohash.core.compile import kernel_for
from ohash.evaluation.hamming_kernels import CHUNK, MIN_SUM, array_type, chunk_distances, stable_order


def _search_queries(
    queries: Any,  # (T, b, bytes)
    codes: Any,  # (T, bytes, n)
    combine: int,
    indices: Any,  # (b, k) int64, filled
    distances: Any,  # (b, k) int64, filled: min over the models, or the sum
) -> None:
    """The k nearest items of every query by (distance, tie-break, database index)."""
    T, width, n = codes.shape
    k = indices.shape[1]
    partial, D = np.empty(CHUNK, np.uint8), np.empty(CHUNK, np.int32)
    near, tie_break = np.empty(n, np.int32), np.zeros(n, np.int32)
    close, close_near, close_tie = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    order, last = np.empty(n, np.int32), np.empty(n, np.int32)
    counter = np.empty(8 * T * width + 2, np.int64)
    for b in range(queries.shape[1]):
        for start in range(0, n, CHUNK):
            stop = min(start + CHUNK, n)
            chunk_distances(
                queries[:, b], codes, start, combine, partial, D, near[start:stop], tie_break[start:stop]
            )  # fmt: skip
        counter[:] = 0
        for i in range(n):
            counter[near[i]] += 1
        within = counter[0]
        radius = 0
        while within < k:
            radius += 1
            within += counter[radius]
        found = 0
        for i in range(n):
            if near[i] <= radius:
                close[found], close_near[found], close_tie[found] = i, near[i], tie_break[i]
                found += 1
        if combine == MIN_SUM:
            stable_order(close_tie[:found], order, last, counter, True)
            stable_order(close_near[:found], last, order, counter, False)
        else:
            stable_order(close_near[:found], last, order, counter, True)
        for c in range(k):
            indices[b, c], distances[b, c] = close[order[c]], close_near[order[c]]


@cache
def search_queries() -> Callable[..., None]:
    """The search kernel; compiled at the first call on a machine, then read from disk."""
    u1, i8 = numba.types.uint8, numba.types.int64
    codes = array_type(u1, 3, readonly=True)
    return kernel_for(numba.types.void(codes, codes, i8, array_type(i8, 2), array_type(i8, 2)), _search_queries)
