"""Frequent Directions (Liberty, 2013): a sketch B of few rows whose BᵀB stays near the AᵀA of all rows that ever came.

With l rows 0 <= AᵀA - BᵀB, and its norm is at most the sum of what was shrunk away, which is at most 2 |A|² / l.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.models.procrustes import nearest_rotation

Matrix = npt.NDArray[np.float64]


def append(B: Matrix, filled: int, rows: Matrix) -> tuple[int, float]:
    """Add rows to the sketch B (l, d), l even, in place; returns (rows now filled, sum of what was shrunk away)."""
    shrunk, at = 0.0, 0
    while at < len(rows):
        if filled == len(B):
            filled, theta = _shrink(B)
            shrunk += theta
        some = rows[at : at + len(B) - filled]
        B[filled : filled + len(some)] = some
        filled, at = filled + len(some), at + len(some)
    return filled, shrunk


def _shrink(B: Matrix) -> tuple[int, float]:
    """Take theta, the square of the middle singular value, off all squared ones: at least half of the rows get free."""
    half, d = len(B) // 2, B.shape[1]
    if d <= len(B):
        squares, V = np.linalg.eigh(B.T @ B)
        squares, directions = np.maximum(squares[::-1], 0.0), V[:, ::-1].T
        theta = float(squares[half]) if half < d else 0.0
        kept = min(half, d)
        shrunk = np.sqrt(np.maximum(squares[:kept] - theta, 0.0))[:, None] * directions[:kept]
    else:
        squares, U = np.linalg.eigh(B @ B.T)
        squares, U = np.maximum(squares[::-1], 0.0), U[:, ::-1]
        theta, kept = float(squares[half]), half
        safe = np.where(squares[:half] > 0, squares[:half], 1.0)
        factor = np.sqrt(np.maximum(squares[:half] - theta, 0.0) / safe)
        shrunk = factor[:, None] * (U[:, :half].T @ B)
    B[:kept] = shrunk
    B[kept:] = 0.0
    return kept, theta


def top_directions(B: Matrix, q: int, otherwise: Matrix) -> Matrix:
    """(d, q) the q strongest directions of the sketch; while it has fewer, the rest come from `otherwise` (d, q)."""
    n, d = B.shape
    squares, vectors = np.linalg.eigh(B @ B.T if n < d else B.T @ B)  # rising
    rank = int((squares > max(squares[-1], 0.0) * 1e-14).sum()) if squares[-1] > 0 else 0
    V = vectors[:, ::-1][:, : min(rank, q)]
    if n < d:
        V = np.linalg.qr(B.T @ V)[0]  # orthogonal already, up to rounding and length
    if V.shape[1] < q:
        V = np.linalg.qr(np.concatenate([V, otherwise], axis=1))[0][:, :q]
    return np.ascontiguousarray(V)


def aligned(V: Matrix, before: Matrix) -> Matrix:
    """The basis of span(V) nearest to `before` (orthogonal Procrustes): bits turn only as far as the span does."""
    return np.asarray(V @ nearest_rotation(V.T @ before))


def hadamard_transform(rows: Matrix) -> Matrix:
    """H rows, H the Hadamard matrix whose order is the number of rows (a power of two), in O(m log m) a column.

    >>> hadamard_transform(np.array([[1.0], [2.0], [3.0], [4.0]])).ravel()
    array([10., -2., -4.,  0.])
    """
    m, d = rows.shape
    H = rows.copy()
    half = 1
    while half < m:
        pairs = H.reshape(m // (2 * half), 2, half, d)
        H = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(m, d)
        half *= 2
    return H


def compressed(rows: Matrix, size: int, rng: np.random.Generator) -> Matrix:
    """Phi rows with E[PhiᵀPhi] = I: random signs, a Hadamard transform, `size` of its rows (SRHT, as in FROSH)."""
    m = 1 << math.ceil(math.log2(max(len(rows), 1)))
    signs = rng.integers(0, 2, len(rows)) * 2.0 - 1.0
    chosen = rng.choice(m, min(size, m), replace=False)
    if size >= len(rows):
        return rows
    padded = np.zeros((m, rows.shape[1]))
    padded[: len(rows)] = rows * signs[:, None]
    mixed: Any = hadamard_transform(padded)[chosen]
    return np.asarray(mixed / math.sqrt(len(chosen)))
