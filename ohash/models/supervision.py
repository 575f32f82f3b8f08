"""Which points are similar, for methods that are fitted to a matrix of it: by labels, or told point by point.

Labels as the supervised stream methods take them: one class a point, or flags (n, L) of which several may be set.
"""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ohash.core import validation

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


# The form of the labels seen so far: not known yet, one class a point, or the number L > 0 of flags.
UNKNOWN, SINGLE = 0, -1


def check(y: npt.ArrayLike | None, n: int, form: int, title: str) -> tuple[npt.NDArray[Any], int]:
    """(int64 classes (n,) or flags (n, L), their form), in the form of those before.

    >>> check([3, 3, 5], 3, UNKNOWN, "HCOH")
    (array([3, 3, 5]), -1)
    """
    if y is None:
        raise ValueError(f"{title} learns from labels: y must hold one class (or one row of flags) a point, got None")
    found = validation.array("y", y, "classes or flags")
    if found.ndim not in (1, 2) or len(found) != n or found.dtype.kind not in "iub":
        raise ValueError(
            f"y must hold {n} classes (integers) or {n} rows of flags, got dtype {found.dtype}, shape {found.shape}"
        )
    mine = SINGLE if found.ndim == 1 else found.shape[1]
    if form not in (UNKNOWN, mine):
        expected = "one class a point" if form == SINGLE else f"{form} flags a point"
        raise ValueError(f"y must be {expected}, as before, got shape {found.shape}")
    return (found.astype(np.int64) if mine == SINGLE else found.astype(bool)), mine


def words(labels: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Labels as int64 (n, w): the class itself, or flags packed 64 to a word.

    >>> words(np.array([[True, False, True]]))
    array([[5]])
    """
    if labels.ndim == 1:
        return np.ascontiguousarray(labels[:, None])
    n, L = labels.shape
    padded = np.zeros((n, -(-L // 64) * 64), bool)
    padded[:, :L] = labels
    return np.packbits(padded, axis=1, bitorder="little").view("<i8").astype(np.int64)
