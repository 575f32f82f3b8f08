"""The exact nearest neighbours of float vectors, against which `neighbour_recall` holds the codes.

They are found by BLAS in blocks; all items that, up to rounding, are as near as the k-th are measured again
in float64, so that ties and near-duplicates are ranked correctly as well. The database may be a file of gigabytes: one
block of it is held at a time.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Numbers, Reals, Rows
from ohash.core.distances import FastDistances, pair_distances
from ohash.core.rows import RowView
from ohash.evaluation.relevance import own_rows
from ohash.runtime.progress import drain

Metric = Literal["cosine", "l2", "dot"]

BLOCK_BYTES = 8_000_000  # of distances held at once
BLOCK_WORK = 500_000_000  # multiplications of one step
MEASURED = 16  # queries whose candidates are measured per step
MAX_CANDIDATES = 2**22


def exact_neighbours(
    X_query: npt.ArrayLike,
    X_db: npt.ArrayLike,
    k: int = 100,
    metric: Metric = "cosine",
    *,
    query_rows: npt.ArrayLike | None = None,
) -> Rows:
    """The k nearest database rows of each query, (n_queries, k), nearest first, ties by index.

    `metric` is "cosine", "l2" or "dot"; a zero vector has cosine 0 with everything. `query_rows` gives the database
    row of each query (-1: none), so that a query does not find itself.

    >>> exact_neighbours([[1.0, 0.0]], [[0.0, 2.0], [3.0, 1.0], [1.0, 0.1]], k=2, metric="cosine")
    array([[2, 1]])
    >>> exact_neighbours([[1.0, 0.0]], [[0.0, 2.0], [3.0, 1.0], [1.0, 0.1]], k=2, metric="dot")
    array([[1, 2]])
    """
    return drain(iter_exact_neighbours(X_query, X_db, k, metric, query_rows=query_rows))


def iter_exact_neighbours(
    X_query: npt.ArrayLike,
    X_db: npt.ArrayLike | RowView,
    k: int = 100,
    metric: Metric = "cosine",
    *,
    query_rows: npt.ArrayLike | None = None,
) -> Generator[float, None, Rows]:
    """`exact_neighbours`, a block of the database at a time: yields the share done, returns the neighbours."""
    if metric not in ("cosine", "l2", "dot"):
        raise ValueError(f"metric must be 'cosine', 'l2' or 'dot', got {metric!r}")
    database = X_db if isinstance(X_db, RowView) else RowView(validation.matrix("X_db", X_db))
    queries = validation.finite("X_query", validation.matrix("X_query", X_query))
    n, d = len(database), database.X.shape[1]
    if queries.shape[1] != d:
        raise ValueError(f"X_query must have the {d} columns of X_db, got shape {queries.shape}")
    own = np.full(len(queries), -1) if query_rows is None else own_rows(query_rows, len(queries), n)
    k = validation.integer("k", k, 1)
    limit = n if query_rows is None else n - 1
    if k > limit:
        raise ValueError(f"k must be at most {limit}, the rows of X_db a query can find, got {k}")
    fast = FastDistances.for_rows(database.X, database.rows, metric)
    neighbours = np.empty((len(queries), k), np.int64)
    waiting = [np.arange(len(queries))]
    while waiting:
        some = waiting.pop()
        try:
            close = yield from _candidates(queries[some], database, k, fast, own[some])
        except _TooManyTiesError:
            waiting += np.array_split(some, 2)
            continue
        for at, (row, items) in enumerate(zip(some, close, strict=True)):
            vectors = database.take(items)
            distances = pair_distances(vectors, np.broadcast_to(queries[row], vectors.shape), metric)
            neighbours[row] = items[np.lexsort((items, distances))[:k]]
            if at % MEASURED == 0:
                yield 1.0
    return neighbours


class _TooManyTiesError(Exception):
    """More items are as near as the k-th than can be held for so many queries."""


def _candidates(
    queries: Numbers, database: RowView, k: int, fast: FastDistances, own: Rows
) -> Generator[float, None, list[Rows]]:
    """For each query, all items that may be among its k nearest, given the rounding error."""
    A = fast.prepare(queries)
    width = max(1, min(BLOCK_BYTES // (len(A) * A.itemsize), BLOCK_WORK // A.size))
    pool, worst = _Pool(len(A), k), np.zeros(len(A))
    for start in range(0, len(database), width):
        rows = validation.finite("X_db", database.block(start, start + width), rows=np.arange(start, start + width))
        D, error = fast.distances(A, fast.prepare(rows))
        np.maximum(worst, error[:, 0], out=worst)
        mine = np.flatnonzero((own >= start) & (own < start + len(rows)))
        D[mine, own[mine] - start] = np.inf
        pool.add(D, start, 2 * worst)
        if pool.size > max(MAX_CANDIDATES, 8 * k * len(A)) and len(A) > 1:
            raise _TooManyTiesError
        yield min(0.99, (start + len(rows)) / len(database))
    return pool.items(2 * worst)


class _Pool:
    """The items that may still be among the k nearest of each query."""

    def __init__(self, queries: int, k: int) -> None:
        self.k, self.kth = k, np.full(queries, np.inf)  # the k-th distance so far
        self._parts: list[tuple[Rows, Rows, Reals]] = []
        self.size = self._sorted = 0

    def add(self, D: Reals, start: int, slack: npt.NDArray[np.float64]) -> None:
        """Distances (queries, block) of the items from `start` on, and how far beyond the k-th still counts."""
        if not self._sorted and self.k < D.shape[1]:
            self.kth = np.minimum(self.kth, np.partition(D, self.k - 1, axis=1)[:, self.k - 1])
        q, i = np.nonzero((self.kth + slack)[:, None] >= D)
        q, i = q[np.isfinite(D[q, i])], i[np.isfinite(D[q, i])]
        self._parts.append((q, i + start, D[q, i]))
        self.size += len(q)
        if self.size > 2 * max(self._sorted, self.k * len(self.kth)):
            self._sort(slack)

    def items(self, slack: npt.NDArray[np.float64]) -> list[Rows]:
        """What is left, query by query."""
        self._sort(slack)
        q, items, _ = self._parts[0]
        return np.split(items, np.searchsorted(q, np.arange(1, len(self.kth))))

    def _sort(self, slack: npt.NDArray[np.float64]) -> None:
        q, items, distances = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        order = np.lexsort((distances, q))
        q, items, distances = q[order], items[order], distances[order]
        first, count = np.searchsorted(q, np.arange(len(self.kth))), np.bincount(q, minlength=len(self.kth))
        enough = np.flatnonzero(count >= self.k)
        self.kth[enough] = np.minimum(self.kth[enough], distances[first[enough] + self.k - 1])
        keep = distances <= (self.kth + slack)[q]
        self._parts = [(q[keep], items[keep], distances[keep])]
        self.size = self._sorted = int(keep.sum())
