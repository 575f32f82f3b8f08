"""KSH: gradient, residual identity, the refined bit is never worse, similar points agree in the end."""

import numpy as np
import pytest

from ohash.core.codes import unpack
from ohash.models.batch.ksh import Residual, _cost_and_gradient, refine, spectral
from ohash.models.supervision import SharedLabels
from tests.models.digits_data import build, fitted_map, split


def dense(S):
    """S itself."""
    return S.times(np.eye(S.H.shape[0]))


def cost_and_gradient(a, K, S):
    """-φᵀSφ and its gradient at a."""
    return _cost_and_gradient(K @ a, K, S)


def problem(seed, n=60, m=7, c=3, r=8):
    rng = np.random.default_rng(seed)
    Q = np.eye(c)[rng.integers(0, c, n)]
    S = Residual(SharedLabels(Q), r)
    for _ in range(3):
        S.explain(rng.choice([-1.0, 1.0], n))
    return rng.normal(size=(n, m)), S, rng


def test_the_operator_is_the_matrix_for_classes_and_for_flags():
    _, S, rng = problem(0)
    Q = np.eye(3)[np.random.default_rng(0).integers(0, 3, 60)]
    np.testing.assert_allclose(dense(S), 8 * ((Q @ Q.T > 0) * 2.0 - 1) - S.H @ S.H.T, atol=1e-10)
    flags = (rng.random((60, 5)) < 0.4).astype(float)
    np.testing.assert_allclose(
        dense(Residual(SharedLabels(flags), 8)), 8 * ((flags @ flags.T > 0) * 2.0 - 1), atol=1e-10
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_finite_differences(seed):
    K, S, rng = problem(seed)
    a, eps = rng.normal(size=K.shape[1]), 1e-5
    gradient = cost_and_gradient(a, K, S)[1]
    for k in range(len(a)):
        step = np.eye(len(a))[k] * eps
        slope = (cost_and_gradient(a + step, K, S)[0] - cost_and_gradient(a - step, K, S)[0]) / (2 * eps)
        assert abs(slope - gradient[k]) < 1e-6 * (1 + np.abs(gradient).max())


@pytest.mark.parametrize("seed", range(3))
def test_the_residual_identity(seed):
    """||S - hhᵀ||² = ||S||² - 2 hᵀSh + l²: the residual falls exactly when hᵀSh > l²/2."""
    _, S, rng = problem(seed)
    h, before = rng.choice([-1.0, 1.0], 60), dense(S)
    S.explain(h)
    np.testing.assert_allclose(
        np.square(dense(S)).sum(), np.square(before).sum() - 2 * h @ before @ h + 60**2, rtol=1e-12
    )


def test_the_spectral_bit_is_the_top_eigenvector_and_refining_lowers_the_cost():
    K, S, rng = problem(1)
    white = np.linalg.qr(K)[0]
    M = white.T @ S.times(white)
    a = spectral(white, M)
    assert np.isclose(np.square(white @ a).sum(), 60)
    best = a @ M @ a
    assert all(best + 1e-9 >= 60 * (v @ M @ v) / (v @ v) for v in rng.normal(size=(200, len(a))))
    last, best = refine(a, white, S, 300, 1e-6)
    costs = [cost_and_gradient(solution, white, S)[0] for solution in (best, last, a)]
    assert costs == sorted(costs) and costs[1] < costs[2]


def refine_literally(a, K, S, iterations, tolerance):
    """The steps as the authors' program takes them: every product with K is computed anew."""
    lipschitz, before, momentum, momentum_before = 1.0, a, 1.0, 0.0
    cost = cost_and_gradient(a, K, S)[0]
    for _ in range(iterations):
        v = a + (momentum_before - 1) / momentum * (a - before)
        cost_v, gradient = cost_and_gradient(v, K, S)
        while True:
            step = v - gradient / lipschitz
            cost_step = cost_and_gradient(step, K, S)[0]
            if cost_step <= cost_v - gradient @ gradient / (2 * lipschitz):
                break
            lipschitz *= 2
        before, a = a, step
        momentum_before, momentum = momentum, (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        change, cost = abs(cost_step - cost), cost_step
        if change <= tolerance * len(K):
            break
    return a


@pytest.mark.parametrize("seed", range(3))
def test_steps_that_share_products_with_K_are_the_literal_ones(seed):
    K, S, rng = problem(seed)
    a = rng.normal(size=K.shape[1])
    last, _ = refine(a, K, S, 60, 1e-9)
    np.testing.assert_allclose(last, refine_literally(a, K, S, 60, 1e-9), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_kept_bits_are_never_worse_than_spectral_ones_and_the_residual_falls():
    _, database, _, y = split(0, "rbf")
    model = build("ksh", r=12, labelled=300)
    model.fit(database, y)
    assert (model.agreement[:, 1] >= model.agreement[:, 0]).all()
    assert (model.agreement[:, 1] > 300**2 / 2).all()
    H = unpack(model.encode(database), 12).astype(float)
    inner, similar = H @ H.T / 12, y[:, None] == y
    assert inner[similar].mean() > 0.3 + inner[~similar].mean()


def test_several_labels_a_point_and_fewer_points_than_asked():
    rng = np.random.default_rng(0)
    flags = rng.random((150, 4)) < 0.3
    X = flags @ rng.normal(size=(4, 10)) + 0.1 * rng.normal(size=(150, 10))
    model = build("ksh", r=8, labelled=1000)
    model.fit(X, flags)
    H = unpack(model.encode(X), 8).astype(float)
    similar = flags.astype(int) @ flags.T.astype(int) > 0
    assert (H @ H.T)[similar].mean() > (H @ H.T)[~similar].mean() + 2


def test_labels_are_needed():
    with pytest.raises(ValueError, match="KSH learns from labels"):
        build("ksh").fit(np.eye(4), None)


def test_constant_data_do_no_harm():
    model = build("ksh", r=4)
    model.fit(np.ones((20, 3)), np.arange(20) % 2)
    assert np.isfinite(model.W).all()


@pytest.mark.slow
def test_as_many_labels_as_anchors_are_not_learnt_by_heart():
    assert fitted_map("ksh", 0, "rbf", labelled=300) > 0.87


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_digits(seed):
    """BASELINES section 5: 0.963 at 32 bits with 500 labels, centred, unit-norm, 300 RBF anchors."""
    assert fitted_map("ksh", seed, "rbf", labelled=500) > 0.903


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_digits_with_a_thousand_labels(seed):
    assert fitted_map("ksh", seed, "rbf", labelled=1000) > 0.92


@pytest.mark.parametrize("key", ["ksh", pytest.param("fasthash", marks=pytest.mark.slow)])
def test_labels_and_the_matrix_of_what_they_say_give_the_same_codes(key):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    X = rng.normal(size=(90, 6)) + 2 * np.eye(6)[y]
    labels, matrix = (build(key, r=8, labelled=70, **({"trees": 5} if key == "fasthash" else {})) for _ in range(2))
    labels.fit(X, y)
    matrix.fit_similar(X, y[:, None] == y)
    assert np.array_equal(labels.encode(X), matrix.encode(X))


@pytest.mark.parametrize("key", ["ksh", "fasthash"])
@pytest.mark.parametrize("bad", [np.eye(4, dtype=bool), np.triu(np.ones((5, 5), bool)), np.eye(5)])
def test_a_matrix_of_similarities_is_checked(key, bad):
    with pytest.raises(ValueError, match="similar must be a symmetric matrix of booleans, 5 x 5"):
        build(key, r=4).fit_similar(np.random.default_rng(0).normal(size=(5, 3)), bad)
