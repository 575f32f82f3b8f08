"""The tables of multi-index hashing: from every value of a substring of the codes to the rows that have it.

This module decides how codes are cut, knows which tables are out of date, and estimates what a search will cost;
`multi_index_kernels` searches in the tables.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Integers
from ohash.index.bit_words import Words
from ohash.runtime.compile import array_type, inline, kernel_for

# Columns of a list of substrings: model, first bit, number of bits, where its offsets begin.
MODEL, BIT, LENGTH, OFFSET = range(4)


@inline
def substring(words: Words, at: int, bit: int, length: int) -> Any:
    """`length` bits, from `bit` on, of item `at` of one model (words, n)."""
    w, shift = bit >> 6, bit & 63
    value = words[w, at] >> np.uint64(shift)
    if shift + length > 64:
        value |= words[w + 1, at] << np.uint64(64 - shift)
    return np.int64(value & np.uint64((1 << length) - 1))


def _fill_table(
    words: Words,  # (words, capacity) of one model
    n: int,
    bit: int,
    length: int,
    offsets: Integers,  # (2 ** length + 1,) int32, filled
    rows: Integers,  # (n,) int32, filled: the rows of value v are rows[offsets[v] : offsets[v + 1]], rising
) -> None:
    """Fill one table by counting sort."""
    offsets[:] = 0
    for i in range(n):
        offsets[substring(words, i, bit, length) + 1] += 1
    for v in range(1, offsets.shape[0]):
        offsets[v] += offsets[v - 1]
    for i in range(n - 1, -1, -1):  # backwards: offsets[v + 1] runs down to where v + 1 begins
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
    words = array_type(u8, 2, readonly=True)
    return kernel_for(numba.types.void(words, i8, i8, i8, array_type(i4, 1), array_type(i4, 1)), _fill_table)


MAX_SUBSTRING_BITS = 24  # bits of a substring: its table has 2 ** 24 offsets, 64 MB
SAMPLE = 2048  # rows from which the number of items to be found is estimated


def substring_count(r: int, n: int) -> int:
    """The number of parts a code is cut into: about r / log2 n, so that a table has about as many values as rows.

    >>> [substring_count(64, 10**e) for e in (4, 5, 6, 7)], substring_count(128, 10**6), substring_count(5, 100)
    ([5, 4, 3, 3], 6, 1)
    """
    return max(round(r / math.log2(max(n, 2))), -(-r // MAX_SUBSTRING_BITS), 1)


@dataclass(frozen=True)
class LookupEstimate:
    """The expected work of a search: values looked up, rows found under them, distinct items among those."""

    lookups: float
    rows: float
    items: float


class MultiIndex:
    """T m tables over the rows 0 to n of words (T, words, capacity)."""

    def __init__(self, T: int, r: int, n: int) -> None:
        """Cut the codes; all tables are out of date."""
        self.n, self.m = n, substring_count(r, n)
        cuts = [round(part * r / self.m) for part in range(self.m + 1)]
        parts = [(model, cuts[j], cuts[j + 1] - cuts[j]) for model in range(T) for j in range(self.m)]
        begin = np.cumsum([0, *((1 << length) + 1 for _, _, length in parts)])
        self.parts = np.array([(*part, begin[at]) for at, part in enumerate(parts)], np.int64)
        self.stale = np.ones(len(parts), np.bool_)
        self.offsets: npt.NDArray[np.int32] = np.zeros(0, np.int32)
        self.rows: npt.NDArray[np.int32] = np.zeros((len(parts), 0), np.int32)
        self._size = int(begin[-1])
        self._sample: npt.NDArray[np.int64] | None = None

    @property
    def nbytes(self) -> int:
        """Memory of all tables."""
        return 4 * (self._size + len(self.parts) * self.n)

    def mark_stale(self, bits: npt.NDArray[np.bool_]) -> None:
        """The codes have changed in `bits` (T, r): the tables over such a bit are out of date."""
        for at, (model, bit, length, _) in enumerate(self.parts):
            self.stale[at] |= bits[model, bit : bit + length].any()
        self._sample = None

    def fill(self, words: Words) -> int:
        """Bring the tables up to date; return how many had to be filled."""
        if not self.offsets.size:
            self.offsets, self.rows = np.empty(self._size, np.int32), np.empty((len(self.parts), self.n), np.int32)
        out_of_date = np.flatnonzero(self.stale)
        for at in out_of_date:
            model, bit, length, begin = (int(value) for value in self.parts[at])
            offsets = self.offsets[begin : begin + (1 << length) + 1]
            fill_table()(words[model], self.n, bit, length, offsets, self.rows[at])
            self.stale[at] = False
        return len(out_of_date)

    def group_size(self, summed: bool) -> int:
        """Tables per group: those of a model, or all of them for a sum over models, which is one long code."""
        return len(self.parts) if summed else self.m

    def estimate(self, words: Words, query: Words, radius: int, summed: bool) -> LookupEstimate:
        """The work of a search that must be complete up to `radius`, for one query (T, words).

        Values are counted; rows are estimated from a sample, and at least what evenly spread codes would give.
        """
        if self._sample is None:
            at = np.unique(np.linspace(0, self.n - 1, min(SAMPLE, self.n)).astype(np.int64))
            self._sample = np.stack([_values(words[part[MODEL]][:, at], part) for part in self.parts])
        sample = self._sample
        m = self.group_size(summed)
        lookups = rows = evenly = 0.0
        met = np.zeros(sample.shape[1], np.bool_)
        for number, part in enumerate(self.parts):
            level = (radius - number % m) // m
            length = int(part[LENGTH])
            values = float(sum(math.comb(length, a) for a in range(min(level, length) + 1)))
            own = _values(query[part[MODEL]][:, None], part)
            near = np.bitwise_count(sample[number] ^ own) <= level
            met |= near
            lookups += values
            evenly += self.n * values / 2**length
            rows += self.n * max(float(near.mean()), values / 2**length)
        return LookupEstimate(lookups, rows, max(self.n * float(met.mean()), min(evenly, self.n)))


def _values(words: Words, part: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The substring of every item of one model (words, n)."""
    w, shift, length = int(part[BIT]) >> 6, int(part[BIT]) & 63, int(part[LENGTH])
    value = words[w] >> np.uint64(shift)
    if shift + length > 64:
        value = value | (words[w + 1] << np.uint64(64 - shift))
    substring: npt.NDArray[np.uint64] = value & np.uint64((1 << length) - 1)
    return substring.astype(np.int64)
