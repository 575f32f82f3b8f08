"""Replay: the model as it was before any pair, learnt again from the nearest of a few states that are kept."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.engine.state import RunState

KEPT_STATES = 16
State = tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]


class KeptStates:
    """States of the hasher by pair count; of too many every second is dropped, never the first or the last."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.states: dict[int, State] = {}

    def keep(self, t: int, hasher: Any) -> None:
        """Remember the hasher as it is before pair t."""
        self.states[t] = _copied(hasher.state())
        if len(self.states) > KEPT_STATES:
            for old in sorted(self.states)[1:-1:2]:
                del self.states[old]

    def hasher_before(self, t: int, run: RunState) -> Any:
        """The hasher as it was before pair t: the nearest state, and what the run taught it from there."""
        start = max(at for at in self.states if at <= t)
        hasher: Any = run.spec.restore(*_copied(self.states[start]))
        stops = sorted({*(change.at for change in run.params.changes), *run.world.drift.boundaries, start, t})
        stops = [at for at in stops if start <= at <= t]
        for at, stop in zip(stops, [*stops[1:], t], strict=True):
            run.apply_changes(hasher, at)
            if at < stop:
                _learn_again(hasher, run, at, stop)
        return hasher


def _copied(state: State) -> State:
    values, arrays = state
    return values, {name: array.copy() for name, array in arrays.items()}


def _learn_again(hasher: Any, run: RunState, start: int, stop: int) -> None:
    """Pairs start to stop, of one stage, taught to another hasher; a batch method changes at checkpoints only."""
    stage = run.world.drift.stage(start)
    i, j, s = run.world.pairs(start, stop)
    if run.spec.consumes == "pairs":
        hasher.learn(run.world.mapped(stage), i, j, s)
    elif run.spec.consumes in ("points", "chunks"):
        rows = np.stack([i, j], axis=1).ravel()
        hasher.learn_points(run.world.mapped(stage), rows, run.labels_of(rows, stage))
