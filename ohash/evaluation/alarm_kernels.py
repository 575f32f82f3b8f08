"""The two alarms, value by value. Sums are added in order, so that chunks cannot change where an alarm goes off."""

from typing import Any

import numpy as np

from ohash.core.compile import in_order

# State of Page-Hinkley: values since the last alarm, their mean and variance, the walk.
COUNT, MEAN, VARIANCE, WALK = range(4)

# ADWIN: values of a smallest bucket, buckets of one size before two are joined, sizes (32 · 2^40 values are enough).
BLOCK = 32
PER_LEVEL = 5
LEVELS = 40
# What a bucket holds, and what the unfinished block holds.
SUM, SQUARES, FILLED = range(3)


@in_order
def page_hinkley(
    start: int,
    values: Any,
    state: Any,
    delta: float,
    threshold: float,
    memory: int,
    warm_up: int,
    floor: float,
    fired: Any,
) -> int:
    """Take values start, start + 1, ... in; write the places of alarms to `fired` and return how many there are."""
    n, mean, variance, walk = state[COUNT], state[MEAN], state[VARIANCE], state[WALK]
    alarms = 0
    for t in range(values.shape[0]):
        gap = values[t] - mean
        if n >= warm_up:
            walk = max(0.0, walk + gap / max(floor, np.sqrt(variance)) - delta)
        n += 1.0
        weight = 1.0 / min(n, memory)
        mean += weight * gap
        variance = (1.0 - weight) * (variance + weight * gap * gap)
        if walk > threshold:
            fired[alarms] = start + t
            alarms += 1
            n = mean = variance = walk = 0.0
    state[COUNT], state[MEAN], state[VARIANCE], state[WALK] = n, mean, variance, walk
    return alarms


@in_order
def adwin(start: int, values: Any, part: Any, buckets: Any, filled: Any, delta: float, fired: Any) -> int:
    """Take values in; `buckets` (LEVELS, PER_LEVEL + 1, 2) holds sums and squares, oldest first in each level."""
    alarms = 0
    total, squares, held = part[SUM], part[SQUARES], part[FILLED]
    for t in range(values.shape[0]):
        total += values[t]
        squares += values[t] * values[t]
        held += 1.0
        if held < BLOCK:
            continue
        add(total, squares, buckets, filled)
        total = squares = held = 0.0
        risen = False
        while True:
            level, place, rises = strongest_cut(buckets, filled, delta)
            if level < 0:
                break
            risen |= rises
            forget(buckets, filled, level, place)
        if risen:
            fired[alarms] = start + t
            alarms += 1
    part[SUM], part[SQUARES], part[FILLED] = total, squares, held
    return alarms


@in_order
def add(total: float, squares: float, buckets: Any, filled: Any) -> None:
    """One more smallest bucket; where a level overflows, its two oldest become one of the next level."""
    for level in range(LEVELS):
        place = filled[level]
        buckets[level, place, SUM], buckets[level, place, SQUARES] = total, squares
        filled[level] += 1
        if filled[level] <= PER_LEVEL:
            return
        total = buckets[level, 0, SUM] + buckets[level, 1, SUM]
        squares = buckets[level, 0, SQUARES] + buckets[level, 1, SQUARES]
        for k in range(2, PER_LEVEL + 1):
            buckets[level, k - 2, SUM] = buckets[level, k, SUM]
            buckets[level, k - 2, SQUARES] = buckets[level, k, SQUARES]
        filled[level] -= 2


@in_order
def strongest_cut(buckets: Any, filled: Any, delta: float) -> tuple[int, int, bool]:
    """The last bucket before the cut with the largest |difference| / epsilon_cut > 1, and whether the mean rises there.

    The level is -1 if there is no such cut.
    """
    n, total, squares = 0.0, 0.0, 0.0
    size, top = float(BLOCK), 0
    for level in range(LEVELS):
        for k in range(filled[level]):
            n += size
            total += buckets[level, k, SUM]
            squares += buckets[level, k, SQUARES]
            top = level
        size *= 2.0
    at, place, rises = -1, -1, False
    if n < 2 * BLOCK:
        return at, place, rises
    variance = max(0.0, squares / n - (total / n) ** 2)
    log = np.log(2.0 * np.log(n) / delta)  # ln(2 / delta'), delta' = delta / ln n
    strongest = 1.0
    n_old, sum_old = 0.0, 0.0
    size = float(BLOCK << top)
    for level in range(top, -1, -1):
        for k in range(filled[level]):
            n_old += size
            sum_old += buckets[level, k, SUM]
            if n - n_old < BLOCK:
                break
            per_product = 1.0 / (n_old * (n - n_old))
            per_m = n * per_product  # 1 / n_old + 1 / n_new
            difference = (total * n_old - sum_old * n) * per_product  # mean of the new part less that of the old
            beyond = abs(difference) - 2.0 / 3.0 * per_m * log
            if beyond <= 0.0 or beyond * beyond <= 2.0 * per_m * variance * log:
                continue  # |difference| <= epsilon_cut
            epsilon = np.sqrt(2.0 * per_m * variance * log) + 2.0 / 3.0 * per_m * log
            if abs(difference) > strongest * epsilon:
                strongest = abs(difference) / epsilon
                at, place, rises = level, k, difference > 0
        size *= 0.5
    return at, place, rises


@in_order
def forget(buckets: Any, filled: Any, level: int, place: int) -> None:
    """Drop the bucket (level, place) and all that are older."""
    for older in range(level + 1, LEVELS):
        filled[older] = 0
    for k in range(place + 1, filled[level]):
        buckets[level, k - place - 1, SUM] = buckets[level, k, SUM]
        buckets[level, k - place - 1, SQUARES] = buckets[level, k, SQUARES]
    filled[level] -= place + 1
