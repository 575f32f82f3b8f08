"""LEGO: A stays positive definite and meets its target exactly; the factor form equals the update of A itself."""

import numpy as np
import pytest

from ohash.models.online.lego import LEGO, LEGOParams, target_of
from tests.models.digits import mean_map

D = 6


def literal(A, z, y, eta):
    """The closed form on A itself; (A, the distance it should have now)."""
    y_hat = z @ A @ z
    p = eta * y * y_hat - 1
    wanted = (p + np.sqrt(p * p + 4 * eta * y_hat**2)) / (2 * eta * y_hat)
    c = eta * (wanted - y)
    return A - c / (1 + c * y_hat) * np.outer(A @ z, A @ z), wanted


@pytest.mark.parametrize("eta", [0.01, 0.5, 100.0])
def test_the_factor_form_is_the_update_of_A(eta):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, D))
    model = LEGO(LEGOParams(r=5, eta=eta, dtype="float64"))
    model.warm_up(X[:40])
    squares = np.sort([((a - b) ** 2).sum() for i, a in enumerate(X[:40]) for b in X[:i]])
    near, far = np.percentile(squares, [5, 95])
    A, moved = np.eye(D), 0
    for t in range(0, 300, 2):
        s = 1 if rng.random() < 0.5 else -1
        z, y = X[t] - X[t + 1], near if s > 0 else far
        y_hat = z @ A @ z
        trace = model.learn(X, [t], [t + 1], [s])
        due = y_hat > near if s > 0 else y_hat < far
        assert trace.updated[0] == due
        if due:
            moved += 1
            A, wanted = literal(A, z, y, eta)
            now = z @ model.G.T @ model.G @ z
            assert now == pytest.approx(wanted, rel=1e-8)
            assert min(y_hat, y) <= now * (1 + 1e-9) and now <= max(y_hat, y) * (1 + 1e-9)
        np.testing.assert_allclose(model.G.T @ model.G, A, atol=1e-8 * np.abs(A).max())
        assert np.linalg.eigvalsh(model.G.T @ model.G)[0] > 0
    assert moved > 30
    np.testing.assert_allclose(model._Wt, model._Rt @ model.G, atol=1e-9 * np.abs(model._Wt).max())


def test_the_step_solves_its_problem():
    """No nearby metric has a lower LogDet divergence plus loss."""
    rng = np.random.default_rng(1)
    A0 = np.eye(3)
    z, y, eta = rng.normal(size=3), 0.3, 0.7
    A, _ = literal(A0, z, y, eta)

    def cost(M):
        return np.trace(M) - np.linalg.slogdet(M)[1] - 3 + eta / 2 * (z @ M @ z - y) ** 2

    for _ in range(200):
        E = rng.normal(size=(3, 3)) * 1e-3
        assert cost(A) <= cost(A + E + E.T) + 1e-12


def test_limits_of_the_target():
    for y_hat, y in ((2.0, 0.5), (0.5, 2.0), (1e9, 1.0), (1e-6, 3.0)):
        assert target_of(y_hat, y, 1e-14 / max(1, y_hat**2)) == pytest.approx(y_hat, rel=1e-6)
        assert target_of(y_hat, y, 1e14 / min(1, y_hat**2)) == pytest.approx(y, rel=1e-6)


def test_equal_points_are_skipped_and_targets_need_a_warm_up():
    X = np.random.default_rng(2).normal(size=(30, D))
    model = LEGO(LEGOParams(r=4))
    with pytest.raises(ValueError, match="call warm_up"):
        model.learn(X, [0], [1], [1])
    model.warm_up(X)
    assert not model.learn(X, [3], [3], [-1]).updated[0]


@pytest.mark.slow
def test_digits():
    """The step was chosen on other data."""
    assert mean_map("lego") > 0.664 - 0.06
