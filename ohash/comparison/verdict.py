"""The verdict of a comparison in plain words, computed from its numbers: what to compress with, what follows the truth.

A difference of mAP comes with the half-width of its 95 % interval, from a bootstrap over the same queries on both
sides; several seeds may widen it (`difference_over_seeds`), and their spread is told. Methods of different supervision
are never ranked together.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.comparison.results import ComparisonSnapshot, LengthResult
from ohash.engine.judge import RERANKED
from ohash.evaluation.significance import difference_over_seeds

FLOATS = -1
# "Finds the neighbours" means this share of them.
TARGET_RECALL = 0.9
# Re-ranking more than this share of the database proves nothing about the codes.
MOST_RERANKED = 0.02
# Codes of another length are worth a word if they gain so much, or this share where all is small.
WORTH, WORTH_SHARE = 0.01, 0.1
RESAMPLES = 1000
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
        """Whether the interval leaves zero out."""
        return self.low > 0 or self.high < 0

    @property
    def magnitude(self) -> str:
        """Its size in words, without a sign: ".110 ± .015", with seeds ", ± .008 over 3 seeds"."""
        seeds = f", ± {_score(self.spread)} over {self.seeds} seeds" if self.seeds > 1 else ""
        return f"{_score(abs(self.difference))} ± {_score(self.half_width)}{seeds}"


@dataclass(frozen=True)
class Sentence:
    """What it is about, and what is said."""

    topic: str
    text: str


def gap(snapshot: ComparisonSnapshot, one: int, other: int = FLOATS) -> Gap | None:
    """The mAP of a method less that of another (or of the float vectors), query by query; None while one is missing."""
    sides = [_aps(snapshot, side) for side in (one, other)]
    seeds = [seed for seed in sides[0] if seed in sides[1] and len(sides[0][seed]) == len(sides[1][seed])]
    return _gap([sides[0][seed] for seed in seeds], [sides[1][seed] for seed in seeds])


def verdict(snapshot: ComparisonSnapshot) -> list[Sentence]:
    """Sentences, most important first; none until there are numbers."""
    if not snapshot.judged:
        return []
    said = (_follow(snapshot), _other_supervision(snapshot), _one_by_one(snapshot), _compress(snapshot))
    return [sentence for sentence in said if sentence is not None]


def truth_name(snapshot: ComparisonSnapshot) -> str:
    """What the labels of this comparison are called."""
    return TRUTHS.get(snapshot.setup.similar_by, "your pairs")


def methods_by_supervision(snapshot: ComparisonSnapshot) -> dict[str, list[int]]:
    """Methods with a score by what they learn from, best first; references win nothing."""
    found: dict[str, list[int]] = {}
    for at in sorted(snapshot.judged, key=lambda at: -snapshot.score(at, "map")):
        if not snapshot.entries[at].spec.reference:
            found.setdefault(snapshot.supervision(at), []).append(at)
    return found


# -- agrees with the labels or pairs -------------------------------------------------------------------------------


def _follow(snapshot: ComparisonSnapshot) -> Sentence:
    """Pairs first, because that is what this tool is about; else labels, else whatever there is."""
    groups = methods_by_supervision(snapshot)
    kind = next(kind for kind in ("pairs", "labels", "nothing") if kind in groups or kind == "nothing")
    topic = f"To follow {truth_name(snapshot)}"
    if kind not in groups:
        return Sentence(topic, "only references have been measured.")
    best = groups[kind][0]
    floats = f"the float vectors themselves ({DISTANCES[snapshot.setup.metric]})"
    text = f"{_name(snapshot, best)} {_against(gap(snapshot, best), floats)}"
    text += f": mAP {_score(snapshot.score(best, 'map'))}"
    text += f" to {_score(snapshot.map_float)}" if math.isfinite(snapshot.map_float) else ""
    return Sentence(topic, f"{text}.{_longer(snapshot, best, groups[kind])}")


def _other_supervision(snapshot: ComparisonSnapshot) -> Sentence | None:
    groups = methods_by_supervision(snapshot)
    if "pairs" not in groups or "labels" not in groups:
        return None
    best = groups["labels"][0]
    score = f"{_name(snapshot, best)} reaches mAP {_score(snapshot.score(best, 'map'))}"
    return Sentence("With the labels themselves", f"{score}; it is told more than pairs tell, so this is another race.")


def _one_by_one(snapshot: ComparisonSnapshot, first: int = 0) -> Sentence | None:
    """The first method against each of the others, with what they learn from."""
    others = [at for at in snapshot.judged if at != first]
    if first not in snapshot.judged or not others:
        return None
    groups: dict[str, dict[str, list[str]]] = {"ahead of": {}, "not to be told apart from": {}, "behind": {}}
    for at in sorted(others, key=lambda at: -snapshot.score(at, "map")):
        found = gap(snapshot, first, at)
        if found is None:
            continue
        how = "not to be told apart from" if not found.significant else "ahead of" if found.difference > 0 else "behind"
        by = f"{snapshot.names[at]} by {found.magnitude}" if found.significant else snapshot.names[at]
        groups[how].setdefault(snapshot.supervision(at), []).append(by)
    parts = [
        f"{how} {', '.join(several)} (learn{'s' * (len(several) == 1)} from {kind})"
        for how, kinds in groups.items()
        for kind, several in kinds.items()
    ]
    if not parts:
        return None
    return Sentence(f"{snapshot.names[first]} against each", f"{'; '.join(parts)}.")


def _longer(snapshot: ComparisonSnapshot, entry: int, rivals: list[int]) -> str:
    """What more bits would bring, to it or to one that is told the same, against the float vectors."""
    lengths = [one for one in snapshot.lengths if one.entry in rivals]
    here = next((one for one in lengths if (one.entry, one.bits) == (entry, snapshot.bits(entry))), None)
    if here is None or not snapshot.references:
        return ""
    best = max(lengths, key=lambda one: one.map)
    if best.map < here.map + min(WORTH, WORTH_SHARE * here.map):
        return ""
    found = _gap([best.ap], [snapshot.references[0].ap])
    beyond = "" if found is None else f", {'+' if found.difference > 0 else '−'}{found.magnitude} to the float vectors"
    who = "it" if best.entry == entry else snapshot.names[best.entry]
    return f" At {best.bits} bits{_first_seed(snapshot)} {who} reaches {_score(best.map)}{beyond}."


def _first_seed(snapshot: ComparisonSnapshot) -> str:
    """Codes of other lengths are learnt with one seed."""
    return ", with the first seed," if len(snapshot.comparison.seeds) > 1 else ""


# -- agrees with the original distance -----------------------------------------------------------------------------


def _compress(snapshot: ComparisonSnapshot) -> Sentence | None:
    """The smallest code without supervision that finds the neighbours, with the least re-ranking."""
    found = [
        (one.bytes, c, -one.reranked[c], one)
        for one in _codes(snapshot)
        for c in RERANKED
        if (c == 1 or 10 * c <= MOST_RERANKED * snapshot.setup.database)
        and math.isfinite(one.reranked.get(c, math.nan))
    ]
    if not found:
        return None
    topic = f"To compress {DISTANCES[snapshot.setup.metric]}"
    enough = [row for row in found if -row[2] >= TARGET_RECALL]
    size, c, recall, best = min(enough, key=lambda row: row[:3]) if enough else min(found, key=lambda row: row[2])
    how = f"with {c} × re-ranking" if c > 1 else "without re-ranking"
    share = 4 * snapshot.setup.d / max(1, size)
    text = (
        f"{snapshot.names[best.entry]} at {best.bits} bits {how}{_first_seed(snapshot)} finds {-recall:.0%} of the ten "
        f"exact neighbours, at {size:.0f} bytes a vector, 1/{share:.0f} of the floats"
    )
    if c > 1:
        text += ", which must be kept for the re-ranking"
    most = max(row[1] for row in found)
    short = "" if enough else f"; no code here reaches {TARGET_RECALL:.0%} {_with_at_most(most, snapshot)}"
    return Sentence(topic, f"{text}{short}.")


def _with_at_most(most: int, snapshot: ComparisonSnapshot) -> str:
    """How much re-ranking was allowed, and why no more."""
    allowed = f"with at most {most} × re-ranking" if most > 1 else "without re-ranking"
    beyond = next((c for c in RERANKED if c > most), None)
    if beyond is None:
        return allowed
    return f"{allowed} ({beyond} × would look at {10 * beyond / max(1, snapshot.setup.database):.0%} of the items)"


def _codes(snapshot: ComparisonSnapshot) -> list[LengthResult]:
    """Every code of a method without supervision that has been judged at its end."""
    plain = methods_by_supervision(snapshot).get("nothing", [])
    swept = [one for one in snapshot.lengths if one.entry in plain]
    known = {(one.entry, one.bits) for one in swept}
    for at in plain:
        result = snapshot.results_of(at)[0]
        if result.reranked and (at, result.bits) not in known and result.record is not None:
            scores = result.last("map"), result.last("recall_10")
            swept.append(LengthResult(at, result.bits, result.bytes, *scores, result.record.ap, result.reranked))
    return swept


# -- words and numbers ---------------------------------------------------------------------------------------------


def _against(found: Gap | None, other: str) -> str:
    if found is None:
        return f"is to be compared with {other}"
    if not found.significant:
        sign = "−" if found.difference < 0 else "+"
        return f"cannot be told apart from {other} ({sign}{_score(abs(found.difference))} ± {_score(found.half_width)})"
    verb = "beats" if found.difference > 0 else "stays behind"
    return f"{verb} {other} by {found.magnitude}"


def _name(snapshot: ComparisonSnapshot, entry: int) -> str:
    return f"{snapshot.names[entry]} at {snapshot.bits(entry)} bits (learns from {snapshot.supervision(entry)})"


def _aps(snapshot: ComparisonSnapshot, side: int) -> dict[int, npt.NDArray[np.float64]]:
    if side == FLOATS:
        return {one.seed: one.ap for one in snapshot.references}
    return {result.seed: result.record.ap for result in snapshot.results_of(side) if result.record is not None}


def _gap(ones: list[npt.NDArray[np.float64]], others: list[npt.NDArray[np.float64]]) -> Gap | None:
    if not ones:
        return None
    if np.isnan(np.concatenate(ones) - np.concatenate(others)).all():
        return None
    found = difference_over_seeds(ones, others, resamples=RESAMPLES)
    means = [float(np.nanmean(one - other)) for one, other in zip(ones, others, strict=True)]
    spread = float(np.std(means, ddof=1)) if len(means) > 1 else math.nan
    return Gap(found.difference, found.low, found.high, len(means), spread)


def _score(value: float) -> str:
    """Three decimals without the zero before the point."""
    return (
        "–" if not math.isfinite(value) else f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"
    )
