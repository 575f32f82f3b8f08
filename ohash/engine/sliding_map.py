"""The mAP of points that have just arrived: test, then train.

At a checkpoint, before the table is brought up to date, the last points that arrived since it was made search the
database, each without itself. Their mAP follows a drift of the stream even where the queries of the judge do not.
"""

from collections.abc import Generator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Bytes, Rows
from ohash.evaluation.distance_ranking import Distances, iter_ranking
from ohash.evaluation.ranking import retrieval
from ohash.streams.similarity.base import Similarity
from ohash.streams.similarity.pair_list import PairListSimilarity

# Recently seen points that query, two per pair.
LAST_POINTS = 200
# They search at most so many items, evenly spaced: to know what is near by distance every item must be read.
MAX_SEARCHED = 20_000
# Queries times database of one slice.
SLICE = 1_000_000


def sliding_map(
    source: Similarity,
    points: Rows,
    codes: Bytes,
    database: Rows,
    db_codes: Bytes,
    r: int,
    distances: Distances | None = None,
) -> Generator[None, None, float]:
    """The mAP of points (n,) with codes (T, n, bytes) on the database; yields between slices.

    With `distances` of the points to the database the ranking goes by them. NaN without points, and for given pairs,
    where what was trained on is no answer.
    """
    if not len(points) or len(database) < 2 or isinstance(source, PairListSimilarity):
        return float("nan")
    items: slice | Rows = slice(None)
    if len(database) > MAX_SEARCHED:
        items = np.linspace(0, len(database) - 1, MAX_SEARCHED).astype(np.int64)
        database = database[items]
        db_codes = np.ascontiguousarray(db_codes[:, items])
    place = np.full(max(int(points.max()), int(database.max())) + 1, -1)
    place[database] = np.arange(len(database))
    step = max(1, SLICE // len(database))
    relevant = source.relevant(points, database)  # at once: it may read every item from a file
    yield
    precisions = []
    for start in range(0, len(points), step):
        some = points[start : start + step]
        given: dict[str, Any] = {"relevant": relevant[start : start + step], "query_rows": place[some], "k": ()}
        if distances is None:
            record = retrieval(codes[:, start : start + step], db_codes, r=r, **given)
        else:
            D = distances(start, start + len(some))[:, items]
            (record,) = iter_ranking(partial(_rows, D), len(some), len(database), block=len(some), **given)
        precisions.append(record.ap)
        yield
    ap = np.concatenate(precisions)
    return float(np.nanmean(ap)) if not np.isnan(ap).all() else float("nan")


def _rows(D: npt.NDArray[np.float32], start: int, stop: int) -> npt.NDArray[np.float32]:
    return D[start:stop]
