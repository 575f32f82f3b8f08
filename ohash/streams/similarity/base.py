"""The protocol `Similarity`, and the two ways to draw pairs that all similarities share.

A similarity belongs to a data set and to the rows from which training pairs are drawn (the pool). It labels pairs,
draws similar and dissimilar ones, and says which database items are relevant to a query.
"""

from typing import Protocol

import numpy as np

from ohash.core.arrays import Flags, Rows

RowPairs = tuple[Rows, Rows]

MIN_NATURAL_SHARE = 0.05
FEW_SIMILAR = 0.1  # in a stream of clicks, or where only the nearest few are similar
# Draws that may be spent on one pair of a rare kind, and how many are made at a time.
MAX_DRAWS = 1_000_000
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
        """Whether each pair of rows is similar."""

    def draw_similar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """Similar pairs of the pool."""

    def draw_dissimilar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """Dissimilar pairs of the pool."""

    def relevant(self, queries: Rows, database: Rows) -> Flags:
        """(queries, database): which items are relevant to each query."""


def stream_share(source: Similarity, share: float) -> float:
    """The share of similar pairs in a stream: as wanted, else the natural one, or more where that is too small.

    That is one half, but FEW_SIMILAR of clicks and of nearest neighbours: where these are pulled together as often as
    others are pushed apart, mAP rises less, and on some data it falls.
    """
    if share >= 0:
        return share
    natural = source.natural_share
    mixed: float = getattr(source, "mixed_share", 0.5)
    return natural if natural >= MIN_NATURAL_SHARE else mixed


def draw_uniform_pairs(rng: np.random.Generator, pool: Rows, size: int) -> RowPairs:
    """Pairs of different members of the pool, uniformly."""
    i = rng.integers(0, len(pool), size)
    j = rng.integers(0, len(pool) - 1, size)
    return pool[i], pool[j + (j >= i)]


def draw_by_rejection(rng: np.random.Generator, similarity: Similarity, size: int, *, wanted: bool) -> RowPairs:
    """Pairs of one kind, uniformly, by rejection; the rarer the kind, the more are drawn at a time."""
    found_i, found_j, have, drawn = [], [], 0, 0
    while have < size:
        if drawn > MAX_DRAWS * max(1, have):
            kind = "similar" if wanted else "dissimilar"
            raise ValueError(f"no {kind} pairs could be drawn: almost no pair of this pool is {kind}")
        count = max(64, 2 * size, min(drawn, AT_ONCE))
        i, j = draw_uniform_pairs(rng, similarity.pool, count)
        keep = np.flatnonzero(similarity.is_similar(i, j) == wanted)[: size - have]
        found_i.append(i[keep])
        found_j.append(j[keep])
        have += len(keep)
        drawn += count
    return np.concatenate(found_i), np.concatenate(found_j)
