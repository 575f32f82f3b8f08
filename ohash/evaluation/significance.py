"""Is one ranking better than another, or is it luck of the queries?"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ohash.evaluation.packed_codes import at_least

DRAWS_AT_ONCE = 2_000_000
ENOUGH_SEEDS = 3  # whose own spread says how sure a mean is
TWICE = 2.0


class Difference(NamedTuple):
    """Mean difference a - b over the queries, and its confidence interval."""

    difference: float
    low: float
    high: float


def paired_bootstrap(
    ap_a: npt.ArrayLike, ap_b: npt.ArrayLike, *, resamples: int = 2000, level: float = 0.95, seed: int = 0
) -> Difference:
    """Resample the queries, the same ones for both sides: percentile interval of mean(ap_a - ap_b).

    Takes `Retrieval.ap` of two rankings of the same queries; a query that either side excluded (NaN) is left out.

    >>> paired_bootstrap([0.75, 0.5, 1.0], [0.5, 0.25, 0.75])
    Difference(difference=0.25, low=0.25, high=0.25)
    """
    a, b = np.asarray(ap_a, dtype=np.float64), np.asarray(ap_b, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"ap_a and ap_b must be vectors over the same queries, got shapes {a.shape} and {b.shape}")
    if not 0 < level < 1:
        raise ValueError(f"level must be a number in (0, 1), got {level!r}; 0.95 gives a 95 % interval")
    resamples = at_least("resamples", resamples, 1)
    gain = (a - b)[~np.isnan(a - b)]
    if not gain.size:
        raise ValueError(f"ap_a and ap_b must share a scored query, got {a.size} queries, none scored on both sides")
    rng = np.random.default_rng(seed)
    step = max(1, DRAWS_AT_ONCE // gain.size)
    means = [
        gain[rng.integers(0, gain.size, (min(step, resamples - start), gain.size))].mean(axis=1)
        for start in range(0, resamples, step)
    ]
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2])
    return Difference(float(gain.mean()), float(low), float(high))


def over_seeds(a: Sequence[npt.NDArray[Any]], b: Sequence[npt.NDArray[Any]], *, resamples: int = 2000) -> Difference:
    """MAP of a less that of b, one array of average precisions a seed, the same queries on both sides.

    The 95 % interval is that of a paired bootstrap over the queries of all seeds. Those are asked of as many models as
    there are seeds, so with ENOUGH_SEEDS it is at least the t interval of their mean, with two, of which t says next to
    nothing, at least TWICE their standard error.

    >>> ap = [np.array([0.5, 0.7]), np.array([0.3, 0.5]), np.array([0.6, 0.8])]
    >>> found = over_seeds(ap, [np.zeros(2)] * 3), paired_bootstrap(np.concatenate(ap), np.zeros(6))
    >>> " ".join(f"{one.low:.2f}" for one in found)
    '0.19 0.43'
    """
    found = paired_bootstrap(np.concatenate(a), np.concatenate(b), resamples=resamples)
    if len(a) < 2:
        return found
    times = TWICE
    if len(a) >= ENOUGH_SEEDS:
        from scipy.stats import t  # noqa: PLC0415 (takes a while to import)

        times = float(t.ppf(0.975, len(a) - 1))
    gains = np.array([float(np.nanmean(one - other)) for one, other in zip(a, b, strict=True)])
    middle, half = float(gains.mean()), float(times * gains.std(ddof=1) / np.sqrt(len(gains)))
    return Difference(found.difference, min(found.low, middle - half), max(found.high, middle + half))
