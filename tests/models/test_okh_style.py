"""OKH-style: OH on (x, 1) with one ratio, and its threshold the turned weight of the constant."""

import numpy as np
import pytest

import ohash
from ohash.models.online.okh_style import OKHStyle, OKHStyleParams
from tests.core.reference import random_stream
from tests.models.digits import mean_map

X, AT_I, AT_J, S = random_stream(5, d=6, pairs=100, offset=0.3)


def test_it_is_oh_with_a_constant_feature():
    model = OKHStyle(OKHStyleParams(r=12, ratio=0.4, C=0.05, seed=3, dtype="float64"))
    twin = ohash.OH(r=12, alpha=0, beta=0.4, C=0.05, seed=3, dtype="float64")
    one = np.hstack([X, np.ones((len(X), 1))])
    ours, theirs = model.learn(X, AT_I, AT_J, S), twin.learn(one, AT_I, AT_J, S)
    for name, column in ours.columns().items():
        np.testing.assert_array_equal(column, theirs.columns()[name])
    np.testing.assert_array_equal(model.encode(X), twin.encode(one))
    Wt, threshold = model.hyperplanes
    np.testing.assert_allclose(X @ Wt[0].T - threshold[0], one @ twin.W, atol=1e-12)
    assert model.d == 6 and ours.updated.any()


def test_the_offset_is_learnt():
    model = OKHStyle(OKHStyleParams(r=12, dtype="float64"))
    model.start(6)
    before = model.hyperplanes[1].copy()
    model.learn(X, AT_I, AT_J, S)
    assert (model.hyperplanes[1] != before).any()


@pytest.mark.slow
def test_digits():
    """No number of the original is known: it must beat where it starts, random hyperplanes (0.498)."""
    assert mean_map("okh_style") > 0.52
