"""Is one ranking better than another, or is the difference due to the choice of queries?"""

import hashlib
import math
from collections.abc import MutableMapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Rows

DRAWS_AT_ONCE = 2_000_000
ENOUGH_SEEDS = 3  # for a t interval of their mean
ENOUGH_QUERIES = 30  # for a normal interval of their mean
# Per score, a large standard deviation over seeds of a difference between two methods; slow tests measure it to within
# a factor of 1.5 (`tests/evaluation/test_significance.py`).
SEED_SPREADS = {"map": 0.03, "hit_10": 0.03, "recall_10": 0.03}
# With fewer seeds an effect must exceed so many standard errors of their mean, taken from SEED_SPREADS.
FEW_SEEDS_FACTOR = 3.0
MOSTLY_SHARED = 0.5


# Ends of bootstrap intervals, by a fingerprint of the numbers that were resampled.
Intervals = MutableMapping[str, tuple[float, float]]


class Difference(NamedTuple):
    """Mean difference a - b over the queries, and its confidence interval."""

    difference: float
    low: float
    high: float


def paired_bootstrap(
    ap_a: npt.ArrayLike,
    ap_b: npt.ArrayLike,
    *,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
    known: Intervals | None = None,
) -> Difference:
    """Percentile interval of mean(ap_a - ap_b) over resampled queries, the same ones for both sides.

    Takes `Retrieval.ap` of two rankings of the same queries; a query excluded on either side (NaN) is left out. The
    resamples are `scipy.stats.bootstrap`'s; the quantiles are NumPy's, as SciPy interpolates with other rounding.
    An interval that is in `known` is not computed again, and a new one is added to it.

    >>> paired_bootstrap([0.75, 0.5, 1.0], [0.5, 0.25, 0.75])
    Difference(difference=0.25, low=0.25, high=0.25)
    """
    a, b = np.asarray(ap_a, dtype=np.float64), np.asarray(ap_b, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"ap_a and ap_b must be vectors over the same queries, got shapes {a.shape} and {b.shape}")
    if not 0 < level < 1:
        raise ValueError(f"level must be a number in (0, 1), got {level!r}; 0.95 gives a 95 % interval")
    resamples = validation.integer("resamples", resamples, 1)
    gain = (a - b)[~np.isnan(a - b)]
    if not gain.size:
        raise ValueError(f"ap_a and ap_b must share a scored query, got {a.size} queries, none scored on both sides")
    mean = float(gain.mean())
    key = _fingerprint(gain, resamples, level, seed)
    if known is not None and key in known:
        return Difference(mean, *known[key])
    means = gain  # of a single query, which SciPy refuses to resample
    if gain.size > 1:
        from scipy.stats import bootstrap  # noqa: PLC0415 (slow to import)

        means = bootstrap(
            (gain,), np.mean, n_resamples=resamples, batch=max(1, DRAWS_AT_ONCE // gain.size), vectorized=True,
            method="percentile", rng=np.random.default_rng(seed),
        ).bootstrap_distribution  # fmt: skip
    low, high = map(float, np.quantile(means, [(1 - level) / 2, (1 + level) / 2]))
    if known is not None:
        known[key] = low, high
    return Difference(mean, low, high)


def _fingerprint(gain: npt.NDArray[np.float64], *options: float) -> str:
    """What an interval follows from, as a few letters."""
    return hashlib.blake2b(gain.tobytes() + repr(options).encode(), digest_size=10).hexdigest()


def difference_over_seeds(
    a: Sequence[npt.NDArray[np.float64]],
    b: Sequence[npt.NDArray[np.float64]],
    *,
    resamples: int = 2000,
    score: str = "map",
    known: Intervals | None = None,
    same_queries: bool = False,
) -> Difference:
    """Mean score of a less that of b, given one array of scores per seed, for the same queries on both sides.

    The 95 % interval is that of a paired bootstrap over the queries of all seeds. Queries do not show how much models
    vary between seeds, so with ENOUGH_SEEDS the interval is at least the t interval of the seeds' mean, and with fewer
    it is widened on both sides by `few_seeds_margin`: one seed proves only what no other seed would overturn. `score`
    is one of SEED_SPREADS: average precision, hit@10 or recall@10 of the exact neighbours; `known` is that of
    `paired_bootstrap`. Where all seeds have the `same_queries`, in one order, more seeds are no more queries: then a
    query is resampled with its scores of all seeds, and the interval has the variances of both queries and seeds.

    >>> ap = [np.array([0.5, 0.7]), np.array([0.3, 0.5]), np.array([0.6, 0.8])]
    >>> wide, narrow = difference_over_seeds(ap, [np.zeros(2)] * 3), paired_bootstrap(np.concatenate(ap), np.zeros(6))
    >>> f"{wide.low:.2f} {narrow.low:.2f}"
    '0.19 0.43'
    """
    if same_queries:
        each = mean_per_query([one - other for one, other in zip(a, b, strict=True)])
        queries = paired_bootstrap(each, np.zeros_like(each), resamples=resamples, known=known)
    else:
        queries = paired_bootstrap(np.concatenate(a), np.concatenate(b), resamples=resamples, known=known)
    margin = few_seeds_margin(len(a), score)
    if margin:
        return Difference(queries.difference, queries.low - margin, queries.high + margin)
    from scipy.special import stdtrit  # noqa: PLC0415 (slow to import; scipy.stats even more so)

    factor = float(stdtrit(len(a) - 1, 0.975))
    means = np.array([float(np.nanmean(one - other)) for one, other in zip(a, b, strict=True)])
    middle, half = float(means.mean()), float(factor * means.std(ddof=1) / np.sqrt(len(means)))
    if same_queries:  # the seeds' means do not show how much queries vary
        low, high = np.hypot(queries.low - middle, half), np.hypot(queries.high - middle, half)
        return Difference(middle, middle - float(low), middle + float(high))
    return Difference(queries.difference, min(queries.low, middle - half), max(queries.high, middle + half))


def mean_per_query(scores: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """The mean over seeds of each query's score, if all have the same queries; those never scored are left out.

    >>> mean_per_query([np.array([0.2, np.nan, np.nan]), np.array([0.4, np.nan, 0.5])]).tolist()
    [0.30000000000000004, 0.5]
    """
    every = np.stack(scores)
    return np.asarray(np.nanmean(every[:, ~np.isnan(every).all(axis=0)], axis=0))


def align_queries(
    scores: Sequence[npt.NDArray[np.float64]], queries: Sequence[Rows | None]
) -> tuple[list[npt.NDArray[np.float64]], bool]:
    """The scores of each seed, and whether the seeds share most of their queries, as where a data set declares them.

    `queries` are the rows that each seed's scores belong to; None or another number of rows counts as not shared. Where
    they are shared, every array has a place for each query of any seed, NaN where its seed does not have it.

    >>> align_queries([np.array([0.1, 0.2]), np.array([0.3, 0.4])], [np.array([5, 7]), np.array([5, 8])])[1]
    False
    >>> align_queries([np.array([0.1, 0.2]), np.array([0.4, 0.3])], [np.array([5, 7]), np.array([7, 5])])
    ([array([0.1, 0.2]), array([0.3, 0.4])], True)
    """
    each = list(scores)
    rows = [row for one, row in zip(each, queries, strict=True) if row is not None and len(row) == len(one)]
    if len(rows) < max(2, len(each)):
        return each, False
    every = np.unique(np.concatenate(rows))
    share = (sum(map(len, rows)) / len(every) - 1) / (len(rows) - 1)  # 0 if no two have one in common, 1 if all do
    if share <= MOSTLY_SHARED:
        return each, False
    aligned = [np.full(len(every), math.nan) for _ in rows]
    for line, row, values in zip(aligned, rows, each, strict=True):
        line[np.searchsorted(every, row)] = values
    return aligned, True


def half_width(values: npt.ArrayLike) -> float:
    """Half the width of the 95 % interval of the mean of one value per query; NaN for fewer than two.

    >>> round(half_width([0.0, 1.0, 0.0, 1.0, float("nan")]), 3)
    0.566
    """
    finite = np.asarray(values, np.float64)
    finite = finite[~np.isnan(finite)]
    return 1.96 * float(finite.std(ddof=1)) / float(np.sqrt(finite.size)) if finite.size > 1 else float("nan")


def change_half_width(after: npt.ArrayLike, before: npt.ArrayLike) -> float:
    """Half the width of the 95 % interval of the mean change of the same queries' scores; NaN for fewer than two.

    >>> round(change_half_width([0.3, 0.8, 0.5], [0.2, 0.7, float("nan")]), 3)
    0.0
    """
    change = np.asarray(after, np.float64) - np.asarray(before, np.float64)
    return _mean_half_width(change[~np.isnan(change)])


def _mean_half_width(scores: npt.NDArray[np.float64]) -> float:
    """By the normal distribution, or by Student's if there are fewer than ENOUGH_QUERIES."""
    if not 1 < scores.size < ENOUGH_QUERIES:
        return half_width(scores)
    from scipy.special import stdtrit  # noqa: PLC0415 (slow to import)

    return float(stdtrit(scores.size - 1, 0.975)) * float(scores.std(ddof=1)) / float(np.sqrt(scores.size))


SHOWN = 5e-4  # a difference that three digits do not show


def score_half_width(scores: npt.ArrayLike, hits: bool = False) -> float:
    """Half the width of the 95 % interval of a mean of scores in [0, 1], even of equal ones; NaN for fewer than two.

    Fewer than ENOUGH_QUERIES have Student's interval. If all scores are equal, as far as three digits show, the next
    one may still differ: the interval is then that of a share none of whose queries was missed (Clopper and Pearson).
    Nor do scores whose mean is nearly 1 make surer: no interval ends above that of scores that are all 1. Only of
    `hits`, which are 0 or 1 but for ties, a missed one shows how far they spread.

    >>> round(score_half_width([1.0, 1.0, 1.0]), 3), round(score_half_width([0.2, 0.4]), 3), score_half_width([0.5])
    (0.708, 1.0, nan)
    >>> score_half_width([1.0] * 99 + [0.9999]) == score_half_width([1.0] * 100)
    True
    >>> f"{1 - score_half_width([1.0] * 100):.3f} {0.9995 - score_half_width([1.0] * 99 + [0.95]):.3f}"
    '0.964 0.964'
    """
    finite = np.asarray(scores, np.float64)
    finite = finite[~np.isnan(finite)]
    if finite.size < 2:
        return math.nan
    none_missed = float(1 - 0.025 ** (1 / finite.size))
    if np.ptp(finite) < SHOWN:
        return none_missed
    half = _mean_half_width(finite)
    if not hits or finite.min() > 1 - none_missed:
        half = max(half, float(finite.mean()) - (1 - none_missed))
    return min(1.0, half)


def few_seeds_margin(seeds: int, score: str = "map") -> float:
    """How far fewer than ENOUGH_SEEDS seeds widen an interval of a score on either side; 0 for enough of them.

    >>> [round(few_seeds_margin(seeds), 3) for seeds in (1, 2, 3)]
    [0.09, 0.064, 0.0]
    """
    return FEW_SEEDS_FACTOR * SEED_SPREADS[score] / float(np.sqrt(seeds)) if seeds < ENOUGH_SEEDS else 0.0


def seeds_text(seeds: int) -> str:
    """The number of seeds in words."""
    return {1: "one seed", 2: "two seeds"}.get(seeds, f"{seeds} seeds")
