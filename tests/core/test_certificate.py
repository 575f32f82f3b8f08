"""Lemma 1, Theorems 2 and 3 as corrected, the counter-example to Theorem 2 as printed, and the live certificate."""

import numpy as np
import pytest

import ohash
from ohash.core.certificate import Certificate, clipped_bound, total
from tests.core import reference
from tests.core.reference import random_stream


def updates(model, X, i, j, s):
    """Learn pair by pair; yield (W before, W after, x_i, x_j, step) of every update, x centred as the model did."""
    for t in range(len(i)):
        W, mean = model.W.copy(), model.mean.copy()
        x_i, x_j = X[i[t]] - mean, X[j[t]] - mean
        step = model.learn_pair(X[i[t]], X[j[t]], int(s[t]))
        for m, one in enumerate(step if isinstance(step, list) else [step]):
            if one.updated:
                before, after = (W[m], model.W[m]) if W.ndim == 3 else (W, model.W)
                yield m, before, after.copy(), x_i, x_j, one


def loss_of(U, x_i, x_j, step):
    """l_U of Eq. (21)."""
    return reference.prediction_loss(U, x_i, x_j, step.h_i, step.h_j, step.g_i, step.g_j, step.R)


@pytest.mark.parametrize("center", ["none", "running"])
@pytest.mark.parametrize("C", [0.005, 0.1, 10.0])
def test_lemma_1_is_an_equality_at_every_step(C, center):
    X, i, j, s = random_stream(0, pairs=90)
    model = ohash.OH(r=12, C=C, dtype="float64", seed=1, center=center)
    model.warm_up(X[:10])
    rng = np.random.default_rng(2)
    seen = 0
    for _, before, after, x_i, x_j, step in updates(model, X, i, j, s):
        U = rng.normal(size=before.shape) * 10 ** rng.uniform(-2, 1)
        decrease = np.sum((before - U) ** 2) - np.sum((after - U) ** 2)
        right = step.tau * (2 * step.loss - step.tau * step.norm2 - 2 * loss_of(U, x_i, x_j, step))
        assert decrease == pytest.approx(right, abs=1e-9 * max(1, np.sum(U**2)))
        seen += 1
    assert seen > 40


@pytest.mark.parametrize("center", ["none", "frozen", "running", "ema"])
@pytest.mark.parametrize("rounds", [1, 4])
def test_the_identity_holds_whatever_C_and_beta_were_and_wherever_the_mean_went(rounds, center):
    X, i, j, s = random_stream(3, pairs=4000, d=10, offset=0.5)
    model = ohash.OH(r=24, dtype="float64", seed=5, center=center, rounds=rounds)
    model.warm_up(X[:50])
    for start in range(0, 4000, 500):
        model.C, model.beta = [(0.1, 0.5), (1e-4, 0.3), (20.0, 0.6), (0.01, 1.0)][start // 500 % 4]
        model.learn(X, i[start : start + 500], j[start : start + 500], s[start : start + 500])
        certificate = model.certificate
        assert certificate.gap < 1e-13
        assert certificate.W_norm2 == pytest.approx(np.sum(model.W**2), rel=1e-14)
    assert certificate.updates > 1000 and 0 < certificate.clipped < certificate.updates
    assert abs(certificate.W_norm2 - certificate.W1_norm2) > 1, "a matrix that stays proves nothing"


def test_the_gap_sees_a_matrix_that_was_tampered_with():
    X, i, j, s = random_stream(3, pairs=300)
    model = ohash.OH(r=16, dtype="float64")
    model.learn(X, i, j, s)
    assert model.certificate.gap < 1e-13
    model._Wt[0, 3, 2] += 1e-3
    assert model.certificate.gap > 1e-7


@pytest.mark.slow
def test_a_float32_run_shows_its_drift():
    X, i, j, s = random_stream(3, pairs=4000)
    model = ohash.OH(r=16, dtype="float32")
    model.learn(X.astype(np.float32), i, j, s)
    assert 1e-10 < model.certificate.gap < 1e-5


@pytest.mark.parametrize("T", [None, 3])
def test_the_running_sums_are_the_sums_of_the_trace(T):
    X, i, j, s = random_stream(4, pairs=700, zeros=0.2, similar=0.3)
    options = {"r": 14, "beta": 0.6, "dtype": "float64", "seed": 2}
    model = ohash.MMOH(T=T, **options) if T else ohash.OH(**options)
    parts = []
    for start, C in [(0, 1e-3), (300, 0.2), (500, 3.0)]:
        model.C = C
        stop = {0: 300, 300: 500, 500: 700}[start]
        trace = model.learn(X, i[start:stop], j[start:stop], s[start:stop])
        parts.append(
            {k: v.reshape(stop - start, -1) for k, v in trace.columns().items()} | {"C": np.full(stop - start, C)}
        )
    column = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    for m, certificate in enumerate(model.certificates):
        R, n, up, bad = (column[name][:, m] for name in ("R", "norm2", "updated", "degenerate"))
        F2_then = np.maximum.accumulate(n)
        assert certificate.sum_R == pytest.approx(R[up | bad].sum())  # Eq. (28): R of the models that were selected
        assert certificate.sum_loss == pytest.approx(column["loss"][:, m].sum())
        assert certificate.F2 == n.max()
        assert certificate.max_sqrt_R == np.sqrt(R[up]).max()
        assert certificate.required_C == certificate.max_sqrt_R / certificate.F2
        assert certificate.updates == up.sum() and certificate.degenerate == bad.sum()
        assert certificate.sum_R_degenerate == pytest.approx(R[bad].sum())
        assert certificate.clipped == (up & (column["tau"][:, m] < column["ratio"][:, m])).sum()
        assert certificate.C_large_enough == (up & (column["C"] * F2_then >= np.sqrt(R))).sum()
        assert certificate.sum_tau_sqrt_R == pytest.approx((column["tau"][:, m] * np.sqrt(R)).sum())
    whole = model.certificate
    assert whole.sum_R == pytest.approx(sum(c.sum_R for c in model.certificates))
    assert whole.F2 == max(c.F2 for c in model.certificates)
    assert whole.W_norm2 == pytest.approx(np.sum(model.W**2))
    assert whole.degenerate > 0
    if T:
        assert whole.sum_R < column["R"].sum(), "R of models that were not selected must not count"


@pytest.mark.parametrize("T", [1, 4])
@pytest.mark.parametrize("seed", range(5))
def test_the_bound_holds_wherever_C_was_large_enough(seed, T):
    met = 0
    for C in (1e-4, 1e-3, 0.02, 0.1, 1.0, 10.0):
        X, i, j, s = random_stream(seed, pairs=300, d=5, zeros=0.05)
        model = ohash.MMOH(T=T, r=10, C=C, dtype="float64", seed=seed)
        model.learn(X, i, j, s)
        for certificate in [model.certificate, *model.certificates]:
            if certificate.share_C_large_enough == 1:
                met += 1
                assert certificate.sum_R - certificate.sum_R_degenerate <= certificate.bound * (1 + 1e-12)
    assert met > 5


def test_the_bound_can_fail_where_C_was_too_small():
    """So that share_C_large_enough is worth showing."""
    X, i, j, s = random_stream(1, pairs=2000, d=4)
    model = ohash.OH(r=8, C=1e-9, dtype="float64")
    model.learn(X * 1e-2, i, j, s)
    assert model.certificate.share_C_large_enough < 1
    assert model.certificate.sum_R > model.certificate.bound


def theorem_parts(steps, U):
    """(sum R, F², Σ max(0, l_U)) with one U, or one per model; sums over the models."""
    sum_R = F2 = clipped = 0.0
    for m, _, _, x_i, x_j, step in steps:
        l_U = loss_of(U[m] if U.ndim == 3 else U, x_i, x_j, step)
        sum_R += step.R
        F2 = max(F2, step.norm2)
        clipped += max(0.0, l_U)
    return sum_R, F2, clipped


@pytest.mark.parametrize("C", [0.05, 0.5, 10.0])
@pytest.mark.parametrize("T", [None, 3])
def test_corrected_theorems_2_and_3_hold_for_every_U(T, C):
    X, i, j, s = random_stream(6, pairs=80, d=5)
    rng = np.random.default_rng(1)
    options = {"r": 8, "C": C, "dtype": "float64", "seed": 3}
    trained = ohash.MMOH(T=T, **options) if T else ohash.OH(**options)
    trained.start(5)
    W1 = trained.W.copy()
    trained.learn(X, i, j, s)
    comparators = [
        W1,
        0 * W1,
        trained.W.copy(),
        3 * trained.W,
        rng.normal(size=W1.shape),
        20 * rng.normal(size=W1.shape),
    ]
    model = ohash.MMOH(T=T, **options) if T else ohash.OH(**options)
    model.start(5)
    steps = list(updates(model, X, i, j, s))
    for U in comparators:
        sum_R, F2, clipped = theorem_parts(steps, U)
        assert C >= model.certificate.max_sqrt_R / F2, "the theorem's premise, Eq. (25)"
        bound = clipped_bound(F2, C, np.sum((U - W1) ** 2), [clipped])
        assert sum_R <= bound


def test_theorem_2_as_printed_is_false():
    """PAPER_NOTES 2.1: U = W¹ + C x(g - h)ᵀ makes l_U and the printed right side negative once C > 2 l / F²."""
    violations = updated = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        model = ohash.OH(r=8, C=10.0, dtype="float64", seed=seed)
        x_i, x_j = rng.normal(size=(2, 4))
        model.start(4)
        W1 = model.W.copy()
        step = model.learn_pair(x_i, x_j, -1)
        if not step.updated:
            continue
        updated += 1
        M = reference.direction(x_i, x_j, step.h_i, step.h_j, step.g_i, step.g_j)
        U = W1 + model.C * M
        l_U = loss_of(U, x_i, x_j, step)
        printed = step.norm2 * (np.sum((U - W1) ** 2) + 2 * model.C * l_U)
        assert printed == pytest.approx(step.norm2 * (2 * model.C * step.loss - model.C**2 * step.norm2))
        corrected = clipped_bound(step.norm2, model.C, np.sum((U - W1) ** 2), [l_U])
        assert model.C >= step.sqrt_R / step.norm2, "the premise holds, and yet"
        assert step.R <= corrected
        if model.C > 2 * step.loss / step.norm2:
            assert printed < 0 < step.R
            violations += 1
    assert violations == updated > 10


def test_totals_of_nothing_and_of_one():
    model = ohash.OH(r=8, dtype="float64")
    model.start(3)
    certificate = model.certificate
    assert (certificate.sum_R, certificate.bound, certificate.gap, certificate.required_C) == (0, 0, 0, 0)
    assert certificate.share_C_large_enough == 1
    assert total([certificate]) == certificate and isinstance(certificate, Certificate)
