"""Ranking by real distances, for methods that estimate them; scored as rankings by Hamming distance are.

Such rankings have no radius: their precision and recall within one are NaN, and the points of their curve are the
nearest 0, 1, ..., 100 % of the database instead.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.evaluation import tie_kernels as columns
from ohash.evaluation.order_kernels import LEVELS, score_orders
from ohash.evaluation.packed import at_least, cut_offs
from ohash.evaluation.ranking import Retrieval, record_of
from ohash.evaluation.relevance import Relation, relevance

# Distances of the queries from start to stop, (stop - start, n); small is near.
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
    """`iter_retrieval` for distances that are asked for a block of queries at a time; the last record is the whole.

    >>> D = np.float32([[0.1, 0.7, 0.7]])
    >>> *_, found = iter_ranking(lambda start, stop: D[start:stop], 1, 3, relevant=[[1]], k=2)
    >>> round(found.map, 4), found.precision_at_k[2]
    (0.4167, 0.25)
    """
    ks = cut_offs("k", k)
    flags = relevance(n_queries, n, None, None, relevant, exclude, query_rows)
    size = max(1, BLOCK_WORK // n) if block is None else at_least("block", block, 1)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n + 1))])
    scores = np.empty((n_queries, columns.FIRST_K + 3 * len(ks)))
    counts, sums = np.zeros((LEVELS, 2), np.int64), np.zeros((LEVELS, 2))
    kernel = score_orders()
    for start in range(0, n_queries, size):
        stop = min(start + size, n_queries)
        D = _checked(distances(start, stop), stop - start, n)
        order = np.argsort(D, axis=1).astype(np.int64, copy=False)
        kernel(D, order, flags(start, stop), np.array(ks, np.int64), harmonic, scores[start:stop], counts, sums)
        nan = float("nan")
        found = record_of(scores[:stop], counts, sums, ks, 0)
        yield replace(found, precision_radius=nan, recall_radius=nan, empty_ball=nan)


def _checked(D: Any, rows: int, n: int) -> npt.NDArray[np.float32]:
    matrix = np.ascontiguousarray(D, dtype=np.float32)
    if matrix.shape != (rows, n) or np.isnan(matrix).any():
        raise ValueError(f"distances must be numbers of shape ({rows}, {n}), got {matrix.shape}, NaN among them or not")
    return matrix
