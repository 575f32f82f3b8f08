"""The original distances that codes are compared with: squared L2, 1 - cosine, minus the dot product. Small is near."""

from typing import Any

import numpy as np
import numpy.typing as npt

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
