"""What "similar" means, as a protocol, and the two ways to draw pairs that every meaning shares.

A similarity is bound to a dataset and to the rows training pairs may come from (the pool). It labels pairs, draws
similar and dissimilar ones, and tells which database items are relevant to a query. Draws come from the generator that
is handed in.
"""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ohash.streams.base import Rows

Flags = npt.NDArray[np.bool_]
Drawn = tuple[Rows, Rows]


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

    def draw_similar(self, rng: np.random.Generator, size: int) -> Drawn:
        """Similar pairs of the pool."""

    def draw_dissimilar(self, rng: np.random.Generator, size: int) -> Drawn:
        """Dissimilar pairs of the pool."""

    def relevant(self, queries: Rows, database: Rows) -> Flags:
        """(queries, database) which items should be found."""


def uniform_pairs(rng: np.random.Generator, pool: Rows, size: int) -> Drawn:
    """Pairs of different places of the pool, uniformly."""
    i = rng.integers(0, len(pool), size)
    j = rng.integers(0, len(pool) - 1, size)
    return pool[i], pool[j + (j >= i)]


def rejected(rng: np.random.Generator, similarity: Similarity, size: int, *, wanted: bool) -> Drawn:
    """Uniform among the pairs of one kind: draw until enough have come."""
    found_i, found_j, have = [], [], 0
    for _ in range(10_000):
        i, j = uniform_pairs(rng, similarity.pool, max(64, 2 * size))
        keep = np.flatnonzero(similarity.is_similar(i, j) == wanted)[: size - have]
        found_i.append(i[keep])
        found_j.append(j[keep])
        have += len(keep)
        if have == size:
            return np.concatenate(found_i), np.concatenate(found_j)
    kind = "similar" if wanted else "dissimilar"
    raise ValueError(f"no {kind} pairs could be drawn: every pair of this pool is of the other kind")
