"""Small experiments, ways to drive them, and what it means that two runs are the same."""

import numpy as np

from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.runtime.clock import CPU_COLUMNS
from ohash.streams.dataset import Dataset
from tests.streams.example_datasets import clicks, grouped

SMALL = {"m": 32, "r": 16, "pairs": 700}


def small(method="oh", dataset="tiny", **values):
    known = {"alpha": 0, "C": 0.1} if method in ("oh", "mmoh") else {}
    return experiment(dataset, method, **{**SMALL, **known, **values})


def own_data(kind):
    """(dataset, values) of data a user may bring."""
    rng = np.random.default_rng(0)
    if kind == "labels":
        return grouped(300, 4, d=8), {"kernel": "none"}
    if kind == "clicks":
        return clicks(150, 1500), {"kernel": "none"}
    if kind == "pairs":
        return clicks(150, 1500, s=np.where(rng.random(1500) < 0.4, 1, -1)), {"kernel": "none"}
    if kind == "multi":
        X = rng.normal(size=(300, 8))
        return Dataset.from_arrays(X, labels=rng.random((300, 5)) < 0.3), {"kernel": "none"}
    if kind == "metric":
        return Dataset.from_arrays(rng.normal(size=(300, 8)), metric="cosine"), {"kernel": "none"}
    raise AssertionError(kind)


def finish(run, chunks=None):
    """Drive to the end in chunks of the given sizes, over and over."""
    at = 0
    while not run.done:
        run.step(10**6 if chunks is None else int(chunks[at % len(chunks)]))
        at += 1
    return run


def advance(run, t):
    """Drive until t pairs are learnt and nothing is pending."""
    while run.t < t or run.evaluating:
        run.step(t - run.t)
    return run


def straight(params, dataset=None, **more):
    return finish(Run(params, dataset, **more))


def picture(run):
    """Everything a run has to show, CPU seconds apart."""
    values, arrays = run.hasher.state()
    shown = {f"hasher/{name}": array for name, array in arrays.items()}
    shown |= {f"columns/{name}": run.observer.columns[name] for name in run.observer.columns.names}
    shown |= {
        f"judged/{name}": run.checkpoints.scores[name]
        for name in run.checkpoints.scores.names
        if name not in CPU_COLUMNS
    }
    shown |= {f"recent/{name}": array for name, array in run.observer.recent.items()}
    shown |= {f"observer/{name}": array for name, array in run.observer.state().items()}
    shown |= {
        "codes": np.asarray(run.checkpoints.codes),
        "seen": run.seen,
        "frozen": run.frozen.projections(np.arange(len(run.Z))),
    }
    plain = {
        "t": run.t,
        "stage": run.stage,
        "params": run.params,
        "hasher": values,
        "stride": run.observer.columns.stride,
        "recomputed": run.checkpoints.recomputed,
        "flipped": run.checkpoints.flipped,
        "done": run.done,
    }
    return plain, shown


def assert_same(one, other):
    (plain, arrays), (plain_other, arrays_other) = picture(one), picture(other)
    assert plain == plain_other
    assert arrays.keys() == arrays_other.keys()
    for name, array in arrays.items():
        assert array.dtype == arrays_other[name].dtype, name
        assert np.array_equal(array, arrays_other[name], equal_nan=array.dtype.kind == "f"), name
