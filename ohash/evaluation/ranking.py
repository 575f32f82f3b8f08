r"""Ranking by Hamming distance, scored over the whole database.

Few distances, many items: ties are the rule, so the headline number is the **tie-aware** AP (He et al., CVPR 2018),
the exact mean of AP over every order that the distances allow. Class d has n items, n⁺ of them relevant; N items, N⁺
relevant, lie before it:

.. math:: AP = \frac{1}{R} \sum_d \frac{n^+}{n} \sum_{t=1}^{n} \frac{N^+ + 1 + (t-1) (n^+ - 1)/(n - 1)}{N + t}

Conventions:

- R counts all relevant items of the database; a query with R = 0 is excluded from every mean, and counted.
- ``ties="stable"`` breaks ties by database index. On a database sorted by class that is badly biased.
- AP@k divides by min(R, k), nDCG@k by the gain of min(R, k) relevant items at the top. Precision@k, AP@k, hit@k,
  nDCG@k, the reciprocal rank and AUC are expectations over ties as well. A k
  beyond the database means all of it.
- The ball of radius ρ holds all items with D_h <= ρ; precision is 0 in an empty one.
- T models: ``"min"`` ranks by the least D_h (one positive model is enough), ``"min_sum"`` breaks its ties by the sum,
  ``"sum"`` ranks by the sum. Balls are those of the least distance, or of the sum.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Floats
from ohash.evaluation import ranking_kernels as columns
from ohash.evaluation.packed_codes import Combine, cutoffs, search_problem
from ohash.evaluation.ranking_kernels import score_queries
from ohash.evaluation.relevance import Relation, relevance_flags

Ties = Literal["expected", "stable"]


@dataclass(frozen=True, eq=False)
class PRCurve:
    """Precision and recall within each radius; to be drawn as connected points, without interpolation.

    `precision` and `recall` add the counts of all queries up (micro); `macro_*` are means over queries.
    """

    radius: npt.NDArray[np.int64]
    precision: Floats
    recall: Floats
    macro_precision: Floats
    macro_recall: Floats


@dataclass(frozen=True, eq=False)
class Retrieval:
    """All metrics of one ranking: means over `queries`, without the `excluded` ones that have no relevant item.

    `map_low` and `map_high` are mAP with the relevant items last, and first, in every tie. `auc` is the chance that a
    relevant item is nearer than another one, 0.5 for a random order. `ap`, `hits` and `precisions` (by k) and
    `n_relevant` have one entry per query in the order given, NaN where excluded; `paired_bootstrap` takes them.
    `neighbour_recall` is the same for the share of the ten exact neighbours among the ten nearest, if it was measured.
    """

    queries: int
    excluded: int
    map: float
    map_low: float
    map_high: float
    mrr: float
    map_at_k: dict[int, float]
    precision_at_k: dict[int, float]
    hit_at_k: dict[int, float]
    ndcg_at_k: dict[int, float]
    auc: float
    radius: int
    precision_radius: float
    recall_radius: float
    empty_ball: float
    curve: PRCurve
    ap: Floats
    hits: dict[int, Floats]
    precisions: dict[int, Floats]
    n_relevant: npt.NDArray[np.int64]
    neighbour_recall: Floats | None = None


def mean_ap(
    query_codes: npt.NDArray[np.uint8],
    db_codes: npt.NDArray[np.uint8],
    query_labels: npt.ArrayLike | None = None,
    db_labels: npt.ArrayLike | None = None,
    ties: Ties = "expected",
    combine: Combine = "min_sum",
    *,
    relevant: Relation | None = None,
    exclude: Relation | None = None,
    query_rows: npt.ArrayLike | None = None,
) -> float:
    """Mean average precision over the whole database; NaN if no query has a relevant item.

    Distances 0, 1, 1 and relevance no, yes, no: the relevant one comes second or third, AP is the mean of 1/2 and 1/3.
    With ties="stable" instead of "expected", items at one distance stay in the order of their rows. Of several models,
    `combine` ranks by the least distance and then the sum ("min_sum"), by "min" or by "sum".

    >>> query, database = np.uint8([[0b00]]), np.uint8([[0b00], [0b01], [0b10]])
    >>> round(mean_ap(query, database, [7], [5, 7, 5]), 4)
    0.4167
    >>> mean_ap(query, database, [7], [5, 7, 5], ties="stable")
    0.5
    """
    return retrieval(
        query_codes, db_codes, query_labels, db_labels, relevant=relevant, exclude=exclude, query_rows=query_rows,
        ties=ties, combine=combine, k=(),
    ).map  # fmt: skip


def retrieval(
    query_codes: npt.NDArray[np.uint8],
    db_codes: npt.NDArray[np.uint8],
    query_labels: npt.ArrayLike | None = None,
    db_labels: npt.ArrayLike | None = None,
    *,
    relevant: Relation | None = None,
    exclude: Relation | None = None,
    query_rows: npt.ArrayLike | None = None,
    ties: Ties = "expected",
    combine: Combine = "min_sum",
    k: int | Sequence[int] = (10, 100, 1000),
    radius: int = 2,
    r: int | None = None,
) -> Retrieval:
    """All metrics of one ranking.

    Codes are packed, (n, ceil(r/8)) or (T, n, ceil(r/8)). Relevance is a shared label (`query_labels`, `db_labels`:
    integers, or boolean rows of several labels), or `relevant`: boolean (n_queries, n), its packed bits, a sparse
    matrix, or a list of database rows for each query. `exclude` takes the same forms, or a boolean vector (n,), and
    hides items from queries; `query_rows` hides each query's own row (-1: it has none). `r` is needed only for codes
    that do not carry their length.

    >>> query, database = np.uint8([[0b00]]), np.uint8([[0b00], [0b01], [0b10]])
    >>> result = retrieval(query, database, relevant=[[1]], k=2, radius=1)
    >>> result.precision_at_k[2], result.hit_at_k[2], round(result.mrr, 4)
    (0.25, 0.5, 0.4167)
    >>> round(result.precision_radius, 4), result.recall_radius, round(result.map_low, 4), result.map_high
    (0.3333, 1.0, 0.3333, 0.5)
    """
    given = (relevant, exclude, query_rows, ties, combine, k, radius, r, None)
    return deque(_records(query_codes, db_codes, query_labels, db_labels, *given), maxlen=1)[0]()


def iter_retrieval(
    query_codes: npt.NDArray[np.uint8],
    db_codes: npt.NDArray[np.uint8],
    query_labels: npt.ArrayLike | None = None,
    db_labels: npt.ArrayLike | None = None,
    *,
    relevant: Relation | None = None,
    exclude: Relation | None = None,
    query_rows: npt.ArrayLike | None = None,
    ties: Ties = "expected",
    combine: Combine = "min_sum",
    k: int | Sequence[int] = (10, 100, 1000),
    radius: int = 2,
    r: int | None = None,
    block: int | None = None,
) -> Iterator[Retrieval]:
    """`retrieval`, a block of queries at a time: yields the metrics of the queries so far; the last are those of all.

    Without `block` a step takes about 10 ms, so that a live run can stop in between. The result does not depend on it.
    """
    given = (relevant, exclude, query_rows, ties, combine, k, radius, r, block)
    return (record() for record in _records(query_codes, db_codes, query_labels, db_labels, *given))


def _records(
    query_codes: npt.ArrayLike,
    db_codes: npt.ArrayLike,
    query_labels: npt.ArrayLike | None,
    db_labels: npt.ArrayLike | None,
    relevant: Relation | None,
    exclude: Relation | None,
    query_rows: npt.ArrayLike | None,
    ties: str,
    combine: str,
    k: int | Sequence[int],
    radius: int,
    r: int | None,
    block: int | None,
) -> Iterator[Callable[[], Retrieval]]:
    """After each block of queries, a function that returns the metrics so far."""
    problem = search_problem(query_codes, db_codes, combine, r)
    if ties not in ("expected", "stable"):
        raise ValueError(f"ties must be 'expected' or 'stable', got {ties!r}")
    ks = cutoffs("k", k)
    radius = validation.integer("radius", radius, 0)
    flags = relevance_flags(problem.n_queries, problem.n, query_labels, db_labels, relevant, exclude, query_rows)
    size = problem.block_size(block)
    score = score_queries()
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, problem.n + 1))])
    scores = np.empty((problem.n_queries, columns.FIRST_K + columns.PER_K * len(ks)))
    counts, sums = np.zeros((problem.radii, 2), np.int64), np.zeros((problem.radii, 2))
    for start in range(0, problem.n_queries, size):
        stop = min(start + size, problem.n_queries)
        score(
            problem.query_block(start, stop), problem.database, flags(start, stop), problem.combine, ties == "stable",
            np.array(ks, np.int64), min(radius, problem.radii - 1), harmonic, scores[start:stop], counts, sums,
        )  # fmt: skip
        yield partial(make_retrieval, scores[:stop], counts, sums, ks, radius)


def make_retrieval(
    scores: Floats, counts: npt.NDArray[np.int64], sums: Floats, ks: Sequence[int], radius: int
) -> Retrieval:
    """Metrics from what a scoring kernel has filled in: means over the queries that have a relevant item."""
    R = scores[:, columns.N_RELEVANT]
    scored = np.ascontiguousarray(scores[R > 0].T)  # one row per metric
    queries = scored.shape[1]
    ball, ball_relevant = scored[columns.BALL], scored[columns.BALL_RELEVANT]
    in_radius = (ball_relevant / np.maximum(ball, 1), ball_relevant / scored[columns.N_RELEVANT], ball == 0)
    means = scored.mean(axis=1).tolist() if queries else [float("nan")] * len(scored)
    precision, recall, empty = np.mean(in_radius, axis=1).tolist() if queries else [float("nan")] * 3

    def by_k(offset: int) -> dict[int, float]:
        return {k: means[columns.FIRST_K + columns.PER_K * at + offset] for at, k in enumerate(ks)}

    auc = scored[columns.AUC]
    auc = auc[~np.isnan(auc)]  # a query that everything is relevant to has none
    retrieved, hits = counts[:, columns.RETRIEVED], counts[:, columns.RETRIEVED_RELEVANT]
    return Retrieval(
        queries=queries,
        excluded=len(scores) - queries,
        map=means[columns.AP],
        map_low=means[columns.AP_LOW],
        map_high=means[columns.AP_HIGH],
        mrr=means[columns.RECIPROCAL_RANK],
        map_at_k=by_k(0),
        precision_at_k=by_k(1),
        hit_at_k=by_k(2),
        ndcg_at_k=by_k(3),
        auc=float(auc.mean()) if len(auc) else float("nan"),
        radius=radius,
        precision_radius=precision,
        recall_radius=recall,
        empty_ball=empty,
        curve=PRCurve(
            radius=np.arange(len(counts)),
            precision=hits / np.maximum(retrieved, 1),
            recall=hits / max(R.sum(), 1.0),
            macro_precision=sums[:, columns.PRECISION] / max(queries, 1),
            macro_recall=sums[:, columns.RECALL] / max(queries, 1),
        ),
        ap=scores[:, columns.AP].copy(),
        hits={k: scores[:, columns.FIRST_K + columns.PER_K * at + 2].copy() for at, k in enumerate(ks)},
        precisions={k: scores[:, columns.FIRST_K + columns.PER_K * at + 1].copy() for at, k in enumerate(ks)},
        n_relevant=R.astype(np.int64),
    )
