"""TurboQuant: after a random rotation every coordinate is rounded to the same 2^B levels (scalar quantisation).

Rotated uniformly, a coordinate of a unit vector is nearly normal with variance 1/d, whatever the data. So the levels
are those of the best quantiser of a normal number (Lloyd, Max), and nothing is learnt:

    x ≈ ‖x‖ Rᵀ c / √d,   c_k = the level nearest to √d (Rx / ‖x‖)_k

An item is B bits per rotated coordinate and its length. With r < d coordinates inner products are scaled by d / r.
TurboQuant describes this as its variant for the smallest mean squared error.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats, Reals
from ohash.core.codes import Codes, pack
from ohash.core.parameters import centring_param, param
from ohash.models.base import HasherSpec
from ohash.models.quantizers.reconstruction import sum_parts
from ohash.models.quantizers.rotated import RotatedAboutMean, RotatedParams

ROUNDS = 500  # of Lloyd's iteration; the levels of 4 bits move by less than 1e-5 afterwards


@dataclass(frozen=True)
class TurboQuantParams(RotatedParams):
    """As rotated sign, and the bits per dimension."""

    center: str = centring_param("none")
    dim_bits: int = param(
        1, symbol="B", title="bits per dimension", lo=1, hi=4, slider=(1, 4), step=1,
        help="Every rotated coordinate has 2^B levels; beyond the first bit they are stored with the code of r bits.",
    )  # fmt: skip


@cache
def normal_levels(B: int) -> tuple[float, ...]:
    """The 2^B levels of least mean squared error for a standard normal number, rising.

    >>> [round(level, 3) for level in normal_levels(2)]
    [-1.51, -0.453, 0.453, 1.51]
    """
    from scipy.special import ndtr, ndtri  # noqa: PLC0415 (slow to import)

    count = 2**B
    levels: Floats = ndtri((np.arange(count) + 0.5) / count)
    for _ in range(ROUNDS):
        edges = np.concatenate([[-np.inf], (levels[1:] + levels[:-1]) / 2, [np.inf]])
        density = np.exp(-0.5 * edges**2) / np.sqrt(2 * np.pi)
        levels = (density[:-1] - density[1:]) / (ndtr(edges[1:]) - ndtr(edges[:-1]))
    return tuple(((levels - levels[::-1]) / 2).tolist())


@dataclass(frozen=True, eq=False)
class Levels:
    """A compressed database: numbers of levels, 8 // B to a byte (the lowest bits first), and lengths."""

    packed: npt.NDArray[np.uint8]
    norm: npt.NDArray[np.float32]

    def __len__(self) -> int:
        """The number of items."""
        return len(self.packed)


class TurboQuant(RotatedAboutMean):
    """Rotated coordinates in 2^B levels.

    >>> X = np.random.default_rng(0).normal(size=(100, 64))
    >>> model = TurboQuant(r=64, dim_bits=4)
    >>> stored = model.quantise(X)
    >>> bool((model.estimate_distances(X, stored).argmin(axis=1) == np.arange(100)).all())
    True
    """

    key = "turboquant"
    Params = TurboQuantParams
    params: TurboQuantParams

    @property
    def extra_bytes(self) -> int:
        """Per item in addition to its code of r bits: its length, and the other bits of every coordinate."""
        return 4 + -(-self.r // self._per_byte) - -(-self.r // 8)

    @property
    def _per_byte(self) -> int:
        """Coordinates that share a byte."""
        return 8 // int(self.params.dim_bits)

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed signs (n, ceil(r/8)) of the rotated rows, for Hamming distance."""
        return Codes(pack(self._rotate(X) >= 0), self.r, self.version)

    def quantise(self, X: npt.ArrayLike) -> Levels:
        """What is stored of the rows of X: the level of every coordinate, and the length."""
        projected = self._rotate(X)
        rows = self._rows(X, self.params.dtype) - self.mean
        norm = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))
        unit = projected * (np.sqrt(rows.shape[1]) / np.where(norm > 0, norm, 1))[:, None]
        levels = np.array(normal_levels(self.params.dim_bits))
        numbers = np.searchsorted((levels[1:] + levels[:-1]) / 2, unit.ravel(), side="right")
        per, B = self._per_byte, self.params.dim_bits
        grouped = np.zeros((len(unit), -(-self.r // per) * per), np.uint8)
        grouped[:, : self.r] = numbers.reshape(unit.shape)
        packed = np.zeros((len(unit), grouped.shape[1] // per), np.uint8)
        for place in range(per):
            packed |= grouped[:, place::per] << np.uint8(B * place)
        return Levels(packed, norm.astype(np.float32))

    def project(self, queries: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """R(q - mean), (queries, r); its products with `decode` estimate those of q and x about the mean."""
        return np.asarray(self._rotate(queries), np.float32)

    def decode(self, stored: Levels) -> npt.NDArray[np.float32]:
        """What items stand for, (items, r), scaled so that inner products are those of all d coordinates."""
        assert self.d is not None
        scale = stored.norm * np.float32(np.sqrt(self.d) / self.r)
        meaning = self.byte_levels()  # (256, coordinates of a byte)
        rows = meaning[stored.packed].reshape(len(stored), -1)[:, : self.r]
        return np.asarray(rows * scale[:, None])

    def estimate_distances(self, queries: npt.ArrayLike, stored: Levels) -> npt.NDArray[np.float32]:
        """Estimated squared Euclidean distances, (queries, items), summed byte by byte from tables."""
        Rq = self.project(queries)
        assert self.d is not None
        width = stored.packed.shape[1]
        padded = np.zeros((len(Rq), width * self._per_byte), np.float32)
        padded[:, : self.r] = Rq
        tables = padded.reshape(len(Rq), width, -1) @ self.byte_levels().T
        products = np.empty((len(Rq), len(stored)), np.float32)
        sum_parts()(np.ascontiguousarray(tables), stored.packed, products)
        products *= stored.norm * np.float32(np.sqrt(self.d) / self.r)
        rows = self._rows(queries, self.params.dtype) - self.mean
        squares = np.einsum("nd,nd->n", rows, rows).astype(np.float32)
        return np.asarray(squares[:, None] + stored.norm**2 - 2 * products, np.float32)

    def byte_levels(self) -> npt.NDArray[np.float32]:
        """The levels that each byte value stands for, (256, coordinates of a byte)."""
        B = self.params.dim_bits
        shifts = B * np.arange(self._per_byte)
        levels: npt.NDArray[np.float32] = np.array(normal_levels(B), np.float32)
        return np.asarray(levels[(np.arange(256)[:, None] >> shifts) & (2**B - 1)])

    def _rotate(self, X: npt.ArrayLike) -> Reals:
        """R(x - mean), (n, r)."""
        rows = self._rows(X, self.params.dtype)
        self.start(rows.shape[1])
        return np.asarray((rows - self.mean.astype(rows.dtype)) @ self._W)


HASHER = HasherSpec(
    hasher=TurboQuant,
    title="TurboQuant (rotation and scalar quantisation)",
    aliases=("rotated scalar quantisation", "rotated scalar quantization"),
    cite="Zandieh, Daliri, Hadian, Mirrokni: TurboQuant: online vector quantization with near-optimal distortion rate, "
    "2025",
    bibtex="""@misc{zandieh2025turboquant,
  title  = {{TurboQuant}: Online Vector Quantization with Near-Optimal Distortion Rate},
  author = {Zandieh, Amir and Daliri, Majid and Hadian, Majid and Mirrokni, Vahab},
  year   = {2025},
  eprint = {2504.19874},
  archiveprefix = {arXiv}
}""",
    supervision="none",
    features="distance",
    features_source="it approximates the vectors themselves",
    features_place="TurboQuant, Section 3.1, with the norms kept as in Section 1.3",
    consumes="nothing",
    asymmetric=True,
    differs="The variant for the smallest error, without the further bit that makes its inner products unbiased; "
    "levels of the normal distribution, to which that of a coordinate tends, instead of the Beta distribution of this "
    "d. "
    "`encode` gives the signs, for Hamming distance; r may differ from d.",
)
