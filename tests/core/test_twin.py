"""The kernel against the slow twin of `tests.core.reference`, column by column, in float64 to 1e-10."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ohash
from tests.core.reference import COLUMNS, Reference, random_stream
from tests.selection import first

CENTRINGS = ("none", "frozen", "running", "ema")
EXACT = ("D_h", "p0", "updated", "degenerate")


def both(T, seed, X, i, j, s, *, warm_up=20, changes=(), **options):
    """Learn the stream with both; `changes` are (pair, C, beta), set live. The model is MMOH, or OH if T is None."""
    model = (
        ohash.MMOH(T=T, seed=seed, dtype="float64", **options) if T else ohash.OH(seed=seed, dtype="float64", **options)
    )
    model.start(X.shape[1])
    W1 = model.W if T else model.W[None]
    options.pop("r")
    twin = Reference(W1, **options)
    if warm_up:
        model.warm_up(X[:warm_up])
        twin.warm_up(X[:warm_up])
    cuts = [0, *[at for at, _, _ in changes], len(i)]
    for n, (start, stop) in enumerate(itertools.pairwise(cuts)):
        if n:
            _, model.C, model.beta = changes[n - 1]
            _, twin.C, twin.beta = changes[n - 1]
        trace = model.learn(X, i[start:stop], j[start:stop], s[start:stop])
        columns = twin.learn(X, i[start:stop], j[start:stop], s[start:stop])
        for name in COLUMNS:
            ours = np.asarray(getattr(trace, name), dtype=np.float64).reshape(columns[name].shape)
            if name in EXACT:
                np.testing.assert_array_equal(ours, columns[name], err_msg=name)
            else:
                np.testing.assert_allclose(ours, columns[name], rtol=1e-10, atol=1e-10, err_msg=name)
    W = model.W if T else model.W[None]
    np.testing.assert_allclose(W, twin.W, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.mean, twin.mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.threshold, np.einsum("tdr,d->tr", W, model.mean), rtol=0, atol=1e-10)
    return model, twin


@pytest.mark.parametrize("center", first(CENTRINGS))
@pytest.mark.parametrize("T", [None, 3])
def test_thousands_of_pairs(T, center):
    X, i, j, s = random_stream(5, d=6, pairs=1500 if T is None else 600, offset=0.3)
    model, _ = both(T, 3, X, i, j, s, r=12, alpha=1, beta=0.45, C=0.05, center=center)
    assert model.certificate.updates > 200 and model.certificate.clipped > 10


@pytest.mark.parametrize("center", CENTRINGS[1:])
@pytest.mark.parametrize("T", [None, 3])
def test_vectors_far_from_the_origin(T, center):
    """A moving mean is subtracted after the projection: what cancels there is a hundred times what remains."""
    X, i, j, s = random_stream(11, d=6, pairs=300)
    both(T, 3, X + 100.0, i, j, s, r=13, beta=0.45, C=0.05, center=center, ema=0.01)


def test_beyond_the_resync_of_the_threshold():
    """W·mean is computed afresh every 4096 pairs; nothing may be seen of it."""
    X, i, j, s = random_stream(8, d=3, pairs=4200)
    both(None, 1, X, i, j, s, r=5, center="running", C=0.02)


@pytest.mark.parametrize("center", first(CENTRINGS))
@pytest.mark.parametrize("options", [{"rounds": 5}, {"select": "largest"}, {"rounds": 3, "select": "largest"}])
def test_options_that_are_off_by_default(options, center):
    X, i, j, s = random_stream(6, pairs=300, offset=0.2)
    both(2, 4, X, i, j, s, r=12, beta=0.6, C=0.03, center=center, ema=0.05, **options)


@pytest.mark.parametrize("select", ["smallest", "largest"])
@pytest.mark.parametrize("beta", first([0.55, 0.95]))
def test_long_codes(beta, select):
    """Few bits to flip out of many, and many out of many."""
    X, i, j, s = random_stream(10, d=4, pairs=60, similar=0.4)
    both(None, 6, X, i, j, s, r=130, beta=beta, select=select, C=0.02)


@pytest.mark.parametrize("center", ["none", "running"])
def test_degenerate_pairs_keep_their_loss_and_change_nothing(center):
    """Zero vectors have the code +1...+1: a dissimilar pair of two of them cannot be repaired."""
    X, i, j, s = random_stream(7, pairs=300, similar=0.3, zeros=0.5)
    model, _ = both(2, 0, X, i, j, s, warm_up=0, r=9, center=center)
    if center == "none":
        assert model.certificate.degenerate > 10 and model.certificate.sum_R_degenerate > 10


def test_live_changes_of_C_and_beta():
    X, i, j, s = random_stream(9, pairs=400)
    changes = [(100, 0.001, 0.3), (200, 5.0, 0.7), (300, 0.05, 0.55)]
    both(3, 2, X, i, j, s, r=20, alpha=2, beta=0.5, C=0.1, center="running", changes=changes)


@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_random_parameters(data):
    r = data.draw(st.integers(1, 20), "r")
    alpha = data.draw(st.integers(0, r - 1), "alpha")
    beta = data.draw(st.integers(1, 100).map(lambda v: v / 100).filter(lambda b: b * r > alpha + 1e-8), "beta")
    options = {
        "r": r,
        "alpha": alpha,
        "beta": beta,
        "C": data.draw(st.sampled_from([1e-5, 1e-3, 0.02, 0.1, 1.0, 100.0]), "C"),
        "center": data.draw(st.sampled_from(CENTRINGS), "center"),
        "ema": data.draw(st.sampled_from([1e-3, 0.1, 0.5]), "ema"),
        "select": data.draw(st.sampled_from(["smallest", "smallest", "largest"]), "select"),
    }
    seed = data.draw(st.integers(0, 2**32 - 1), "seed")
    d = data.draw(st.integers(1, 9), "d")  # at d = 1 all margins of a point are proportional, and tie
    options["rounds"] = data.draw(st.sampled_from([1, 1, 1, 2, 5] if d > 1 else [1]), "rounds")
    stream = random_stream(
        seed,
        d=d,
        pairs=40,
        similar=data.draw(st.sampled_from([0, 0.1, 0.5, 1])),
        zeros=data.draw(st.sampled_from([0, 0, 0.3])),
    )
    both(data.draw(st.sampled_from([None, 1, 2, 5]), "T"), seed, *stream, **options)


def test_on_a_line_a_second_round_can_leave_a_column_whose_sign_is_rounding():
    """Why d = 1 is tried with one round only: two bits of a similar pair cannot agree there, whatever W is.

    With margins a < b - sqrt(2)/2 the first full step leaves (b - a)/2 + sqrt(2)/4 and (b - a)/2 - sqrt(2)/4, the
    second takes (b - a)/2 + sqrt(2)/4 of each. That is 0 for the first, and only rounding decides what it hashes to.
    """
    X, i, j, s = np.array([[1.0], [-2.0]]), np.array([0]), np.array([1]), np.array([1])
    twin = Reference(np.array([[[0.3, 1.7]]]), C=100.0, rounds=2)
    twin.learn(X, i, j, s)
    assert abs(twin.W[0, 0, 0]) < 1e-14
    np.testing.assert_allclose(twin.W[0, 0, 1], -np.sqrt(2) / 2, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_long_runs(seed):
    rng = np.random.default_rng(seed)
    r, d = int(rng.integers(4, 40)), int(rng.integers(2, 24))
    X, i, j, s = random_stream(seed, d=d, pairs=3000, similar=rng.random())
    options = {
        "alpha": int(rng.integers(0, max(1, r // 4))),
        "beta": float(rng.uniform(0.3, 1)),
        "C": 10 ** rng.uniform(-4, 1),
    }
    both(int(rng.integers(1, 5)), seed, X, i, j, s, r=r, center=str(rng.choice(CENTRINGS)), **options)
