"""OECC: old codewords never change, the hinge is scikit-learn's, and separable data end on their codewords."""

import math

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from ohash.models.online.codewords import MAX_EXPONENT, random_words
from ohash.models.online.oecc import OECC, OECCParams
from tests.models.digits import mean_map, split


def labelled(seed, n, classes, noise):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return 2 * np.eye(classes)[y] + noise * rng.normal(size=(n, classes)), y


def words_of(model, y):
    return model.book[[list(model.classes).index(label) for label in y]]


def test_new_classes_never_change_old_codewords():
    model = OECC(OECCParams(r=20, pool=500))
    X = np.random.default_rng(0).normal(size=(200, 4))
    for t in range(0, 200, 20):
        before = model.book.copy() if t else np.zeros((0, 20), np.int8)
        model.learn_points(X, np.arange(t, t + 20), np.arange(t, t + 20) // 7)
        np.testing.assert_array_equal(model.book[: len(before)], before)
    assert len(model.book) == len(model.classes) == 29
    assert len(np.unique(model.book, axis=0)) == 29


def test_codewords_are_chosen_far_apart():
    book = random_words(np.zeros((0, 32), np.int8), 32, 1, 10_000, 10).astype(int)
    D = (32 - book @ book.T)[~np.eye(10, dtype=bool)] / 2
    plain = np.random.default_rng(0).choice([-1, 1], (10, 32))
    assert D.min() >= 14 > ((32 - plain @ plain.T)[~np.eye(10, dtype=bool)] / 2).min()


def test_the_hinge_is_scikit_learns():
    """SGDClassifier with constant step, no penalty and no intercept, one classifier a bit."""
    X, y = labelled(1, 150, 4, 0.8)
    model = OECC(OECCParams(r=6, eta=0.1, dtype="float64"))
    model.start(4)
    start = model._Wt.copy()
    model.learn_points(X, np.arange(150), y)
    words = words_of(model, y)
    for k in range(6):
        twin = SGDClassifier(
            loss="hinge", penalty=None, learning_rate="constant", eta0=0.1, fit_intercept=False, shuffle=False
        )
        twin.partial_fit(X[:1], words[:1, k], classes=[-1, 1])
        twin.coef_[:] = start[k]
        for x, c in zip(X, words[:, k], strict=True):
            twin.partial_fit(x[None], [c])
        np.testing.assert_allclose(model._Wt[k], twin.coef_[0], atol=1e-10)


def test_boosting_equals_its_formula():
    X, y = labelled(2, 60, 3, 0.5)
    model = OECC(OECCParams(r=5, eta=0.1, update="boosted", dtype="float64"))
    model.start(3)
    W = model._Wt.T.copy()
    model.learn_points(X, np.arange(60), y)
    for x, c in zip(X, words_of(model, y), strict=True):
        total = 0.0
        for k in range(5):
            margin = c[k] * float(W[:, k] @ x)
            W[:, k] += 0.1 * math.exp(-total) * math.exp(-margin) * c[k] * x
            total += c[k] * float(W[:, k] @ x)
    np.testing.assert_allclose(model._Wt.T, W, atol=1e-9)


@pytest.mark.parametrize("r", [32, pytest.param(128, marks=pytest.mark.slow)])
def test_boosting_keeps_W_of_order_one(r):
    """1,000 digits of unit length: the guard against overflow is never needed."""
    _, _, X, y = split(0)
    model = OECC(OECCParams(r=r, update="boosted", dtype="float64"))
    model.start(X.shape[1])
    W = model._Wt.T.copy()
    model.learn_points(X, np.arange(1000), y[:1000])
    assert 1 < np.abs(model._Wt).max() < 5
    highest = 0.0
    for x, c in zip(X[:1000].astype(float), words_of(model, y[:1000]), strict=True):
        total = 0.0
        for k in range(r):
            exponent = -total - c[k] * float(W[:, k] @ x)
            W[:, k] += 0.1 * math.exp(exponent) * c[k] * x
            total += c[k] * float(W[:, k] @ x)
            highest = max(highest, exponent)
    assert highest < 4 < MAX_EXPONENT
    np.testing.assert_allclose(model._Wt.T, W, atol=1e-12)


@pytest.mark.parametrize("update", ["hinge", "boosted"])
def test_huge_margins_do_not_overflow(update):
    X = np.array([[1e4, 1e4], [1e4, -1e4]])
    model = OECC(OECCParams(r=8, update=update))
    model.learn_points(X, [0, 1] * 20, [0, 1] * 20)
    assert np.isfinite(model._Wt).all()


def test_separable_data_end_on_their_codewords():
    X, y = labelled(3, 2000, 5, 0.1)
    model = OECC(OECCParams(r=24))
    model.learn_points(X, np.arange(2000), y)
    bits = np.unpackbits(np.asarray(model.encode(X)), axis=1, count=24, bitorder="little")
    np.testing.assert_array_equal(bits > 0, words_of(model, y) > 0)


def test_flags_are_one_step_a_label():
    X = np.random.default_rng(4).normal(size=(6, 3))
    flags = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1]], bool)
    both, single = (OECC(OECCParams(r=9, dtype="float64")) for _ in range(2))
    both.learn_points(X, np.arange(6), flags)
    single.learn_points(X, *np.nonzero(flags))
    np.testing.assert_array_equal(both._Wt, single._Wt)
    assert both.seen == 6


@pytest.mark.parametrize(("update", "target"), [("hinge", 0.775), ("boosted", 0.683)])
def test_digits(update, target):
    assert mean_map("oecc", update=update) > target - 0.06
