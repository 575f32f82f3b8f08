"""Similar by distance: either of two points is among the other's nearest 5 % (or nearest k).

That is the paper's rule for 22K LabelMe. Every point has its own radius, the distance to its last neighbour in the
database, so a pair is similar when it is no farther apart than the larger of two radii. Radii are exact, in blocks, up
to `EXACT` database points; beyond, they are estimated from a sample, and `note` says so.

Distances come from float32 products; whatever lies, up to rounding, on the edge of a ball is measured again in float64.
So the last neighbour is always inside, and the truth of a pair does not depend on how it was asked for.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ohash.core.distance import Real, distances, pair_distances, unit
from ohash.streams.base import Dataset, Rows
from ohash.streams.similarity import Drawn, Flags, rejected, uniform_pairs

EXACT = 50_000
SAMPLE = 5_000
# Up to this many pairs of a point and a neighbour, all similar pairs are listed once; beyond, rejection finds them.
LISTED = 8_000_000
BLOCK = 2**23  # distances held at once
PAIRS = 4_096  # pairs measured at once in float64
ROUNDING = 64  # a product may be wrong by this many units in the last place of (‖a‖ + max ‖b‖)²

Squares = npt.NDArray[np.float64]


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
        # distances do not change, but their digits are no longer lost in a large common offset
        l2 = self.dataset.metric == "l2"
        self._centre = self.dataset.X[self._reference].mean(axis=0, dtype=np.float64) if l2 else np.float64(0)
        self._radius = np.full(self.dataset.n, np.nan)
        self._pairs: Drawn | None = None
        self._measure(self.pool)

    @property
    def natural_share(self) -> float:
        """Exact while all similar pairs are listed, otherwise from 20,000 seeded pairs."""
        n = len(self.pool)
        if self._few:
            return 2 * len(self._listed()[0]) / (n * (n - 1))
        return float(self.is_similar(*uniform_pairs(np.random.default_rng(0), self.pool, 20_000)).mean())

    def is_similar(self, i: Rows, j: Rows) -> Flags:
        """Either of two."""
        self._measure(np.union1d(i, j))
        return np.asarray(self._apart(i, j) <= np.maximum(self._radius[i], self._radius[j]))

    def draw_similar(self, rng: np.random.Generator, size: int) -> Drawn:
        """Uniform among the similar pairs."""
        if not self._few:
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
        B = self._rows(database)
        step = max(1, BLOCK // len(database))
        blocks = [queries[start : start + step] for start in range(0, len(queries), step)]
        return np.concatenate([self._near(block, database, B) for block in blocks])

    @property
    def _few(self) -> bool:
        """Whether all similar pairs are worth a list."""
        return len(self.pool) * self.neighbours <= LISTED

    def _apart(self, i: Rows, j: Rows) -> Squares:
        """The distances that count, in float64."""
        X, metric = self.dataset.X, self.dataset.metric
        parts = [slice(start, start + PAIRS) for start in range(0, len(i), PAIRS)]
        return np.concatenate([np.empty(0), *(pair_distances(X[i[part]], X[j[part]], metric) for part in parts)])

    def _rows(self, rows: Rows) -> Real:
        X = self.dataset.X[rows].astype(np.float64) - self._centre
        return (unit(X) if self.dataset.metric == "cosine" else X).astype(np.float32)

    def _coarse(self, A: Real, B: Real) -> tuple[Real, Squares]:
        """Distances (a, b), and by how much those of a row may be wrong, (a, 1)."""
        norms = [np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64)) for rows in (A, B)]
        slack = ROUNDING * float(np.finfo(np.float32).eps) * (norms[0] + norms[1].max()) ** 2
        return distances(A, B, self.dataset.metric), slack[:, None]

    def _near(self, rows: Rows, others: Rows, B: Real) -> Flags:
        """Which of `others`, whose vectors are B, are similar to each of `rows`."""
        D, slack = self._coarse(self._rows(rows), B)
        D = D - np.maximum(self._radius[rows][:, None], self._radius[others])
        near = np.asarray(D <= 0)
        a, b = np.nonzero(np.abs(D) <= slack)
        near[a, b] = self.is_similar(rows[a], others[b])
        return near

    def _measure(self, rows: Rows) -> None:
        rows = rows[np.isnan(self._radius[rows])]
        if not len(rows):
            return
        reference = self._reference
        B = self._rows(reference)
        position = np.full(self.dataset.n, -1)
        position[reference] = np.arange(len(reference))
        rank = round(self.neighbours * len(reference) / len(self.database))
        rank = min(max(1, rank), len(reference) - 1)
        step = max(1, BLOCK // len(reference))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            D, slack = self._coarse(self._rows(block), B)
            own = position[block]
            D[np.flatnonzero(own >= 0), own[own >= 0]] = np.inf  # a point is not its own neighbour
            last = np.partition(D, rank - 1, axis=1)[:, rank - 1 : rank]
            for row, off, edge in zip(block, D - last, 2 * slack[:, 0], strict=True):
                # nearer by more than rounding can hide: surely inside; on the edge: measured, ranked among themselves
                on_edge = reference[np.abs(off) <= edge]
                inside = int(np.count_nonzero(off < -edge))
                apart = self._apart(np.full(len(on_edge), row), on_edge)
                self._radius[row] = np.partition(apart, rank - 1 - inside)[rank - 1 - inside]

    def _listed(self) -> Drawn:
        """All similar pairs of the pool, each once."""
        if self._pairs is None:
            B = self._rows(self.pool)
            step = max(1, BLOCK // len(self.pool))
            first, second = [], []
            for start in range(0, len(self.pool), step):
                a, b = np.nonzero(self._near(self.pool[start : start + step], self.pool, B))
                later = b > a + start
                first.append(self.pool[a[later] + start])
                second.append(self.pool[b[later]])
            found = np.concatenate(first), np.concatenate(second)
            if not len(found[0]):
                raise ValueError(
                    f"no two points of the training pool are similar by {self.name}; raise the number of neighbours"
                )
            self._pairs = found
        return self._pairs
