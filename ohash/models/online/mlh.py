"""MLH, minimal loss hashing: structured prediction of code pairs by a hinge-like bound (Norouzi and Fleet, 2011).

loss(h(x_i), h(x_j)) <= max over g of [loss(g_i, g_j) + g_iᵀWᵀx_i + g_jᵀWᵀx_j] - |Wᵀx_i|_1 - |Wᵀx_j|_1; the maximum is
found exactly, and W descends the bound in minibatches with momentum.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Counts, Flags, Floats, Reals, Signs
from ohash.core.pair_projection import project_pair
from ohash.core.parameters import param
from ohash.models.base import Check, HasherSpec
from ohash.models.learners import LearnerParams, PairLearner
from ohash.runtime.compile import inline, kernel


@inline
def hinge(D: int, similar: bool, rho: int, weight: float, r: int) -> float:
    """Loss of a Hamming distance: similar pairs should be below rho, dissimilar ones above; at most 1 (or weight)."""
    if similar:
        return max(D - rho + 1.0, 0.0) / (r - rho + 1.0)
    return weight * max(rho - D + 1.0, 0.0) / (rho + 1.0)


@kernel
def infer(a: Reals, b: Reals, similar: bool, rho: int, weight: float, g_i: Signs, g_j: Signs) -> float:
    """The codes (g_i, g_j) that maximise loss(g_i, g_j) + g_iᵀa + g_jᵀb, among all 4^r, in O(r log r); and that value.

    A bit that differs is worth |a_k - b_k|, one that agrees |a_k + b_k|: sort by the gain of differing and try them.
    """
    r = a.shape[0]
    gain = np.empty(r)
    value = 0.0
    for k in range(r):
        gain[k] = abs(a[k] - b[k]) - abs(a[k] + b[k])
        value += abs(a[k] + b[k])
    order = np.argsort(-gain, kind="mergesort")
    best, best_value = 0, value + hinge(0, similar, rho, weight, r)
    for m in range(1, r + 1):
        value += gain[order[m - 1]]
        if value + hinge(m, similar, rho, weight, r) > best_value:
            best, best_value = m, value + hinge(m, similar, rho, weight, r)
    for m in range(r):
        k = order[m]
        if m < best:
            g_i[k] = 1 if a[k] - b[k] >= 0 else -1
            g_j[k] = -g_i[k]
        else:
            g_i[k] = g_j[k] = 1 if a[k] + b[k] >= 0 else -1
    return best_value


@kernel
def learn_pairs(
    Wt: Reals,  # (r, d) changed in place
    velocity: Floats,  # (r, d) float64
    gradient: Floats,  # (r, d) float64, sum over the minibatch so far
    waiting: Counts,  # (1,) pairs in it
    bit_updates: Counts,
    clock: Counts,
    X_i: Reals,
    X_j: Reals,
    s: Signs,
    batch: int,
    rho: int,
    weight: float,
    eta: float,
    momentum: float,
    decay: float,
    D_h: Counts,
    updated: Flags,
) -> None:
    """Gather the gradient of `batch` pairs, then move W once."""
    r, d = Wt.shape
    a, b = np.empty(r, Wt.dtype), np.empty(r, Wt.dtype)
    g_i, g_j = np.empty(r, np.int8), np.empty(r, np.int8)
    for t in range(s.shape[0]):
        x_i, x_j = X_i[t], X_j[t]
        project_pair(Wt, x_i, x_j, a, b)
        infer(a, b, s[t] > 0, rho, weight, g_i, g_j)
        for k in range(r):
            h_i, h_j = 1 if a[k] >= 0 else -1, 1 if b[k] >= 0 else -1
            D_h[t] += h_i != h_j
            if h_i != g_i[k] or h_j != g_j[k]:
                updated[t] = True
                u, v = float(h_i - g_i[k]), float(h_j - g_j[k])
                row = gradient[k]
                for c in range(d):
                    row[c] += u * x_i[c] + v * x_j[c]
        clock[0] += 1
        waiting[0] += 1
        if waiting[0] == batch:
            waiting[0] = 0
            clock[1] += 1
            for k in range(r):
                bit_updates[k] += 1
                for c in range(d):
                    velocity[k, c] = momentum * velocity[k, c] + eta * (gradient[k, c] / batch - decay * Wt[k, c])
                    Wt[k, c] += velocity[k, c]
                    gradient[k, c] = 0.0


@dataclass(frozen=True)
class MLHParams(LearnerParams):
    """The authors' step, momentum, minibatch and weight decay; rho as in their later program."""

    rho: float = param(
        0.35, symbol="ρ", title="radius", lo=0, hi=1, slider=(0.05, 0.6), step=0.01,
        help="Similar pairs should differ in fewer than this share of the bits, dissimilar ones in more.",
    )  # fmt: skip
    lambda_: float = param(
        1.0, symbol="λ", title="weight of dissimilar pairs", lo=0, hi=1e3, slider=(0.1, 10), scale="log",
        help="Weight of the loss of a dissimilar pair relative to that of a similar one.",
    )  # fmt: skip
    eta: float = param(
        0.1, symbol="η", title="step size", lo=0, hi=1e3, lo_open=True, slider=(1e-3, 1), scale="log",
        help="Length of a step.",
    )  # fmt: skip
    momentum: float = param(
        0.9, symbol="", title="momentum", lo=0, hi=0.9999, slider=(0, 0.99), step=0.01,
        help="Share of the last step that is kept.",
    )  # fmt: skip
    decay: float = param(
        1e-4, symbol="", title="weight decay", lo=0, hi=1, slider=(1e-6, 1e-1), scale="log",
        help="Pulls W towards 0, against a loose bound.",
    )  # fmt: skip
    batch: int = param(
        100, symbol="", title="pairs per minibatch", lo=1, hi=100_000, slider=(1, 1000), scale="log",
        help="W moves once after this many pairs.",
    )  # fmt: skip


class MLH(PairLearner):
    """Minibatches of pairs, exact loss-augmented inference; W moves when a minibatch is full."""

    key = "mlh"
    Params = MLHParams
    params: MLHParams
    ARRAYS: ClassVar[tuple[str, ...]] = (*PairLearner.ARRAYS, "_velocity", "_gradient", "_waiting")

    def _first_W(self, d: int) -> npt.NDArray[np.float64]:
        return np.asarray(0.1 * self._rng.standard_normal((d, self.r)).T)

    def _begin(self, d: int) -> None:
        super()._begin(d)
        self._velocity, self._gradient = np.zeros((self.r, d)), np.zeros((self.r, d))
        self._waiting = np.zeros(1, np.int64)

    def _learn_pair_block(self, x_i: Reals, x_j: Reals, s: Signs, D_h: Counts, updated: Flags) -> None:
        p = self.params
        learn_pairs(
            self._Wt, self._velocity, self._gradient, self._waiting, self._bit_updates, self._clock, x_i, x_j, s,
            p.batch, round(p.rho * p.r), p.lambda_, p.eta, p.momentum, p.decay, D_h, updated,
        )  # fmt: skip


HASHER = HasherSpec(
    hasher=MLH,
    title="MLH",
    aliases=("minimal loss hashing",),
    cite="Norouzi, Fleet: Minimal Loss Hashing for Compact Binary Codes, ICML 2011",
    bibtex="""@inproceedings{norouzi2011minimal,
  title     = {Minimal Loss Hashing for Compact Binary Codes},
  author    = {Norouzi, Mohammad and Fleet, David J.},
  booktitle = {International Conference on Machine Learning},
  year      = {2011}
}""",
    supervision="pairs",
    features="vectors",
    features_source="linear hash functions of centred vectors of unit length",
    features_place="the authors' program, in a copy: pombredanne/min-loss-hashing, create_data.m",
    consumes="pairs",
    differs="One pass over the stream with a constant step, where the authors make hundreds of epochs with a falling "
    "one. Pairs come as the stream brings them: λ weighs the dissimilar ones, while their program uses it as the "
    "least share of similar pairs in a minibatch. As in their program the losses are scaled to at most 1, and weight "
    "decay replaces the renormalisation of W in the text. It needs many pairs: W moves once per minibatch.",
    checked=Check("minibatches with inference among all 4^r pairs of codes", "60 pairs", 1e-13),
)
