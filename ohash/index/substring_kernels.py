"""Tables of substrings: from every value that some bits of a code can have to the rows that have it, by counting."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np

from ohash.core.compile import inlined, kernel_for
from ohash.evaluation.hamming_kernels import array_type

# Columns of a list of substrings: model, first bit, bits, where its offsets begin.
MODEL, BIT, LENGTH, OFFSET = range(4)


@inlined
def substring(words: Any, at: int, bit: int, length: int) -> Any:
    """`length` bits, from `bit` on, of item `at` of one model (words, n)."""
    w, shift = bit >> 6, bit & 63
    value = words[w, at] >> np.uint64(shift)
    if shift + length > 64:
        value |= words[w + 1, at] << np.uint64(64 - shift)
    return np.int64(value & np.uint64((1 << length) - 1))


def _fill_table(
    words: Any,  # (words, capacity) of one model
    n: int,
    bit: int,
    length: int,
    offsets: Any,  # (2 ** length + 1,) int32, filled
    rows: Any,  # (n,) int32, filled: the rows of value v are rows[offsets[v] : offsets[v + 1]], rising
) -> None:
    """One table, by counting."""
    offsets[:] = 0
    for i in range(n):
        offsets[substring(words, i, bit, length) + 1] += 1
    for v in range(1, offsets.shape[0]):
        offsets[v] += offsets[v - 1]
    for i in range(n - 1, -1, -1):  # from behind: offsets[v + 1] runs down to where v + 1 begins
        v = substring(words, i, bit, length) + 1
        offsets[v] -= 1
        rows[offsets[v]] = i
    for v in range(1, offsets.shape[0] - 1):  # now offsets[v + 1] is where v begins
        offsets[v] = offsets[v + 1]
    offsets[offsets.shape[0] - 1] = n


@cache
def fill_table() -> Callable[..., None]:
    """Compiled at the first call on a machine, then read from disk."""
    u8, i8, i4 = numba.types.uint64, numba.types.int64, numba.types.int32
    words = numba.types.Array(u8, 2, "C", readonly=True)
    return kernel_for(numba.types.void(words, i8, i8, i8, array_type(i4, 1), array_type(i4, 1)), _fill_table)
