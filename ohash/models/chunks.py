"""ChunkLearner: labelled points wait in a buffer, and W moves when a chunk is full."""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Reals
from ohash.models import supervision
from ohash.models.learners import LinearLearner, PointLearner

Integers = npt.NDArray[np.int64]


class ChunkLearner(PointLearner, LinearLearner):
    """A learner of chunks of labelled points; its parameters have `chunk`, their size."""

    LABELS: ClassVar[str] = "_buffer_labels"  # the attribute, and the name in saved models
    ARRAYS: ClassVar[tuple[str, ...]] = (*PointLearner.ARRAYS, "_buffer", "_waiting", "_form")

    def _begin(self, d: int) -> None:
        super()._begin(d)
        self._buffer = np.zeros((self.params.chunk, d), self.params.dtype)
        self._waiting = np.zeros(1, np.int64)
        self._form = np.zeros(1, np.int64)
        self._start_labels(1)

    @property
    def _chunk_labels(self) -> Integers:
        """The labels in the buffer, one row per point."""
        labels: Integers = getattr(self, self.LABELS)
        return labels

    def _check_labels(self, y: npt.ArrayLike | None, n: int) -> Array:
        first = self._form[0] == supervision.UNKNOWN
        checked, self._form[0] = supervision.check(y, n, int(self._form[0]), type(self).__name__)
        rows = self._label_rows(checked)
        if first:
            self._start_labels(rows.shape[1])
        return rows

    def _start_labels(self, width: int) -> None:
        """An empty buffer of labels; their form is known from the first of them on."""
        setattr(self, self.LABELS, np.zeros((self.params.chunk, width), np.int64))

    def _label_rows(self, checked: Array) -> Integers:
        """Labels as rows of integers."""
        return np.asarray(checked, np.int64).reshape(len(checked), -1)

    def _learn_block(self, rows: Reals, labels: Any) -> None:
        at = 0
        while at < len(rows):
            waiting = int(self._waiting[0])
            stop = at + min(len(rows) - at, len(self._buffer) - waiting)
            self._buffer[waiting : waiting + stop - at] = rows[at:stop]
            self._chunk_labels[waiting : waiting + stop - at] = labels[at:stop]
            self._waiting[0] += stop - at
            self._clock[0] += stop - at
            at = stop
            if self._waiting[0] == len(self._buffer):
                self._waiting[0] = 0
                self._learn_chunk(self._buffer.astype(np.float64))

    def _learn_chunk(self, X: npt.NDArray[np.float64]) -> None:
        """Move W by the chunk X; its labels are `_chunk_labels`."""
        raise NotImplementedError
