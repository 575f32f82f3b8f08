"""A stream of every kind of similarity."""

import numpy as np

from ohash.streams.dataset import Dataset
from ohash.streams.pairs import pair_stream
from tests.streams.example_datasets import clicks, grouped


def near(found, expected, n):
    """Within five standard deviations of a binomial share."""
    return abs(found - expected) < 5 * np.sqrt(expected * (1 - expected) / n) + 1e-12


def make(kind):
    rng = np.random.default_rng(0)
    base = grouped(400, 4)
    if kind == "multi":
        return Dataset.from_arrays(base.X, labels=rng.random((400, 6)) < 0.2)
    if kind == "track":
        return Dataset(key="t", title="t", X=base.X, tracks=np.arange(400) // 4, queries=(10, 10))
    if kind == "clicks":
        return clicks(60, 500)
    if kind == "pairs":
        return clicks(60, 500, s=np.where(rng.random(500) < 0.4, 1, -1))
    return base


KINDS = ("label", "multi", "track", "metric", "topk", "clicks", "pairs")


def stream(kind, seed=0, **more):
    by = kind if kind in ("metric", "topk", "clicks", "pairs", "track") else "label"
    return pair_stream(make(kind), similar_by=by, seed=seed, **more)


# -- shares --------------------------------------------------------------------------------------------------------
