"""RunState: what a run knows between two pairs, and all that its parts see of it.

The training set, the checkpoints, the kept states and the snapshot are given this, never the `Run` that drives them.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.engine.params import ExperimentParams
from ohash.engine.world import World
from ohash.models import registry
from ohash.models.base import HasherSpec
from ohash.runtime.clock import Clock


class RunState:
    """Parameters, world and method; the pair count t, the stage of the world, its mapped rows Z, the rows seen."""

    def __init__(self, params: ExperimentParams, world: World) -> None:
        """Build the hasher; it has seen nothing yet."""
        self.params = params
        self.world = world
        self.spec: HasherSpec = registry.find(params.method)
        self.hasher: Any = self.spec.build(params.model)
        self.t = 0
        self.end = params.run.pairs if world.length is None else min(params.run.pairs, world.length)
        self.stage = 0
        self.Z = world.mapped(0)
        self.clock = Clock()
        self.seen = np.zeros(world.dataset.n, dtype=bool)
        self.seen[world.warm_rows] = True

    @property
    def uses_similarity_matrix(self) -> bool:
        """Whether a batch method is fitted to a matrix of similarities, because no labels define them."""
        return self.spec.pairwise and self.world.stream(self.stage).similarity.name not in ("label", "track")

    def labels_of(self, rows: npt.NDArray[np.int64], stage: int) -> npt.NDArray[Any] | None:
        """Labels for the methods that want them; tracks serve as labels where those define similarity."""
        data = self.world.drift.labels(self.world.dataset, stage)
        known = data.tracks if self.world.stream(stage).similarity.name == "track" else data.labels
        if known is None and self.spec.supervision == "labels" and not self.uses_similarity_matrix:
            raise ValueError(f"{self.spec.title} learns from labels, and {data.title} has none; pick OH, or other data")
        return None if known is None else known[rows]

    def apply_changes(self, hasher: Any, t: int) -> set[str]:
        """Set on a hasher what changes at exactly pair t; the names of what has changed."""
        changes = [change for change in self.params.changes if change.at == t]
        for change in changes:
            setattr(hasher, change.name, change.value)
        return {change.name for change in changes}
