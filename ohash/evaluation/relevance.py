"""What is relevant for a query: items with a shared label, or a given relation. Also what is hidden from it.

Whatever its form, it becomes a function from a block of queries to flags (block, n) in uint8, the only kind of
relevance that the kernels know.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array
from ohash.evaluation.packed_codes import FlagBytes
from ohash.evaluation.ranking_kernels import HIDDEN, RELEVANT

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Flags (stop - start, n) of the queries from start to stop.
FlagBlocks = Callable[[int, int], FlagBytes]


class SparseMatrix(Protocol):
    """A sparse matrix of scipy."""

    def tocsr(self) -> "csr_array":
        """In rows."""


Relation = Array | Sequence[npt.ArrayLike] | SparseMatrix


def relevance_flags(
    n_queries: int,
    n: int,
    query_labels: npt.ArrayLike | None,
    db_labels: npt.ArrayLike | None,
    relevant: Relation | None,
    exclude: Relation | None,
    query_rows: npt.ArrayLike | None,
) -> FlagBlocks:
    """Flags of a block of queries: RELEVANT, and HIDDEN for items that are not in that query's database."""
    if (query_labels is None) != (db_labels is None) or (query_labels is None) == (relevant is None):
        raise ValueError(
            "relevance must be given once, got "
            + (
                ", ".join(_argument_names(query_labels=query_labels, db_labels=db_labels, relevant=relevant))
                or "nothing"
            )
            + "; pass query_labels and db_labels, or relevant"
        )
    if relevant is None:
        relevant_flags = label_flags(n_queries, n, query_labels, db_labels)
    else:
        relevant_flags = relation_flags("relevant", relevant, n_queries, n)
    hidden = None if exclude is None else _exclusion_flags(exclude, n_queries, n)
    own = None if query_rows is None else own_rows(query_rows, n_queries, n)

    def rows(start: int, stop: int) -> FlagBytes:
        flags = relevant_flags(start, stop)
        if hidden is not None:
            flags |= hidden(start, stop) * np.uint8(HIDDEN)
        if own is not None:
            at = own[start:stop]
            in_database = np.flatnonzero(at >= 0)
            flags[in_database, at[in_database]] |= HIDDEN
        return flags

    return rows


def label_flags(
    n_queries: int, n: int, query_labels: npt.ArrayLike | None, db_labels: npt.ArrayLike | None
) -> FlagBlocks:
    """Relevant = the same label; with rows of labels, boolean (n, L), at least one label in common."""
    queries, database = np.asarray(query_labels), np.asarray(db_labels)
    for name, labels, count in (("query_labels", queries, n_queries), ("db_labels", database, n)):
        if labels.ndim not in (1, 2) or len(labels) != count or labels.dtype.kind not in "iubUS":
            raise ValueError(
                f"{name} must hold one label for each of the {count} codes, an integer vector ({count},), or a boolean "
                f"matrix ({count}, L) of several, got dtype {labels.dtype} and shape {labels.shape}"
            )
    if queries.shape[1:] != database.shape[1:]:
        raise ValueError(
            "query_labels and db_labels must be of one kind, two vectors or two matrices with equally many columns, "
            f"got shapes {queries.shape} and {database.shape}"
        )
    if queries.ndim == 1:
        return _same_label(queries, database)
    for name, labels in (("query_labels", queries), ("db_labels", database)):
        if labels.dtype.kind not in "iub" or (labels.dtype.kind != "b" and not np.isin(labels, (0, 1)).all()):
            raise ValueError(f"{name} as a matrix must hold only False / True (or 0 / 1), got dtype {labels.dtype}")
    return _shared_label(queries, database)


def _same_label(queries: Array, database: Array) -> FlagBlocks:
    names, numbers = np.unique(np.concatenate([database, queries]), return_inverse=True)
    numbers = numbers.astype(np.min_scalar_type(len(names)))
    of_database, of_queries = numbers[: len(database)], numbers[len(database) :]

    def rows(start: int, stop: int) -> FlagBytes:
        return np.equal(of_database[None, :], of_queries[start:stop, None]).view(np.uint8)

    return rows


def _shared_label(queries: Array, database: Array) -> FlagBlocks:
    members = np.ascontiguousarray(database.T.astype(bool))

    def rows(start: int, stop: int) -> FlagBytes:
        flags = np.zeros((stop - start, members.shape[1]), bool)
        for row, labels in enumerate(queries[start:stop]):
            for label in np.flatnonzero(labels):
                flags[row] |= members[label]
        return flags.view(np.uint8)

    return rows


def relation_flags(name: str, relation: Relation, n_queries: int, n: int) -> FlagBlocks:
    """A relation of queries to items: boolean (n_queries, n), packed bits, a sparse matrix, or a list of rows each.

    >>> relation_flags("relevant", [[0, 2], []], 2, 3)(0, 2)
    array([[1, 0, 1],
           [0, 0, 0]], dtype=uint8)
    """
    if hasattr(relation, "tocsr"):
        sparse = relation.tocsr()
        if sparse.shape != (n_queries, n):
            raise ValueError(f"{name} must have shape ({n_queries}, {n}), got a sparse matrix of {sparse.shape}")
        sparse.eliminate_zeros()
        relation = np.split(sparse.indices, sparse.indptr[1:-1])
    matrix = relation if isinstance(relation, np.ndarray) else None
    if matrix is not None and matrix.dtype == bool and matrix.shape == (n_queries, n):
        return lambda start, stop: np.array(matrix[start:stop], order="C").view(np.uint8)
    if matrix is not None and matrix.dtype == np.uint8 and matrix.shape == (n_queries, -(-n // 8)):
        return lambda start, stop: np.unpackbits(matrix[start:stop], axis=1, count=n, bitorder="little")
    if matrix is not None and (matrix.dtype.kind not in "iu" or matrix.ndim != 2 or len(matrix) != n_queries):
        raise ValueError(
            f"{name} must be a boolean matrix ({n_queries}, {n}), its packed bits in uint8 ({n_queries}, "
            f"{-(-n // 8)}), or {n_queries} lists of database rows, got dtype {matrix.dtype} and shape {matrix.shape}"
        )
    return _list_flags(name, [np.asarray(items) for items in cast(Sequence[npt.ArrayLike], relation)], n_queries, n)


def _list_flags(name: str, lists: list[Array], n_queries: int, n: int) -> FlagBlocks:
    if len(lists) != n_queries:
        raise ValueError(f"{name} must hold one list for each of the {n_queries} queries, got {len(lists)} lists")
    for at, items in enumerate(lists):
        if items.ndim != 1 or (items.size and items.dtype.kind not in "iu"):
            raise ValueError(f"{name}[{at}] must be a list of database rows, got dtype {items.dtype} and {items.shape}")
        if items.size and (items.min() < 0 or items.max() >= n):
            raise ValueError(
                f"{name}[{at}] must hold rows of the database, 0 to {n - 1}, got {items.min()} to {items.max()}"
            )
    lists = [items.astype(np.int64) for items in lists]

    def rows(start: int, stop: int) -> FlagBytes:
        flags = np.zeros((stop - start, n), np.uint8)
        for row, items in enumerate(lists[start:stop]):
            flags[row, items] = RELEVANT
        return flags

    return rows


def _exclusion_flags(exclude: Relation, n_queries: int, n: int) -> FlagBlocks:
    """Like `relation_flags`, or one boolean vector (n,) for all queries."""
    if isinstance(exclude, np.ndarray) and exclude.dtype == bool and exclude.shape == (n,):
        everywhere = exclude.view(np.uint8)[None, :]
        return lambda start, stop: everywhere
    return relation_flags("exclude", exclude, n_queries, n)


def own_rows(query_rows: npt.ArrayLike, n_queries: int, n: int) -> npt.NDArray[np.int64]:
    """The database row of each query, -1 if it is not in the database."""
    own = np.asarray(query_rows)
    if own.shape != (n_queries,) or own.dtype.kind not in "iu":
        raise ValueError(
            f"query_rows must be an integer vector ({n_queries},), where each query lies in the database, "
            f"got dtype {own.dtype} and shape {own.shape}"
        )
    if own.min() < -1 or own.max() >= n:
        bad = int(own[(own < -1) | (own >= n)][0])
        raise ValueError(f"query_rows must lie in 0 to {n - 1}, or be -1 for a query that is not there, got {bad}")
    return own.astype(np.int64)


def _argument_names(**arguments: object) -> list[str]:
    return [name for name, value in arguments.items() if value is not None]
