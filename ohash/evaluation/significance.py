"""Is one ranking better than another, or is it luck of the queries?"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ohash.evaluation.packed import at_least

DRAWS_AT_ONCE = 2_000_000


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
