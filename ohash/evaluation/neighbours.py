"""*Agrees with the original distance*: do the codes find the neighbours that the float vectors have?

The exact neighbours come from BLAS in blocks, their last digits from float64: all that lie, up to rounding, as near as
the k-th are measured again one by one. So ties and near-duplicates come out right, too.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.evaluation.packed import Combine, at_least, code_array
from ohash.evaluation.ranking import retrieval
from ohash.evaluation.relevance import own_rows
from ohash.evaluation.search import Indices

Metric = Literal["cosine", "l2", "dot"]

BLOCK_BYTES = 8_000_000  # of products held at once
ROUNDING = 64  # products may be wrong by this many units in the last place of ‖q‖ max ‖x‖


def exact_neighbours(
    X_query: npt.ArrayLike,
    X_db: npt.ArrayLike,
    k: int = 100,
    metric: Metric = "cosine",
    *,
    query_rows: npt.ArrayLike | None = None,
) -> Indices:
    """The k nearest database rows of each query, (n_queries, k), nearest first, ties by index.

    `query_rows` says where a query itself lies in the database (-1: nowhere), so that it does not find itself. A zero
    vector has cosine 0 with everything.

    >>> exact_neighbours([[1.0, 0.0]], [[0.0, 2.0], [3.0, 1.0], [1.0, 0.1]], k=2, metric="cosine")
    array([[2, 1]])
    >>> exact_neighbours([[1.0, 0.0]], [[0.0, 2.0], [3.0, 1.0], [1.0, 0.1]], k=2, metric="dot")
    array([[1, 2]])
    """
    return np.concatenate(list(iter_exact_neighbours(X_query, X_db, k, metric, query_rows=query_rows)))


def iter_exact_neighbours(
    X_query: npt.ArrayLike,
    X_db: npt.ArrayLike,
    k: int = 100,
    metric: Metric = "cosine",
    *,
    query_rows: npt.ArrayLike | None = None,
    block: int | None = None,
) -> Iterator[Indices]:
    """`exact_neighbours`, a block of queries at a time."""
    if metric not in ("cosine", "l2", "dot"):
        raise ValueError(f"metric must be 'cosine', 'l2' or 'dot', got {metric!r}")
    database = _real("X_db", X_db, None)
    queries = _real("X_query", X_query, database)
    n = len(database)
    own = None if query_rows is None else own_rows(query_rows, len(queries), n)
    k = at_least("k", k, 1)
    most = n if own is None else n - 1
    if k > most:
        raise ValueError(f"k must be at most {most}, the rows of X_db a query can find, got {k}")
    if metric == "l2":  # distances do not change, but their digits are no longer lost in large norms
        centre = database.mean(axis=0)
        database, queries = database - centre, queries - centre
    elif metric == "cosine":
        database, queries = _unit(database), _unit(queries)
    half_squares = 0.5 * np.einsum("ij,ij->i", database, database)
    largest = float(half_squares.max())
    unit = ROUNDING * float(np.finfo(database.dtype).eps)
    size = max(1, BLOCK_BYTES // (n * database.itemsize)) if block is None else at_least("block", block, 1)
    for start in range(0, len(queries), size):
        some = queries[start : start + size]
        near = some @ database.T
        if metric == "l2":
            near -= half_squares  # -‖q - x‖²/2 up to what depends on q alone
        if own is not None:
            at = own[start : start + size]
            found = np.flatnonzero(at >= 0)
            near[found, at[found]] = -np.inf
        kth = np.partition(near, n - k, axis=1)[:, n - k]
        indices = np.empty((len(some), k), np.int64)
        for row, query in enumerate(some.astype(np.float64)):
            slack = unit * (np.sqrt(2 * largest * (query @ query)) + largest)
            close = np.flatnonzero(near[row] >= kth[row] - slack)
            vectors = database[close].astype(np.float64)
            nearness = -((vectors - query) ** 2).sum(axis=1) if metric == "l2" else vectors @ query
            indices[row] = close[np.argsort(-nearness, kind="stable")[:k]]
        yield indices


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
    """Recall@k after the c k nearest codes have been sorted again by the float vectors, for every c.

    Sorting candidates by the distance that defines `exact` puts the exact neighbours among them first. So the recall
    is the expected share of the k exact neighbours among the c k nearest codes, and no float vector is needed.

    >>> database = np.uint8([[0b000], [0b001], [0b010], [0b111]])
    >>> recall_with_reranking(np.uint8([[0b000]]), database, [[3, 0]], k=2, oversampling=(1, 2))
    {1: 0.5, 2: 1.0}
    """
    k = at_least("k", k, 1)
    neighbours = np.asarray(exact)
    if neighbours.ndim != 2 or neighbours.shape[1] < k or neighbours.dtype.kind not in "iu":
        raise ValueError(
            f"exact must hold database rows, (n_queries, {k} or more), got dtype {neighbours.dtype} and shape "
            f"{neighbours.shape}; make it with exact_neighbours(X_query, X_db, k={k})"
        )
    factors = [at_least("oversampling", factor, 1) for factor in oversampling]
    n = code_array("db_codes", db_codes).shape[1]
    found = retrieval(
        query_codes, db_codes, relevant=list(neighbours[:, :k]), query_rows=query_rows, combine=combine,
        k=[factor * k for factor in factors],
    ).precision_at_k  # fmt: skip
    return {factor: found[factor * k] * factor if factor * k < n else 1.0 for factor in factors}


def _real(name: str, X: npt.ArrayLike, like: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    """A finite matrix in float32, or in float64 if it came so."""
    matrix = validation.finite(name, validation.matrix(name, X))
    if like is not None and matrix.shape[1] != like.shape[1]:
        raise ValueError(f"{name} must have the {like.shape[1]} columns of X_db, got shape {matrix.shape}")
    wanted = matrix.dtype if matrix.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    return np.ascontiguousarray(matrix, dtype=wanted if like is None else like.dtype)


def _unit(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    norm = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norm > 0, norm, 1)
