"""Rows of a memory map, copied by the system.

To read a page of a map whose file was cut, or whose disk fails, kills the process (SIGBUS). The system, asked to copy
the same bytes, says that it cannot, and the file may be cut at any moment. Linux has a call for it, as fast as reading;
elsewhere, where a container forbids it, and for single numbers, the bytes go through a pipe.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Integers

MAX_PIECES = 1024  # in one call
LARGEST = 2**20  # bytes of a piece, unless one row has more
SMALL = 1024  # bytes of a piece: those with fewer go through a pipe sooner than by the call of Linux
FORBIDDEN = (errno.ENOSYS, errno.EPERM)  # by an old container
AGAIN = (errno.EINTR, errno.EAGAIN)
Positions = npt.NDArray[np.int64]
Pieces = npt.NDArray[np.uintp]  # address and number of bytes, the `iovec` of the system
Bytes = npt.NDArray[np.uint8]


def copy_rows(X: Array, rows: Integers | slice, copied: Array, at_once: int, after: Callable[[], object]) -> None:
    """``copied[:] = X[rows]``; OSError (EIO) if bytes are missing.

    `after` is called whenever `at_once` pieces have been copied, each of which is one row or several side by side; of
    a file that goes by columns, whenever so many rows have been.
    """
    at, size = _positions(X, rows), X[:1].nbytes
    if not X[:1].flags.c_contiguous:
        columns = np.tensordot(X.strides[1:], np.indices(X.shape[1:]), 1).reshape(-1, 1)  # where they begin
        for start in range(0, len(at), at_once):
            pieces = _pieces(X, at[start : start + at_once], X.itemsize)
            addresses, sizes = pieces[:, 0] + columns.astype(np.uintp), np.tile(pieces[:, 1], len(columns))
            by_column = np.empty((len(columns), len(at[start : start + at_once])), X.dtype)
            _copy(np.stack([addresses.ravel(), sizes], axis=1), by_column)
            copied[start : start + at_once] = by_column.T.reshape(-1, *X.shape[1:])
            after()
        return
    pieces, first = _pieces(X, at, size), 0
    for start in range(0, len(pieces), at_once):
        some = pieces[start : start + at_once]
        last = first + int(some[:, 1].sum()) // max(1, size)
        _copy(some, copied[first:last])
        first = last
        after()


def _positions(X: Array, rows: Integers | slice) -> Positions:
    at = np.arange(*rows.indices(len(X))) if isinstance(rows, slice) else rows.astype(np.int64)
    if len(at) and not -len(X) <= at.min() <= at.max() < len(X):
        raise IndexError(f"rows must be below {len(X)}, got {at.min()} to {at.max()}")
    at[at < 0] += len(X)
    return at


def _pieces(X: Array, at: Positions, size: int) -> Pieces:
    """Where the first `size` bytes of each of these rows lie; rows that lie side by side are one piece."""
    begins = np.ones(len(at), bool)
    if X.strides[0] == size:
        begins[1:] = (np.diff(at) != 1) | (at[1:] % max(1, LARGEST // max(1, size)) == 0)
    first = np.flatnonzero(begins)
    pieces = np.empty((len(first), 2), np.uintp)
    pieces[:, 0] = X.ctypes.data + at[first] * X.strides[0]
    pieces[:, 1] = np.diff(first, append=len(at)) * size
    return pieces


def _copy(pieces: Pieces, copied: Array) -> None:
    target, done = copied.reshape(-1).view(np.uint8), 0
    for start in range(0, len(pieces), MAX_PIECES):
        some = pieces[start : start + MAX_PIECES]
        part = target[done : done + int(some[:, 1].sum())]
        if len(part) < SMALL * len(some) or not _copy_by_call(some, part):
            _copy_through_pipe(some, part)
        done += len(part)


def _copy_by_call(pieces: Pieces, target: Bytes) -> bool:
    """Whether this system does it."""
    call, done = _call_of_linux(), 0
    while call is not None and done < len(target):
        into = np.array([target.ctypes.data + done, len(target) - done], np.uintp)
        count = call(os.getpid(), into.ctypes.data, 1, pieces.ctypes.data, len(pieces), 0)
        if count < 0 and ctypes.get_errno() in FORBIDDEN:
            return False
        pieces, done = _rest(pieces, count), done + count
    return call is not None


def _copy_through_pipe(pieces: Pieces, target: Bytes) -> None:
    """As much at a time as the pipe holds, taken out again at once."""
    write, memory, done = _call_to_write(), target.data, 0
    outlet, inlet = os.pipe()
    try:
        os.set_blocking(inlet, False)
        while done < len(target):
            count = write(inlet, pieces.ctypes.data, len(pieces))
            if count < 0 and ctypes.get_errno() in AGAIN:
                continue
            pieces = _rest(pieces, count)
            while count:
                taken = os.readv(outlet, [memory[done : done + count]])
                done, count = done + taken, count - taken
    finally:
        os.close(outlet)
        os.close(inlet)


def _rest(pieces: Pieces, count: int) -> Pieces:
    """What is left of them after so many bytes; OSError if there were none."""
    if count <= 0:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    before = np.cumsum(pieces[:, 1]) - pieces[:, 1]
    at = int(np.searchsorted(before, count, side="right")) - 1  # the last that begins at or before it
    left, copied = pieces[at:].copy(), np.uintp(count) - before[at]
    left[0, 0] += copied
    left[0, 1] -= copied
    return left


@cache
def _call_of_linux() -> Callable[..., int] | None:
    """process_vm_readv, with which a process may also read itself."""
    copy = getattr(ctypes.CDLL(None, use_errno=True), "process_vm_readv", None) if sys.platform == "linux" else None
    if copy is not None:
        pointer, count = ctypes.c_void_p, ctypes.c_ulong
        copy.argtypes, copy.restype = (ctypes.c_int, pointer, count, pointer, count, count), ctypes.c_ssize_t
    return copy


@cache
def _call_to_write() -> Callable[..., int]:
    """The writev of the system, which takes addresses; that of Python takes buffers, and one per row would be slow."""
    write: Callable[..., int] = ctypes.CDLL(None, use_errno=True).writev
    write.argtypes, write.restype = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int), ctypes.c_ssize_t  # type: ignore[attr-defined]
    return write
