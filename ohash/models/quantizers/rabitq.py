"""RaBitQ-style codes: the bits of a rotated sign, and an unbiased estimate of the inner product from one more number.

With x' = (x - mean) / ||x - mean|| and b = sgn(Rx') / √r, the query stays a float vector and

    <q', x'>  ≈  <Rq', b> / <Rx', b>

where <Rx', b> = ||Rx'||₁ / √r is stored with the item. Given Rx', a uniformly drawn R rotates the part of q' that is
orthogonal to x' uniformly, so the estimate is unbiased over R, for any number of bits. Hamming distance on the codes
works as for rotated sign.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Reals
from ohash.core.codes import Codes, pack, unpack
from ohash.models.base import HasherSpec
from ohash.models.quantizers.reconstruction import sum_parts
from ohash.models.quantizers.rotated import Rotated, RotatedParams


@dataclass(frozen=True)
class RaBitQParams(RotatedParams):
    """As rotated sign."""


@dataclass(frozen=True, eq=False)
class Quantised:
    """A compressed database: packed codes (n, ceil(r/8)), and per item <Rx', b> and ||x - mean||."""

    codes: Codes
    alignment: npt.NDArray[np.float32]
    norm: npt.NDArray[np.float32]

    def __len__(self) -> int:
        """The number of items."""
        return len(self.codes)


class RaBitQ(Rotated):
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
    extra_bytes = 8  # two floats per item in addition to its code

    ARRAYS = (*Rotated.ARRAYS, "mean")

    def _setup(self) -> None:
        super()._setup()
        self.mean: npt.NDArray[np.float64] = np.zeros(0)

    def _draw(self, d: int) -> npt.NDArray[np.float64]:
        self.mean = np.zeros(d)
        return super()._draw(d)

    def _set_mean(self, mean: npt.NDArray[np.float64], n: int) -> None:
        super()._set_mean(mean, n)
        self.mean = mean

    def quantise(self, X: npt.ArrayLike) -> Quantised:
        """What is stored of the rows of X: r bits and two floats each."""
        projected, norm = self._rotate(X)
        bits = projected >= 0
        alignment = np.abs(projected).sum(axis=1, dtype=np.float64) / np.sqrt(self.r)
        codes = Codes(pack(bits), self.r, self.version)
        return Quantised(codes, alignment.astype(np.float32), norm.astype(np.float32))

    def estimate(self, queries: npt.ArrayLike, database: "npt.ArrayLike | Quantised") -> npt.NDArray[np.float32]:
        """Estimated cosines about the mean, <q', x'>, (queries, items); a database of vectors is quantised first."""
        stored = database if isinstance(database, Quantised) else self.quantise(database)
        Rq = self._rotate(queries)[0]
        cosines = np.empty((len(Rq), len(stored)), np.float32)
        sum_parts()(self._tables(Rq), np.ascontiguousarray(stored.codes), cosines)  # √r <Rq', b>
        alignment = np.where(stored.alignment > 0, stored.alignment, np.inf)  # x = mean: estimate 0
        cosines /= np.float32(np.sqrt(self.r)) * alignment
        return cosines

    def _tables(self, Rq: Reals) -> npt.NDArray[np.float32]:
        """(queries, bytes, 256): the contribution of each byte value to √r <Rq', b>."""
        padded = np.zeros((len(Rq), -(-self.r // 8), 8), np.float64)
        padded.reshape(len(Rq), -1)[:, : self.r] = Rq
        signs = unpack(np.arange(256, dtype=np.uint8)[:, None], 8)
        return (padded @ signs.T.astype(np.float64)).astype(np.float32)

    def estimate_distances(
        self, queries: npt.ArrayLike, database: "npt.ArrayLike | Quantised"
    ) -> npt.NDArray[np.float32]:
        """Estimated squared Euclidean distances ||q - x||², from the estimated cosines and the exact norms."""
        stored = database if isinstance(database, Quantised) else self.quantise(database)
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


HASHER = HasherSpec(
    hasher=RaBitQ,
    title="RaBitQ (1 bit)",
    aliases=("1-bit RaBitQ",),
    cite="Gao, Long: RaBitQ: quantizing high-dimensional vectors with a theoretical error bound, SIGMOD 2024",
    bibtex="""@article{gao2024rabitq,
  title   = {{RaBitQ}: Quantizing High-Dimensional Vectors with a Theoretical Error Bound for Approximate Nearest
             Neighbor Search},
  author  = {Gao, Jianyang and Long, Cheng},
  journal = {Proceedings of the ACM on Management of Data},
  year    = {2024},
  doi     = {10.1145/3654970}
}""",
    supervision="none",
    features="distance",
    features_source="it estimates the distance of the vectors themselves",
    consumes="nothing",
    asymmetric=True,
    differs="One centroid (the mean of the warm-up) instead of one per cluster, and queries stay in floating point "
    "instead of 4 bits. r is free: fewer bits than d take r rows of the rotation, more stack rotations; the paper has "
    "r = d. `encode` gives plain bits for Hamming distance; `estimate` is the method's own distance, which is better.",
)
