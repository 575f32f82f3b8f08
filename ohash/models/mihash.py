"""MIHash: each point moves W so that distances to a reservoir tell neighbours from the others (Cakir et al., 2017).

Relaxed code phi(x) = 2 sigmoid(A Wᵀx) - 1, distances (r - phi(x)ᵀphi(x_j)) / 2 to a uniform sample of the past, their
histograms among neighbours and others with K + 1 triangular bins; one step up the gradient of the mutual information
between distance and being a neighbour.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.parameters import param
from ohash.models import labels
from ohash.models.base import Arrays, HasherSpec
from ohash.models.mihash_kernels import learn_points
from ohash.models.stream_learner import LearnerParams, Rows, StreamLearner


@dataclass(frozen=True)
class MIHashParams(LearnerParams):
    """The authors' values: reservoir 200, K = 16, A = 10, step 1."""

    eta: float = param(
        1.0, symbol="η", title="step size", lo=0, hi=1e3, lo_open=True, slider=(1e-2, 10), scale="log",
        help="Length of a step along the gradient.",
    )  # fmt: skip
    steepness: float = param(
        10.0, symbol="A", title="steepness", lo=0, hi=1e3, lo_open=True, slider=(1, 50), scale="log",
        help="How steep the sigmoid is that stands for the sign.",
    )  # fmt: skip
    reservoir: int = param(
        200, symbol="N", title="reservoir", lo=2, hi=100_000, slider=(20, 1000), scale="log",
        help="Points of the past, sampled uniformly, that each new point is compared with.",
    )  # fmt: skip
    bins: int = param(
        16, symbol="K", title="bins", lo=1, hi=1024, slider=(4, 64), step=1,
        help="Intervals of the histograms of distances.",
    )  # fmt: skip


class MIHash(StreamLearner):
    """One gradient step a point, against a reservoir."""

    key = "mihash"
    ARRAYS: ClassVar[tuple[str, ...]] = (
        *StreamLearner.ARRAYS, "kept", "kept_words", "kept_keys", "projected", "filled", "form",
    )  # fmt: skip

    def __init__(self, params: MIHashParams | None = None) -> None:
        """W is drawn when the first data tell d."""
        super().__init__(params or MIHashParams())

    def learn_points(self, X: npt.ArrayLike, i: npt.ArrayLike, y: npt.ArrayLike | None) -> None:
        """Learn rows i of X, strictly in order, with their labels."""
        self._learn_points(X, i, y)

    def _begin(self, d: int) -> None:
        super()._begin(d)
        size = self.params.reservoir
        self._kept = np.zeros((size, d), self.params.dtype)
        self._kept_words = np.zeros((size, 1), np.int64)
        self._kept_keys = np.zeros(size)
        self._projected = np.zeros((size, self.r))
        self._filled = np.zeros(1, np.int64)
        self._form = np.zeros(1, np.int64)

    def _check_labels(self, y: npt.ArrayLike | None, n: int) -> npt.NDArray[Any]:
        found, self._form[0] = labels.check(y, n, int(self._form[0]), "MIHash")
        words = labels.words(found)
        if words.shape[1] != self._kept_words.shape[1]:
            self._kept_words = np.zeros((self.params.reservoir, words.shape[1]), np.int64)
        return words

    def _absorb(self, rows: Rows, labels: Any) -> None:
        p = self.params
        learn_points(
            self._Wt, self._bit_updates, self._clock, rows, labels, bool(self._form[0] > 0),
            self._rng.random(len(rows)), self._kept, self._kept_words, self._kept_keys, self._projected, self._filled,
            max(2, p.reservoir // 10), p.steepness, p.eta, p.bins,
        )  # fmt: skip


def restore(values: dict[str, Any], arrays: Arrays) -> MIHash:
    """A MIHash from its saved state."""
    return MIHash(MIHashParams(**values["params"])).resume(values, arrays)


HASHER = HasherSpec(
    key="mihash",
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
    consumes="points",
    params=MIHashParams,
    build=MIHash,
    restore=restore,
    differs="The true gradient of the mutual information, checked by finite differences: the authors' online program "
    "uses sigmoids in (0, 1) where the derivative asks for codes in (-1, 1). As there, only the path through the "
    "code of the new point is differentiated. Their trigger that holds back table updates is no part of the method "
    "here: the run decides when to re-encode.",
)
