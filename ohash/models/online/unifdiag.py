r"""UnifDiag: principal directions of the stream, rotated until every bit has the same variance (Morvan et al., 2018).

OPAST (Abed-Meraim, Chkeif, Hua, 2000) tracks an orthonormal basis W of the leading subspace of the centred stream, one
point at a time in O(d r), and with it the covariance C of the projections and its inverse Z:

.. math:: y = W^T x, \quad q = Z y / \beta, \quad \gamma = 1 / (1 + y^T q), \quad p = \gamma (x - W y), \quad
          \tau = (1 / \sqrt{1 + |p|^2 |q|^2} - 1) / |q|^2
.. math:: W \leftarrow W + (\tau W q + (1 + \tau |q|^2) p)\, q^T, \quad Z \leftarrow Z / \beta - \gamma q q^T, \quad
          C \leftarrow \beta C + y y^T

At most r - 1 Givens rotations then make every diagonal entry of RᵀCR the mean of the trace, and h = sgn(RᵀWᵀx).
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Counts, Floats, Labels, Reals
from ohash.core.parameters import Parameters, bits_param, param, precision_param, seed_param
from ohash.models.base import Check, HasherSpec
from ohash.models.learners import LinearLearner, PointLearner
from ohash.models.quantizers.rotated import random_rotation
from ohash.runtime.compile import kernel

NEARLY_SINGULAR = 1e12  # beyond this condition number nothing is forgotten: directions without data would fade away
LEVEL = 1e-12  # a variance is that of the mean when it differs by no more than this share


@dataclass(frozen=True)
class UnifDiagParams(Parameters):
    """Bits and memory."""

    r: int = bits_param()
    memory: float = param(
        1.0, symbol="β", title="memory", lo=0.5, hi=1, slider=(0.9, 1), step=0.001,
        help="Weight of the past whenever a point comes: 1 forgets nothing, 0.99 the points before the last hundred.",
    )  # fmt: skip
    dtype: str = precision_param("Precision of W.")
    seed: int = seed_param("Draws the first basis.")


@kernel
def track(X: Reals, basis: Floats, Z: Floats, C: Floats, mean: Floats, count: Counts, memory: float) -> None:
    """OPAST on the rows of X about their running mean; basis (q, d) is W transposed, all arrays change in place."""
    q, d = basis.shape
    x, p, y, g = np.empty(d), np.empty(d), np.empty(q), np.empty(q)
    for t in range(X.shape[0]):
        count[0] += 1
        square = 0.0
        for c in range(d):
            mean[c] += (X[t, c] - mean[c]) / count[0]
            x[c] = X[t, c] - mean[c]
            square += x[c] * x[c]
        if square == 0:
            continue
        if C[0, 0] == 0:  # the first point that differs from the mean sets the scale
            for k in range(q):
                C[k, k], Z[k, k] = square / d, d / square
        size = largest = 0.0
        for k in range(q):
            size += C[k, k] / q
            largest = max(largest, Z[k, k])
        keep = memory if size * largest < NEARLY_SINGULAR else 1.0
        for k in range(q):
            y[k] = 0.0
            for c in range(d):
                y[k] += basis[k, c] * x[c]
        y_g = norm_g = norm_p = 0.0
        for k in range(q):
            g[k] = 0.0
            for m in range(q):
                g[k] += Z[k, m] * y[m]
            g[k] /= keep
            y_g += y[k] * g[k]
            norm_g += g[k] * g[k]
        gamma = 1.0 / (1.0 + y_g)
        for c in range(d):
            p[c] = x[c]
        for k in range(q):
            for c in range(d):
                p[c] -= y[k] * basis[k, c]
        for c in range(d):
            p[c] *= gamma
            norm_p += p[c] * p[c]
        root = np.sqrt(1.0 + norm_p * norm_g)
        tau = -norm_p / (root * (1.0 + root))  # (1 / root - 1) / norm_g, without its cancellation
        for c in range(d):
            p[c] *= 1.0 + tau * norm_g
        for k in range(q):
            for c in range(d):
                p[c] += tau * g[k] * basis[k, c]
        for k in range(q):
            for c in range(d):
                basis[k, c] += g[k] * p[c]
            for m in range(k + 1):  # one half, mirrored: an asymmetry of Z would grow
                Z[k, m] = Z[m, k] = Z[k, m] / keep - gamma * (g[k] * g[m])
                C[k, m] = C[m, k] = keep * C[k, m] + y[k] * y[m]


def uniform_rotation(C: Floats) -> Floats:
    """The orthogonal R (q, q) for which every diagonal entry of RᵀCR is tr(C) / q.

    Each Givens rotation mixes the first entry below the mean with the first above it, and brings the former to it.

    >>> R = uniform_rotation(np.diag([5.0, 1.0, 3.0]))
    >>> np.allclose(np.diag(R.T @ np.diag([5.0, 1.0, 3.0]) @ R), 3), np.allclose(R.T @ R, np.eye(3))
    (True, True)
    """
    A, q = C.copy(), len(C)
    R = np.eye(q)
    mean = np.trace(A) / q
    for _ in range(q - 1):
        low = np.flatnonzero(np.diag(A) < mean * (1 - LEVEL))
        high = np.flatnonzero(np.diag(A) > mean * (1 + LEVEL))
        if not len(low) or not len(high):
            break
        m, n = low[0], high[0]
        half = (A[m, m] - A[n, n]) / 2
        phase = math.atan2(A[m, n], half)
        share = (mean - (A[m, m] + A[n, n]) / 2) / math.hypot(half, A[m, n])
        angle = -(phase + math.acos(min(1.0, max(-1.0, share)))) / 2
        if math.cos(angle) < 0:
            angle += math.pi
        turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        pair = [m, n]
        A[:, pair] = A[:, pair] @ turn
        A[pair] = turn.T @ A[pair]
        R[:, pair] = R[:, pair] @ turn
        A[m, m] = mean
    return R


class UnifDiag(PointLearner, LinearLearner):
    """h = sgn(RᵀWᵀ(x - mean)): W tracks the leading subspace, R makes the variances of the bits equal."""

    key = "unifdiag"
    Params = UnifDiagParams
    params: UnifDiagParams
    ARRAYS: ClassVar[tuple[str, ...]] = (
        *PointLearner.ARRAYS, "_basis", "_spread", "_inverse", "_covariance", "_count",
    )  # fmt: skip

    def _begin(self, d: int) -> None:
        q = min(self.r, d)
        self._basis = np.ascontiguousarray(random_rotation(d, q, self._rng).T)
        self._spread = np.eye(q) if q == self.r else random_rotation(self.r, q, self._rng).T
        first = (self._basis.T @ self._spread).T
        if self._given is not None:
            first = self._given[0].T
            given = first.T.astype(np.float64)
            self._basis, self._spread = (given.T, self._spread) if q == self.r else (np.eye(d), given)
            U, _, Vt = np.linalg.svd(self._basis, full_matrices=False)
            self._basis = np.ascontiguousarray(U @ Vt)  # the nearest that is orthonormal
        self._Wt = np.array(first, dtype=self.params.dtype, order="C")
        self._mean = np.zeros(d)
        self._bit_updates = np.zeros(self.r, np.int64)
        self._inverse: Floats = np.zeros((q, q))
        self._covariance: Floats = np.zeros((q, q))
        self._count = np.zeros(1, np.int64)  # points in the mean

    def _prepare_centred(self, rows: Reals) -> None:
        """The running mean starts with the points of the warm-up."""
        self._mean = np.asarray(rows.mean(axis=0), np.float64)
        self._count[0] = len(rows)
        self._clock[-1] += 1

    def _learn_block(self, rows: Reals, labels: Labels | None) -> None:
        track(rows, self._basis, self._inverse, self._covariance, self._mean, self._count, self.params.memory)
        self._clock += len(rows)
        self._bit_updates += len(rows)
        if not np.isfinite(self._basis).all():
            self._Wt = np.full_like(self._Wt, np.nan)  # overflow, which is refused
            return
        W: npt.NDArray[np.float64] = self._basis.T @ uniform_rotation(self._covariance) @ self._spread
        self._Wt = np.ascontiguousarray(W.T, dtype=self.params.dtype)


HASHER = HasherSpec(
    hasher=UnifDiag,
    title="UnifDiag",
    aliases=("streaming binary sketching", "diagonal uniformization"),
    cite="Morvan, Souloumiac, Gouy-Pailler, Atif: Streaming Binary Sketching Based on Subspace Tracking and Diagonal "
    "Uniformization, ICASSP 2018; Abed-Meraim, Chkeif, Hua: Fast Orthonormal PAST Algorithm, 2000",
    bibtex="""@inproceedings{morvan2018streaming,
  title     = {Streaming Binary Sketching Based on Subspace Tracking and Diagonal Uniformization},
  author    = {Morvan, Anne and Souloumiac, Antoine and Gouy-Pailler, C{\\'e}dric and Atif, Jamal},
  booktitle = {IEEE International Conference on Acoustics, Speech and Signal Processing},
  year      = {2018},
  eprint    = {1705.07661}
}

@article{abedmeraim2000fast,
  title   = {Fast Orthonormal {PAST} Algorithm},
  author  = {Abed-Meraim, Karim and Chkeif, Ammar and Hua, Yingbo},
  journal = {IEEE Signal Processing Letters},
  volume  = {7},
  number  = {3},
  pages   = {60--62},
  year    = {2000}
}""",
    supervision="none",
    features="vectors",
    features_source="the subspace is that of the centred vectors",
    features_place="the abstract, and OPAST; annemorvan/UnifDiagStreamBinSketching has the rotation only",
    consumes="points",
    differs="Written from the abstract, the authors' program for the rotation, and OPAST; the text of the paper was "
    "not at hand. The covariance that is made uniform is the one OPAST keeps. The first point sets its scale, so that "
    "the scale of the data does not matter. The mean is a running mean. Beyond d bits the d directions are spread over "
    "r bits by a random tight frame.",
    checked=Check("OPAST as printed, and the authors' rotation, in plain NumPy", "60 points", 1e-10),
)
