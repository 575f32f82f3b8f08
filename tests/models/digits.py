"""Digits as the smoke targets were measured: 297 queries, 1500 database = stream, centred, unit norm, tie-aware mAP."""

import numpy as np

import ohash
from ohash.models import registry
from ohash.streams.registry import load_by_key


def split(seed):
    """(queries, their labels, database, its labels), centred with the database's mean and scaled to length 1."""
    data = load_by_key("digits")
    order = np.random.default_rng(seed).permutation(data.n)
    X = np.asarray(data.X, np.float64)[order]
    y = np.asarray(data.labels)[order]
    X = X - X[297:].mean(axis=0)
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    return X[:297], y[:297], X[297:], y[297:]


def balanced_pairs(y, pairs, seed):
    """(i, j, s), half of them similar, no point with itself."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, len(y), pairs)
    similar = rng.random(pairs) < 0.5
    j = rng.integers(0, len(y), pairs)
    while (wrong := np.flatnonzero((y[i] == y[j]) != similar)).size:
        j[wrong] = rng.integers(0, len(y), len(wrong))
    keep = i != j
    return i[keep], j[keep], np.where(similar, 1, -1)[keep]


def trained(key, seed, pairs=5000, **options):
    """(mAP, the model after one pass) of a method with 32 bits."""
    Q, yq, X, y = split(seed)
    spec = registry.hashers()[key]
    wanted = {"r": 32, "seed": seed} | options
    model = spec.build(spec.params(**wanted))
    if hasattr(model, "warm_up"):
        model.warm_up(X[:300])
    if spec.consumes == "pairs":
        model.learn(X, *balanced_pairs(y, pairs, seed))
    else:
        model.learn_points(X, np.arange(len(X)), y)
    return ohash.mean_ap(model.encode(Q), model.encode(X), yq, y), model


def mean_map(key, seeds=(0, 1, 2), **options):
    """The mean mAP over seeds."""
    return float(np.mean([trained(key, seed, **options)[0] for seed in seeds]))
