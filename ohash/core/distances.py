"""Distances by matrix products, a block of rows at a time, with a bound on what rounding may have done to them.

What lies within the bound of an edge (the k-th neighbour, a radius) is measured again in float64 by whoever asks. Rows
may come from a memory map of gigabytes: nothing here holds more than one block.

The original distances that codes are compared with: squared L2, 1 - cosine, minus the dot product. Small is near.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.rows import gather

Real = npt.NDArray[np.floating[Any]]


def distances(A: Real, B: Real, metric: str) -> Real:
    """All rows of A against all rows of B, by one matrix product.

    >>> A = np.array([[3.0, 4.0]])
    >>> [distances(A, np.array([[0.0, 4.0]]), metric).item() for metric in ("l2", "cosine", "dot")]
    [9.0, 0.19999999999999996, -16.0]
    """
    if metric == "cosine":
        A, B = unit(A), unit(B)
    D = A @ B.T
    if metric == "dot":
        return np.negative(D, out=D)
    if metric == "cosine":
        return np.subtract(1, D, out=D)
    D *= -2
    D += np.einsum("nd,nd->n", A, A)[:, None]
    D += np.einsum("nd,nd->n", B, B)
    return np.maximum(D, 0, out=D)


def pair_distances(A: Real, B: Real, metric: str) -> npt.NDArray[np.float64]:
    """Row by row, in float64."""
    A, B = A.astype(np.float64), B.astype(np.float64)
    if metric == "l2":
        return np.asarray(((A - B) ** 2).sum(axis=1))
    if metric == "cosine":
        A, B = unit(A), unit(B)
    product: npt.NDArray[np.float64] = np.einsum("nd,nd->n", A, B)
    return 1 - product if metric == "cosine" else -product


def unit(A: Real) -> Real:
    """Rows scaled to length 1; a zero row stays zero."""
    norm = np.sqrt(np.einsum("nd,nd->n", A, A))
    scaled: Real = A / np.where(norm > 0, norm, 1)[:, None]
    return scaled


ROUNDING = 64  # a product may be wrong by this many units in the last place of (‖a‖ + max ‖b‖)²
LARGEST = 0.01  # share of the largest number that squares may reach before they are taken in float64
# Rows the centre is taken from.
SAMPLE = 20_000


@dataclass(frozen=True, eq=False)
class Coarse:
    """A metric on prepared rows: for L2 less a centre, for cosine of length 1, in float32 where that loses little."""

    metric: str
    centre: npt.NDArray[np.float64]
    dtype: np.dtype[Any]

    @classmethod
    def on(cls, X: npt.NDArray[Any], rows: npt.NDArray[np.int64] | None, metric: str) -> "Coarse":
        """For some rows of X, or all; the centre keeps digits that a large common offset would take."""
        fine = X.dtype.itemsize > (2 if X.dtype.kind in "iu" else 4)
        plain = cls(metric, np.zeros(X.shape[1]), np.dtype(np.float64 if fine else np.float32))
        if metric != "l2":
            return plain
        n = len(X) if rows is None else len(rows)
        at = np.arange(n) if n <= SAMPLE else np.linspace(0, n - 1, SAMPLE).astype(np.int64)
        some = gather(X, at if rows is None else rows[at])
        if plain._nothing_lost(4 * _norms(some).max() ** 2, some):
            return plain
        return replace(plain, centre=some.mean(axis=0, dtype=np.float64))

    def prepare(self, rows: npt.NDArray[Any]) -> Real:
        """Rows as `distances` takes them."""
        moved = rows.astype(np.float64) - self.centre if self.metric == "l2" and self.centre.any() else rows
        if self.metric == "cosine":
            moved = unit(rows.astype(np.float64))
        return np.ascontiguousarray(moved, dtype=self.dtype)

    def distances(self, A: Real, B: Real) -> tuple[Real, npt.NDArray[np.float64]]:
        """Distances (a, b) of prepared rows, and by how much those of a row may be wrong, (a, 1)."""
        reach = (_norms(A) + _norms(B).max()) ** 2
        if reach.max() > LARGEST * np.finfo(A.dtype).max:
            A, B = A.astype(np.float64), B.astype(np.float64)
        rounding = np.finfo(A.dtype)
        slack = ROUNDING * float(rounding.eps) * reach + A.shape[1] * float(rounding.tiny)
        if self._nothing_lost(reach.max(), A, B):
            slack = np.zeros(len(A))
        D = distances(A, B, "l2" if self.metric == "l2" else "dot")
        return (np.add(D, 1, out=D) if self.metric == "cosine" else D), slack[:, None]

    def _nothing_lost(self, reach: float, *matrices: npt.NDArray[Any]) -> bool:
        """Sums of whole numbers are exact up to a point: then there is nothing to measure again."""
        exact = 2.0 ** (np.finfo(self.dtype).nmant + 1)
        return self.metric != "cosine" and reach < exact and all(is_whole(rows) for rows in matrices)


def _norms(rows: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.asarray(np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64)))


def is_whole(X: npt.NDArray[Any]) -> bool:
    """Whether all values are whole numbers.

    >>> is_whole(np.array([0.0, 3.0])), is_whole(np.array([0.5])), is_whole(np.uint8([7]))
    (True, False, True)
    """
    return X.dtype.kind in "iub" or bool((X[:8] == np.rint(X[:8])).all() and (X == np.rint(X)).all())
