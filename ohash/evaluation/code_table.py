"""The code table: a database that is re-encoded while the hash learns, at the cost of what has changed.

An update of OH changes only the p0 columns it flips, so only those *dirty* columns of Wᵀx are computed again; a moving
mean shifts thresholds, and the raw projections are kept if there is room for them. The table keeps the hash it was made
with: queries encoded by `CodeTable.encode` and the codes of the database always match, however stale they are.
"""

import copy
import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from inspect import getattr_static
from typing import cast

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Floats, Numbers, Reals
from ohash.core.codes import Codes
from ohash.core.rows import RowView
from ohash.evaluation.projections import iter_blocks, iter_projections, project, write_bits
from ohash.models import registry
from ohash.models.base import LinearHasher, OnlineHasher
from ohash.runtime.frames import Arrays

ENCODE_ROWS = 4096  # rows per step for a method that is not linear
# Projections beyond this many bytes are not kept: a changed threshold then costs as much as a changed column.
MAX_PROJECTION_BYTES = 2**28
MADE_BY = "made_by/"

Flat = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Refresh:
    """What one refresh cost: bits computed again (n per projected column), and bits that changed.

    The first refresh flips 0 bits, as there is nothing to compare with.
    """

    version: int
    columns: int
    bits_recomputed: int
    bits_flipped: int


class CodeTable:
    """Packed codes of X, or of some `rows` of it, under `hasher`, brought up to date by `refresh`.

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

    def __init__(
        self, hasher: OnlineHasher, X: npt.ArrayLike, rows: Flat | None = None, *, finite: bool = False
    ) -> None:
        """Nothing is encoded before the first refresh. `finite`: X is known to be finite."""
        self._hasher = hasher
        self._of = RowView(validation.matrix("X", X), rows)
        if not finite:
            self._of.check_finite()
        first = hasher.encode(self._of.block(0, 1))
        self._single = first.ndim == 2
        self._linear = getattr_static(hasher, "hyperplanes", None) is not None
        T = 1 if self._single else len(first)
        self._codes = np.zeros((T, len(self._of), first.shape[-1]), np.uint8)
        self._seen = np.full((T, hasher.r), -1, np.int64)  # bit_updates of the projections; -1: never computed
        self._P: Reals | None = None
        self._Wt: Reals = np.empty((0, 0, 0))
        self._threshold: Floats = np.full((T, hasher.r), np.nan)
        self._made_by: OnlineHasher = hasher
        self.changed = np.ones((T, hasher.r), np.bool_)  # the bits that the last refresh may have changed
        self.last: Refresh | None = None

    @property
    def codes(self) -> Codes:
        """Codes as of the last refresh, (n, ceil(r/8)) or (T, n, ceil(r/8)), read-only."""
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
    def made_by(self) -> OnlineHasher:
        """The hasher as it was when it made the codes; for a linear method only its half-spaces are kept."""
        return self._hasher if self._linear else self._made_by

    @property
    def stale(self) -> bool:
        """Whether the hash has changed since the last refresh."""
        return self.last is None or self.last.version != self._hasher.version

    def encode(self, X: npt.ArrayLike, rows: Flat | None = None) -> Codes:
        """Codes of other rows, such as queries, under the hash that made the table."""
        version = self.version
        of = RowView(validation.matrix("X", X, d=self._Wt.shape[2] if self._linear else None), rows)
        of.check_finite()
        fresh = np.zeros((len(self._codes), len(of), self._codes.shape[-1]), np.uint8)
        for _ in self._iter_encode(of, fresh):
            pass
        return Codes(fresh[0] if self._single else fresh, self._hasher.r, version)

    def iter_reencode(
        self, X: Numbers, rows: Flat | None = None, *, finite: bool = False
    ) -> Generator[float, None, int]:
        """Re-encode items whose vectors have changed, by the hash that made the table, however stale it is.

        Yields the share done and returns how many bits flipped; until then the table is unchanged.
        """
        of = RowView(validation.matrix("X", X), rows)
        if len(of) != len(self._of):
            raise ValueError(f"X must have the {len(self._of)} items of the table, got {len(of)}")
        if not finite:
            of.check_finite()
        fresh, P = np.zeros_like(self._codes), self._allocate_projections(len(of))
        yield from self._iter_encode(of, fresh, P)
        flipped = int(np.bitwise_count(fresh ^ self._codes).sum(dtype=np.int64))
        self._of, self._codes, self._P, self.changed = of, fresh, P, np.ones_like(self.changed)
        return flipped

    def replace_hasher(self, hasher: OnlineHasher) -> None:
        """Use another hasher object, for example one fitted elsewhere; codes stay until the next refresh."""
        self._hasher = hasher

    def state(self) -> Arrays:
        """Arrays from which `restore` continues exactly."""
        if self.last is None:
            raise ValueError("the table is empty: call refresh() before saving it")
        cost = [self.last.version, self.last.columns, self.last.bits_recomputed, self.last.bits_flipped]
        kept = {"codes": self._codes.copy(), "last": np.array(cost, np.int64)}
        if self._linear:
            arrays = {"seen": self._seen, "Wt": self._Wt, "threshold": self._threshold}
            return kept | {name: array.copy() for name, array in arrays.items()}
        values, arrays = self._made_by.state()
        kept |= {f"{MADE_BY}{name}": array.copy() for name, array in arrays.items()}
        return kept | {"made_by": np.array(json.dumps(values))}

    def restore(self, state: Arrays) -> None:
        """The inverse of `state`; projections are computed again, with the W that made the table."""
        self._codes = np.array(state["codes"])
        self.last = Refresh(*(int(value) for value in state["last"]))
        if not self._linear:
            arrays = {name.removeprefix(MADE_BY): array for name, array in state.items() if name.startswith(MADE_BY)}
            values = json.loads(str(state["made_by"]))
            self._made_by = registry.find(registry.key_of(self._hasher)).restore(values, arrays)
            return
        self._seen = np.array(state["seen"])
        self._Wt, self._threshold = np.array(state["Wt"]), np.array(state["threshold"])
        T, r, d = self._Wt.shape
        self._P = self._allocate_projections(len(self._of))
        if self._P is not None:
            for _ in project(self._Wt.reshape(T * r, d), np.arange(T * r), self._of, self._P):
                pass

    def refresh(self) -> Refresh:
        """Bring the codes up to date; return what it cost."""
        for _ in self.iter_refresh():
            pass
        assert self.last is not None
        return self.last

    def iter_refresh(self) -> Iterator[float]:
        """`refresh` in steps of about 10 ms: yields the share done; afterwards `last` is the record.

        The hash is copied at the start, so learning may continue in between. Until the last step the codes are the old
        ones; an interrupted refresh keeps them, and the next one starts again.
        """
        if self._linear:
            yield from self._refresh_columns(cast(LinearHasher, self._hasher))
        else:
            yield from self._refresh_all()

    def _refresh_columns(self, hasher: LinearHasher) -> Iterator[float]:
        Wt, threshold = hasher.hyperplanes
        Wt, threshold = Wt.copy(), threshold.copy()
        bit_updates, version = hasher.bit_updates.copy(), hasher.version
        T, r, d = Wt.shape
        if self.last is None:
            self._Wt = Wt
            self._P = self._allocate_projections(len(self._of))
        dirty = np.flatnonzero(bit_updates != self._seen)
        low = threshold.astype(Wt.dtype)
        moved = low != self._threshold.astype(Wt.dtype)
        moved.reshape(-1)[dirty] = True
        columns, fresh = np.flatnonzero(moved), self._codes.copy()
        if self._P is None:
            blocks = iter_projections(Wt.reshape(T * r, d), columns, self._of)
            dirty = columns
        else:
            self._seen.reshape(-1)[dirty] = -1  # in case the caller stops half-way
            yield from project(Wt.reshape(T * r, d), dirty, self._of, self._P)
            blocks = iter_blocks(self._P, columns)
        flipped = 0
        for start, P in blocks:
            flipped += write_bits(fresh, r, columns, P >= low.reshape(-1)[columns, None], start)
            if self._P is None:
                yield min(0.99, (start + P.shape[1]) / len(self._of))
        self._codes, self._seen, self._Wt, self._threshold, self.changed = fresh, bit_updates, Wt, threshold, moved
        self.last = Refresh(version, len(dirty), len(self._of) * len(dirty), 0 if self.last is None else flipped)
        yield 1.0

    def _refresh_all(self) -> Iterator[float]:
        """For a method without columns: all bits are computed again, by a copy of the current hasher."""
        made_by, n = copy.deepcopy(self._hasher), len(self._of)
        if self.last is not None and made_by.version == self.last.version:
            self.last = Refresh(made_by.version, 0, 0, 0)
            self.changed = np.zeros_like(self.changed)
            return
        fresh = np.empty_like(self._codes)
        yield from _encode_all(made_by, self._of, fresh)
        flipped = 0 if self.last is None else int(np.bitwise_count(fresh ^ self._codes).sum(dtype=np.int64))
        self._codes, self._made_by = fresh, made_by
        self.changed = np.ones_like(self.changed)
        self.last = Refresh(made_by.version, self._seen.size, n * self._seen.size, flipped)

    def _iter_encode(self, view: RowView, fresh: npt.NDArray[np.uint8], P: Reals | None = None) -> Iterator[float]:
        """Fill `fresh` (zeros) with the codes of rows under the hash of the table, and P with their projections."""
        if not self._linear:
            yield from _encode_all(self._made_by, view, fresh)
            return
        T, r, d = self._Wt.shape
        everything, low = np.arange(T * r), self._threshold.astype(self._Wt.dtype).reshape(-1, 1)
        for start, some in iter_projections(self._Wt.reshape(T * r, d), everything, view):
            if P is not None:
                P[:, start : start + some.shape[1]] = some
            write_bits(fresh, r, everything, some >= low, start)
            yield (start + some.shape[1]) / len(view)

    def _allocate_projections(self, n: int) -> Reals | None:
        """An array (T r, n), or None if it would be too large."""
        size = self._seen.size * n * self._Wt.dtype.itemsize
        return np.empty((self._seen.size, n), self._Wt.dtype) if self._linear and size <= MAX_PROJECTION_BYTES else None


def _encode_all(made_by: OnlineHasher, view: RowView, fresh: npt.NDArray[np.uint8]) -> Iterator[float]:
    for start in range(0, len(view), ENCODE_ROWS):
        fresh[:, start : start + ENCODE_ROWS] = made_by.encode(view.block(start, start + ENCODE_ROWS))
        yield min(start + ENCODE_ROWS, len(view)) / len(view)
