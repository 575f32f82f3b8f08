"""OECC, also called OSH: random codewords for classes, one linear classifier per bit (Cakir et al., 2015, 2016).

The seed paper calls it OECC (online error-correcting codes); most benchmarks call it OSH, online supervised hashing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ohash.core.arrays import Reals
from ohash.core.parameters import param
from ohash.models.base import Check, HasherSpec
from ohash.models.learners import LearnerParams
from ohash.models.online.codewords import CodewordLearner, Words, class_indices, learn_oecc, random_words


@dataclass(frozen=True)
class OECCParams(LearnerParams):
    """The authors' step: 0.1."""

    eta: float = param(
        0.1, symbol="η", title="step size", lo=0, hi=1e3, lo_open=True, slider=(1e-3, 1), scale="log",
        help="Length of a step.",
    )  # fmt: skip
    update: str = param(
        "hinge", symbol="", title="loss", choices=("hinge", "boosted"),
        help="One hinge per bit, or bits boosted one after another by an exponential loss.",
    )  # fmt: skip
    pool: int = param(
        10_000, symbol="", title="pool of codewords", lo=1, hi=1_000_000, slider=(100, 100_000), scale="log",
        help="Random codewords to choose from; a new class gets the one farthest from all in use.",
    )  # fmt: skip


class OECC(CodewordLearner):
    """One linear classifier per bit, towards random codewords."""

    key = "oecc"
    Params = OECCParams
    params: OECCParams

    def _words(self, count: int) -> Words:
        return random_words(self._book, self.r, self.params.seed, self.params.pool, count)

    def _step(self, rows: Reals, words: Words) -> None:
        boosted = self.params.update == "boosted"
        learn_oecc(self._Wt, self._bit_updates, self._clock, rows, words, self.params.eta, boosted)

    def _learn_block(self, rows: Reals, labels: Any) -> None:
        if labels.ndim == 1:
            super()._learn_block(rows, labels)
            return
        point, flag = np.nonzero(labels)  # one step per label, in the order of the points
        seen = int(self._clock[0])
        self._step(rows[point], self._book[class_indices(self._classes, flag)])
        self._clock[0] = seen + len(rows)


HASHER = HasherSpec(
    hasher=OECC,
    title="OECC",
    aliases=("online supervised hashing", "OSH (supervised)", "Online ECC hashing"),
    cite="Cakir, Bargal, Sclaroff: Online Supervised Hashing for Ever-Growing Datasets, arXiv 1511.03257, 2015; "
    "Cakir, Bargal, Sclaroff: Online Supervised Hashing, CVIU 2016",
    bibtex="""@article{cakir2016online,
  title   = {Online Supervised Hashing},
  author  = {Cakir, Fatih and Bargal, Sarah Adel and Sclaroff, Stan},
  journal = {Computer Vision and Image Understanding},
  year    = {2016}
}

@misc{cakir2015online,
  title         = {Online Supervised Hashing for Ever-Growing Datasets},
  author        = {Cakir, Fatih and Bargal, Sarah Adel and Sclaroff, Stan},
  year          = {2015},
  eprint        = {1511.03257},
  archiveprefix = {arXiv}
}""",
    supervision="labels",
    features="vectors",
    features_source="linear classifiers of centred vectors of unit length",
    features_place="the benchmark program of its authors: fcakir/mihash, +Methods/OSH.m on +Datasets/cifar.m",
    consumes="points",
    differs="The hinge is the default: the authors' own note says that it is usually better than the boosted "
    "version. A new class takes the word of the pool that is farthest from those in use, instead of the next one. "
    "Exponents are capped at 30 against overflow, which vectors of unit length do not reach. Elsewhere this method is "
    "called OSH, a name the seed paper gives to online sketching hashing.",
    checked=Check("the authors' steps, hinge and boosted, rewritten in plain NumPy", "60 points", 1e-13),
)
