"""AdaptHash: each pair moves the most confidently wrong bits down the gradient of a squared similarity loss.

(f(u)ᵀf(v) - r s)² with u = Wᵀx_i, v = Wᵀx_j and f a sigmoid in (-1, 1) (Cakir and Sclaroff, 2015).

Only the most confidently wrong bits follow the gradient G; in the same step all of W is pulled towards orthogonality,
W <- W - eta G - lambda W (WᵀW - I), and its columns are scaled to unit length.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ohash.core.arrays import Counts, Flags, Reals, Signs
from ohash.core.flip_selection import smallest_first
from ohash.core.pair_projection import dot, project_pair
from ohash.core.parameters import param
from ohash.models.base import Check, HasherSpec
from ohash.models.learners import LearnerParams, PairLearner
from ohash.runtime.compile import inline, kernel
from ohash.runtime.threads import one_blas_thread


@inline
def _orthogonality(Wt: Reals, gram: Reals, slope: Reals) -> None:
    """W (WᵀW - I), transposed, the slope of |WᵀW - I|²/4; the products, O(d r²), use BLAS."""
    np.dot(Wt, Wt.T, gram)
    for k in range(Wt.shape[0]):
        gram[k, k] -= Wt.dtype.type(1.0)
    np.dot(gram, Wt, slope)


@kernel
def learn_pairs(
    Wt: Reals,  # (r, d) changed in place, rows of unit length
    bit_updates: Counts,
    clock: Counts,
    X_i: Reals,
    X_j: Reals,
    s: Signs,
    ratio: float,
    step: float,
    lambda_: float,
    D_h: Counts,
    updated: Flags,
) -> None:
    """Learn every pair in order."""
    r, d = Wt.shape
    u, v = np.empty(r, Wt.dtype), np.empty(r, Wt.dtype)
    f_u, f_v, sure, pool = np.empty(r), np.empty(r), np.empty(r), np.empty(r, np.int64)
    gram, pull = np.empty((r, r), Wt.dtype), np.empty((r, d), Wt.dtype)
    strength = Wt.dtype.type(lambda_)
    for t in range(s.shape[0]):
        x_i, x_j, similar = X_i[t], X_j[t], s[t] > 0
        project_pair(Wt, x_i, x_j, u, v)
        D = 0
        for k in range(r):
            D += (u[k] >= 0) != (v[k] >= 0)
        D_h[t] = D
        clock[0] += 1
        loss = D - (1.0 - ratio) * r if similar else ratio * r - D
        if loss <= 1e-9:
            continue
        inner = 0.0
        wrong = 0
        for k in range(r):
            f_u[k], f_v[k] = math.tanh(0.5 * u[k]), math.tanh(0.5 * v[k])  # 2 / (1 + e^-v) - 1
            inner += f_u[k] * f_v[k]
            if ((u[k] >= 0) != (v[k] >= 0)) == similar:
                sure[k] = -max(abs(u[k]), abs(v[k]))
                pool[wrong] = k
                wrong += 1
        chosen = min(math.ceil(loss - 1e-9), wrong)
        if chosen < wrong:
            smallest_first(sure, pool, wrong, chosen)
        slope = -step * 2.0 * (inner - r * s[t])
        if lambda_ > 0.0:
            _orthogonality(Wt, gram, pull)  # of W as it is before the step
        for q in range(chosen):
            k = pool[q]
            at_i = Wt.dtype.type(slope * f_v[k] * 0.5 * (1.0 - f_u[k] * f_u[k]))
            at_j = Wt.dtype.type(slope * f_u[k] * 0.5 * (1.0 - f_v[k] * f_v[k]))
            w = Wt[k]
            for c in range(d):
                w[c] += at_i * x_i[c] + at_j * x_j[c]
            if lambda_ == 0.0:
                _unit(w)
                bit_updates[k] += 1
        if lambda_ > 0.0:
            for k in range(r):
                w, towards = Wt[k], pull[k]
                for c in range(d):
                    w[c] -= strength * towards[c]
                _unit(w)
                bit_updates[k] += 1
        updated[t] = True
        clock[1] += 1


@inline
def _unit(w: Reals) -> None:
    norm = math.sqrt(dot(w, w))
    if norm > 0.0:
        factor = w.dtype.type(1.0 / norm)
        for c in range(w.shape[0]):
            w[c] *= factor


@dataclass(frozen=True)
class AdaptHashParams(LearnerParams):
    """The benchmark's values, but for the step; its default was chosen on the validation queries of Fashion-MNIST."""

    eta: float = param(
        4.0, symbol="η", title="step size", lo=0, hi=1e3, lo_open=True, slider=(1e-2, 50), scale="log",
        help="Length of a step, divided by r and by the mean ‖x‖² of the warm-up. Large steps are unstable.",
    )  # fmt: skip
    ratio: float = param(
        0.9, symbol="α", title="hinge", lo=0.5, hi=1, slider=(0.5, 1), step=0.01,
        help="Similar pairs may differ in (1 - α) r bits, dissimilar ones should in α r.",
    )  # fmt: skip
    lambda_: float = param(
        0.01, symbol="λ", title="orthogonality", lo=0, hi=0.5, slider=(0, 0.1), step=0.001,
        help="How strongly each step pulls W towards orthogonal columns; costs O(d r²).",
    )  # fmt: skip


class AdaptHash(PairLearner):
    """One step per pair that has a loss."""

    key = "adapthash"
    Params = AdaptHashParams
    params: AdaptHashParams
    ARRAYS: ClassVar[tuple[str, ...]] = (*PairLearner.ARRAYS, "_square")

    def _begin(self, d: int) -> None:
        super()._begin(d)
        self._square = np.ones(1)

    def _prepare_centred(self, rows: Reals) -> None:
        square = float(np.einsum("nd,nd->", rows, rows) / len(rows))
        self._square[0] = square if square > 0 else 1.0

    def _learn_pair_block(self, x_i: Reals, x_j: Reals, s: Signs, D_h: Counts, updated: Flags) -> None:
        p = self.params
        step = p.eta / (p.r * float(self._square[0]))
        with one_blas_thread():
            learn_pairs(self._Wt, self._bit_updates, self._clock, x_i, x_j, s, p.ratio, step, p.lambda_, D_h, updated)


HASHER = HasherSpec(
    hasher=AdaptHash,
    title="AdaptHash",
    aliases=("adaptive hashing",),
    cite="Cakir, Sclaroff: Adaptive Hashing for Fast Similarity Search, ICCV 2015",
    bibtex="""@inproceedings{cakir2015adaptive,
  title     = {Adaptive Hashing for Fast Similarity Search},
  author    = {Cakir, Fatih and Sclaroff, Stan},
  booktitle = {IEEE International Conference on Computer Vision},
  year      = {2015},
  pages     = {1044--1052}
}""",
    supervision="pairs",
    features="vectors",
    features_source="linear hash functions of centred vectors of unit length",
    features_place="the benchmark program of its authors: fcakir/mihash, +Methods/AdaptHash.m on +Datasets/cifar.m",
    consumes="pairs",
    differs="The step is divided by r: the factor (f(u)ᵀf(v) - r s) grows with r, and at the published step of 1 the "
    "method is unstable (worse than random hyperplanes on digits). It is divided by the mean squared length of the "
    "warm-up's vectors, too, which is 1 for the unit vectors the authors use. Only the hinge decides how many bits "
    "move, as published.",
    checked=Check("the authors' step, rewritten in plain NumPy", "60 pairs", 1e-11),
)
