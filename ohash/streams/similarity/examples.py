"""What "similar" means on a dataset, with examples: pairs drawn as a run would draw them, and how many there are."""

from dataclasses import dataclass

import numpy as np

from ohash.core.rows import gather
from ohash.streams.annotations import Rows
from ohash.streams.dataset import Dataset, split
from ohash.streams.similarity.base import Drawn
from ohash.streams.similarity.by_name import TOP_K, similarity
from ohash.streams.summary import POOL, in_words

Couples = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Meaning:
    """One meaning of "similar": in words, its natural share of the pairs, and a few pairs of both kinds (rows)."""

    name: str
    words: str
    share: float
    similar: Couples
    dissimilar: Couples
    note: str = ""

    @property
    def sentence(self) -> str:
        """For a reader."""
        digits = 1 if self.share >= 0.01 else 2 if self.share >= 0.001 else 3
        share = f"{self.share:.{digits}%}"
        if self.name == "clicks":
            return f"Two items are {self.words}; {share.replace('%', ' %')} of all pairs of clicked items have been."
        note = f" ({self.note})" if self.note else ""
        return f"Two items are {self.words}; naturally {share.replace('%', ' %')} of all pairs are{note}."


def meaning(dataset: Dataset, similar_by: str = "auto", count: int = 3, seed: int = 0) -> Meaning:
    """Examples of a similarity; by distance from a part of a large set, because every point has its own radius.

    >>> from ohash.streams.registry import load
    >>> found = meaning(load("digits"))
    >>> found.name, round(found.share, 2), len(found.similar), len(found.dissimilar)
    ('label', 0.1, 3, 3)
    """
    name = dataset.similarities[0] if similar_by == "auto" else similar_by
    rng = np.random.default_rng([seed, 0xE8A3])
    note, rows, part, k = "", None, dataset, TOP_K
    if name in ("metric", "topk") and dataset.n > POOL:
        rows = np.sort(rng.choice(dataset.n, POOL, replace=False))
        part = Dataset.from_arrays(gather(dataset.X, rows), metric=dataset.metric)
        k = max(1, round(TOP_K * POOL / dataset.n))
        note = f"measured among {POOL:,} of {dataset.n:,} rows"
    found = similarity(part, split(part, seed), name, top_k=k)
    return Meaning(
        name=name,
        words=in_words(name),
        share=found.natural_share,
        similar=_couples(found.draw_similar(rng, count), rows),
        dissimilar=_couples(found.draw_dissimilar(rng, count), rows),
        note=", ".join(text for text in (found.note, note) if text),
    )


def _couples(drawn: Drawn, rows: Rows | None) -> Couples:
    i, j = drawn if rows is None else (rows[drawn[0]], rows[drawn[1]])
    return tuple((int(a), int(b)) for a, b in zip(i, j, strict=True))
