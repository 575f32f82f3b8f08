"""OHWEU: the fixed codes are ITQ's and stay, a full step predicts the target, targets do not depend on order."""

import numpy as np
import pytest

from ohash.models import ITQ
from ohash.models.online.ohweu import OHWEU
from tests.models.digits import mean_map

rng = np.random.default_rng(0)
Y = rng.integers(0, 4, 300)
X = rng.normal(size=(4, 10))[Y] + 0.6 * rng.normal(size=(300, 10)) + 0.5


def taught(**options):
    model = OHWEU(**{"r": 8, "dtype": "float64", **options})
    model.warm_up(X[:100])
    return model


def test_fixed_codes_never_change_and_quantise_as_well_as_itq():
    model = taught()
    before = model._map(X)
    model.learn_points(X, np.arange(300), Y)
    np.testing.assert_array_equal(model._map(X), before)
    itq = ITQ(r=8, dtype="float64").fit(X[:100])
    centred = X[:100] - X[:100].mean(axis=0)

    def error(axes):
        V = centred @ axes
        return np.square(np.where(V >= 0, 1, -1) - V).sum()

    assert error(model._axes) < 1.1 * error(itq.W)


def margins(model, t):
    target = np.where(model._book[list(model._classes).index(Y[t])] >= 0, 1, -1)
    return (model._map(X[t : t + 1]) @ model.P)[0] * target / model.r


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_a_step_brings_the_margin_to_1_unless_it_is_capped(C):
    model = taught(C=C)
    model.learn_points(X, np.arange(40), Y[:40])
    capped = 0
    for t in range(40, 80):
        before = margins(model, t)
        model.learn_points(X, [t], [Y[t]])
        np.testing.assert_allclose(margins(model, t), np.minimum(before + C, 1), atol=1e-12)
        capped += (before + C < 1).sum()
    assert 0 < capped < 40 * 8


def test_codes_follow_from_the_stored_ones():
    model = taught()
    stored = model._map(X)
    model.learn_points(X, np.arange(300), Y)
    bits = np.unpackbits(np.asarray(model.encode(X)), axis=1, count=8, bitorder="little")
    np.testing.assert_array_equal(bits, stored @ model.P >= 0)


def test_a_target_depends_on_its_class_alone():
    one, other = taught(), taught()
    one.learn_points(X, [0, 1, 2, 3], [7, 5, 9, 5])
    other.learn_points(X, [0, 1, 2], [9, 7, 5])
    for label in (5, 7, 9):
        a = one._book[list(one._classes).index(label)]
        np.testing.assert_array_equal(a, other._book[list(other._classes).index(label)])


@pytest.mark.slow
def test_digits():
    assert mean_map("ohweu") > 0.6
