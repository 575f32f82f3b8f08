"""How far each implementation strays from the transcription of its published algorithm, step by step."""

from collections.abc import Callable

import numpy as np

from ohash import models
from tests.core.reference import Reference
from tests.models.trajectories import (
    adapthash,
    bsodh,
    fasthash,
    hcoh,
    hmoh,
    ksh,
    mihash,
    mlh,
    oecc,
    ohweu,
    sdh,
    sdoh,
    sketch_hash,
    unifdiag,
)

D, R, N = 10, 8, 60


def data(seed, n=N, classes=3):
    """Unit vectors in noisy classes, their labels, and a first W."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(classes, D))[y] + 0.8 * rng.normal(size=(n, D))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y, rng.normal(size=(D, R)) / np.sqrt(D)


def deviation(model, expected):
    """The largest difference of W (d, r) or (T, d, r) and of thresholds, relative to the largest entry of W."""
    W, threshold = expected
    Wt, ours = model.hyperplanes
    difference = Wt.transpose(0, 2, 1) - np.reshape(W, (len(Wt), *W.shape[-2:]))
    return float(max(np.abs(difference).max(), np.abs(ours - threshold).max()) / np.abs(W).max())


def up_to_signs(model, expected):
    """As `deviation`, but columns may be negated."""
    W, threshold = expected
    sign = np.where((model.W * W).sum(axis=0) < 0, -1.0, 1.0)
    return deviation(model, (W * sign, threshold * sign))


def pairs(seed, follow, build, n=N, r=R):
    """One pair per step."""
    X, y, W = data(seed, 2 * n)
    s = np.where(y[:n] == y[n:], 1, -1)
    model = build(W[:, :r])
    steps = follow(W[:, :r], list(zip(X[:n], X[n:], s, strict=True)))
    worst, moved = 0.0, 0
    for t, expected in enumerate(steps):
        moved += bool(model.learn(X, [t], [n + t], [s[t]]).updated.any())
        worst = max(worst, deviation(model, expected))
    assert moved > n / 10, "the steps must move W"
    return worst


def points(seed, follow, build, n=N):
    """One labelled point per step; follow(W, X, y, words)."""
    X, y, W = data(seed, n)
    model, reader = build(W), build(W)
    reader.learn_points(X, np.arange(n), y)  # draws the codewords
    words = reader.book[[list(reader.classes).index(label) for label in y]] if hasattr(reader, "book") else y
    steps = follow(W, list(zip(X, words, strict=True)))
    worst = 0.0
    for t, expected in enumerate(steps):
        model.learn_points(X, [t], [y[t]])
        worst = max(worst, deviation(model, expected))
    assert np.abs(model.W - W).max() > 0.01, "the steps must move W"
    return worst


def chunks(seed, follow, build, chunk=10, count=30):
    """One chunk per step; follow(W, [(X, y), ...])."""
    X, y, W = data(seed, chunk * count)
    model = build(W)
    parts = [(X[t : t + chunk], y[t : t + chunk]) for t in range(0, len(X), chunk)]
    worst = 0.0
    for t, expected in enumerate(follow(W, parts)):
        model.learn_points(X, np.arange(chunk * t, chunk * (t + 1)), y[chunk * t : chunk * (t + 1)])
        worst = max(worst, deviation(model, expected))
    return worst


def measure_adapthash(seed):
    """A short step, as for MIHash."""
    return pairs(
        seed, lambda W, them: adapthash.follow(W, them, 0.9, 0.1, 0.01),
        lambda W: models.AdaptHash(W=W, r=R, eta=0.1 * R, ratio=0.9, lambda_=0.01, dtype="float64"),  # η is over r
    )  # fmt: skip


def measure_oecc(seed):
    return max(
        points(
            seed, lambda W, them, follow=follow: follow(W, them, 0.1),
            lambda W, update=update: models.OECC(W=W, r=R, eta=0.1, update=update, dtype="float64"),
        )
        for update, follow in (("hinge", oecc.follow_hinge), ("boosted", oecc.follow_boosted))
    )  # fmt: skip


def measure_hcoh(seed):
    return points(
        seed, lambda W, them: hcoh.follow(W, them, 0.2), lambda W: models.HCOH(W=W, r=R, eta=0.2, dtype="float64")
    )


def measure_hmoh(seed):
    return points(seed, hmoh.follow, lambda W: models.HMOH(W=W, r=R, dtype="float64"))


def measure_mihash(seed):
    """A short step: at the authors' 1 rounding grows more than tenfold per step on so few bits and columns."""
    priorities = np.random.default_rng(seed).random(N)
    return points(
        seed, lambda W, them: mihash.follow(W, them, priorities, 20, 16, 10.0, 0.02),
        lambda W: models.MIHash(W=W, r=R, reservoir=20, eta=0.02, seed=seed, dtype="float64"),
    )  # fmt: skip


def measure_mlh(seed):
    return pairs(
        seed, lambda W, them: mlh.follow(W, them, 1, 1.0, 0.1, 0.9, 1e-4, 2),
        lambda W: models.MLH(W=W, r=4, batch=2, rho=0.35, dtype="float64"), r=4,
    )  # fmt: skip


def measure_sketch_hash(seed):
    return chunks(
        seed, lambda W, them: sketch_hash.follow(W, [X for X, _ in them], 16),
        lambda W: models.SketchHash(W=W, r=R, rows=16, chunk=10, dtype="float64"),
    )  # fmt: skip


def measure_ohweu(seed):
    X, y, _ = data(seed)
    model = models.OHWEU(r=R, seed=seed, C=0.1, dtype="float64")
    model.warm_up(X[:30])
    reader = models.OHWEU(r=R, seed=seed, dtype="float64")
    reader.learn_points(X, np.arange(N), y)  # draws the targets
    targets = np.where(reader._book[[list(reader._classes).index(label) for label in y]] >= 0, 1, -1)
    worst = 0.0
    for t, P in enumerate(ohweu.follow(np.array(model.P), list(zip(model._map(X), targets, strict=True)), 0.1)):
        model.learn_points(X, [t], [y[t]])
        worst = max(worst, np.abs(model.P - P).max() / np.abs(P).max())
    return float(worst)


def measure_unifdiag(seed):
    return max(
        points(
            seed, lambda W, them, memory=memory: unifdiag.follow(W, [x for x, _ in them], memory),
            lambda W, memory=memory: models.UnifDiag(W=W, r=R, memory=memory, dtype="float64"),
        )
        for memory in (1.0, 0.95)
    )  # fmt: skip


def measure_bsodh(seed):
    weights = {"similar": 1.23, "dissimilar": 0.217}  # no sum of some of them is 0
    return chunks(
        seed, lambda W, them: bsodh.follow(W, them, **weights, sigma=0.5, lambda_=0.6, sweeps=3),
        lambda W: models.BSODH(W=W, r=R, chunk=10, past=1000, dtype="float64", **weights),
    )  # fmt: skip


def measure_sdoh(seed):
    return chunks(
        seed, lambda W, them: sdoh.follow(W, them, 20.0, 0.3, 1e-3),
        lambda W: models.SDOH(W=W, r=R, chunk=10, eta=20.0, threshold=1e-3, dtype="float64"),
    )  # fmt: skip


def measure_sdh(seed):
    X, y, _ = data(seed)
    first = np.random.default_rng(seed).choice([-1.0, 1.0], size=(N, R))
    model = models.SDH(r=R, seed=seed, nu=1e-2, dtype="float64").fit(X, y)
    return deviation(model, sdh.fit(X, y, first, 1.0, 1e-2, 5, 10, 1e-2))


def measure_ksh(seed):
    X, y, _ = data(seed)
    return up_to_signs(models.KSH(r=R, seed=seed, dtype="float64").fit(X, y), ksh.fit(X, y, R, 500, 1e-2))


def measure_fasthash(seed):
    """The sums of the trees, which decide the bits."""
    X, y, _ = data(seed)
    settings = {"neighbours": 6, "sweeps": 2, "trees": 4, "depth": 3, "seed": seed}
    sample, expected = fasthash.fit(X, y, R, **settings)
    model = models.FastHash(r=R, **settings).fit(X, y)
    assert len(np.unique(np.sign(expected), axis=1).T) > 2, "the bits must differ"
    return float(np.abs(model.sums(X[sample]) - expected).max() / np.abs(expected).max())


def follow_algorithm_1(W, them):
    """W (T, d, r) after every pair; its transcription is also the reference of `tests/core`."""
    reference = Reference(W, alpha=0, beta=0.5, C=0.1)
    for x_i, x_j, s in them:
        reference.learn(np.stack([x_i, x_j]), [0], [1], [s])
        yield reference.W, 0.0


def measure_oh(seed):
    return pairs(
        seed, lambda W, them: follow_algorithm_1(W[None], them), lambda W: models.OH(W=W, r=R, dtype="float64")
    )


def measure_mmoh(seed):
    def several(W):
        return np.stack([W, W[::-1], W[:, ::-1]])

    return pairs(
        seed, lambda W, them: follow_algorithm_1(several(W), them),
        lambda W: models.MMOH(W=several(W), T=3, r=R, dtype="float64"),
    )  # fmt: skip


MEASURES: dict[str, Callable[[int], float]] = {
    name.removeprefix("measure_"): value for name, value in list(globals().items()) if name.startswith("measure_")
}
