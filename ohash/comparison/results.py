"""A comparison at one moment, as immutable data: results by method and seed, references, costs, lengths, trials.

`dips` measures what a drift did to each method: how far its score fell, and after how many pairs it recovered.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ohash.comparison.costs import Cost
from ohash.comparison.params import Comparison, Entry
from ohash.core.arrays import Floats, Rows
from ohash.core.parameters import FrozenSettings
from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.params import ExperimentParams
from ohash.evaluation.drift_metrics import dip, level_before, recovery
from ohash.evaluation.ranking import Retrieval
from ohash.evaluation.significance import seeds_text
from ohash.repr_html import card_html, curves_html


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
    """The float vectors, ranked by the original distance: a reference, not an upper bound.

    `scores` has the score of every query by column, as `iter_float_scores` names them; `queries` are their rows.
    """

    seed: int
    scores: Mapping[str, Floats]
    queries: Rows

    def mean(self, column: str) -> float:
        """Mean over the queries that have a relevant item."""
        values = self.scores.get(column, np.full(1, math.nan))
        return float(np.nanmean(values)) if not np.isnan(values).all() else math.nan


@dataclass(frozen=True, eq=False)
class LengthResult:
    """A method at one code length, judged at the end of its run.

    `each` has the truth score of every query, `recalls` its recall@10 of the exact neighbours.
    """

    entry: int
    bits: int
    bytes: int
    truth: float
    recall_10: float
    each: Floats
    reranked: Mapping[int, float]
    recalls: Floats | None = None


@dataclass(frozen=True)
class Trial:
    """One tuning trial: its parameters and their truth score on validation queries; NaN and an error if it failed."""

    entry: int
    values: FrozenSettings
    truth: float
    error: str = ""


@dataclass(frozen=True)
class EvaluationSetup:
    """What the numbers are measured on: the data, the truth, the queries.

    `chance` is hit@10 of a random order, `warm_up` how many points came before the first pair; 0 is not known.
    """

    title: str = ""
    n: int = 0
    d: int = 0
    metric: str = "l2"
    similar_by: str = ""
    queries: int = 0
    database: int = 0
    database_seen: bool = True
    chance: float = math.nan
    notes: tuple[str, ...] = ()
    warm_up: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonSnapshot:
    """The comparison now. `entries` are those in use: with tuned parameters after the trials.

    `missing` lists the code lengths that could not be learnt, each with its reason; `ceilings` are, for each method,
    recall@10 of exact search among the features it works on; `chance` has the scores of a random order by column.
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
    chance: Mapping[str, float] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """What the methods are called."""
        return self.comparison.names

    @property
    def queries(self) -> dict[int, Rows]:
        """The rows that judge, by seed."""
        return {one.seed: one.queries for one in self.references}

    def supervision(self, entry: int) -> str:
        """What a method was given here: "none", "pairs" or "labels"."""
        return self.entries[entry].spec.supervision_by(self.setup.similar_by)

    def features_text(self, entry: int) -> str:
        """The features that a method works on here; few points are few anchors."""
        features, points = self.comparison.features_of(self.entries[entry]), self.setup.warm_up
        given = replace(features, m=min(features.m, points)) if points else features
        return given.in_metric(self.setup.metric).text

    def results_of(self, entry: int) -> list[MethodResult]:
        """The judged results of a method: of the ended seeds, or else what there is of the first; no failed runs."""
        judged = [result for result in self.results if result.entry == entry and result.judged and not result.error]
        done = [result for result in judged if result.state == "done"]
        return [result for result in done if result.seed in self.ended_seeds] or done or judged

    @property
    def ended_seeds(self) -> tuple[int, ...]:
        """The seeds with which every method has ended, or failed: only these compare like with like."""
        ended = {(result.entry, result.seed) for result in self.results if result.state in ("done", "error")}
        entries = range(len(self.entries))
        return tuple(seed for seed in self.comparison.seeds if all((at, seed) in ended for at in entries))

    @property
    def seeds_text(self) -> str:
        """How many seeds the numbers are of, in words that are true before the last has ended."""
        ended, total = len(self.ended_seeds), len(self.comparison.seeds)
        if ended == total:
            return seeds_text(total)
        if not ended:
            return "so far; it has not ended" if total == 1 else f"so far; none of {total} seeds has ended"
        return f"{ended} of {total} seeds {'has' if ended == 1 else 'have'} ended"

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
    def truth_column(self) -> str:
        """The score that says how well a method follows the truth: mAP, or hit@10 for clicks and pairs."""
        return truth_column(self.setup.similar_by)

    @property
    def truth_label(self) -> str:
        """The name of that score."""
        return TRUTH_SCORES[self.truth_column]

    @property
    def floats(self) -> float:
        """The truth score of the float vectors, averaged over the seeds."""
        return self.float_score(self.truth_column)

    def float_score(self, column: str) -> float:
        """A score of the float vectors, averaged over the seeds; NaN if they were not given it."""
        return _mean([one.mean(column) for one in self.references])

    @property
    def errors(self) -> dict[str, str]:
        """What went wrong, by method name."""
        return {self.names[result.entry]: result.error for result in self.results if result.error}

    def __repr__(self) -> str:
        """Data, state and the names of the methods."""
        return f"<Comparison on {self.setup.title}, {self.state}: {', '.join(self.names)}>"

    def _repr_html_(self) -> str:
        """One line per method with both scores, and the curves of mAP."""
        facts = [f"{self.setup.title}: {self.state}"]
        curves = {}
        for at, name in enumerate(self.names):
            truth = f"{self.truth_label} {self.score(at, self.truth_column):.3f}"
            scores = f"{truth}, recall@10 {self.score(at, 'recall_10'):.3f}"
            facts.append(f"{name} ({self.bits(at) or '–'} bits): {self.errors.get(name, scores)}")
            checkpoints = self.results_of(at)[0].checkpoints if self.results_of(at) else {}
            if self.truth_column in checkpoints:
                curves[name] = checkpoints["pairs"], checkpoints[self.truth_column]
        title = f"{self.truth_label} over the pairs"
        return card_html("Comparison", facts, curves_html(title, curves))

    @property
    def judged(self) -> list[int]:
        """Methods that have a score, and have learnt something if they learn at all."""
        return [
            at
            for at in range(len(self.entries))
            if math.isfinite(self.score(at, self.truth_column)) and self._learnt(at)
        ]

    def _learnt(self, entry: int) -> bool:
        fixed = self.entries[entry].spec.consumes == "nothing"
        return fixed or any(result.last("pairs") > 0 for result in self.results_of(entry))


@dataclass(frozen=True)
class Dip:
    """The truth score before the drift, how far it fell, and pairs until 95 % of that level; NaN if never reached."""

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
        results, truth = snapshot.results_of(at), snapshot.truth_column
        curves = [(one.checkpoints["pairs"], one.checkpoints[truth]) for one in results]
        after = [(x, y) for x, y in curves if edges and len(x) and x[-1] >= edges[0]]
        if after:
            per_seed = [(level_before(*c, edges[0]), dip(*c, edges[0]), recovery(*c, edges[0])) for c in after]
            rows.append(Dip(name, *(float(value) for value in np.mean(per_seed, axis=0))))
    return rows


def truth_scores(record: Retrieval, column: str) -> Floats:
    """The truth score of every query."""
    return record.ap if column == "map" else record.hits[10]


def supervision_text(supervision: str, *, several: bool = False) -> str:
    """The supervision of one method, or of several, as a phrase.

    >>> supervision_text("none"), supervision_text("pairs"), supervision_text("labels", several=True)
    ('unsupervised', 'learns from pairs', 'learn from labels')
    """
    return "unsupervised" if supervision == "none" else f"learn{'' if several else 's'} from {supervision}"


def _mean(values: list[float]) -> float:
    finite = [value for value in values if math.isfinite(value)]
    return float(np.mean(finite)) if finite else math.nan
