"""Ghost: what is kept of an earlier run so that it can be drawn behind the present one."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.engine.params import ExperimentParams
from ohash.engine.snapshot import Snapshot
from ohash.plots.thinning import kept_rows

MAX_POINTS = 200


@dataclass(frozen=True, eq=False)
class Ghost:
    """The curves of a run under a name, at most 200 points each."""

    label: str
    params: ExperimentParams
    columns: dict[str, npt.NDArray[np.float32]]
    checkpoints: dict[str, npt.NDArray[np.float32]]


def comparable(ghost: Ghost, params: ExperimentParams) -> bool:
    """Whether it is of the same data: scores on other data have no place on the same axis."""
    return (ghost.params.dataset, ghost.params.content) == (params.dataset, params.content)


def ghost_of(now: Snapshot, label: str) -> Ghost:
    """A thinned copy in float32, even on a logarithmic pair axis."""
    return Ghost(label, now.params, _thin(now.columns), _thin(now.checkpoints))


def _thin(columns: dict[str, npt.NDArray[np.float64]]) -> dict[str, npt.NDArray[np.float32]]:
    rows = kept_rows(np.maximum(1, columns["pairs"]), MAX_POINTS, "log")
    return {name: column[rows].astype(np.float32) for name, column in columns.items()}
