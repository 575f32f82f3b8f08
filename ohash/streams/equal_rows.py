"""Equal rows of a matrix: each is known by the first of them that was asked for."""

import hashlib

import numpy as np
import numpy.typing as npt

from ohash.core.rows import gather
from ohash.streams.annotations import Rows

BLOCK = 4096


class EqualRows:
    """Rows are equal if their bytes and their `mark` are.

    >>> X = np.array([[1, 2], [3, 4], [1, 2], [1, 2]])
    >>> EqualRows(X, np.array([False, False, False, True])).first(np.arange(4)).tolist()
    [0, 1, 0, 3]
    """

    def __init__(self, X: npt.NDArray[np.generic], mark: npt.NDArray[np.bool_]) -> None:
        """Nothing is read yet."""
        self._X, self._mark = X, mark
        self._first = np.full(len(X), -1, np.int64)
        self._known: dict[tuple[bytes, bool], int] = {}

    def first(self, rows: Rows) -> Rows:
        """The row each of `rows` is known by."""
        new = np.unique(rows[self._first[rows] < 0])
        for start in range(0, len(new), BLOCK):
            block = new[start : start + BLOCK]
            values = np.ascontiguousarray(gather(self._X, block))
            for row, value in zip(block.tolist(), values, strict=True):
                digest = hashlib.blake2b(value.tobytes(), digest_size=16).digest()
                self._first[row] = self._known.setdefault((digest, bool(self._mark[row])), row)
        return self._first[rows]
