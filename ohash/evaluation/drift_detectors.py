r"""Drift alarms: they watch a stream of losses in [0, 1] and say when the mean has risen.

A falling loss is learning, not drift, so neither alarm goes off when the mean falls. Positions count from 0: the
position of an alarm is that of the value that set it off. Memory is bounded, results do not depend on chunks.

**Page-Hinkley** (Page, 1954) adds up how far values lie above their mean, less a tolerance, and never falls below 0:

.. math:: m_t = \max(0,\; m_{t-1} + (x_t - \bar x_{t-1}) / \sigma_{t-1} - \delta), \qquad \text{alarm if } m_t > \lambda

Differs from the textbook: deviations are measured in standard deviations, so that one δ and λ serve a loss of 0.4 as
well as one of 0.01, and mean and variance forget (after `memory` values), so that they follow a model that learns.
After an alarm everything starts again.

**ADWIN-style** (Bifet and Gavaldà, SDM 2007): a window that grows while its mean stands still. For every cut into an
older part of n₀ and a newer part of n₁ values, with m = 1 / (1/n₀ + 1/n₁), the two means must not differ by more than

.. math:: \epsilon_{cut} = \sqrt{\tfrac{2}{m}\, \sigma_W^2 \ln\tfrac{2}{\delta'}} + \tfrac{2}{3m} \ln\tfrac{2}{\delta'},
    \qquad \delta' = \delta / \ln n

The window is an exponential histogram: at most 5 buckets of each size 32, 64, 128, ... values. Differs from the paper:
the smallest bucket holds 32 values (cuts are tried every 32), and the whole older part of the strongest cut is dropped
at once instead of one bucket after another, as a remainder would set off the same alarm again. The window shrinks
whenever the mean changes, the alarm goes off only if it rose.

The two alarms, value by value. Sums are added in order, so that chunks cannot change where an alarm goes off.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ohash.core.parameters import check, param
from ohash.runtime.compile import in_order

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


Floats = npt.NDArray[np.float64]
State = dict[str, npt.NDArray[Any]]

# The latest alarms that are kept, of each kind.
KEPT = 1000
# Least sigma of R / r, which is far smaller than 1[R > 0] where codes are nearly right.
R_FLOOR = 0.02


class Alarm(Protocol):
    """What watches a stream."""

    def push(self, values: npt.ArrayLike) -> list[int]:
        """Take values in, in order; return the positions of alarms among them."""

    def follow(self, x: Floats) -> list[int]:
        """`push` for values known to be losses in [0, 1]."""

    def reset(self) -> None:
        """Forget the values, not the position."""

    def state(self) -> State:
        """For a saved run."""

    def restore(self, state: State) -> None:
        """The inverse of `state`."""


@dataclass(frozen=True)
class PageHinkleyParams:
    """How large a rise matters, and how sure the alarm must be."""

    delta: float = param(
        0.05, symbol="δ", title="tolerance", lo=0, hi=10, slider=(0, 1), step=0.01,
        help="A rise of the mean by fewer standard deviations than this is no drift.",
    )  # fmt: skip
    threshold: float = param(
        100.0, symbol="λ", title="threshold", lo=0, hi=1e9, lo_open=True, slider=(10, 1000), scale="log",
        help="Excess, in standard deviations, that sets the alarm off: larger is later and rarer.",
    )  # fmt: skip
    memory: int = param(
        2048, symbol="", title="memory", lo=1, hi=10**9, slider=(100, 100_000), scale="log",
        help="Values over which mean and variance forget.",
    )  # fmt: skip
    warm_up: int = param(
        256, symbol="", title="warm-up", lo=1, hi=10**9, slider=(10, 10_000), scale="log",
        help="Values that only make mean and variance, at the start and after an alarm.",
    )  # fmt: skip
    floor: float = param(
        0.05, symbol="", title="least deviation", lo=0, hi=1, lo_open=True, slider=(0.001, 0.5), scale="log",
        help="The standard deviation counts as at least this, or one rare loss would be an alarm.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Validate."""
        check(self)


@dataclass(frozen=True)
class AdwinParams:
    """How sure the alarm must be."""

    delta: float = param(
        0.002, symbol="δ", title="confidence", lo=0, hi=1, lo_open=True, slider=(1e-6, 0.1), scale="log",
        help="Chance of a wrong cut that is allowed: smaller is later and rarer.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Validate."""
        check(self)


class PageHinkley:
    """The Page-Hinkley test for a rising mean; keywords are the fields of `PageHinkleyParams`.

    After two zeros the mean is 0 and sigma its floor, 0.5: a one adds 1 / 0.5 - 0.05 to the walk; two are more than 3.

    >>> alarm = PageHinkley(threshold=3, warm_up=2, floor=0.5)
    >>> alarm.push([0, 0, 1]), alarm.push([1, 1])
    ([], [3])
    """

    def __init__(self, **values: Any) -> None:
        """Start with nothing seen."""
        self.params = PageHinkleyParams(**values)
        self._state = np.zeros(4)
        self._seen = 0

    def push(self, values: npt.ArrayLike) -> list[int]:
        """Take values in, in order; return the positions of alarms among them."""
        return self.follow(_checked(values))

    def follow(self, x: Floats) -> list[int]:
        """`push` for values known to be losses in [0, 1]."""
        p = self.params
        fired = np.empty(len(x) // (p.warm_up + 1) + 1, np.int64)
        count = page_hinkley(self._seen, x, self._state, p.delta, p.threshold, p.memory, p.warm_up, p.floor, fired)
        self._seen += len(x)
        return list(map(int, fired[:count]))

    def reset(self) -> None:
        """Forget the values, not the position."""
        self._state[:] = 0

    def state(self) -> State:
        """For a saved run."""
        return {"state": self._state.copy(), "seen": np.array(self._seen)}

    def restore(self, state: State) -> None:
        """The inverse of `state`."""
        self._state[:] = state["state"]
        self._seen = int(state["seen"])


class Adwin:
    """The ADWIN-style window; keywords are the fields of `AdwinParams`.

    >>> alarm = Adwin()
    >>> alarm.push(np.zeros(320)), alarm.push(np.ones(320))
    ([], [351])
    >>> len(alarm), alarm.mean  # the zeros are forgotten
    (320, 1.0)
    """

    def __init__(self, **values: Any) -> None:
        """Start with an empty window."""
        self.params = AdwinParams(**values)
        self._part = np.zeros(3)
        self._buckets = np.zeros((LEVELS, PER_LEVEL + 1, 2))
        self._filled = np.zeros(LEVELS, np.int64)
        self._seen = 0

    def push(self, values: npt.ArrayLike) -> list[int]:
        """Take values in, in order; return the positions of alarms among them."""
        return self.follow(_checked(values))

    def follow(self, x: Floats) -> list[int]:
        """`push` for values known to be losses in [0, 1]."""
        fired = np.empty(len(x) // BLOCK + 1, np.int64)
        count = adwin(self._seen, x, self._part, self._buckets, self._filled, self.params.delta, fired)
        self._seen += len(x)
        return list(map(int, fired[:count]))

    def __len__(self) -> int:
        """Values in the window, the unfinished block left out."""
        return int(self._filled @ (BLOCK << np.arange(LEVELS)))

    @property
    def mean(self) -> float:
        """Mean of the window; NaN while it is empty."""
        held = np.arange(PER_LEVEL + 1) < self._filled[:, None]
        return float(self._buckets[held][:, SUM].sum() / len(self)) if len(self) else float("nan")

    def reset(self) -> None:
        """Forget the values, not the position."""
        self._part[:], self._filled[:] = 0, 0

    def state(self) -> State:
        """For a saved run."""
        return {
            "part": self._part.copy(),
            "buckets": self._buckets.copy(),
            "filled": self._filled.copy(),
            "seen": np.array(self._seen),
        }

    def restore(self, state: State) -> None:
        """The inverse of `state`."""
        self._part[:], self._buckets[:], self._filled[:] = state["part"], state["buckets"], state["filled"]
        self._seen = int(state["seen"])


class Watch:
    """Both alarms on the prequential loss of a run: on 1[R > 0] ("wrong") and on R / r, at most 1 ("R").

    >>> watch = Watch(r=8)
    >>> watch.push(np.zeros(1000)), watch.push(np.full(1000, 4.0))
    (None, None)
    >>> {name: len(found) for name, found in watch.alarms.items()}
    {'page_hinkley_wrong': 1, 'page_hinkley_R': 1, 'adwin_wrong': 1, 'adwin_R': 1}
    """

    def __init__(self, r: int) -> None:
        """R is a loss of codes of r bits."""
        self.r = r
        self.detectors: dict[str, Alarm] = {
            "page_hinkley_wrong": PageHinkley(),
            "page_hinkley_R": PageHinkley(floor=R_FLOOR),
            "adwin_wrong": Adwin(),
            "adwin_R": Adwin(),
        }
        self._found: dict[str, list[int]] = {name: [] for name in self.detectors}

    def push(self, R: npt.ArrayLike) -> None:
        """The loss R >= 0 of each pair, in order, taken before it is learnt."""
        R = np.ascontiguousarray(R, dtype=np.float64)
        if len(R) and not R.min() >= 0:
            raise ValueError(f"R must be a vector of losses >= 0, got {R.min()}; the loss of Eq. (3) is never negative")
        signals = {"wrong": (R > 0).astype(np.float64), "R": np.minimum(R / self.r, 1.0)}
        for name, detector in self.detectors.items():
            found = detector.follow(signals[name.rpartition("_")[2]])
            if found:
                self._found[name] = (self._found[name] + found)[-KEPT:]

    @property
    def alarms(self) -> dict[str, tuple[int, ...]]:
        """Positions of the latest alarms, by detector and signal."""
        return {name: tuple(found) for name, found in self._found.items()}

    def reset(self) -> None:
        """The loss itself was redefined, by another beta say: start again; alarms so far stay."""
        for detector in self.detectors.values():
            detector.reset()

    def state(self) -> State:
        """For a saved run."""
        found = {f"{name}.found": np.array(places, np.int64) for name, places in self._found.items()}
        inner = {f"{name}.{key}": value for name, one in self.detectors.items() for key, value in one.state().items()}
        return found | inner

    def restore(self, state: State) -> None:
        """The inverse of `state`."""
        for name, detector in self.detectors.items():
            mine = {key.partition(".")[2]: value for key, value in state.items() if key.partition(".")[0] == name}
            self._found[name] = [int(place) for place in mine.pop("found")]
            detector.restore(mine)


def _checked(values: npt.ArrayLike) -> Floats:
    x = np.ascontiguousarray(values, dtype=np.float64)
    if x.ndim != 1 or (x.size and not (x.min() >= 0 and x.max() <= 1)):
        raise ValueError(
            f"values must be a vector of losses in [0, 1], got shape {x.shape}"
            + (f" and values from {x.min()} to {x.max()}" if x.size else "")
            + "; divide by the largest possible loss"
        )
    return x
