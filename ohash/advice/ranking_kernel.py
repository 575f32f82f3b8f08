"""The compiled part of the judge: of a row of distances the hundred nearest, and scores expected over ties."""

from collections.abc import Callable
from functools import cache

import numba
import numpy as np

from ohash.core.arrays import Bytes, Floats, Integers, Singles
from ohash.evaluation.hamming_kernels import array_type
from ohash.runtime.compile import inlined, kernel_for

NEAREST = 10
RESCORED = 100
TRUTH, NDCG, RECALL, RESCORED_RECALL = range(4)


@inlined
def sift(values: Singles, items: Integers, size: int, value: float, item: int) -> None:
    """Put an entry at the top of a heap of (value, item), the largest first, and let it sink."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            values[right] > values[child] or (values[right] == values[child] and items[right] > items[child])
        ):
            child = right
        if values[child] < value or (values[child] == value and items[child] <= item):
            break
        values[at], items[at] = values[child], items[child]
        at = child
    values[at], items[at] = value, item


def _judge_rows(
    D: Singles,  # (b, n), infinite where an item is hidden
    answers: Bytes,  # (b, n): 1 for an answer
    counts: Integers,  # (b,): answers that exist
    exact: Integers,  # (b, e): exact neighbours, e = 0 if they are not known yet
    discount: Floats,  # (NEAREST,)
    by_label: bool,
    near: Integers,  # (b, k), filled: the nearest by (distance, row), k = RESCORED or n
    scores: Floats,  # (b, 4), filled
) -> None:
    """Scores of every row."""
    n, k = D.shape[1], near.shape[1]
    values = np.empty(k, np.float32)
    ends = np.array([min(NEAREST, k), k])
    for b in range(D.shape[0]):
        row, items = D[b], near[b]
        values[:] = np.float32(np.inf)
        for at in range(k):
            items[at] = n + at
        for i in range(n):
            if row[i] < values[0]:
                sift(values, items, k, row[i], i)
        for size in range(k - 1, 0, -1):  # the largest goes to the end
            value, item = values[size], items[size]
            values[size], items[size] = values[0], items[0]
            sift(values, items, size, value, item)
        gain, precise, miss = 0.0, 0.0, 1.0
        start = 0
        while start < ends[0] and np.isfinite(values[start]):
            stop = start
            while stop < k and values[stop] == values[start]:
                stop += 1
            size, right = 0, 0
            if stop < k:  # the tie ends within the list
                size = stop - start
                for at in range(start, stop):
                    right += answers[b, items[at]]
            else:
                for i in range(n):
                    if row[i] == values[start]:
                        size += 1
                        right += answers[b, i]
            shown = min(size, ends[0] - start)
            for at in range(shown):  # no answer among `shown` of `size`, drawn without replacement
                gain += right / size * discount[start + at]
                miss *= max(0.0, (size - right - at) / (size - at))
            precise += right * shown / size
            start += size
        best = 0.0
        for at in range(min(counts[b], NEAREST)):
            best += discount[at]
        scores[b, TRUTH] = precise / NEAREST if by_label else 1 - miss
        scores[b, NDCG] = gain / best if best > 0 else 0.0
        for which in range(2):
            end = ends[which]
            last = values[end - 1]
            share, level = 0.0, 0
            for at in range(exact.shape[1]):
                value = row[exact[b, at]]
                share += value < last
                level += value == last and np.isfinite(value)
            if level:  # a tie at the end: its places are shared by all that tie
                less, ties = end - 1, 0
                while less > 0 and values[less - 1] == last:
                    less -= 1
                for i in range(n):
                    ties += row[i] == last
                share += level * (end - less) / ties
            scores[b, RECALL + which] = share / exact.shape[1] if exact.shape[1] else 1.0


@cache
def judge_rows() -> Callable[..., None]:
    """Compiled at the first call on a machine, then read from disk."""
    types = numba.types
    f4, f8, i8, u1 = types.float32, types.float64, types.int64, types.uint8
    signature = types.void(
        array_type(f4, 2, readonly=True), array_type(u1, 2, readonly=True), array_type(i8, 1, readonly=True),
        array_type(i8, 2, readonly=True), array_type(f8, 1, readonly=True), types.boolean, array_type(i8, 2),
        array_type(f8, 2),
    )  # fmt: skip
    return kernel_for(signature, _judge_rows)
