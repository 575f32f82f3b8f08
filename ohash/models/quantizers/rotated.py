"""Rotated sign: h = sgn(R(x - mean)) with a random rotation R, the 1-bit codes to try first.

A rotation spreads the variance evenly over the bits, where a plain sign depends on the coordinates. With r <= d the
columns of R are orthonormal; for more bits further rotations are stacked.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.parameters import Parameters, bits_param, centring_param, precision_param, seed_param
from ohash.models.base import HasherSpec
from ohash.models.linear import DrawnHalfSpaces


@dataclass(frozen=True)
class RotatedParams(Parameters):
    """Bits, centring, seed, precision."""

    r: int = bits_param(help="Length of a code: at most d bits come from one rotation, more from several.")
    center: str = centring_param("frozen")
    dtype: str = precision_param()
    seed: int = seed_param("Draws the rotation.")


def random_rotation(d: int, r: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """(d, r) whose blocks of d columns are the columns of uniformly (Haar) drawn rotations.

    >>> R = random_rotation(3, 5, np.random.default_rng(0))
    >>> np.allclose(R[:, :3] @ R[:, :3].T, np.eye(3)), np.allclose(R[:, 3:].T @ R[:, 3:], np.eye(2))
    (True, True)
    """
    blocks = []
    for start in range(0, r, d):
        Q, upper = np.linalg.qr(rng.standard_normal((d, min(d, r - start))))
        blocks.append(Q * np.where(np.diag(upper) < 0, -1.0, 1.0))  # QR alone is not uniform: its signs are fixed
    return np.concatenate(blocks, axis=1)


class Rotated(DrawnHalfSpaces):
    """h = sgn(Rᵀ(x - mean)), R drawn once."""

    key = "rotated"
    Params = RotatedParams
    params: RotatedParams

    def _draw(self, d: int) -> npt.NDArray[np.float64]:
        return random_rotation(d, self.r, np.random.default_rng(self.params.seed))


class RotatedAboutMean(Rotated):
    """A rotation whose mean is kept, for methods that estimate a distance about it."""

    ARRAYS = (*Rotated.ARRAYS, "mean")

    def _setup(self) -> None:
        super()._setup()
        self.mean: npt.NDArray[np.float64] = np.zeros(0)

    def _begin(self, d: int) -> None:
        self.mean = np.zeros(d)
        super()._begin(d)

    def _set_mean(self, mean: npt.NDArray[np.float64], n: int) -> None:
        super()._set_mean(mean, n)
        self.mean = mean


HASHER = HasherSpec(
    hasher=Rotated,
    title="Rotated sign",
    aliases=("randomly rotated sign", "rotated binary quantisation"),
    cite="Jegou, Furon, Fuchs: Anti-sparse coding for approximate nearest neighbor search, ICASSP 2012; "
    "Gong, Lazebnik, Gordo, Perronnin: Iterative quantization, TPAMI 2013 (as a baseline)",
    bibtex="""@article{gong2013iterative,
  title   = {Iterative Quantization: A Procrustean Approach to Learning Binary Codes for Large-Scale Image Retrieval},
  author  = {Gong, Yunchao and Lazebnik, Svetlana and Gordo, Albert and Perronnin, Florent},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  year    = {2013},
  volume  = {35},
  number  = {12},
  pages   = {2916--2929},
  doi     = {10.1109/TPAMI.2012.193}
}

@inproceedings{jegou2012anti,
  title     = {Anti-Sparse Coding for Approximate Nearest Neighbor Search},
  author    = {J{\\'e}gou, Herv{\\'e} and Furon, Teddy and Fuchs, Jean-Jacques},
  booktitle = {IEEE International Conference on Acoustics, Speech and Signal Processing},
  year      = {2012}
}""",
    supervision="none",
    features="distance",
    features_source="it keeps the angles of the vectors about their mean",
    features_place="by its definition",
    consumes="nothing",
    differs="No single paper: a random orthogonal transform before the sign is the common ancestor of ITQ (which "
    "learns it) and RaBitQ (which adds a better distance). Beyond d bits independent rotations are stacked.",
)
