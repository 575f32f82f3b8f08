"""HMOH: one perceptron per bit towards Hadamard codewords, hashed by the sum of its weights (Lin et al., 2020)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Reals
from ohash.core.parameters import param
from ohash.models.base import Check, HasherSpec
from ohash.models.learners import LearnerParams
from ohash.models.linear import Planes
from ohash.models.online.codewords import HadamardLearner, Words, codeword_mapping, expected_classes, learn_hmoh


@dataclass(frozen=True)
class HMOHParams(LearnerParams):
    """No step size: a perceptron that starts from W = 0 is scale-free."""

    average: str = param(
        "points", symbol="W̄", title="average", choices=("points", "mistakes", "none"),
        help="The hash is the sum of each bit's w after every point (as in the authors' program), after its mistakes "
        "only, or the last w.",
    )  # fmt: skip
    classes: int = expected_classes()
    mapping: str = codeword_mapping()


class HMOH(HadamardLearner):
    """One perceptron per bit; the hash is `_sums`, the sum of its weights."""

    key = "hmoh"
    Params = HMOHParams
    params: HMOHParams
    ARRAYS: ClassVar[tuple[str, ...]] = (*HadamardLearner.ARRAYS, "_sums")

    def _first_W(self, d: int) -> npt.NDArray[np.float64]:
        return np.zeros((self.r, d))

    def _begin(self, d: int) -> None:
        super()._begin(d)
        self._sums = self._Wt.astype(np.float64)  # millions are added

    def _step(self, rows: Reals, words: Words) -> None:
        every = self.params.average == "points"
        learn_hmoh(self._Wt, self._sums, self._bit_updates, self._clock, rows, words, 1.0, every)

    def _planes(self) -> Planes:
        if self.params.average == "none":
            return super()._planes()
        return self._sums.astype(self.params.dtype)[None], (self._sums @ self._mean)[None]


HASHER = HasherSpec(
    hasher=HMOH,
    title="HMOH",
    aliases=("Hadamard matrix guided online hashing",),
    cite="Lin, Ji, Liu, Sun, Chen, Tian: Hadamard Matrix Guided Online Hashing, IJCV 2020",
    bibtex="""@article{lin2020hadamard,
  title   = {Hadamard Matrix Guided Online Hashing},
  author  = {Lin, Mingbao and Ji, Rongrong and Liu, Hong and Sun, Xiaoshuai and Chen, Shen and Tian, Qi},
  journal = {International Journal of Computer Vision},
  year    = {2020},
  volume  = {128},
  number  = {8},
  pages   = {2279--2306}
}""",
    supervision="labels",
    features="kernel",
    features_source="an RBF kernel for MNIST and Places205, none for CIFAR-10 and NUS-WIDE",
    features_place="the authors' program: lmbxmu/mycode, 2020IJCV_HMOH/s2019IJCV_HMOH.m, on vectors as given",
    consumes="points",
    differs="No learning rate: W starts from 0, so it would change no code. The average is kept as a sum over all "
    "points: the authors' program divides it by the number of mistakes, which changes no sign. A projection of 0 "
    "counts as +1, as everywhere here (the authors: -1). The constant column of the Hadamard matrix is replaced, and "
    "the book grows with the classes, as in HCOH here.",
    checked=Check("the authors' perceptrons and their sum, rewritten in plain NumPy", "60 points", 1e-13),
)
