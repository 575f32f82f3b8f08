"""Hamming distances from one query to the whole database, and sorting by them.

Codes come byte by byte, (T, bytes, n): the innermost loop then runs over the database and vectorises for any r.
"""

from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

from ohash.core.compile import inlined

# How T distances become one: the least of them, the least with the sum to break ties, or the sum.
MIN, MIN_SUM, SUM = range(3)

CHUNK = 4096  # items whose distances stay in the first-level cache
BYTES = 31  # bytes whose bit counts fit in one uint8: 31 * 8 = 248


def array_type(dtype: Any, ndim: int, *, readonly: bool = False) -> Any:
    """The type of a contiguous array in a kernel's signature; a read-only one accepts writable arrays too."""
    return numba.types.Array(dtype, ndim, "C", readonly=readonly)


def _popcount(typing_context: Any, byte: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.types.uint8(numba.types.uint8), code


popcount: Any = intrinsic(_popcount)


@inlined
def chunk_distances(
    query: Any, codes: Any, start: int, combine: int, partial: Any, D: Any, near: Any, tie_break: Any
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


@inlined
def stable_order(key: Any, last: Any, order: Any, counter: Any, first_pass: bool) -> None:
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
