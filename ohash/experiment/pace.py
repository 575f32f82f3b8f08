"""Pace: how many pairs a second a run learns while somebody watches."""

import math
from typing import Any, Literal

import numpy as np

NamedPace = Literal["accelerating", "unlimited"]
Pace = float | NamedPace
NAMED_PACES: tuple[NamedPace, ...] = ("accelerating", "unlimited")

# Accelerating: pairs/s = FIRST_RATE + GROWTH * pairs; 100,000 pairs take about 27 s on a logarithmic axis.
FIRST_RATE = 100.0
GROWTH = 0.195
MOST = 40.0  # e to this is more than any run has


def checked(pace: Any) -> Pace:
    """A pace, or a ValueError that says which there are."""
    if isinstance(pace, str):
        for known in NAMED_PACES:
            if pace == known:
                return known
    elif not isinstance(pace, bool) and isinstance(pace, (int, float, np.number)) and 0 < float(pace) < float("inf"):
        return float(pace)
    raise ValueError(f"pace must be pairs a second > 0, 'accelerating' or 'unlimited', got {pace!r}")


def pairs_a_second(pace: Pace, t: int) -> float:
    """After t pairs."""
    if pace == "unlimited":
        return 1e9
    if pace == "accelerating":
        return FIRST_RATE + GROWTH * t
    return float(pace)


def accelerated(seconds: float) -> int:
    """Pairs that the accelerating pace has brought after some seconds.

    >>> accelerated(0), accelerated(10), accelerated(20)
    (0, 3091, 24821)
    """
    return int(FIRST_RATE / GROWTH * math.expm1(np.clip(GROWTH * seconds, 0.0, MOST)))
