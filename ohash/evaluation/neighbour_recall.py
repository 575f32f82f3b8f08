"""Distance agreement: which share of the exact neighbours is among the nearest codes, expected over ties.

Of k candidates, those nearer than the k-th are certain; of the items as far as the k-th, a random choice fills the
rest. So a query needs the distance of its k-th item, how many items are nearer and how many are as far, and the
distances of its exact neighbours: one pass over the database for all k.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import cache
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Bytes, Counts, Floats, Rows, Singles
from ohash.evaluation.hamming_kernels import CHUNK, MIN_SUM, chunk_distances
from ohash.evaluation.packed_codes import Combine, search_problem
from ohash.evaluation.relevance import own_rows
from ohash.runtime.compile import array_type, inline, kernel_for
from ohash.runtime.progress import drain


class Cut(NamedTuple):
    """How many of the exact neighbours are looked for, among how many of the nearest items."""

    neighbours: int
    k: int


def recall_at_k(
    query_codes: npt.NDArray[np.uint8],
    db_codes: npt.NDArray[np.uint8],
    exact: npt.ArrayLike,
    k: int = 10,
    combine: Combine = "min_sum",
    *,
    query_rows: npt.ArrayLike | None = None,
) -> float:
    """Share of the k exact neighbours among the k nearest codes, expected over a random order inside ties.

    `exact` is (n_queries, k or more), nearest first, as from `exact_neighbours`.

    >>> database = np.uint8([[0b000], [0b001], [0b010], [0b111]])
    >>> recall_at_k(np.uint8([[0b000]]), database, [[0, 1]], k=2)
    0.75
    """
    return recall_with_reranking(query_codes, db_codes, exact, k, (1,), combine, query_rows=query_rows)[1]


def recall_with_reranking(
    query_codes: npt.NDArray[np.uint8],
    db_codes: npt.NDArray[np.uint8],
    exact: npt.ArrayLike,
    k: int = 10,
    oversampling: Sequence[int] = (1, 2, 4, 16),
    combine: Combine = "min_sum",
    *,
    query_rows: npt.ArrayLike | None = None,
) -> dict[int, float]:
    """Recall@k after the c k nearest codes have been re-ranked by the float vectors, for every c.

    Re-ranking by the distance that defines `exact` puts the exact neighbours among the candidates first. So the recall
    is the expected share of the k exact neighbours among the c k nearest codes, and no float vector is needed.

    >>> database = np.uint8([[0b000], [0b001], [0b010], [0b111]])
    >>> recall_with_reranking(np.uint8([[0b000]]), database, [[3, 0]], k=2, oversampling=(1, 2))
    {1: 0.5, 2: 1.0}
    """
    k = validation.integer("k", k, 1)
    neighbours = np.asarray(exact)
    if neighbours.ndim != 2 or neighbours.shape[1] < k or neighbours.dtype.kind not in "iu":
        raise ValueError(
            f"exact must hold database rows, (n_queries, {k} or more), got dtype {neighbours.dtype} and shape "
            f"{neighbours.shape}; make it with exact_neighbours(X_query, X_db, k={k})"
        )
    factors = [validation.integer("oversampling", factor, 1) for factor in oversampling]
    cuts = [Cut(k, factor * k) for factor in factors]
    shares = drain(iter_recall(query_codes, db_codes, neighbours, cuts, query_rows, combine))
    return dict(zip(factors, shares.mean(axis=1).tolist(), strict=True))


def iter_recall(
    query_codes: npt.ArrayLike,
    db_codes: npt.ArrayLike,
    exact: Rows,
    cuts: Sequence[Cut],
    query_rows: npt.ArrayLike | None = None,
    combine: Combine = "min_sum",
    r: int | None = None,
) -> Generator[None, None, Floats]:
    """The recall of every query at every cut, (cuts, n_queries), a block of queries at a time."""
    problem = search_problem(query_codes, db_codes, combine, r)
    n, n_queries = problem.n, problem.n_queries
    rows = check_neighbours(exact, n_queries, n)
    own = np.full(n_queries, -1) if query_rows is None else own_rows(query_rows, n_queries, n)
    given = np.array(cuts, np.int64).reshape(-1, 2)
    counts = np.empty((n_queries, len(given), 4), np.int64)
    size, kernel = problem.block_size(None), count_neighbours()
    for start in range(0, n_queries, size):
        block = slice(start, min(start + size, n_queries))
        queries = problem.query_block(block.start, block.stop)
        kernel(queries, problem.database, problem.combine, rows[block], own[block], given, counts[block])
        yield
    return _shares(given, *np.ascontiguousarray(counts.transpose(2, 1, 0)))


def _shares(cuts: Counts, certain: Counts, tied: Counts, nearer: Counts, as_far: Counts) -> Floats:
    """The expected share of the neighbours among the k nearest, from counts (cuts, queries)."""
    looked_for, k = cuts.T[:, :, None]
    shares: Floats = (certain + (k - nearer) * (tied / as_far)) / looked_for
    return shares


def recall_by_distances(D: Singles, exact: Rows, cuts: Sequence[Cut], own: Rows | None = None) -> Floats:
    """`iter_recall` for the distances of some queries to the whole database, (queries, n): (cuts, queries).

    >>> recall_by_distances(np.float32([[0.1, 0.7, 0.7]]), np.array([[1]]), [Cut(1, 2)])
    array([[0.5]])
    """
    n = D.shape[1]
    rows = check_neighbours(exact, len(D), n)
    if own is not None:
        D = D.copy()
        D[own >= 0, own[own >= 0]] = np.inf
    within = sorted({cut.k - 1 for cut in cuts if cut.k < n})
    ranked = np.partition(D, within, axis=1) if within else D
    distances = np.take_along_axis(D, rows, axis=1)
    counts = np.empty((4, len(cuts), len(D)), np.int64)
    for at, (neighbours, k) in enumerate(cuts):
        if k >= n:
            counts[:, at] = np.array(whole_database_counts(neighbours, k))[:, None]
            continue
        kth, few = ranked[:, k - 1 : k], distances[:, :neighbours]
        for row, flags in enumerate([few < kth, few == kth, D < kth, D == kth]):
            counts[row, at] = np.count_nonzero(flags, axis=1)
    return _shares(np.array(cuts, np.int64).reshape(-1, 2), *counts)


def check_neighbours(exact: Rows, n_queries: int, n: int) -> Rows:
    """Rows of the database for every query, contiguous."""
    rows = np.ascontiguousarray(exact, dtype=np.int64)
    if len(rows) != n_queries or (rows.size and not 0 <= rows.min() <= rows.max() < n):
        raise ValueError(
            f"exact must hold rows of the database, 0 to {n - 1}, for {n_queries} queries, got shape {rows.shape}"
            + (f" with rows {rows.min()} to {rows.max()}" if rows.size else "")
            + "; make it with exact_neighbours(X_query, X_db)"
        )
    return rows


@inline
def whole_database_counts(looked_for: int, k: int) -> tuple[int, int, int, int]:
    """Counts of a query whose k nearest are the whole database."""
    return looked_for, 0, k, 1


def _count_neighbours(
    queries: Bytes,  # (T, b, bytes)
    codes: Bytes,  # (T, bytes, n)
    combine: int,
    exact: Rows,  # (b, K)
    own: Rows,  # (b,) the query's own row, or -1
    cuts: Counts,  # (cuts, 2)
    counts: Counts,  # (b, cuts, 4), filled: neighbours nearer than the k-th and as far, items nearer and as far
) -> None:
    """Count for a block of queries; with MIN_SUM the sum of T distances orders items whose least one is the k-th."""
    T, width, n = codes.shape
    farthest = 8 * T * width + 1  # no distance is as large: where a query's own row goes
    partial, D = np.empty(CHUNK, np.uint8), np.empty(CHUNK, np.int32)
    near, tie_break = np.empty(n, np.int32), np.zeros(n, np.int32)
    items, sums = np.empty(farthest + 1, np.int64), np.empty(farthest + 1, np.int64)
    for b in range(queries.shape[1]):
        for start in range(0, n, CHUNK):
            stop = min(start + CHUNK, n)
            chunk_distances(queries[:, b], codes, start, combine, partial, D, near[start:stop], tie_break[start:stop])
        if own[b] >= 0:
            near[own[b]] = farthest
        items[:] = 0
        for i in range(n):
            items[near[i]] += 1
        counted = -1  # the distance whose sums are counted
        for cut in range(cuts.shape[0]):
            looked_for, k = cuts[cut]
            row = counts[b, cut]  # filled one by one: to assign a tuple, numba would compile how to format an error
            if k >= n:
                row[0], row[1], row[2], row[3] = whole_database_counts(looked_for, k)
                continue
            kth = nearer = kth_sum = 0
            while nearer + items[kth] < k:
                nearer += items[kth]
                kth += 1
            as_far = items[kth]
            if combine == MIN_SUM:
                if counted != kth:
                    sums[:] = 0
                    for i in range(n):
                        if near[i] == kth:
                            sums[tie_break[i]] += 1
                    counted = kth
                while nearer + sums[kth_sum] < k:
                    nearer += sums[kth_sum]
                    kth_sum += 1
                as_far = sums[kth_sum]
            certain = tied = 0
            for j in range(looked_for):
                item = exact[b, j]
                if near[item] < kth or (near[item] == kth and tie_break[item] < kth_sum):
                    certain += 1
                elif near[item] == kth and (combine != MIN_SUM or tie_break[item] == kth_sum):
                    tied += 1
            row[0], row[1], row[2], row[3] = certain, tied, nearer, as_far


@cache
def count_neighbours() -> Callable[..., None]:
    """The counting kernel; compiled at the first call on a machine, then read from disk."""
    u1, i8 = numba.types.uint8, numba.types.int64
    codes, rows = array_type(u1, 3, readonly=True), array_type(i8, 2, readonly=True)
    own = array_type(i8, 1, readonly=True)
    signature = numba.types.void(codes, codes, i8, rows, own, rows, array_type(i8, 3))
    return kernel_for(signature, _count_neighbours)
