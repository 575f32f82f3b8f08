"""Small click logs whose answer is known."""

import numpy as np

from ohash.advice.params import AdviceOptions, AdviceParams
from ohash.advice.runner import AdviceRunner
from ohash.streams.dataset import Dataset

FEW = AdviceOptions(queries=60, pairs=1500)


def clicks_of_groups(group, clicks, rng):
    """Random pairs of one group, in a random order."""
    i = rng.integers(0, len(group), clicks)
    order = np.argsort(group, kind="stable")
    first, last = (np.searchsorted(group[order], group[i], side) for side in ("left", "right"))
    j = order[first + (rng.random(clicks) * (last - first)).astype(int)]
    return i[i != j], j[i != j]


def misleading(n=600, d=24, clicks=4000, seed=0):
    """Clicks follow a few weak directions; the distance follows strong ones that mean nothing to them."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 30, n)
    X = 4 * rng.normal(size=(n, d))
    X[:, :6] = 0.2 * rng.normal(size=(n, 6)) + rng.normal(size=(30, 6))[group]
    X = X @ np.linalg.qr(rng.normal(size=(d, d)))[0]  # no coordinate is better than another
    return Dataset.from_arrays(X.astype(np.float32), pairs=clicks_of_groups(group, clicks, rng))


def meaningless(n=600, d=24, clicks=3000, seed=0):
    """Clicks at random."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, clicks))
    X = rng.normal(size=(n, d)).astype(np.float32)
    return Dataset.from_arrays(X, pairs=(i[i != j], j[i != j]))


def answer(dataset, options=FEW):
    """The snapshot of a finished run."""
    runner = AdviceRunner(AdviceParams("own", "x", options), dataset)
    runner.finish()
    assert not runner.error, runner.error
    return runner.snapshot()
