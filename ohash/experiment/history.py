"""History: columns of bounded size, whatever the length of the run.

Rows are kept at fixed pair counts, never at chunk boundaries, so pace and chunk size cannot change a history. `Columns`
keeps the multiples of a stride that doubles when the table is full, and a geometric skeleton (a few points an octave)
that is never dropped, so that the beginning stays visible on a logarithmic axis.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

CAPACITY = 1024
FIRST_STRIDE = 8
# Points per octave of the skeleton: 1, 1.25, 1.5, 1.75 times a power of two.
PER_OCTAVE = 4

Floats = npt.NDArray[np.float64]


def on_skeleton(t: int) -> bool:
    """Whether t is one of the never-dropped pair counts.

    >>> [t for t in range(1, 33) if on_skeleton(t)]
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32]
    """
    if t < 2 * PER_OCTAVE:
        return t > 0
    unit = 1 << (t.bit_length() - 1 - PER_OCTAVE.bit_length() + 1)
    return t % unit == 0


class Columns:
    """Named float64 columns indexed by the pair count `pairs`."""

    def __init__(self, names: Iterable[str]) -> None:
        """Start empty."""
        self.names = ("pairs", *names)
        self.stride = FIRST_STRIDE
        self._rows = np.empty((CAPACITY + 256, len(self.names)))
        self._n = 0

    def wants(self, t: int) -> bool:
        """Whether a row at pair count t is kept."""
        return t % self.stride == 0 or on_skeleton(t)

    def next_after(self, t: int) -> int:
        """The smallest kept pair count beyond t."""
        regular = (t // self.stride + 1) * self.stride
        if t + 1 < 2 * PER_OCTAVE:
            return t + 1
        unit = 1 << max(0, t.bit_length() - PER_OCTAVE.bit_length())
        return min(regular, (t // unit + 1) * unit)

    def wanted(self, start: int, stop: int) -> npt.NDArray[np.int64]:
        """The pair counts in (start, stop] that are kept as things stand."""
        found = []
        at = self.next_after(start)
        while at <= stop:
            found.append(at)
            at = self.next_after(at)
        return np.array(found, np.int64)

    def extend(self, pairs: npt.NDArray[np.int64], rows: Floats) -> None:
        """Add rows (columns in order, without `pairs`) of rising pair counts, but for those a doubled stride drops."""
        for t, row in zip(pairs.tolist(), rows, strict=True):
            if self._regular() >= CAPACITY:
                self._halve()
            if self.wants(t):
                self._rows[self._n, 0] = t
                self._rows[self._n, 1:] = row
                self._n += 1

    def append(self, t: int, values: dict[str, float]) -> None:
        """Add a row at any pair count: for checkpoints, which are few by their schedule."""
        self._rows[self._n] = [float(t), *(values.get(name, np.nan) for name in self.names[1:])]
        self._n += 1

    def __len__(self) -> int:
        """Rows kept."""
        return self._n

    def __getitem__(self, name: str) -> Floats:
        """One column, read-only."""
        column = self._rows[: self._n, self.names.index(name)]
        column.flags.writeable = False
        return column

    def snapshot(self) -> dict[str, Floats]:
        """Copies of all columns."""
        block = self._rows[: self._n].T.copy()
        return dict(zip(self.names, block, strict=True))

    def state(self) -> tuple[dict[str, Any], Floats]:
        """For a checkpoint."""
        return {"names": list(self.names), "stride": self.stride}, self._rows[: self._n].copy()

    @classmethod
    def from_state(cls, values: dict[str, Any], rows: Floats) -> "Columns":
        """The inverse of `state`."""
        columns = cls(values["names"][1:])
        columns.stride = values["stride"]
        columns._rows[: len(rows)] = rows
        columns._n = len(rows)
        return columns

    def _regular(self) -> int:
        return 0 if self._n == 0 else int(self._rows[self._n - 1, 0]) // self.stride

    def _halve(self) -> None:
        self.stride *= 2
        kept = [row for row in range(self._n) if self.wants(int(self._rows[row, 0]))]
        self._rows[: len(kept)] = self._rows[kept]
        self._n = len(kept)


def moving_mean(values: Floats, window: int = 5) -> Floats:
    """The mean of each value and the ones before it, at most `window` together; NaN is left out.

    >>> moving_mean(np.array([1.0, 3.0, np.nan, 5.0]), window=3).tolist()
    [1.0, 2.0, 2.0, 4.0]
    """
    known = np.isfinite(values)
    sums, counts = (
        np.cumsum(np.concatenate([np.zeros(window), column])) for column in (np.where(known, values, 0), known)
    )
    with np.errstate(invalid="ignore"):
        return np.asarray((sums[window:] - sums[:-window]) / (counts[window:] - counts[:-window]))


class LogBins:
    """Logarithmic bins for tau and l/norm2: 20 a decade from 1e-8 to 1e4; what lies outside goes to the end bins."""

    per_decade = 20
    low, high = -8, 4
    count = per_decade * (high - low)

    @classmethod
    def edges(cls) -> Floats:
        """The count + 1 edges."""
        return np.logspace(cls.low, cls.high, cls.count + 1)

    @classmethod
    def index(cls, values: Floats) -> npt.NDArray[np.int64]:
        """Bin numbers; -1 for values that are not positive."""
        found = np.full(len(values), -1, np.int64)
        positive = values > 0
        place = np.floor((np.log10(values[positive]) - cls.low) * cls.per_decade)
        found[positive] = np.clip(place, 0, cls.count - 1)
        return found

    @classmethod
    def centre(cls, bins: Floats) -> Floats:
        """The value in the middle of each bin; NaN stays NaN."""
        return np.asarray(10 ** (cls.low + (bins + 0.5) / cls.per_decade))
