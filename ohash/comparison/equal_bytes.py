"""The codes that a comparison can recommend at equal bytes: one per method, no larger than the budget."""

from dataclasses import dataclass

from ohash.comparison.gaps import PerSeed, recalls_by_seed, scores_by_seed
from ohash.comparison.results import ComparisonSnapshot


@dataclass(frozen=True, eq=False)
class Code:
    """A method at one length: what a sentence can recommend.

    `each` and `recalls` have one array of query scores per seed: of the truth, and recall@10 of the exact neighbours.
    """

    entry: int
    bits: int
    bytes: float
    truth: float
    recall: float
    each: PerSeed
    recalls: PerSeed


def budget(snapshot: ComparisonSnapshot) -> int:
    """Bytes per item of a code of the comparison's length."""
    return -(-snapshot.comparison.options.bits // 8)


def codes_within_budget(snapshot: ComparisonSnapshot) -> list[Code]:
    """One code per method, no larger than the budget: the comparison's own, or else the longest other that fits."""
    most, codes = budget(snapshot), []
    for at in snapshot.judged:
        if snapshot.entries[at].spec.reference:
            continue
        result = snapshot.results_of(at)[0]
        if result.bytes <= most:
            scores = snapshot.score(at, snapshot.truth_column), snapshot.score(at, "recall_10")
            each = scores_by_seed(snapshot, at), recalls_by_seed(snapshot, at)
            codes.append(Code(at, result.bits, result.bytes, *scores, *each))
            continue
        fitting = [one for one in snapshot.lengths if one.entry == at and one.bytes <= most]
        if fitting:
            one = max(fitting, key=lambda length: length.bits)
            first = snapshot.comparison.seeds[0]
            recalls = {} if one.recalls is None else {first: one.recalls}
            codes.append(Code(at, one.bits, one.bytes, one.truth, one.recall_10, {first: one.each}, recalls))
    return codes


def leaders(snapshot: ComparisonSnapshot) -> tuple[Code, Code] | None:
    """At equal bytes, the code that follows the truth best and the one that keeps the distance best."""
    codes = codes_within_budget(snapshot)
    if not codes:
        return None
    return max(codes, key=lambda code: code.truth), max(codes, key=lambda code: code.recall)
