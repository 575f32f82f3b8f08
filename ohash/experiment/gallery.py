"""A query and its nearest items, as the code table finds them now, or as it found them before anything was learnt."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.evaluation.search import search
from ohash.experiment.run import Run


@dataclass(frozen=True, eq=False)
class Found:
    """Rows of the dataset: the query, its nearest items with their distance, and whether each is relevant."""

    query: int
    rows: npt.NDArray[np.int64]
    distances: npt.NDArray[np.int64]
    relevant: npt.NDArray[np.bool_]
    t: int

    @property
    def precision(self) -> float:
        """Share of relevant ones among those shown."""
        return float(self.relevant.mean()) if len(self.relevant) else 0.0


def nearest(run: Run, number: int, k: int = 10, *, before: bool = False) -> Found:
    """The k nearest items of query `number` (counted round); `before`: by the first codes of the run."""
    judge = run.judge
    at = number % len(judge.queries)
    n = len(judge.database)
    codes = run.first_codes if before else run.codes
    hide = {int(judge.own[at])} if judge.own is not None else set()
    few = min(n, k + len(hide))
    found, distance = search(codes[:, n + at : n + at + 1], codes[:, :n], few)
    keep = [q for q, item in enumerate(found[0]) if int(judge.database[item]) not in hide][:k]
    items = found[0][keep]
    wanted = judge.relevant[at]
    flags = wanted[items] if isinstance(judge.relevant, np.ndarray) else np.isin(items, wanted)
    return Found(
        query=int(judge.queries[at]),
        rows=judge.database[items],
        distances=distance[0][keep],
        relevant=np.asarray(flags, dtype=bool),
        t=0 if before else run.t,
    )
