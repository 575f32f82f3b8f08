"""Rows of a matrix that may be a memory map of gigabytes: copied a block at a time, after which its pages are released.

Pages of a map that have been read count as memory of this process until the system reclaims them. Reading through a
large file would look like loading it, and on a small machine would crowd out what is really needed.
"""

import errno
import math
import mmap
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Array, Integers, Numbers
from ohash.core.map_copies import MAX_PIECES, copy_rows

# Scattered rows copied before the pages of the map are released: each may bring in 2 MB.
ROWS_AT_ONCE = 64
# Larger stacks of rows live in a temporary file.
IN_MEMORY = 2**30
ROWS_PER_COPY = 8_192
Scalar = TypeVar("Scalar", bound=np.generic)


def gather(X: npt.NDArray[Scalar], rows: Integers | slice) -> npt.NDArray[Scalar]:
    """``X[rows]``, copied if X is a map; scattered rows without read-ahead, which would take 100 times as long.

    >>> gather(np.arange(6).reshape(3, 2), np.array([2, 0])).tolist()
    [[4, 5], [0, 1]]
    """
    mapped = _map_of(X)
    if mapped is None:
        return np.asarray(X[rows])
    rows = rows if isinstance(rows, slice) else np.asarray(rows)
    if isinstance(rows, slice) or _close_together(rows):
        return _copy(X, mapped, rows, MAX_PIECES)
    mapped.madvise(mmap.MADV_RANDOM)
    try:
        return _copy(X, mapped, rows, ROWS_AT_ONCE)
    finally:
        mapped.madvise(mmap.MADV_NORMAL)


def _copy(X: npt.NDArray[Scalar], mapped: mmap.mmap, rows: Integers | slice, at_once: int) -> npt.NDArray[Scalar]:
    """Rows of a map whose file somebody may cut meanwhile; its pages are released after so many rows or pieces."""
    _check_length(X, mapped)
    count = len(range(*rows.indices(len(X)))) if isinstance(rows, slice) else len(rows)
    copied = np.empty((count, *X.shape[1:]), X.dtype)
    try:
        copy_rows(X, rows, copied, at_once, lambda: mapped.madvise(mmap.MADV_DONTNEED))
    except OSError as error:
        if error.errno != errno.EIO:  # too many open files, where a pipe is needed
            raise
        _check_length(X, mapped)
        raise ValueError(f"{_name(X)} cannot be read any more ({error.strerror}); is its disk faulty?") from None
    _check_length(X, mapped)  # what is missing of the last page is read as zeros
    return copied


def _check_length(X: Array, mapped: mmap.mmap) -> None:
    """Raise if the file behind a map has been cut."""
    base = _file_array(X)
    needed = getattr(base, "offset", 0) + base.nbytes
    if mapped.size() < needed:
        raise ValueError(
            f"{_name(X)} must keep its {needed:,} bytes while it is used, and has {mapped.size():,} now; restore it, "
            "and write a new file next to it instead of over it"
        )


def _file_array(X: Array) -> Array:
    """The array of the whole map, of which X is a view."""
    while isinstance(X.base, np.ndarray):
        X = X.base
    return X


def _name(X: Array) -> str:
    return Path(str(getattr(_file_array(X), "filename", "") or "X")).name


def _close_together(rows: Integers) -> bool:
    """Whether rows ascend with few gaps, so that read-ahead helps."""
    if rows.ndim != 1 or len(rows) <= ROWS_AT_ONCE or rows.dtype == bool or rows[-1] - rows[0] >= 2 * len(rows):
        return False
    return bool(rows[0] >= 0 and (np.diff(rows) > 0).all())


def is_memory_mapped(X: Array) -> bool:
    """Whether an array is a view of a memory-mapped file."""
    return _map_of(X) is not None


def _map_of(X: Array) -> mmap.mmap | None:
    """The map an array is a view of; None if it owns its memory, or if the system has no `madvise`."""
    base: object = X
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_RANDOM") else None


def empty_rows(shape: tuple[int, ...], dtype: npt.DTypeLike, in_memory: int = IN_MEMORY) -> npt.NDArray[Any]:
    """An array to fill: in memory, or in a temporary file if it takes more than `in_memory` bytes."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size <= in_memory:
        return np.empty(shape, dtype)
    with tempfile.NamedTemporaryFile(prefix="ohash-rows-") as file:
        _reserve_space(file.fileno(), size)
        return np.memmap(file, dtype=np.dtype(dtype), mode="w+", shape=shape)


def _reserve_space(file: int, size: int) -> None:
    """Take the space on the disk now: to write to a map when the disk is full would kill this process (SIGBUS)."""
    if not hasattr(os, "posix_fallocate"):  # macOS and Windows
        return
    try:
        os.posix_fallocate(file, 0, size)
    except OSError as error:
        raise ValueError(
            f"{size:,} bytes of rows need a temporary file ({error.strerror}); free some disk, or set TMPDIR to a "
            "folder with more space"
        ) from None


def release_pages(X: Array) -> None:
    """Let the system write out and reclaim what was written to a memory map; nothing for an array in memory."""
    mapped = _map_of(X)
    if mapped is not None:
        mapped.madvise(mmap.MADV_DONTNEED)


def stack_rows(A: Numbers, B: Numbers) -> Numbers:
    """The rows of A, then those of B; in a temporary file if they take more than a gigabyte.

    >>> stack_rows(np.ones((1, 2), np.float32), np.zeros((1, 2), np.float16)).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    stacked: Numbers = empty_rows((len(A) + len(B), A.shape[1]), np.result_type(A, B))
    for X, start in ((A, 0), (B, len(A))):
        for at in range(0, len(X), ROWS_PER_COPY):
            block = gather(X, slice(at, at + ROWS_PER_COPY))
            stacked[start + at : start + at + len(block)] = block
            release_pages(stacked)
    return stacked


@dataclass(frozen=True, eq=False)
class RowView:
    """Some rows of X, or all; they are copied a block at a time, as X may be a file of gigabytes."""

    X: Numbers
    rows: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.X) if self.rows is None else len(self.rows)

    def block(self, start: int, stop: int) -> Numbers:
        """Rows start to stop."""
        return gather(self.X, slice(start, stop) if self.rows is None else self.rows[start:stop])

    def take(self, positions: npt.NDArray[np.int64]) -> Numbers:
        """The rows at some positions, 0 to len - 1."""
        return gather(self.X, positions if self.rows is None else self.rows[positions])

    def check_finite(self, name: str = "X", size: int = 4096) -> None:
        """Raise for the first NaN, infinity or overlong row."""
        for start in range(0, len(self), size):
            at = np.arange(start, min(start + size, len(self)))
            rows = at if self.rows is None else self.rows[at]
            validation.measurable(name, self.block(start, start + size), rows=rows)
