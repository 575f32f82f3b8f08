"""Similar by distance: either of two points is among the other's nearest 5 % (or nearest k).

That is the paper's rule for 22K LabelMe. Every point has its own radius, the distance to its last neighbour in the
database, so a pair is similar when it is no farther apart than the larger of two radii. Radii are exact, in blocks, up
to `EXACT` database points; beyond, they are estimated from a sample, and `note` says so.
"""

from dataclasses import dataclass, field

import numpy as np

from ohash.core.distance import Real, distances, pair_distances
from ohash.streams.base import Dataset, Rows
from ohash.streams.similarity import Drawn, Flags, rejected, uniform_pairs

EXACT = 50_000
SAMPLE = 5_000
# Up to this many points all similar pairs are listed once; beyond, they are found by rejection.
LISTED = 12_000
BLOCK = 1_024


@dataclass
class MetricSimilarity:
    """Similar = no farther apart than the larger of the two radii."""

    dataset: Dataset
    pool: Rows
    database: Rows
    share: float = 0.05
    k: int | None = None
    note: str = ""
    name: str = field(init=False)

    def __post_init__(self) -> None:
        """Measure the radii of the pool; those of queries follow when they are asked for."""
        self.name = "metric" if self.k is None else "topk"
        n = len(self.database)
        self.neighbours = max(1, round(self.share * n)) if self.k is None else self.k
        if not 1 <= self.neighbours < n:
            raise ValueError(f"similar_by='{self.name}' needs 1 to {n - 1} neighbours, got {self.neighbours}")
        self._reference = self.database
        if n > EXACT:
            self._reference = self.database[np.random.default_rng(0).choice(n, SAMPLE, replace=False)]
            self.note = f"radii estimated from {SAMPLE:,} of {n:,} database points"
        self._radius = np.full(self.dataset.n, np.nan)
        self._pairs: Drawn | None = None
        self._measure(self.pool)

    @property
    def natural_share(self) -> float:
        """Exact while all similar pairs are listed, otherwise from 20,000 seeded pairs."""
        n = len(self.pool)
        if n <= LISTED:
            return 2 * len(self._listed()[0]) / (n * (n - 1))
        return float(self.is_similar(*uniform_pairs(np.random.default_rng(0), self.pool, 20_000)).mean())

    def is_similar(self, i: Rows, j: Rows) -> Flags:
        """Either of two."""
        self._measure(np.union1d(i, j))
        near = np.empty(len(i), dtype=bool)
        for start in range(0, len(i), BLOCK):
            a, b = i[start : start + BLOCK], j[start : start + BLOCK]
            distance = pair_distances(self.dataset.X[a], self.dataset.X[b], self.dataset.metric)
            near[start : start + BLOCK] = distance <= np.maximum(self._radius[a], self._radius[b])
        return near

    def draw_similar(self, rng: np.random.Generator, size: int) -> Drawn:
        """Uniform among the similar pairs."""
        if len(self.pool) > LISTED:
            return rejected(rng, self, size, wanted=True)
        a, b = self._listed()
        at = rng.integers(0, len(a), size)
        swap = rng.random(size) < 0.5
        return np.where(swap, b[at], a[at]), np.where(swap, a[at], b[at])

    def draw_dissimilar(self, rng: np.random.Generator, size: int) -> Drawn:
        """Uniform among the dissimilar pairs."""
        return rejected(rng, self, size, wanted=False)

    def relevant(self, queries: Rows, database: Rows) -> Flags:
        """Either of two; a query's own radius is measured against the database."""
        self._measure(np.union1d(queries, database))
        distance = distances(self._rows(queries), self._rows(database), self.dataset.metric)
        return np.asarray(distance <= np.maximum(self._radius[queries][:, None], self._radius[database]))

    def _rows(self, rows: Rows) -> Real:
        return self.dataset.X[rows].astype(np.float32)

    def _measure(self, rows: Rows) -> None:
        rows = rows[np.isnan(self._radius[rows])]
        if not len(rows):
            return
        reference = self._rows(self._reference)
        position = np.full(self.dataset.n, -1)
        position[self._reference] = np.arange(len(self._reference))
        rank = max(1, round(self.neighbours * len(self._reference) / len(self.database)))
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            distance = distances(self._rows(block), reference, self.dataset.metric)
            own = position[block]
            distance[np.flatnonzero(own >= 0), own[own >= 0]] = np.inf  # a point is not its own neighbour
            last = self._reference[np.argpartition(distance, rank - 1, axis=1)[:, rank - 1]]
            # the radius itself is taken in float64, so that the last neighbour passes the test of `is_similar`
            self._radius[block] = pair_distances(self.dataset.X[block], self.dataset.X[last], self.dataset.metric)

    def _listed(self) -> Drawn:
        """All similar pairs of the pool, each once."""
        if self._pairs is None:
            X, radius = self._rows(self.pool), self._radius[self.pool]
            first, second = [], []
            for start in range(0, len(X), BLOCK):
                near = distances(X[start : start + BLOCK], X, self.dataset.metric) <= np.maximum(
                    radius[start : start + BLOCK, None], radius
                )
                a, b = np.nonzero(near)
                later = b > a + start
                first.append(a[later] + start)
                second.append(b[later])
            self._pairs = self.pool[np.concatenate(first)], self.pool[np.concatenate(second)]
            if not len(self._pairs[0]):
                raise ValueError(
                    "no two points of the training pool are similar by metric; raise the number of neighbours"
                )
        return self._pairs
