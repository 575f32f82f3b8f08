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
    work = iter_float_ap(X_query, X_db, relevant, metric, query_rows)
    while True:
        try:
            next(work)
        except StopIteration as finished:
            ap = finished.value
            return float(np.nanmean(ap)) if not np.isnan(ap).all() else float("nan")


def iter_float_ap(
    X_query: npt.NDArray[Any],
    X_db: npt.NDArray[Any],
    relevant: Relation,
    metric: str,
    query_rows: npt.ArrayLike | None = None,
    exclude: Relation | None = None,
) -> Generator[None, None, npt.NDArray[np.float64]]:
    """The AP of every query, NaN where nothing is relevant: what `significance.paired_bootstrap` wants."""
    flags = relevance(len(X_query), len(X_db), None, None, relevant, exclude, query_rows)
    database = np.asarray(X_db, dtype=np.float32)
    ap = np.full(len(X_query), np.nan)
    for start in range(0, len(X_query), BLOCK):
        stop = min(start + BLOCK, len(X_query))
        D = distances(np.asarray(X_query[start:stop], dtype=np.float32), database, metric)
        for at, (row, flag) in enumerate(zip(D, flags(start, stop), strict=True), start):
            shown = np.flatnonzero(flag <= RELEVANT)
            hits = flag[shown][np.argsort(row[shown], kind="stable")] == RELEVANT
            if hits.any():
                ranks = np.flatnonzero(hits) + 1
                ap[at] = (np.arange(1, len(ranks) + 1) / ranks).mean()
        yield
    return ap
