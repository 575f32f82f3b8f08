"""Boosted trees: those of the literal twin, node by node; scikit-learn's but for trimming; any order of points."""

import numpy as np
import pytest

from ohash.models.batch import boosted_trees
from ohash.models.batch.boosted_trees import ONE, QuantisedFeatures, boost, heaviest, wrong_and_curvature
from ohash.models.batch.fasthash import _flatten, _vote
from tests.models import literal_trees

pytestmark = pytest.mark.slow  # the kernels take seconds to compile


def points(seed, n=150, d=6, values=None):
    """Points of which some features have few values, and bits that no single feature decides."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if values is not None:
        X[:, ::2] = np.rint(X[:, ::2] * values)
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1, -1)


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        leaf = other.feature < 0
        for name in ("feature", "threshold", "left"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.value[leaf], other.value[leaf])


@pytest.mark.parametrize(
    ("seed", "n", "d", "values", "depth"),
    [
        (0, 150, 6, None, 4),
        (1, 300, 3, 2, 3),
        (2, 40, 4, 1, 2),
        (3, 7, 2, None, 3),
        (4, 60, 40, 3, 2),
        (5, 90, 1, 1, 1),
    ],
)
def test_trees_are_those_of_the_literal_twin(seed, n, d, values, depth):
    """Few values bring ties of features and of thresholds; a tree sees 32 of 40 features; leaves may be one point."""
    X, z = points(seed, n, max(d, 2), values)
    X = np.repeat(X[:, :1], 2, axis=1) if d == 1 else X  # two features that are the same: the lower one wins
    trees = boost(QuantisedFeatures.from_matrix(X), z, 8, depth, np.random.default_rng(seed))
    wanted = literal_trees.boost(X, z, 8, depth, np.random.default_rng(seed))
    assert trees[0] == wanted[0]
    assert_same(trees[1], wanted[1])
    assert any((tree.feature >= 0).any() for tree in trees[1])
    if d == 1:
        assert all((tree.feature < 1).all() for tree in trees[1])


def test_the_answers_of_trees_are_those_they_were_boosted_with():
    X, z = points(6, 400)
    base, trees = boost(QuantisedFeatures.from_matrix(X), z, 20, 3, np.random.default_rng(0))
    sums = _vote(X, _flatten([(base, trees), (1.0, [])]), 2)
    np.testing.assert_array_equal(sums[:, 0], [base + sum(literal_trees.answer(tree, x) for tree in trees) for x in X])
    assert (sums[:, 1] == 1).all()
    assert np.mean(np.where(sums[:, 0] >= 0, 1, -1) == z) > 0.8


@pytest.mark.parametrize("distinct", [1, 2, 255, 256, 257, 1000])
def test_features_have_at_most_256_bins(distinct):
    rng = np.random.default_rng(distinct)
    x = rng.permutation(np.concatenate([np.arange(distinct), rng.integers(0, distinct, 500)])) / 7
    quantised = QuantisedFeatures.from_matrix(x[:, None])
    codes, thresholds = literal_trees.quantise(x)
    np.testing.assert_array_equal(quantised.codes[0], codes)
    np.testing.assert_array_equal(quantised.thresholds[0], thresholds)
    assert len(np.unique(codes)) == min(distinct, 256)
    sizes = np.bincount(quantised.codes[0][np.unique(x, return_index=True)[1]])
    assert sizes.max() <= -(-distinct // 128)


def test_the_order_of_points_does_not_matter():
    """Sums of integers are the same in any order; sums of floats are not, which splits ties as they come."""
    X, z = points(7, 500, values=2)
    trees = boost(QuantisedFeatures.from_matrix(X), z, 30, 4, np.random.default_rng(1))[1]
    order = np.random.default_rng(0).permutation(500)
    assert_same(boost(QuantisedFeatures.from_matrix(X[order]), z[order], 30, 4, np.random.default_rng(1))[1], trees)


def test_no_weight_is_so_near_a_half_that_an_exponential_decides_it():
    """Two libraries may differ in the last digits of exp: 1e-15 of a weight; the nearest half is farther than that."""
    p = 1 / (1 + np.exp(np.arange(-boosted_trees.FARTHEST, boosted_trees.FARTHEST + 1) / boosted_trees.UNIT))
    for exact in (ONE * p, ONE * p * (1 - p)):
        assert np.abs(exact - np.floor(exact) - 0.5).min() > 1e-8 > 4e-15 * ONE
    wrong, curvature = wrong_and_curvature()
    assert (np.diff(wrong) <= 0).all() and wrong[boosted_trees.FARTHEST] == ONE // 2
    assert curvature.min() == 1 and curvature.max() == ONE // 4


def test_the_lightest_points_are_left_out():
    np.testing.assert_array_equal(heaviest(np.array([5, 1000, 1, 1000, 4])), [1, 3])
    np.testing.assert_array_equal(heaviest(np.array([7, 7, 7])), [0, 1, 2])
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = rng.integers(0, 2 ** int(rng.integers(2, 20)), 200) + (np.arange(200) == 0)
        np.testing.assert_array_equal(heaviest(p), literal_trees.trimmed(p))


@pytest.mark.parametrize("seed", range(5))
def test_without_trimming_they_are_the_trees_of_scikit_learn(seed, monkeypatch):
    """Of at most 256 values and 32 features both see all; measured: 0.0008, but for the leaves after one near tie."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    monkeypatch.setattr(boosted_trees, "KEPT_PERCENT", 100)
    X, z = points(seed, 800)
    X = np.rint(20 * X) / 20
    base, trees = boost(QuantisedFeatures.from_matrix(X), z, 15, 4, np.random.default_rng(seed))
    theirs = HistGradientBoostingClassifier(max_depth=4, max_iter=15, early_stopping=False, random_state=0).fit(X, z)
    sums = _vote(X, _flatten([(base, trees)]), 1)[:, 0]
    difference = np.abs(sums - theirs.decision_function(X))
    assert np.quantile(difference, 0.8) < 0.001 and difference.mean() < 0.01
    assert np.abs(sums).max() > 1
