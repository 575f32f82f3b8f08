"""ITQ: iterative quantisation, PCA and then the rotation that brings the data nearest to the corners of the cube.

With V the top-r principal components of centred data, two half-steps are repeated, each of which can only lower
||B - VR||²: B = sgn(VR), and R = the rotation nearest to VᵀB (orthogonal Procrustes).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats, Reals
from ohash.core.codes import sgn
from ohash.core.parameters import Parameters, bits_param, param, precision_param, seed_param
from ohash.models.base import HasherSpec
from ohash.models.linear import FittedHalfSpaces
from ohash.models.quantizers.rotated import random_rotation
from ohash.runtime import progress
from ohash.runtime.threads import one_blas_thread


def nearest_rotation(M: Reals) -> Floats:
    """The orthogonal R that maximises tr(RᵀM).

    Divide and conquer may not converge on a matrix of low rank, such as that of ITQ with more bits than dimensions; the
    QR iteration, which is slower, does.

    >>> R = nearest_rotation(np.diag([3.0, 2.0, 0.0]))
    >>> bool(np.allclose(R @ R.T, np.eye(3))), R[0, 0].round(6)
    (True, np.float64(1.0))
    """
    try:
        U, _, Vt = np.linalg.svd(M)
    except np.linalg.LinAlgError:
        from scipy.linalg import svd  # noqa: PLC0415 (scanning the methods should load nothing heavy)

        U, _, Vt = svd(M, lapack_driver="gesvd")
    return np.asarray(U @ Vt)


@dataclass(frozen=True)
class ITQParams(Parameters):
    """Bits, iterations, seed, precision."""

    r: int = bits_param(help="Length of a code; bits beyond d are random projections of the data.")
    iterations: int = param(
        50, symbol="", title="iterations", lo=0, hi=1000, slider=(0, 100), step=1,
        help="Rounds of B = sgn(VR) and R = Procrustes(V, B); the paper uses 50.",
    )  # fmt: skip
    dtype: str = precision_param()
    seed: int = seed_param("Draws the first rotation.")


def principal_axes(centred: Floats, r: int, rng: np.random.Generator) -> Floats:
    """(d, r): the top-r eigenvectors of the covariance, largest first; random directions beyond d."""
    d = centred.shape[1]
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :r]
    if r > d:
        axes = np.concatenate([axes, random_rotation(d, r - d, rng)], axis=1)
    return np.ascontiguousarray(axes)


def quantise(V: Floats, R: Floats, iterations: int) -> tuple[Floats, Floats]:
    """R after the iterations, and ||B - VR||² after every half-step (2 * iterations entries)."""
    objective = np.empty(2 * iterations)
    for step in range(iterations):
        projected = V @ R
        B = sgn(projected).astype(np.float64)
        objective[2 * step] = np.square(B - projected).sum()
        R = nearest_rotation(V.T @ B)
        objective[2 * step + 1] = np.square(B - V @ R).sum()
        progress.report_step(step + 1, iterations)
    return R, objective


class ITQ(FittedHalfSpaces):
    """h = sgn(RᵀPᵀ(x - mean)), P the principal axes and R the learnt rotation."""

    key = "itq"
    Params = ITQParams
    params: ITQParams

    def _setup(self) -> None:
        super()._setup()
        self.objective: Floats = np.empty(0)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None) -> Self:
        """Fit from scratch; labels are ignored. `objective` then holds ||B - VR||² after every half-step."""
        X = self._rows(X, "float64")
        rng = np.random.default_rng(self.params.seed)
        mean = X.mean(axis=0)
        axes = principal_axes(X - mean, self.r, rng)
        V, R = (X - mean) @ axes, random_rotation(self.r, self.r, rng)
        with one_blas_thread():
            R, self.objective = quantise(V, R, self.params.iterations)
        self._set_hash(axes @ R, mean)
        return self


HASHER = HasherSpec(
    hasher=ITQ,
    title="ITQ",
    aliases=("iterative quantization", "iterative quantisation", "pca-itq"),
    cite="Gong, Lazebnik: Iterative quantization: a Procrustean approach to learning binary codes, CVPR 2011",
    bibtex="""@inproceedings{gong2011iterative,
  title     = {Iterative Quantization: A Procrustean Approach to Learning Binary Codes},
  author    = {Gong, Yunchao and Lazebnik, Svetlana},
  booktitle = {IEEE Conference on Computer Vision and Pattern Recognition},
  year      = {2011},
  pages     = {817--824},
  doi       = {10.1109/CVPR.2011.5995432}
}""",
    supervision="none",
    features="vectors",
    features_source="PCA of the centred vectors",
    features_place="the author's compressITQ.m, in a copy: willard-yuan/hashing-baseline-for-image-retrieval",
    consumes="batch",
    differs="The paper needs r <= d; bits beyond d start here as random projections of the centred data. Unlike the "
    "version in faiss, vectors are not normalised again and all points are used.",
)
