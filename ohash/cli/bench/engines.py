"""The exported statements in every engine that is installed: load time, query time, size and agreement, in one table.

Codes of 48 bits of clustered vectors. Agreement is the share of an engine's ten nearest codes that are as near as the
ten of `HammingIndex`: 100 % up to ties for an exact search. Queries are sent one after another where the engine has no
batch, so the milliseconds include its client. "re-ranked" is the share of the ten nearest vectors that are among the
ten nearest after re-ranking 100 candidates.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

import ohash
from ohash.cli.bench.results import Results
from ohash.core.arrays import Bytes, Rows
from ohash.index.engines import engines
from ohash.index.engines.page_execution import Session, open_session

Result = TypeVar("Result")
BITS, D, QUERIES, K, CANDIDATES, MAX_ROWS, ROUNDS = 48, 32, 50, 10, 100, 20_000, 5


@dataclass(frozen=True)
class EngineTimes:
    """One row: seconds to create and load, seconds per query, bytes per code, and two shares."""

    name: str
    load: float
    query: float
    size: float | None
    agreement: float
    reranked: float | None


@dataclass(frozen=True, eq=False)
class Sample:
    """What every engine is given, and what it should find."""

    codes: Bytes
    queries: Bytes
    X: npt.NDArray[np.float32]
    query_vectors: npt.NDArray[np.float32]
    index: ohash.HammingIndex
    neighbours: Rows


def measure(options: argparse.Namespace, results: Results) -> None:
    """Print the table."""
    sample = make_sample(int(min(options.codes, MAX_ROWS)))
    print(f"{len(sample.codes):,} codes of {BITS} bits, {QUERIES} queries, k = {K}")
    print(f"{'':38} {'load s':>8} {'ms/query':>9} {'x ours':>8} {'bytes/code':>10} {'agreement':>9} {'re-ranked':>9}")
    ours = measure_index(sample)
    print_row(ours, ours)
    for key, engine in engines().items():
        if engine.missing():
            print(f"{engine.title}: left out, {engine.missing()}")
            continue
        with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="ohash-") as folder:
            warnings.simplefilter("ignore")  # packages that warn about each other's versions
            for row in measure_engine(key, Path(folder), sample):
                print_row(row, ours)
                results.keep(f"{row.name}: time per query / HammingIndex", row.query / ours.query, "x")
                results.keep(f"{row.name}: agreement", row.agreement, "")


def make_sample(n: int) -> Sample:
    """Clustered vectors, and the signs of random projections as codes."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(50, D))[rng.integers(0, 50, n + QUERIES)]
    X = (centres + rng.normal(size=(n + QUERIES, D))).astype(np.float32)
    codes = np.packbits(X @ rng.normal(size=(D, BITS)) >= 0, axis=1, bitorder="little")
    neighbours = ohash.exact_neighbours(X[n:], X[:n], K, "l2")
    return Sample(codes[:n], codes[n:], X[:n], X[n:], ohash.HammingIndex(codes[:n], r=BITS), neighbours)


def measure_index(sample: Sample) -> EngineTimes:
    """`HammingIndex` itself."""
    sample.index.search(sample.queries, K)  # compiles
    load, index = _time(lambda: ohash.HammingIndex(sample.codes, r=BITS))
    query = _least(lambda: index.search(sample.queries, K))
    near = index.search(sample.queries, CANDIDATES).indices
    squares = ((sample.X[near] - sample.query_vectors[:, None]) ** 2).sum(axis=2)
    rows = np.take_along_axis(near, np.argsort(squares, axis=1, kind="stable")[:, :K], axis=1)
    return EngineTimes(
        "ohash HammingIndex", load, query / QUERIES, index.nbytes / len(sample.codes), 1.0, _recall(sample, rows)
    )


def measure_engine(key: str, folder: Path, sample: Sample) -> Iterator[EngineTimes]:
    """Each variant of one engine."""
    engine = engines()[key]
    sample.index.export(key, folder)
    with open_session(engine, folder) as session:
        load = _time(session.create)[0] + _time(session.load)[0]
        for variant in engine.variants:
            if variant:
                more, _ = _time(lambda: session.change(variant))  # noqa: B023
                load += more
            yield _measure_variant(session, f"{engine.title} {variant}".strip(), load, sample)


def print_row(row: EngineTimes, ours: EngineTimes) -> None:
    """One line of the table."""
    size = "-" if row.size is None else f"{row.size:.1f}"
    reranked = "-" if row.reranked is None else f"{row.reranked:.1%}"
    print(f"{row.name:38} {row.load:8.3g} {1e3 * row.query:9.3g} {row.query / ours.query:8.3g} {size:>10} "
          f"{row.agreement:9.1%} {reranked:>9}")  # fmt: skip


def _measure_variant(session: Session, name: str, load: float, sample: Sample) -> EngineTimes:
    session.search(sample.queries[:2], K)  # an engine may open files at the first query
    rows, _ = session.search(sample.queries, K)
    query = _least(lambda: session.search(sample.queries, K))
    size = session.size()
    limit = sample.index.search(sample.queries, K).distances[:, -1:]
    distances = np.bitwise_count(sample.codes[rows] ^ sample.queries[:, None]).sum(axis=2)
    if "vectors" not in session.names():
        session.load_vectors(sample.X)
    reranked = _recall(sample, session.rerank(sample.queries, sample.query_vectors, K, CANDIDATES))
    per_code = None if size is None else size / len(sample.codes)
    return EngineTimes(name, load, query / QUERIES, per_code, float((distances <= limit).mean()), reranked)


def _recall(sample: Sample, rows: Rows) -> float:
    return float(np.mean([np.isin(row, near).mean() for row, near in zip(rows, sample.neighbours, strict=True)]))


def _least(task: Callable[[], object]) -> float:
    """Seconds, the least of a few rounds: other programs only add to it."""
    return min(_time(task)[0] for _ in range(ROUNDS))


def _time(task: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    result = task()
    return time.perf_counter() - start, result
