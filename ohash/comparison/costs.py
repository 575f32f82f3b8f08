"""What a method costs in production: storage, time to encode and to search here, and what a refresh of the table takes.

Times are measured on this machine, one query at a time, on one thread. The searched table holds real codes, repeated to
a round number of items, because the database of an experiment is too small to tell methods apart.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.engine.run import Run
from ohash.engine.snapshot import bits_of, bytes_of
from ohash.index.hamming_index import HammingIndex
from ohash.runtime.threads import one_blas_thread

# Items of the table that is searched, and rows of the float matrix, whose time is scaled up to as many.
SCANNED_ITEMS = 100_000
SCANNED_FLOATS = 10_000
CALLS = 200
SEARCHES = 40
BATCH = 2048
NEIGHBOURS = 10
# After which the work of one call is let go.
AT_ONCE = 20


@dataclass(frozen=True)
class Cost:
    """Bits and bytes of a vector; seconds, median and 99th percentile; `rate` are vectors encoded a second.

    `recomputed` is the share of all bits that a refresh of the table computes again, 0 for a hash that never changes.
    """

    bits: int
    bytes: float
    encode: tuple[float, float]
    scan: tuple[float, float]
    rate: float
    recomputed: float

    def memory(self, n: int) -> float:
        """Bytes of n vectors."""
        return self.bytes * n

    @property
    def reencode(self) -> float:
        """Seconds to bring a million codes up to date once."""
        return self.recomputed * 1e6 / self.rate if self.rate > 0 else math.nan


def measure_cost(run: Run) -> Iterator[Cost | None]:
    """The cost of a run's hash as it is now; yields None between small pieces of work, and last the cost."""
    X, rows = run.world.raw(run.stage), run.checkpoints.judge.queries
    n = len(run.checkpoints.judge.database)
    r = int(run.hasher.r)

    def encode(at: Any) -> Any:
        return run.hasher.encode(run.world.feature_map.transform(np.ascontiguousarray(X[at])))

    encode(rows[:1])
    encoding: list[float] = []
    for start in range(0, CALLS, AT_ONCE):
        encoding += _seconds(lambda k: encode(rows[k % len(rows)][None]), range(start, start + AT_ONCE))
        yield None
    batch = np.resize(run.checkpoints.judge.database, BATCH)
    rate = BATCH / min(_seconds(lambda _: encode(batch), range(3)))
    yield None
    scanning: list[float] = []
    items = np.resize(np.arange(n), SCANNED_ITEMS)
    if run.spec.asymmetric:
        search, scale = _estimate(run), SCANNED_ITEMS / SCANNED_FLOATS
    else:
        codes = run.checkpoints.codes
        search, scale = _search(codes[:, n:], np.take(codes[:, :n], items, axis=1), r), 1.0
    search(0)
    for start in range(0, SEARCHES, AT_ONCE):
        scanning += _seconds(search, range(start, start + AT_ONCE))
        yield None
    scan = scale * np.array(_percentiles(scanning))
    yield Cost(
        bits_of(run.hasher),
        bytes_of(run.hasher),
        _percentiles(encoding),
        (float(scan[0]), float(scan[1])),
        rate,
        recomputed(run),
    )


def measure_float_cost(run: Run) -> Cost:
    """The cost of the float vectors themselves: one product with every vector, whatever the distance."""
    X = run.world.raw(run.stage)
    database = np.asarray(X[np.resize(run.checkpoints.judge.database, SCANNED_FLOATS)], np.float32)
    queries = np.asarray(X[run.checkpoints.judge.queries[:SEARCHES]], np.float32)
    half_squares = 0.5 * np.einsum("nd,nd->n", database, database)

    def search(k: int) -> None:
        near = half_squares - database @ queries[k % len(queries)]
        first = np.argpartition(near, NEIGHBOURS)[:NEIGHBOURS]
        first[np.argsort(near[first])]

    search(0)
    scale = SCANNED_ITEMS / SCANNED_FLOATS
    p50, p99 = _percentiles(_seconds(search, range(SEARCHES)))
    d = int(X.shape[1])
    return Cost(32 * d, 4.0 * d, (0.0, 0.0), (scale * p50, scale * p99), math.inf, 0.0)


def recomputed(run: Run) -> float:
    """The mean share of bits computed again at a refresh after the first."""
    refreshes = len(run.checkpoints.scores) - 1 if run.params.run.reencode == "checkpoint" else 0
    if run.params.run.reencode == "every":
        refreshes = run.t // run.params.run.reencode_every
    bits = run.checkpoints.codes.shape[0] * run.checkpoints.codes.shape[1] * int(run.hasher.r)
    return float(run.checkpoints.recomputed) / bits / refreshes if refreshes > 0 else 0.0


def _search(queries: npt.NDArray[np.uint8], database: npt.NDArray[np.uint8], r: int) -> Callable[[int], None]:
    index = HammingIndex(database, r=r)

    def search(k: int) -> None:
        at = k % queries.shape[1]
        index.search(queries[:, at : at + 1], NEIGHBOURS, method="scan")

    return search


def _estimate(run: Run) -> Callable[[int], None]:
    """The same for a method with a distance of its own, on fewer items."""
    stored = run.hasher.quantise(np.ascontiguousarray(run.Z[np.resize(run.checkpoints.judge.database, SCANNED_FLOATS)]))
    queries = np.ascontiguousarray(run.Z[run.checkpoints.judge.queries[:SEARCHES]])

    def search(k: int) -> None:
        near = run.hasher.estimate_distances(queries[k % len(queries)][None], stored)[0]
        first = np.argpartition(near, NEIGHBOURS)[:NEIGHBOURS]
        first[np.argsort(near[first])]

    return search


def _seconds(call: Callable[[int], Any], numbers: range) -> list[float]:
    """How long each of the calls takes on one thread, as in a server that answers many at once."""
    found = []
    with one_blas_thread():
        for k in numbers:
            since = time.perf_counter()
            call(k)
            found.append(time.perf_counter() - since)
    return found


def _percentiles(seconds: list[float]) -> tuple[float, float]:
    p50, p99 = np.percentile(seconds, [50, 99])
    return float(p50), float(p99)
