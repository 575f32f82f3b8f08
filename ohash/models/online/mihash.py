"""MIHash: each point moves W so that distances to a reservoir separate neighbours from others (Cakir et al., 2017).

Relaxed code phi(x) = 2 sigmoid(A Wᵀx) - 1, distances (r - phi(x)ᵀphi(x_j)) / 2 to a uniform sample of the past, their
histograms among neighbours and others with K + 1 triangular bins; one step up the gradient of the mutual information
between distance and being a neighbour.

A step costs O(N (d + r)): the reservoir's projections are stored and moved along with W (every column moves by a
multiple of x), instead of being recomputed for O(N d r); they are recomputed every RESYNC steps, against drift.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Counts, Floats, Integers, Reals
from ohash.core.pair_projection import dot
from ohash.core.parameters import param
from ohash.models import supervision as labels
from ohash.models.base import Check, HasherSpec
from ohash.models.learners import LearnerParams, LinearLearner, PointLearner
from ohash.runtime.compile import inline, kernel

RESYNC = 1024


@inline
def same_label(a: Integers, b: Integers, flags: bool) -> bool:
    """The same class, or one flag in common."""
    if not flags:
        return bool(a[0] == b[0])
    common = 0
    for k in range(a.shape[0]):
        common |= a[k] & b[k]
    return bool(common != 0)


@kernel
def learn_points(
    Wt: Reals,  # (r, d) changed in place
    bit_updates: Counts,  # (r,) int64
    clock: Counts,  # (points seen, changes of W)
    rows: Reals,  # (n, d)
    words: Integers,  # (n, w) labels
    flags: bool,
    keys: Floats,  # (n,) random priorities
    kept: Reals,  # from here on the reservoir: rows (N, d)
    kept_words: Integers,
    kept_keys: Floats,
    projected: Floats,  # (N, r) float64 = kept · W
    filled: Counts,  # (1,) how many are kept
    first: int,
    steepness: float,
    eta: float,
    bins: int,
) -> None:
    """Learn every point against the reservoir as it was before, then offer the point to the reservoir."""
    r, d = Wt.shape
    size = kept.shape[0]
    width = r / bins
    phi, step = np.empty(r), np.empty(r)
    phi_kept = np.empty((size, r))
    at, share = np.empty(size, np.int64), np.empty(size)
    near = np.empty(size, np.bool_)
    p_near, p_far = np.empty(bins + 1), np.empty(bins + 1)
    for t in range(rows.shape[0]):
        x = rows[t]
        n = filled[0]
        n_near = 0
        for j in range(n):
            near[j] = same_label(words[t], kept_words[j], flags)
            n_near += near[j]
        if n >= first and 0 < n_near < n:
            for k in range(r):
                phi[k] = math.tanh(0.5 * steepness * dot(Wt[k], x))
                step[k] = 0.0
            p_near[:] = 0.0
            p_far[:] = 0.0
            for j in range(n):
                inner = 0.0
                for k in range(r):
                    phi_kept[j, k] = math.tanh(0.5 * steepness * projected[j, k])
                for k in range(r):
                    inner += phi[k] * phi_kept[j, k]
                place = min(max(0.5 * (r - inner) / width, 0.0), float(bins))
                b = min(int(place), bins - 1)
                at[j], share[j] = b, place - b
                if near[j]:
                    p_near[b] += (1.0 - share[j]) / n_near
                    p_near[b + 1] += share[j] / n_near
                else:
                    p_far[b] += (1.0 - share[j]) / (n - n_near)
                    p_far[b + 1] += share[j] / (n - n_near)
            for b in range(bins + 1):  # the derivative of MI by p+ and p-: log2 of their ratio to p
                p = (n_near * p_near[b] + (n - n_near) * p_far[b]) / n
                p_near[b] = math.log2(p_near[b] / p) if p_near[b] > 0 else 0.0
                p_far[b] = math.log2(p_far[b] / p) if p_far[b] > 0 else 0.0
            for j in range(n):
                b = at[j]
                slope = p_near[b + 1] - p_near[b] if near[j] else p_far[b + 1] - p_far[b]
                slope *= -0.5 / (n * width)  # d distance / d phi = -phi_j / 2
                for k in range(r):
                    step[k] += slope * phi_kept[j, k]
            moved = False
            for k in range(r):
                step[k] *= eta * 0.5 * steepness * (1.0 - phi[k] * phi[k])
                if step[k] != 0.0:
                    moved = True
                    bit_updates[k] += 1
                    factor = Wt.dtype.type(step[k])
                    w = Wt[k]
                    for c in range(d):
                        w[c] += factor * x[c]
            if moved:
                clock[1] += 1
                for j in range(n):
                    inner = dot(kept[j], x)
                    for k in range(r):
                        projected[j, k] += step[k] * inner
        _offer(Wt, x, words[t], keys[t], kept, kept_words, kept_keys, projected, filled)
        clock[0] += 1
        if clock[0] % RESYNC == 0:
            for j in range(filled[0]):
                for k in range(r):
                    projected[j, k] = dot(Wt[k], kept[j])


@inline
def _offer(
    Wt: Reals,
    x: Reals,
    word: Integers,
    key: float,
    kept: Reals,
    kept_words: Integers,
    kept_keys: Floats,
    projected: Floats,
    filled: Counts,
) -> None:
    """Keep x if there is room, or instead of the one with the lowest priority: a uniform sample of all points."""
    at = filled[0]
    if at < kept.shape[0]:
        filled[0] += 1
    else:
        at = 0
        for j in range(1, kept.shape[0]):
            if kept_keys[j] < kept_keys[at]:
                at = j
        if key <= kept_keys[at]:
            return
    for c in range(x.shape[0]):  # kept[at] = x takes seconds longer to compile
        kept[at, c] = x[c]
    for c in range(word.shape[0]):
        kept_words[at, c] = word[c]
    kept_keys[at] = key
    for k in range(Wt.shape[0]):
        projected[at, k] = dot(Wt[k], x)


@dataclass(frozen=True)
class MIHashParams(LearnerParams):
    """The authors' values: reservoir 200, K = 16, A = 10, step 1."""

    eta: float = param(
        1.0, symbol="η", title="step size", lo=0, hi=1e3, lo_open=True, slider=(1e-2, 10), scale="log",
        help="Length of a step along the gradient.",
    )  # fmt: skip
    steepness: float = param(
        10.0, symbol="A", title="steepness", lo=0, hi=1e3, lo_open=True, slider=(1, 50), scale="log",
        help="Steepness of the sigmoid that replaces the sign.",
    )  # fmt: skip
    reservoir: int = param(
        200, symbol="N", title="reservoir", lo=2, hi=100_000, slider=(20, 1000), scale="log",
        help="Past points, sampled uniformly, that each new point is compared with.",
    )  # fmt: skip
    bins: int = param(
        16, symbol="K", title="bins", lo=1, hi=1024, slider=(4, 64), step=1,
        help="Intervals of the histograms of distances.",
    )  # fmt: skip


class MIHash(PointLearner, LinearLearner):
    """One gradient step per point, against a reservoir."""

    key = "mihash"
    Params = MIHashParams
    params: MIHashParams
    ARRAYS: ClassVar[tuple[str, ...]] = (
        *PointLearner.ARRAYS, "_kept", "_kept_words", "_kept_keys", "_projected", "_filled", "_form",
    )  # fmt: skip

    def _begin(self, d: int) -> None:
        super()._begin(d)
        size = self.params.reservoir
        self._kept = np.zeros((size, d), self.params.dtype)
        self._kept_words = np.zeros((size, 1), np.int64)
        self._kept_keys = np.zeros(size)
        self._projected = np.zeros((size, self.r))
        self._filled = np.zeros(1, np.int64)
        self._form = np.zeros(1, np.int64)

    def _check_labels(self, y: npt.ArrayLike | None, n: int) -> Array:
        checked, self._form[0] = labels.check(y, n, int(self._form[0]), type(self).__name__)
        words = labels.pack_labels(checked)
        if words.shape[1] != self._kept_words.shape[1]:
            self._kept_words = np.zeros((self.params.reservoir, words.shape[1]), np.int64)
        return words

    def _learn_block(self, rows: Reals, labels: Any) -> None:
        p = self.params
        learn_points(
            self._Wt, self._bit_updates, self._clock, rows, labels, bool(self._form[0] > 0),
            self._rng.random(len(rows)), self._kept, self._kept_words, self._kept_keys, self._projected, self._filled,
            max(2, p.reservoir // 10), p.steepness, p.eta, p.bins,
        )  # fmt: skip


HASHER = HasherSpec(
    hasher=MIHash,
    title="MIHash",
    aliases=("online hashing with mutual information",),
    cite="Cakir, He, Bargal, Sclaroff: MIHash: Online Hashing with Mutual Information, ICCV 2017",
    bibtex="""@inproceedings{cakir2017mihash,
  title     = {{MIHash}: Online Hashing with Mutual Information},
  author    = {Cakir, Fatih and He, Kun and Bargal, Sarah Adel and Sclaroff, Stan},
  booktitle = {IEEE International Conference on Computer Vision},
  year      = {2017},
  pages     = {437--445},
  eprint    = {1703.08919}
}""",
    supervision="labels",
    features="vectors",
    features_source="linear hash functions of centred vectors of unit length",
    features_place="the authors' benchmark program: fcakir/mihash, +Methods/MIHash.m on +Datasets/cifar.m",
    consumes="points",
    differs="The true gradient of the mutual information, checked by finite differences: the authors' online program "
    "uses sigmoids in (0, 1) where the derivative asks for codes in (-1, 1). As there, only the path through the "
    "code of the new point is differentiated. Their trigger that holds back table updates is not part of the method "
    "here: the run decides when to re-encode.",
    checked=Check("the chain rule of the paper's objective, rewritten in plain NumPy", "60 points", 1e-10),
)
