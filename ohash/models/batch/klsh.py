"""KLSH of Kulis and Grauman: random hyperplanes in the feature space of a kernel, by the central limit theorem.

A sample of p points spans the space. The mean of a random t of them is, by the central limit theorem, nearly Gaussian
with the covariance of the sample; whitened, it is a random hyperplane of the feature space. With K the centred kernel
of the sample, a bit is w = K^(-1/2)(1_S / t - 1/p), h(x) = sgn(Σ_i w_i κ_c(x, x_i)), κ_c centred as K.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats
from ohash.core.codes import Codes, pack
from ohash.core.parameters import Parameters, bits_param, param, seed_param
from ohash.models.base import HasherSpec
from ohash.models.hasher import Hasher
from ohash.runtime.frames import Arrays, JsonObject

MIN_EIGENVALUE = 1e-8  # smaller eigenvalues are dropped
ROWS_PER_BLOCK = 4096  # rows encoded at a time


@dataclass(frozen=True)
class KLSHParams(Parameters):
    """Bits, kernel, sample, seed."""

    r: int = bits_param()
    similarity: str = param(
        "rbf", symbol="κ", title="kernel of KLSH", choices=("rbf", "linear"),
        help="The kernel of KLSH itself, applied to the output of the feature map.",
    )  # fmt: skip
    bandwidth: float = param(
        0.0, symbol="σ", title="kernel width of KLSH", lo=0, hi=1e6, slider=(0, 2), step=0.05,
        help="Width of its RBF kernel; 0 = half the median distance of the sample.",
    )  # fmt: skip
    p: int = param(
        300, symbol="p", title="sample", lo=2, hi=10_000, slider=(50, 1000), scale="log",
        help="Sample points, the first of the warm-up; the paper uses 300.",
    )  # fmt: skip
    t: int = param(
        30, symbol="t", title="subset", lo=1, hi=10_000, slider=(5, 100), step=1,
        help="Points whose mean makes one hyperplane; the paper uses 30. At most p.",
    )  # fmt: skip
    seed: int = seed_param("Draws the subsets.")


def center_kernel(K: Floats, columns: Floats, total: float) -> Floats:
    """κ_c(x, x_i) = κ(x, x_i) - mean_j κ(x, x_j) - mean_j κ(x_j, x_i) + mean, for rows K of kernel values.

    `columns` are the means over the sample of each column of its own kernel matrix, `total` their mean.

    >>> K = np.array([[2.0, 1.0], [1.0, 4.0]])
    >>> center_kernel(K, K.mean(axis=0), K.mean())
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return np.asarray(K - K.mean(axis=1, keepdims=True) - columns + total)


def inverse_root(K: Floats) -> Floats:
    """K^(-1/2) on the space where K is not 0."""
    values, vectors = np.linalg.eigh(K)
    kept = values > MIN_EIGENVALUE
    return np.asarray((vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T)


class KLSH(Hasher):
    """h = sgn(Σ w_i κ_c(x, x_i))."""

    key = "klsh"
    Params = KLSHParams
    params: KLSHParams
    ARRAYS = ("sample", "w", "columns", "_sigma")

    def _setup(self) -> None:
        self.sample: Floats = np.zeros((0, 0))
        self.w: Floats = np.zeros((0, 0))
        self.columns: Floats = np.zeros(0)
        self._sigma: Floats = np.full(1, np.nan)

    @property
    def sigma(self) -> float:
        """The width of the RBF kernel in use; NaN before `warm_up`."""
        return float(self._sigma[0])

    def warm_up(self, X: npt.ArrayLike) -> None:
        """The first p points span the space; the hyperplanes are drawn."""
        X = self._rows(X, "float64")
        self._version += self.d is not None
        self._d, self.sample = X.shape[1], X[: self.params.p].copy()
        p = len(self.sample)
        t = min(self.params.t, p)
        squares = _squares(self.sample, self.sample)
        half_median = 0.5 * float(np.sqrt(np.median(squares[~np.eye(p, dtype=bool)]))) if p > 1 else 0.0
        self._sigma = np.array([self.params.bandwidth or half_median or 1.0])
        K = self.kernel(self.sample)
        self.columns = K.mean(axis=0)
        rng = np.random.default_rng(self.params.seed)
        chosen = np.zeros((p, self.r))
        for k in range(self.r):
            chosen[rng.permutation(p)[:t], k] = 1 / t
        self.w = inverse_root(center_kernel(K, self.columns, float(K.mean()))) @ (chosen - 1 / p)

    def kernel(self, X: Floats) -> Floats:
        """κ(x, x_i) for rows of X and the sample, (n, p)."""
        if self.params.similarity == "linear":
            return X @ self.sample.T
        return np.asarray(np.exp(_squares(X, self.sample) / (-2 * self.sigma**2)))

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8))."""
        if self.d is None:
            raise ValueError("klsh has no sample yet: call warm_up(X) first")
        X = self._rows(X, "float64")
        total = float(self.columns.mean())
        packed = np.empty((len(X), -(-self.r // 8)), np.uint8)
        for start in range(0, len(X), ROWS_PER_BLOCK):
            K = center_kernel(self.kernel(X[start : start + ROWS_PER_BLOCK]), self.columns, total)
            packed[start : start + ROWS_PER_BLOCK] = pack(K @ self.w >= 0)
        return Codes(packed, self.r, self.version)

    def resume(self, values: JsonObject, arrays: Arrays) -> None:
        """Go on from a saved state."""
        super().resume(values, arrays)
        self._d = self.sample.shape[1] or None


def _squares(A: Floats, B: Floats) -> Floats:
    squares = np.square(A).sum(axis=1)[:, None] + np.square(B).sum(axis=1) - 2 * A @ B.T
    return np.asarray(np.maximum(squares, 0))


HASHER = HasherSpec(
    hasher=KLSH,
    title="KLSH (Kulis and Grauman)",
    aliases=("kernelized lsh", "kernelized locality-sensitive hashing"),
    cite="Kulis, Grauman: Kernelized locality-sensitive hashing for scalable image search, ICCV 2009",
    bibtex="""@inproceedings{kulis2009kernelized,
  title     = {Kernelized Locality-Sensitive Hashing for Scalable Image Search},
  author    = {Kulis, Brian and Grauman, Kristen},
  booktitle = {IEEE International Conference on Computer Vision},
  year      = {2009}
}""",
    supervision="none",
    features="vectors",
    features_source="its kernel is its own, computed from the vectors",
    features_place="the abstract allows any kernel, and createHashTable.m, in a copy at neelrakholia/vptreeknn, takes "
    "the matrix of one; neither names the vectors",
    consumes="nothing",
    linear=False,
    differs="Its kernel is applied to the output of the feature map, which therefore has none by default. "
    "Both means of the kernel are subtracted, of rows and of columns; a public "
    "port subtracts one of them twice. What the Online Hashing paper calls KLSH is `kernel_lsh`.",
)
