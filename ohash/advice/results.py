"""What has been measured so far: scores and costs of every contender in every split, as a viewer sees them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ohash.advice.contenders import Kind
from ohash.advice.params import AdviceParams
from ohash.advice.scoring import Scores
from ohash.core.arrays import Floats, Rows
from ohash.evaluation.significance import Difference, difference_over_seeds
from ohash.runtime.background import State

# The spread over seeds that each score is known to have (`significance.SEED_SPREADS`).
SPREAD_OF = {"recall": "recall_10", "rescored_recall": "recall_10"}


@dataclass(frozen=True, eq=False)
class ContenderResult:
    """One contender in one split. Seconds: CPU time to train and to encode all documents, and per query.

    `engine` are the seconds per query in faiss, NaN if it has no such index; `engine_note` names the index, or why not.
    `validation` is the mean truth on the validation clicks, which contenders are chosen by; NaN without any.
    """

    key: str
    split: int
    bytes: float
    scores: Scores
    validation: float
    train: float
    encode: float
    query: float
    engine: float = float("nan")
    engine_note: str = ""
    settings: str = ""


@dataclass(frozen=True)
class ContenderEntry:
    """A contender as a table names it."""

    key: str
    title: str
    kind: Kind
    bits: float


@dataclass(frozen=True, eq=False)
class AdviceSnapshot:
    """Everything measured so far. `half` are the chosen learnt contender's results with half of the clicks."""

    params: AdviceParams
    state: State = "waiting"
    title: str = ""
    n: int = 0
    d: int = 0
    clicks: int = 0
    source: str = "clicks"
    truth: str = "hit@10"
    timed: bool = False
    disjoint: bool = True  # no learnt pair holds a query that asks
    contenders: tuple[ContenderEntry, ...] = ()
    measured: tuple[ContenderResult, ...] = ()
    half: tuple[ContenderResult, ...] = ()
    splits: int = 0
    numbers: tuple[int, ...] = ()  # of the splits; 0 learns from most clicks
    queries: tuple[Rows, ...] = ()  # rows that ask in each of them
    answers: int = 0  # distinct documents that later clicks fall on
    share: float = 0.0
    activity: str = ""
    seconds: float = 0.0
    errors: dict[str, str] = field(default_factory=dict)
    note: str = ""  # about the data

    @property
    def pairs_text(self) -> str:
        """What the learnt pairs are: clicks, or pairs of one label."""
        return "clicks" if self.source == "clicks" else "pairs of one label"

    @property
    def asked(self) -> int:
        """How many queries ask; one that asks in several splits counts once."""
        return len({int(row) for rows in self.queries for row in rows})

    def results_of(self, key: str) -> list[ContenderResult]:
        """What is known of one contender, by split."""
        return sorted((one for one in self.measured if one.key == key), key=lambda one: one.split)

    def contender(self, key: str) -> ContenderEntry:
        """The contender of this key."""
        return next(one for one in self.contenders if one.key == key)

    def mean(self, key: str, score: str) -> float:
        """The mean of a score over all queries of all splits; NaN if nothing is known."""
        values = [getattr(one.scores, score) for one in self.results_of(key)]
        return float(np.mean(np.concatenate(values))) if values else float("nan")

    def cost(self, key: str, name: str) -> float:
        """The mean of bytes, train, encode or query over the splits; NaN if nothing is known."""
        values = [float(getattr(one, name)) for one in self.results_of(key)]
        return float(np.mean(values)) if values else float("nan")

    def validation(self, key: str) -> float:
        """The mean truth on the validation clicks; -1 if nothing is known."""
        values = [one.validation for one in self.results_of(key)]
        return float(np.nanmean(values)) if values and not np.isnan(values).all() else -1.0

    def measured_keys(self, kind: Kind, most_bits: float = np.inf) -> list[str]:
        """Keys of a kind's contenders of at most so many bits per dimension that are measured.

        In all splits; while there is none, in some.
        """
        some = [
            one.key
            for one in self.contenders
            if one.kind == kind and one.bits <= most_bits and self.results_of(one.key)
        ]
        return [key for key in some if len(self.results_of(key)) == self.splits] or some

    def difference(self, key: str, other: str, score: str) -> Difference:
        """A score of one contender less that of another, over the splits that both have been measured in."""
        return paired_difference(
            self.results_of(key), self.results_of(other), lambda one: getattr(one.scores, score), score
        )


def paired_difference(
    ours: Sequence[ContenderResult],
    theirs: Sequence[ContenderResult],
    values: Callable[[ContenderResult], Floats],
    score: str,
) -> Difference:
    """The mean difference over the queries of common splits, with its interval."""
    by_split = {one.split: one for one in theirs}
    both = [(values(one), values(by_split[one.split])) for one in ours if one.split in by_split]
    return difference_over_seeds(
        [one for one, _ in both], [other for _, other in both], score=SPREAD_OF.get(score, "hit_10")
    )
