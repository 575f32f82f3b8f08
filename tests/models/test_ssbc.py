"""SSBC: Fourier features approximate the kernel, and a sketch with room for all gives the eigenvectors themselves."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from ohash.models.online.ssbc import SSBC, SSBCParams
from tests.models.digits import mean_map


def test_features_approximate_the_kernel():
    X = np.random.default_rng(0).normal(size=(60, 5))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * 1.5**2))
    errors = []
    for M in (500, 8000):
        deviations = []
        for seed in range(5):
            model = SSBC(SSBCParams(features=M, width=1.5, seed=seed, dtype="float64", r=4))
            model.start(5)
            Z = model._map(X)
            deviations.append(np.sqrt(((Z @ Z.T - K) ** 2).mean()))
        errors.append(np.mean(deviations))
    assert errors[1] < 0.013
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.3)  # 1 / sqrt(M)


@pytest.mark.parametrize("centre", [True, False])
def test_a_sketch_with_room_gives_the_eigenvectors(centre):
    X = np.random.default_rng(1).normal(size=(400, 4))
    model = SSBC(SSBCParams(features=12, rows=24, r=3, width=2, chunk=40, centre=centre, dtype="float64"))
    model.learn_points(X, np.arange(400))
    Z = model._map(X)
    Z = Z - Z.mean(axis=0) if centre else Z
    values, vectors = np.linalg.eigh(Z.T @ Z)
    assert subspace_angles(model._basis, vectors[:, -3:]).max() < 1e-6
    inner = np.abs(np.einsum("dq,dq->q", model._basis, vectors[:, :-4:-1]))
    np.testing.assert_allclose(inner, 1, atol=1e-8)  # one by one, in order
    assert values[-1] > values[-2]


def test_the_width_is_the_mean_distance_of_the_warm_up():
    X = np.random.default_rng(2).normal(size=(50, 3))
    model = SSBC(SSBCParams(r=4, features=32))
    with pytest.raises(ValueError, match="width must be > 0"):
        model.learn_points(X, np.arange(50))
    model.warm_up(X)
    distances = [np.linalg.norm(a - b) for i, a in enumerate(X) for b in X[:i]]
    assert model._scale[0] == pytest.approx(np.mean(distances))


@pytest.mark.slow
def test_digits():
    assert mean_map("ssbc", seeds=(0, 1)) > 0.39 - 0.06
