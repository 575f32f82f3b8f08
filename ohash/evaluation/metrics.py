"""One row per metric: charts, tables and tooltips read label, unit, direction and limits from here.

The two truths are kept apart because they move in opposite directions while OH learns: "labels" asks whether the codes
agree with the labels or pairs, "distance" whether they agree with the distance of the float vectors. "stream" metrics
come from the incoming pairs, "codes" ones from the codes alone, "cost" ones say what it took.
"""

import math
from dataclasses import dataclass
from typing import Literal

Truth = Literal["labels", "distance", "stream", "codes", "cost"]
Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Metric:
    """How a number is shown. A label with @k or ≤ρ is completed by `name`."""

    key: str
    label: str
    truth: Truth
    help: str
    unit: str = ""
    better: Better = "higher"
    lo: float = 0.0
    hi: float = 1.0

    def name(self, value: int | None = None, times: int | None = None) -> str:
        """The label with its k or radius put in, and with how many times as many were re-ranked.

        >>> METRICS["map_at_k"].name(1000), METRICS["precision_radius"].name(2), METRICS["map"].name()
        ('mAP@1000 (min)', 'precision within 2', 'mAP')
        >>> METRICS["recall_with_reranking"].name(10, 4)
        'recall@10, 4 x re-ranked'
        """
        label = self.label if times is None else self.label.replace(" c x ", f" {times} x ")
        return label if value is None else label.replace("@k", f"@{value}").replace("ρ", str(value))


_ROWS = (
    Metric(
        "map", "mAP", "labels",
        "Mean average precision over the whole database, exact mean over all orders inside ties. Queries without any "
        "relevant item are left out and counted.",
    ),
    Metric("map_low", "mAP, relevant last in ties", "labels", "The least mAP that some order inside ties can give."),
    Metric("map_high", "mAP, relevant first in ties", "labels", "The most mAP that some order inside ties can give."),
    Metric(
        "map_at_k", "mAP@k (min)", "labels",
        "AP of the first k only, divided by min(R, k), R the relevant items of the database; expected over ties.",
    ),
    Metric("precision_at_k", "precision@k", "labels", "Share of relevant items among the first k, expected over ties."),
    Metric("hit_at_k", "hit@k", "labels", "Share of queries with a relevant item in the first k, expected over ties."),
    Metric("mrr", "MRR", "labels", "Mean of 1/rank of the first relevant item, expected over ties."),
    Metric(
        "precision_radius", "precision within ρ", "labels",
        "Share of relevant items among those at Hamming distance ρ or less; 0 where there are none.",
    ),
    Metric("recall_radius", "recall within ρ", "labels", "Share of the relevant items at Hamming distance ρ or less."),
    Metric(
        "empty_ball", "empty balls within ρ", "labels", "Share of queries that find nothing within the radius.",
        better="lower",
    ),
    Metric(
        "recall_at_k", "recall@k of exact neighbours", "distance",
        "Share of the k nearest float vectors among the k nearest codes, expected over ties.",
    ),
    Metric(
        "recall_with_reranking", "recall@k, c x re-ranked", "distance",
        "The same after the nearest c k codes have been sorted again by the float vectors.",
    ),
    Metric(
        "pair_auc", "pair AUC", "stream",
        "Chance that a similar pair lies nearer than a dissimilar one, over the last pairs, each judged before it is "
        "learnt. 0.5 is guessing.",
    ),
    Metric(
        "map_prequential", "prequential mAP", "stream",
        "mAP of the points that have just arrived, asked of the table made before they came: test, then train.",
    ),
    Metric(
        "forgetting", "forgetting", "labels", "The largest mAP a class ever had, less its mAP now.", better="lower",
    ),
    Metric("balance", "bit balance", "codes", "1 if every bit is 1 for half of the items, 0 if all bits are constant."),
    Metric("mean_entropy", "bit entropy", "codes", "Mean entropy of a bit over the items.", unit="bit"),
    Metric(
        "correlation", "bit correlation", "codes", "Mean |correlation| of two bits: repeated bits carry nothing new.",
        better="lower",
    ),
    Metric("distinct", "distinct codes", "codes", "Different codes / items: low means large ties."),
    Metric(
        "bits_recomputed", "bits recomputed", "cost", "Bits of the code table computed again: n for each moved column.",
        unit="bit", better="lower", hi=math.inf,
    ),
    Metric(
        "bits_flipped", "bits flipped", "cost", "Bits of the code table that really changed.", unit="bit",
        better="lower", hi=math.inf,
    ),
    Metric("learn_seconds", "learning", "cost", "CPU time of learning.", unit="s", better="lower", hi=math.inf),
    Metric("encode_seconds", "encoding", "cost", "CPU time of encoding.", unit="s", better="lower", hi=math.inf),
    Metric("evaluate_seconds", "evaluation", "cost", "CPU time of evaluation.", unit="s", better="lower", hi=math.inf),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.key: metric for metric in _ROWS}
