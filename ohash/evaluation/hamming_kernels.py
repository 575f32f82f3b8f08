"""Hamming distances from one query to the whole database, and exact nearest neighbours by them.

Codes are stored byte by byte, (T, bytes, n): the innermost loop then runs over the database and vectorises for any r.
For the k nearest, distances are counted, and only the items within the k-th distance are sorted.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

from ohash.core.arrays import Bytes, Integers
from ohash.runtime.compile import array_type, inline, kernel_for

# How T distances become one: the least of them, the least with the sum to break ties, or the sum.
MIN, MIN_SUM, SUM = range(3)

CHUNK = 4096  # items whose distances stay in the first-level cache
BYTES = 31  # bytes whose bit counts fit in one uint8: 31 * 8 = 248


def _popcount(typing_context: Any, byte: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.types.uint8(numba.types.uint8), code


popcount: Any = intrinsic(_popcount)


@inline
def chunk_distances(
    query: Bytes,
    codes: Bytes,
    start: int,
    combine: int,
    partial: Integers,
    D: Integers,
    near: Integers,
    tie_break: Integers,
) -> None:
    """D_h from one query (T, bytes) to the items start, ..., start + len(near) - 1, combined over the models."""
    T, width, _ = codes.shape
    size = near.shape[0]
    for m in range(T):
        target = near if m == 0 else D
        for g in range(0, width, BYTES):
            for i in range(size):
                partial[i] = 0
            for b in range(g, min(g + BYTES, width)):
                byte, column = query[m, b], codes[m, b, start : start + size]
                for i in range(size):
                    partial[i] += popcount(np.uint8(column[i] ^ byte))
            for i in range(size):
                target[i] = partial[i] + (target[i] if g > 0 else 0)
        if m == 0:
            if combine == MIN_SUM:
                for i in range(size):
                    tie_break[i] = near[i]
        elif combine == SUM:
            for i in range(size):
                near[i] += D[i]
        else:
            for i in range(size):
                near[i] = min(near[i], D[i])
            if combine == MIN_SUM:
                for i in range(size):
                    tie_break[i] += D[i]


@inline
def stable_order(key: Integers, last: Integers, order: Integers, counter: Integers, first_pass: bool) -> None:
    """`order` = the items sorted by `key`, equal ones as in `last` (or by index in the first pass)."""
    counter[:] = 0
    n = key.shape[0]
    for i in range(n):
        counter[key[i] + 1] += 1
    for c in range(1, counter.shape[0]):
        counter[c] += counter[c - 1]
    for i in range(n):
        item = i if first_pass else last[i]
        order[counter[key[item]]] = item
        counter[key[item]] += 1


def _search_queries(
    queries: Bytes,  # (T, b, bytes)
    codes: Bytes,  # (T, bytes, n)
    combine: int,
    indices: Integers,  # (b, k) int64, filled
    distances: Integers,  # (b, k) int64, filled: min over the models, or the sum
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
        n_close = 0
        for i in range(n):
            if near[i] <= radius:
                close[n_close], close_near[n_close], close_tie[n_close] = i, near[i], tie_break[i]
                n_close += 1
        if combine == MIN_SUM:
            stable_order(close_tie[:n_close], order, last, counter, True)
            stable_order(close_near[:n_close], last, order, counter, False)
        else:
            stable_order(close_near[:n_close], last, order, counter, True)
        for c in range(k):
            indices[b, c], distances[b, c] = close[order[c]], close_near[order[c]]


@cache
def search_queries() -> Callable[..., None]:
    """The search kernel; compiled at the first call on a machine, then read from disk."""
    u1, i8 = numba.types.uint8, numba.types.int64
    codes = array_type(u1, 3, readonly=True)
    return kernel_for(numba.types.void(codes, codes, i8, array_type(i8, 2), array_type(i8, 2)), _search_queries)
