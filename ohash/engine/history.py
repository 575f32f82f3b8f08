"""History: columns of bounded size, whatever the length of the run.

Rows are kept at fixed pair counts, never at chunk boundaries, so pace and chunk size cannot change it. `History`
keeps the multiples of a stride that doubles when the table is full, and a geometric skeleton (a few points an octave)
that is never dropped, so that the beginning stays visible on a logarithmic axis. `ClassScores` keeps how well
each class is found, checkpoint by checkpoint.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Counts, Floats, Rows
from ohash.evaluation.ranking import Retrieval
from ohash.runtime.frames import JsonObject
from ohash.streams.dataset import Dataset

CAPACITY = 1024
MAX_CLASSES = 256  # beyond this many no mAP is kept for each class
FIRST_STRIDE = 8
# 1 to 7, then 1, 1.25, 1.5 and 1.75 times each power of two.
SKELETON = np.array([*range(1, 8), *(quarter << octave for octave in range(1, 58) for quarter in range(4, 8))])


class History:
    """Named float64 columns indexed by the pair count `pairs`."""

    def __init__(self, names: Iterable[str]) -> None:
        """Start empty."""
        self.names = ("pairs", *names)
        self.stride = FIRST_STRIDE
        self._rows = np.empty((CAPACITY + 256, len(self.names)))
        self._n = 0

    def counts_to_keep(self, start: int, stop: int) -> Counts:
        """The pair counts in (start, stop] that are kept as things stand.

        >>> History(()).counts_to_keep(0, 32).tolist()
        [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32]
        """
        regular = np.arange(start // self.stride + 1, stop // self.stride + 1) * self.stride
        first, last = np.searchsorted(SKELETON, (start, stop), side="right")
        return np.union1d(regular, SKELETON[first:last]) if last > first else regular

    def extend(self, pairs: Counts, rows: Floats) -> None:
        """Add rows (columns in order, without `pairs`) of rising pair counts, but for those a doubled stride drops."""
        while len(pairs):
            if self._n and self._rows[self._n - 1, 0] >= CAPACITY * self.stride:
                self._halve()
            keep = np.flatnonzero(self._is_kept(pairs))
            last = np.searchsorted(pairs[keep], CAPACITY * self.stride) + 1  # the row that fills the table
            keep = keep[:last]
            if not len(keep):
                return
            self._rows[self._n : self._n + len(keep), 0] = pairs[keep]
            self._rows[self._n : self._n + len(keep), 1:] = rows[keep]
            self._n += len(keep)
            pairs, rows = pairs[keep[-1] + 1 :], rows[keep[-1] + 1 :]

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

    def state(self) -> tuple[JsonObject, Floats]:
        """For a checkpoint."""
        return {"names": list(self.names), "stride": self.stride}, self._rows[: self._n].copy()

    @classmethod
    def from_state(cls, values: JsonObject, rows: Floats) -> "History":
        """The inverse of `state`."""
        columns = cls(values["names"][1:])
        columns.stride = values["stride"]
        columns._rows[: len(rows)] = rows
        columns._n = len(rows)
        return columns

    def _is_kept(self, pairs: Counts | Floats) -> npt.NDArray[np.bool_]:
        near = SKELETON[np.minimum(np.searchsorted(SKELETON, pairs), len(SKELETON) - 1)]
        return np.asarray((pairs % self.stride == 0) | (pairs == near))

    def _halve(self) -> None:
        self.stride *= 2
        kept = self._rows[: self._n][self._is_kept(self._rows[: self._n, 0])]
        self._rows[: len(kept)] = kept
        self._n = len(kept)


def moving_mean(values: Floats, window: int = 5) -> Floats:
    """The mean of each value and the ones before it, at most `window` together; NaN is left out.

    >>> moving_mean(np.array([1.0, 3.0, np.nan, 5.0]), window=3).tolist()
    [1.0, 2.0, 2.0, 4.0]
    """
    finite = np.isfinite(values)
    sums, counts = (
        np.cumsum(np.concatenate([np.zeros(window), column])) for column in (np.where(finite, values, 0), finite)
    )
    with np.errstate(invalid="ignore"):
        return np.asarray((sums[window:] - sums[:-window]) / (counts[window:] - counts[:-window]))


class LogBins:
    """Logarithmic bins for tau and l/norm2: 20 per decade from 1e-8 to 1e4; what lies outside goes to the end bins."""

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
        bins = np.full(len(values), -1, np.int64)
        positive = values > 0
        place = np.floor((np.log10(values[positive]) - cls.low) * cls.per_decade)
        bins[positive] = np.clip(place, 0, cls.count - 1)
        return bins

    @classmethod
    def centre(cls, bins: Floats) -> Floats:
        """The value in the middle of each bin; NaN stays NaN."""
        return np.asarray(10 ** (cls.low + (bins + 0.5) / cls.per_decade))


class ClassScores:
    """The mAP of every class at every checkpoint, (checkpoints, classes), for data with one label a point.

    Classes are those of the data, in rising order, also after a drift has redefined what is similar.
    """

    def __init__(self, dataset: Dataset) -> None:
        """Without single labels, or with too many, there are no columns."""
        self._class_of = np.zeros(dataset.n, np.int64)
        self.classes = 0
        if dataset.labels is not None and not dataset.multi_label:
            names, class_of = np.unique(dataset.labels, return_inverse=True)
            if len(names) <= MAX_CLASSES:
                self.classes, self._class_of = len(names), class_of
        self._rows: list[Floats] = []

    def add(self, queries: Rows, record: Retrieval | None) -> None:
        """The record of a ranking of `queries`, None if there was none."""
        row = np.full(self.classes, np.nan)
        if record is not None and self.classes:
            finite = ~np.isnan(record.ap)
            class_of = self._class_of[queries[finite]]
            counts = np.bincount(class_of, minlength=self.classes)
            sums = np.bincount(class_of, weights=record.ap[finite], minlength=self.classes)
            row[counts > 0] = sums[counts > 0] / counts[counts > 0]
        self._rows.append(row)

    @property
    def array(self) -> Floats:
        """A copy of all rows."""
        return np.array(self._rows, dtype=np.float64).reshape(len(self._rows), self.classes)

    def restore(self, rows: Floats) -> None:
        """The inverse of `array`."""
        self._rows = list(rows.reshape(len(rows), self.classes).copy())
