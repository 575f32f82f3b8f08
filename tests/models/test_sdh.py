"""SDH: no step and no single bit raises the objective; the kernel does what the formula says, row by row."""

import numpy as np
import pytest

from ohash.models.batch.sdh import indicator, objective, update_bits
from tests.models.digits_data import build, fitted_map, split


def problem(seed, n=40, r=9, c=4):
    rng = np.random.default_rng(seed)
    Y = np.eye(c)[rng.integers(0, c, n)]
    B = rng.choice([-1.0, 1.0], size=(n, r))
    return Y, B, rng.normal(size=(r, c)), rng.normal(size=(n, r)), np.zeros((3, r))


@pytest.mark.parametrize("seed", range(5))
def test_no_bit_raises_the_objective_and_the_kernel_is_the_formula(seed):
    """b_k = sgn(Q_k - B_{-k} W_{-k} w_kᵀ), column by column, with the full objective after every column."""
    Y, B, W, hashed, P = problem(seed)
    nu = 0.3
    Q = Y @ W.T + nu * hashed
    fast = B.copy()
    flips = update_bits(fast, Q, W @ W.T, 10)
    before = objective(Y, B, W, hashed, P, 1.0, nu)
    slow_flips = 0
    for _ in range(10):
        old = B.copy()
        for k in range(B.shape[1]):
            others = np.arange(B.shape[1]) != k
            column = np.where(Q[:, k] - B[:, others] @ W[others] @ W[k] >= 0, 1.0, -1.0)
            slow_flips += int((B[:, k] != column).sum())
            B[:, k] = column
            now = objective(Y, B, W, hashed, P, 1.0, nu)
            assert now <= before + 1e-9
            before = now
        if (old == B).all():
            break
    np.testing.assert_array_equal(fast, B)
    assert flips == slow_flips > 0


def test_a_settled_row_is_a_local_minimum():
    Y, B, W, hashed, P = problem(11)
    update_bits(B, Y @ W.T + hashed, W @ W.T, 1000)
    least = objective(Y, B, W, hashed, P, 1.0, 1.0)
    for i, k in np.ndindex(*B.shape):
        B[i, k] *= -1
        assert objective(Y, B, W, hashed, P, 1.0, 1.0) >= least - 1e-9
        B[i, k] *= -1


@pytest.mark.parametrize("nu", [1e-5, 1e-1])
def test_the_objective_never_rises_on_digits(nu):
    _, database, _, y = split(0)
    model = build("sdh", r=24, nu=nu, iterations=8)
    model.fit(database, y)
    assert len(model.objective) >= 6
    assert (np.diff(model.objective) <= 1e-9 * model.objective[0]).all()


def test_several_labels_a_point():
    rng = np.random.default_rng(0)
    flags = rng.random((200, 5)) < 0.3
    np.testing.assert_array_equal(indicator(flags, 200, "SDH"), flags.astype(float))
    model = build("sdh", r=16)
    model.fit(flags @ rng.normal(size=(5, 10)) + 0.1 * rng.normal(size=(200, 10)), flags)
    assert model.encode(rng.normal(size=(3, 10))).shape == (3, 2)


def test_labels_are_needed():
    with pytest.raises(ValueError, match="SDH learns from labels"):
        build("sdh").fit(np.eye(4), None)


@pytest.mark.parametrize("seed", range(3))
def test_digits(seed):
    """BASELINES section 5: 0.984 at 32 bits, centred, unit-norm, 300 RBF anchors; the database is the training set."""
    assert fitted_map("sdh", seed, "rbf") > 0.924
