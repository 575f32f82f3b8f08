"""How every row looked when it came last: all that a batch method may be fitted to when the world changes.

Before the first change that is how it looks now, and nothing is copied.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
Labels = npt.NDArray[Any] | None


class Arrivals:
    """Vectors and labels of the rows as they came."""

    def __init__(self, n: int) -> None:
        """The world is as it was at first."""
        self.stage = np.zeros(n, np.int16)  # in which each row came last
        self._Z: npt.NDArray[Any] | None = None
        self._labels: Labels = None

    def leave(self, Z: npt.NDArray[Any], labels: Labels) -> None:
        """The world is about to change: what has come stays as it was."""
        if self._Z is None:
            self._Z, self._labels = np.array(Z), None if labels is None else np.array(labels)

    def come(self, rows: Rows, stage: int, Z: npt.NDArray[Any], labels: Labels) -> None:
        """Rows as they look now, and their labels."""
        if self._Z is None:
            return
        self.stage[rows] = stage
        self._Z[rows] = Z[rows]
        if self._labels is not None and labels is not None:
            self._labels[rows] = labels

    def renewed(self, stage: int) -> int:
        """How many have come since the world looks as in this stage."""
        return int(np.count_nonzero(self.stage == stage)) if stage else 0

    def as_they_came(self, rows: Rows, Z: npt.NDArray[Any], labels: Labels) -> tuple[npt.NDArray[Any], Labels]:
        """Their vectors and labels; Z and labels are those of now."""
        if self._Z is None:
            return np.ascontiguousarray(Z[rows]), labels
        return np.ascontiguousarray(self._Z[rows]), None if self._labels is None else self._labels[rows]
