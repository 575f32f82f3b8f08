"""The nearest codes of each query, exactly."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Rows
from ohash.evaluation.hamming_kernels import search_queries
from ohash.evaluation.packed_codes import Combine, search_problem


def search(
    query_codes: npt.NDArray[np.uint8],
    db_codes: npt.NDArray[np.uint8],
    k: int = 10,
    combine: Combine = "min_sum",
) -> tuple[Rows, Rows]:
    """(indices, distances), both (n_queries, k): nearest first, ties by database index.

    `distances` are those that define the ranking: the least over T models, or their sum for ``combine="sum"``.

    >>> indices, distances = search(np.uint8([[0b011]]), np.uint8([[0b100], [0b111], [0b001], [0b011]]), k=3)
    >>> indices, distances
    (array([[3, 1, 2]]), array([[0, 1, 1]]))
    """
    parts = list(iter_search(query_codes, db_codes, k, combine))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def iter_search(
    query_codes: npt.NDArray[np.uint8],
    db_codes: npt.NDArray[np.uint8],
    k: int = 10,
    combine: Combine = "min_sum",
    block: int | None = None,
) -> Iterator[tuple[Rows, Rows]]:
    """`search`, a block of queries at a time (about 10 ms without `block`)."""
    problem = search_problem(query_codes, db_codes, combine)
    k = validation.integer("k", k, 1)
    if k > problem.n:
        raise ValueError(f"k must be at most the number of db_codes, {problem.n}, got {k}")
    size = problem.block_size(block)
    kernel = search_queries()
    for start in range(0, problem.n_queries, size):
        queries = problem.query_block(start, min(start + size, problem.n_queries))
        indices = np.empty((queries.shape[1], k), np.int64)
        distances = np.empty_like(indices)
        kernel(queries, problem.database, problem.combine, indices, distances)
        yield indices, distances
