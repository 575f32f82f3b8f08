"""Vectors that need centring and get none are mentioned once, and a choice silences it."""

import warnings

import numpy as np
import pytest

import ohash


def stream(shift, n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 16)) + shift
    return X, rng.integers(0, 100, n), rng.integers(0, 100, n), np.where(rng.random(n) < 0.5, 1, -1)


@pytest.mark.parametrize("model", [ohash.OH, ohash.MMOH])
def test_it_is_said_once(model):
    hasher = model(r=8)
    with pytest.warns(ohash.UncentredWarning, match="nothing centres them.*center='frozen'"):
        hasher.learn(*stream(2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hasher.learn(*stream(2.0))


@pytest.mark.parametrize(
    ("shift", "center", "n"), [(0.0, None, 300), (2.0, "none", 300), (2.0, "frozen", 300), (2.0, None, 50)]
)
def test_it_is_not_said_where_it_is_centred_meant_or_too_early(shift, center, n):
    X, i, j, s = stream(shift, n)
    hasher = ohash.OH(r=8, center=center)
    if center == "frozen":
        hasher.warm_up(X)
    hasher.learn(X, i, j, s)
    assert hasher.pairs == n


def test_the_estimator_centres_as_the_dashboard_does():
    estimator = ohash.models.HashingEstimator("oh", r=8)
    assert estimator.get_params()["center"] == "frozen" == ohash.experiment("digits").model.center
    X = stream(2.0)[0]
    assert np.allclose(estimator.fit(X, X[:, 0] > 2).hasher_.mean, X.mean(axis=0))
