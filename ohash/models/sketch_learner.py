"""What SketchHash and SSBC share: chunks are gathered, centred, sketched, and the sketch's directions become W.

A chunk of m rows with mean mu_c adds its centred rows and one row sqrt(n m / (n + m)) (mu_c - mu) to the sketch: their
squares add up to exactly the scatter of all points about the mean of all points.
"""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ohash.models.frequent_directions import aligned, append, compressed, top_directions
from ohash.models.rotated import random_rotation
from ohash.models.stream_learner import VERSION, Rows, StreamBase

# Entries of `tally`: points sketched, rows of the sketch in use, what was shrunk away, |A|² of the rows sketched.
POINTS, FILLED, SHRUNK, SQUARES = range(4)


class SketchLearner(StreamBase):
    """A learner of unlabelled points in chunks of its own."""

    ARRAYS: ClassVar[tuple[str, ...]] = (
        *StreamBase.ARRAYS, "buffer", "waiting", "sketch", "tally", "middle", "basis", "spread",
    )  # fmt: skip

    def learn_points(self, X: npt.ArrayLike, i: npt.ArrayLike, y: npt.ArrayLike | None = None) -> None:
        """Take rows i of X, in order; labels are not looked at. W changes when a chunk is full."""
        self._learn_points(X, i, y)

    def _sizes(self, d: int) -> tuple[int, int, int]:
        """(columns of the mapped rows, rows of a chunk, rows of the sketch)."""
        raise NotImplementedError

    def _new_basis(self, V: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The directions that hash, from the strongest ones of the sketch: turned as little as possible."""
        return aligned(V, self._basis)

    def _begin(self, d: int) -> None:
        M, chunk, rows = self._sizes(d)
        q = min(self.r, M, rows)
        self._basis = random_rotation(M, q, self._rng)
        self._spread = np.eye(q) if q == self.r else random_rotation(self.r, q, self._rng).T
        self._Wt = np.ascontiguousarray((self._basis @ self._spread).T, dtype=self.params.dtype)
        self._mean = np.zeros(d)
        self._bit_updates = np.zeros(self.r, np.int64)
        self._buffer = np.zeros((chunk, d), self.params.dtype)
        self._waiting = np.zeros(1, np.int64)
        self._sketch = np.zeros((rows, M))
        self._tally = np.zeros(4)
        self._middle = np.zeros(M)

    def _absorb(self, rows: Rows, labels: Any) -> None:
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
        self._clock[VERSION] += 1

    def _add(self, Z: npt.NDArray[np.float64]) -> None:
        n, m = self._tally[POINTS], len(Z)
        if not self._runs:
            self._append(Z)
        else:
            middle = Z.mean(axis=0)
            self._append(self._reduced(Z - middle))
            if n > 0:
                self._append(np.sqrt(n * m / (n + m)) * (middle - self._middle)[None])
            self._middle = (n * self._middle + m * middle) / (n + m)
        self._tally[POINTS] = n + m

    @property
    def _runs(self) -> bool:
        """Whether rows are centred with the mean of all points."""
        return True

    def _reduced(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if getattr(self.params, "sketch", "fd") == "frosh":
            return compressed(rows, len(self._sketch) // 2, self._rng)
        return rows

    def _append(self, rows: npt.NDArray[np.float64]) -> None:
        filled, shrunk = append(self._sketch, int(self._tally[FILLED]), rows)
        self._tally[FILLED] = filled
        self._tally[SHRUNK] += shrunk
        self._tally[SQUARES] += float((rows * rows).sum())

    def _planes(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        Wt = self._need_start()
        return Wt, Wt.astype(np.float64) @ self._middle
