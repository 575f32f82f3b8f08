"""One pass over the database per query: distances, then tie classes, then every metric of `ohash.evaluation.ranking`.

A ranking is a list of tie classes by ascending distance: (size, relevant items in it, distance). Expectations are over
a random order inside each class; N and hits count what lies before a class. With ``ties="stable"`` every item is a
class of its own, in the order of the database.
"""

import math
from collections.abc import Callable
from functools import cache

import numba
import numpy as np

from ohash.core.arrays import Bytes, Floats, Integers
from ohash.evaluation.hamming_kernels import CHUNK, MIN_SUM, SUM, chunk_distances, stable_order
from ohash.runtime.compile import array_type, inline, kernel_for

# Columns of `scores`; after them, for every k: AP@k, precision@k, hit@k, nDCG@k.
N_RELEVANT, AP, AP_LOW, AP_HIGH, RECIPROCAL_RANK, AUC, BALL, BALL_RELEVANT, FIRST_K = range(9)
PER_K = 4

# Columns of `counts` (integers) and of `sums`, one row per radius.
RETRIEVED, RETRIEVED_RELEVANT = range(2)
PRECISION, RECALL = range(2)

DIRECT = 64  # sums up to this long are taken term by term: differences of harmonic numbers lose digits


@inline
def progression(first: float, slope: float, before: int, places: int, harmonic: Floats) -> float:
    """Σ over t = 1, ..., places of (first + (t - 1) slope) / (before + t), by harmonic numbers if that is long."""
    if places > DIRECT:
        H: float = harmonic[before + places] - harmonic[before]
        return slope * places + (first - slope * (before + 1)) * H
    total = 0.0
    for t in range(places):
        total += (first + t * slope) / (before + 1 + t)
    return total


@inline
def class_precision(before: int, hits_before: int, size: int, hits: int, places: int, harmonic: Floats) -> float:
    r"""Expected Σ of precision at the relevant ones among the first places of a tie class (He et al., CVPR 2018).

    .. math:: \frac{n^+}{n} \sum_{t=1}^{places} \frac{N^+ + 1 + (t-1) (n^+ - 1) / (n - 1)}{N + t}
    """
    slope = (hits - 1) / (size - 1) if size > 1 else 0.0
    return progression(hits_before + 1.0, slope, before, places, harmonic) * hits / size


@inline
def some_hit(size: int, hits: int, places: int) -> float:
    """Chance that `places` draws from a class of `size` without replacement meet one of its `hits`: hypergeometric."""
    if places > size - hits:
        return 1.0
    fewer, more = min(hits, places), max(hits, places)
    none = 1.0
    for j in range(fewer):
        none *= (size - more - j) / (size - j)
    return 1.0 - none


@inline
def first_hit(before: int, size: int, hits: int) -> float:
    """Expected 1/rank of the first relevant item, which lies in this class."""
    chance = hits / size
    total = chance / (before + 1)
    for t in range(1, size - hits + 1):
        chance *= (size - t - hits + 1) / (size - t)
        if chance == 0.0:
            break
        total += chance / (before + t + 1)
    return total


@inline
def discounted_gain(before: int, share: float, places: int) -> float:
    """Expected discounted gain of the first places of a class in which a share of the items is relevant."""
    total = 0.0
    for t in range(before + 1, before + places + 1):
        total += 1.0 / math.log2(t + 1.0)
    return share * total


@inline
def bounds(n_classes: int, size: Integers, relevant: Integers, harmonic: Floats, scores: Floats) -> None:
    """AP with the relevant items last, and first, inside every tie class."""
    low = high = 0.0
    N = hits = 0
    for c in range(n_classes):
        others = size[c] - relevant[c]
        high += progression(hits + 1.0, 1.0, N, relevant[c], harmonic)
        low += progression(hits + 1.0, 1.0, N + others, relevant[c], harmonic)
        N += size[c]
        hits += relevant[c]
    scores[AP_LOW], scores[AP_HIGH] = low / hits, high / hits


@inline
def score(
    n_classes: int, size: Integers, relevant: Integers, R: int, ks: Integers, harmonic: Floats, scores: Floats
) -> None:
    """AP, AP@k, precision@k, hit@k, nDCG@k, reciprocal rank and AUC from the tie classes; R > 0 relevant items."""
    n_k = ks.shape[0]
    ap = dcg = pairs = 0.0
    N = hits = at = 0
    others = -R
    for c in range(n_classes):
        others += size[c]
    for c in range(n_classes):
        share = relevant[c] / size[c]
        while at < n_k and ks[at] <= N + size[c]:
            k, places = ks[at], ks[at] - N
            part = class_precision(N, hits, size[c], relevant[c], places, harmonic) if relevant[c] > 0 else 0.0
            gain = dcg + discounted_gain(N, share, places) if relevant[c] > 0 else dcg
            column = FIRST_K + PER_K * at
            scores[column] = (ap + part) / min(R, k)
            scores[column + 1] = (hits + places * share) / k
            scores[column + 2] = 1.0 if hits > 0 else some_hit(size[c], relevant[c], places)
            scores[column + 3] = gain / discounted_gain(0, 1.0, min(R, k))
            at += 1
        if relevant[c] > 0:
            if at < n_k:
                dcg += discounted_gain(N, share, size[c])
            others_after = others - (N - hits)  # others in this class and after it
            pairs += relevant[c] * (others_after - 0.5 * (size[c] - relevant[c]))
            ap += class_precision(N, hits, size[c], relevant[c], size[c], harmonic)
            if hits == 0:
                scores[RECIPROCAL_RANK] = first_hit(N, size[c], relevant[c])
        N += size[c]
        hits += relevant[c]
    scores[AP] = ap / R
    scores[AUC] = pairs / (R * others) if others > 0 else np.nan
    for rest in range(at, n_k):  # k beyond the database: all of it is retrieved
        column = FIRST_K + PER_K * rest
        scores[column], scores[column + 1], scores[column + 2] = ap / R, R / N, 1.0
        scores[column + 3] = dcg / discounted_gain(0, 1.0, R)


@inline
def curve(
    n_classes: int,
    size: Integers,
    relevant: Integers,
    dist: Integers,
    R: int,
    radius: int,
    scores: Floats,
    counts: Integers,
    sums: Floats,
) -> None:
    """Add this query to the precision and recall within every radius; an empty ball has precision 0."""
    N = hits = c = 0
    for rho in range(counts.shape[0]):
        while c < n_classes and dist[c] <= rho:
            N += size[c]
            hits += relevant[c]
            c += 1
        counts[rho, RETRIEVED] += N
        counts[rho, RETRIEVED_RELEVANT] += hits
        sums[rho, PRECISION] += hits / N if N > 0 else 0.0
        sums[rho, RECALL] += hits / R
        if rho == radius:
            scores[BALL], scores[BALL_RELEVANT] = N, hits


# Flags of an item for a query.
RELEVANT, HIDDEN = 1, 2


@inline
def classes_by_histogram(
    query: Bytes,
    codes: Bytes,
    flags: Bytes,
    combine: int,
    scratch: tuple[Integers, ...],
    histogram: Integers,
    size: Integers,
    relevant: Integers,
    dist: Integers,
) -> int:
    """Tie classes by counting; the key of an item is its distance, or for MIN_SUM min (T r + 1) + sum.

    Short histograms are kept in four copies used in turn, so that increments of equal keys do not wait for each other.
    """
    partial, D, near, tie_break, key = scratch
    T, width, n = codes.shape
    step = 8 * T * width + 1 if combine == MIN_SUM else 1
    histogram[:] = 0
    copies = histogram.shape[0]
    h0, h1, h2, h3 = histogram[0], histogram[1 % copies], histogram[2 % copies], histogram[3 % copies]
    for start in range(0, n, CHUNK):
        stop = min(CHUNK, n - start)
        chunk_distances(query, codes, start, combine, partial, D, near[:stop], tie_break[:stop])
        marks = flags[start : start + stop]
        if combine == MIN_SUM:
            for i in range(stop):
                near[i] = near[i] * step + tie_break[i]
        for i in range(stop):
            key[i] = (near[i] << 2) | marks[i]
        whole = stop // 4 * 4
        for i in range(0, whole, 4):
            h0[key[i]] += 1
            h1[key[i + 1]] += 1
            h2[key[i + 2]] += 1
            h3[key[i + 3]] += 1
        for i in range(whole, stop):
            h0[key[i]] += 1
    n_classes = 0
    for value in range(histogram.shape[1] // 4):
        others = hits = 0
        for c in range(copies):
            others += histogram[c, 4 * value]
            hits += histogram[c, 4 * value + RELEVANT]
        if hits + others > 0:
            size[n_classes], relevant[n_classes], dist[n_classes] = hits + others, hits, value // step
            n_classes += 1
    return n_classes


@inline
def classes_by_order(
    order: Integers,
    near: Integers,
    tie_break: Integers,
    flags: Bytes,
    size: Integers,
    relevant: Integers,
    dist: Integers,
) -> int:
    """Tie classes of items already sorted by (near, tie_break)."""
    n_classes = -1
    last = order[0]
    for at in range(order.shape[0]):
        item = order[at]
        if flags[item] & HIDDEN:
            continue
        if n_classes < 0 or near[item] != near[last] or tie_break[item] != tie_break[last]:
            n_classes += 1
            size[n_classes], relevant[n_classes], dist[n_classes] = 0, 0, near[item]
        size[n_classes] += 1
        relevant[n_classes] += flags[item] & RELEVANT
        last = item
    return n_classes + 1


def _score_queries(
    queries: Bytes,  # (T, b, bytes)
    codes: Bytes,  # (T, bytes, n)
    flags: Bytes,  # (b, n)
    combine: int,
    stable: bool,
    ks: Integers,  # rising
    radius: int,
    harmonic: Floats,  # (n + 1,) 0, 1, 1 + 1/2, ...
    scores: Floats,  # (b, FIRST_K + PER_K len(ks)), filled; NaN where nothing is relevant
    counts: Integers,  # (radii, 2) int64, added to
    sums: Floats,  # (radii, 2) float64, added to
) -> None:
    """Score a block of queries; the radii are 0, ..., r, or T r for SUM. With T = 1 `combine` is not MIN_SUM."""
    T, width, n = codes.shape
    keys = 8 * width + 1  # how many keys a histogram would have to hold
    if combine == SUM:
        keys = 8 * T * width + 1
    elif combine == MIN_SUM:
        keys *= 8 * T * width + 1
    sorting = stable or keys > 4 * n + 65536
    whole = n if sorting else CHUNK
    most = n if sorting else keys
    partial, D, key = np.empty(CHUNK, np.uint8), np.empty(CHUNK, np.int32), np.empty(CHUNK, np.uint32)
    near, tie_break = np.empty(whole, np.int32), np.empty(whole, np.int32)
    size, relevant, dist = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    histogram = np.empty((4 if keys <= 4096 else 1, 1 if sorting else 4 * keys), np.int32)
    counter = np.empty(8 * T * width + 2, np.int64)
    order, last = np.empty(whole, np.int32), np.empty(whole, np.int32)
    scratch = (partial, D, near, tie_break, key)

    for b in range(queries.shape[1]):
        query = queries[:, b]
        if sorting:
            for start in range(0, n, CHUNK):
                stop = min(start + CHUNK, n)
                chunk_distances(query, codes, start, combine, partial, D, near[start:stop], tie_break[start:stop])
            if combine != MIN_SUM:
                tie_break[:] = 0
                stable_order(near, last, order, counter, True)
            else:
                stable_order(tie_break, order, last, counter, True)
                stable_order(near, last, order, counter, False)
            n_classes = classes_by_order(order, near, tie_break, flags[b], size, relevant, dist)
        else:
            n_classes = classes_by_histogram(query, codes, flags[b], combine, scratch, histogram, size, relevant, dist)
        R = 0
        for c in range(n_classes):
            R += relevant[c]
        scores[b, :] = np.nan
        scores[b, N_RELEVANT] = R
        if R == 0:
            continue
        bounds(n_classes, size, relevant, harmonic, scores[b])
        curve(n_classes, size, relevant, dist, R, radius, scores[b], counts, sums)
        if stable:
            n_classes = 0
            for at in range(n):
                if not flags[b, order[at]] & HIDDEN:
                    size[n_classes], relevant[n_classes] = 1, flags[b, order[at]] & RELEVANT
                    n_classes += 1
        score(n_classes, size, relevant, R, ks, harmonic, scores[b])


@cache
def score_queries() -> Callable[..., None]:
    """The scoring kernel; compiled at the first call on a machine, then read from disk."""
    u1, i8, f8 = numba.types.uint8, numba.types.int64, numba.types.float64
    signature = numba.types.void(
        array_type(u1, 3, readonly=True), array_type(u1, 3, readonly=True), array_type(u1, 2, readonly=True),
        i8, numba.types.boolean, array_type(i8, 1, readonly=True), i8, array_type(f8, 1, readonly=True),
        array_type(f8, 2), array_type(i8, 2), array_type(f8, 2),
    )  # fmt: skip
    return kernel_for(signature, _score_queries)
