"""From the name of a similarity to the similarity."""

from ohash.streams.dataset import Dataset, Split
from ohash.streams.similarity.base import Similarity
from ohash.streams.similarity.given import GivenSimilarity
from ohash.streams.similarity.groups import GroupSimilarity, MultiLabelSimilarity
from ohash.streams.similarity.metric import MetricSimilarity

TOP_K = 10
NAMES = ("auto", "label", "track", "metric", "topk", "pairs", "clicks")


def similarity(
    dataset: Dataset,
    parts: Split,
    similar_by: str = "auto",
    *,
    negatives: str = "uniform",
    top_k: int = TOP_K,
) -> Similarity:
    """The similarity `similar_by` of a dataset; "auto" is its natural one."""
    name = dataset.similarities[0] if similar_by == "auto" else similar_by
    if name not in dataset.similarities:
        raise ValueError(
            f"similar_by must be one of {', '.join(('auto', *dataset.similarities))} for {dataset.title}, "
            f"got {similar_by!r}"
        )
    if name in ("pairs", "clicks"):
        return GivenSimilarity(dataset, negatives)
    if name == "track" and dataset.tracks is not None:
        return GroupSimilarity(dataset.tracks, parts.train, name="track")
    if name == "label" and dataset.labels is not None:
        if dataset.multi_label:
            return MultiLabelSimilarity(dataset.labels, parts.train)
        return GroupSimilarity(dataset.labels, parts.train)
    if name == "topk":
        return MetricSimilarity(dataset, parts.train, parts.database, k=top_k)
    return MetricSimilarity(dataset, parts.train, parts.database)
