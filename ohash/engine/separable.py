"""Two streams over the same points: one that some W satisfies completely, and the same one with wrong answers.

The points are two clouds of a class each, so that W with w = (1, 0, 0) in every column has R = 0 at every pair:
similar ones agree in all bits, dissimilar ones in none.
"""

import numpy as np
import numpy.typing as npt

from ohash.models.online.oh import OH

POINTS, PAIRS, BITS = 60, 2000, 8


def separable_stream(
    wrong: float, seed: int = 0
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Points (x, y, 1) and pairs (i, j, s); a share `wrong` of the answers s is flipped."""
    rng = np.random.default_rng(seed)
    label = np.arange(POINTS) % 2
    places = rng.uniform(-0.4, 0.4, (POINTS, 2))
    places[:, 0] += 2 * label - 1
    i = rng.integers(0, POINTS, PAIRS)
    j = (i + rng.integers(1, POINTS, PAIRS)) % POINTS
    flipped = rng.random(PAIRS) < wrong
    s = np.where((label[i] == label[j]) != flipped, 1, -1)
    return np.c_[places, np.ones(POINTS)], i, j, s


def cumulative_loss(wrong: float, C: float) -> npt.NDArray[np.float64]:
    """ΣR of OH over the stream."""
    model = OH(r=BITS, beta=0.5, C=C, seed=0, center="none", dtype="float64")
    return np.cumsum(model.learn(*separable_stream(wrong)).R.ravel())
