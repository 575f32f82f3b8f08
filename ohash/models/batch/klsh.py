"""KLSH of Kulis and Grauman: random hyperplanes in the feature space of a kernel, by the central limit theorem.

p sample points span the space. The mean of a random t of them is, by the central limit theorem, nearly Gaussian with
the covariance of the sample; whitened, it is a random hyperplane of the feature space. With K the centred kernel of
the sample, a bit is w = K^(-1/2)(1_S / t - 1/p), h(x) = sgn(Σ_i w_i κ_c(x, x_i)), κ_c centred as K.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.codes import Codes, pack
from ohash.core.parameters import check, param
from ohash.models.base import Arrays, HasherSpec
from ohash.models.storage import save

Real = npt.NDArray[np.float64]

LEAST = 1e-8  # eigenvalues below are dropped
BLOCK = 4096  # rows at once


@dataclass(frozen=True)
class KLSHParams:
    """Bits, kernel, sample, seed."""

    r: int = param(
        48, symbol="r", title="bits", lo=1, hi=8192, slider=(8, 1024), scale="log", help="Length of a code.",
    )  # fmt: skip
    similarity: str = param(
        "rbf", symbol="κ", title="its own kernel", choices=("rbf", "linear"),
        help="The kernel of KLSH itself, on whatever the feature map gives.",
    )  # fmt: skip
    bandwidth: float = param(
        0.0, symbol="σ", title="its kernel width", lo=0, hi=1e6, slider=(0, 2), step=0.05,
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
    seed: int = param(0, symbol="", title="seed", lo=0, hi=2**32 - 1, help="Draws the subsets.")

    def __post_init__(self) -> None:
        """Validate."""
        check(self)


def centred(K: Real, columns: Real, total: float) -> Real:
    """κ_c(x, x_i) = κ(x, x_i) - mean_j κ(x, x_j) - mean_j κ(x_j, x_i) + mean, for rows K of kernel values.

    `columns` are the means over the sample of each column of its own kernel matrix, `total` their mean.

    >>> K = np.array([[2.0, 1.0], [1.0, 4.0]])
    >>> centred(K, K.mean(axis=0), K.mean())
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return np.asarray(K - K.mean(axis=1, keepdims=True) - columns + total)


def inverse_root(K: Real) -> Real:
    """K^(-1/2) on the space where K is not 0."""
    values, vectors = np.linalg.eigh(K)
    kept = values > LEAST
    return np.asarray((vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T)


class KLSH:
    """h = sgn(Σ w_i κ_c(x, x_i))."""

    key = "klsh"

    def __init__(self, params: KLSHParams | None = None) -> None:
        """The sample comes from `warm_up`."""
        self.params = params or KLSHParams()
        self.version = 0
        self.sample: Real | None = None
        self.w: Real = np.zeros((0, 0))
        self.columns: Real = np.zeros(0)
        self.sigma = float("nan")

    @property
    def r(self) -> int:
        """Bits of a code."""
        return int(self.params.r)

    @property
    def d(self) -> int | None:
        """Columns of X, known after `warm_up`."""
        return None if self.sample is None else self.sample.shape[1]

    def warm_up(self, X: npt.ArrayLike) -> None:
        """The first p points span the space; the hyperplanes are drawn."""
        X = validation.finite("X", validation.cast(validation.matrix("X", X, d=self.d), "float64"))
        self.version += self.sample is not None
        self.sample = X[: self.params.p].copy()
        p = len(self.sample)
        t = min(self.params.t, p)
        squares = _squares(self.sample, self.sample)
        self.sigma = self.params.bandwidth or 0.5 * float(np.sqrt(np.median(squares[~np.eye(p, dtype=bool)]))) or 1.0
        K = self.kernel(self.sample)
        self.columns = K.mean(axis=0)
        rng = np.random.default_rng(self.params.seed)
        chosen = np.zeros((p, self.r))
        for k in range(self.r):
            chosen[rng.permutation(p)[:t], k] = 1 / t
        self.w = inverse_root(centred(K, self.columns, float(K.mean()))) @ (chosen - 1 / p)

    def kernel(self, X: Real) -> Real:
        """κ(x, x_i) for rows of X and the sample, (n, p)."""
        assert self.sample is not None
        if self.params.similarity == "linear":
            return X @ self.sample.T
        return np.asarray(np.exp(_squares(X, self.sample) / (-2 * self.sigma**2)))

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8))."""
        if self.sample is None:
            raise ValueError("klsh has no sample yet: call warm_up(X) first")
        X = validation.finite("X", validation.cast(validation.matrix("X", X, d=self.d), "float64"))
        total = float(self.columns.mean())
        packed = np.empty((len(X), -(-self.r // 8)), np.uint8)
        for start in range(0, len(X), BLOCK):
            K = centred(self.kernel(X[start : start + BLOCK]), self.columns, total)
            packed[start : start + BLOCK] = pack(K @ self.w >= 0)
        return Codes(packed, self.r, self.version)

    def save(self, path: str | Path) -> None:
        """Write to .npz."""
        save(self, path)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """For `ohash.save`."""
        values = {"params": asdict(self.params), "version": self.version}
        if self.sample is None:
            return values, {}
        scale = np.array([self.sigma])
        return values, {"sample": self.sample, "w": self.w, "columns": self.columns, "sigma": scale}


def _squares(A: Real, B: Real) -> Real:
    squares = np.square(A).sum(axis=1)[:, None] + np.square(B).sum(axis=1) - 2 * A @ B.T
    return np.asarray(np.maximum(squares, 0))


def restore(values: dict[str, Any], arrays: Arrays) -> KLSH:
    """A KLSH from its saved state."""
    model = KLSH(KLSHParams(**values["params"]))
    if "sample" in arrays:
        model.sample, model.w = np.array(arrays["sample"]), np.array(arrays["w"])
        model.columns, model.sigma = np.array(arrays["columns"]), float(arrays["sigma"][0])
    model.version = int(values["version"])
    return model


HASHER = HasherSpec(
    key="klsh",
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
    consumes="nothing",
    params=KLSHParams,
    build=KLSH,
    restore=restore,
    linear=False,
    differs="It brings its own kernel and applies it to what the feature map gives: run it with kernel='none', or its "
    "kernel works on kernel features. Both means of the kernel are subtracted, of rows and of columns; a public port "
    "subtracts one of them twice. What the Online Hashing paper calls KLSH is `kernel_lsh`.",
)
