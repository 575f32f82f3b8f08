"""The cost of one step of every method, relative to OH: CPU time on one thread, all on the same vectors.

2,000 pairs of 5,000 clustered unit vectors with 300 columns and 10 classes, 48 bits. A pair is two points, so methods
that learn from points see 4,000 of them, and batch methods are fitted to the same 4,000 at once.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ohash.cli.bench.results import Results
from ohash.core.arrays import Rows, Singles
from ohash.models.base import HasherSpec
from ohash.models.registry import hashers
from ohash.runtime.threads import one_blas_thread

Result = TypeVar("Result")
D, R, PAIRS, KSH_LABELS = 300, 48, 2000, 1000
REPEATS = 3  # of a quick method
QUICK = 1.0  # seconds


def measure(results: Results) -> None:
    """Print one line per method, and the time of KSH with 1,000 labels."""
    X, labels, i, j, s = _data()
    measured = {}
    with one_blas_thread():
        for key, spec in hashers().items():
            if spec.missing:
                print(f"{key}: needs {spec.missing}")
                continue
            _train(spec, X[:400], labels[:400], *_sample(i, j, s))  # compiles
            measured[key] = _best(partial(_train, spec, X, labels, i, j, s))
        ksh = hashers()["ksh"]
        seconds = _cpu(lambda: _fit(ksh, X, labels, labelled=KSH_LABELS))[0]
    oh = measured["oh"][0]
    print(f"{'method':16} {'supervision':12} {'consumes':9} {'per step':>16} {'/ OH':>8} {'encode / vector':>16}")
    for key, (spent, model) in sorted(measured.items(), key=lambda one: one[1][0]):
        spec = hashers()[key]
        encode = _best(partial(model.encode, X))[0] / len(X)
        results.keep(f"{key}: encode", 1e6 * encode, "us/vector")
        if spec.consumes != "nothing":
            results.keep(f"{key}: time of learning / OH", spent / oh, "x")
        ratio = "-" if spec.consumes == "nothing" else f"{spent / oh:.3g}"
        print(f"{key:16} {spec.supervision:12} {spec.consumes:9} {_step_text(spec, spent):>16} {ratio:>8} "
              f"{1e6 * encode:>13.3g} us")  # fmt: skip
    results.show(f"KSH with {KSH_LABELS:,} labels, {R} bits", seconds, "s", "60")


def _data() -> tuple[Singles, Rows, Rows, Rows, Rows]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 5000)
    X = rng.normal(size=(10, D))[labels] + 0.9 * rng.normal(size=(5000, D))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    rows = rng.permutation(5000)[: 2 * PAIRS]
    i, j = rows[:PAIRS], rows[PAIRS:]
    return X, labels, i, j, np.where(labels[i] == labels[j], 1, -1)


def _sample(i: Rows, j: Rows, s: Rows) -> tuple[Rows, Rows, Rows]:
    return i[:50] % 400, (j[:50] + (i[:50] % 400 == j[:50] % 400)) % 400, s[:50]


def _train(spec: HasherSpec, X: Singles, labels: Rows, i: Rows, j: Rows, s: Rows) -> tuple[float, Any]:
    """(CPU seconds of learning alone, the model)."""
    model = _build(spec)
    if hasattr(model, "warm_up"):
        model.warm_up(X[:D])
    rows = np.stack([i, j], axis=1).ravel()
    learn: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "pairs": lambda: model.learn(X, i, j, s),
        "points": lambda: model.learn_points(X, rows, labels[rows]),
        "chunks": lambda: model.learn_points(X, rows, labels[rows]),
        "batch": lambda: model.fit(X[rows], labels[rows]),
    }
    return _cpu(learn[spec.consumes])[0], model


def _build(spec: HasherSpec, **options: object) -> Any:
    values = {"r": R, **options}
    return spec.build(spec.params(**{name: value for name, value in values.items() if name in spec.table}))


def _fit(spec: HasherSpec, X: Singles, labels: Rows, **options: object) -> Any:
    model = _build(spec, **options)
    model.fit(X, labels)
    return model


def _cpu(work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def _best(work: Callable[[], Any]) -> tuple[float, Any]:
    """The least seconds of a few calls, or of one long call; `work` may return its own (seconds, result)."""
    best: tuple[float, Any] = (float("inf"), None)
    for _ in range(REPEATS):
        spent, result = _cpu(work)
        if isinstance(result, tuple):
            spent, result = result
        best = min(best, (spent, result), key=lambda one: one[0])
        if spent > QUICK:
            break
    return best


def _step_text(spec: HasherSpec, seconds: float) -> str:
    if spec.consumes == "nothing":
        return "-"
    if spec.consumes == "batch":
        return f"{1e3 * seconds:.3g} ms per fit" if seconds < 1 else f"{seconds:.3g} s per fit"
    count, unit = (PAIRS, "pair") if spec.consumes == "pairs" else (2 * PAIRS, "point")
    return f"{1e6 * seconds / count:.3g} us per {unit}"
