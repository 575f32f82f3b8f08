"""What one core does in production, and what follows for 10^9 items and 10^10 pairs per day.

OH with 64 bits of vectors of 256 numbers (float32), measured on one core: encoding from memory and from Parquet, a scan
of codes, learning alone and following a file. The second table only multiplies and divides these numbers.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import ohash
from ohash.cli.bench.results import Results
from ohash.core.arrays import Singles
from ohash.number_formats import percent
from ohash.production.encoding import encode_dataset
from ohash.production.follower import FollowOptions
from ohash.production.sources import FileSource
from ohash.runtime.pool import WorkerPool

D, R, ROWS, CODES, PAIRS = 256, 64, 200_000, 4_000_000, 200_000
ITEMS, PAIRS_PER_DAY, DAY = 10**9, 10**10, 86_400
WORKERS, ROUNDS = (1, 2, 4), 3


@dataclass(frozen=True)
class Constants:
    """Measured: seconds of one core."""

    encode: float  # per item, from memory
    encode_parquet: float  # per item, reading and writing included
    scan: float  # per code
    learn: float  # per pair, rows already mapped
    follow: float  # per pair, from a file, with drift detectors and saving


def measure(options: argparse.Namespace, results: Results) -> None:
    """Print the constants, the ratios of workers, and the table."""
    with tempfile.TemporaryDirectory(prefix="ohash-") as name:
        folder = Path(name)
        X, model = _prepare(folder)
        constants = measure_constants(folder, X, model)
        _print_constants(constants)
        for what, seconds in asdict(constants).items():
            results.keep(f"{what} on one core", 1e6 * seconds, "us")
        _print_workers(folder)
    print_sizes(constants)


def measure_constants(folder: Path, X: Singles, model: ohash.OH) -> Constants:
    """Each the least of a few rounds."""
    rng = np.random.default_rng(1)
    index = ohash.HammingIndex(rng.integers(0, 256, (CODES, R // 8), np.uint8))
    query = rng.integers(0, 256, (1, R // 8), np.uint8)
    labels = np.arange(len(X)) % 50
    i, j = rng.integers(0, len(X), (2, PAIRS))
    s = np.where(labels[i] == labels[j], 1, -1)
    with (folder / "pairs.csv").open("w") as file:
        file.writelines(f"{a},{b},{c}\n" for a, b, c in zip(i.tolist(), j.tolist(), s.tolist(), strict=True))
    ohash.load(folder / "model.npz").learn(X, i[:9], j[:9], s[:9])  # compiles
    with WorkerPool(1) as pool:
        parquet = min(_encode(folder, pool)[1] for _ in range(ROUNDS))
    return Constants(
        encode=_least(lambda: model.encode(X)) / len(X),
        encode_parquet=parquet / len(X),
        scan=_least(lambda: index.search(query, 10, method="scan")) / CODES,
        learn=_least(lambda: ohash.load(folder / "model.npz").learn(X, i, j, s)) / PAIRS,
        follow=_least(lambda: _follow(folder, X)) / PAIRS,
    )


def print_sizes(c: Constants) -> None:
    """What the constants mean at the size of a large service."""
    pace = DAY / PAIRS_PER_DAY
    print(f"\n{ITEMS:,} items, {PAIRS_PER_DAY:,} pairs per day")
    for name, value in (
        ("codes of 64 bits in memory", f"{ITEMS * R / 8e9:.3g} GB (vectors: {ITEMS * D * 4 / 1e12:.3g} TB)"),
        ("encode all items, from memory", f"{ITEMS * c.encode / 3600:.3g} core hours"),
        ("encode all items, Parquet to Parquet", f"{ITEMS * c.encode_parquet / 3600:.3g} core hours"),
        ("one query by a scan of all codes", f"{ITEMS * c.scan:.3g} core seconds"),
        ("queries per second and core by a scan", f"{1 / (ITEMS * c.scan):.3g}"),
        ("time between two pairs", f"{1e6 * pace:.3g} us"),
        (
            "load of the one learner",
            f"{percent(c.learn / pace)} of a core learning, {percent(c.follow / pace)} following a file",
        ),
        ("pairs per day that one learner follows", f"{DAY / c.follow:.3g}"),
    ):
        print(f"{name:58} {value}")


def _prepare(folder: Path) -> tuple[Singles, ohash.OH]:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, D), np.float32)[np.arange(ROWS) % 50] + rng.standard_normal((ROWS, D), np.float32)
    (folder / "in").mkdir()
    for part in range(8):
        rows = X[part * ROWS // 8 : (part + 1) * ROWS // 8]
        lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), D)
        table = pa.table({"embedding": lists})
        pq.write_table(table, folder / "in" / f"{part}.parquet", compression="none", use_dictionary=False)
    model = ohash.OH(r=R, seed=0, center="frozen")
    model.warm_up(X[:2000])
    ohash.save(model, folder / "model.npz")
    return X, model


def _encode(folder: Path, pool: WorkerPool) -> tuple[float, float]:
    """(seconds by the clock, CPU seconds of the workers) of the whole data set."""
    with tempfile.TemporaryDirectory(dir=folder) as target:
        start = time.perf_counter()
        *_, state = encode_dataset(str(folder / "model.npz"), str(folder / "in"), target, pool)
        return time.perf_counter() - start, state.seconds


def _follow(folder: Path, X: Singles) -> None:
    (folder / "shadow.npz").unlink(missing_ok=True)
    source = FileSource(folder / "pairs.csv", wait=False)
    options = FollowOptions(check_every=10 * PAIRS)
    for _ in ohash.follow(source, X, folder / "model.npz", folder / "shadow.npz", options=options):
        pass


def _print_constants(c: Constants) -> None:
    print(f"OH, {R} bits of {D} numbers, one core")
    for name, seconds, size in (
        ("encode from memory", c.encode, 4 * D),
        ("encode, Parquet to Parquet", c.encode_parquet, 4 * D),
        ("scan", c.scan, R // 8),
    ):
        print(f"{name:58} {1 / seconds:10.3g} items/s {size / seconds / 1e9:8.3g} GB/s")
    print(f"{'learn, rows in memory':58} {1e6 * c.learn:10.3g} us/pair")
    print(f"{'follow a file: read, learn, watch for drift, save':58} {1e6 * c.follow:10.3g} us/pair")


def _print_workers(folder: Path) -> None:
    """Encoding with 1, 2 and 4 processes in turns, which have started before."""
    pools = {count: WorkerPool(count) for count in WORKERS}
    times, costs = dict.fromkeys(WORKERS, float("inf")), dict.fromkeys(WORKERS, float("inf"))
    try:
        for turn in range(ROUNDS + 1):
            for count, pool in pools.items():
                seconds, cost = _encode(folder, pool)
                if turn:  # the first one starts them
                    times[count], costs[count] = min(times[count], seconds), min(costs[count], cost)
    finally:
        for pool in pools.values():
            pool.shutdown()
    speeds = " / ".join(f"{times[WORKERS[0]] / seconds:.2f}" for seconds in times.values())
    work = " / ".join(f"{cost / costs[WORKERS[0]]:.2f}" for cost in costs.values())
    print(f"{'encode with 1 / 2 / 4 processes: speed by the clock':58} {speeds} x on {os.cpu_count()} cores")
    print(f"{'encode with 1 / 2 / 4 processes: core seconds':58} {work} x")


def _least(task: Callable[[], object]) -> float:
    """CPU seconds of this thread, the least of a few rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        task()
        times.append(time.thread_time() - start)
    return min(times)
