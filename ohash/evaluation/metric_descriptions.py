"""One row per metric: charts, tables and tooltips read label, unit, direction and limits from here.

The two truths are kept apart because they move in opposite directions while OH learns: "labels" is agreement of the
codes with labels or pairs, "distance" agreement with the distance of the float vectors. "stream" metrics come from the
incoming pairs, "codes" metrics from the codes alone, and "cost" metrics are bits and seconds spent.
"""

import math
import re
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
        """The label with its k or radius filled in, and how many times k items are re-ranked.

        >>> METRICS["map_at_k"].name(1000), METRICS["precision_radius"].name(2), METRICS["map"].name()
        ('mAP@1000 (min)', 'precision within 2', 'mAP')
        >>> METRICS["recall_with_reranking"].name(10, 4)
        'recall@10, 4 × 10 re-ranked'
        """
        label = self.label if times is None else self.label.replace("c × k", f"{times} × {value}")
        return label if value is None else label.replace("@k", f"@{value}").replace("ρ", str(value))

    def meaning(self, value: int | None = None, times: int | None = None) -> str:
        """`help` with its k or radius filled in, and how many items are re-ranked.

        >>> METRICS["hit_at_k"].meaning(10)
        'Share of queries with a relevant item among the first 10, expected over ties.'
        >>> METRICS["recall_with_reranking"].meaning(10, 4)
        'The same after the 40 nearest codes have been re-ranked by the float vectors.'
        """
        if value is None:
            return self.help
        reranked = self.help if times is None else self.help.replace("c·k", str(times * value))
        return re.sub(r"\b[kρ]\b", str(value), reranked)


_ROWS = (
    Metric(
        "map", "mAP", "labels",
        "Mean average precision over the whole database, averaged exactly over all orders of ties. Queries without "
        "any relevant item are excluded and counted.",
    ),
    Metric("map_low", "mAP, relevant items last in ties", "labels", "The lowest mAP that an order of ties can give."),
    Metric(
        "map_high", "mAP, relevant items first in ties", "labels", "The highest mAP that an order of ties can give.",
    ),
    Metric(
        "map_at_k", "mAP@k (min)", "labels",
        "AP of the first k only, divided by min(R, k), where R is the number of relevant items in the database; "
        "expected over ties.",
    ),
    Metric("precision_at_k", "precision@k", "labels", "Share of relevant items among the first k, expected over ties."),
    Metric(
        "hit_at_k", "hit@k", "labels", "Share of queries with a relevant item among the first k, expected over ties.",
    ),
    Metric("mrr", "MRR", "labels", "Mean of 1/rank of the first relevant item, expected over ties."),
    Metric(
        "ndcg_at_k", "nDCG@k", "labels",
        "Discounted gain of the relevant items among the first k, divided by that of the best order; expected over "
        "ties.",
    ),
    Metric(
        "auc", "AUC", "labels",
        "Probability that a relevant item is nearer to its query than another one; ties count half, 0.5 is chance.",
    ),
    Metric(
        "precision_radius", "precision within ρ", "labels",
        "Share of relevant items among those at Hamming distance ρ or less; 0 if there are none.",
    ),
    Metric("recall_radius", "recall within ρ", "labels", "Share of the relevant items at Hamming distance ρ or less."),
    Metric(
        "empty_ball", "empty balls within ρ", "labels", "Share of queries with no item within the radius.",
        better="lower",
    ),
    Metric(
        "recall_at_k", "recall@k of exact neighbours", "distance",
        "Share of the k nearest float vectors among the k nearest codes, expected over ties.",
    ),
    Metric(
        "recall_with_reranking", "recall@k, c × k re-ranked", "distance",
        "The same after the c·k nearest codes have been re-ranked by the float vectors.",
    ),
    Metric(
        "pair_auc", "pair AUC", "stream",
        "Probability that a similar pair is nearer than a dissimilar one, over the latest pairs, each scored before it "
        "is learnt. 0.5 is chance level.",
    ),
    Metric(
        "map_prequential", "prequential mAP", "stream",
        "mAP of newly arrived points as queries to the table made before they arrived: test, then train.",
    ),
    Metric(
        "forgetting", "forgetting", "labels", "The highest mAP of a class so far, less its current mAP.",
        better="lower",
    ),
    Metric(
        "balance", "bit balance", "codes", "1 if every bit is set for half of the items, 0 if all bits are constant.",
    ),
    Metric("mean_entropy", "bit entropy", "codes", "Mean entropy per bit over the items.", unit="bit"),
    Metric(
        "correlation", "bit correlation", "codes",
        "Mean absolute correlation between bits: correlated bits are redundant.", better="lower",
    ),
    Metric("distinct", "distinct codes", "codes", "Distinct codes per item: low means many ties."),
    Metric(
        "bits_recomputed", "bits recomputed", "cost",
        "Bits of the code table that were recomputed: n per changed column.", unit="bit", better="lower", hi=math.inf,
    ),
    Metric(
        "bits_flipped", "bits flipped", "cost", "Bits of the code table that changed.", unit="bit",
        better="lower", hi=math.inf,
    ),
    Metric("learn_seconds", "learning time", "cost", "CPU time of learning.", unit="s", better="lower", hi=math.inf),
    Metric("encode_seconds", "encoding time", "cost", "CPU time of encoding.", unit="s", better="lower", hi=math.inf),
    Metric(
        "evaluate_seconds", "evaluation time", "cost", "CPU time of evaluation.", unit="s", better="lower", hi=math.inf,
    ),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.key: metric for metric in _ROWS}
