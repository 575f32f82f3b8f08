"""Which query a viewer sees first: one whose story agrees with the mean of all queries."""

import numpy as np

from ohash.core.arrays import Floats
from ohash.engine.run import Run
from ohash.evaluation.packed_codes import search

TEN = 10
ONE_ITEM = 0.101  # of ten
MOST_QUERIES = 100
NEAR = 0.2  # a query this near to the mean is kept, so that the picture seldom changes


def typical_query(run: Run, current: int | None = None) -> int:
    """The number of the query whose share of relevant items among ten is nearest to the mean, at the start and now.

    `current` is kept while its share is near the mean and has moved the way the mean has. A method that estimates
    distances has no codes to search: its first query is taken.
    """
    if run.spec.asymmetric:
        return 0
    start, now = (_precision(run, before=before) for before in (True, False))
    rise = now.mean() - start.mean()
    if current is not None and current < len(now):
        along = (now[current] - start[current]) * np.sign(rise) >= -ONE_ITEM
        if along and abs(now[current] - now.mean()) <= NEAR:
            return current
    far = np.abs(start - start.mean()) + np.abs(now - now.mean()) + ((now - start) * rise < 0)
    return int(far.argmin())


def _precision(run: Run, *, before: bool) -> Floats:
    """Precision@10 of the first queries by the first codes or the present ones."""
    judge, n = run.checkpoints.judge, len(run.checkpoints.judge.database)
    codes = run.checkpoints.first_codes if before else run.checkpoints.codes
    queries = judge.queries[:MOST_QUERIES]
    items, _ = search(codes[:, n : n + len(queries)], codes[:, :n], min(TEN, n))
    return np.array([judge.is_relevant(int(row), near).mean() for row, near in zip(queries, items, strict=True)])
