"""LEGO-LSH: an online Mahalanobis metric with LogDet regularisation, hashed by random hyperplanes (Jain et al., 2008).

A >= 0 minimises LogDet(A, A_t) + eta/2 (zᵀAz - y)² for each pair z = x_i - x_j with target y. With A = GᵀG a code is
sgn(Rᵀ G x), R drawn once.

The step is made on the factor G, so that A never needs to be factorised.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Counts, Flags, Floats, Reals, Signs
from ohash.core.pair_projection import dot
from ohash.core.parameters import param
from ohash.models.base import HasherSpec
from ohash.models.learners import LearnerParams, PairLearner
from ohash.models.linear import Planes
from ohash.runtime.compile import inline, kernel

MIN_SQUARED_DISTANCE = 1e-12  # squared distances below are treated as 0


@inline
def target_of(y_hat: float, y: float, eta: float) -> float:
    """The distance after the step: the positive root of eta y_hat v² - (eta y y_hat - 1) v - y_hat = 0."""
    p = eta * y * y_hat - 1.0
    root = math.sqrt(p * p + 4.0 * eta * y_hat * y_hat)
    return (p + root) / (2.0 * eta * y_hat) if p > 0 else 2.0 * y_hat / (root - p)


@kernel
def learn_pairs(
    G: Floats,  # (d, d) float64 changed in place
    Rt: Floats,  # (r, d) float64 random directions
    Wt: Reals,  # (r, d) float64 = Rt G, kept in step
    bit_updates: Counts,
    clock: Counts,
    X_i: Reals,
    X_j: Reals,
    s: Signs,
    near: float,
    far: float,
    eta: float,
    D_h: Counts,
    updated: Flags,
) -> None:
    """Bring the squared distance of similar pairs down towards `near`, of dissimilar ones up towards `far`."""
    r, d = Wt.shape
    z, Gz, row = np.empty(d), np.empty(d), np.empty(d)
    for t in range(s.shape[0]):
        x_i, x_j = X_i[t], X_j[t]
        for k in range(r):
            D_h[t] += (dot(Wt[k], x_i) >= 0) != (dot(Wt[k], x_j) >= 0)
        for c in range(d):
            z[c] = x_i[c] - x_j[c]
        for q in range(d):
            Gz[q] = dot(G[q], z)
        y_hat = dot(Gz, Gz)
        clock[0] += 1
        if y_hat < MIN_SQUARED_DISTANCE or (y_hat <= near if s[t] > 0 else y_hat >= far):
            continue
        wanted = target_of(y_hat, near if s[t] > 0 else far, eta)
        a = (math.sqrt(wanted / y_hat) - 1.0) / y_hat
        if a == 0.0:
            continue
        row[:] = 0.0  # Gᵀ(Gz)
        for q in range(d):
            g, factor = G[q], Gz[q]
            for c in range(d):
                row[c] += factor * g[c]
        for q in range(d):
            g, factor = G[q], a * Gz[q]
            for c in range(d):
                g[c] += factor * row[c]
        for k in range(r):
            factor = a * dot(Rt[k], Gz)
            w = Wt[k]
            for c in range(d):
                w[c] += factor * row[c]
            bit_updates[k] += 1
        updated[t] = True
        clock[1] += 1


@dataclass(frozen=True)
class LEGOParams(LearnerParams):
    """Targets as is usual for ITML: percentiles of the warm-up's squared distances.

    The step is that of public implementations, and the best of 0.01 to 3 on the validation queries of Fashion-MNIST.
    """

    eta: float = param(
        0.5, symbol="η", title="step size", lo=0, hi=1e6, lo_open=True, slider=(1e-3, 10), scale="log",
        help="How far a pair's distance is brought to its target. A stays positive definite for any value.",
    )  # fmt: skip
    near: float = param(
        5.0, symbol="", title="target of similar pairs", lo=0, hi=100, slider=(0, 50), step=1,
        help="Percentile of the warm-up's squared distances; only pairs beyond it are moved.",
    )  # fmt: skip
    far: float = param(
        95.0, symbol="", title="target of dissimilar pairs", lo=0, hi=100, slider=(50, 100), step=1,
        help="Percentile of the warm-up's squared distances; only pairs below it are moved.",
    )  # fmt: skip


class LEGO(PairLearner):
    """One metric step per pair; `G` (d, d) is the factor of A."""

    key = "lego"
    Params = LEGOParams
    params: LEGOParams
    ARRAYS: ClassVar[tuple[str, ...]] = (*PairLearner.ARRAYS, "_G", "_Rt", "_targets")

    @property
    def G(self) -> npt.NDArray[np.float64]:
        """The factor of the metric, A = GᵀG."""
        return self._G

    def _begin(self, d: int) -> None:
        super()._begin(d)
        self._Rt = np.asarray(self._Wt, np.float64)
        self._Wt = self._Rt.copy()  # float64: it follows G by small steps
        self._G = np.eye(d)
        self._targets = np.full(2, np.nan)

    def _prepare_centred(self, rows: Reals) -> None:
        squares = np.einsum("nd,nd->n", rows, rows)
        distances = np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0)
        pairwise = distances[np.triu_indices(len(rows), 1)]
        if pairwise.size:
            self._targets = np.percentile(pairwise, [self.params.near, self.params.far])

    def _learn_pair_block(self, x_i: Reals, x_j: Reals, s: Signs, D_h: Counts, updated: Flags) -> None:
        if np.isnan(self._targets).any():
            raise ValueError("LEGO takes its target distances from the first points: call warm_up(X) before learning")
        near, far = (float(value) for value in self._targets)
        learn_pairs(
            self._G, self._Rt, self._Wt, self._bit_updates, self._clock, x_i, x_j, s, max(near, 1e-12), far,
            self.params.eta, D_h, updated,
        )  # fmt: skip

    def _planes(self) -> Planes:
        return self._Wt.astype(self.params.dtype)[None], (self._Wt @ self._mean)[None]


HASHER = HasherSpec(
    hasher=LEGO,
    title="LEGO-LSH",
    aliases=("online metric learning and fast similarity search",),
    cite="Jain, Kulis, Dhillon, Grauman: Online Metric Learning and Fast Similarity Search, NIPS 2008",
    bibtex="""@inproceedings{jain2008online,
  title     = {Online Metric Learning and Fast Similarity Search},
  author    = {Jain, Prateek and Kulis, Brian and Dhillon, Inderjit S. and Grauman, Kristen},
  booktitle = {Advances in Neural Information Processing Systems},
  year      = {2008}
}""",
    supervision="pairs",
    features="vectors",
    features_source="its metric is learnt on the vectors",
    features_place="from its objective and the abstract; the rest of the paper was not at hand",
    consumes="pairs",
    differs="Pairs bring no target distances: similar ones are brought down to the 5th percentile of the warm-up's "
    "squared distances, dissimilar ones up to the 95th, and pairs already there are left alone (as is usual for ITML). "
    "Codes are computed for the whole table by the current metric, where the paper updates hash keys implicitly. "
    "Memory and time grow with d²: it is meant for d of up to a few thousand.",
)
