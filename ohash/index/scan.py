"""The scan: distances to all items, a chunk at a time, and the best of them in a heap.

Items are ordered by one number, key << 32 | row: `key` is the distance (for MIN_SUM the least distance times T r + 1,
plus the sum), so equal distances go by row. Rows come in ascending order, so a key that equals the worst one in a full
heap cannot enter any more: for most chunks the smallest key is all that is looked at.

`popcount64` and `prefetch` are two machine instructions that numba does not offer.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from ohash.core.arrays import Integers
from ohash.evaluation.hamming_kernels import MIN_SUM, SUM
from ohash.index.bit_words import Words
from ohash.runtime.compile import array_type, inline, kernel_for


def _popcount64(typing_context: Any, word: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.types.uint64(numba.types.uint64), code


popcount64: Any = intrinsic(_popcount64)


def _prefetch(typing_context: Any, array: Any, at: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")  # type: ignore[no-untyped-call]
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(function, [pointer, flag(0), flag(3), flag(1)])  # read, high locality, data cache
        return context.get_dummy_value()

    return numba.types.void(array, numba.types.int64), code


prefetch: Any = intrinsic(_prefetch)  # prefetch(array of one dimension, index): a hint, without effect on any result

CHUNK = 4096  # items whose words and distances stay in the first-level cache
NO_ITEM = np.int64((1 << 62) - 1)  # beyond every key
ROW_BITS = 32  # bits of a row


@inline
def model_distances(query: Words, words: Words, start: int, D: Integers) -> None:
    """D = distances from one query (words,) to the items start, ... of one model (words, n)."""
    W = words.shape[0]
    size = D.shape[0]
    stop = start + size
    for w in range(0, W - 3, 4):
        a, b, c, d = words[w, start:stop], words[w + 1, start:stop], words[w + 2, start:stop], words[w + 3, start:stop]
        p, q, r, s = query[w], query[w + 1], query[w + 2], query[w + 3]
        for i in range(size):
            count = popcount64(a[i] ^ p) + popcount64(b[i] ^ q) + popcount64(c[i] ^ r) + popcount64(d[i] ^ s)
            D[i] = np.uint16(count) + (D[i] if w > 0 else 0)
    for w in range(W - W % 4, W):
        a, p = words[w, start:stop], query[w]
        for i in range(size):
            D[i] = np.uint16(popcount64(a[i] ^ p)) + (D[i] if w > 0 else 0)


@inline
def chunk_keys(
    query: Words, words: Words, start: int, combine: int, step: int, D: Integers, tie: Integers, key: Integers
) -> None:
    """Keys of the items start, ..., start + len(key) - 1, combined over the models."""
    size = key.shape[0]
    D = D[:size]
    for m in range(words.shape[0]):
        model_distances(query[m], words[m], start, D)
        if m == 0:
            for i in range(size):
                key[i] = D[i]
            if combine == MIN_SUM:
                for i in range(size):
                    tie[i] = D[i]
        elif combine == SUM:
            for i in range(size):
                key[i] += D[i]
        else:
            for i in range(size):
                key[i] = min(key[i], np.int32(D[i]))
            if combine == MIN_SUM:
                for i in range(size):
                    tie[i] += D[i]
    if combine == MIN_SUM:
        for i in range(size):
            key[i] = key[i] * step + tie[i]


@inline
def push(heap: Integers, value: np.int64) -> None:
    """Replace the largest entry of a heap by a smaller value."""
    k = heap.shape[0]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= k:
            break
        if child + 1 < k and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@inline
def smallest(key: Integers) -> int:
    """The least entry."""
    least = key[0]
    for i in range(1, key.shape[0]):
        least = min(least, key[i])
    return int(least)


@inline
def scan_into(
    query: Words,
    words: Words,
    start: int,
    stop: int,
    combine: int,
    step: int,
    D: Integers,
    tie: Integers,
    key: Integers,
    heap: Integers,
) -> None:
    """Offer the items start to stop, all of them later than what is in the heap, to the heap."""
    size = min(CHUNK, stop - start)
    chunk_keys(query, words, start, combine, step, D, tie, key[:size])
    worst = heap[0] >> ROW_BITS
    if smallest(key[:size]) >= worst:
        return
    for i in range(size):
        if key[i] < worst:
            push(heap, (np.int64(key[i]) << ROW_BITS) | np.int64(start + i))
            worst = heap[0] >> ROW_BITS


def _scan_nearest(
    queries: Words,  # (b, T, words)
    words: Words,  # (T, words, capacity)
    n: int,
    combine: int,
    step: int,
    values: Integers,  # (b, k) int64, filled: key << 32 | row, in the order of a heap
) -> None:
    """The k nearest items of every query; a chunk of the items is read once for all queries."""
    D, tie, key = np.empty(CHUNK, np.uint16), np.empty(CHUNK, np.int32), np.empty(CHUNK, np.int32)
    values[:] = NO_ITEM
    for start in range(0, n, CHUNK):
        for b in range(queries.shape[0]):
            scan_into(queries[b], words, start, min(start + CHUNK, n), combine, step, D, tie, key, values[b])


def _scan_within(
    query: Words,  # (T, words)
    words: Words,
    start: int,
    n: int,
    combine: int,
    step: int,
    limit: int,  # the least key that is too large
    values: Integers,  # (room,) int64, filled as far as it goes
) -> int:
    """List key << 32 | row of every item from `start` whose key is below `limit`; return how many there are."""
    count = 0
    D, tie, key = np.empty(CHUNK, np.uint16), np.empty(CHUNK, np.int32), np.empty(CHUNK, np.int32)
    for first in range(start, n, CHUNK):
        size = min(CHUNK, n - first)
        chunk_keys(query, words, first, combine, step, D, tie, key[:size])
        if smallest(key[:size]) >= limit:
            continue
        for i in range(size):
            if key[i] < limit:
                if count < values.shape[0]:
                    values[count] = (np.int64(key[i]) << ROW_BITS) | np.int64(first + i)
                count += 1
    return count


@cache
def scan_nearest() -> Callable[..., None]:
    """Compiled at the first call on a machine, then read from disk."""
    u8, i8 = numba.types.uint64, numba.types.int64
    words = array_type(u8, 3, readonly=True)
    return kernel_for(numba.types.void(words, words, i8, i8, i8, array_type(i8, 2)), _scan_nearest)


@cache
def scan_within() -> Callable[..., int]:
    """Compiled at the first call on a machine, then read from disk."""
    u8, i8 = numba.types.uint64, numba.types.int64
    query, words = array_type(u8, 2, readonly=True), array_type(u8, 3, readonly=True)
    signature = i8(query, words, i8, i8, i8, i8, i8, array_type(i8, 1))
    return kernel_for(signature, _scan_within)
