"""The code table: a database that is re-encoded while the hash learns, at the cost of what has really changed.

An update of OH moves only the p0 columns it flips, so only those *dirty* columns of Wᵀx are computed again; a mean that
moves shifts thresholds, and the raw projections stay. The table keeps the hash it was made with: queries encoded by
`CodeTable.encode` and the codes of the database always belong together, however stale both are.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import getattr_static
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.codes import Codes
from ohash.evaluation.table_kernels import GROUP, project_columns
from ohash.models.base import LinearHasher, OnlineHasher

STEP_WORK = 30_000_000  # multiplications of one step of `iter_refresh`: about 10 ms
ENCODE_ROWS = 4096  # rows at once for a method that is not linear


@dataclass(frozen=True)
class Refresh:
    """What one refresh cost: bits computed again (n for each dirty column), and bits that really changed.

    The first one has nothing to compare with: it flips 0 bits.
    """

    version: int
    columns: int
    bits_recomputed: int
    bits_flipped: int


class CodeTable:
    """Packed codes of X under `hasher`, brought up to date by `refresh`.

    >>> from ohash import OH
    >>> X, model = np.eye(3, dtype=np.float32), OH(r=8, seed=1)
    >>> table = CodeTable(model, X)
    >>> table.refresh().bits_recomputed
    24
    >>> step = model.learn(X, [0], [1], [-1])
    >>> done = table.refresh()
    >>> done.columns == int(step.p0[0]) and np.array_equal(table.codes, model.encode(X))
    True
    """

    def __init__(self, hasher: OnlineHasher, X: npt.ArrayLike) -> None:
        """Keep a reference to both; nothing is encoded before the first refresh."""
        self._hasher = hasher
        self._X = validation.finite("X", validation.matrix("X", X))
        first = hasher.encode(self._X[:1])
        self._single = first.ndim == 2
        self._linear = getattr_static(hasher, "hyperplanes", None) is not None
        T = 1 if self._single else len(first)
        self._codes = np.zeros((T, len(self._X), first.shape[-1]), np.uint8)
        self._seen = np.full((T, hasher.r), -1, np.int64)  # bit_updates of the projections; -1: never computed
        self._P = np.empty((0, 0))
        self._Wt = np.empty((0, 0, 0))
        self._threshold = np.full((T, hasher.r), np.nan)
        self._made_by: OnlineHasher = hasher
        self.last: Refresh | None = None

    @property
    def codes(self) -> Codes:
        """Codes as of the last refresh, (n, ceil(r/8)) or (T, n, ceil(r/8)): read-only, and changed by the next one."""
        packed = self._codes[0] if self._single else self._codes
        view = packed.view()
        view.flags.writeable = False
        return Codes(view, self._hasher.r, self.version)

    @property
    def version(self) -> int:
        """The version of the hash that made the codes."""
        if self.last is None:
            raise ValueError("the table is empty: call refresh() to encode X for the first time")
        return self.last.version

    @property
    def stale(self) -> bool:
        """Whether the hash has changed since the last refresh."""
        return self.last is None or self.last.version != self._hasher.version

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Codes of other rows, queries say, under the hash that made the table."""
        version = self.version
        if not self._linear:
            return self._made_by.encode(np.asarray(X))
        T, r, d = self._Wt.shape
        rows = validation.finite("X", validation.matrix("X", X, d=d))
        P = np.empty((T * r, len(rows)), self._Wt.dtype)
        for _ in _project(self._Wt.reshape(T * r, d), np.arange(T * r), rows, P):
            pass
        positive = P.reshape(T, r, -1) >= self._threshold.astype(P.dtype)[:, :, None]
        packed = np.packbits(positive, axis=1, bitorder="little").transpose(0, 2, 1)
        return Codes(np.ascontiguousarray(packed[0] if self._single else packed), r, version)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """What a linear hasher's table needs to go on exactly as if it had never been put away."""
        if not self._linear or self.last is None:
            raise ValueError("only a refreshed table of a linear method can be saved")
        cost = [self.last.version, self.last.columns, self.last.bits_recomputed, self.last.bits_flipped]
        arrays = {"codes": self._codes, "seen": self._seen, "Wt": self._Wt, "threshold": self._threshold}
        return {name: array.copy() for name, array in arrays.items()} | {"last": np.array(cost, np.int64)}

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """The inverse of `state`; the projections are computed again, by the W that made the table."""
        self._codes, self._seen = np.array(state["codes"]), np.array(state["seen"])
        self._Wt, self._threshold = np.array(state["Wt"]), np.array(state["threshold"])
        self.last = Refresh(*(int(value) for value in state["last"]))
        T, r, d = self._Wt.shape
        self._P = np.empty((T * r, len(self._X)), self._Wt.dtype)
        for _ in _project(self._Wt.reshape(T * r, d), np.arange(T * r), self._X, self._P):
            pass

    def refresh(self) -> Refresh:
        """Bring the codes up to date and say what it cost."""
        for _ in self.iter_refresh():
            pass
        assert self.last is not None
        return self.last

    def iter_refresh(self) -> Iterator[float]:
        """`refresh` in steps of about 10 ms: yields the share done; afterwards `last` is the record.

        The hash is copied at the start, so learning may go on in between. Until the last step the codes are the old
        ones; leaving early keeps them, and the next refresh starts again.
        """
        if self._linear:
            yield from self._refresh_columns(self._hasher)  # type: ignore[arg-type]
        else:
            yield from self._refresh_all()

    def _refresh_columns(self, hasher: LinearHasher) -> Iterator[float]:
        Wt, threshold = (array.copy() for array in hasher.hyperplanes)
        bit_updates, version = hasher.bit_updates.copy(), hasher.version
        T, r, d = Wt.shape
        n = len(self._X)
        if not self._P.size:
            self._P = np.empty((T * r, n), Wt.dtype)
        dirty = np.flatnonzero(bit_updates != self._seen)
        self._seen.reshape(-1)[dirty] = -1  # half done, should the caller leave
        yield from _project(Wt.reshape(T * r, d), dirty, self._X, self._P)
        moved = threshold.astype(Wt.dtype) != self._threshold.astype(Wt.dtype)
        moved.reshape(-1)[dirty] = True
        flipped = self._threshold_bits(moved, threshold.astype(Wt.dtype))
        self._seen, self._Wt, self._threshold = bit_updates, Wt, threshold
        self.last = Refresh(version, len(dirty), n * len(dirty), 0 if self.last is None else flipped)
        yield 1.0

    def _threshold_bits(self, moved: npt.NDArray[np.bool_], threshold: npt.NDArray[Any]) -> int:
        """Write every byte that holds a moved bit; return how many bits changed."""
        T, r = moved.shape
        P = self._P.reshape(T, r, -1)
        flipped = 0
        for m in range(T):
            for byte in np.unique(np.flatnonzero(moved[m]) // 8):
                bits = slice(8 * byte, min(8 * byte + 8, r))
                column = np.packbits(P[m, bits] >= threshold[m, bits, None], axis=0, bitorder="little")[0]
                flipped += int(np.bitwise_count(column ^ self._codes[m, :, byte]).sum(dtype=np.int64))
                self._codes[m, :, byte] = column
        return flipped

    def _refresh_all(self) -> Iterator[float]:
        """For a method without columns: all bits are computed again, by a copy of the hash as it is now."""
        made_by, n = copy.deepcopy(self._hasher), len(self._X)
        if self.last is not None and made_by.version == self.last.version:
            self.last = Refresh(made_by.version, 0, 0, 0)
            return
        fresh = np.empty_like(self._codes)
        for start in range(0, n, ENCODE_ROWS):
            fresh[:, start : start + ENCODE_ROWS] = made_by.encode(self._X[start : start + ENCODE_ROWS])
            yield min(start + ENCODE_ROWS, n) / n
        flipped = 0 if self.last is None else int(np.bitwise_count(fresh ^ self._codes).sum(dtype=np.int64))
        self._codes[:], self._made_by = fresh, made_by
        self.last = Refresh(made_by.version, self._seen.size, n * self._seen.size, flipped)


def _project(
    W: npt.NDArray[Any], columns: npt.NDArray[np.int64], X: npt.NDArray[Any], P: npt.NDArray[Any]
) -> Iterator[float]:
    """P[columns] = W[columns] Xᵀ in steps of about 10 ms; yields the share done."""
    if not len(columns):
        return
    kernel = project_columns(W.dtype.name)
    padding = -len(columns) % GROUP
    some = np.concatenate([W[columns], np.zeros((padding, W.shape[1]), W.dtype)])
    at = np.concatenate([columns, np.full(padding, -1)])
    step = max(2, STEP_WORK // some.size)
    for start in range(0, len(X), step):
        rows = np.ascontiguousarray(X[start : start + step], dtype=W.dtype)
        kernel(some, at, rows, start, P)
        yield (start + len(rows)) / len(X)
