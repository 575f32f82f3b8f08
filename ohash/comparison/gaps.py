"""Differences of a score (mAP, hit@10, recall@10) between two methods, paired by query and seed, with intervals."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.comparison.results import ComparisonSnapshot, truth_scores
from ohash.core.arrays import Rows
from ohash.evaluation.significance import (
    ENOUGH_SEEDS,
    align_queries,
    difference_over_seeds,
    few_seeds_margin,
    half_width,
    mean_per_query,
    seeds_text,
)

FLOATS = -1
RESAMPLES = 1000
PerSeed = dict[int, npt.NDArray[np.float64]]
RowsBySeed = Mapping[int, Rows]


@dataclass(frozen=True)
class Gap:
    """A difference of scores with its interval; `spread` is over seeds, NaN with one."""

    difference: float
    low: float
    high: float
    seeds: int
    spread: float

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    @property
    def significant(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0

    @property
    def size(self) -> str:
        """The absolute difference as text: ".110 ± .015"; without an interval for fewer than three seeds."""
        interval = f" ± {score_text(self.half_width)}" if self.seeds >= ENOUGH_SEEDS else ""
        return f"{score_text(abs(self.difference))}{interval}"

    @property
    def magnitude(self) -> str:
        """The absolute difference and the number of seeds: ".110 ± .015 over 3 seeds", or ".110 (one seed)"."""
        seeds = seeds_text(self.seeds)
        return f"{self.size} over {seeds}" if self.seeds >= ENOUGH_SEEDS else f"{self.size} ({seeds})"


def gap(snapshot: ComparisonSnapshot, entry: int, other: int = FLOATS) -> Gap | None:
    """The truth score of a method minus that of another, or of the float vectors; None while one is missing."""
    sides = scores_by_seed(snapshot, entry), scores_by_seed(snapshot, other)
    return gap_over_seeds(*sides, snapshot.truth_column, snapshot.queries)


def scores_by_seed(snapshot: ComparisonSnapshot, side: int) -> PerSeed:
    """The truth score of every query, by seed."""
    column = snapshot.truth_column
    if side == FLOATS:
        return {one.seed: one.scores[column] for one in snapshot.references if column in one.scores}
    results = snapshot.results_of(side)
    return {one.seed: truth_scores(one.record, column) for one in results if one.record is not None}


def recalls_by_seed(snapshot: ComparisonSnapshot, entry: int) -> PerSeed:
    """Recall@10 of the exact neighbours of every query, by seed."""
    records = {one.seed: one.record for one in snapshot.results_of(entry)}
    return {
        seed: record.neighbour_recall
        for seed, record in records.items()
        if record is not None and record.neighbour_recall is not None
    }


def gap_over_seeds(one: PerSeed, other: PerSeed, score: str, queries: RowsBySeed) -> Gap | None:
    """The gap of a score (as in `significance.SEED_SPREADS`) on the seeds and queries that both sides have.

    `queries` are the rows that judge, by seed: those that seeds share count once.
    """
    seeds = [seed for seed in one if seed in other and len(one[seed]) == len(other[seed])]
    if not seeds:
        return None
    (ones, shared), (others, _) = (_align({seed: side[seed] for seed in seeds}, queries) for side in (one, other))
    if np.isnan(np.concatenate(ones) - np.concatenate(others)).all():
        return None
    pooled = difference_over_seeds(ones, others, resamples=RESAMPLES, score=score, same_queries=shared)
    means = [float(np.nanmean(one - other)) for one, other in zip(ones, others, strict=True)]
    spread = float(np.std(means, ddof=1)) if len(means) > 1 else math.nan
    return Gap(pooled.difference, pooled.low, pooled.high, len(means), spread)


def score_per_query(scores: PerSeed, queries: RowsBySeed) -> npt.NDArray[np.float64]:
    """The scores of all queries of all seeds; where the seeds share their queries, one mean per query."""
    each, shared = _align(scores, queries)
    return mean_per_query(each) if shared else np.concatenate([np.empty(0), *each])


def _align(scores: PerSeed, queries: RowsBySeed) -> tuple[list[npt.NDArray[np.float64]], bool]:
    return align_queries(list(scores.values()), [queries.get(seed) for seed in scores])


@dataclass(frozen=True)
class Decline:
    """A method whose truth score ends below that of its start, by more than chance explains."""

    entry: int
    start: float
    end: float


def declines(snapshot: ComparisonSnapshot) -> list[Decline]:
    """The methods that end below their start, beyond the 95 % interval of their end.

    The interval is that of the queries' mean, at least that of the seeds' mean, and wider with fewer than three seeds.
    """
    column, rows = snapshot.truth_column, []
    for at in snapshot.judged:
        results = [one for one in snapshot.results_of(at) if len(one.checkpoints.get(column, ())) > 1]
        changes = np.array([one.checkpoints[column][-1] - one.checkpoints[column][0] for one in results])
        changes = changes[np.isfinite(changes)]
        if not len(changes):
            continue
        scores = {one.seed: truth_scores(one.record, column) for one in results if one.record is not None}
        each = score_per_query(scores, snapshot.queries)
        widths = [half_width(each), half_width(changes) if len(changes) >= ENOUGH_SEEDS else 0.0]
        half = float(np.nanmax(widths)) + few_seeds_margin(len(changes), column)
        if changes.mean() < -half:
            start = float(np.mean([one.checkpoints[column][0] for one in results]))
            rows.append(Decline(at, start, snapshot.score(at, column)))
    return rows


def score_text(value: float) -> str:
    """Three decimals without the leading zero."""
    return (
        "–" if not math.isfinite(value) else f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"
    )
