"""What the sentences of a verdict have in common: their form, and the names of the truth and of the distance."""

from dataclasses import dataclass

from ohash.comparison.results import ComparisonSnapshot

DISTANCES = {"l2": "the L2 distance", "cosine": "cosine", "dot": "the dot product"}
TRUTHS = {
    "label": "your labels", "track": "your tracks", "metric": "the near neighbours", "topk": "the near neighbours",
    "clicks": "your clicks", "pairs": "your pairs",
}  # fmt: skip


@dataclass(frozen=True)
class Sentence:
    """One sentence of a verdict and its topic."""

    topic: str
    text: str


def truth_name(snapshot: ComparisonSnapshot) -> str:
    """What decides relevance in this comparison: labels, tracks, neighbours, clicks or pairs."""
    return TRUTHS.get(snapshot.setup.similar_by, "your pairs")


def methods_by_supervision(snapshot: ComparisonSnapshot) -> dict[str, list[int]]:
    """Methods with a score by supervision, best first; references are left out."""
    groups: dict[str, list[int]] = {}
    for at in sorted(snapshot.judged, key=lambda at: -snapshot.score(at, snapshot.truth_column)):
        if not snapshot.entries[at].spec.reference:
            groups.setdefault(snapshot.supervision(at), []).append(at)
    return groups


def first_seed_note(snapshot: ComparisonSnapshot) -> str:
    """Codes of other lengths are learnt with the first seed only."""
    return ", with the first seed," if len(snapshot.comparison.seeds) > 1 else ""


def float_bytes(snapshot: ComparisonSnapshot) -> int:
    return 4 * snapshot.setup.d
