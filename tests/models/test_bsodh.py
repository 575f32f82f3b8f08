"""BSODH: no step raises the objective it minimises, the past is bounded, W is the ridge regression."""

import numpy as np
import pytest

from ohash.models.online.bsodh import BSODH, BSODHParams, update_rows
from tests.models.digits import mean_map


def objective(B_s, B_e, S, WX, fit):
    """The objective without the ridge, which `update_rows` never increases."""
    return float(((B_s.T @ B_e - len(B_s) * S) ** 2).sum() + fit * ((B_s - WX) ** 2).sum())


@pytest.mark.parametrize("seed", range(6))
def test_row_updates_never_raise_the_objective(seed):
    rng = np.random.default_rng(seed)
    r, n_t, n_e, fit = 6, 20, 30, 0.5
    B_s, B_e = rng.choice([-1.0, 1.0], (r, n_t)), rng.choice([-1.0, 1.0], (r, n_e))
    S = np.where(rng.integers(0, 3, n_t)[:, None] == rng.integers(0, 3, n_e), 1.2, -0.2)
    WX = rng.normal(size=(r, n_t))
    before = objective(B_s, B_e, S, WX, fit)
    for _ in range(4):
        update_rows(B_s, B_e, S, WX, fit)
        now = objective(B_s, B_e, S, WX, fit)
        assert now <= before + 1e-9
        before = now


@pytest.mark.parametrize("seed", range(3))
def test_a_row_update_is_the_best_of_all(seed):
    """With one bit the update must find the minimum over all 2^n rows."""
    rng = np.random.default_rng(seed)
    B_e, S, WX = rng.choice([-1.0, 1.0], (1, 9)), rng.normal(size=(8, 9)), rng.normal(size=(1, 8))
    B_s = np.ones((1, 8))
    update_rows(B_s, B_e, S, WX, 0.5)
    every = (np.array([[2.0 * (n >> b & 1) - 1 for b in range(8)]]) for n in range(256))
    assert objective(B_s, B_e, S, WX, 0.5) == pytest.approx(min(objective(B, B_e, S, WX, 0.5) for B in every))


def test_the_past_is_bounded_and_a_sample_of_all():
    rng = np.random.default_rng(1)
    y = np.arange(2000) // 500
    X = rng.normal(size=(2000, 4)) + y[:, None]
    model = BSODH(BSODHParams(r=8, chunk=50, past=200))
    model.learn_points(X, np.arange(2000), y)
    assert model._codes.shape == (8, 200) and model._words.shape == (200, 1)
    assert (np.bincount(model._words[:, 0], minlength=4) > 20).all()


def test_W_is_the_ridge_regression_of_the_last_codes():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 5)), rng.integers(0, 3, 40)
    model = BSODH(BSODHParams(r=6, chunk=40, past=1000, dtype="float64"))
    model.learn_points(X, np.arange(40), y)
    W = np.linalg.solve(0.5 * X.T @ X + 0.6 * np.eye(5), 0.5 * X.T @ model._codes.T)
    np.testing.assert_allclose(model._Wt.T, W, atol=1e-10)


def test_nothing_changes_before_a_chunk_is_full():
    model = BSODH(BSODHParams(r=6, chunk=40))
    model.learn_points(np.eye(5), [0, 1, 2], [0, 1, 0])
    assert model.version == 0 and model.seen == 3


@pytest.mark.slow
def test_digits():
    """Three chunks of the 1,500 points; 0.79 to 0.87 with chunks of 150 to 750."""
    assert mean_map("bsodh", chunk=500) > 0.829 - 0.06


def test_with_hundreds_of_classes_the_weights_of_few_classes_give_all_points_one_code():
    """Why tracks have the authors' weights for Places205: the objective itself, not its steps."""
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 400
    X = rng.normal(size=(400, 32))[y] + 0.3 * rng.normal(size=(2000, 32))
    distinct = []
    for weights in ({}, {"similar": 1.0, "dissimilar": 0.0, "fit": 0.8, "lambda_": 0.9}):
        model = BSODH(r=32, chunk=500, dtype="float64", **weights)
        model.learn_points(X, np.arange(2000), y)
        distinct.append(len(np.unique(model._codes, axis=1).T))
    assert distinct[0] < 20 and distinct[1] > 100
