"""Which query a viewer sees first: a typical one, chosen before anything is learnt and kept for the whole run."""

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats
from ohash.core.rows import RowView
from ohash.engine.judge import Judge
from ohash.engine.run import Run
from ohash.evaluation.neighbours import iter_exact_neighbours
from ohash.evaluation.packed_codes import search
from ohash.runtime.progress import drain

TEN = 10
MOST_QUERIES = 100


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
    queries = judge.queries[:MOST_QUERIES]
    return np.array([judge.is_relevant(int(row), near).mean() for row, near in zip(queries, items, strict=True)])


def nearest_codes(codes: npt.NDArray[np.uint8], n: int) -> npt.NDArray[np.int64]:
    """The items whose codes differ least from those of the first queries; codes of n items, then of the queries."""
    items, _ = search(codes[:, n : n + MOST_QUERIES], codes[:, :n], min(TEN, n))
    return np.asarray(items, np.int64)


def _nearest_vectors(judge: Judge) -> npt.NDArray[np.int64]:
    """The items nearest to the first queries by the original distance."""
    X, queries = judge.world.raw(judge.stage), judge.queries[:MOST_QUERIES]
    own = None if judge.own is None else judge.own[:MOST_QUERIES]
    k, metric = min(TEN, len(judge.database) - 1), judge.world.dataset.metric
    items = drain(iter_exact_neighbours(X[queries], RowView(X, judge.database), k, metric, query_rows=own))
    return np.asarray(items, np.int64)
