"""What a batch method is fitted to: the rows that have come, each as it looked when it came last.

Before the first change of the world that is how they look now, and nothing is copied.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ohash.core.frames import Arrays

if TYPE_CHECKING:
    from ohash.experiment.run import Run

Rows = npt.NDArray[np.int64]
MOST_SIMILARITIES = 10_000  # rows of which a matrix of similarities is made
Labels = npt.NDArray[Any] | None


class Arrivals:
    """The rows of one run, with their vectors and labels as they came."""

    def __init__(self, run: "Run") -> None:
        """The world is as it was at first."""
        self._run = run
        self.stage = np.zeros(run.world.dataset.n, np.int16)  # in which each row came last
        self._Z: npt.NDArray[Any] | None = None
        self._labels: Labels = None

    @property
    def rows(self) -> Rows:
        """Those that have come, or all there are; first the warm-up: a long fit can then follow elsewhere."""
        run = self._run
        if run.params.run.fit_to == "all" and run.fitting.fitted is not None:
            return run.world.stream(run.stage).similarity.pool
        return np.flatnonzero(run.seen)

    def data(self) -> Arrays:
        """What `fit_to` takes: X, the vectors of these rows, and y, their labels; or X of some, and which are similar.

        A matrix of similarities grows with the square of the rows, so it is that of a sample, as large as the method
        says it learns from.
        """
        run, rows = self._run, self.rows
        now = self._Z is None or run.params.run.fit_to == "all"
        if run.told_similarities:
            most = min(MOST_SIMILARITIES, int(getattr(run.hasher.params, "labelled", MOST_SIMILARITIES)))
            order = np.random.default_rng([run.params.seed, len(rows)]).permutation(len(rows))
            rows = np.sort(rows[order[:most]])
        Z = run.Z if now else self._Z
        assert Z is not None
        found: Arrays = {"X": np.ascontiguousarray(Z[rows])}
        if run.told_similarities:
            similar = run.world.stream(run.stage).similarity.relevant(rows, rows)
            return {**found, "similar": similar | similar.T}
        labels = run.labels_of(rows, run.stage) if now else None if self._labels is None else self._labels[rows]
        return found if labels is None else {**found, "y": labels}

    def version(self) -> tuple[int, ...]:
        """Changes whenever there is something new to fit to; of all there are, whenever the world changes."""
        run = self._run
        renewed = int(np.count_nonzero(self.stage == run.stage)) if run.stage else 0
        return len(self.rows), run.stage if run.params.run.fit_to == "all" else 0, renewed

    def leave(self) -> None:
        """The world is about to change: what has come stays as it was."""
        if self._Z is None:
            self._remember(self._run.Z, self._run.stage)

    def come(self, rows: Rows) -> None:
        """Rows as they look now."""
        if self._Z is not None:
            self._renew(rows, self._run.stage, self._run.Z)

    def restore(self, stage: npt.NDArray[np.int16]) -> None:
        """The rows of a saved run, as they came."""
        mapped = self._run.world.mapped
        self._remember(mapped(0), 0)
        for one in np.unique(stage[stage > 0]).tolist():
            self._renew(np.flatnonzero(stage == one), one, mapped(one))

    def _remember(self, Z: npt.NDArray[Any], stage: int) -> None:
        labels = self._run.labels_of(np.arange(len(Z)), stage)
        self._Z, self._labels = np.array(Z), None if labels is None else np.array(labels)

    def _renew(self, rows: Rows, stage: int, Z: npt.NDArray[Any]) -> None:
        assert self._Z is not None
        self.stage[rows], self._Z[rows] = stage, Z[rows]
        if self._labels is not None:
            self._labels[rows] = self._run.labels_of(rows, stage)


def fit_to(hasher: Any, found: Arrays) -> None:
    """Fit a batch method to what `Arrivals.data` gives."""
    if "similar" in found:
        hasher.fit_similar(found["X"], found["similar"])
    else:
        hasher.fit(found["X"], found.get("y"))
