"""RunState: what a run knows between two pairs, and all that its parts see of it.

The training set, the checkpoints, the kept states and the snapshot are given this, never the `Run` that drives them.
`KeptStates` replays: the model as it was before any pair, learnt again from the nearest of a few states that are kept.
"""

from typing import cast

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Labels
from ohash.engine.params import ExperimentParams
from ohash.engine.world import World
from ohash.models import registry
from ohash.models.base import HasherSpec, OnlineHasher, PairHasher, PointHasher
from ohash.runtime.clock import Clock
from ohash.runtime.frames import Frame


class RunState:
    """Parameters, world and method; the pair count t, the stage of the world, its mapped rows Z, the rows seen."""

    def __init__(self, params: ExperimentParams, world: World) -> None:
        """Build the hasher; it has seen nothing yet."""
        self.params = params
        self.world = world
        self.spec: HasherSpec = registry.find(params.method)
        self.hasher: OnlineHasher = self.spec.build(params.model)
        self.t = 0
        self.end = params.run.pairs if world.length is None else min(params.run.pairs, world.length)
        self.stage = 0
        self.Z = world.mapped(0)
        self.clock = Clock()
        self.auto_C: float | None = None  # C as the warm-up chose it, if it was to
        self.seen = np.zeros(world.dataset.n, dtype=bool)
        self.seen[world.warm_rows] = True

    @property
    def uses_similarity_matrix(self) -> bool:
        """Whether a batch method is fitted to a matrix of similarities, because no labels define them."""
        return self.spec.pairwise and self.world.stream(self.stage).similarity.name not in ("label", "track")

    def labels_of(self, rows: npt.NDArray[np.int64], stage: int) -> Labels | None:
        """Labels for the methods that want them; tracks serve as labels where those define similarity."""
        data = self.world.drift.labels(self.world.dataset, stage)
        labels = data.tracks if self.world.stream(stage).similarity.name == "track" else data.labels
        if labels is None and self.spec.supervision == "labels" and not self.uses_similarity_matrix:
            raise ValueError(f"{self.spec.title} learns from labels, and {data.title} has none; pick OH, or other data")
        return None if labels is None else labels[rows]

    def apply_changes(self, hasher: OnlineHasher, t: int) -> set[str]:
        """Set on a hasher what changes at exactly pair t; the names of what has changed."""
        changes = [change for change in self.params.changes if change.at == t]
        for change in changes:
            setattr(hasher, change.name, change.value)
        return {change.name for change in changes}


KEPT_STATES = 16
State = Frame


class KeptStates:
    """States of the hasher by pair count; of too many every second is dropped, never the first or the last."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.states: dict[int, State] = {}

    def keep(self, t: int, hasher: OnlineHasher) -> None:
        """Remember the hasher as it is before pair t."""
        self.states[t] = _copy(hasher.state())
        if len(self.states) > KEPT_STATES:
            for old in sorted(self.states)[1:-1:2]:
                del self.states[old]

    def hasher_before(self, t: int, run: RunState) -> OnlineHasher:
        """The hasher as it was before pair t: the nearest state, and what the run taught it from there."""
        start = max(at for at in self.states if at <= t)
        hasher = run.spec.restore(*_copy(self.states[start]))
        stops = sorted({*(change.at for change in run.params.changes), *run.world.drift.boundaries, start, t})
        stops = [at for at in stops if start <= at <= t]
        for at, stop in zip(stops, [*stops[1:], t], strict=True):
            run.apply_changes(hasher, at)
            if at < stop:
                _learn_again(hasher, run, at, stop)
        return hasher


def _copy(state: State) -> State:
    values, arrays = state
    return values, {name: array.copy() for name, array in arrays.items()}


def _learn_again(hasher: OnlineHasher, run: RunState, start: int, stop: int) -> None:
    """Pairs start to stop, of one stage, taught to another hasher; a batch method changes at checkpoints only."""
    stage = run.world.drift.stage(start)
    i, j, s = run.world.pairs(start, stop)
    if run.spec.consumes == "pairs":
        cast(PairHasher, hasher).learn(run.world.mapped(stage), i, j, s)
    elif run.spec.consumes in ("points", "chunks"):
        rows = np.stack([i, j], axis=1).ravel()
        cast(PointHasher, hasher).learn_points(run.world.mapped(stage), rows, run.labels_of(rows, stage))
