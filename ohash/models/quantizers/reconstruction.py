"""The base of methods whose codes represent approximate vectors, and distances from float queries to such codes.

The query stays a float vector, so only the item's error counts (the asymmetric distance of Jégou, Douze and Schmid).
The codes are numbers, not bits: their Hamming distance is meaningless. Distances are sums of table entries, or computed
byte by byte.
"""

from collections.abc import Callable
from functools import cache, partial

import numba
import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Bytes, Reals, Singles
from ohash.core.codes import Codes
from ohash.models.hasher import Hasher
from ohash.runtime.compile import array_type, kernel_for


class Reconstruction(Hasher):
    """A base for methods that can `decode`."""

    def decode(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The vectors (n, d) that codes represent."""
        raise NotImplementedError

    def rows(self, X: npt.ArrayLike) -> Reals:
        """X checked, as float32."""
        return self._rows(X, "float32")

    def quantise(self, X: npt.ArrayLike) -> Codes:
        """What is stored of the rows of X: their codes alone."""
        return self.encode(X)

    def estimate_distances(self, queries: npt.ArrayLike, stored: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """Squared Euclidean distances from queries to decoded items, (queries, items)."""
        raise NotImplementedError


def _sum_parts(
    tables: Singles,  # (queries, parts, 256) float32: contribution of each value of a part
    codes: Bytes,  # (n, parts) uint8
    sums: Singles,  # (queries, n) float32, filled
) -> None:
    """sums[q, i] = Σ over parts p of tables[q, p, codes[i, p]]; items in blocks, to read them once."""
    n, parts = codes.shape
    for start in range(0, n, 1024):
        for q in range(tables.shape[0]):
            for i in range(start, min(start + 1024, n)):
                total = np.float32(0)
                for p in range(parts):
                    total += tables[q, p, codes[i, p]]
                sums[q, i] = total


def _byte_distances(
    queries: Singles,  # (queries, d) float32
    codes: Bytes,  # (n, d) uint8
    low: Singles,  # (d,) float32
    step: Singles,  # (d,) float32
    squares: Singles,  # (queries, n) float32, filled
) -> None:
    """squares[q, i] = ‖x_q - (low + step codes_i)‖²."""
    n, d = codes.shape
    for q in range(queries.shape[0]):
        for i in range(n):
            total = np.float32(0)
            for j in range(d):
                rest = queries[q, j] - low[j] - step[j] * np.float32(codes[i, j])
                total += rest * rest
            squares[q, i] = total


@cache
def sum_parts() -> Callable[..., None]:
    """Compiled at the first call on a machine, then read from disk."""
    f4, u1 = numba.types.float32, numba.types.uint8
    readonly = partial(array_type, readonly=True)
    return kernel_for(numba.types.void(readonly(f4, 3), readonly(u1, 2), array_type(f4, 2)), _sum_parts)


@cache
def byte_distances() -> Callable[..., None]:
    """Compiled at the first call on a machine, then read from disk."""
    f4, u1 = numba.types.float32, numba.types.uint8
    readonly = partial(array_type, readonly=True)
    signature = numba.types.void(readonly(f4, 2), readonly(u1, 2), readonly(f4, 1), readonly(f4, 1), array_type(f4, 2))
    return kernel_for(signature, _byte_distances)
