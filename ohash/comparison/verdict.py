"""The verdict of a comparison in sentences computed from its numbers: what agrees with the truth, what compresses best.

A difference of mAP comes with the half-width of its 95 % interval, from a bootstrap over the same queries on both
sides; several seeds may widen it (`difference_over_seeds`), and their spread is given too. Methods of different
supervision are never ranked together.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.comparison.results import ComparisonSnapshot, LengthResult, supervision_text
from ohash.engine.judge import RERANKED
from ohash.evaluation.significance import difference_over_seeds

FLOATS = -1
# A code "finds the neighbours" at this recall@10.
TARGET_RECALL = 0.9
# Re-ranking more than this share of the database proves nothing about the codes.
MOST_RERANKED = 0.02
# Codes of another length are mentioned if they gain so much mAP, or this share of a small mAP.
WORTH, WORTH_SHARE = 0.01, 0.1
RESAMPLES = 1000
AHEAD, INDISTINGUISHABLE, BEHIND = "ahead of", "not distinguishable from", "behind"
DISTANCES = {"l2": "the L2 distance", "cosine": "cosine", "dot": "the dot product"}
TRUTHS = {
    "label": "your labels", "track": "your tracks", "metric": "the near neighbours", "topk": "the near neighbours",
    "clicks": "your clicks", "pairs": "your pairs",
}  # fmt: skip


@dataclass(frozen=True)
class Gap:
    """A difference of mAP with its interval over queries; `spread` is over seeds, NaN with one."""

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
    def magnitude(self) -> str:
        """The absolute difference as text: ".110 ± .015", with several seeds ", ± .008 over 3 seeds"."""
        seeds = f", ± {_score(self.spread)} over {self.seeds} seeds" if self.seeds > 1 else ""
        return f"{_score(abs(self.difference))} ± {_score(self.half_width)}{seeds}"


@dataclass(frozen=True)
class Sentence:
    """One sentence of a verdict and its topic."""

    topic: str
    text: str


def gap(snapshot: ComparisonSnapshot, one: int, other: int = FLOATS) -> Gap | None:
    """MAP of a method minus that of another (or of the float vectors), paired by query; None while one is missing."""
    sides = [_aps(snapshot, side) for side in (one, other)]
    seeds = [seed for seed in sides[0] if seed in sides[1] and len(sides[0][seed]) == len(sides[1][seed])]
    return _gap([sides[0][seed] for seed in seeds], [sides[1][seed] for seed in seeds])


def verdict(snapshot: ComparisonSnapshot) -> list[Sentence]:
    """Sentences, most important first; none until there are numbers."""
    if not snapshot.judged:
        return []
    sentences = (_agreement(snapshot), _label_supervision(snapshot), _one_by_one(snapshot), _compression(snapshot))
    return [sentence for sentence in sentences if sentence is not None]


def truth_name(snapshot: ComparisonSnapshot) -> str:
    """What decides relevance in this comparison: labels, tracks, neighbours, clicks or pairs."""
    return TRUTHS.get(snapshot.setup.similar_by, "your pairs")


def methods_by_supervision(snapshot: ComparisonSnapshot) -> dict[str, list[int]]:
    """Methods with a score by supervision, best first; references are left out."""
    groups: dict[str, list[int]] = {}
    for at in sorted(snapshot.judged, key=lambda at: -snapshot.score(at, "map")):
        if not snapshot.entries[at].spec.reference:
            groups.setdefault(snapshot.supervision(at), []).append(at)
    return groups


# -- agreement with the labels or pairs ----------------------------------------------------------------------------


def _agreement(snapshot: ComparisonSnapshot) -> Sentence:
    """The best method that learns from pairs; without one, from labels; else the best unsupervised one."""
    groups = methods_by_supervision(snapshot)
    kind = next(kind for kind in ("pairs", "labels", "none") if kind in groups or kind == "none")
    topic = f"To match {truth_name(snapshot)}"
    if kind not in groups:
        return Sentence(topic, "only reference methods have been measured.")
    best = groups[kind][0]
    floats = f"the float vectors themselves ({DISTANCES[snapshot.setup.metric]})"
    text = f"{_name(snapshot, best)} {_against(gap(snapshot, best), floats)}"
    text += f": mAP {_score(snapshot.score(best, 'map'))}"
    text += f" against {_score(snapshot.map_float)}" if math.isfinite(snapshot.map_float) else ""
    return Sentence(topic, f"{text}.{_other_length(snapshot, best, groups[kind])}")


def _label_supervision(snapshot: ComparisonSnapshot) -> Sentence | None:
    groups = methods_by_supervision(snapshot)
    if "pairs" not in groups or "labels" not in groups:
        return None
    best = groups["labels"][0]
    score = f"{_name(snapshot, best)} reaches mAP {_score(snapshot.score(best, 'map'))}"
    return Sentence(
        "With the labels themselves", f"{score}; labels carry more information than pairs, so the two are not compared."
    )


def _one_by_one(snapshot: ComparisonSnapshot, first: int = 0) -> Sentence | None:
    """The first method against each of the others, grouped by supervision."""
    others = [at for at in snapshot.judged if at != first]
    if first not in snapshot.judged or not others:
        return None
    groups: dict[str, dict[str, list[str]]] = {AHEAD: {}, INDISTINGUISHABLE: {}, BEHIND: {}}
    for at in sorted(others, key=lambda at: -snapshot.score(at, "map")):
        difference = gap(snapshot, first, at)
        if difference is None:
            continue
        relation = AHEAD if difference.difference > 0 else BEHIND
        text = f"{snapshot.names[at]} by {difference.magnitude}"
        if not difference.significant:
            relation, text = INDISTINGUISHABLE, snapshot.names[at]
        groups[relation].setdefault(snapshot.supervision(at), []).append(text)
    parts = [
        f"{relation} {', '.join(methods)} ({supervision_text(kind, several=len(methods) > 1)})"
        for relation, kinds in groups.items()
        for kind, methods in kinds.items()
    ]
    if not parts:
        return None
    return Sentence(f"{snapshot.names[first]} against each", f"{'; '.join(parts)}.")


def _other_length(snapshot: ComparisonSnapshot, entry: int, rivals: list[int]) -> str:
    """What another length would gain, for this method or one of the same supervision, against the float vectors."""
    lengths = [one for one in snapshot.lengths if one.entry in rivals]
    here = next((one for one in lengths if (one.entry, one.bits) == (entry, snapshot.bits(entry))), None)
    if here is None or not snapshot.references:
        return ""
    best = max(lengths, key=lambda one: one.map)
    if best.map < here.map + min(WORTH, WORTH_SHARE * here.map):
        return ""
    floats = _gap([best.ap], [snapshot.references[0].ap])
    margin = ""
    if floats is not None:
        relation = "above" if floats.difference > 0 else "below"
        margin = f", {floats.magnitude} {relation} the float vectors"
    method = "it" if best.entry == entry else snapshot.names[best.entry]
    return f" At {best.bits} bits{_first_seed(snapshot)} {method} reaches {_score(best.map)}{margin}."


def _first_seed(snapshot: ComparisonSnapshot) -> str:
    """Codes of other lengths are learnt with the first seed only."""
    return ", with the first seed," if len(snapshot.comparison.seeds) > 1 else ""


# -- agreement with the original distance --------------------------------------------------------------------------


def _compression(snapshot: ComparisonSnapshot) -> Sentence | None:
    """The smallest unsupervised code that finds the neighbours, with the least re-ranking."""
    candidates = [
        (one.bytes, c, -one.reranked[c], one)
        for one in _codes(snapshot)
        for c in RERANKED
        if (c == 1 or 10 * c <= MOST_RERANKED * snapshot.setup.database)
        and math.isfinite(one.reranked.get(c, math.nan))
    ]
    if not candidates:
        return None
    topic = f"To compress {DISTANCES[snapshot.setup.metric]}"
    enough = [row for row in candidates if -row[2] >= TARGET_RECALL]
    size, c, recall, best = min(enough, key=lambda row: row[:3]) if enough else min(candidates, key=lambda row: row[2])
    reranking = f"with {c} × re-ranking" if c > 1 else "without re-ranking"
    floats = 4 * snapshot.setup.d
    ratio = f"1/{floats / max(1, size):.0f} of" if size <= floats else f"{size / floats:.1f} times"
    text = (
        f"{snapshot.names[best.entry]} at {best.bits} bits {reranking}{_first_seed(snapshot)} finds {-recall:.0%} of "
        f"the ten exact neighbours, at {size:.0f} bytes per vector, {ratio} the floats"
    )
    if c > 1:
        text += ", which must be kept for re-ranking"
    most = max(row[1] for row in candidates)
    shortfall = "" if enough else f"; no code here reaches {TARGET_RECALL:.0%} {_with_at_most(most, snapshot)}"
    return Sentence(topic, f"{text}{shortfall}.")


def _with_at_most(most: int, snapshot: ComparisonSnapshot) -> str:
    """How much re-ranking was allowed, and why not more."""
    allowed = f"with at most {most} × re-ranking" if most > 1 else "without re-ranking"
    beyond = next((c for c in RERANKED if c > most), None)
    if beyond is None:
        return allowed
    return f"{allowed} ({beyond} × would re-rank {10 * beyond / max(1, snapshot.setup.database):.0%} of the items)"


def _codes(snapshot: ComparisonSnapshot) -> list[LengthResult]:
    """Every code of an unsupervised method that was judged at the end of its run."""
    unsupervised = methods_by_supervision(snapshot).get("none", [])
    swept = [one for one in snapshot.lengths if one.entry in unsupervised]
    known = {(one.entry, one.bits) for one in swept}
    for at in unsupervised:
        result = snapshot.results_of(at)[0]
        if result.reranked and (at, result.bits) not in known and result.record is not None:
            scores = result.last("map"), result.last("recall_10")
            swept.append(LengthResult(at, result.bits, result.bytes, *scores, result.record.ap, result.reranked))
    return swept


# -- formatting ----------------------------------------------------------------------------------------------------


def _against(difference: Gap | None, other: str) -> str:
    if difference is None:
        return f"has not been compared with {other} yet"
    if not difference.significant:
        sign = "−" if difference.difference < 0 else "+"
        size = f"{sign}{_score(abs(difference.difference))} ± {_score(difference.half_width)}"
        return f"is {INDISTINGUISHABLE} {other} ({size})"
    verb = "beats" if difference.difference > 0 else "trails"
    return f"{verb} {other} by {difference.magnitude}"


def _name(snapshot: ComparisonSnapshot, entry: int) -> str:
    return f"{snapshot.names[entry]} at {snapshot.bits(entry)} bits ({supervision_text(snapshot.supervision(entry))})"


def _aps(snapshot: ComparisonSnapshot, side: int) -> dict[int, npt.NDArray[np.float64]]:
    if side == FLOATS:
        return {one.seed: one.ap for one in snapshot.references}
    return {result.seed: result.record.ap for result in snapshot.results_of(side) if result.record is not None}


def _gap(ones: list[npt.NDArray[np.float64]], others: list[npt.NDArray[np.float64]]) -> Gap | None:
    if not ones:
        return None
    if np.isnan(np.concatenate(ones) - np.concatenate(others)).all():
        return None
    pooled = difference_over_seeds(ones, others, resamples=RESAMPLES)
    means = [float(np.nanmean(one - other)) for one, other in zip(ones, others, strict=True)]
    spread = float(np.std(means, ddof=1)) if len(means) > 1 else math.nan
    return Gap(pooled.difference, pooled.low, pooled.high, len(means), spread)


def _score(value: float) -> str:
    """Three decimals without the leading zero."""
    return (
        "–" if not math.isfinite(value) else f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"
    )
