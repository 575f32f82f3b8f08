"""Multi-index hashing (Norouzi, Punjani, Fleet, TPAMI 2014): look up near codes instead of scanning all of them.

A code is cut into m substrings, each with a table from its value to the rows that have it. If two codes differ in at
most m a + c bits (0 <= c < m), then they differ in at most a bits in one of the first c + 1 substrings, or in at most
a - 1 in one of the others. So once the first c + 1 tables have been searched for every value at distance a, all
items within m a + c are known; the full distance of an item is computed when it is first found.

T models have T such sets of tables, searched in lock-step: an item within R of any model is found once every model is
complete up to R. For a sum over models the tables of all models make one set, of T m substrings of one long code.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np

from ohash.core.arrays import Floats, Integers
from ohash.evaluation.hamming_kernels import MIN_SUM, SUM
from ohash.index.bit_words import Words
from ohash.index.multi_index import BIT, LENGTH, MODEL, OFFSET, substring
from ohash.index.scan import CHUNK, NO_ITEM, ROW_BITS, popcount64, prefetch, push, scan_into
from ohash.runtime.compile import array_type, inline, kernel_for

BATCH = 64  # values looked up, and distances computed, together
# The work of a query: values looked up, rows found under them, distances computed (one per row found for the first
# time); LEVEL is the distance within a substring that was reached.
LOOKUPS, ROWS, ITEMS, LEVEL = range(4)


@inline
def next_mask(mask: int) -> int:
    """The next larger number with as many bits (Gosper)."""
    low = mask & -mask
    ripple = mask + low
    return ripple | (((mask ^ ripple) >> 2) // low)


@inline
def item_key(query: Words, words: Words, at: int, combine: int, step: int) -> np.int64:
    """The key of one item."""
    near = total = np.int64(0)
    for m in range(words.shape[0]):
        D = np.int64(0)
        for w in range(words.shape[1]):
            D += np.int64(popcount64(words[m, w, at] ^ query[m, w]))
        near = D if m == 0 else min(near, D)
        total += D
    if combine == SUM:
        return total
    return near * step + total if combine == MIN_SUM else near


@inline
def mark_seen(seen: Integers, row: int) -> bool:
    """Mark a row; return whether it was not marked before."""
    bit = np.uint8(1 << (row & 7))
    byte = seen[row >> 3]
    seen[row >> 3] = byte | bit
    return not byte & bit


@inline
def binomial(length: int, level: int) -> float:
    """How many values lie at this distance: length choose level."""
    count = 1.0
    for i in range(level):
        count *= (length - i) / (i + 1)
    return count


@inline
def cost_so_far(work: Integers, costs: Floats) -> Any:
    """What a query has cost so far."""
    return work[LOOKUPS] * costs[0] + work[ROWS] * costs[1] + work[ITEMS] * costs[2]


@inline
def measure(
    query: Words, words: Words, some: Integers, combine: int, step: int, seen: Integers, heap: Integers, limit: int,
    listed: Integers, count: int, work: Integers,
) -> int:  # fmt: skip
    """Offer new rows to the heap or, if there is none, list those with a key below `limit`; returns their number."""
    T, W, _ = words.shape
    fresh = 0
    for row in some:
        if mark_seen(seen, row):
            some[fresh] = row
            fresh += 1
            for m in range(T):
                for w in range(W):
                    prefetch(words[m, w], row)
    work[ITEMS] += fresh
    for row in some[:fresh]:
        key = item_key(query, words, row, combine, step)
        value = (key << ROW_BITS) | row
        if heap.shape[0] > 0:
            if value < heap[0]:
                push(heap, value)
        elif key < limit:
            if count < listed.shape[0]:
                listed[count] = value
            count += 1
    return count


@inline
def look_up_level(
    query: Words,  # (T, words)
    words: Words,  # (T, words, capacity)
    table: Integers,  # MODEL, BIT, LENGTH, OFFSET
    offsets: Integers,  # (all tables,)
    rows: Integers,  # (n,)
    level: int,
    combine: int,
    step: int,
    seen: Integers,  # one bit a row
    heap: Integers,  # (k,) or empty: then whatever has a key below `limit` is listed
    limit: int,
    listed: Integers,
    count: int,
    costs: Floats,  # of a look-up, of a row, of an item, and what all may cost
    work: Integers,
    buckets: Integers,  # (2, BATCH) scratch
    some: Integers,  # (BATCH,) scratch
) -> int:
    """Look up every value at distance `level` from the query's substring, measure what is new; returns `count`.

    Memory is what takes the time, so a batch of values goes through each stage together, and every stage asks for what
    the next one reads.
    """
    model, length, begin = table[MODEL], table[LENGTH], table[OFFSET]
    own = substring(query[model : model + 1].T, 0, table[BIT], length)
    mask, end = (1 << level) - 1, 1 << length
    if cost_so_far(work, costs) + binomial(length, level) * costs[0] > costs[3]:
        work[LEVEL] = -1
        return count
    first, last = buckets[0], buckets[1]
    while mask < end:
        size = 0
        while size < BATCH and mask < end:
            first[size] = begin + (own ^ mask)
            prefetch(offsets, first[size])
            size += 1
            mask = next_mask(mask) if mask > 0 else end
        for c in range(size):
            at = first[c]
            first[c], last[c] = offsets[at], offsets[at + 1]
            work[ROWS] += last[c] - first[c]
            prefetch(rows, first[c])
        work[LOOKUPS] += size
        if cost_so_far(work, costs) > costs[3]:
            work[LEVEL] = -1
            return count
        full = 0
        for c in range(size):
            for p in range(first[c], last[c]):
                some[full] = rows[p]
                prefetch(seen, some[full] >> 3)
                full += 1
                if full == BATCH:
                    count = measure(query, words, some, combine, step, seen, heap, limit, listed, count, work)
                    full = 0
        count = measure(query, words, some[:full], combine, step, seen, heap, limit, listed, count, work)
    return count


def _search_tables(
    queries: Words,  # (b, T, words)
    words: Words,  # (T, words, capacity)
    n: int,
    in_tables: int,  # rows 0 to this are in the tables, later ones are scanned
    combine: int,
    step: int,
    tables: Integers,  # (groups m, 4)
    m: int,  # substrings of a group; the groups go in lock-step
    offsets: Integers,
    rows: Integers,  # (groups m, in_tables)
    costs: Floats,
    values: Integers,  # (b, k) int64, filled: key << 32 | row, in the order of a heap; k = 0 with a radius
    radius: int,  # a search within it lists what it finds for one query
    limit: int,  # the least key beyond the radius
    listed: Integers,
    work: Integers,  # (b, 4) LOOKUPS, ROWS, ITEMS, LEVEL; LEVEL is -1 where the cost went beyond what it may be
) -> int:
    """The k nearest items of every query, or all within a radius of one: `listed` as far as it goes, and how many."""
    D, tie, key = np.empty(CHUNK, np.uint16), np.empty(CHUNK, np.int32), np.empty(CHUNK, np.int32)
    seen = np.zeros((in_tables + 7) // 8, np.uint8)
    buckets, some = np.empty((2, BATCH), np.int64), np.empty(BATCH, np.int64)
    groups = tables.shape[0] // m
    longest = np.int64(0)  # by a loop: numba takes half a second to compile max() of a column
    for t in range(tables.shape[0]):
        longest = max(longest, tables[t, LENGTH])
    count = 0
    values[:] = NO_ITEM
    work[:] = 0
    for b in range(queries.shape[0]):
        query, heap = queries[b], values[b]
        if b > 0:
            seen[:] = 0
        if heap.shape[0] > 0:
            for start in range(in_tables, n, CHUNK):
                scan_into(query, words, start, n, combine, step, D, tie, key, heap)
        level = j = 0
        while level <= longest:
            for g in range(groups):
                table = tables[g * m + j]
                if level <= table[LENGTH] and work[b, LEVEL] >= 0:
                    count = look_up_level(
                        query, words, table, offsets, rows[g * m + j], level, combine, step, seen, heap, limit,
                        listed, count, costs, work[b], buckets, some,
                    )  # fmt: skip
            if work[b, LEVEL] < 0:
                break
            target = (heap[0] >> ROW_BITS) // step if heap.shape[0] > 0 else radius
            if target <= m * level + j:
                break
            j += 1
            if j == m:
                j = 0
                level += 1
                work[b, LEVEL] = level
    return count


@cache
def search_tables() -> Callable[..., int]:
    """Compiled at the first call on a machine, then read from disk."""
    u8, i8, i4, f8 = numba.types.uint64, numba.types.int64, numba.types.int32, numba.types.float64
    words = array_type(u8, 3, readonly=True)
    signature = i8(
        words, words, i8, i8, i8, i8, array_type(i8, 2, readonly=True), i8, array_type(i4, 1, readonly=True),
        array_type(i4, 2, readonly=True), array_type(f8, 1, readonly=True), array_type(i8, 2), i8, i8,
        array_type(i8, 1), array_type(i8, 2),
    )  # fmt: skip
    return kernel_for(signature, _search_tables)
