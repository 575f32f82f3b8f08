"""A comparison at one moment, as immutable data: results by method and seed, references, costs, lengths, trials.

`dips` measures what a drift did to each method: how far its mAP fell, and after how many pairs it recovered.
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

    `reranked` maps c to recall@10 after the nearest c · 10 codes are re-ranked by the float vectors; `share` is the
    progress of a fit in another process.
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
        values = self.checkpoints.get(column, np.empty(0))
        return float(values[-1]) if len(values) else math.nan


@dataclass(frozen=True, eq=False)
class Reference:
    """The float vectors, ranked by the original distance: a reference, not an upper bound."""

    seed: int
    ap: Floats

    @property
    def map(self) -> float:
        """Mean over the queries that have a relevant item."""
        return float(np.nanmean(self.ap)) if not np.isnan(self.ap).all() else math.nan


@dataclass(frozen=True, eq=False)
class LengthResult:
    """A method at one code length, judged at the end of its run."""

    entry: int
    bits: int
    bytes: int
    map: float
    recall_10: float
    ap: Floats
    reranked: Mapping[int, float]


@dataclass(frozen=True)
class Trial:
    """One tuning trial: its parameters and their mAP on the validation queries; NaN and an error if it failed."""

    entry: int
    values: tuple[tuple[str, Any], ...]
    map: float
    error: str = ""


@dataclass(frozen=True)
class EvaluationSetup:
    """What the numbers are measured on: the data, the truth, the queries."""

    title: str = ""
    n: int = 0
    d: int = 0
    metric: str = "l2"
    similar_by: str = ""
    queries: int = 0
    database: int = 0
    database_seen: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonSnapshot:
    """The comparison now. `entries` are those in use: with tuned parameters after the trials.

    `missing` lists the code lengths that could not be learnt, each with its reason; `ceilings` are, for each method,
    recall@10 of exact search among the features it works on.
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
    ceilings: tuple[float, ...] = ()
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
        """The supervision of a method: "none", "pairs" or "labels"."""
        return self.entries[entry].spec.supervision

    def results_of(self, entry: int) -> list[MethodResult]:
        """The judged results of a method: the finished ones, or else the running one; failed runs are left out."""
        judged = [result for result in self.results if result.entry == entry and result.judged and not result.error]
        return [result for result in judged if result.state == "done"] or judged

    def score(self, entry: int, column: str) -> float:
        """The last value of a column, averaged over the seeds."""
        return _mean([result.last(column) for result in self.results_of(entry)])

    def spread(self, entry: int, column: str) -> float:
        """Standard deviation over the seeds; NaN with one."""
        values = [result.last(column) for result in self.results_of(entry)]
        return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan

    def reranked(self, entry: int, c: int) -> float:
        """Recall@10 with c × re-ranking, averaged over the seeds."""
        values = [result.reranked[c] for result in self.results_of(entry) if c in result.reranked]
        return float(np.mean(values)) if values else math.nan

    def ceiling(self, entry: int) -> float:
        """Recall@10 of exact search among a method's features; NaN before it is measured."""
        return self.ceilings[entry] if self.ceilings else math.nan

    def record(self, entry: int) -> Retrieval | None:
        """The ranking of the first seed."""
        results = self.results_of(entry)
        return results[0].record if results else None

    def bits(self, entry: int) -> int:
        """Total bits per item: T · r and what is stored with them; 0 while unknown."""
        return next((result.bits for result in self.results if result.entry == entry and result.bits), 0)

    @property
    def map_float(self) -> float:
        """The mAP of the float vectors, averaged over the seeds."""
        return _mean([one.map for one in self.references])

    @property
    def errors(self) -> dict[str, str]:
        """What went wrong, by method name."""
        return {self.names[result.entry]: result.error for result in self.results if result.error}

    def _repr_html_(self) -> str:
        """One line per method with both scores, and the curves of mAP."""
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
        """Methods that have a score, and have learnt something if they learn at all."""
        return [at for at in range(len(self.entries)) if math.isfinite(self.score(at, "map")) and self._learnt(at)]

    def _learnt(self, entry: int) -> bool:
        fixed = self.entries[entry].spec.consumes == "nothing"
        return fixed or any(result.last("pairs") > 0 for result in self.results_of(entry))


@dataclass(frozen=True)
class Dip:
    """mAP before the drift, how far it fell, and pairs until 95 % of that level; NaN if it was not reached."""

    method: str
    before: float
    depth: float
    recovery: float


def dips(snapshot: ComparisonSnapshot) -> list[Dip]:
    """One row per method, averaged over the seeds; empty before the drift, or without one.

    The recovery is NaN unless every seed recovered.
    """
    edges = snapshot.comparison.drift.boundaries
    rows = []
    for at, name in enumerate(snapshot.names):
        curves = [(one.checkpoints["pairs"], one.checkpoints["map"]) for one in snapshot.results_of(at)]
        after = [(x, y) for x, y in curves if edges and len(x) and x[-1] >= edges[0]]
        if after:
            per_seed = [(level_before(*c, edges[0]), dip(*c, edges[0]), recovery(*c, edges[0])) for c in after]
            rows.append(Dip(name, *(float(value) for value in np.mean(per_seed, axis=0))))
    return rows


def supervision_text(supervision: str, *, several: bool = False) -> str:
    """The supervision of one method, or of several, as a phrase.

    >>> supervision_text("none"), supervision_text("pairs"), supervision_text("labels", several=True)
    ('unsupervised', 'learns from pairs', 'learn from labels')
    """
    return "unsupervised" if supervision == "none" else f"learn{'' if several else 's'} from {supervision}"


def _mean(values: list[float]) -> float:
    finite = [value for value in values if math.isfinite(value)]
    return float(np.mean(finite)) if finite else math.nan
