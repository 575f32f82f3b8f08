"""What a drift did to every method of a comparison: how deep it fell, and after how many pairs it was back."""

from dataclasses import dataclass

import numpy as np

from ohash.evaluation.drift import dip, level_before, recovery
from ohash.experiment.standing import Standing


@dataclass(frozen=True)
class Dip:
    """mAP before, how far it fell, and pairs until 95 % of the level before; NaN if that was not reached."""

    method: str
    before: float
    depth: float
    recovery: float


def dips(standing: Standing) -> list[Dip]:
    """One row a method, averaged over the seeds; empty before the drift, or without one.

    A recovery is a mean over the seeds only if all of them recovered.
    """
    edges = standing.comparison.drift.boundaries
    found = []
    for at, name in enumerate(standing.names):
        curves = [(one.checkpoints["pairs"], one.checkpoints["map"]) for one in standing.of(at)]
        after = [(x, y) for x, y in curves if edges and len(x) and x[-1] >= edges[0]]
        if after:
            rows = [(level_before(*c, edges[0]), dip(*c, edges[0]), recovery(*c, edges[0])) for c in after]
            found.append(Dip(name, *(float(value) for value in np.mean(rows, axis=0))))
    return found
