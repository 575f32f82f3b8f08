"""HCOH: each class is given a row of a Hadamard matrix, and tanh(Wᵀx) is pulled towards it (Lin et al., 2018)."""

from dataclasses import dataclass

from ohash.core.arrays import Reals
from ohash.core.parameters import param
from ohash.models.base import Check, HasherSpec
from ohash.models.learners import LearnerParams
from ohash.models.online.codewords import HadamardLearner, Words, codeword_mapping, expected_classes, learn_hcoh


@dataclass(frozen=True)
class HCOHParams(LearnerParams):
    """The authors' step for CIFAR-10 and MNIST: 0.2."""

    eta: float = param(
        0.2, symbol="η", title="step size", lo=0, hi=1e3, lo_open=True, slider=(1e-3, 1), scale="log",
        help="Length of a step along the gradient.",
    )  # fmt: skip
    classes: int = expected_classes()
    mapping: str = codeword_mapping()


class HCOH(HadamardLearner):
    """One gradient step per point towards its class's Hadamard codeword."""

    key = "hcoh"
    Params = HCOHParams
    params: HCOHParams

    def _step(self, rows: Reals, words: Words) -> None:
        learn_hcoh(self._Wt, self._bit_updates, self._clock, rows, words, self.params.eta)


HASHER = HasherSpec(
    hasher=HCOH,
    title="HCOH",
    aliases=("Hadamard codebook based online hashing",),
    cite="Lin, Ji, Liu, Wu: Supervised Online Hashing via Hadamard Codebook Learning, ACM MM 2018",
    bibtex="""@inproceedings{lin2018supervised,
  title     = {Supervised Online Hashing via {Hadamard} Codebook Learning},
  author    = {Lin, Mingbao and Ji, Rongrong and Liu, Hong and Wu, Yongjian},
  booktitle = {ACM International Conference on Multimedia},
  year      = {2018},
  doi       = {10.1145/3240508.3240519}
}""",
    supervision="labels",
    features="vectors",
    features_source="linear hash functions of centred vectors of unit length",
    features_place="the authors' program: lmbxmu/mycode, ONLINE_HASHING_UTILS/MY_ONLINE_HASHING_METHOD/HCOH.m",
    consumes="points",
    differs="A Hadamard matrix of order r has one constant column, a bit that would be the same for every class: it "
    "is replaced by balanced random signs. The codebook grows when more classes come than it has rows. Of several "
    "labels the majority decides each bit, as in HMOH.",
    checked=Check("the gradient of ½|tanh(Wᵀx) - b|², rewritten in plain NumPy", "60 points", 1e-13),
)
