"""Rows of a matrix that may be a memory map of gigabytes: copied out a block at a time, and the map let go again.

Pages of a map that have been looked at count as memory of this process until the system wants them back. Who walks
through a large file would seem to have loaded it, and on a small machine would crowd out what is really needed.
"""

import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import validation

# Scattered rows of a map copied before its pages are let go: each may bring 2 MB with it.
AT_ONCE = 64


def gather(X: npt.NDArray[Any], rows: npt.NDArray[np.integer[Any]] | slice) -> npt.NDArray[Any]:
    """``X[rows]``; of a map copied, without reading ahead where they are scattered, which takes 100 times as long.

    >>> gather(np.arange(6).reshape(3, 2), np.array([2, 0])).tolist()
    [[4, 5], [0, 1]]
    """
    mapped = _map_of(X)
    if mapped is None:
        return np.asarray(X[rows])
    if isinstance(rows, slice):
        found = np.array(X[rows])
        mapped.madvise(mmap.MADV_DONTNEED)
        return found
    rows = np.asarray(rows)
    if _close_together(rows):
        found = np.asarray(X[rows])
        mapped.madvise(mmap.MADV_DONTNEED)
        return found
    found = np.empty((len(rows), *X.shape[1:]), X.dtype)
    mapped.madvise(mmap.MADV_RANDOM)
    try:
        for start in range(0, len(rows), AT_ONCE):
            found[start : start + AT_ONCE] = X[rows[start : start + AT_ONCE]]
            mapped.madvise(mmap.MADV_DONTNEED)
    finally:
        mapped.madvise(mmap.MADV_NORMAL)
    return found


def _close_together(rows: npt.NDArray[np.integer[Any]]) -> bool:
    """Whether rows follow one another with few gaps: then reading ahead is what is wanted."""
    if rows.ndim != 1 or len(rows) <= AT_ONCE or rows.dtype == bool or rows[-1] - rows[0] >= 2 * len(rows):
        return False
    return bool(rows[0] >= 0 and (np.diff(rows) > 0).all())


def is_mapped(X: npt.NDArray[Any]) -> bool:
    """Whether an array looks into a file."""
    return _map_of(X) is not None


def _map_of(X: npt.NDArray[Any]) -> mmap.mmap | None:
    """The map an array looks into; None if it has memory of its own, or the system cannot be advised."""
    below: Any = X
    while isinstance(below, np.ndarray):
        below = below.base
    return below if isinstance(below, mmap.mmap) and hasattr(mmap, "MADV_RANDOM") else None


@dataclass(frozen=True, eq=False)
class RowsOf:
    """Some rows of X, or all; they are copied out a block at a time, as X may be a file of gigabytes."""

    X: npt.NDArray[Any]
    rows: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        """How many."""
        return len(self.X) if self.rows is None else len(self.rows)

    def block(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Rows start to stop."""
        return gather(self.X, slice(start, stop) if self.rows is None else self.rows[start:stop])

    def take(self, places: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Those at some places, 0 to len - 1."""
        return gather(self.X, places if self.rows is None else self.rows[places])

    def check_finite(self, size: int = 4096) -> None:
        """Raise for the first NaN, infinity or row too long to be measured."""
        for start in range(0, len(self), size):
            at = np.arange(start, min(start + size, len(self)))
            validation.measurable("X", self.block(start, start + size), rows=at if self.rows is None else self.rows[at])
