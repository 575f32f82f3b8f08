"""Standing: all a viewer needs of a comparison at one moment, whole and immutable.

What a drift did to every method of a comparison: how deep it fell, and after how many pairs it was back.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.comparison.costs import Cost
from ohash.comparison.params import Comparison, Entry
from ohash.engine.params import ExperimentParams
from ohash.evaluation.drift_metrics import dip, level_before, recovery
from ohash.evaluation.ranking import Retrieval
from ohash.notebook import card_html, curves_html

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MethodResult:
    """One method with one seed: its checkpoints, and the record of the last of them.

    `reranked` is recall@10 after the nearest c · 10 codes have been sorted again by the float vectors, by c; `share`
    how far a fit in another process is.
    """

    entry: int
    seed: int
    t: int
    state: str
    error: str
    params: ExperimentParams
    checkpoints: Mapping[str, Floats]
    record: Retrieval | None = None
    bits: int = 0
    bytes: int = 0
    reranked: Mapping[int, float] = field(default_factory=dict)
    share: float = 0.0

    @property
    def judged(self) -> bool:
        """Whether there is a score."""
        return self.record is not None

    def last(self, column: str) -> float:
        """The last value of a column; NaN if there is none."""
        found = self.checkpoints.get(column, np.empty(0))
        return float(found[-1]) if len(found) else math.nan


@dataclass(frozen=True, eq=False)
class Reference:
    """The float vectors, ranked by their own distance: a reference, not a ceiling."""

    seed: int
    ap: Floats

    @property
    def map(self) -> float:
        """Mean over the queries that have an answer."""
        return float(np.nanmean(self.ap)) if not np.isnan(self.ap).all() else math.nan


@dataclass(frozen=True, eq=False)
class LengthResult:
    """A method with another number of bits, judged at the end."""

    entry: int
    bits: int
    bytes: int
    map: float
    recall_10: float
    ap: Floats
    reranked: Mapping[int, float]


@dataclass(frozen=True)
class Trial:
    """Parameters that were tried, and their mAP on the validation queries; NaN with the reason if it failed."""

    entry: int
    values: tuple[tuple[str, Any], ...]
    map: float
    error: str = ""


@dataclass(frozen=True)
class EvaluationSetup:
    """What the numbers stand on: the data, the truth, the queries."""

    title: str = ""
    n: int = 0
    d: int = 0
    metric: str = "l2"
    similar_by: str = ""
    queries: int = 0
    database: int = 0
    database_seen: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ComparisonSnapshot:
    """The comparison now. `entries` are in force: with tuned parameters after the trials.

    `missing` are the codes of other lengths that could not be learnt, with the reason.
    """

    comparison: Comparison
    entries: tuple[Entry, ...]
    state: str
    phase: str
    t: int
    end: int
    results: tuple[MethodResult, ...] = ()
    references: tuple[Reference, ...] = ()
    costs: tuple[Cost | None, ...] = ()
    lengths: tuple[LengthResult, ...] = ()
    trials: tuple[Trial, ...] = ()
    setup: EvaluationSetup = EvaluationSetup()
    seq: int = 0
    error: str = ""
    missing: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What the methods are called."""
        return self.comparison.names

    def supervision(self, entry: int) -> str:
        """What a method learns from: "nothing", "pairs" or "labels"."""
        return self.entries[entry].spec.supervision.replace("none", "nothing")

    def results_of(self, entry: int) -> list[MethodResult]:
        """The tracks of a method: the finished ones, or that which runs if none is; what went wrong does not count."""
        mine = [result for result in self.results if result.entry == entry and result.judged and not result.error]
        return [result for result in mine if result.state == "done"] or mine

    def score(self, entry: int, column: str) -> float:
        """The last value of a column, averaged over the seeds."""
        found = [result.last(column) for result in self.results_of(entry)]
        found = [value for value in found if math.isfinite(value)]
        return float(np.mean(found)) if found else math.nan

    def spread(self, entry: int, column: str) -> float:
        """Standard deviation over the seeds; NaN with one."""
        found = [result.last(column) for result in self.results_of(entry)]
        return float(np.std(found, ddof=1)) if len(found) > 1 else math.nan

    def reranked(self, entry: int, c: int) -> float:
        """Recall@10 with c times re-ranking, averaged over the seeds."""
        found = [result.reranked[c] for result in self.results_of(entry) if c in result.reranked]
        return float(np.mean(found)) if found else math.nan

    def record(self, entry: int) -> Retrieval | None:
        """The ranking of the first seed."""
        found = self.results_of(entry)
        return found[0].record if found else None

    def bits(self, entry: int) -> int:
        """Bits of an item in all: T · r, and what is stored beside; 0 while it is not known."""
        found = [result.bits for result in self.results if result.entry == entry and result.bits]
        return found[0] if found else 0

    @property
    def map_float(self) -> float:
        """The mAP of the float vectors, averaged over the seeds."""
        found = [one.map for one in self.references if math.isfinite(one.map)]
        return float(np.mean(found)) if found else math.nan

    @property
    def errors(self) -> dict[str, str]:
        """What went wrong, by the name of the method."""
        found = {result.entry: result.error for result in self.results if result.error}
        return {self.names[entry]: error for entry, error in found.items()}

    def _repr_html_(self) -> str:
        """A line per method with both truths, and the mAP of each over the pairs."""
        facts = [f"{self.setup.title}: {self.state}"]
        curves = {}
        for at, name in enumerate(self.names):
            scores = f"mAP {self.score(at, 'map'):.3f}, recall@10 {self.score(at, 'recall_10'):.3f}"
            facts.append(f"{name} ({self.bits(at) or '–'} bits): {self.errors.get(name, scores)}")
            checkpoints = self.results_of(at)[0].checkpoints if self.results_of(at) else {}
            if "map" in checkpoints:
                curves[name] = checkpoints["pairs"], checkpoints["map"]
        return card_html("Comparison", facts, curves_html("mAP over the pairs", curves))

    @property
    def judged(self) -> list[int]:
        """Methods that have a score; of those that learn, only after they have learnt something."""
        return [at for at in range(len(self.entries)) if math.isfinite(self.score(at, "map")) and self._learnt(at)]

    def _learnt(self, entry: int) -> bool:
        still = self.entries[entry].spec.consumes == "nothing"
        return still or any(result.last("pairs") > 0 for result in self.results_of(entry))


@dataclass(frozen=True)
class Dip:
    """mAP before, how far it fell, and pairs until 95 % of the level before; NaN if that was not reached."""

    method: str
    before: float
    depth: float
    recovery: float


def dips(snapshot: ComparisonSnapshot) -> list[Dip]:
    """One row a method, averaged over the seeds; empty before the drift, or without one.

    A recovery is a mean over the seeds only if all of them recovered.
    """
    edges = snapshot.comparison.drift.boundaries
    found = []
    for at, name in enumerate(snapshot.names):
        curves = [(one.checkpoints["pairs"], one.checkpoints["map"]) for one in snapshot.results_of(at)]
        after = [(x, y) for x, y in curves if edges and len(x) and x[-1] >= edges[0]]
        if after:
            rows = [(level_before(*c, edges[0]), dip(*c, edges[0]), recovery(*c, edges[0])) for c in after]
            found.append(Dip(name, *(float(value) for value in np.mean(rows, axis=0))))
    return found
