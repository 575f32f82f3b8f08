"""How well each class is found, checkpoint by checkpoint."""

import numpy as np

from ohash.core.arrays import Floats, Rows
from ohash.evaluation.ranking import Retrieval
from ohash.streams.dataset import Dataset

# Beyond this many classes no mAP is kept for each of them.
MOST_CLASSES = 256


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
            if len(names) <= MOST_CLASSES:
                self.classes, self._class_of = len(names), class_of
        self._rows: list[Floats] = []

    def add(self, queries: Rows, record: Retrieval | None) -> None:
        """The record of a ranking of `queries`, None if there was none."""
        row = np.full(self.classes, np.nan)
        if record is not None and self.classes:
            known = ~np.isnan(record.ap)
            class_of = self._class_of[queries[known]]
            counts = np.bincount(class_of, minlength=self.classes)
            sums = np.bincount(class_of, weights=record.ap[known], minlength=self.classes)
            row[counts > 0] = sums[counts > 0] / counts[counts > 0]
        self._rows.append(row)

    @property
    def array(self) -> Floats:
        """A copy of all rows."""
        return np.array(self._rows, dtype=np.float64).reshape(len(self._rows), self.classes)

    def restore(self, rows: Floats) -> None:
        """The inverse of `array`."""
        self._rows = list(rows.reshape(len(rows), self.classes).copy())
