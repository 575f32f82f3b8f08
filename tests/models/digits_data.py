"""UCI digits as BASELINES section 5 has them: 297 queries, 1,500 database points = training set, centred, unit-norm."""

from functools import cache

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

import ohash
from ohash.models import registry


@cache
def split(seed, kernel="none"):
    """(queries, database, labels of both): float32, centred on the database; "rbf" adds 300 anchors, sigma 1."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    X, y = X[order], y[order]
    mean = X[297:].mean(axis=0)
    X = X - mean
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    if kernel == "rbf":
        feature_map = ohash.FeatureMap(m=300, sigma=1.0, center_input=False, normalize=False).fit(X[297:])
        X = feature_map.transform(X)
    X = X.astype(np.float32)
    X.flags.writeable = y.flags.writeable = False
    return X[:297], X[297:], y[:297], y[297:]


def build(key, **values):
    spec = registry.find(key)
    return spec.build(spec.params(**values))


def score(model, seed, kernel="none"):
    """Tie-aware mAP of a taught model."""
    queries, database, y_q, y_db = split(seed, kernel)
    return ohash.mean_ap(model.encode(queries), model.encode(database), y_q, y_db)


def fitted_map(key, seed, kernel="none", **values):
    """The mAP of a batch (or data-independent) method at 32 bits."""
    _, database, _, y_db = split(seed, kernel)
    drawn = {"seed": seed} if "seed" in registry.find(key).table else {}
    model = build(key, **{"r": 32, **drawn, **values})
    with threadpool_limits(1):  # threads of BLAS that wait for a busy machine cost more than they bring
        if hasattr(model, "warm_up"):
            model.warm_up(database)
        if hasattr(model, "fit"):
            model.fit(database, y_db)
        return score(model, seed, kernel)
