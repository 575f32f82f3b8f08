"""mAP of the float vectors themselves: the reference line that codes are drawn against. Not a ceiling on labels."""

from collections.abc import Generator
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.distance import distances
from ohash.evaluation.ranking_kernels import RELEVANT
from ohash.evaluation.relevance import Relation, relevance

BLOCK = 8


def float_mean_ap(
    X_query: npt.NDArray[Any],
    X_db: npt.NDArray[Any],
    relevant: Relation,
    metric: str,
    query_rows: npt.ArrayLike | None = None,
) -> float:
    """Mean average precision when the database is ranked by the original distance, ties by index.

    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> float_mean_ap(np.array([[0.1]]), X, [[1, 2]], "l2")
    0.5833333333333333
    """
    work = iter_float_mean_ap(X_query, X_db, relevant, metric, query_rows)
    while True:
        try:
            next(work)
        except StopIteration as finished:
            return float(finished.value)


def iter_float_mean_ap(
    X_query: npt.NDArray[Any],
    X_db: npt.NDArray[Any],
    relevant: Relation,
    metric: str,
    query_rows: npt.ArrayLike | None = None,
) -> Generator[None, None, float]:
    """`float_mean_ap`, a few queries at a time; the generator's return value is the result."""
    flags = relevance(len(X_query), len(X_db), None, None, relevant, None, query_rows)
    database = np.asarray(X_db, dtype=np.float32)
    scores: list[float] = []
    for start in range(0, len(X_query), BLOCK):
        stop = min(start + BLOCK, len(X_query))
        D = distances(np.asarray(X_query[start:stop], dtype=np.float32), database, metric)
        for row, flag in zip(D, flags(start, stop), strict=True):
            shown = np.flatnonzero(flag <= RELEVANT)
            hits = flag[shown][np.argsort(row[shown], kind="stable")] == RELEVANT
            if hits.any():
                ranks = np.flatnonzero(hits) + 1
                scores.append(float((np.arange(1, len(ranks) + 1) / ranks).mean()))
        yield
    return float(np.mean(scores)) if scores else float("nan")
