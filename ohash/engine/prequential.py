"""Test, then train: points that have just arrived query the table that was made before they came.

At a checkpoint, before the table is brought up to date, the last points that arrived since it was made search the
database, each without itself. Their mAP follows a drift of the stream even where the queries of the judge do not.
"""

from collections.abc import Generator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.evaluation.distance_ranking import Distances, iter_ranking
from ohash.evaluation.ranking import retrieval
from ohash.streams.dataset import Dataset
from ohash.streams.similarity.base import Similarity
from ohash.streams.similarity.pair_list import PairListSimilarity

# Arrived points that query, two a pair.
LAST_POINTS = 200
# They search at most so many items, evenly spaced: to know what is near by distance every item must be read.
MOST_SEARCHED = 20_000
# Queries times database of one slice.
SLICE = 1_000_000
# Beyond this many classes no mAP is kept for each of them.
MOST_CLASSES = 256

Codes = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def sliding_map(
    source: Similarity,
    points: Rows,
    codes: Codes,
    database: Rows,
    db_codes: Codes,
    r: int,
    distances: Distances | None = None,
) -> Generator[None, None, float]:
    """The mAP of points (n,) with codes (T, n, bytes) on the database; yields between slices.

    With `distances` of the points to the database the ranking goes by them. NaN without points, and for given pairs,
    where what was trained on is no answer.
    """
    if not len(points) or len(database) < 2 or isinstance(source, PairListSimilarity):
        return float("nan")
    if distances is None and len(database) > MOST_SEARCHED:
        some_items = np.linspace(0, len(database) - 1, MOST_SEARCHED).astype(np.int64)
        database, db_codes = database[some_items], np.ascontiguousarray(db_codes[:, some_items])
    place = np.full(max(int(points.max()), int(database.max())) + 1, -1)
    place[database] = np.arange(len(database))
    step = max(1, SLICE // len(database))
    relevant = source.relevant(points, database)  # at once: it may read every item from a file
    yield
    found = []
    for start in range(0, len(points), step):
        some = points[start : start + step]
        given: dict[str, Any] = {"relevant": relevant[start : start + step], "query_rows": place[some], "k": ()}
        if distances is None:
            record = retrieval(codes[:, start : start + step], db_codes, r=r, **given)
        else:
            D = distances(start, start + len(some))
            (record,) = iter_ranking(partial(_rows, D), len(some), len(database), block=len(some), **given)
        found.append(record.ap)
        yield
    ap = np.concatenate(found)
    return float(np.nanmean(ap)) if not np.isnan(ap).all() else float("nan")


def _rows(D: npt.NDArray[np.float32], start: int, stop: int) -> npt.NDArray[np.float32]:
    return D[start:stop]


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

    def add(self, queries: Rows, record: Any) -> None:
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
