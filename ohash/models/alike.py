"""Which points are similar, for methods that are fitted to a matrix of it: by labels, or told point by point."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]
Index = npt.NDArray[np.int64]


class Alike(Protocol):
    """A symmetric relation among n points."""

    n: int

    def of(self, sample: Index) -> "Alike":
        """The same among some of the points."""

    def row(self, i: int) -> Flags:
        """Which points are similar to point i."""

    def pairs(self, i: Index, j: Index) -> Flags:
        """Pair by pair."""

    def matrix(self) -> Flags:
        """All of it, (n, n)."""


class ByLabels:
    """Points are similar if they share a label.

    >>> ByLabels(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])).row(0)
    array([ True, False,  True])
    """

    def __init__(self, Q: npt.NDArray[np.float64]) -> None:
        """Q (n, c) are 0/1 indicators."""
        self.Q, self.n = Q, len(Q)

    def of(self, sample: Index) -> "ByLabels":
        """The same among some of the points."""
        return ByLabels(self.Q[sample])

    def row(self, i: int) -> Flags:
        """Which points are similar to point i."""
        return np.asarray(self.Q @ self.Q[i] > 0)

    def pairs(self, i: Index, j: Index) -> Flags:
        """Pair by pair."""
        return np.asarray(np.einsum("ec,ec->e", self.Q[i], self.Q[j]) > 0)

    def matrix(self) -> Flags:
        """All of it, (n, n)."""
        return np.asarray(self.Q @ self.Q.T > 0)


class Told:
    """A matrix (n, n) says it."""

    def __init__(self, similar: npt.ArrayLike, n: int) -> None:
        """Checked; a point is similar to itself."""
        found = np.asarray(similar)
        if found.dtype != bool or found.shape != (n, n) or not (found == found.T).all():
            raise ValueError(
                f"similar must be a symmetric matrix of booleans, {n} x {n} as X has rows, got dtype {found.dtype}, "
                f"shape {found.shape}"
            )
        self.n = n
        self._similar = found | np.eye(n, dtype=bool)

    def of(self, sample: Index) -> "Told":
        """The same among some of the points."""
        return Told(self._similar[np.ix_(sample, sample)], len(sample))

    def row(self, i: int) -> Flags:
        """Which points are similar to point i."""
        return np.asarray(self._similar[i])

    def pairs(self, i: Index, j: Index) -> Flags:
        """Pair by pair."""
        return np.asarray(self._similar[i, j])

    def matrix(self) -> Flags:
        """All of it, (n, n)."""
        return self._similar
