"""Worlds that move."""

import numpy as np
import pytest

from ohash.streams.dataset import Dataset
from ohash.streams.drift import KINDS, RARER, STEPS, TURN_STEPS, Drift, DriftParams, _draw_planes, _iter_turned
from ohash.streams.registry import load_by_key
from tests.streams.example_datasets import grouped


def rotation(rng, d, share):
    """A random rotation, `share` of the way from the identity."""
    turned = np.empty((d, d), np.float32)
    for _ in _iter_turned(*_draw_planes(rng, d), share, turned):
        pass
    return turned


def drift(kind, at=100, size=1.0, seed=0):
    return Drift(DriftParams(kind, at, size), seed)


@pytest.mark.parametrize("kind", KINDS)
def test_stages_begin_exactly_at_their_boundaries(kind):
    change = drift(kind)
    stages = [change.stage(t) for t in range(500)]
    assert stages[99] == 0
    expected = {"none": 0, "rotate-slowly": STEPS, "translate-slowly": STEPS, "turn": TURN_STEPS}.get(kind, 1)
    assert max(stages) == expected == len(change.boundaries)
    for number, boundary in enumerate(change.boundaries):
        assert stages[boundary] == number + 1 and stages[boundary - 1] == number


def test_slow_rotation_of_an_early_drift_has_all_its_steps():
    assert drift("rotate-slowly", at=3).boundaries == tuple(range(3, 3 + STEPS))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_rotations_keep_distances_and_turn_by_their_share(share):
    Q = rotation(np.random.default_rng(4), 7, share).astype(np.float64)
    assert np.allclose(Q @ Q.T, np.eye(7), atol=1e-6) and np.linalg.det(Q) > 0
    full = rotation(np.random.default_rng(4), 7, 1.0).astype(np.float64)

    def angles(M):
        return np.sort(np.abs(np.angle(np.linalg.eigvals(M))))

    assert np.allclose(angles(Q), share * angles(full), atol=1e-3)


def test_rotation_moves_features_and_keeps_neighbours():
    dataset = grouped(80, 3, d=6)
    moved = drift("rotate").features(dataset.X, 1)
    assert not np.allclose(moved, dataset.X, atol=0.1)
    assert np.allclose(moved @ moved.T, dataset.X @ dataset.X.T, rtol=1e-4, atol=1e-3)
    assert drift("rotate").features(dataset.X, 0) is dataset.X


def test_slow_rotation_ends_where_the_sudden_one_does():
    X = grouped(50, 3, d=6).X
    slow, sudden = drift("rotate-slowly"), drift("rotate")
    assert np.allclose(slow.features(X, STEPS), sudden.features(X, 1), atol=1e-5)
    steps = [np.abs(slow.features(X, k + 1) - slow.features(X, k)).max() for k in range(1, STEPS)]
    assert 0 < min(steps) and max(steps) < 5 * min(steps)


def test_translation_shifts_every_row_by_one_vector_of_the_declared_size():
    X = grouped(80, 3, d=6).X
    shift = drift("translate", size=0.5).features(X, 1) - X
    assert np.allclose(shift, shift[0], atol=1e-5)
    assert np.linalg.norm(shift[0]) == pytest.approx(0.5 * np.sqrt(X.var(axis=0).sum()), rel=1e-5)


def test_a_turn_has_its_speed_and_ends_where_it_began():
    X = grouped(40, 3, d=2).X
    change = drift("turn", at=42, size=0.06)  # degrees per pair
    angles = np.unwrap([np.angle(complex(*change.features(X, change.stage(t))[0])) for t in range(0, 6000, 10)])
    expected = np.radians(0.06 * np.arange(0, 6000, 10))
    assert np.abs(angles - angles[0] - expected).max() < np.radians(360 / TURN_STEPS / 2 + 0.1)
    assert np.allclose(change.features(X, TURN_STEPS), X, atol=1e-5)
    other = drift("turn", at=42, size=0.06, seed=9)
    assert np.array_equal(change.features(X, 18), other.features(X, 18)), "whatever the seed"
    assert drift("turn", size=0).boundaries == drift("turn", size=5e-324).boundaries == ()


def test_a_turn_of_many_columns_keeps_distances():
    X = grouped(40, 3, d=5).X
    moved = drift("turn").features(X, 7)
    assert np.allclose(moved @ moved.T, X @ X.T, rtol=1e-4, atol=1e-3)
    assert not np.allclose(moved[:, :4], X[:, :4], atol=0.1) and np.allclose(moved[:, 4], X[:, 4])


def test_prior_shift_thins_half_of_the_classes():
    dataset = grouped(6000, 6)
    rows = np.arange(6000)
    kept = drift("prior").pool(dataset, rows, 1)
    shares = np.bincount(dataset.labels[kept]) / np.bincount(dataset.labels)
    assert (shares == 1).sum() == 3
    assert np.allclose(shares[shares < 1], 1 / RARER, atol=0.05)
    assert np.array_equal(drift("prior").pool(dataset, rows, 0), rows)
    assert not np.array_equal(drift("prior", seed=1).pool(dataset, rows, 1), kept)


def test_redefinition_takes_superclasses_or_joins_classes_in_twos():
    digits = load_by_key("digits")
    assert np.array_equal(drift("redefine").labels(digits, 1).labels, digits.superclasses)
    assert drift("redefine").labels(digits, 0) is digits
    dataset = grouped(200, 7)
    merged = drift("redefine").labels(dataset, 1).labels
    joined = {c: set(dataset.labels[merged == c].tolist()) for c in np.unique(merged)}
    assert sorted(len(group) for group in joined.values()) == [1, 2, 2, 2]


@pytest.mark.parametrize("kind", ["prior", "redefine"])
def test_what_needs_labels_says_so(kind):
    for dataset in (Dataset.from_arrays(np.eye(30)), Dataset.from_arrays(np.eye(30), labels=np.eye(30, 3))):
        change = drift(kind)
        with pytest.raises(ValueError, match=f"drift='{kind}' needs one label per point, and your data has none"):
            change.labels(dataset, 1) if kind == "redefine" else change.pool(dataset, np.arange(30), 1)


def test_two_classes_cannot_be_joined():
    with pytest.raises(ValueError, match=r"drift='redefine' merges classes in pairs and needs 3, and your data has 2"):
        drift("redefine").labels(grouped(30, 2), 1)


@pytest.mark.parametrize(("key", "bad"), [("drift", "melt"), ("drift_at", 0), ("drift_size", 1.5), ("drift_size", "x")])
def test_bad_drift_is_named(key, bad):
    with pytest.raises(ValueError, match=f"{key} must be"):
        DriftParams(**{key: bad})
