"""What a drift does to a curve: how deep it falls, how long it takes to recover, what is forgotten, what is detected.

All functions take columns of a history or of checkpoints. `pairs` are pair counts and `at` is the first pair of the
changed world, so a value taken at pair count `at` or later was measured in the changed world.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats

# Checkpoints whose mean is the level before a drift.
LAST = 3


def level_before(pairs: npt.ArrayLike, values: npt.ArrayLike, at: int, last: int = LAST) -> float:
    """Mean of the `last` values before the drift; NaN if there are none. NaN values are ignored, here and below.

    >>> level_before([0, 100, 200, 300, 400], [0.1, 0.5, 0.75, 1.0, 0.2], at=400)
    0.75
    """
    x, y = _curve(pairs, values)
    before = y[x < at][-last:]
    return float(before.mean()) if len(before) else float("nan")


def dip(pairs: npt.ArrayLike, values: npt.ArrayLike, at: int, last: int = LAST) -> float:
    """Level before the drift less the minimum after it; negative if the curve stayed above that level.

    >>> dip([0, 100, 200, 300, 400], [0.1, 0.8, 0.8, 0.3, 0.6], at=300, last=2)
    0.5
    """
    x, y = _curve(pairs, values)
    after = y[x >= at]
    return level_before(x, y, at, last) - float(after.min()) if len(after) else float("nan")


def recovery(pairs: npt.ArrayLike, values: npt.ArrayLike, at: int, share: float = 0.95, last: int = LAST) -> float:
    """Pairs from the drift until, past the minimum, `share` of the level before is reached; NaN if it never is.

    0 if the curve never fell below it.

    >>> pairs, values = [0, 100, 200, 300, 400, 500], [0.8, 0.8, 0.3, 0.6, 0.77, 0.9]
    >>> recovery(pairs, values, at=150), recovery(pairs[:4], values[:4], at=150), recovery(pairs, values, at=450)
    (250.0, nan, 0.0)
    """
    x, y = _curve(pairs, values)
    goal = share * level_before(x, y, at, last)
    x, y = x[x >= at], y[x >= at]
    if not len(y) or np.isnan(goal):
        return float("nan")
    lowest = int(y.argmin())
    if y[lowest] >= goal:
        return 0.0
    back = np.flatnonzero(y[lowest:] >= goal)
    return float(x[lowest + back[0]] - at) if len(back) else float("nan")


def forgetting(class_map: npt.ArrayLike) -> Floats:
    """Largest mAP_c so far less mAP_c now: max over t' <= t of mAP_c(t') - mAP_c(t), for every class c.

    `class_map` is (checkpoints, classes); NaN where a class has no queries.

    >>> forgetting([[0.5, 0.2], [0.9, 0.4], [0.6, 0.5]]).round(2).tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.3, 0.0]]
    """
    y = np.asarray(class_map, dtype=np.float64)
    if y.ndim != 2:
        raise ValueError(f"class_map must have shape (checkpoints, classes), got {y.shape}")
    return np.asarray(np.fmax.accumulate(y, axis=0) - y)


def most_forgotten(class_map: npt.ArrayLike) -> float:
    """The loss of the most forgotten class; NaN if no class was ever evaluated.

    >>> round(most_forgotten([[0.9, 0.5], [0.6, 0.7]]), 3)
    0.3
    """
    lost = forgetting(class_map)[-1]
    return float(np.nanmax(lost)) if not np.isnan(lost).all() else float("nan")


def stale_gap(map_fresh: npt.ArrayLike, map_: npt.ArrayLike) -> Floats:
    """What re-encoding would gain: mAP of freshly encoded codes less mAP of the table's codes.

    >>> stale_gap([0.75, 0.5], [0.5, 0.5]).tolist()
    [0.25, 0.0]
    """
    fresh, table = np.asarray(map_fresh, dtype=np.float64), np.asarray(map_, dtype=np.float64)
    if fresh.shape != table.shape:
        raise ValueError(f"map_fresh and map must be equally long, got shapes {fresh.shape} and {table.shape}")
    return fresh - table


@dataclass(frozen=True)
class Detection:
    """How a detector did: `delay` in pairs (NaN if it missed the drift), false alarms, and pairs without drift."""

    delay: float
    false_alarms: int
    quiet_pairs: int


def detection(alarms: Iterable[int], at: int | None, stop: int, horizon: int | None = None) -> Detection:
    """Alarms of a run of `stop` pairs against the true time of the drift, None if there was none.

    The first alarm within `horizon` pairs from the drift (default: up to the end) is its detection, further ones in
    that time are echoes of it; all others are false.

    >>> detection([40, 130, 150, 420], at=100, stop=500, horizon=200)
    Detection(delay=30.0, false_alarms=2, quiet_pairs=300)
    >>> detection([40], at=None, stop=500)
    Detection(delay=nan, false_alarms=1, quiet_pairs=500)
    """
    positions = np.sort(np.array(list(alarms), dtype=np.int64))
    if at is None:
        return Detection(float("nan"), len(positions), stop)
    end = stop if horizon is None else min(stop, at + horizon)
    true = positions[(positions >= at) & (positions < end)]
    delay = float(true[0] - at) if len(true) else float("nan")
    return Detection(delay, len(positions) - len(true), stop - max(0, end - at))


def _curve(pairs: npt.ArrayLike, values: npt.ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(pairs, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"pairs and values must be vectors of one length, got shapes {x.shape} and {y.shape}")
    finite = ~np.isnan(y)
    return x[finite], y[finite]
