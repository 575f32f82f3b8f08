"""Similar by label (same class, or one shared label) and by track (views of one object)."""

from dataclasses import dataclass

import numpy as np

from ohash.core.arrays import Flags, Labels, Rows
from ohash.streams.similarity.base import RowPairs, draw_by_rejection, draw_uniform_pairs


@dataclass
class GroupSimilarity:
    """Similar = same group."""

    groups: Labels
    pool: Rows
    name: str = "label"
    note: str = ""

    def __post_init__(self) -> None:
        """Sort the pool by group, so that a similar pair is two places of one run."""
        group = self.groups[self.pool]
        order = np.argsort(group, kind="stable")
        self._order = self.pool[order]
        _, self._start, self._size = np.unique(group[order], return_index=True, return_counts=True)
        pairs = (self._size * (self._size - 1)).astype(np.float64)
        if len(pairs) < 2:
            raise ValueError(f"similar_by='{self.name}' needs at least 2 groups in the training pool, got 1")
        if pairs.sum() == 0:
            raise ValueError(
                f"similar_by='{self.name}' needs two points of one group, got none: no pair is similar; are these "
                "ids or measurements?"
            )
        self._share = float(pairs.sum() / (len(self.pool) * (len(self.pool) - 1)))
        self._cumulative = np.cumsum(pairs) / pairs.sum()

    @property
    def natural_share(self) -> float:
        """Exact."""
        return self._share

    def is_similar(self, i: Rows, j: Rows) -> Flags:
        """Same group."""
        return np.asarray(self.groups[i] == self.groups[j])

    def draw_similar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """A group with probability proportional to its number of pairs, then two of its members."""
        group = np.searchsorted(self._cumulative, rng.random(size), side="right").clip(max=len(self._size) - 1)
        members = self._size[group]
        a = rng.integers(0, members)
        b = rng.integers(0, members - 1)
        start = self._start[group]
        return self._order[start + a], self._order[start + b + (b >= a)]

    def draw_dissimilar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """Uniform among the dissimilar pairs."""
        return draw_by_rejection(rng, self, size, wanted=False)

    def relevant(self, queries: Rows, database: Rows) -> Flags:
        """Same group."""
        return np.asarray(self.groups[queries][:, None] == self.groups[database])


@dataclass
class MultiLabelSimilarity:
    """Similar = at least one label shared."""

    flags: Labels
    pool: Rows
    name: str = "label"
    note: str = "similar if one label is shared"

    @property
    def natural_share(self) -> float:
        """Estimated from 20,000 seeded pairs."""
        return float(self.is_similar(*draw_uniform_pairs(np.random.default_rng(0), self.pool, 20_000)).mean())

    def is_similar(self, i: Rows, j: Rows) -> Flags:
        """A shared label."""
        return np.asarray((self.flags[i] & self.flags[j]).any(axis=1))

    def draw_similar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """Uniform among the similar pairs."""
        return draw_by_rejection(rng, self, size, wanted=True)

    def draw_dissimilar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """Uniform among the dissimilar pairs."""
        return draw_by_rejection(rng, self, size, wanted=False)

    def relevant(self, queries: Rows, database: Rows) -> Flags:
        """A shared label."""
        return np.asarray(self.flags[queries].astype(np.float32) @ self.flags[database].T.astype(np.float32) > 0)
