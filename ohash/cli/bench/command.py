"""The command `ohash bench`: its options, and the lines it prints itself."""

import argparse
import io
import subprocess
import sys
import time
from collections.abc import Callable
from typing import cast

import numpy as np

import ohash
from ohash.cli.bench.results import Results, check_target, update_readme
from ohash.cli.lab import app_file
from ohash.core.arrays import Numbers, Reals, Rows, Singles
from ohash.core.loss import dissimilar_threshold, zero_loss_codes
from ohash.core.parameters import Settings
from ohash.models.base import PairHasher

REPEATS = 7


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument(
        "what",
        nargs="*",
        help=f"parts to run: {', '.join(PARTS)} (default: all except {', '.join(LONG)}, which take minutes)",
    )
    parser.add_argument("--all", action="store_true", help="all parts, the dashboard and 60 visitors: the full record")
    parser.add_argument("--ui", action="store_true", help="measure the dashboard in headless Chromium instead")
    parser.add_argument(
        "--load", type=int, metavar="N", help="measure a server with N visitors of one link, and of N different links"
    )
    parser.add_argument("--json", metavar="FILE", help="also write machine and results to this file")
    parser.add_argument("--readme", metavar="FILE", help="only put the results of a JSON file into the README's table")
    parser.add_argument("--minutes", type=float, default=0, help="with --ui: also watch memory for this many minutes")
    parser.add_argument("--pairs", type=int, default=20_000, help="pairs per measurement (20000)")
    parser.add_argument(
        "--codes", type=float, default=1e7, help="index, engines: the largest number of codes (1e7; engines 20000)"
    )


def run(options: argparse.Namespace) -> int:
    """Measure and print."""
    if options.readme:
        update_readme(options.readme, app_file().with_name("README.md"))
        return 0
    if options.json:
        check_target(options.json)
    unknown = set(options.what) - set(PARTS)
    if unknown:
        raise ValueError(f"the parts of bench are {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 (comes with scikit-learn)

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # show results as they come, also in a file or a pipe
    results = Results()
    dashboard = options.ui or options.load is not None
    chosen = list(PARTS) if options.all else options.what or [part for part in PARTS if part not in LONG]
    with threadpool_limits(limits=1):
        for name in chosen if options.all or not dashboard else options.what:
            results.begin(name)
            PARTS[name](options, results)
            _write(options, results)
    if options.ui or options.all:
        results.begin("ui")
        ui(options, results)
        _write(options, results)
    if options.load is not None or options.all:
        results.begin("load")
        load(options, results)
        _write(options, results)
    return 0


def _write(options: argparse.Namespace, results: Results) -> None:
    """After every part: a long record that is stopped keeps what it has."""
    if options.json:
        results.write(options.json)


def shortest_times(
    *tasks: Callable[[], object], clock: Callable[[], float] = time.perf_counter, repeats: int = REPEATS
) -> list[float]:
    """The shortest time of each task; they take turns, so that noise affects all alike."""
    times = [float("inf")] * len(tasks)
    for _ in range(repeats):
        for at, task in enumerate(tasks):
            start = clock()
            task()
            times[at] = min(times[at], clock() - start)
    return times


def learning(options: argparse.Namespace, results: Results) -> None:
    """OH and MMOH against the matrix product of the same rows."""
    n, d, r = options.pairs, 512, 64
    X, i, j, s = stream(n, d)
    for T, limit in ((1, 1.3), (4, 1.4)):
        for dtype in ("float32", "float64"):
            floor, learn = measure_learning(X.astype(dtype), i, j, s, T, r)
            name = f"{'OH' if T == 1 else f'MMOH T={T}'} d={d} r={r} {dtype}"
            target = f"{limit:g}" if dtype == "float32" else ""
            results.show(f"{name}: time / matrix product", learn / floor, "x", target)
            results.show(f"{name}: pairs per second", n / learn, "pairs/s")
    plain = trained_model(1, r, "float32", "none", X, i, j, s)
    running = trained_model(1, r, "float32", "running", X, i, j, s)
    sample = slice(0, 300)
    plain_time, running_time, numpy_time = shortest_times(
        lambda: plain.learn(X, i, j, s),
        lambda: running.learn(X, i, j, s),
        lambda: numpy_steps(plain.W, X, i[sample], j[sample], s[sample]),
        clock=time.thread_time,
    )
    results.show("running mean: time / no centring", running_time / plain_time, "x", "1.1")
    results.show("plain NumPy step: time / OH", (numpy_time / 300) / (plain_time / n), "x", "8 or more")


def measure_learning(
    X: Reals, i: Rows, j: Rows, s: Rows, T: int, r: int, repeats: int = REPEATS
) -> tuple[float, float]:
    """CPU seconds of the matrix product of all rows of the pairs, which no learner can do without, and of learning."""
    model = trained_model(T, r, str(X.dtype), "none", X, i, j, s)
    gathered = np.concatenate([X[i], X[j]])
    W = np.asarray(model.W if T == 1 else model.W.transpose(1, 0, 2).reshape(X.shape[1], T * r), order="C")
    out = np.empty((len(gathered), W.shape[1]), X.dtype)
    floor, learn = shortest_times(
        lambda: np.matmul(gathered, W, out=out),
        lambda: model.learn(X, i, j, s),
        clock=time.thread_time,
        repeats=repeats,
    )
    return floor, learn


def stream(n: int, d: int) -> tuple[Singles, Rows, Rows, Rows]:
    """Clustered unit vectors; wrong labels keep a tenth to a fifth of the pairs causing updates."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, d))
    labels = rng.integers(0, 10, 5000)
    X = centres[labels] + 0.9 * rng.normal(size=(5000, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    i, j = rng.integers(0, 5000, (2, n))
    s = np.where(labels[i] == labels[j], 1, -1)
    return X.astype(np.float32), i, j, np.where(rng.random(n) < 0.01, -s, s)


def trained_model(
    T: int, r: int, dtype: str, center: str, X: Numbers, i: Rows, j: Rows, s: Rows
) -> ohash.OH | ohash.MMOH:
    """A model that has learnt the stream a few times, as in most of a long run."""
    options: Settings = {"r": r, "beta": 0.4, "dtype": dtype, "center": center}
    model: ohash.OH | ohash.MMOH = ohash.OH(**options) if T == 1 else ohash.MMOH(T=T, **options)
    for _ in range(4):
        model.learn(X, i, j, s)
    return model


def numpy_steps(W: Reals, X: Reals, i: Rows, j: Rows, s: Rows) -> Reals:
    """The update in plain NumPy, one pair after another."""
    W = np.array(W)
    r = W.shape[1]
    br = dissimilar_threshold(0.4, r)
    for x_i, x_j, s_t in zip(X[i], X[j], s, strict=True):
        p_i, p_j = x_i @ W, x_j @ W
        D = int(((p_i >= 0) != (p_j >= 0)).sum())
        R = max(0.0, D if s_t == 1 else br - D)
        if R > 0:
            g = zero_loss_codes(p_i, p_j, s_t, 0, br)
            h_i, h_j = np.where(p_i >= 0, 1, -1), np.where(p_j >= 0, 1, -1)
            change = np.outer(x_i, g.g_i - h_i) + np.outer(x_j, g.g_j - h_j)
            norm2 = float((change**2).sum())
            loss = float(p_i @ (h_i - g.g_i) + p_j @ (h_j - g.g_j)) + np.sqrt(R)
            W += min(0.1, loss / norm2) * change
    return W


def importing(options: argparse.Namespace, results: Results) -> None:
    """A fresh interpreter: import, and the first learn with a warm kernel cache."""

    def seconds(code: str) -> float:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    bare = seconds("pass")
    results.show("import ohash", seconds("import ohash") - bare, "s", "1")
    learn = "import numpy as np, ohash; X = np.eye(8, dtype='f'); ohash.OH(r=8).learn(X, [0], [1], [1])"
    results.show("import and first learn, warm cache", seconds(learn) - bare, "s", "3")


def retrieval(options: argparse.Namespace, results: Results) -> None:
    """Tie-aware mAP of 1,000 queries against 59,000 codes of 64 bits."""
    rng = np.random.default_rng(0)
    database = rng.integers(0, 256, (59_000, 8), dtype=np.uint8)
    queries = rng.integers(0, 256, (1_000, 8), dtype=np.uint8)
    db_labels, query_labels = rng.integers(0, 10, 59_000), rng.integers(0, 10, 1_000)
    ohash.mean_ap(queries[:2], database, query_labels[:2], db_labels)
    (ours,) = shortest_times(lambda: ohash.mean_ap(queries, database, query_labels, db_labels))
    results.show("mAP 1,000 x 59,000 x 64 bits", ours, "s", "0.5")
    try:
        import faiss  # noqa: PLC0415
    except ImportError:
        print("faiss is not installed (extra: faiss), so its ratio is left out")
        return
    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryFlat(64)
    index.add(database)
    start = time.perf_counter()
    index.search(queries[:50], 59_000)
    results.show(
        "faiss IndexBinaryFlat, k = n: time / ours", (time.perf_counter() - start) * 20 / ours, "x", "20 or more"
    )


def gist(options: argparse.Namespace, results: Results) -> None:
    """GIST-512 of small images."""
    images = np.random.default_rng(0).integers(0, 256, (256, 32, 32), dtype=np.uint8)
    ohash.gist512(images[:4])
    (seconds,) = shortest_times(lambda: ohash.gist512(images))
    results.show("GIST-512 of 32 x 32 images", len(images) / seconds, "images/s")


def engine(options: argparse.Namespace, results: Results) -> None:
    """A watched run (10 snapshots per second, no mAP) against plain learn on the same mapped rows."""
    from ohash.engine.live.runner import Runner  # noqa: PLC0415
    from ohash.engine.params import experiment  # noqa: PLC0415
    from ohash.engine.run import Run  # noqa: PLC0415

    n = 20 * options.pairs
    params = experiment("digits", "oh", pairs=n)
    shares = []
    for _ in range(3):
        bare = Run(params)
        hasher = cast(PairHasher, bare.hasher)
        i, j, s = bare.world.pairs(0, n)
        start = time.perf_counter()
        for at in range(0, n, 4096):
            hasher.learn(bare.Z, i[at : at + 4096], j[at : at + 4096], s[at : at + 4096])
        seconds = time.perf_counter() - start
        watched = Runner(params, judge=False).start()
        while watched.run is None and not watched.finished.is_set():  # throughput, not preparation
            time.sleep(0.001)
        start = time.perf_counter()
        while not watched.finished.wait(0.1):
            watched.snapshot()
        shares.append(seconds / (time.perf_counter() - start))
    results.show("watched run: share of the throughput of plain learn", max(shares), "", "0.9")


def index(options: argparse.Namespace, results: Results) -> None:
    """HammingIndex: scan, multi-index hashing and faiss."""
    from ohash.cli.bench.index import measure  # noqa: PLC0415

    measure(options, results)


def methods(options: argparse.Namespace, results: Results) -> None:
    """A step of every method, as a ratio to OH."""
    from ohash.cli.bench.methods import measure  # noqa: PLC0415

    measure(results)


def engines(options: argparse.Namespace, results: Results) -> None:
    """The exported statements in every engine that is installed."""
    from ohash.cli.bench.engines import measure  # noqa: PLC0415

    measure(options, results)


def production(options: argparse.Namespace, results: Results) -> None:
    """Encoding, scanning and learning of one core, and what follows for a billion items."""
    from ohash.cli.bench.production import measure  # noqa: PLC0415

    measure(options, results)


def ui(options: argparse.Namespace, results: Results) -> None:
    """The dashboard in headless Chromium."""
    from ohash.cli.bench.ui import measure  # noqa: PLC0415 (needs playwright, of the test extra)

    measure(options.minutes, results)


def load(options: argparse.Namespace, results: Results) -> None:
    """Servers with many visitors."""
    from ohash.cli.bench.load import VISITORS, measure_load  # noqa: PLC0415 (starts servers)

    measure_load(VISITORS if options.load is None else options.load, results)


PARTS: dict[str, Callable[[argparse.Namespace, Results], None]] = {
    "learning": learning,
    "importing": importing,
    "retrieval": retrieval,
    "gist": gist,
    "engine": engine,
    "index": index,
    "methods": methods,
    "engines": engines,
    "production": production,
}
LONG = ("index", "methods", "engines", "production")
