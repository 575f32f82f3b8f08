"""Rankings by real distances, for methods that estimate them; scored like rankings by Hamming distance, with ties.

Such rankings have no radius: precision and recall within a radius are NaN, and the points of their curve are the
nearest 0, 1, ..., 100 % of the database instead. The mAP of the float vectors themselves is the reference line for
codes; with labels as truth it is not an upper bound.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numba
import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Bytes, Counts, Floats, Integers, Numbers, Rows, Singles
from ohash.core.distances import FastDistances
from ohash.core.rows import RowView
from ohash.evaluation import ranking_kernels as columns
from ohash.evaluation.packed_codes import cutoffs
from ohash.evaluation.ranking import Retrieval, make_retrieval
from ohash.evaluation.ranking_kernels import HIDDEN, N_RELEVANT, RELEVANT, bounds, curve, score
from ohash.evaluation.relevance import Relation, relevance_flags
from ohash.runtime.compile import array_type, kernel_for

LEVELS = 101  # points of the curve: the nearest 0, 1, ..., 100 % of a query's database


def _score_orders(
    D: Singles,  # (b, n) float32
    order: Rows,  # (b, n) int64, by rising D
    flags: Bytes,  # (b, n)
    ks: Integers,  # rising
    harmonic: Floats,  # (n + 1,) 0, 1, 1 + 1/2, ...
    scores: Floats,  # (b, FIRST_K + PER_K len(ks)), filled; NaN where nothing is relevant
    counts: Counts,  # (LEVELS, 2) int64, added to
    sums: Floats,  # (LEVELS, 2) float64, added to
) -> None:
    """Score a block of queries."""
    n = D.shape[1]
    size, relevant, level = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for b in range(D.shape[0]):
        n_classes, shown, R = -1, 0, 0
        last = np.float32(0)
        for at in range(n):
            item = order[b, at]
            if flags[b, item] & HIDDEN:
                continue
            if n_classes < 0 or D[b, item] != last:
                n_classes += 1
                size[n_classes], relevant[n_classes] = 0, 0
                last = D[b, item]
            size[n_classes] += 1
            relevant[n_classes] += flags[b, item] & RELEVANT
            shown += 1
            R += flags[b, item] & RELEVANT
        n_classes += 1
        scores[b, :] = np.nan
        scores[b, N_RELEVANT] = R
        if R == 0:
            continue
        ranked = 0
        for c in range(n_classes):
            ranked += size[c]
            level[c] = -(-ranked * (LEVELS - 1) // shown)
        bounds(n_classes, size, relevant, harmonic, scores[b])
        curve(n_classes, size, relevant, level, R, 0, scores[b], counts, sums)
        score(n_classes, size, relevant, R, ks, harmonic, scores[b])


@cache
def score_orders() -> Callable[..., None]:
    """The scoring kernel; compiled at the first call on a machine, then read from disk."""
    u1, i8, f4, f8 = numba.types.uint8, numba.types.int64, numba.types.float32, numba.types.float64
    signature = numba.types.void(
        array_type(f4, 2, readonly=True), array_type(i8, 2, readonly=True), array_type(u1, 2, readonly=True),
        array_type(i8, 1, readonly=True), array_type(f8, 1, readonly=True), array_type(f8, 2), array_type(i8, 2),
        array_type(f8, 2),
    )  # fmt: skip
    return kernel_for(signature, _score_orders)


# Distances of the queries from start to stop, (stop - start, n); smaller is nearer.
Distances = Callable[[int, int], npt.NDArray[np.float32]]
BLOCK_WORK = 200_000  # distances sorted in one step: about 10 ms


def iter_ranking(
    distances: Distances,
    n_queries: int,
    n: int,
    *,
    relevant: Relation,
    exclude: Relation | None = None,
    query_rows: npt.ArrayLike | None = None,
    k: int | Sequence[int] = (10, 100, 1000),
    block: int | None = None,
) -> Iterator[Retrieval]:
    """`iter_retrieval` for distances computed a block of queries at a time; the last metrics are those of all queries.

    >>> D = np.float32([[0.1, 0.7, 0.7]])
    >>> *_, result = iter_ranking(lambda start, stop: D[start:stop], 1, 3, relevant=[[1]], k=2)
    >>> round(result.map, 4), result.precision_at_k[2]
    (0.4167, 0.25)
    """
    ks = cutoffs("k", k)
    flags = relevance_flags(n_queries, n, None, None, relevant, exclude, query_rows)
    size = max(1, BLOCK_WORK // n) if block is None else validation.integer("block", block, 1)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n + 1))])
    scores = np.empty((n_queries, columns.FIRST_K + columns.PER_K * len(ks)))
    counts, sums = np.zeros((LEVELS, 2), np.int64), np.zeros((LEVELS, 2))
    kernel = score_orders()
    for start in range(0, n_queries, size):
        stop = min(start + size, n_queries)
        D = _check(distances(start, stop), stop - start, n)
        order = np.argsort(D, axis=1).astype(np.int64, copy=False)
        kernel(D, order, flags(start, stop), np.array(ks, np.int64), harmonic, scores[start:stop], counts, sums)
        nan = float("nan")
        metrics = make_retrieval(scores[:stop], counts, sums, ks, 0)
        yield replace(metrics, precision_radius=nan, recall_radius=nan, empty_ball=nan)


def _check(D: Singles, rows: int, n: int) -> npt.NDArray[np.float32]:
    matrix = np.ascontiguousarray(D, dtype=np.float32)
    if matrix.shape != (rows, n) or np.isnan(matrix).any():
        raise ValueError(
            f"distances must have shape ({rows}, {n}) and no NaN, got shape {matrix.shape}"
            + (" with NaN" if np.isnan(matrix).any() else "")
        )
    return matrix


HELD_BYTES = 2**26  # of distances, and of rows
BLOCK_WORK = 300_000_000  # multiplications of one slice


def iter_float_scores(
    X_query: Numbers,
    X_db: Numbers | RowView,
    relevant: Relation,
    metric: str,
    query_rows: npt.ArrayLike | None = None,
    exclude: Relation | None = None,
) -> Generator[None, None, dict[str, npt.NDArray[np.float64]]]:
    """AP ("map"), "hit_10", "mrr", "ndcg_10" and "auc_later" of every query, NaN where nothing is relevant.

    They are the input of `paired_bootstrap`; equal distances rank by row.

    In slices; the generator's return value is the result.
    """
    database = X_db if isinstance(X_db, RowView) else RowView(np.asarray(X_db))
    n = len(database)
    flags = relevance_flags(len(X_query), n, None, None, relevant, exclude, query_rows)
    fast = FastDistances.for_rows(database.X, database.rows, metric)
    step = max(1, HELD_BYTES // (n * fast.dtype.itemsize))
    scores = {name: np.full(len(X_query), np.nan) for name in ("map", "hit_10", "mrr", "ndcg_10", "auc_later")}
    gains = 1 / np.log2(np.arange(2, 12))
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
                R, others = len(ranks), len(hits) - len(ranks)
                scores["map"][row] = (np.arange(1, R + 1) / ranks).mean()
                scores["hit_10"][row] = ranks[0] <= 10
                scores["mrr"][row] = 1 / ranks[0]
                scores["ndcg_10"][row] = gains[ranks[ranks <= 10] - 1].sum() / gains[:R].sum()
                if others:  # the share of the others that come after a relevant item
                    scores["auc_later"][row] = 1 - (ranks - np.arange(1, R + 1)).mean() / others
            yield
    return scores
