"""Click whitening: differences between similar points are noise; whiten them, keep what varies most, take signs.

C is the covariance of x_i - x_j over similar pairs, T the covariance of all points. Then y = C^(-1/2)(x - mean) has
noise of equal strength in every direction, and the top eigenvectors of C^(-1/2) T C^(-1/2) are where points differ
most in units of that noise: W = C^(-1/2) V D, with weights D = 1 - 1/(2 eigenvalue), the share of a direction's
variance that is not noise, rotated at random so that no bit is better than another. Closed form, from similar
pairs alone; dissimilar pairs only add their points to T.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Floats
from ohash.core.codes import hamming
from ohash.core.parameters import Parameters, bits_param, param, precision_param, seed_param
from ohash.models.base import HasherSpec, Trace
from ohash.models.learners import first_matrix
from ohash.models.linear import FittedHalfSpaces
from ohash.models.quantizers.rotated import random_rotation
from ohash.runtime.threads import one_blas_thread

# Pairs are summed in blocks of this many, and W is recomputed after whole blocks only: results depend on the order of
# the pairs and never on how they are cut into calls.
PAIRS_PER_BLOCK = 128
MIN_WEIGHT = 1e-3  # keeps all directions where none has signal


@dataclass(frozen=True)
class ClickWhiteningParams(Parameters):
    """Bits, components, shrinkage, refreshes, seed, precision."""

    r: int = bits_param()
    components: int = param(
        0, symbol="k", title="components", lo=0, hi=8192, slider=(0, 256), step=1,
        help="Directions that are kept before the random rotation; 0 = as many as bits (at most d).",
    )  # fmt: skip
    shrink: float = param(
        0.1, symbol="γ", title="shrinkage", lo=0, lo_open=True, hi=1, slider=(0.01, 1), step=0.01,
        help="How far C is shrunk towards a multiple of the identity; 1 leaves plain principal components.",
    )  # fmt: skip
    weigh: bool = param(
        True, symbol="", title="weighted directions",
        help="Weight every direction by the share of its variance that is not noise, so that k hardly matters.",
    )  # fmt: skip
    refresh: float = param(
        0.25, symbol="", title="refresh", lo=0, lo_open=True, hi=10, slider=(0.05, 1), step=0.05,
        help="W is computed again when the pairs have grown by this share.",
    )  # fmt: skip
    dtype: str = precision_param()
    seed: int = seed_param("Draws the rotation.")


def whitener(C: Floats) -> Floats:
    """C^(-1/2) of a positive definite matrix.

    >>> whitener(np.diag([4.0, 0.25]))
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    values, vectors = np.linalg.eigh(C)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def discriminants(C: Floats, T: Floats, k: int, *, weigh: bool) -> Floats:
    """(d, k): C^(-1/2) times the top-k eigenvectors of C^(-1/2) T C^(-1/2), weighted by their share of signal.

    A direction without signal has the eigenvalue 1/2, since C is the covariance of a difference of two.
    """
    half = whitener(C)
    values, vectors = np.linalg.eigh(half @ T @ half)
    axes = half @ vectors[:, ::-1][:, :k]
    signal = 1 - 0.5 / np.maximum(values[::-1][:k], 0.5)
    return np.asarray(axes * np.maximum(signal, MIN_WEIGHT) if weigh else axes)


class ClickWhitening(FittedHalfSpaces):
    """h = sgn(Rᵀ Vᵀ C^(-1/2) (x - mean))."""

    key = "click_whitening"
    Params = ClickWhiteningParams
    params: ClickWhiteningParams
    ARRAYS = (*FittedHalfSpaces.ARRAYS, "_sums", "_counts", "_waiting", "_waiting_s", "mean")

    def __init__(self, params: object = None, /, *, W: npt.ArrayLike | None = None, **keywords: object) -> None:
        """Parameters by keyword, or as one object; `W` (d, r) is the hash until the first pairs replace it."""
        super().__init__(params, **keywords)
        if W is not None:
            first = first_matrix(W, self.r, self.params.dtype)[0]
            self._set_hash(first, np.zeros(len(first)))

    def _setup(self) -> None:
        super()._setup()
        self.mean: Floats = np.zeros(0)
        self._sums = np.zeros((2, 0, 0))  # of zzᵀ over similar pairs; of (x - mean)(x - mean)ᵀ
        self._counts = np.zeros(4, np.int64)  # similar pairs, points, all pairs, pairs at the last refresh
        self._waiting = np.zeros((0, 2, 0))  # pairs of the block that is not full, centred
        self._waiting_s = np.zeros(0, np.int8)

    def warm_up(self, X: npt.ArrayLike) -> None:
        """Mean and covariance of the first points; before any pairs the hash is PCA with a rotation, or the given W."""
        X = self._rows(X, "float64")
        d, given = X.shape[1], self._W.size > 0 and not self.mean.size
        self.mean = X.mean(axis=0)
        self._sums = np.zeros((2, d, d))
        self._sums[1] = (X - self.mean).T @ (X - self.mean)
        self._counts[:] = 0, len(X), 0, 0
        self._waiting = np.zeros((0, 2, d))
        if given:
            self._set_hash(self._W, self.mean)
        else:
            self._recompute()

    def learn(self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike) -> Trace:
        """Add the pairs to the covariances; W is recomputed when they have grown by the share `refresh`."""
        X = validation.matrix("X", X, d=self.d)
        at_i, at_j, signs = validation.pairs(i, j, s, len(X))
        rows, at = np.unique(np.concatenate([at_i, at_j]), return_inverse=True)
        used = validation.finite("X", validation.cast(X[rows], "float64"), rows=rows)
        if not self.mean.size:
            self.warm_up(used)
        pairs = np.stack([used[at[: len(signs)]], used[at[len(signs) :]]], axis=1)
        D_h = np.empty(len(signs), np.int64)
        updated = np.zeros(len(signs), np.bool_)
        start = 0
        while start < len(signs):
            some = slice(start, start + PAIRS_PER_BLOCK - len(self._waiting_s))
            codes = [np.asarray(self.encode(pairs[some, side])) for side in (0, 1)]
            D_h[some] = hamming(*codes)
            self._waiting = np.concatenate([self._waiting, pairs[some] - self.mean])
            self._waiting_s = np.concatenate([self._waiting_s, signs[some]])
            start += len(signs[some])
            if len(self._waiting_s) == PAIRS_PER_BLOCK:
                updated[start - 1] = self._add_block()
        return Trace(D_h, updated)

    def _add_block(self) -> bool:
        """Add the full block to the sums; recompute W if the pairs have grown enough, and return whether it was."""
        z = (self._waiting[:, 0] - self._waiting[:, 1])[self._waiting_s == 1]
        points = self._waiting.reshape(2 * PAIRS_PER_BLOCK, -1)
        self._sums[0] += z.T @ z
        self._sums[1] += points.T @ points
        self._counts[:3] += len(z), len(points), PAIRS_PER_BLOCK
        self._waiting, self._waiting_s = self._waiting[:0], self._waiting_s[:0]
        due = self._counts[2] >= (1 + self.params.refresh) * self._counts[3]
        if due:
            self._counts[3] = self._counts[2]
            self._recompute()
        return bool(due)

    def _recompute(self) -> None:
        d = len(self.mean)
        T = self._sums[1] / max(1, self._counts[1])
        scale = 2 * np.trace(T) / d or 1.0
        C = (self._sums[0] + d * scale * np.eye(d)) / (self._counts[0] + d)  # begins with d pairs of pure noise
        C = (1 - self.params.shrink) * C + self.params.shrink * np.trace(C) / d * np.eye(d)
        k = min(self.params.components or self.r, d)
        rotation = random_rotation(k, self.r, np.random.default_rng(self.params.seed))
        with one_blas_thread():
            axes = discriminants(C, T, k, weigh=self.params.weigh)
        self._set_hash(axes @ rotation, self.mean)


HASHER = HasherSpec(
    hasher=ClickWhitening,
    title="Click whitening",
    aliases=("whitening of similar pairs", "learnt whitening"),
    cite="Mikolajczyk, Matas: Improving descriptors for fast tree matching by optimal linear projection, ICCV 2007; "
    "Radenovic, Tolias, Chum: CNN image retrieval learns from BoW, ECCV 2016 (as learnt whitening)",
    bibtex="""@inproceedings{mikolajczyk2007improving,
  title     = {Improving Descriptors for Fast Tree Matching by Optimal Linear Projection},
  author    = {Mikolajczyk, Krystian and Matas, Jiri},
  booktitle = {IEEE International Conference on Computer Vision},
  year      = {2007}
}

@inproceedings{radenovic2016cnn,
  title     = {{CNN} Image Retrieval Learns from {BoW}: Unsupervised Fine-Tuning with Hard Examples},
  author    = {Radenovi{\\'c}, Filip and Tolias, Giorgos and Chum, Ond{\\v{r}}ej},
  booktitle = {European Conference on Computer Vision},
  year      = {2016}
}""",
    supervision="pairs",
    features="vectors",
    features_source="a linear map of the vectors",
    features_place="the second paper's program: filipradenovic/cnnimageretrieval-pytorch, cirtorch/utils/whiten.py",
    consumes="pairs",
    differs="The originals keep floats; here weights, a random rotation and the sign follow. "
    "C is shrunk, and starts from as many pairs of isotropic noise as there are dimensions. It is updated from "
    "the stream: W is recomputed whenever the pairs have grown by a quarter.",
)
