"""The codes that a comparison can recommend at equal bytes: one per method, no larger than the budget.

Two codes are alike in a score unless the interval of their gap excludes zero (`comparison.gaps`). Beside them stands
what a random order of the database reaches, and whether any code is better than that.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ohash.comparison.gaps import (
    Gap,
    PerSeed,
    RowsBySeed,
    gap_over_seeds,
    recalls_by_seed,
    score_per_query,
    score_text,
    scores_by_seed,
)
from ohash.comparison.results import ComparisonSnapshot
from ohash.evaluation.significance import half_width

BY_CHANCE = {"mrr": "MRR", "ndcg_10": "nDCG@10", "auc_later": "AUC"}


@dataclass(frozen=True, eq=False)
class Code:
    """A method at one length: what a sentence can recommend.

    `each` and `recalls` have one array of query scores per seed: of the truth, and recall@10 of the exact neighbours;
    `queries` are those that judge, by seed.
    """

    entry: int
    bits: int
    bytes: float
    truth: float
    recall: float
    each: PerSeed
    recalls: PerSeed
    queries: RowsBySeed


def budget(snapshot: ComparisonSnapshot) -> int:
    """Bytes per item of a code of the comparison's length."""
    return -(-snapshot.comparison.options.bits // 8)


@lru_cache(maxsize=4)
def codes_within_budget(snapshot: ComparisonSnapshot) -> tuple[Code, ...]:
    """One code per method, no larger than the budget: the comparison's own, or else the longest other that fits."""
    limit, codes = budget(snapshot), list[Code]()
    for at in snapshot.judged:
        if snapshot.entries[at].spec.reference:
            continue
        result = snapshot.results_of(at)[0]
        if result.bytes <= limit:
            scores = snapshot.score(at, snapshot.truth_column), snapshot.score(at, "recall_10")
            each = scores_by_seed(snapshot, at), recalls_by_seed(snapshot, at)
            codes.append(Code(at, result.bits, result.bytes, *scores, *each, snapshot.queries))
            continue
        fitting = [one for one in snapshot.lengths if one.entry == at and one.bytes <= limit]
        if fitting:
            one = max(fitting, key=lambda length: length.bits)
            first = snapshot.comparison.seeds[0]
            recalls = {} if one.recalls is None else {first: one.recalls}
            codes.append(Code(at, one.bits, one.bytes, one.truth, one.recall_10, {first: one.each}, recalls, {}))
    return tuple(codes)


@lru_cache(maxsize=128)
def truth_gap(one: Code, other: Code, column: str) -> Gap | None:
    """The truth score of one code minus that of another; None without common queries."""
    return gap_over_seeds(one.each, other.each, column, one.queries)


@lru_cache(maxsize=128)
def recall_gap(one: Code, other: Code) -> Gap | None:
    """Recall@10 of one code minus that of another; None without common queries."""
    return gap_over_seeds(one.recalls, other.recalls, "recall_10", one.queries)


def indistinguishable_by_truth(best: Code, codes: Sequence[Code], column: str) -> list[Code]:
    """The other codes whose truth score cannot be told apart from that of the best."""
    return [code for code in codes if code is not best and not is_significant(truth_gap(best, code, column))]


def indistinguishable_by_recall(best: Code, codes: Sequence[Code]) -> list[Code]:
    """The other codes whose recall@10 cannot be told apart from that of the best."""
    return [code for code in codes if code is not best and not is_significant(recall_gap(best, code))]


def is_significant(difference: Gap | None) -> bool:
    """Whether there is a difference, and its interval excludes zero."""
    return difference is not None and difference.significant


def leaders(snapshot: ComparisonSnapshot) -> tuple[Code, Code] | None:
    """At equal bytes, the code with the highest truth score and the one with the highest recall@10."""
    codes = [code for code in codes_within_budget(snapshot) if math.isfinite(code.recall)]
    if not codes:
        return None
    return max(codes, key=lambda code: code.truth), max(codes, key=lambda code: code.recall)


def _level(snapshot: ComparisonSnapshot) -> float:
    """The truth score of a random order, NaN if it is not known."""
    return snapshot.chance.get("map", math.nan) if snapshot.truth_column == "map" else snapshot.setup.chance


def chance_text(snapshot: ComparisonSnapshot) -> str:
    """The level of a random order, in brackets; "" if it is not known."""
    chance = _level(snapshot)
    if snapshot.truth_column == "map" or not math.isfinite(chance):
        return f" (chance {score_text(chance)})" if math.isfinite(chance) else ""
    others = [f"{name} {score_text(snapshot.chance[key])}" for key, name in BY_CHANCE.items() if key in snapshot.chance]
    more = f"; by chance also {', '.join(others)}" if others else ""
    return f" (chance {score_text(chance)}{more})"


def random_remark(snapshot: ComparisonSnapshot, codes: Sequence[Code]) -> str:
    """A remark if the 95 % interval over the queries of every code reaches down to the level of a random order.

    A random order does not vary with the seed, so one seed needs no wider interval here.
    """
    chance = _level(snapshot)
    each = [score_per_query(code.each, code.queries) for code in codes if code.each]
    if not each or not math.isfinite(chance) or any(np.nanmean(one) - half_width(one) > chance for one in each):
        return ""
    return f"By {snapshot.truth_label} no code here can be told apart from a random order"
