"""Checks of packed codes, their layout for the kernels, and the nearest codes of each query, exactly."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Rows
from ohash.evaluation.hamming_kernels import MIN, MIN_SUM, SUM, search_queries

Combine = Literal["min_sum", "min", "sum"]
FlagBytes = npt.NDArray[np.uint8]
COMBINE_RULES = {"min_sum": MIN_SUM, "min": MIN, "sum": SUM}

# Distances (items x models x 8 bytes) of one block of queries: about 10 ms of work, so that a caller can stop in time.
BLOCK_WORK = 4_000_000


@dataclass(frozen=True)
class SearchProblem:
    """Queries (T, n_queries, bytes) against a database (T, bytes, n), in the layout of the kernels."""

    queries: npt.NDArray[np.uint8]
    database: npt.NDArray[np.uint8]
    combine: int
    r: int

    @property
    def T(self) -> int:
        """Models."""
        return len(self.queries)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return int(self.queries.shape[1])

    @property
    def n(self) -> int:
        """Number of items in the database."""
        return int(self.database.shape[2])

    @property
    def radii(self) -> int:
        """Number of possible distances: r + 1, or T r + 1 for a sum over models."""
        return (self.T * self.r if self.combine == SUM else self.r) + 1

    def block_size(self, block: int | None) -> int:
        """Queries per block: `block`, or about 10 ms of work."""
        if block is not None:
            return validation.integer("block", block, 1)
        work = self.n * self.T * -(-self.database.shape[1] // 8)
        return int(min(max(BLOCK_WORK // work, 1), 256))

    def query_block(self, start: int, stop: int) -> npt.NDArray[np.uint8]:
        """Contiguous codes of the queries from start to stop."""
        return np.ascontiguousarray(self.queries[:, start:stop])


def code_array(name: str, codes: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Packed codes (n, bytes) or (T, n, bytes) as (T, n, bytes)."""
    packed = np.asarray(codes)
    if packed.dtype != np.uint8:
        raise ValueError(
            f"{name} must be packed codes, uint8 of shape (n, ceil(r/8)) or (T, n, ceil(r/8)), got dtype "
            f"{packed.dtype} and shape {packed.shape}; pack booleans with np.packbits(bits, axis=-1, bitorder='little')"
        )
    if packed.ndim not in (2, 3) or 0 in packed.shape:
        raise ValueError(
            f"{name} must be packed codes of shape (n, ceil(r/8)) or (T, n, ceil(r/8)), no dimension 0, got shape "
            f"{packed.shape}"
        )
    return packed if packed.ndim == 3 else packed[None]


def search_problem(
    query_codes: npt.ArrayLike, db_codes: npt.ArrayLike, combine: str, r: int | None = None
) -> SearchProblem:
    """Check both sides and transpose the database, so that the kernels run along its items."""
    queries, database = code_array("query_codes", query_codes), code_array("db_codes", db_codes)
    if (len(queries), queries.shape[2]) != (len(database), database.shape[2]):
        raise ValueError(
            "query_codes and db_codes must have the same number of models and bytes, got shapes "
            f"{np.shape(query_codes)} and {np.shape(db_codes)}; encode both with the same hasher"
        )
    if combine not in COMBINE_RULES:
        raise ValueError(f"combine must be one of {', '.join(map(repr, COMBINE_RULES))}, got {combine!r}")
    query_r, db_r = getattr(query_codes, "r", -1), getattr(db_codes, "r", -1)
    lengths = {known for known in (query_r, db_r) if known > 0}
    if len(lengths) > 1:
        raise ValueError(
            f"query_codes and db_codes must be equally long, got {query_r} and {db_r} bits; "
            "encode both with the same hasher"
        )
    return SearchProblem(
        queries=queries,
        database=np.ascontiguousarray(database.transpose(0, 2, 1)),
        combine=MIN if len(queries) == 1 else COMBINE_RULES[combine],
        r=bit_length(queries.shape[2], r if r is not None else next(iter(lengths), None)),
    )


def bit_length(width: int, r: int | None) -> int:
    """`r` if it fits into `width` bytes; 8 bits per byte if it is None."""
    if r is None:
        return 8 * width
    r = validation.integer("r", r)
    if not 8 * (width - 1) < r <= 8 * width:
        raise ValueError(f"r must be in [{8 * width - 7}, {8 * width}] for codes of {width} bytes, got {r}")
    return r


def cutoffs(name: str, k: int | Sequence[int]) -> tuple[int, ...]:
    """One k or several, in ascending order without repetition."""
    values = [k] if isinstance(k, (int, np.integer)) else list(k)
    return tuple(sorted({validation.integer(name, value, 1) for value in values}))


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
