"""The codes of a run judged on other queries than its curves: tune on validation, report once on test."""

from collections.abc import Generator
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.experiment.judge import Judge
from ohash.experiment.run import Run


def judged_on(going: Run, part: str) -> tuple[dict[str, Any], npt.NDArray[np.float64]]:
    """Scores on the "validation" or "test" queries, and the average precision of each query (NaN: nothing relevant)."""
    judge = Judge(going.world, going.stage, part)
    codes = going.appraisal.table.encode(
        going.Z[judge.rows]
    )  # by the hash of the table: stale codes show their cost here, too
    seen = going.seen if going.params.run.database == "seen" else None
    distances = _all(going.appraisal.distances(judge, going.appraisal.table.made_by))
    scores = _all(judge.evaluate(codes if codes.ndim == 3 else codes[None], going.hasher.r, seen, distances))
    record = scores.pop("record", None)
    if record is None:  # fewer than two items have been seen
        return {**scores, "queries": 0, "queries_without_relevant_items": 0}, np.empty(0)
    counts = {"queries": record.queries, "queries_without_relevant_items": record.excluded}
    return {**scores, **counts}, np.asarray(record.ap)


def _all(work: Generator[None, None, Any]) -> Any:
    """What a generator returns, after all its slices."""
    while True:
        try:
            next(work)
        except StopIteration as finished:
            return finished.value
