r"""SDOH: the distribution of similarities among codes is brought near that among labels (Lin et al., 2019).

In a chunk of n points, P has one probability per pair, from a Gaussian of the similarity about 1 (same label: 1,
another: exp(-1 / 2 σ²), then normalised), and Q has one from a Student t-distribution of the Hamming distance between
the relaxed codes H = tanh(XW):

.. math:: Q_{ij} \propto (1 + D_{ij})^{-1}, \quad D_{ij} = |h_i - h_j|^2 / 4, \qquad
          L = (P - Q) \circ (1 + D)^{-1}, \quad
          W \leftarrow W - \eta X^T ((\mathrm{diag}(L 1) - L) H \circ (1 - H^2))

steps down the gradient of KL(P || Q) until it falls by less than a threshold.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.parameters import param
from ohash.models import supervision as labels
from ohash.models.base import Check, HasherSpec
from ohash.models.learners import ChunkLearner, LearnerParams

Matrix = npt.NDArray[np.float64]
SMALLEST = float(np.finfo(np.float64).tiny)  # probabilities are at least this, for their logarithm


@dataclass(frozen=True)
class SDOHParams(LearnerParams):
    """The width is the authors'; the rest was chosen on digits of unit length, as a compromise with time.

    With chunks of 250, steps of 100 and a threshold of 0.01, mAP is 0.87 after 0.7 s; with chunks of 500 and a
    threshold of 0.001 it is 0.89 after 7 s, and with steps of 20 0.87 after 10 s.
    """

    chunk: int = param(
        250, symbol="n", title="points per chunk", lo=2, hi=5000, slider=(50, 2000), scale="log",
        help="W moves after this many points, at a cost of n² r per step. The authors: 2000.",
    )  # fmt: skip
    eta: float = param(
        100.0, symbol="η", title="step size", lo=0, hi=1e6, lo_open=True, slider=(1, 1000), scale="log",
        help="Length of a step. In the author's programs 2 and 0.05, for longer vectors.",
    )  # fmt: skip
    width: float = param(
        0.3, symbol="σ", title="width of the Gaussian", lo=0, hi=100, lo_open=True, slider=(0.1, 2), step=0.05,
        help="Pairs of different labels have the weight exp(-1 / 2σ²) of those of one label.",
    )  # fmt: skip
    threshold: float = param(
        1e-2, symbol="", title="minimum gain", lo=0, hi=1, lo_open=True, slider=(1e-4, 0.1), scale="log",
        help="The next chunk begins once a step lowers the divergence by less. In the author's programs 1e-3.",
    )  # fmt: skip
    steps: int = param(
        1000, symbol="", title="steps per chunk", lo=1, hi=10_000, slider=(1, 1000), scale="log",
        help="At most this many steps per chunk.",
    )  # fmt: skip


def pair_probabilities(similarity: Matrix) -> Matrix:
    """Similarities as probabilities of the pairs: 0 on the diagonal, and a sum of 1."""
    P = similarity.copy()
    np.fill_diagonal(P, 0.0)
    return np.asarray(np.maximum(P / max(P.sum(), SMALLEST), SMALLEST))


def divergence_step(X: Matrix, W: Matrix, H: Matrix, P: Matrix) -> tuple[float, Matrix]:
    """(KL(P || Q) at the codes H = tanh(XW), its gradient in W up to a constant)."""
    squares = np.einsum("nr,nr->n", H, H)
    near = 1.0 / (1.0 + np.maximum(squares[:, None] + squares - 2.0 * (H @ H.T), 0.0) / 4.0)
    np.fill_diagonal(near, 0.0)
    Q = np.maximum(near / near.sum(), SMALLEST)
    L = (P - Q) * near
    towards = L.sum(axis=1)[:, None] * H - L @ H
    return float((P * np.log(P / Q)).sum()), X.T @ (towards * (1.0 - H * H))


class SDOH(ChunkLearner):
    """Chunks of labelled points, each learnt by gradient steps."""

    key = "sdoh"
    Params = SDOHParams
    params: SDOHParams
    ARRAYS: ClassVar[tuple[str, ...]] = (*ChunkLearner.ARRAYS, ChunkLearner.LABELS)

    def _learn_chunk(self, X: Matrix) -> None:
        p = self.params
        P = pair_probabilities(self._similarity())
        W: Matrix = self._Wt.T.astype(np.float64)
        H = np.tanh(X @ W)
        least = np.inf
        for _ in range(p.steps):
            divergence, gradient = divergence_step(X, W, H, P)
            W = W - p.eta * gradient
            if not least - divergence > p.threshold:
                break
            least, H = divergence, np.tanh(X @ W)
        self._Wt = np.ascontiguousarray(W.T, dtype=p.dtype)
        self._bit_updates += 1
        self._clock[-1] += 1

    def _similarity(self) -> Matrix:
        """The similarity of the labels in the buffer: the Gaussian for one class per point, the cosine for flags."""
        given = self._chunk_labels
        if self._form[0] == labels.SINGLE:
            return np.where(given == given.T, 1.0, np.exp(-0.5 / self.params.width**2))
        flags: Matrix = given.astype(np.float64)
        flags /= np.sqrt(np.maximum(flags.sum(axis=1, keepdims=True), 1.0))
        return flags @ flags.T


HASHER = HasherSpec(
    hasher=SDOH,
    title="SDOH",
    aliases=("similarity distribution based online hashing",),
    cite="Lin, Ji, Chen, Zheng, Sun, Zhang, Cao, Guo, Huang: Supervised Online Hashing via Similarity Distribution "
    "Learning, arXiv 2019",
    bibtex="""@article{lin2019supervised,
  title   = {Supervised Online Hashing via Similarity Distribution Learning},
  author  = {Lin, Mingbao and Ji, Rongrong and Chen, Shen and Zheng, Feng and Sun, Xiaoshuai and Zhang, Baochang and
             Cao, Liujuan and Guo, Guodong and Huang, Feiyue},
  journal = {arXiv preprint arXiv:1905.13382},
  year    = {2019}
}""",
    supervision="labels",
    features="vectors",
    features_source="linear hash functions of the vectors, learnt here in steps chosen for unit length",
    features_place="the program of one of the authors, chenshen03/OnlineHash, online-hashing/SDOH.m, takes MNIST as "
    "given, with other steps",
    consumes="chunks",
    differs="Written from the abstract and the program of one of the authors, Shen Chen; the text of the paper was not "
    "at hand. The program can scale distances of similar and of dissimilar pairs separately; here both scales are 1, "
    "as the program has them. Chunks are an eighth as long, steps longer, and a chunk is left sooner.",
    checked=Check("the steps of the author's program, pair by pair", "30 chunks", 1e-11),
)
