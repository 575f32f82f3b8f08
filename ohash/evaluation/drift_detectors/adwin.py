r"""ADWIN-style detector (Bifet and Gavaldà, SDM 2007): a window that grows while its mean does not change.

For every cut into an older part of n₀ and a newer part of n₁ values, with m = 1 / (1/n₀ + 1/n₁), the two means must not
differ by more than

.. math:: \epsilon_{cut} = \sqrt{\tfrac{2}{m}\, \sigma_W^2 \ln\tfrac{2}{\delta'}} + \tfrac{2}{3m} \ln\tfrac{2}{\delta'},
    \qquad \delta' = \delta / \ln n

The window is an exponential histogram: at most 5 buckets of each size 32, 64, 128, ... values. Differs from the paper:
the smallest bucket holds 32 values (cuts are tried every 32), and the whole older part of the strongest cut is dropped
at once instead of bucket by bucket, as a remainder would raise the same alarm again. The window shrinks whenever the
mean changes; an alarm is raised only if the mean rose.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats, Integers
from ohash.core.parameters import Parameters, param
from ohash.evaluation.drift_detectors.base import check_losses
from ohash.runtime.compile import strict_kernel
from ohash.runtime.frames import Arrays

# Values of a smallest bucket, buckets of one size before two are merged, sizes (32 · 2^40 values are enough).
VALUES_PER_BLOCK = 32
PER_LEVEL = 5
LEVELS = 40
# What a bucket holds, and what the unfinished block holds.
SUM, SQUARES, FILLED = range(3)


@strict_kernel
def adwin(
    start: int, values: Floats, part: Floats, buckets: Floats, filled: Integers, delta: float, positions: Integers
) -> int:
    """Process values start, start + 1, ...; write the positions of alarms and return their number.

    `buckets` (LEVELS, PER_LEVEL + 1, 2) holds sums and sums of squares, oldest first in each level.
    """
    alarms = 0
    total, squares, held = part[SUM], part[SQUARES], part[FILLED]
    for t in range(values.shape[0]):
        total += values[t]
        squares += values[t] * values[t]
        held += 1.0
        if held < VALUES_PER_BLOCK:
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
            positions[alarms] = start + t
            alarms += 1
    part[SUM], part[SQUARES], part[FILLED] = total, squares, held
    return alarms


@strict_kernel
def add(total: float, squares: float, buckets: Floats, filled: Integers) -> None:
    """Add a smallest bucket; where a level overflows, its two oldest are merged into one of the next level."""
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


@strict_kernel
def strongest_cut(buckets: Floats, filled: Integers, delta: float) -> tuple[int, int, bool]:
    """The last bucket before the cut with the largest |difference| / epsilon_cut > 1, and whether the mean rises there.

    The level is -1 if there is no such cut.
    """
    n, total, squares = 0.0, 0.0, 0.0
    size, top = float(VALUES_PER_BLOCK), 0
    for level in range(LEVELS):
        for k in range(filled[level]):
            n += size
            total += buckets[level, k, SUM]
            squares += buckets[level, k, SQUARES]
            top = level
        size *= 2.0
    at, place, rises = -1, -1, False
    if n < 2 * VALUES_PER_BLOCK:
        return at, place, rises
    variance = max(0.0, squares / n - (total / n) ** 2)
    log = np.log(2.0 * np.log(n) / delta)  # ln(2 / delta'), delta' = delta / ln n
    strongest = 1.0
    n_old, sum_old = 0.0, 0.0
    size = float(VALUES_PER_BLOCK << top)
    for level in range(top, -1, -1):
        for k in range(filled[level]):
            n_old += size
            sum_old += buckets[level, k, SUM]
            if n - n_old < VALUES_PER_BLOCK:
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


@strict_kernel
def forget(buckets: Floats, filled: Integers, level: int, place: int) -> None:
    """Drop the bucket (level, place) and all older ones."""
    for older in range(level + 1, LEVELS):
        filled[older] = 0
    for k in range(place + 1, filled[level]):
        buckets[level, k - place - 1, SUM] = buckets[level, k, SUM]
        buckets[level, k - place - 1, SQUARES] = buckets[level, k, SQUARES]
    filled[level] -= place + 1


@dataclass(frozen=True)
class ADWINParams(Parameters):
    """How sure the alarm must be."""

    delta: float = param(
        0.002, symbol="δ", title="confidence", lo=0, hi=1, lo_open=True, slider=(1e-6, 0.1), scale="log",
        help="Chance of a false cut that is accepted: a smaller one means later and rarer alarms.",
    )  # fmt: skip


class ADWIN:
    """The ADWIN-style window; keywords are the fields of `ADWINParams`.

    >>> detector = ADWIN()
    >>> detector.update(np.zeros(320)), detector.update(np.ones(320))
    ([], [351])
    >>> len(detector), detector.mean  # the zeros are forgotten
    (320, 1.0)
    """

    def __init__(self, **params: Any) -> None:
        """Start with an empty window."""
        self.params = ADWINParams(**params)
        self._part = np.zeros(3)
        self._buckets = np.zeros((LEVELS, PER_LEVEL + 1, 2))
        self._filled = np.zeros(LEVELS, np.int64)
        self._seen = 0

    def update(self, values: npt.ArrayLike) -> list[int]:
        """Process values in order; return the positions of alarms among them."""
        return self.update_unchecked(check_losses(values))

    def update_unchecked(self, values: Floats) -> list[int]:
        """`update` for values known to be losses in [0, 1]."""
        positions = np.empty(len(values) // VALUES_PER_BLOCK + 1, np.int64)
        count = adwin(self._seen, values, self._part, self._buckets, self._filled, self.params.delta, positions)
        self._seen += len(values)
        return list(map(int, positions[:count]))

    def __len__(self) -> int:
        """Values in the window, the unfinished block left out."""
        return int(self._filled @ (VALUES_PER_BLOCK << np.arange(LEVELS)))

    @property
    def mean(self) -> float:
        """Mean of the window; NaN while it is empty."""
        held = np.arange(PER_LEVEL + 1) < self._filled[:, None]
        return float(self._buckets[held][:, SUM].sum() / len(self)) if len(self) else float("nan")

    def reset(self) -> None:
        """Forget the values, but not the position."""
        self._part[:], self._filled[:] = 0, 0

    def state(self) -> Arrays:
        """Arrays for a saved run."""
        return {
            "part": self._part.copy(),
            "buckets": self._buckets.copy(),
            "filled": self._filled.copy(),
            "seen": np.array(self._seen),
        }

    def restore(self, state: Arrays) -> None:
        """The inverse of `state`."""
        self._part[:], self._buckets[:], self._filled[:] = state["part"], state["buckets"], state["filled"]
        self._seen = int(state["seen"])
