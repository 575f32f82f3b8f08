"""Pace: how many pairs per second a run learns while somebody watches, and how many it learns in one step."""

import math
from typing import Literal

import numpy as np

NamedPace = Literal["accelerating", "unlimited"]
Pace = float | NamedPace
NAMED_PACES: tuple[NamedPace, ...] = ("accelerating", "unlimited")

# Accelerating: pairs/s = FIRST_RATE + GROWTH * pairs; 100,000 pairs take about 27 s on a logarithmic axis.
FIRST_RATE = 100.0
GROWTH = 0.195
LARGEST_EXPONENT = 40.0  # e to this is more than any run has

STEP_SECONDS = 0.02
LARGEST_CHUNK = 16_384


def check_pace(pace: object) -> Pace:
    """A pace, or a ValueError that says which there are."""
    if isinstance(pace, str):
        for known in NAMED_PACES:
            if pace == known:
                return known
    elif not isinstance(pace, bool) and isinstance(pace, (int, float, np.number)) and 0 < float(pace) < float("inf"):
        return float(pace)
    raise ValueError(f"pace must be pairs per second > 0, 'accelerating' or 'unlimited', got {pace!r}")


def pairs_per_second(pace: Pace, t: int) -> float:
    """After t pairs."""
    if pace == "unlimited":
        return 1e9
    if pace == "accelerating":
        return FIRST_RATE + GROWTH * t
    return float(pace)


def accelerated_pairs(seconds: float) -> int:
    """Pairs that the accelerating pace has brought after some seconds.

    >>> accelerated_pairs(0), accelerated_pairs(10), accelerated_pairs(20)
    (0, 3091, 24821)
    """
    return int(FIRST_RATE / GROWTH * math.expm1(np.clip(GROWTH * seconds, 0.0, LARGEST_EXPONENT)))


class Chunker:
    """How many pairs fit into one step of `STEP_SECONDS`, from the speed of the steps so far."""

    def __init__(self) -> None:
        """The speed is not known yet."""
        self.size = 64
        self._speed = 0.0

    def measure(self, pairs: int, seconds: float) -> None:
        """Take a step into account."""
        speed = pairs / max(seconds, 1e-6)
        self._speed = speed if self._speed == 0 else 0.9 * self._speed + 0.1 * speed
        self.size = int(min(LARGEST_CHUNK, max(1, self._speed * STEP_SECONDS)))
