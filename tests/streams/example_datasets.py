"""Small datasets whose every pair can be looked at."""

import numpy as np

from ohash.streams.data_split import Split, split
from ohash.streams.dataset import Dataset
from ohash.streams.similarity import make_similarity


def grouped(n=60, classes=4, d=5, seed=0, **more):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    labels[:classes] = np.arange(classes)
    X = rng.normal(size=(n, d)) + 2 * labels[:, None]
    return Dataset.from_arrays(X, labels=labels, **more)


def everything(dataset):
    """A split whose pool is the whole dataset but for its queries."""
    return split(dataset, 0)


def whole(n):
    rows = np.arange(n)
    return Split(rows, rows, rows[:1], rows[:1], database_seen=True)


def all_pairs(pool):
    i, j = np.meshgrid(pool, pool, indexing="ij")
    keep = i != j
    return i[keep], j[keep]


def source_of(dataset, name="auto", seed=0, **more):
    return make_similarity(dataset, split(dataset, seed), name, **more)


def clicks(n=40, count=300, seed=0, time=True, s=None):
    """Distinct clicks on an n-point set in random time order, or signed pairs."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    chosen = rng.permutation(len(i))[:count]
    at = rng.permutation(count).astype(float) if time else None
    X = rng.normal(size=(n, 4))
    columns = (i[chosen], j[chosen], s) if at is None else (i[chosen], j[chosen], s, at)
    return Dataset.from_arrays(X, pairs=columns, queries=(2, 2))
