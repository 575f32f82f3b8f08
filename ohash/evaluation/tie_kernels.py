"""From the tie classes of one query to its scores; every expectation is over a random order inside each class.

A ranking is a list of tie classes in rising distance: (size, relevant items in it, distance). N and hits count what
lies before a class.
"""

from typing import Any

from ohash.core.compile import inlined

# Columns of `scores`; after them, for every k: AP@k, precision@k, hit@k.
N_RELEVANT, AP, AP_LOW, AP_HIGH, RECIPROCAL_RANK, BALL, BALL_RELEVANT, FIRST_K = range(8)

# Columns of `counts` (integers) and of `sums`, one row per radius.
RETRIEVED, RETRIEVED_RELEVANT = range(2)
PRECISION, RECALL = range(2)

DIRECT = 64  # sums up to this long are taken term by term: differences of harmonic numbers lose digits


@inlined
def progression(first: float, slope: float, before: int, places: int, harmonic: Any) -> float:
    """Σ over t = 1, ..., places of (first + (t - 1) slope) / (before + t), by harmonic numbers if that is long."""
    if places > DIRECT:
        H: float = harmonic[before + places] - harmonic[before]
        return slope * places + (first - slope * (before + 1)) * H
    total = 0.0
    for t in range(places):
        total += (first + t * slope) / (before + 1 + t)
    return total


@inlined
def class_precision(before: int, hits_before: int, size: int, hits: int, places: int, harmonic: Any) -> float:
    r"""Expected Σ of precision at the relevant ones among the first places of a tie class (He et al., CVPR 2018).

    .. math:: \frac{n^+}{n} \sum_{t=1}^{places} \frac{N^+ + 1 + (t-1) (n^+ - 1) / (n - 1)}{N + t}
    """
    slope = (hits - 1) / (size - 1) if size > 1 else 0.0
    return progression(hits_before + 1.0, slope, before, places, harmonic) * hits / size


@inlined
def some_hit(size: int, hits: int, places: int) -> float:
    """Chance that `places` draws from a class of `size` without replacement meet one of its `hits`: hypergeometric."""
    if places > size - hits:
        return 1.0
    fewer, more = min(hits, places), max(hits, places)
    none = 1.0
    for j in range(fewer):
        none *= (size - more - j) / (size - j)
    return 1.0 - none


@inlined
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


@inlined
def bounds(found: int, size: Any, relevant: Any, harmonic: Any, scores: Any) -> None:
    """AP with the relevant items last, and first, inside every tie class."""
    low = high = 0.0
    N = hits = 0
    for c in range(found):
        others = size[c] - relevant[c]
        high += progression(hits + 1.0, 1.0, N, relevant[c], harmonic)
        low += progression(hits + 1.0, 1.0, N + others, relevant[c], harmonic)
        N += size[c]
        hits += relevant[c]
    scores[AP_LOW], scores[AP_HIGH] = low / hits, high / hits


@inlined
def score(found: int, size: Any, relevant: Any, R: int, ks: Any, harmonic: Any, scores: Any) -> None:
    """AP, AP@k, precision@k, hit@k and the reciprocal rank from the tie classes; R > 0 relevant items in all."""
    n_k = ks.shape[0]
    ap = 0.0
    N = hits = at = 0
    for c in range(found):
        while at < n_k and ks[at] <= N + size[c]:
            k, places = ks[at], ks[at] - N
            part = class_precision(N, hits, size[c], relevant[c], places, harmonic) if relevant[c] > 0 else 0.0
            column = FIRST_K + 3 * at
            scores[column] = (ap + part) / min(R, k)
            scores[column + 1] = (hits + places * (relevant[c] / size[c])) / k
            scores[column + 2] = 1.0 if hits > 0 else some_hit(size[c], relevant[c], places)
            at += 1
        if relevant[c] > 0:
            ap += class_precision(N, hits, size[c], relevant[c], size[c], harmonic)
            if hits == 0:
                scores[RECIPROCAL_RANK] = first_hit(N, size[c], relevant[c])
        N += size[c]
        hits += relevant[c]
    scores[AP] = ap / R
    for rest in range(at, n_k):  # k beyond the database: all of it is retrieved
        column = FIRST_K + 3 * rest
        scores[column], scores[column + 1], scores[column + 2] = ap / R, R / N, 1.0


@inlined
def curve(
    found: int, size: Any, relevant: Any, dist: Any, R: int, radius: int, scores: Any, counts: Any, sums: Any
) -> None:
    """Add this query to the precision and recall within every radius; an empty ball has precision 0."""
    N = hits = c = 0
    for rho in range(counts.shape[0]):
        while c < found and dist[c] <= rho:
            N += size[c]
            hits += relevant[c]
            c += 1
        counts[rho, RETRIEVED] += N
        counts[rho, RETRIEVED_RELEVANT] += hits
        sums[rho, PRECISION] += hits / N if N > 0 else 0.0
        sums[rho, RECALL] += hits / R
        if rho == radius:
            scores[BALL], scores[BALL_RELEVANT] = N, hits
