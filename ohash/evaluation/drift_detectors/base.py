"""What every drift detector can do, and the check of what it is given."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats
from ohash.runtime.frames import Arrays


class DriftDetector(Protocol):
    """Watches a stream of losses in [0, 1]."""

    def update(self, values: npt.ArrayLike) -> list[int]:
        """Process values in order; return the positions of alarms among them."""

    def update_unchecked(self, values: Floats) -> list[int]:
        """`update` for values known to be losses in [0, 1]."""

    def reset(self) -> None:
        """Forget the values, but not the position."""

    def state(self) -> Arrays:
        """Arrays for a saved run."""

    def restore(self, state: Arrays) -> None:
        """The inverse of `state`."""


def check_losses(values: npt.ArrayLike) -> Floats:
    """`values` as a vector of losses in [0, 1]."""
    x = np.ascontiguousarray(values, dtype=np.float64)
    if x.ndim != 1 or (x.size and not (x.min() >= 0 and x.max() <= 1)):
        raise ValueError(
            f"values must be a vector of losses in [0, 1], got shape {x.shape}"
            + (f" and values from {x.min()} to {x.max()}" if x.size else "")
            + "; divide by the largest possible loss"
        )
    return x
