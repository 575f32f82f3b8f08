"""The smallest unsupervised code that finds the exact neighbours, and how much re-ranking it takes."""

import math

from ohash.comparison.results import ComparisonSnapshot, LengthResult, truth_scores
from ohash.comparison.sentences import DISTANCES, Sentence, first_seed_note, float_bytes, methods_by_supervision
from ohash.engine.judge import RERANKED
from ohash.engine.narrative import amount
from ohash.number_formats import percent

TARGET_RECALL = 0.9  # recall@10 of a code that finds the neighbours
MAX_RERANKED = 0.02  # share of the database; to re-rank more proves nothing about the codes


def smallest_code(snapshot: ComparisonSnapshot) -> Sentence | None:
    """The smallest unsupervised code that finds the neighbours, with the least re-ranking."""
    candidates = [
        (one.bytes, c, -one.reranked[c], one)
        for one in _judged_codes(snapshot)
        for c in RERANKED
        if (c == 1 or 10 * c <= MAX_RERANKED * snapshot.setup.database) and math.isfinite(one.reranked.get(c, math.nan))
    ]
    if not candidates:
        return None
    topic = f"The smallest code for {DISTANCES[snapshot.setup.metric]}"
    enough = [row for row in candidates if -row[2] >= TARGET_RECALL]
    size, c, recall, best = min(enough, key=lambda row: row[:3]) if enough else min(candidates, key=lambda row: row[2])
    reranking = f"with {c} × re-ranking" if c > 1 else "without re-ranking"
    share = _of_floats(size, snapshot)
    text = (
        f"{snapshot.names[best.entry]} at {amount(best.bits, 'bit')} {reranking}{first_seed_note(snapshot)} finds "
        f"{percent(-recall)} of the ten exact neighbours, at {amount(size, 'byte')} per vector, {share}"
    )
    if c > 1:
        text += ", which must be kept for re-ranking"
    allowed = max(row[1] for row in candidates)
    if not enough:
        text += f"; no unsupervised code here reaches {percent(TARGET_RECALL)} {_reranking_text(allowed, snapshot)}"
    return Sentence(topic, f"{text}.")


def _of_floats(size: float, snapshot: ComparisonSnapshot) -> str:
    """How many of the bytes of a float vector so many are, in words."""
    floats = float_bytes(snapshot)
    if size == floats:
        return "as many as the floats"
    if size > floats:
        return f"{size / floats:.1f} times the floats"
    return f"1/{floats / size:.0f} of the floats" if 2 * size <= floats else f"{percent(size / floats)} of the floats"


def _reranking_text(allowed: int, snapshot: ComparisonSnapshot) -> str:
    """How much re-ranking was allowed, and why not more."""
    text = f"with at most {allowed} × re-ranking" if allowed > 1 else "without re-ranking"
    beyond = next((c for c in RERANKED if c > allowed), None)
    if beyond is None:
        return text
    return f"{text} ({beyond} × would re-rank {percent(10 * beyond / max(1, snapshot.setup.database))} of the items)"


def _judged_codes(snapshot: ComparisonSnapshot) -> list[LengthResult]:
    """Every code of an unsupervised method that was judged at the end of its run."""
    unsupervised = methods_by_supervision(snapshot).get("none", [])
    swept = [one for one in snapshot.lengths if one.entry in unsupervised]
    lengths = {(one.entry, one.bits) for one in swept}
    for at in unsupervised:
        result = snapshot.results_of(at)[0]
        if result.reranked and (at, result.bits) not in lengths and result.record is not None:
            column = snapshot.truth_column
            scores = result.last(column), result.last("recall_10"), truth_scores(result.record, column)
            swept.append(LengthResult(at, result.bits, result.bytes, *scores, result.reranked))
    return swept
