"""Where multi-index hashing beats a scan, measured: HammingIndex against itself and against faiss, on one thread.

Three kinds of codes of 64 bits: uniform ones (the hardest case: nothing is near), those of OH learnt on digit labels
(the most crowded: a class shares few codes), and the rotated sign of word vectors, which does not learn. There
are not 10^7 digits or words, so items and queries are random points between a row and three of its ten nearest rows.
Times are CPU milliseconds per query.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

import ohash
from ohash.cli.bench.results import Results
from ohash.index.multi_index_kernels import LEVEL
from ohash.index.searcher import UNLIMITED, CostModel

Codes = npt.NDArray[np.uint8]
R, KS, QUERIES, BLOCK = 64, (1, 10, 100), 64, 65536
KINDS = {
    "uniform": None,
    "learnt: OH, digits": ("digits", "oh", 20_000),
    "rotated sign, words": ("words", "rotated", 1),
}
LIMIT = 0.5  # seconds that one measurement may take
VERDICT_CODES = 1_000_000  # codes on which the cost model is checked


@dataclass
class SearchTimes:
    """One row of the table: milliseconds per query."""

    k: int
    distance: float
    scan: float
    mih: float
    auto: float
    by: str
    flat: float
    multi: float
    recall: float


def measure(options: argparse.Namespace, results: Results) -> None:
    """Print the crossover, what `auto` chose, and what things cost on this machine."""
    largest = int(options.codes)
    sizes = [10**e for e in range(4, 9) if 10**e <= largest]
    faiss = _faiss()
    lines = []
    for kind, source in KINDS.items():
        print(f"{kind} codes, {R} bits: milliseconds per query")
        print(f"{'n':>12} {'k':>4} {'D_k':>5} {'scan':>9} {'mih':>9} {'auto':>9} {'chose':>6} {'scan/mih':>9}  "
              f"{'faiss flat':>10} {'faiss multi':>11} {'its recall':>10}")  # fmt: skip
        codes, queries = _codes(source, sizes[-1])
        for n in sizes:
            for one in _measure_size(codes[:n], queries, faiss):
                lines.append(one)
                results.keep(f"{kind}, n = {n:,}, k = {one.k}: scan", one.scan, "ms/query")
                results.keep(f"{kind}, n = {n:,}, k = {one.k}: multi-index", one.mih, "ms/query")
                print(f"{n:>12,} {one.k:>4} {one.distance:>5.1f} {one.scan:>9.3g} {one.mih:>9.3g} {one.auto:>9.3g} "
                      f"{one.by:>6} {one.scan / one.mih:>9.3g}  {one.flat:>10.3g} {one.multi:>11.3g} "
                      f"{one.recall:>10.2f}", flush=True)  # fmt: skip
    _verdict(lines)


def _measure_size(codes: Codes, queries: Codes, faiss: ModuleType | None) -> Iterator[SearchTimes]:
    index = ohash.HammingIndex(codes)
    index.search(queries[:1], 1, method="mih")
    flat, multi = _faiss_indexes(faiss, codes)
    for k in KS:
        truth = index.search(queries, k, method="scan")
        scan = _milliseconds(lambda q, k=k: index.search(q, k, method="scan"), queries)
        mih = _milliseconds(lambda q, k=k: index.search(q, k, method="mih"), queries)
        chosen = index.search(queries, k)
        auto = _milliseconds(lambda q, k=k: index.search(q, k), queries)
        row = SearchTimes(k, truth.distances[:, -1].mean(), scan, mih, auto, chosen.by, *[float("nan")] * 3)
        if flat is not None:
            row.flat = _milliseconds(lambda q, k=k: flat.search(q, k), queries)
            row.multi = _milliseconds(lambda q, k=k: multi.search(q, k), queries)
            distances, rows = multi.search(queries, k)
            as_near = (distances <= truth.distances[:, -1:]) & (rows >= 0)
            row.recall = float(as_near.mean())
        yield row


def _milliseconds(search: Callable[..., object], queries: Codes) -> float:
    """The least CPU milliseconds per query of three rounds, with as many queries as fit into the time limit."""
    start = time.thread_time()
    search(queries[:1])
    one = max(time.thread_time() - start, 1e-7)
    sample = queries[: int(np.clip(LIMIT / 3 / one, 2, len(queries)))]
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        search(sample)
        best = min(best, (time.thread_time() - start) / len(sample))
    return 1e3 * best


def _codes(source: tuple[str, str, int] | None, n: int) -> tuple[Codes, Codes]:
    """(n codes, queries) of one kind."""
    if source is None:
        rng = np.random.default_rng(0)
        return rng.integers(0, 256, (n, R // 8), np.uint8), rng.integers(0, 256, (QUERIES, R // 8), np.uint8)
    from ohash.engine.params import experiment  # noqa: PLC0415
    from ohash.engine.run import Run  # noqa: PLC0415

    dataset, method, pairs = source
    run = Run(experiment(dataset, method, r=R, pairs=pairs, kernel="none"), judge=False)
    while not run.done:
        run.step(4096)
    model, X = run.model(), np.asarray(run.world.dataset.X, np.float32)

    def encoded(count: int, seed: int) -> Codes:
        parts = [np.asarray(model.encode(run.world.feature_map.transform(x))) for x in mixture_blocks(X, count, seed)]
        return np.concatenate(parts)

    return encoded(n, 0), encoded(QUERIES, 1)


def mixture_blocks(X: npt.NDArray[np.float32], n: int, seed: int) -> Iterator[npt.NDArray[np.float32]]:
    """Blocks of n points, each a random mixture of a row and three of its ten nearest rows."""
    from ohash.evaluation.neighbours import exact_neighbours  # noqa: PLC0415

    rng = np.random.default_rng(seed)
    near = exact_neighbours(X, X, 10, "l2", query_rows=np.arange(len(X)))
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        row = rng.integers(0, len(X), size)
        corners = np.concatenate([row[:, None], near[row[:, None], rng.integers(0, 10, (size, 3))]], axis=1)
        share = rng.dirichlet(np.ones(4), size).astype(np.float32)
        yield np.einsum("nc,ncd->nd", share, X[corners])


def _faiss() -> ModuleType | None:
    try:
        import faiss  # noqa: PLC0415
    except ImportError:
        print("faiss is not installed (pip install ohash[faiss]), so its columns are left out")
        return None
    faiss.omp_set_num_threads(1)
    return faiss


def _faiss_indexes(faiss: ModuleType | None, codes: Codes) -> tuple[Any, Any]:
    """IndexBinaryFlat, and IndexBinaryMultiHash with tables like ours and one flipped bit: not exact."""
    if faiss is None:
        return None, None
    flat = faiss.IndexBinaryFlat(R)
    flat.add(codes)
    bits = min(int(np.log2(len(codes))), R // 2)
    multi = faiss.IndexBinaryMultiHash(R, R // bits, bits)
    multi.nflip = 1
    multi.add(codes)
    return flat, multi


def _verdict(lines: list[SearchTimes]) -> None:
    won = [line for line in lines if line.mih < line.scan]
    right = [line for line in lines if line.auto < 1.25 * min(line.scan, line.mih)]
    largest_gain = max(line.scan / line.mih for line in lines)
    print(f"multi-index hashing is faster in {len(won)} of {len(lines)} cases, at most {largest_gain:.3g} x")
    print(f"auto is within 25 % of the faster one in {len(right)} of {len(lines)} cases")
    if not won:
        print("the scan wins everywhere here")
    n, rng = VERDICT_CODES, np.random.default_rng(0)
    index = ohash.HammingIndex(rng.integers(0, 256, (n, 8), np.uint8))
    queries = rng.integers(0, 256, (8, 8), np.uint8)
    index.search(queries[:1], 10, method="mih")
    searcher = index._searcher
    asked, rule, step = index._prepare_queries(queries, "min", "mih")
    _, work = searcher.look_up(asked, rule, step, 10, UNLIMITED)
    costs = CostModel(n, 1, 0)
    predicted = np.mean([costs.lookups(*one) for one in work[:, :LEVEL].tolist()]) / costs.scan(10)
    scan = _milliseconds(lambda q: index.search(q, 10, method="scan"), queries)
    mih = _milliseconds(lambda q: index.search(q, 10, method="mih"), queries)
    print(
        f"cost model, {n:,} uniform codes, k = 10: look-ups / scan predicted {predicted:.2f}, measured {mih / scan:.2f}"
    )
