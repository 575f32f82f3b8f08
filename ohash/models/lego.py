"""LEGO-LSH: an online Mahalanobis metric with LogDet regularisation, hashed by random hyperplanes (Jain et al., 2008).

A >= 0 minimises LogDet(A, A_t) + eta/2 (zᵀAz - y)² for each pair z = x_i - x_j with target y. With A = GᵀG a code is
sgn(Rᵀ G x), R drawn once.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.parameters import param
from ohash.models.base import Arrays, HasherSpec, Trace
from ohash.models.lego_kernels import learn_pairs
from ohash.models.stream_learner import LearnerParams, Rows, StreamLearner


@dataclass(frozen=True)
class LEGOParams(LearnerParams):
    """Targets by the habit of ITML: percentiles of the warm-up's squared distances.

    The step is that of public programs, and the best on the validation queries of Fashion-MNIST (0.01 to 3 were tried).
    """

    eta: float = param(
        0.5, symbol="η", title="step size", lo=0, hi=1e6, lo_open=True, slider=(1e-3, 10), scale="log",
        help="How far a pair's distance is brought to its target. A stays positive definite for any.",
    )  # fmt: skip
    near: float = param(
        5.0, symbol="", title="target of similar pairs", lo=0, hi=100, slider=(0, 50), step=1,
        help="Percentile of the warm-up's squared distances; only pairs beyond it are moved.",
    )  # fmt: skip
    far: float = param(
        95.0, symbol="", title="target of dissimilar pairs", lo=0, hi=100, slider=(50, 100), step=1,
        help="Percentile of the warm-up's squared distances; only pairs below it are moved.",
    )  # fmt: skip


class LEGO(StreamLearner):
    """One metric step a pair; `G` (d, d) is the factor of A."""

    key = "lego"
    ARRAYS: ClassVar[tuple[str, ...]] = (*StreamLearner.ARRAYS, "G", "Rt", "targets")

    def __init__(self, params: LEGOParams | None = None) -> None:
        """R is drawn when the first data tell d."""
        super().__init__(params or LEGOParams())

    @property
    def G(self) -> npt.NDArray[np.float64]:
        """The factor of the metric, A = GᵀG."""
        return self._G

    def learn(self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike) -> Trace:
        """Learn pairs strictly in order."""
        return self._learn_pairs(X, i, j, s)

    def _begin(self, d: int) -> None:
        super()._begin(d)
        self._Rt = np.asarray(self._Wt, np.float64)
        self._Wt = self._Rt.copy()  # float64: it follows G by small steps
        self._G = np.eye(d)
        self._targets = np.full(2, np.nan)

    def _prepare(self, rows: Rows) -> None:
        squares = np.einsum("nd,nd->n", rows, rows)
        distances = np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0)
        known = distances[np.triu_indices(len(rows), 1)]
        if known.size:
            self._targets = np.percentile(known, [self.params.near, self.params.far])

    def _absorb_pairs(self, x_i: Rows, x_j: Rows, s: Rows, D_h: Rows, updated: Rows) -> None:
        if np.isnan(self._targets).any():
            raise ValueError("LEGO takes its target distances from the first points: call warm_up(X) before learning")
        near, far = (float(value) for value in self._targets)
        learn_pairs(
            self._G, self._Rt, self._Wt, self._bit_updates, self._clock, x_i, x_j, s, max(near, 1e-12), far,
            self.params.eta, D_h, updated,
        )  # fmt: skip

    def _planes(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        Wt = self._need_start()
        return Wt.astype(self.params.dtype), Wt @ self._mean


def restore(values: dict[str, Any], arrays: Arrays) -> LEGO:
    """A LEGO from its saved state."""
    return LEGO(LEGOParams(**values["params"])).resume(values, arrays)


HASHER = HasherSpec(
    key="lego",
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
    consumes="pairs",
    params=LEGOParams,
    build=LEGO,
    restore=restore,
    differs="Pairs bring no target distances: similar ones are brought down to the 5th percentile of the warm-up's "
    "squared distances, dissimilar ones up to the 95th, and pairs already there are left alone (the habit of ITML). "
    "Codes are computed for the whole table by the current metric, where the paper updates hash keys implicitly. "
    "Memory and time grow with d²: it is meant for d of up to a few thousand.",
)
