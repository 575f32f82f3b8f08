"""How sure the change of a score since the first checkpoint is: paired, as the same queries are scored at both."""

import numpy as np

from ohash.evaluation.ranking import Retrieval
from ohash.evaluation.significance import change_half_width
from ohash.runtime.frames import Arrays

# Half widths of the 95 % intervals of three scores' changes since the first checkpoint.
CHANGE_ERRORS = ("map_change_error", "hit_10_change_error", "recall_10_change_error")


class ChangeErrors:
    """Remembers the scores of every query at the first checkpoint; none if nothing could be ranked there."""

    def __init__(self) -> None:
        """Nothing has been scored."""
        self.first: Arrays | None = None

    def add(self, record: Retrieval | None) -> dict[str, float]:
        """The half widths at a checkpoint by their columns, NaN where it cannot be compared with the first."""
        each = {} if record is None else _scores(record)
        if self.first is None:
            self.first = each
        return {
            f"{name}_change_error": change_half_width(each[name], first)
            for name, first in self.first.items()
            if name in each and len(each[name]) == len(first)
        }

    def restore(self, first: Arrays) -> None:
        """Take up the scores of a saved run's first checkpoint."""
        self.first = first


def _scores(record: Retrieval) -> Arrays:
    scores = {"map": record.ap, "hit_10": record.hits[10], "recall_10": record.neighbour_recall}
    return {name: np.asarray(score, np.float64) for name, score in scores.items() if score is not None}
