"""Similar by distance: either of two points is among the other's nearest 5 % (or nearest k).

That is the paper's rule for 22K LabelMe. Every point has its own radius, the distance to its last neighbour in the
database, so a pair is similar when it is no farther apart than the larger of two radii. On GIST1M the paper takes the
plain nearest 5 % of each point: with `one_sided` only the radius of the first point, or of the query, counts. Radii are
exact, in blocks, up to `EXACT` database points; beyond, they are estimated from a sample, and `note` says so.

Distances come from products in float32; whatever lies, up to rounding, on the edge of a ball is measured again in
float64. So the last neighbour is always inside, and the truth of a pair does not depend on how it was asked for. Equal
points are looked at once: among many of them every distance is a tie.

Radii of very many points take minutes: they are measured once and cached as long as the file of the vectors stays.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Flags, Numbers, Reals, Rows
from ohash.core.distances import FastDistances, pair_distances
from ohash.core.rows import gather
from ohash.streams.dataset import Dataset
from ohash.streams.feature_cache import cached_rows
from ohash.streams.similarity.base import FEW_SIMILAR, RowPairs, draw_by_rejection, draw_uniform_pairs

RADII_AT_ONCE = 8_192

Radii = npt.NDArray[np.float64]


def cached_radii(dataset: Dataset, reference: Rows, rank: int, measure: Callable[[Rows], Radii]) -> Radii | None:
    """The radius of every row, from the cache or by `measure`; None if they cannot be cached.

    `reference` are the rows whose `rank`-th nearest is as far as the radius.
    """
    version = _version(dataset, reference, rank)
    if version is None:
        return None

    def blocks() -> Iterator[Radii]:
        for start in range(0, dataset.n, RADII_AT_ONCE):
            yield measure(np.arange(start, min(dataset.n, start + RADII_AT_ONCE)))

    try:
        return np.array(cached_rows(f"radii-{dataset.key}", version, (dataset.n,), np.float64, blocks))
    except ValueError:  # not written; an error in the data will be raised again when it is measured
        return None


def _version(dataset: Dataset, reference: Rows, rank: int) -> str | None:
    """All that decides the radii; None if the vectors are no file."""
    X = dataset.X
    file = _file(X)
    if file is None or not file.is_file():
        return None
    stat = file.stat()
    digest = hashlib.sha256(np.ascontiguousarray(reference, np.int64).tobytes())
    digest.update(np.ascontiguousarray(gather(X, np.array([0, -1]))).tobytes())  # another part of the same file
    of = f"{file} {stat.st_size} {stat.st_mtime_ns} {X.dtype} {X.strides}"
    return f"{of} {dataset.metric} {rank} {digest.hexdigest()} radii 1"


def _file(X: Numbers) -> Path | None:
    """The file an array looks into."""
    base: object = X
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and base.filename is not None:
            return Path(base.filename)
        base = base.base
    return None


EXACT = 50_000
# Values of the database that may be held at once; with more columns fewer points are exact.
VALUES = 2**27
SAMPLE = 5_000
# Estimated radii of more points than this are kept in the cache.
CACHED = 50_000
# Up to this many pairs of a point and a neighbour, all similar pairs are listed once; beyond, rejection finds them.
LISTED = 8_000_000
DISTANCES_AT_ONCE = 2**23  # distances held at once
PAIRS = 4_096  # pairs measured at once in float64

Squares = npt.NDArray[np.float64]


@dataclass
class MetricSimilarity:
    """Similar = no farther apart than the larger of the two radii; `one_sided`: than the radius of the first point."""

    dataset: Dataset
    pool: Rows
    database: Rows
    share: float = 0.05
    k: int | None = None
    note: str = ""
    one_sided: bool = False
    name: str = field(init=False)

    def __post_init__(self) -> None:
        """Measure the radii of the pool, unless it is large; others follow when they are asked for."""
        self.name = "metric" if self.k is None else "topk"
        n = len(self.database)
        self.neighbours = max(1, round(self.share * n)) if self.k is None else self.k
        if not 1 <= self.neighbours < n:
            raise ValueError(f"similar_by='{self.name}' needs 1 to {n - 1} neighbours, got {self.neighbours}")
        self._reference = self.database
        if n > EXACT or n * self.dataset.d > VALUES:
            sample = np.random.default_rng(0).choice(n, min(SAMPLE, n), replace=False)
            self._reference = np.sort(self.database[sample])
            self.note = f"radii estimated from {len(sample):,} of {n:,} database points"
        rank = round(self.neighbours * len(self._reference) / n)
        self._rank = min(max(1, rank), len(self._reference) - 1)
        self._coarse = FastDistances.for_rows(self.dataset.X, self._reference, self.dataset.metric)
        self._radius = np.full(self.dataset.n, np.nan)
        self._in_reference = np.zeros(self.dataset.n, bool)
        self._in_reference[self._reference] = True
        # a point is not its own neighbour, so equal points have equal radii if both are there, or neither
        self._equal = EqualRows(self.dataset.X, self._in_reference)
        self._pairs: RowPairs | None = None
        self._few = len(self.pool) * self.neighbours <= LISTED
        self._B: Reals | None = None
        if self._reference is self.database:
            self._measure(self.pool)

    @property
    def natural_share(self) -> float:
        """Exact while all similar pairs are listed, otherwise from 20,000 seeded pairs."""
        n, listed = len(self.pool), self._similar_pairs()
        if listed is not None:
            return (1 if self.one_sided else 2) * len(listed[0]) / (n * (n - 1))
        return float(self.is_similar(*draw_uniform_pairs(np.random.default_rng(0), self.pool, 20_000)).mean())

    @property
    def mixed_share(self) -> float:
        """The share of similar pairs in a stream where the natural one is too small."""
        return 0.5 if self.k is None else FEW_SIMILAR

    def is_similar(self, i: Rows, j: Rows) -> Flags:
        """Either of two, or the first."""
        self._measure(np.unique(i) if self.one_sided else np.union1d(i, j))
        return np.asarray(self._distances(i, j) <= self._reach(i, j))

    def draw_similar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """Uniform among the similar pairs."""
        listed = self._similar_pairs()
        if listed is None:
            return draw_by_rejection(rng, self, size, wanted=True)
        a, b = listed
        at = rng.integers(0, len(a), size)
        if self.one_sided:
            return a[at], b[at]
        swap = rng.random(size) < 0.5
        return np.where(swap, b[at], a[at]), np.where(swap, a[at], b[at])

    def draw_dissimilar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """Uniform among the dissimilar pairs."""
        return draw_by_rejection(rng, self, size, wanted=False)

    def relevant(self, queries: Rows, database: Rows) -> Flags:
        """Either of two, or the query; a query's own radius is measured against the database."""
        self._measure(np.unique(queries) if self.one_sided else np.union1d(queries, database))
        return self._near(queries, database)

    def _reach(self, rows: Rows, others: Rows) -> Squares:
        """How far apart they may be."""
        return self._radius[rows] if self.one_sided else np.maximum(self._radius[rows], self._radius[others])

    def _distances(self, i: Rows, j: Rows) -> Squares:
        """The distances that count, in float64."""
        X, metric = self.dataset.X, self.dataset.metric
        parts = [slice(start, start + PAIRS) for start in range(0, len(i), PAIRS)]
        measured = (pair_distances(gather(X, i[part]), gather(X, j[part]), metric) for part in parts)
        return np.concatenate([np.empty(0), *measured])

    def _rows(self, rows: Rows) -> Reals:
        """Prepared rows, copied out a block at a time."""
        values = np.empty((len(rows), self.dataset.d), self._coarse.dtype)
        step = max(1, DISTANCES_AT_ONCE // self.dataset.d)
        for start in range(0, len(rows), step):
            values[start : start + step] = self._coarse.prepare(gather(self.dataset.X, rows[start : start + step]))
        return values

    def _near(self, rows: Rows, others: Rows) -> Flags:
        """Which of `others` are similar to each of `rows`; those that count have radii."""
        (first, at), (second, to) = (np.unique(self._equal.first(some), return_inverse=True) for some in (rows, others))
        near = np.empty((len(first), len(second)), bool)
        step = max(1, min(len(second), DISTANCES_AT_ONCE // max(self.dataset.d, min(len(first), 1024))))
        for start in range(0, len(second), step):
            some = second[start : start + step]
            B = self._rows(some)
            for row in range(0, len(first), max(1, DISTANCES_AT_ONCE // len(some))):
                part = slice(row, row + max(1, DISTANCES_AT_ONCE // len(some)))
                near[part, start : start + step] = self._near_block(first[part], some, B)
        if len(first) == len(rows) and len(second) == len(others) and _is_rising(at) and _is_rising(to):
            return near
        return np.asarray(near[at][:, to])

    def _near_block(self, rows: Rows, others: Rows, B: Reals) -> Flags:
        D, slack = self._coarse.distances(self._rows(rows), B)
        D = D - self._reach(rows[:, None], others)
        near = np.asarray(D <= 0)
        if slack.any():
            a, b = np.nonzero(np.abs(D) <= slack)
            near[a, b] = self._distances(rows[a], others[b]) <= self._reach(rows[a], others[b])
        return near

    def _measure(self, rows: Rows) -> None:
        rows = rows[np.isnan(self._radius[rows])]
        if not len(rows):
            return
        if len(rows) > CACHED and self._reference is not self.database:
            radii = cached_radii(self.dataset, self._reference, self._rank, self._radii_of)
            if radii is not None:
                self._radius = radii
                return
        self._measure_now(rows)

    def _radii_of(self, rows: Rows) -> Squares:
        self._measure_now(rows)
        return self._radius[rows]

    def _measure_now(self, rows: Rows) -> None:
        first = self._equal.first(rows)
        new = np.unique(first[np.isnan(self._radius[first])])
        if self._B is None:
            self._B = self._rows(self._reference)
        step = max(1, min(DISTANCES_AT_ONCE // len(self._reference), DISTANCES_AT_ONCE // self.dataset.d))
        for start in range(0, len(new), step):
            block = new[start : start + step]
            self._radius[block] = self._radii(block, self._B)
        self._radius[rows] = self._radius[first]
        if self._reference is self.database:  # as large as the data, and not needed again soon
            self._B = None

    def _radii(self, block: Rows, B: Reals) -> Squares:
        """Distances to the last neighbour in the reference, whose prepared rows are B."""
        reference = self._reference
        rank = self._rank
        D, slack = self._coarse.distances(self._rows(block), B)
        own = np.flatnonzero(self._in_reference[block])
        D[own, np.searchsorted(reference, block[own])] = np.inf  # a point is not its own neighbour
        last = np.partition(D, rank - 1, axis=1)[:, rank - 1 : rank]
        if not slack.any():
            return np.asarray(last[:, 0], np.float64)
        # nearer by more than rounding can hide: surely inside; on the edge: measured, ranked among themselves
        off = np.subtract(D, last, out=D)
        edge = np.nextafter((2 * slack).astype(D.dtype), np.inf, dtype=D.dtype)  # never narrower
        inside = np.count_nonzero(off < -edge, axis=1)
        a, b = np.nonzero(np.abs(off, out=off) <= edge)
        distances = self._distances(block[a], reference[b])
        order = np.lexsort((distances, a))
        first = np.searchsorted(a, np.arange(len(block)))
        return np.asarray(distances[order][first + rank - 1 - inside])

    def _similar_pairs(self) -> RowPairs | None:
        """All similar pairs of the pool, each once, in both orders if `one_sided`; None if there are too many."""
        if self._pairs is None and self._few:
            self._measure(self.pool)
            step = max(1, DISTANCES_AT_ONCE // len(self.pool))
            first, second, count = [], [], 0
            for start in range(0, len(self.pool), step):
                a, b = np.nonzero(self._near(self.pool[start : start + step], self.pool))
                later = b != a + start if self.one_sided else b > a + start
                first.append(self.pool[a[later] + start])
                second.append(self.pool[b[later]])
                count += len(first[-1])
                if count > 2 * LISTED:  # almost every pair is similar
                    self._few = False
                    return None
            if not count:
                raise ValueError(
                    f"no two points of the training pool are similar by {self.name}; raise the number of neighbours"
                )
            self._pairs = np.concatenate(first), np.concatenate(second)
        return self._pairs


def _is_rising(at: npt.NDArray[np.intp]) -> bool:
    return bool((np.diff(at) > 0).all())


# Rows hashed at once.
HASHED = 4096


class EqualRows:
    """Rows are equal if their bytes and their `mark` are.

    >>> X = np.array([[1, 2], [3, 4], [1, 2], [1, 2]])
    >>> EqualRows(X, np.array([False, False, False, True])).first(np.arange(4)).tolist()
    [0, 1, 0, 3]
    """

    def __init__(self, X: npt.NDArray[np.generic], mark: npt.NDArray[np.bool_]) -> None:
        """Nothing is read yet."""
        self._X, self._mark = X, mark
        self._first = np.full(len(X), -1, np.int64)
        self._known: dict[tuple[bytes, bool], int] = {}

    def first(self, rows: Rows) -> Rows:
        """The row each of `rows` is known by."""
        new = np.unique(rows[self._first[rows] < 0])
        for start in range(0, len(new), HASHED):
            block = new[start : start + HASHED]
            values = np.ascontiguousarray(gather(self._X, block))
            for row, value in zip(block.tolist(), values, strict=True):
                digest = hashlib.blake2b(value.tobytes(), digest_size=16).digest()
                self._first[row] = self._known.setdefault((digest, bool(self._mark[row])), row)
        return self._first[rows]
