"""A query and its nearest items, as the code table finds them now, or as the first codes did.

A viewer sees a typical query first, chosen before anything is learnt and kept for the whole run.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Counts, Floats, Singles
from ohash.core.rows import RowView, gather
from ohash.engine.frozen import Estimates, FrozenEstimates
from ohash.engine.judge import CLICKS, Judge
from ohash.engine.run import Run
from ohash.evaluation.neighbours import iter_exact_neighbours
from ohash.evaluation.packed_codes import search
from ohash.models.base import AsymmetricHasher
from ohash.runtime.progress import drain

TEN = 10
MAX_QUERIES = 100


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Rows of the dataset: the query, its nearest items with their distance, and whether each is relevant.

    `judged` is false where only some pairs are labelled: an item that is not relevant is then only not known to be.
    Distances are whole numbers of bits, or real numbers for a method that estimates the original distance.
    """

    query: int
    rows: npt.NDArray[np.int64]
    distances: Counts | Singles
    relevant: npt.NDArray[np.bool_]
    t: int
    judged: bool = True

    @property
    def precision(self) -> float:
        """Share of relevant ones among those shown."""
        return float(self.relevant.mean()) if len(self.relevant) else 0.0


def nearest(run: Run, number: int, k: int = 10, *, row: int | None = None, before: bool = False) -> Neighbours:
    """The k nearest items of query `number` (counted round), or of a row that is searched itself.

    `before`: by the first codes of the run.
    """
    judge = run.checkpoints.judge
    n = len(judge.database)
    asked = judge.queries[number % len(judge.queries)] if row is None else row
    own = np.flatnonzero(judge.database == asked)
    column = own if len(own) else n + np.flatnonzero(judge.queries == asked)
    if not len(column):  # of other data, or of another split
        return nearest(run, number, k, before=before)
    few = min(n, k + len(own))
    nearest_items: npt.NDArray[np.int64]
    distance: Counts | Singles
    if run.spec.asymmetric:
        nearest_items, distance = _by_estimate(run, int(asked), few, before=before)
    else:
        codes = run.checkpoints.first_codes if before else run.checkpoints.codes
        nearest_items, distance = search(codes[:, column[:1]], codes[:, :n], few)
    keep = np.flatnonzero(judge.database[nearest_items[0]] != asked)[:k]
    items = nearest_items[0][keep]
    return Neighbours(
        query=int(asked),
        rows=judge.database[items],
        distances=distance[0][keep],
        relevant=judge.is_relevant(int(asked), items),
        t=0 if before else run.t,
        judged=run.world.stream(run.stage).similarity.name not in CLICKS,
    )


def _by_estimate(run: Run, row: int, k: int, *, before: bool) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """The k nearest items of one row by the method's own distance; ties by index."""
    hasher = run.frozen.hasher if before and isinstance(run.frozen, FrozenEstimates) else run.checkpoints.table.made_by
    D = (
        Estimates(cast(AsymmetricHasher, hasher), run.Z, run.checkpoints.judge.database)
        .store()
        .distances(np.array([row]))
    )
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def typical_query(run: Run) -> int:
    """The number of the query whose share of relevant items among ten is nearest to the mean of all queries.

    Both by the first codes and by the original vectors, which codes approach while they learn; later codes have no
    say, so the answer is the same at any moment of a stage. A method that estimates distances has no codes to search:
    its first query is taken.
    """
    if run.spec.asymmetric:
        return 0
    judge, n = run.checkpoints.judge, len(run.checkpoints.judge.database)
    by_codes = precision(judge, nearest_codes(run.checkpoints.first_codes, n))
    by_vectors = precision(judge, _nearest_vectors(judge))
    rise = by_vectors.mean() - by_codes.mean()
    far = np.abs(by_codes - by_codes.mean()) + np.abs(by_vectors - by_vectors.mean())
    far += (by_vectors - by_codes) * rise < 0
    return int(far.argmin())


def precision(judge: Judge, items: npt.NDArray[np.int64]) -> Floats:
    """The share of relevant items in each row of `items`, one row for each of the first queries."""
    queries = judge.queries[:MAX_QUERIES]
    return np.array([judge.is_relevant(int(row), near).mean() for row, near in zip(queries, items, strict=True)])


def nearest_codes(codes: npt.NDArray[np.uint8], n: int) -> npt.NDArray[np.int64]:
    """The items whose codes differ least from those of the first queries; codes of n items, then of the queries."""
    items, _ = search(codes[:, n : n + MAX_QUERIES], codes[:, :n], min(TEN, n))
    return np.asarray(items, np.int64)


def _nearest_vectors(judge: Judge) -> npt.NDArray[np.int64]:
    """The items nearest to the first queries by the original distance."""
    X, queries = judge.world.raw(judge.stage), judge.queries[:MAX_QUERIES]
    own = None if judge.own is None else judge.own[:MAX_QUERIES]
    k, metric = min(TEN, len(judge.database) - 1), judge.world.dataset.metric
    items = drain(iter_exact_neighbours(gather(X, queries), RowView(X, judge.database), k, metric, query_rows=own))
    return np.asarray(items, np.int64)
