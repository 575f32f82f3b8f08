"""mAP of the float vectors themselves: the reference line for codes. With labels as truth it is not an upper bound."""

from collections.abc import Generator

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Numbers
from ohash.core.distances import FastDistances
from ohash.core.rows import RowView
from ohash.evaluation.ranking_kernels import RELEVANT
from ohash.evaluation.relevance import Relation, relevance_flags
from ohash.runtime.slices import drain

HELD_BYTES = 2**26  # of distances, and of rows
BLOCK_WORK = 300_000_000  # multiplications of one slice


def float_mean_ap(
    X_query: Numbers,
    X_db: Numbers,
    relevant: Relation,
    metric: str,
    query_rows: npt.ArrayLike | None = None,
) -> float:
    """Mean average precision when the database is ranked by the original distance, ties by index.

    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> float_mean_ap(np.array([[0.1]]), X, [[1, 2]], "l2")
    0.5833333333333333
    """
    ap = drain(iter_float_scores(X_query, X_db, relevant, metric, query_rows))["map"]
    return float(np.nanmean(ap)) if not np.isnan(ap).all() else float("nan")


def iter_float_scores(
    X_query: Numbers,
    X_db: Numbers | RowView,
    relevant: Relation,
    metric: str,
    query_rows: npt.ArrayLike | None = None,
    exclude: Relation | None = None,
) -> Generator[None, None, dict[str, npt.NDArray[np.float64]]]:
    """AP ("map") and "hit_10" of every query, NaN where nothing is relevant: the input of `paired_bootstrap`.

    In slices; the generator's return value is the result.
    """
    database = X_db if isinstance(X_db, RowView) else RowView(np.asarray(X_db))
    n = len(database)
    flags = relevance_flags(len(X_query), n, None, None, relevant, exclude, query_rows)
    fast = FastDistances.for_rows(database.X, database.rows, metric)
    step = max(1, HELD_BYTES // (n * fast.dtype.itemsize))
    ap, hit = np.full((2, len(X_query)), np.nan)
    for start in range(0, len(X_query), step):
        A = fast.prepare(np.asarray(X_query[start : start + step]))
        D = np.empty((len(A), n), fast.dtype)
        width = max(1, min(BLOCK_WORK // A.size, HELD_BYTES // (8 * A.shape[1])))
        for at in range(0, n, width):
            D[:, at : at + width] = fast.distances(A, fast.prepare(database.block(at, at + width)))[0]
            yield
        for row, distances in enumerate(D, start):
            flag = flags(row, row + 1)[0]
            shown = np.flatnonzero(flag <= RELEVANT)
            hits = flag[shown][np.argsort(distances[shown], kind="stable")] == RELEVANT
            if hits.any():
                ranks = np.flatnonzero(hits) + 1
                ap[row] = (np.arange(1, len(ranks) + 1) / ranks).mean()
                hit[row] = ranks[0] <= 10
            yield
    return {"map": ap, "hit_10": hit}
