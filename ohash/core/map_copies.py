"""Rows of a memory map, copied by the system.

To read a page of a map whose file was cut, or whose disk fails, kills the process (SIGBUS). The system, asked to copy
the same bytes, says that it cannot. It is as fast, and the file may be cut at any moment.
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
LARGEST = 2**20  # bytes of a piece; a call takes almost 2**31
FORBIDDEN = (errno.ENOSYS, errno.EPERM)  # by an old container


def copy_rows(X: Array, rows: Integers | slice, copied: Array, at_once: int, after: Callable[[], object]) -> bool:
    """``copied[:] = X[rows]``; False if this system cannot do it so, OSError if bytes are missing.

    `after` is called whenever `at_once` pieces have been copied, each of which is one row or several side by side.
    """
    copy = _system_copy()
    if copy is None or not X[:1].flags.c_contiguous or X[:1].nbytes > LARGEST:  # such as a file that goes by columns
        return False
    pieces = _pieces(X, rows)
    into = np.array([copied.ctypes.data, 0], np.uintp)
    process, target, source = os.getpid(), into.ctypes.data, pieces.ctypes.data
    for start in range(0, len(pieces), at_once):
        some = pieces[start : start + at_once]
        into[1] = some[:, 1].sum()
        done = copy(process, target, 1, source + start * pieces.strides[0], len(some), 0)
        if done < 0 and ctypes.get_errno() in FORBIDDEN:
            return False
        if done != into[1]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        into[0] += into[1]
        after()
    return True


def _pieces(X: Array, rows: Integers | slice) -> npt.NDArray[np.uintp]:
    """Where the bytes of these rows lie, and how many there are; rows that lie side by side are one piece."""
    at = np.arange(*rows.indices(len(X))) if isinstance(rows, slice) else rows.astype(np.int64)
    if len(at) and not -len(X) <= at.min() <= at.max() < len(X):
        raise IndexError(f"rows must be below {len(X)}, got {at.min()} to {at.max()}")
    at[at < 0] += len(X)
    size = X[:1].nbytes
    begins = np.ones(len(at), bool)
    if X.strides[0] == size:
        begins[1:] = (np.diff(at) != 1) | (at[1:] % (LARGEST // max(1, size)) == 0)
    first = np.flatnonzero(begins)
    pieces = np.empty((len(first), 2), np.uintp)
    pieces[:, 0] = X.ctypes.data + at[first] * X.strides[0]
    pieces[:, 1] = np.diff(first, append=len(at)) * size
    return pieces


@cache
def _system_copy() -> Callable[..., int] | None:
    """process_vm_readv of Linux, with which a process may also read itself."""
    if sys.platform != "linux":
        return None
    copy = getattr(ctypes.CDLL(None, use_errno=True), "process_vm_readv", None)
    if copy is not None:
        pointer, count = ctypes.c_void_p, ctypes.c_ulong
        copy.argtypes, copy.restype = (ctypes.c_int, pointer, count, pointer, count, count), ctypes.c_ssize_t
    return copy
