"""RaBitQ-style codes: the bits of a rotated sign, and an unbiased estimate of the inner product from one more number.

With x' = (x - mean) / ||x - mean|| and b = sgn(Rx') / √r, the query stays a float vector and

    <q', x'>  ≈  <Rq', b> / <Rx', b>

where <Rx', b> = ||Rx'||₁ / √r is stored with the item. Given Rx', a uniformly drawn R rotates the part of q' that is
orthogonal to x' uniformly, so the estimate is unbiased over R, for any number of bits. Hamming distance on the codes
works as for rotated sign.

With B > 1 bits per dimension b is the nearest of the odd numbers ±1, ±3, ..., ±(2^B - 1) to Rx' / step, the step the
one of a few that maximises the cosine of b and Rx'; the estimate is the same (Gao et al., extended RaBitQ). An item
stores B planes of r bits: b = Σ 2^k s_k with signs s_k, and the plane of the largest k is the 1-bit code.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Reals
from ohash.core.codes import Codes, pack, unpack
from ohash.core.parameters import param
from ohash.models.base import HasherSpec
from ohash.models.quantizers.reconstruction import sum_parts
from ohash.models.quantizers.rotated import RotatedAboutMean, RotatedParams

# Half the range of the grid that suits B bits per dimension, in standard deviations, and the multiples of it tried.
STEP_FACTORS = (0.85, 1.0, 1.15)
GRID_ROWS = 256  # whose nearest numbers are sought at a time, so that they stay in the cache


def half_range(B: int) -> float:
    """About the best range of a uniform quantiser of B bits for normal numbers: 2.0 for 2 bits, 2.7 for 4 (Max 1960).

    >>> half_range(2), half_range(4)
    (2.0, 2.7)
    """
    return round(1.3 + 0.35 * B, 3)


@dataclass(frozen=True)
class RaBitQParams(RotatedParams):
    """As rotated sign, and the bits of items and queries per dimension."""

    dim_bits: int = param(
        1, symbol="B", title="bits per dimension", lo=1, hi=8, slider=(1, 8), step=1,
        help="More than 1 refines every sign by further bits, which are stored with the code of r bits.",
    )  # fmt: skip
    query_bits: int = param(
        0, symbol="", title="query bits", lo=0, hi=8, slider=(0, 8), step=1, alias="float",
        help="Round the rotated query to so many bits per dimension, as engines do; float: leave it as it is.",
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class QuantisedVectors:
    """A compressed database: packed codes (n, ceil(r/8)), and per item <Rx', b> and ||x - mean||.

    `refinement` (n, (B - 1) ceil(r/8)) holds the other planes, that of the largest k first.
    """

    codes: Codes
    alignment: npt.NDArray[np.float32]
    norm: npt.NDArray[np.float32]
    refinement: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, 0), np.uint8))

    def __len__(self) -> int:
        """The number of items."""
        return len(self.codes)


class RaBitQ(RotatedAboutMean):
    """Rotated sign with an asymmetric distance.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 64))
    >>> model = RaBitQ(RaBitQParams(r=64))
    >>> model.warm_up(X)
    >>> stored = model.quantise(X)
    >>> model.estimate(X[:3], stored).shape
    (3, 100)
    """

    key = "rabitq"
    Params = RaBitQParams
    params: RaBitQParams

    @property
    def extra_bytes(self) -> int:
        """Per item in addition to its code: two floats, and the other planes."""
        return 8 + (self.params.dim_bits - 1) * -(-self.r // 8)

    def quantise(self, X: npt.ArrayLike) -> QuantisedVectors:
        """What is stored of the rows of X: r bits and two floats each."""
        projected, norm = self._rotate(X)
        if self.params.dim_bits == 1:
            bits, planes = projected >= 0, []
            alignment = np.abs(projected).sum(axis=1, dtype=np.float64) / np.sqrt(self.r)
        else:
            b = nearest_grid(projected, self.params.dim_bits)
            number = ((b + (2**self.params.dim_bits - 1)) / 2).astype(np.uint8)
            bits, *planes = (number & (1 << k) for k in reversed(range(self.params.dim_bits)))
            alignment = np.einsum("nk,nk->n", projected, b, dtype=np.float64) / np.sqrt(self.r)
        codes = Codes(pack(bits), self.r, self.version)
        refinement = np.concatenate([pack(plane) for plane in planes], axis=1) if planes else np.zeros((0, 0), np.uint8)
        return QuantisedVectors(codes, alignment.astype(np.float32), norm.astype(np.float32), refinement)

    def estimate(self, queries: npt.ArrayLike, database: "npt.ArrayLike | QuantisedVectors") -> npt.NDArray[np.float32]:
        """Estimated cosines about the mean, <q', x'>, (queries, items); a database of vectors is quantised first."""
        stored = database if isinstance(database, QuantisedVectors) else self.quantise(database)
        Rq = self._round(self._rotate(queries)[0])
        cosines = np.empty((len(Rq), len(stored)), np.float32)
        planes = np.asarray(stored.codes)
        if stored.refinement.size:
            planes = np.concatenate([planes, stored.refinement], axis=1)
        sum_parts()(self._tables(Rq), np.ascontiguousarray(planes), cosines)  # √r <Rq', b>
        alignment = np.where(stored.alignment > 0, stored.alignment, np.inf)  # x = mean: estimate 0
        cosines /= np.float32(np.sqrt(self.r)) * alignment
        return cosines

    def project(self, queries: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """R(q - mean), (queries, r), rounded as `query_bits` says; its products with `decode` estimate those of x."""
        Rq, norm = self._rotate(queries)
        return np.asarray(self._round(Rq) * norm[:, None], np.float32)

    def decode(self, stored: QuantisedVectors) -> npt.NDArray[np.float32]:
        """What items stand for, (items, r): <R(q - mean), decoded> estimates <q - mean, x - mean>."""
        b = unpack(np.asarray(stored.codes), self.r).astype(np.float32)
        width = stored.codes.shape[1]
        for start in range(0, stored.refinement.shape[1], width):
            b *= 2
            b += unpack(np.ascontiguousarray(stored.refinement[:, start : start + width]), self.r)
        alignment = np.where(stored.alignment > 0, stored.alignment, np.inf)
        return np.asarray(b * (stored.norm / (np.float32(np.sqrt(self.r)) * alignment))[:, None], np.float32)

    def _round(self, Rq: Reals) -> Reals:
        """Each row in 2^query_bits even steps between its smallest and largest entry."""
        if not self.params.query_bits:
            return Rq
        low, high = Rq.min(axis=1, keepdims=True), Rq.max(axis=1, keepdims=True)
        step = np.where(high > low, (high - low) / (2**self.params.query_bits - 1), 1)
        return np.asarray(low + step * np.rint((Rq - low) / step), Rq.dtype)

    def _tables(self, Rq: Reals) -> npt.NDArray[np.float32]:
        """(queries, bytes, 256): the contribution of each byte value of each plane to √r <Rq', b>."""
        padded = np.zeros((len(Rq), -(-self.r // 8), 8), np.float64)
        padded.reshape(len(Rq), -1)[:, : self.r] = Rq
        signs = unpack(np.arange(256, dtype=np.uint8)[:, None], 8)
        plane = (padded @ signs.T.astype(np.float64)).astype(np.float32)
        weights = [2.0**k for k in reversed(range(self.params.dim_bits))]
        return np.concatenate([np.float32(weight) * plane for weight in weights], axis=1)

    def estimate_distances(
        self, queries: npt.ArrayLike, database: "npt.ArrayLike | QuantisedVectors"
    ) -> npt.NDArray[np.float32]:
        """Estimated squared Euclidean distances ||q - x||², from the estimated cosines and the exact norms."""
        stored = database if isinstance(database, QuantisedVectors) else self.quantise(database)
        norm_q = self._rotate(queries)[1].astype(np.float32)[:, None]
        cosines = self.estimate(queries, stored)
        return np.asarray(norm_q**2 + stored.norm**2 - 2 * norm_q * stored.norm * cosines, np.float32)

    def _rotate(self, X: npt.ArrayLike) -> tuple[Reals, Reals]:
        """(Rx' of the rows (n, r), ||x - mean||)."""
        rows = self._rows(X, self.params.dtype)
        self.start(rows.shape[1])
        centred = rows - self.mean.astype(rows.dtype)
        norm = np.sqrt(np.einsum("nd,nd->n", centred, centred, dtype=np.float64))
        unit = centred / np.where(norm > 0, norm, 1)[:, None].astype(rows.dtype)
        return unit @ self._W, norm


def nearest_grid(projected: Reals, B: int) -> npt.NDArray[np.float32]:
    """For each row the odd numbers up to ±(2^B - 1), (n, r), with the largest cosine that a few step sizes give."""
    nearest = np.empty(projected.shape, np.float32)
    for start in range(0, len(projected), GRID_ROWS):
        nearest[start : start + GRID_ROWS] = _nearest_grid(projected[start : start + GRID_ROWS], B)
    return nearest


def _nearest_grid(projected: Reals, B: int) -> npt.NDArray[np.float32]:
    scale = np.sqrt(np.einsum("nk,nk->n", projected, projected, dtype=np.float64) / projected.shape[1])
    unit = projected / np.where(scale > 0, scale, 1)[:, None].astype(projected.dtype)
    best: npt.NDArray[np.float32] = np.ones(projected.shape, np.float32)
    cosine = np.full(len(projected), -np.inf)
    for factor in STEP_FACTORS:
        step = factor * half_range(B) / 2 ** (B - 1)
        b = (2 * np.clip(np.floor(unit / step), -(2 ** (B - 1)), 2 ** (B - 1) - 1) + 1).astype(np.float32)
        value = np.einsum("nk,nk->n", unit, b) / np.sqrt(np.einsum("nk,nk->n", b, b))
        better = value > cosine
        best[better], cosine[better] = b[better], value[better]
    return best


HASHER = HasherSpec(
    hasher=RaBitQ,
    title="RaBitQ",
    aliases=("1-bit RaBitQ",),
    cite="Gao, Long: RaBitQ: quantizing high-dimensional vectors with a theoretical error bound, SIGMOD 2024; "
    "Gao et al.: Practical and asymptotically optimal quantization of high-dimensional vectors, SIGMOD 2025",
    bibtex="""@article{gao2024rabitq,
  title   = {{RaBitQ}: Quantizing High-Dimensional Vectors with a Theoretical Error Bound for Approximate Nearest
             Neighbor Search},
  author  = {Gao, Jianyang and Long, Cheng},
  journal = {Proceedings of the ACM on Management of Data},
  year    = {2024},
  doi     = {10.1145/3654970}
}

@article{gao2025practical,
  title   = {Practical and Asymptotically Optimal Quantization of High-Dimensional Vectors in {Euclidean} Space for
             Approximate Nearest Neighbor Search},
  author  = {Gao, Jianyang and Gou, Yutong and Xu, Yuexuan and Yang, Yongyi and Long, Cheng and Wong, Raymond Chi-Wing},
  journal = {Proceedings of the ACM on Management of Data},
  year    = {2025}
}""",
    supervision="none",
    features="distance",
    features_source="it estimates the distance of the vectors themselves",
    features_place="RaBitQ, Section 3.1.1: centred, and their norms kept",
    consumes="nothing",
    asymmetric=True,
    differs="One centroid (the mean of the warm-up) instead of one per cluster, and queries stay in floating point "
    "unless query_bits says otherwise. With more than 1 bit per dimension the best of three steps is taken, where the "
    "authors enumerate all. r is free: fewer bits than d take r rows of the rotation, more stack rotations; the paper "
    "has r = d. `encode` gives plain bits for Hamming distance; `estimate` is the method's own distance, which is "
    "better.",
)
