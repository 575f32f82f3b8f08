"""The update against independent anchors: brute force, a QP's conditions, scikit-learn's PA-I, pencil and paper."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier

import ohash
from ohash.core.loss import dissimilar_threshold, explain, similarity_loss, update, zero_loss_codes
from tests.core import reference
from tests.selection import first


def test_a_pair_worked_by_hand():
    """d = 2, r = 3, every number by pencil.

    W has the columns w_1 = (1, 0), w_2 = (0, 1), w_3 = (1, -1); x_i = (3, 1), x_j = (1, 2); s = -1 (dissimilar);
    alpha = 0, beta = 0.9, C = 0.1.

        p_i = Wᵀx_i = (3, 1, 2)          h_i = (+1, +1, +1)
        p_j = Wᵀx_j = (1, 2, -1)         h_j = (+1, +1, -1)            Eq. (1)
        D_h = 1 (bit 3);  beta r = 2.7;  R = 2.7 - 1 = 1.7             Eq. (3)
        p0 = ceil(2.7) - 1 = 2, so both bits of the pool K_0 = {1, 2} flip
        delta_1 = min(3, 1) = 1 on side j;  delta_2 = min(1, 2) = 1 on side i     Eq. (19)
        g_i = (+1, -1, +1);  g_j = (-1, +1, -1): they differ in 3 >= 2.7 bits     Eq. (20)
        H = (3 + 1 + 2) + (1 + 2 + 1) = 10                             Eq. (4)
        G = (3 - 1 + 2) + (-1 + 2 + 1) = 6                             Eq. (5)
        l = 10 - 6 + sqrt(1.7) = 4 + 1.30384 = 5.30384                 Eq. (6)
        x (g - h)ᵀ = x_i (0, -2, 0) + x_j (-2, 0, 0) = [[-2, -6, 0], [-4, -2, 0]]
        its squared norm = 4 + 36 + 16 + 4 = 60;  l / 60 = 0.0883974 < C = tau    Eq. (16)
        w_1 = (1, 0) - 2 tau (1, 2) = (0.823205, -0.353590)
        w_2 = (0, 1) - 2 tau (3, 1) = (-0.530384, 0.823205);  w_3 stays           Eq. (18)

    tau < C, so the constraint of Eq. (7) is met exactly: l(W after) = 0. But the new projections are
    p_i = (2.1160, -0.7679, 2) and p_j = (0.1160, 1.1160, -1): bit 1 has not turned, D_h = 2, R falls from 1.7 to 0.7.
    """
    W = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]])
    x_i, x_j = np.array([3.0, 1.0]), np.array([1.0, 2.0])
    model = ohash.OH(r=3, alpha=0, beta=0.9, C=0.1, dtype="float64", W=W)
    step = model.learn_pair(x_i, x_j, -1)
    assert step.p_i.tolist() == [3, 1, 2] and step.p_j.tolist() == [1, 2, -1]
    assert step.h_i.tolist() == [1, 1, 1] and step.h_j.tolist() == [1, 1, -1]
    assert step.D_h == 1 and step.R == pytest.approx(1.7, abs=1e-15)
    assert step.flips.pool.tolist() == [0, 1] and step.flips.delta.tolist() == [1, 1]
    assert step.flips.bits.tolist() == [0, 1] and step.flips.sides == ("j", "i") and step.p0 == 2
    assert step.g_i.tolist() == [1, -1, 1] and step.g_j.tolist() == [-1, 1, -1]
    assert (step.H, step.G) == (10, 6)
    assert step.loss == pytest.approx(4 + math.sqrt(1.7), abs=1e-14)
    assert step.norm2 == 60
    assert step.tau == pytest.approx(0.0883974, abs=1e-7) and step.tau_candidates == (0.1, step.tau)
    assert step.columns.tolist() == [0, 1]
    expected = [[0.823205, -0.530384, 1.0], [-0.353590, 0.823205, -1.0]]
    np.testing.assert_allclose(model.W, expected, atol=1e-6)
    np.testing.assert_allclose(x_i @ model.W, [2.1160, -0.7679, 2], atol=1e-4)
    np.testing.assert_allclose(x_j @ model.W, [0.1160, 1.1160, -1], atol=1e-4)
    assert step.R_after == pytest.approx(0.7, abs=1e-15)
    np.testing.assert_allclose(update(W, x_i, x_j, -1, alpha=0, beta=0.9, C=0.1), model.W, rtol=0, atol=1e-15)


# -- Algorithm 1 in its readable form ------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "beta", "C"), [(0, 0.5, 0.1), (2, 0.45, 0.01), (1, 1.0, 10.0)])
@pytest.mark.parametrize("seed", first(range(4)))
def test_the_readable_update_equals_the_kernel_and_the_literal_equations(seed, alpha, beta, C):
    """Pair by pair along a stream with zero vectors, so that full, capped, degenerate and no steps all occur."""
    X, i, j, s = reference.random_stream(seed, d=5, pairs=150, zeros=0.1)
    model = ohash.OH(r=10, alpha=alpha, beta=beta, C=C, dtype="float64", seed=seed)
    model.start(5)
    W = model.W.copy()
    oracle = reference.Reference(W[None], alpha, beta, C)
    kinds = set()
    for t in range(len(i)):
        pair = X[i[t]], X[j[t]], s[t]
        W_next = update(W, *pair, alpha=alpha, beta=beta, C=C)
        step = model.learn_pair(*pair)
        oracle.step(*pair)
        assert (W_next is W) == (not step.updated)
        W = W_next
        np.testing.assert_allclose(W, model.W, rtol=0, atol=1e-12)
        np.testing.assert_allclose(W, oracle.W[0], rtol=0, atol=1e-12)
        kinds.add("degenerate" if step.degenerate else "none" if not step.updated else step.tau == C)
    assert {"degenerate", "none"} < kinds and kinds & {True, False}


def test_the_readable_update_changes_nothing_it_is_given():
    W, x_i, x_j = np.ones((2, 3)), np.array([1.0, 2.0]), np.array([2.0, 1.0])
    given_ = [array.copy() for array in (W, x_i, x_j)]
    assert not np.array_equal(update(W, x_i, x_j, -1), W)
    for array, before in zip((W, x_i, x_j), given_, strict=True):
        np.testing.assert_array_equal(array, before)


# -- Algorithms 2 and 3 by brute force ---------------------------------------------------------------------------


def cheapest_by_brute_force(p_i, p_j, s, alpha, beta):
    """(min of H - G, fewest flips) over all 4^r code pairs with R(g) = 0 that flip as few bits as any of them."""
    r = len(p_i)
    H = np.abs(p_i).sum() + np.abs(p_j).sum()
    h_i, h_j = [[1 if v >= 0 else -1 for v in p] for p in (p_i, p_j)]
    best = (math.inf, math.inf)
    for g in itertools.product((-1, 1), repeat=2 * r):
        g_i, g_j = g[:r], g[r:]
        if reference.similarity_loss(g_i, g_j, s, alpha, beta) == 0:
            flips = reference.hamming(g_i, h_i) + reference.hamming(g_j, h_j)
            best = min(best, (flips, H - float(np.dot(g_i, p_i) + np.dot(g_j, p_j))))
    return best


@pytest.mark.parametrize("r", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("s", [-1, 1])
def test_zero_loss_codes_are_the_cheapest_of_all(r, s):
    rng = np.random.default_rng(r * 10 + s)
    flipped = 0
    for trial in range(40 if r < 5 else 12):
        alpha = int(rng.integers(0, r))
        beta = float(rng.uniform((alpha + 0.01) / r, 1)) if trial % 2 else 1.0
        p_i, p_j = rng.normal(size=(2, r))
        flips, cost = cheapest_by_brute_force(p_i, p_j, s, alpha, beta)
        step = explain(p_i, p_j, 1.0, 1.0, s, alpha=alpha, beta=beta, C=1.0)
        assert step.p0 == flips
        assert step.H - step.G == pytest.approx(cost, abs=1e-12)
        flipped += flips
    assert flipped > 5


# -- the quadratic program, Eq. (7) ------------------------------------------------------------------------------


class Program:
    """minimise ½‖W - W_t‖² + C ξ subject to l(W) <= ξ, ξ >= 0, for the codes and the R of the literal equations.

    l(W) = √R - <M, W> is linear with M = x (g - h)ᵀ, so the program is convex and these conditions decide it. With the
    multipliers τ of l(W) <= ξ and μ of ξ >= 0: W - W_t = τ M and C = τ + μ, τ, μ >= 0, τ (l(W) - ξ) = 0 and μ ξ = 0.
    """

    def __init__(self, W, x_i, x_j, s, *, beta, C):
        h_i, h_j = reference.hash_code(W, x_i), reference.hash_code(W, x_j)
        self.R = reference.similarity_loss(h_i, h_j, s, 0, beta)
        g_i, g_j, _ = reference.zero_loss_pair(W, x_i, x_j, h_i, h_j, s, 0, beta)
        self.W, self.x_i, self.x_j, self.C, self.codes = W, x_i, x_j, C, (h_i, h_j, g_i, g_j)
        self.M = reference.direction(x_i, x_j, *self.codes)

    def loss(self, W):
        return reference.prediction_loss(W, self.x_i, self.x_j, *self.codes, self.R)

    def cost(self, W):
        """With the smallest ξ that W allows."""
        return 0.5 * reference.frobenius2(W - self.W) + self.C * max(0.0, self.loss(W))

    def assert_solved_by(self, W, close=1e-11):
        moved, loss = W - self.W, self.loss(W)
        tau, xi = np.sum(moved * self.M) / reference.frobenius2(self.M), max(0.0, loss)
        mu = self.C - tau
        np.testing.assert_allclose(moved, tau * self.M, rtol=0, atol=close)
        assert min(tau, mu) >= -close
        assert abs(tau * (loss - xi)) <= close and abs(mu * xi) <= close

    def assert_not_bettered(self, W, rng, close=1e-11):
        """By a W nearby, by one on the way to W_t or beyond, or by W_t itself."""
        others = [W + size * rng.normal(size=W.shape) for size in 10.0 ** rng.uniform(-7, 0, 200)]
        others += [self.W + share * (W - self.W) for share in (0, 0.5, 0.99, 0.9999, 1.0001, 1.01, 2)]
        assert self.cost(W) <= min(map(self.cost, others)) + close


def one_step(seed, s, C):
    """(the program, W after the step)."""
    rng = np.random.default_rng(seed)
    while True:
        W, (x_i, x_j) = rng.normal(size=(3, 4)), rng.normal(size=(2, 3))
        model = ohash.OH(r=4, beta=0.75, C=C, dtype="float64", W=W)
        if model.learn_pair(x_i, x_j, s).updated:
            return Program(W, x_i, x_j, s, beta=0.75, C=C), model.W


@pytest.mark.parametrize("C", [1e-3, 0.05, 10.0])
@pytest.mark.parametrize("s", [-1, 1])
@pytest.mark.parametrize("seed", first([0, 1, 2]))
def test_the_step_solves_the_quadratic_program(seed, s, C):
    program, W = one_step(seed, s, C)
    program.assert_solved_by(W)
    program.assert_not_bettered(W, np.random.default_rng(seed))


@pytest.mark.parametrize("C", [1e-3, 10.0])  # cut short by C, and met exactly
@pytest.mark.parametrize("s", [-1, 1])
def test_no_other_step_passes_for_the_solution(s, C):
    program, W = one_step(0, s, C)
    step = W - program.W
    for wrong in (0.99 * step, 1.01 * step, 0 * step, -step, step[:, ::-1], step + 1e-5):
        with pytest.raises(AssertionError):
            program.assert_solved_by(program.W + wrong)
        with pytest.raises(AssertionError):
            program.assert_not_bettered(program.W + wrong, np.random.default_rng(0))


# -- scikit-learn ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", first([0.02, 0.001, 1.0]))
def test_one_bit_is_sklearns_passive_aggressive_classifier(C):
    """r = 1, beta = 1, s = -1: OH is PA-I on w' = 2 w with C' = 4 C, the flipped side labelled -h."""
    d, n = 5, 400
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(n, d)), rng.normal(size=(d, 1))
    model = ohash.OH(r=1, beta=1.0, C=C, dtype="float64", W=w)
    peer = SGDClassifier(
        loss="hinge", penalty=None, learning_rate="pa1", eta0=4 * C, fit_intercept=False, shuffle=False
    )
    peer.partial_fit(X[:1], [1], classes=[-1, 1])  # only to make coef_ exist
    peer.coef_ = 2 * w.T.copy()
    updates = clipped = 0
    for i, j in rng.integers(0, n, (900, 2)):
        p_i, p_j = float(X[i] @ model.W[:, 0]), float(X[j] @ model.W[:, 0])
        trace = model.learn(X, [i], [j], [-1])
        if (p_i >= 0) == (p_j >= 0):
            x, label = (X[i], -1 if p_i >= 0 else 1) if abs(p_i) <= abs(p_j) else (X[j], -1 if p_j >= 0 else 1)
            peer.partial_fit(x[None], [label])
            updates += 1
            clipped += trace.tau[0] == C
            assert trace.updated[0]
        else:
            assert not trace.updated[0]
    np.testing.assert_allclose(2 * model.W.T, peer.coef_, atol=1e-9)
    assert updates > 300
    assert clipped > 100 if C == 0.001 else clipped < updates


# -- the float trap ----------------------------------------------------------------------------------------------


def test_the_float_trap():
    """0.55 * 100 is 55.00000000000001 in floating point: taken literally, D_h = 55 has R > 0 and nothing to flip."""
    assert 0.55 * 100 > 55
    p_i, p_j = np.ones(100), np.ones(100)
    p_j[:55] = -1
    step = explain(p_i, p_j, 1.0, 1.0, -1, alpha=0, beta=0.55, C=1.0)
    assert (step.D_h, step.R, step.p0) == (55, 0, 0)
    model = ohash.OH(r=100, beta=0.55, dtype="float64", W=np.vstack([p_i, p_j]))
    trace = model.learn(np.eye(2), [0], [1], [-1])
    assert (trace.D_h[0], trace.R[0], trace.updated[0]) == (55, 0, False)


def test_loss_and_flips_agree_on_the_whole_grid():
    """R > 0 exactly where there is a bit to flip: beta = .01 ... 1, r = 8 ... 256, at the distances around beta r."""
    traps = 0
    for r in range(8, 257):
        for hundredth in range(1, 101):
            beta = hundredth / 100
            br = dissimilar_threshold(beta, r)
            exact = hundredth * r / 100 if hundredth * r % 100 else hundredth * r // 100
            assert br == pytest.approx(exact, rel=1e-15)
            for D in {math.floor(br) - 1, math.floor(br), math.ceil(br), math.ceil(br) + 1}:
                if 0 <= D <= r:
                    assert (similarity_loss(D, -1, 0, br) > 0) == (math.ceil(br) - D > 0)
            traps += (beta * r > round(beta * r)) and hundredth * r % 100 == 0
    assert traps >= 30, "the grid holds no trap: the test proves nothing"


def test_the_kernel_on_the_traps_of_the_grid():
    """The same through the kernel, for every (beta, r) whose product is an integer that floating point overshoots."""
    for r in range(8, 257):
        for hundredth in range(1, 101):
            D, rest = divmod(hundredth * r, 100)
            if rest or hundredth / 100 * r <= D:
                continue
            W = np.ones((2, r))
            W[1, :D] = -1
            trace = ohash.OH(r=r, beta=hundredth / 100, dtype="float64", W=W).learn(np.eye(2), [0], [1], [-1])
            assert trace.D_h[0] == D and trace.R[0] == 0 and not trace.updated[0]


# -- laws of one step --------------------------------------------------------------------------------------------

vectors = st.integers(1, 6).flatmap(
    lambda d: st.tuples(*[st.lists(st.floats(-4, 4, width=32), min_size=d, max_size=d) for _ in range(2)])
)


@st.composite
def steps(draw):
    """(model, x_i, x_j, s) with random thresholds."""
    x_i, x_j = (np.array(x) for x in draw(vectors))
    r = draw(st.integers(1, 24))
    alpha = draw(st.integers(0, r - 1))
    beta = draw(st.floats(0.01, 1).filter(lambda b: dissimilar_threshold(b, r) > alpha))
    C = draw(st.sampled_from([1e-4, 0.1, 10.0, 1e5]))
    select = draw(st.sampled_from(["smallest", "largest"]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    model = ohash.OH(r=r, alpha=alpha, beta=beta, C=C, select=select, dtype="float64", W=rng.normal(size=(x_i.size, r)))
    return model, x_i, x_j, draw(st.sampled_from([-1, 1]))


@settings(deadline=None, max_examples=300)
@given(steps())
def test_laws_of_one_step(case):
    model, x_i, x_j, s = case
    W, C = model.W.copy(), model.C
    step = model.learn_pair(x_i, x_j, s)
    r, flips = model.r, step.flips
    n_i, n_j = flips.sides.count("i"), flips.sides.count("j")
    assert n_i + n_j == step.p0
    assert (step.R > 0) == (step.p0 > 0)
    assert reference.similarity_loss(step.g_i, step.g_j, s, model.alpha, model.beta) == 0
    if step.R > 0:
        D_g = reference.hamming(step.g_i, step.g_j)
        assert D_g == (model.alpha if s == 1 else math.ceil(dissimilar_threshold(model.beta, r)))
        assert step.loss >= step.sqrt_R - 1e-12 > 0
        assert step.loss == pytest.approx(
            2 * flips.delta[np.isin(flips.pool, flips.bits)].sum() + step.sqrt_R, abs=1e-9
        )
        assert step.norm2 == pytest.approx(4 * (n_i * x_i @ x_i + n_j * x_j @ x_j), rel=1e-12, abs=0)
    else:
        assert not step.updated and not step.degenerate and step.tau == step.ratio == step.loss == 0
    assert step.tau <= C
    assert step.tau == (min(C, step.ratio) if step.updated else 0)
    untouched = np.setdiff1d(np.arange(r), step.columns)
    np.testing.assert_array_equal(model.W[:, untouched], W[:, untouched])
    assert step.columns.tolist() == (flips.bits.tolist() if step.updated else [])
    if step.updated and step.tau < C:
        codes = [step.h_i, step.h_j, step.g_i, step.g_j]
        scale = np.abs(W).sum() * (np.abs(x_i).sum() + np.abs(x_j).sum()) + step.loss
        assert abs(reference.prediction_loss(model.W, x_i, x_j, *codes, step.R)) <= 1e-12 * max(1, scale)


@settings(deadline=None, max_examples=100)
@given(steps(), st.sampled_from([2.0**-20, 0.5, 4.0, 2.0**20]))
def test_scaling_both_points_changes_no_code(case, c):
    """A power of two scales exactly, so the codes must be equal, not almost."""
    model, x_i, x_j, s = case
    one = model.learn_pair(x_i, x_j, s, dry_run=True)
    other = model.learn_pair(c * x_i, c * x_j, s, dry_run=True)
    for name in ("h_i", "h_j", "g_i", "g_j"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.p0, one.R, one.D_h) == (other.p0, other.R, other.D_h)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**6), st.sampled_from([-1, 1]), st.booleans(), st.integers(1, 150), st.floats(0, 1))
def test_equal_margins_are_taken_in_order_and_flip_side_i(seed, s, largest, r, share):
    """Margins of two sizes tie all the time: the choice is the stable order, and Eq. (20) flips i.

    `share` spreads p0 from one bit to nearly all of them, so that every way the kernel has to select is taken.
    """
    rng = np.random.default_rng(seed)
    p_i, p_j = rng.choice([-1.0, -0.5, 0.5, 1.0], size=(2, r))
    D_h = int((np.sign(p_i) != np.sign(p_j)).sum())
    alpha, br = (int(share * D_h), r) if s == 1 else (0, D_h + round(share * (r - D_h)))
    assume(alpha < br)
    flips = zero_loss_codes(p_i, p_j, s, alpha, float(br), largest=largest)
    p0 = len(flips.bits)
    ranked = sorted(range(len(flips.pool)), key=lambda n: -flips.delta[n] if largest else flips.delta[n])
    assert flips.bits.tolist() == sorted(flips.pool[ranked[:p0]].tolist())
    for bit, side in zip(flips.bits, flips.sides, strict=True):
        assert side == ("i" if abs(p_i[bit]) <= abs(p_j[bit]) else "j")
    model = ohash.OH(
        r=r,
        alpha=alpha,
        beta=br / r,
        dtype="float64",
        W=np.vstack([p_i, p_j]),
        select="largest" if largest else "smallest",
    )
    trace = model.learn(np.eye(2), [0], [1], [s])
    assert trace.p0[0] == p0
    assert np.flatnonzero(model.bit_updates[0]).tolist() == flips.bits.tolist()
    moved_i = np.flatnonzero(model.W[0] != p_i)
    assert moved_i.tolist() == [b for b, side in zip(flips.bits, flips.sides, strict=True) if side == "i"]
