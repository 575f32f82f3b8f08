"""MLH, minimal loss hashing: structured prediction of code pairs by a hinge-like bound (Norouzi and Fleet, 2011).

loss(h(x_i), h(x_j)) <= max over g of [loss(g_i, g_j) + g_iᵀWᵀx_i + g_jᵀWᵀx_j] - |Wᵀx_i|_1 - |Wᵀx_j|_1; the maximum is
found exactly, and W descends the bound in minibatches with momentum.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.parameters import param
from ohash.models.base import Arrays, HasherSpec, Trace
from ohash.models.mlh_kernels import learn_pairs
from ohash.models.stream_learner import LearnerParams, Rows, StreamLearner


@dataclass(frozen=True)
class MLHParams(LearnerParams):
    """The authors' step, momentum, minibatch and weight decay; rho as in their later program."""

    rho: float = param(
        0.35, symbol="ρ", title="radius", lo=0, hi=1, slider=(0.05, 0.6), step=0.01,
        help="Similar pairs should differ in fewer than this share of the bits, dissimilar ones in more.",
    )  # fmt: skip
    lambda_: float = param(
        1.0, symbol="λ", title="weight of dissimilar pairs", lo=0, hi=1e3, slider=(0.1, 10), scale="log",
        help="Weight of the loss of a dissimilar pair against that of a similar one.",
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
        100, symbol="", title="pairs a minibatch", lo=1, hi=100_000, slider=(1, 1000), scale="log",
        help="W moves once after so many pairs.",
    )  # fmt: skip


class MLH(StreamLearner):
    """Minibatches of pairs, exact loss-augmented inference."""

    key = "mlh"
    ARRAYS: ClassVar[tuple[str, ...]] = (*StreamLearner.ARRAYS, "velocity", "gradient", "waiting")

    def __init__(self, params: MLHParams | None = None) -> None:
        """W is drawn when the first data tell d."""
        super().__init__(params or MLHParams())

    def learn(self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike) -> Trace:
        """Learn pairs strictly in order; W moves whenever a minibatch is full."""
        return self._learn_pairs(X, i, j, s)

    def _first(self, d: int) -> npt.NDArray[np.float64]:
        return np.asarray(0.1 * self._rng.standard_normal((d, self.r)).T)

    def _begin(self, d: int) -> None:
        super()._begin(d)
        self._velocity, self._gradient = np.zeros((self.r, d)), np.zeros((self.r, d))
        self._waiting = np.zeros(1, np.int64)

    def _absorb_pairs(self, x_i: Rows, x_j: Rows, s: Rows, D_h: Rows, updated: Rows) -> None:
        p = self.params
        learn_pairs(
            self._Wt, self._velocity, self._gradient, self._waiting, self._bit_updates, self._clock, x_i, x_j, s,
            p.batch, round(p.rho * p.r), p.lambda_, p.eta, p.momentum, p.decay, D_h, updated,
        )  # fmt: skip


def restore(values: dict[str, Any], arrays: Arrays) -> MLH:
    """An MLH from its saved state."""
    return MLH(MLHParams(**values["params"])).resume(values, arrays)


HASHER = HasherSpec(
    key="mlh",
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
    consumes="pairs",
    params=MLHParams,
    build=MLH,
    restore=restore,
    differs="One pass over the stream with a constant step, where the authors make hundreds of epochs with a falling "
    "one. Pairs come as the stream brings them: λ weighs the dissimilar ones, while their program uses it as the "
    "least share of similar pairs in a minibatch. As in their program the losses are scaled to at most 1, and weight "
    "decay replaces the renormalisation of W in the text. It needs many pairs: W moves once a minibatch.",
)
