"""What a method costs in production: storage, time to encode and to search, and the work of refreshing the table.

Times are measured on this machine, one query at a time, on one thread. The searched table holds real codes, repeated to
a round number of items, because the database of an experiment is too small to show differences.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from ohash.core.rows import gather
from ohash.engine.run import Run
from ohash.engine.snapshot import bits_of, bytes_of
from ohash.index.hamming_index import HammingIndex
from ohash.models.base import AsymmetricHasher
from ohash.runtime.threads import one_blas_thread

# Items in the searched table, and rows of the float matrix, whose time is scaled up to the same number.
SCANNED_ITEMS = 100_000
SCANNED_ROWS = 10_000
ENCODE_CALLS = 200
SEARCH_CALLS = 40
ENCODE_BATCH = 2048
NEIGHBOURS = 10
CALLS_PER_STEP = 20  # the measurement yields after so many calls


@dataclass(frozen=True)
class Cost:
    """Bits and bytes per vector; seconds per query (median, 99th percentile); `rate` in vectors encoded per second.

    `recomputed` is the share of all bits that a refresh of the table recomputes, 0 for a hash that never changes.
    """

    bits: int
    bytes: float
    encode: tuple[float, float]
    scan: tuple[float, float]
    rate: float
    recomputed: float

    def memory(self, n: int) -> float:
        """Bytes for n vectors."""
        return self.bytes * n

    @property
    def reencode(self) -> float:
        """Seconds to refresh a million codes once."""
        return self.recomputed * 1e6 / self.rate if self.rate > 0 else math.nan


def measure_cost(run: Run) -> Iterator[Cost | None]:
    """Measure the cost of a run's hash as it is now; yields None between small steps, and finally the cost."""
    X, rows = run.world.raw(run.stage), run.checkpoints.judge.queries
    n = len(run.checkpoints.judge.database)
    r = int(run.hasher.r)

    def encode(indices: npt.NDArray[np.integer]) -> None:
        run.hasher.encode(run.world.feature_map.transform(np.ascontiguousarray(gather(X, indices))))

    encode(rows[:1])
    encoding: list[float] = []
    for start in range(0, ENCODE_CALLS, CALLS_PER_STEP):
        encoding += _seconds(lambda k: encode(rows[k % len(rows)][None]), range(start, start + CALLS_PER_STEP))
        yield None
    batch = np.resize(run.checkpoints.judge.database, ENCODE_BATCH)
    rate = ENCODE_BATCH / min(_seconds(lambda _: encode(batch), range(3)))
    yield None
    scanning: list[float] = []
    items = np.resize(np.arange(n), SCANNED_ITEMS)
    if run.spec.asymmetric:
        search, scale = _asymmetric_search(run), SCANNED_ITEMS / SCANNED_ROWS
    else:
        codes = run.checkpoints.codes
        search, scale = _hamming_search(codes[:, n:], np.take(codes[:, :n], items, axis=1), r), 1.0
    search(0)
    for start in range(0, SEARCH_CALLS, CALLS_PER_STEP):
        scanning += _seconds(search, range(start, start + CALLS_PER_STEP))
        yield None
    scan = scale * np.array(_percentiles(scanning))
    yield Cost(
        bits_of(run.hasher),
        bytes_of(run.hasher),
        _percentiles(encoding),
        (float(scan[0]), float(scan[1])),
        rate,
        recomputed_share(run),
    )


def measure_float_cost(run: Run) -> Cost:
    """Measure the cost of the float vectors: one inner product with every vector, whatever the distance."""
    X = run.world.raw(run.stage)
    database = np.asarray(gather(X, np.resize(run.checkpoints.judge.database, SCANNED_ROWS)), np.float32)
    queries = np.asarray(gather(X, run.checkpoints.judge.queries[:SEARCH_CALLS]), np.float32)
    half_squares = 0.5 * np.einsum("nd,nd->n", database, database)

    def search(k: int) -> None:
        distances = half_squares - database @ queries[k % len(queries)]
        nearest = np.argpartition(distances, NEIGHBOURS)[:NEIGHBOURS]
        nearest[np.argsort(distances[nearest])]

    search(0)
    scale = SCANNED_ITEMS / SCANNED_ROWS
    p50, p99 = _percentiles(_seconds(search, range(SEARCH_CALLS)))
    d = int(X.shape[1])
    return Cost(32 * d, 4.0 * d, (0.0, 0.0), (scale * p50, scale * p99), math.inf, 0.0)


def recomputed_share(run: Run) -> float:
    """The mean share of bits that a refresh recomputes, the first one left out."""
    refreshes = len(run.checkpoints.scores) - 1 if run.params.run.reencode == "checkpoint" else 0
    if run.params.run.reencode == "every":
        refreshes = run.t // run.params.run.reencode_every
    bits = run.checkpoints.codes.shape[0] * run.checkpoints.codes.shape[1] * int(run.hasher.r)
    return float(run.checkpoints.recomputed) / bits / refreshes if refreshes > 0 else 0.0


def _hamming_search(queries: npt.NDArray[np.uint8], database: npt.NDArray[np.uint8], r: int) -> Callable[[int], None]:
    index = HammingIndex(database, r=r)

    def search(k: int) -> None:
        at = k % queries.shape[1]
        index.search(queries[:, at : at + 1], NEIGHBOURS, method="scan")

    return search


def _asymmetric_search(run: Run) -> Callable[[int], None]:
    """A scan with a method's own estimate of the distance, on fewer items."""
    hasher = cast(AsymmetricHasher, run.hasher)
    stored = hasher.quantise(np.ascontiguousarray(run.Z[np.resize(run.checkpoints.judge.database, SCANNED_ROWS)]))
    queries = np.ascontiguousarray(run.Z[run.checkpoints.judge.queries[:SEARCH_CALLS]])

    def search(k: int) -> None:
        distances = hasher.estimate_distances(queries[k % len(queries)][None], stored)[0]
        nearest = np.argpartition(distances, NEIGHBOURS)[:NEIGHBOURS]
        nearest[np.argsort(distances[nearest])]

    return search


def _seconds(call: Callable[[int], None], numbers: range) -> list[float]:
    """Time each call on one thread, as in a server that answers many queries at once."""
    seconds = []
    with one_blas_thread():
        for k in numbers:
            start = time.perf_counter()
            call(k)
            seconds.append(time.perf_counter() - start)
    return seconds


def _percentiles(seconds: list[float]) -> tuple[float, float]:
    p50, p99 = np.percentile(seconds, [50, 99])
    return float(p50), float(p99)
