"""The first hash of a run, kept for ever: what the same pairs would have cost without learning, and the first codes.

Its projections of a row never change within a stage, so they are computed once for all rows where they fit in memory;
beyond that, those of the rows of each chunk of pairs are computed as they come. Both give the same digits.

Rankings of methods with a distance of their own (RaBitQ, product quantisation, int8): what they store, and asked it.

Where codes are numbers rather than bits, the distance of a pair is the method's own, too, in units in which two rows of
the warm-up are r/2 apart on average, as the bits of unrelated items are.
"""

import copy
from collections.abc import Iterator
from inspect import getattr_static
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Counts, Reals, Rows
from ohash.core.codes import pack, unpack
from ohash.core.frozen_loss import score_pairs
from ohash.core.rows import RowView
from ohash.evaluation.projections import iter_projections
from ohash.models.base import AsymmetricHasher, DecodingHasher, LinearHasher, OnlineHasher

# Projections of all rows are kept up to this many bytes.
KEPT_BYTES = 2**28
ENCODE_ROWS = 4096


class Frozen:
    """A hasher as it is now, whatever becomes of it; `iter_enter` shows it the rows of a stage."""

    def __init__(self, hasher: OnlineHasher) -> None:
        """Copy the half-spaces, or the whole hasher if its bits are none."""
        self.r = int(hasher.r)
        self._hasher: OnlineHasher | None = None
        self._shape: tuple[int, npt.DTypeLike] = int(getattr(hasher, "T", 1)), np.float32
        if getattr_static(hasher, "hyperplanes", None) is None:
            self._hasher = copy.deepcopy(hasher)
        else:
            Wt, threshold = cast(LinearHasher, hasher).hyperplanes
            self._Wt, self._threshold = np.array(Wt), np.array(threshold)
            self._shape = len(self._Wt), self._Wt.dtype
        self._Z: Reals = np.empty((0, 0))
        self._kept: Reals | None = None

    def iter_enter(self, Z: Reals) -> Iterator[None]:
        """From now on rows are rows of Z; yields between slices."""
        T, dtype = self._shape
        kept = None
        if len(Z) * T * self.r * np.dtype(dtype).itemsize <= KEPT_BYTES:
            kept, at = np.empty((len(Z), T, self.r), dtype), 0
            for block in self._projections(RowView(Z)):
                kept[at : at + len(block)] = block
                at += len(block)
                yield
        self._Z, self._kept = Z, kept

    def enter(self, Z: Reals) -> None:
        """`iter_enter` at once."""
        for _ in self.iter_enter(Z):
            pass

    def projections(self, rows: Rows) -> Reals:
        """Projections less thresholds of rows, (n, T, r); only their signs for a method without half-spaces."""
        if self._kept is not None:
            return np.asarray(self._kept[rows])
        return np.concatenate(list(self._projections(RowView(self._Z, rows))))

    def codes(self, rows: Rows) -> npt.NDArray[np.uint8]:
        """Packed codes of rows, (T, n, bytes)."""
        parts = [rows[start : start + ENCODE_ROWS] for start in range(0, len(rows), ENCODE_ROWS)]
        packed = np.concatenate([pack(self.projections(part) >= 0) for part in parts])
        return np.ascontiguousarray(packed.transpose(1, 0, 2))

    def score(
        self, i: Rows, j: Rows, s: npt.NDArray[np.int8], alpha: int, br: float, *, largest: bool
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """D_h, R and l of pairs under the first hash."""
        P = self._kept
        if P is None:
            places, at = np.unique(np.concatenate([i, j]), return_inverse=True)
            P, i, j = self.projections(places), at[: len(i)], at[len(i) :]
        D_h, R, loss = np.empty(len(i), np.int64), np.empty(len(i)), np.empty(len(i))
        score_pairs(P, i, j, s, alpha, br, largest, D_h, R, loss)
        return D_h, R, loss

    def _projections(self, view: RowView) -> Iterator[Reals]:
        """Blocks (rows, T, r), one after another."""
        if self._hasher is not None:
            for start in range(0, len(view), ENCODE_ROWS):
                codes = np.asarray(self._hasher.encode(view.block(start, start + ENCODE_ROWS)))
                codes = codes[None] if codes.ndim == 2 else codes
                yield np.ascontiguousarray(unpack(codes, self.r).transpose(1, 0, 2).astype(np.float32))
            return
        T, r, d = self._Wt.shape
        low = self._threshold.astype(self._Wt.dtype)
        for _, P in iter_projections(self._Wt.reshape(T * r, d), np.arange(T * r), view):
            yield np.ascontiguousarray(P.T).reshape(-1, T, r) - low


ROWS_PER_SLICE = 4096  # rows stored in one slice


class Estimates:
    """A database as one method stores it, and distances of float queries to it."""

    def __init__(self, hasher: AsymmetricHasher, Z: Reals, database: Rows) -> None:
        """Nothing is stored before `iter_store`."""
        self._hasher, self._Z, self._database = hasher, Z, database
        self._parts: list[Any] = []

    def iter_store(self) -> Iterator[None]:
        """Store the database, a block at a time."""
        for start in range(0, len(self._database), ROWS_PER_SLICE):
            rows = np.ascontiguousarray(self._Z[self._database[start : start + ROWS_PER_SLICE]])
            self._parts.append(self._hasher.quantise(rows))
            yield

    def store(self) -> "Estimates":
        """`iter_store` at once."""
        for _ in self.iter_store():
            pass
        return self

    def distances(self, queries: Rows) -> npt.NDArray[np.float32]:
        """Distances of rows of Z to the database, (queries, database)."""
        rows = np.ascontiguousarray(self._Z[queries])
        return np.concatenate([self._hasher.estimate_distances(rows, part) for part in self._parts], axis=1)


class PairDistances:
    """Distances of pairs in units of half a bit string."""

    def __init__(self, hasher: DecodingHasher, warm: Reals) -> None:
        """Measure the unit on the rows of the warm-up."""
        self._r = int(hasher.r)
        D = hasher.estimate_distances(warm, hasher.quantise(warm))
        n = len(warm)
        self._unit = max(float((D.sum(dtype=np.float64) - np.trace(D)) / max(1, n * (n - 1))), 1e-30)

    def __call__(self, hasher: DecodingHasher, Z: Reals, i: Rows, j: Rows) -> Counts:
        """A whole number in 0 to r for each pair: of x_i to what is stored of x_j."""
        places, at = np.unique(j, return_inverse=True)
        decoded = hasher.decode(np.asarray(hasher.quantise(np.ascontiguousarray(Z[places]))))[at]
        squares = np.square(np.asarray(Z[i], np.float32) - decoded).sum(axis=1, dtype=np.float64)
        steps: npt.NDArray[np.float64] = np.rint(0.5 * self._r * squares / self._unit)
        return np.clip(steps, 0, self._r).astype(np.int64)


class FrozenEstimates(Frozen):
    """The first state of a method whose codes are numbers: pairs are scored by its own distance."""

    def __init__(self, hasher: DecodingHasher, warm: Reals) -> None:
        """Copy the hasher."""
        super().__init__(hasher)
        self.pairs = PairDistances(hasher, warm)

    @property
    def hasher(self) -> DecodingHasher:
        """As it was."""
        return cast(DecodingHasher, self._hasher)

    def iter_enter(self, Z: Reals) -> Iterator[None]:
        """From now on rows are rows of Z; nothing is kept of them."""
        self._Z = Z
        yield

    def score(
        self, i: Rows, j: Rows, s: npt.NDArray[np.int8], alpha: int, br: float, *, largest: bool
    ) -> tuple[Counts, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """D_h stands for the scaled distance, R follows from it, Eq. (3); there is no prediction loss."""
        D = self.pairs(self.hasher, self._Z, i, j)
        R = np.where(s > 0, np.maximum(0.0, D - alpha), np.maximum(0.0, br - D)).astype(np.float64)
        return D, R, np.zeros(len(i))
