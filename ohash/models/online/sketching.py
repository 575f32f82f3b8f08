"""What SketchHash and SSBC share: chunks are gathered, centred, sketched, and the sketch's directions become W.

A chunk of m rows with mean mu_c adds its centred rows and one row sqrt(n m / (n + m)) (mu_c - mu) to the sketch: the
sum of their squares is exactly the scatter of all points about their common mean.

Frequent Directions (Liberty, 2013) keeps a sketch B of l rows whose BᵀB stays near AᵀA, A all rows so far:
0 <= AᵀA - BᵀB, with a norm of at most the sum of what was shrunk away, which is at most 2 |A|² / l.
"""

import math
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Labels, Reals
from ohash.models.batch.itq import nearest_rotation
from ohash.models.learners import PointLearner
from ohash.models.linear import Planes
from ohash.models.quantizers.rotated import random_rotation

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
    """Subtract theta, the square of the middle singular value, from all squared ones; frees at least half the rows."""
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


def top_directions(B: Matrix, q: int, fallback: Matrix) -> Matrix:
    """(d, q) the q strongest directions of the sketch; while it has fewer, the rest come from `fallback` (d, q)."""
    n, d = B.shape
    squares, vectors = np.linalg.eigh(B @ B.T if n < d else B.T @ B)  # rising
    rank = int((squares > max(squares[-1], 0.0) * 1e-14).sum()) if squares[-1] > 0 else 0
    V = vectors[:, ::-1][:, : min(rank, q)]
    if n < d:
        V = np.linalg.qr(B.T @ V)[0]  # orthogonal already, up to rounding and length
    if V.shape[1] < q:
        V = np.linalg.qr(np.concatenate([V, fallback], axis=1))[0][:, :q]
    return np.ascontiguousarray(V)


def align(V: Matrix, before: Matrix) -> Matrix:
    """The basis of span(V) nearest to `before` (orthogonal Procrustes): bits turn no further than the span does."""
    return np.asarray(V @ nearest_rotation(V.T @ before))


def hadamard_transform(rows: Matrix) -> Matrix:
    """H rows, H the Hadamard matrix whose order is the number of rows (a power of two), in O(m log m) per column.

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


def compress(rows: Matrix, size: int, rng: np.random.Generator) -> Matrix:
    """Phi rows with E[PhiᵀPhi] = I: random signs, a Hadamard transform, `size` of its rows (SRHT, as in FROSH)."""
    m = 1 << math.ceil(math.log2(max(len(rows), 1)))
    signs = rng.integers(0, 2, len(rows)) * 2.0 - 1.0
    chosen = rng.choice(m, min(size, m), replace=False)
    if size >= len(rows):
        return rows
    padded = np.zeros((m, rows.shape[1]))
    padded[: len(rows)] = rows * signs[:, None]
    mixed = hadamard_transform(padded)[chosen]
    return np.asarray(mixed / math.sqrt(len(chosen)))


# Entries of `tally`: points sketched, rows of the sketch in use, what was shrunk away, |A|² of the rows sketched.
POINTS, FILLED, SHRUNK, SQUARES = range(4)


class SketchLearner(PointLearner):
    """A learner of unlabelled points that gathers them into chunks; W changes when a chunk is full."""

    ARRAYS: ClassVar[tuple[str, ...]] = (
        *PointLearner.ARRAYS, "_buffer", "_waiting", "_sketch", "_tally", "_middle", "_basis", "_spread",
    )  # fmt: skip

    def _sizes(self, d: int) -> tuple[int, int, int]:
        """(columns of the mapped rows, rows of a chunk, rows of the sketch)."""
        raise NotImplementedError

    def _new_basis(self, V: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The directions that hash, from the strongest ones of the sketch: turned as little as possible."""
        return align(V, self._basis)

    def _begin(self, d: int) -> None:
        M, chunk, rows = self._sizes(d)
        q = min(self.r, M, rows)
        self._basis = random_rotation(M, q, self._rng)
        self._spread = np.eye(q) if q == self.r else random_rotation(self.r, q, self._rng).T
        if self._given is not None:
            given = np.asarray(self._given[0], np.float64)
            self._basis, self._spread = (given, self._spread) if q == self.r else (np.eye(M), given)
        self._Wt = np.array((self._basis @ self._spread).T, dtype=self.params.dtype, order="C")
        self._mean = np.zeros(d)
        self._bit_updates = np.zeros(self.r, np.int64)
        self._buffer = np.zeros((chunk, d), self.params.dtype)
        self._waiting = np.zeros(1, np.int64)
        self._sketch = np.zeros((rows, M))
        self._tally = np.zeros(4)
        self._middle = np.zeros(M)

    def _learn_block(self, rows: Reals, labels: Labels | None) -> None:
        at = 0
        while at < len(rows):
            waiting = int(self._waiting[0])
            some = rows[at : at + len(self._buffer) - waiting]
            self._buffer[waiting : waiting + len(some)] = some
            at += len(some)
            self._waiting[0] += len(some)
            self._clock[0] += len(some)
            if self._waiting[0] == len(self._buffer):
                self._waiting[0] = 0
                self._learn_chunk(np.asarray(self._map(self._buffer), np.float64))

    def _learn_chunk(self, Z: npt.NDArray[np.float64]) -> None:
        self._add(Z)
        V = top_directions(self._sketch[: int(self._tally[FILLED])], self._basis.shape[1], self._basis)
        self._basis = self._new_basis(V)
        self._Wt = np.ascontiguousarray((self._basis @ self._spread).T, dtype=self.params.dtype)
        self._bit_updates += 1
        self._clock[-1] += 1

    def _add(self, Z: npt.NDArray[np.float64]) -> None:
        n, m = self._tally[POINTS], len(Z)
        if not self._centres:
            self._append(Z)
        else:
            middle = Z.mean(axis=0)
            self._append(self._compress(Z - middle))
            if n > 0:
                self._append(np.sqrt(n * m / (n + m)) * (middle - self._middle)[None])
            self._middle = (n * self._middle + m * middle) / (n + m)
        self._tally[POINTS] = n + m

    @property
    def _centres(self) -> bool:
        """Whether rows are centred on the running mean of all points."""
        return True

    def _compress(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if getattr(self.params, "sketch", "fd") == "frosh":
            return compress(rows, len(self._sketch) // 2, self._rng)
        return rows

    def _append(self, rows: npt.NDArray[np.float64]) -> None:
        filled, shrunk = append(self._sketch, int(self._tally[FILLED]), rows)
        self._tally[FILLED] = filled
        self._tally[SHRUNK] += shrunk
        self._tally[SQUARES] += float((rows * rows).sum())

    def _planes(self) -> Planes:
        return self._Wt[None], (self._Wt.astype(np.float64) @ self._middle)[None]
