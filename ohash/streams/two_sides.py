"""Two-sided data: queries and documents are different things, and a pair is (query, document)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Flags, Numbers, Rows
from ohash.core.rows import RowView, is_memory_mapped, stack_rows
from ohash.streams.annotations import PairList, check_column, check_ids, parse_two_sided_pairs

# A memory-mapped matrix of up to this many bytes is checked for NaN when it is opened.
SEARCHED = 256 * 2**20
MIN_QUERIES = 2
MIN_DOCUMENTS = 2

Ids = npt.NDArray[np.str_]


def check_values(name: str, X: Numbers) -> None:
    """Refuse values that cannot be measured; rows of a large memory map are checked where they are used."""
    if X.nbytes <= SEARCHED or not is_memory_mapped(X):
        RowView(X).check_finite(name)


def stack_sides(
    docs: npt.ArrayLike,
    queries: npt.ArrayLike,
    pairs: object,
    doc_ids: npt.ArrayLike | None,
    query_ids: npt.ArrayLike | None,
    doc_captions: Sequence[str],
    query_captions: Sequence[str],
) -> dict[str, Any]:
    """Fields of a `Dataset` whose rows are the documents, then the queries."""
    D, Q = validation.matrix("docs", docs), validation.matrix("queries", queries)
    check_values("docs", D)
    check_values("queries", Q)
    if D.shape[1] != Q.shape[1]:
        raise ValueError(
            f"queries must have as many columns as docs, {D.shape[1]}, got {Q.shape[1]}; encode both with one model"
        )
    n, q = len(D), len(Q)
    known_docs, known_queries = _ids("doc_ids", doc_ids, n, "docs"), _ids("query_ids", query_ids, q, "queries")
    names = [_names("document", known_docs, n), _names("query", known_queries, q)]
    texts = [_captions("doc_captions", doc_captions, names[0]), _captions("query_captions", query_captions, names[1])]
    return {
        "X": stack_rows(D, Q),
        "pairs": None if pairs is None else parse_two_sided_pairs(pairs, known_queries, q, known_docs, n),
        "ids": None if known_docs is None and known_queries is None else np.concatenate(names),
        "captions": (*texts[0], *texts[1]) if len(doc_captions) or len(query_captions) else (),
        "queries": halve_queries(q),
        "query_rows": np.arange(n, n + q),
    }


def halve_queries(q: int) -> tuple[int, int]:
    """Validation and test queries: two halves of q query rows, at most 500 each.

    >>> halve_queries(7), halve_queries(10_000)
    ((3, 4), (500, 500))
    """
    if q < MIN_QUERIES:
        raise ValueError(f"two-sided data must have at least {MIN_QUERIES} queries (validation and test), got {q}")
    return min(500, q // 2), min(500, (q + 1) // 2)


def check_sides(
    n: int,
    query_rows: Rows,
    is_query: Flags,
    counts: tuple[int, int],
    pairs: PairList | None,
    fixed_test: Rows | None,
) -> None:
    """Refuse sides that are too small, and pairs and test queries that do not respect them."""
    q = len(query_rows)
    if n - q < MIN_DOCUMENTS:
        raise ValueError(f"two-sided data must have at least {MIN_DOCUMENTS} documents, got {n - q}")
    if min(counts) < 1 or sum(counts) > q:
        raise ValueError(f"queries must be two counts >= 1, of {q} query rows at most, got {counts}")
    if fixed_test is not None and not is_query[fixed_test].all():
        raise ValueError("fixed_test of two-sided data must be query rows, got a document")
    if pairs is None:
        return
    wrong = np.flatnonzero(~is_query[pairs.i] | is_query[pairs.j])
    if len(wrong):
        at = wrong[0]
        raise ValueError(
            "pairs of two-sided data must be (query row, document row), got "
            f"({pairs.i[at]}, {pairs.j[at]}) at pair {at}"
        )


def check_query_rows(n: int, query_rows: Rows) -> None:
    """Refuse rows that are not rows of X, sorted and distinct."""
    rows = query_rows
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not len(rows) or (np.diff(rows) <= 0).any():
        raise ValueError(f"query_rows must be row numbers, distinct and sorted, got {rows!r}")
    if rows[0] < 0 or rows[-1] >= n:
        raise ValueError(f"query_rows must be rows of X, 0 to {n - 1}, got {rows[0]} to {rows[-1]}")


def _ids(name: str, ids: npt.ArrayLike | None, size: int, of: str) -> Ids | None:
    return None if ids is None else check_ids(name, check_column(name, ids, size, of).astype(np.str_))


def _names(kind: str, ids: Ids | None, size: int) -> Ids:
    return np.array([f"{kind} {row}" for row in range(size)]) if ids is None else ids


def _captions(name: str, captions: Sequence[str], names: Ids) -> Sequence[str]:
    """As given; the names of a side without captions."""
    if not len(captions):
        return [str(name) for name in names]
    if len(captions) != len(names):
        raise ValueError(f"{name} must have one entry per row, {len(names)}, got {len(captions)}")
    return captions
