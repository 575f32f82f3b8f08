"""What "similar" means, as a protocol, and the two ways to draw pairs that every meaning shares.

A similarity is bound to a dataset and to the rows training pairs may come from (the pool). It labels pairs, draws
similar and dissimilar ones, and tells which database items are relevant to a query. Draws come from the generator that
is handed in.
"""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ohash.streams.annotations import Rows

Flags = npt.NDArray[np.bool_]
RowPairs = tuple[Rows, Rows]

LEAST_NATURAL_SHARE = 0.05
# Draws that may be spent on one pair of a rare kind, and how many are made at once.
MOST_DRAWS = 1_000_000
AT_ONCE = 65_536


class Similarity(Protocol):
    """One meaning of "similar" on one training pool; `note` says what a reader of a result must know."""

    name: str
    note: str
    pool: Rows

    @property
    def natural_share(self) -> float:
        """Share of similar pairs among all pairs of the pool."""

    def is_similar(self, i: Rows, j: Rows) -> Flags:
        """The truth for pairs of rows."""

    def draw_similar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """Similar pairs of the pool."""

    def draw_dissimilar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """Dissimilar pairs of the pool."""

    def relevant(self, queries: Rows, database: Rows) -> Flags:
        """(queries, database) which items should be found."""


def stream_share(source: Similarity, wanted: float) -> float:
    """The share of similar pairs a stream has: as wanted; else natural, or half and half where that is rare."""
    if wanted >= 0:
        return wanted
    natural = source.natural_share
    mixed: float = getattr(source, "mixed_share", 0.5)
    return natural if natural >= LEAST_NATURAL_SHARE else mixed


def draw_uniform_pairs(rng: np.random.Generator, pool: Rows, size: int) -> RowPairs:
    """Pairs of different places of the pool, uniformly."""
    i = rng.integers(0, len(pool), size)
    j = rng.integers(0, len(pool) - 1, size)
    return pool[i], pool[j + (j >= i)]


def draw_by_rejection(rng: np.random.Generator, similarity: Similarity, size: int, *, wanted: bool) -> RowPairs:
    """Uniform among the pairs of one kind: draw until enough have come, more at a time while few do."""
    found_i, found_j, have, drawn = [], [], 0, 0
    while have < size:
        if drawn > MOST_DRAWS * max(1, have):
            kind = "similar" if wanted else "dissimilar"
            raise ValueError(f"no {kind} pairs could be drawn: hardly any pair of this pool is {kind}")
        count = max(64, 2 * size, min(drawn, AT_ONCE))
        i, j = draw_uniform_pairs(rng, similarity.pool, count)
        keep = np.flatnonzero(similarity.is_similar(i, j) == wanted)[: size - have]
        found_i.append(i[keep])
        found_j.append(j[keep])
        have += len(keep)
        drawn += count
    return np.concatenate(found_i), np.concatenate(found_j)
