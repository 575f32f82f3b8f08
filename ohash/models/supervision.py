"""What supervised methods learn from: which points of a set are similar, and labels in the forms they accept.

Labels are one class per point, or flags (n, L) of which several may be set.
"""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Array, Flags, Labels, Rows


class Similarity(Protocol):
    """Which of n points are similar: a symmetric relation."""

    n: int

    def subset(self, sample: Rows) -> "Similarity":
        """The relation among some of the points."""

    def row(self, i: int) -> Flags:
        """Which points are similar to point i."""

    def pairs(self, i: Rows, j: Rows) -> Flags:
        """Whether i[k] and j[k] are similar, pair by pair."""

    def matrix(self) -> Flags:
        """The whole relation, (n, n)."""


class SharedLabels:
    """Points are similar if they share a label.

    >>> SharedLabels(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])).row(0)
    array([ True, False,  True])
    """

    def __init__(self, Q: npt.NDArray[np.float64]) -> None:
        """Q (n, c) are 0/1 indicators."""
        self.Q, self.n = Q, len(Q)
        self._class = Q.argmax(axis=1) if Q.size and (Q.sum(axis=1) == 1).all() else None  # one label per point

    def subset(self, sample: Rows) -> "SharedLabels":
        """The relation among some of the points."""
        return SharedLabels(self.Q[sample])

    def row(self, i: int) -> Flags:
        """Which points are similar to point i."""
        if self._class is not None:
            return np.asarray(self._class == self._class[i])
        return np.asarray(self.Q @ self.Q[i] > 0)

    def pairs(self, i: Rows, j: Rows) -> Flags:
        """Whether i[k] and j[k] are similar, pair by pair."""
        if self._class is not None:
            return np.asarray(self._class[i] == self._class[j])
        return np.asarray(np.einsum("ec,ec->e", self.Q[i], self.Q[j]) > 0)

    def matrix(self) -> Flags:
        """The whole relation, (n, n)."""
        return np.asarray(self.Q @ self.Q.T > 0)


class SimilarityMatrix:
    """Similarity given as a matrix (n, n)."""

    def __init__(self, similar: npt.ArrayLike, n: int) -> None:
        """Check the matrix; a point is always similar to itself."""
        given = np.asarray(similar)
        if given.dtype != bool or given.shape != (n, n) or not (given == given.T).all():
            raise ValueError(
                f"similar must be a symmetric matrix of booleans, {n} x {n} as X has rows, got dtype {given.dtype}, "
                f"shape {given.shape}"
            )
        self.n = n
        self._similar = given | np.eye(n, dtype=bool)

    def subset(self, sample: Rows) -> "SimilarityMatrix":
        """The relation among some of the points."""
        return SimilarityMatrix(self._similar[np.ix_(sample, sample)], len(sample))

    def row(self, i: int) -> Flags:
        """Which points are similar to point i."""
        return np.asarray(self._similar[i])

    def pairs(self, i: Rows, j: Rows) -> Flags:
        """Whether i[k] and j[k] are similar, pair by pair."""
        return np.asarray(self._similar[i, j])

    def matrix(self) -> Flags:
        """The whole relation, (n, n)."""
        return self._similar


# The form of the labels seen so far: not known yet, one class per point, or the number L > 0 of flags.
UNKNOWN, SINGLE = 0, -1


def check(y: npt.ArrayLike | None, n: int, form: int, title: str) -> tuple[Array, int]:
    """(int64 classes (n,) or flags (n, L), their form); the form must be that of earlier labels.

    >>> check([3, 3, 5], 3, UNKNOWN, "HCOH")
    (array([3, 3, 5]), -1)
    """
    if y is None:
        raise ValueError(f"{title} learns from labels: y must hold one class (or one row of flags) per point, got None")
    labels = validation.array("y", y, "classes or flags")
    if labels.ndim not in (1, 2) or len(labels) != n or labels.dtype.kind not in "iub":
        raise ValueError(
            f"y must hold {n} classes (integers) or {n} rows of flags, got dtype {labels.dtype}, shape {labels.shape}"
        )
    mine = SINGLE if labels.ndim == 1 else labels.shape[1]
    if form not in (UNKNOWN, mine):
        expected = "one class per point" if form == SINGLE else f"{form} flags per point"
        raise ValueError(f"y must be {expected}, as before, got shape {labels.shape}")
    return (labels.astype(np.int64) if mine == SINGLE else labels.astype(bool)), mine


def pack_labels(labels: Labels) -> npt.NDArray[np.int64]:
    """Labels as int64 (n, w): the class itself, or flags packed 64 to a word.

    >>> pack_labels(np.array([[True, False, True]]))
    array([[5]])
    """
    if labels.ndim == 1:
        return np.ascontiguousarray(labels[:, None])
    n, L = labels.shape
    padded = np.zeros((n, -(-L // 64) * 64), bool)
    padded[:, :L] = labels
    return np.packbits(padded, axis=1, bitorder="little").view("<i8").astype(np.int64)
