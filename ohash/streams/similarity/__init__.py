"""What "similar" means on a data set: by label, by track, by distance, or by a list of pairs.

`make_similarity` makes one from its name; all of them follow the protocol `Similarity`.
"""

from ohash.streams.data_split import Split
from ohash.streams.dataset import Dataset
from ohash.streams.similarity.base import Similarity
from ohash.streams.similarity.groups import GroupSimilarity, MultiLabelSimilarity
from ohash.streams.similarity.metric import MetricSimilarity
from ohash.streams.similarity.pair_list import PairListSimilarity

__all__ = [
    "NAMES", "TOP_K", "GroupSimilarity", "MetricSimilarity", "MultiLabelSimilarity", "PairListSimilarity", "Similarity",
    "make_similarity",
]  # fmt: skip

TOP_K = 10
NAMES = ("auto", "label", "track", "metric", "topk", "pairs", "clicks")


def make_similarity(
    dataset: Dataset,
    split: Split,
    similar_by: str = "auto",
    *,
    negatives: str = "uniform",
    top_k: int = TOP_K,
    later_items: str = "any",
) -> Similarity:
    """The similarity `similar_by` of a dataset; "auto" is its natural one."""
    name = dataset.similarities[0] if similar_by == "auto" else similar_by
    if name not in dataset.similarities:
        raise ValueError(
            f"similar_by must be one of {', '.join(('auto', *dataset.similarities))} for {dataset.title}, "
            f"got {similar_by!r}"
        )
    if name in ("pairs", "clicks"):
        return PairListSimilarity(dataset, negatives, later_items)
    if name == "track" and dataset.tracks is not None:
        return GroupSimilarity(dataset.tracks, split.train, name="track")
    if name == "label" and dataset.labels is not None:
        if dataset.multi_label:
            return MultiLabelSimilarity(dataset.labels, split.train)
        return GroupSimilarity(dataset.labels, split.train)
    if name == "topk":
        return MetricSimilarity(dataset, split.train, split.database, k=top_k, one_sided=dataset.two_sided)
    return MetricSimilarity(dataset, split.train, split.database, one_sided=dataset.ranks_by_query)
