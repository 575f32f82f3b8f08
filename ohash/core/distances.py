"""Distances between vectors by matrix products, with a bound on their rounding error.

These are the original distances that codes are compared with: squared L2, 1 - cosine, minus the dot product; smaller is
nearer. Callers measure again in float64 what lies within the error bound of an edge (the k-th neighbour, a radius).
Rows may come from a memory map of gigabytes: nothing here holds more than one block.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats, Numbers, Reals
from ohash.core.rows import gather


def distances(A: Reals, B: Reals, metric: str) -> Reals:
    """All rows of A against all rows of B, by one matrix product.

    >>> A = np.array([[3.0, 4.0]])
    >>> [distances(A, np.array([[0.0, 4.0]]), metric).item() for metric in ("l2", "cosine", "dot")]
    [9.0, 0.19999999999999996, -16.0]
    """
    if metric == "cosine":
        A, B = normalize_rows(A), normalize_rows(B)
    D = A @ B.T
    if metric == "dot":
        return np.negative(D, out=D)
    if metric == "cosine":
        return np.subtract(1, D, out=D)
    D *= -2
    D += np.einsum("nd,nd->n", A, A)[:, None]
    D += np.einsum("nd,nd->n", B, B)
    return np.maximum(D, 0, out=D)


def pair_distances(A: Numbers, B: Numbers, metric: str) -> Floats:
    """Row by row, in float64."""
    a: Reals = A.astype(np.float64)
    b: Reals = B.astype(np.float64)
    if metric == "l2":
        return np.asarray(((a - b) ** 2).sum(axis=1))
    if metric == "cosine":
        a, b = normalize_rows(a), normalize_rows(b)
    product: Floats = np.einsum("nd,nd->n", a, b)
    return 1 - product if metric == "cosine" else -product


def normalize_rows(A: Reals) -> Reals:
    """Rows scaled to length 1; a zero row stays zero."""
    norm = np.sqrt(np.einsum("nd,nd->n", A, A))
    scaled: Reals = A / np.where(norm > 0, norm, 1)[:, None]
    return scaled


ERROR_ULPS = 64  # bound on the error of a product, in units in the last place of (‖a‖ + max ‖b‖)²
OVERFLOW_SHARE = 0.01  # share of the largest float beyond which squares are computed in float64
CENTRE_ROWS = 20_000  # rows sampled for the centre


@dataclass(frozen=True, eq=False)
class FastDistances:
    """A metric on prepared rows: centred for L2, of length 1 for cosine, in float32 if the data have no more digits."""

    metric: str
    centre: npt.NDArray[np.float64]
    dtype: np.dtype[Any]

    @classmethod
    def for_rows(cls, X: Numbers, rows: npt.NDArray[np.int64] | None, metric: str) -> "FastDistances":
        """For some rows of X, or all; centring saves the digits that a large common offset would cost."""
        needs_float64 = X.dtype.itemsize > (2 if X.dtype.kind in "iu" else 4)
        uncentred = cls(metric, np.zeros(X.shape[1]), np.dtype(np.float64 if needs_float64 else np.float32))
        if metric != "l2":
            return uncentred
        n = len(X) if rows is None else len(rows)
        at = np.arange(n) if n <= CENTRE_ROWS else np.linspace(0, n - 1, CENTRE_ROWS).astype(np.int64)
        some = gather(X, at if rows is None else rows[at])
        if uncentred._is_exact(4 * _norms(some).max() ** 2, some):
            return uncentred
        return replace(uncentred, centre=some.mean(axis=0, dtype=np.float64))

    def prepare(self, rows: Numbers) -> Reals:
        """Rows as `distances` takes them."""
        moved = rows.astype(np.float64) - self.centre if self.metric == "l2" and self.centre.any() else rows
        if self.metric == "cosine":
            moved = normalize_rows(rows.astype(np.float64))
        return np.ascontiguousarray(moved, dtype=self.dtype)

    def distances(self, A: Reals, B: Reals) -> tuple[Reals, npt.NDArray[np.float64]]:
        """Distances (a, b) of prepared rows, and a bound on their error for each row of A, (a, 1)."""
        reach = (_norms(A) + _norms(B).max()) ** 2
        if reach.max() > OVERFLOW_SHARE * np.finfo(A.dtype).max:
            A, B = A.astype(np.float64), B.astype(np.float64)
        precision = np.finfo(A.dtype)
        error = ERROR_ULPS * float(precision.eps) * reach + A.shape[1] * float(precision.tiny)
        if self._is_exact(reach.max(), A, B):
            error = np.zeros(len(A))
        D = distances(A, B, "l2" if self.metric == "l2" else "dot")
        return (np.add(D, 1, out=D) if self.metric == "cosine" else D), error[:, None]

    def _is_exact(self, reach: float, *matrices: Numbers) -> bool:
        """Whether sums are exact, because they are whole numbers small enough for the float type."""
        exact = 2.0 ** (np.finfo(self.dtype).nmant + 1)
        return self.metric != "cosine" and reach < exact and all(is_integral(rows) for rows in matrices)


def _norms(rows: Numbers) -> npt.NDArray[np.float64]:
    return np.asarray(np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64)))


def is_integral(X: Numbers) -> bool:
    """Whether all values are whole numbers.

    >>> is_integral(np.array([0.0, 3.0])), is_integral(np.array([0.5])), is_integral(np.uint8([7]))
    (True, False, True)
    """
    return X.dtype.kind in "iub" or bool((X[:8] == np.rint(X[:8])).all() and (X == np.rint(X)).all())
