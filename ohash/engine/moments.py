"""Moments: what a viewer saw of a run at each checkpoint, so that the run can be shown again from its start.

A history is cumulative, so a moment keeps no curves: they are the part of the final ones up to its pair count. It keeps
the numbers, the histograms of the recent pairs, and the nearest items of one query.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ohash.core.arrays import Array
from ohash.engine.gallery import Neighbours, nearest, typical_query
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Moment:
    """A run at one pair count, and the nearest items of a query then."""

    now: Snapshot
    gallery: Neighbours


class Moments:
    """The moments of one run, in order. A run that was loaded from disk has those since then.

    `query` is the number of the query in the gallery: the one a viewer sees first, chosen at the first moment.
    """

    def __init__(self) -> None:
        """None yet."""
        self.query: int | None = None
        self._kept: list[Moment] = []

    def copy(self) -> "Moments":
        """The moments so far, for a second run that goes on from here."""
        other = Moments()
        other.query, other._kept = self.query, list(self._kept)
        return other

    def watch(self, run: Run) -> None:
        """Keep the moment if a checkpoint has just been judged; to be called after every step."""
        judged = run.checkpoints.scores
        if run.evaluating or not len(judged) or judged["pairs"][-1] != run.t:
            return
        if not self._kept or self._kept[-1].now.t < run.t:
            self._kept.append(_without_curves(self._moment(run, "done" if run.done else "running")))

    def with_curves(self, run: Run, state: str = "running") -> list[tuple[Snapshot, Neighbours]]:
        """Every moment with its curves and the gallery of one query, the run as it is now at the end."""
        last = self._moment(run, "done" if run.done else state)
        kept = [one for one in self._kept if one.now.t < run.t]
        return [*((_with_curves(one.now, last.now), one.gallery) for one in kept), (last.now, last.gallery)]

    def _moment(self, run: Run, state: str) -> Moment:
        if self.query is None:
            self.query = typical_query(run)
        return Moment(run.snapshot(state), nearest(run, self.query))


def _without_curves(moment: Moment) -> Moment:
    none = np.empty((0, 0))
    return replace(moment, now=replace(moment.now, columns={}, checkpoints={}, class_map=none))


def _with_curves(then: Snapshot, last: Snapshot) -> Snapshot:
    columns, checkpoints = (rows_until(some, then.t) for some in (last.columns, last.checkpoints))
    return replace(then, columns=columns, checkpoints=checkpoints)


def rows_until(columns: Mapping[str, Array], t: int) -> dict[str, Array]:
    """The rows of a history up to a pair count."""
    rows = int(np.searchsorted(columns["pairs"], t, side="right"))
    return {name: column[:rows] for name, column in columns.items()}
