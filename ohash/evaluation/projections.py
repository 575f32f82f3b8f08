"""Projections Wᵀx of many rows on some columns of W, in steps of about 10 ms.

Their digits depend on the row and the column alone. A BLAS product of fewer columns may differ in the last digit, and a
bit near its threshold would then depend on which other columns happened to be out of date. Here columns go four at a
time, padded, through one loop whose order of summation depends on d alone.
"""

from collections.abc import Callable, Iterator
from functools import cache

import numba
import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Reals, Rows
from ohash.core.rows import RowView
from ohash.runtime.compile import array_type, kernel_for

GROUP = 4  # columns of one group; the callers pad to a multiple of it


def _project_columns(
    W: Reals,  # (c, d) the columns to project on, padded with zeros to a multiple of GROUP
    columns: Rows,  # (c,) their rows in P; -1 for padding
    X: Reals,  # (b, d)
    start: int,  # the first of these rows in P
    P: Reals,  # (T r, n) changed in place
) -> None:
    """P[columns, start : start + b] = W Xᵀ, two rows and four columns at a time."""
    zero = W.dtype.type(0)
    b, d = X.shape
    for g in range(0, W.shape[0], GROUP):
        w0, w1, w2, w3 = W[g], W[g + 1], W[g + 2], W[g + 3]
        for i in range(0, b, 2):
            j = min(i + 1, b - 1)
            x, y = X[i], X[j]
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
            for c in range(d):
                u, v = x[c], y[c]
                a0 += w0[c] * u
                b0 += w0[c] * v
                a1 += w1[c] * u
                b1 += w1[c] * v
                a2 += w2[c] * u
                b2 += w2[c] * v
                a3 += w3[c] * u
                b3 += w3[c] * v
            for k, p_i, p_j in ((0, a0, b0), (1, a1, b1), (2, a2, b2), (3, a3, b3)):
                column = columns[g + k]
                if column >= 0:
                    P[column, start + i], P[column, start + j] = p_i, p_j


@cache
def project_columns(dtype: str) -> Callable[..., None]:
    """The kernel for "float32" or "float64"; compiled at the first call on a machine, then read from disk."""
    real, i8 = getattr(numba.types, dtype), numba.types.int64
    rows = array_type(real, 2, readonly=True)
    signature = numba.types.void(rows, array_type(i8, 1, readonly=True), rows, i8, array_type(real, 2))
    return kernel_for(signature, _project_columns)


STEP_WORK = 30_000_000  # multiplications of one step: about 10 ms
STORED_BLOCK = 65_536  # rows of stored projections read at a time


def project(W: Reals, columns: Rows, view: RowView, P: Reals) -> Iterator[float]:
    """P[columns] = W[columns] Xᵀ, (T r, n); yields the share done."""
    if not len(columns):
        return
    some, at = _pad(W, columns, columns)
    kernel, step = project_columns(W.dtype.name), _step(some)
    for start in range(0, len(view), step):
        rows = np.ascontiguousarray(view.block(start, start + step), dtype=W.dtype)
        kernel(some, at, rows, start, P)
        yield (start + len(rows)) / len(view)


def iter_projections(W: Reals, columns: Rows, view: RowView) -> Iterator[tuple[int, Reals]]:
    """`project` without storing all of P: (first row, W[columns] Xᵀ of a block of rows), block by block."""
    if not len(columns):
        return
    some, at = _pad(W, columns, np.arange(len(columns)))
    kernel, step = project_columns(W.dtype.name), _step(some)
    for start in range(0, len(view), step):
        rows = np.ascontiguousarray(view.block(start, start + step), dtype=W.dtype)
        P = np.empty((len(columns), len(rows)), W.dtype)
        kernel(some, at, rows, 0, P)
        yield start, P


def iter_blocks(P: Reals, columns: Rows) -> Iterator[tuple[int, Reals]]:
    """(first row, P[columns] of a block of rows) of stored projections."""
    for start in range(0, P.shape[1] if len(columns) else 0, STORED_BLOCK):
        yield start, P[columns, start : start + STORED_BLOCK]


def write_bits(codes: npt.NDArray[np.uint8], r: int, columns: Rows, positive: npt.NDArray[np.bool_], start: int) -> int:
    """Set the bits of ascending `columns` (numbers m r + k) in packed codes (T, n, bytes); return how many changed.

    `positive` is (columns, rows), for the rows from `start` on.

    >>> codes = np.zeros((1, 3, 1), np.uint8)
    >>> write_bits(codes, 8, np.array([1, 6]), np.array([[True, True], [False, True]]), 1), codes[0, :, 0].tolist()
    (3, [0, 2, 66])
    """
    stop, width = start + positive.shape[1], codes.shape[2]
    models, bits = np.divmod(columns, r)
    place, changed = models * width + bits // 8, 0
    for some in np.split(np.arange(len(columns)), np.flatnonzero(np.diff(place)) + 1) if len(columns) else ():
        m, byte = divmod(int(place[some[0]]), width)
        shift = (bits[some] % 8).astype(np.uint8)
        fresh = np.bitwise_or.reduce(positive[some].astype(np.uint8) << shift[:, None], axis=0)
        old = codes[m, start:stop, byte]
        fresh |= old & ~np.bitwise_or.reduce(np.uint8(1) << shift)
        changed += int(np.bitwise_count(fresh ^ old).sum(dtype=np.int64))
        codes[m, start:stop, byte] = fresh
    return changed


def _pad(W: Reals, columns: Rows, places: Rows) -> tuple[Reals, Rows]:
    padding = -len(columns) % GROUP
    some = np.concatenate([W[columns], np.zeros((padding, W.shape[1]), W.dtype)])
    return some, np.concatenate([places, np.full(padding, -1)])


def _step(block: Reals) -> int:
    return max(2, STEP_WORK // block.size)
