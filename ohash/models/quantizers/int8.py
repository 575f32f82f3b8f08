"""int8: every dimension in 256 steps between its smallest and largest value; the first choice of most vector databases.

A code is d bytes, a quarter of float32. Only the range of each dimension is learnt, from the warm-up.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.codes import Codes
from ohash.core.distances import distances
from ohash.core.parameters import Parameters, bits_param, param
from ohash.models.base import HasherSpec
from ohash.models.quantizers.reconstruction import Reconstruction, byte_distances
from ohash.runtime.frames import Arrays, JsonObject

FEW = 16  # up to so many queries distances are summed byte by byte; for more, decoding and a matrix product is faster
ROWS_PER_BLOCK = 4096  # items decoded at a time
WIDER = 0.1  # of the range seen in the warm-up, added on each side for larger values later


@dataclass(frozen=True)
class Int8Params(Parameters):
    """Bits and dimensions."""

    r: int = bits_param(
        hi=65536, help="Used only with dims 'first r'; otherwise a code has 8 d bits, one byte per dimension."
    )
    dims: str = param(
        "all", symbol="", title="dimensions", choices=("all", "first r"),
        help="all: one byte for each of the d dimensions. first r: only as many dimensions as r bits hold (Matryoshka "
        "embeddings), the last of them with the bits that remain.",
    )  # fmt: skip


def check_columns(params: Int8Params, d: int) -> None:
    """Refuse more bits than dimensions have."""
    if params.dims == "first r" and params.r > 8 * d:
        raise ValueError(f"r must be at most 8 d = {8 * d} with dims='first r', got {params.r}")


class Int8(Reconstruction):
    """x ≈ low + step * code, dimension by dimension.

    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> model = Int8()
    >>> model.warm_up(X)
    >>> model.r, bool(np.abs(model.decode(model.encode(X)) - X).max() < 0.02)
    (32, True)
    """

    key = "int8"
    Params = Int8Params
    params: Int8Params
    ARRAYS = ("low", "step")

    def _setup(self) -> None:
        self.low: npt.NDArray[np.float32] = np.zeros(0, np.float32)
        self.step: npt.NDArray[np.float32] = np.zeros(0, np.float32)

    @property
    def r(self) -> int:
        """Bits of a code: 8 d, once data have been seen."""
        return int(self.params.r) if self.d is None or self.params.dims == "first r" else 8 * self.d

    def warm_up(self, X: npt.ArrayLike) -> None:
        """Take the range of every dimension, slightly widened; values beyond it are clipped."""
        X = self.rows(X)
        check_columns(self.params, X.shape[1])
        low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        self._d = X.shape[1]
        self.low = (low - WIDER * (high - low)).astype(np.float32)
        span = (1 + 2 * WIDER) * (high - low)
        steps = np.full(len(low), 255.0)
        steps[: len(self._levels)] = self._levels - 1
        self.step = np.where(span > 0, span / steps, 1.0).astype(np.float32)
        self._version += 1

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes: one byte for each dimension."""
        X = self.rows(X)
        if self.d is None:
            self.warm_up(X)
        used = len(self._levels)
        number = np.rint((X[:, :used] - self.low[:used]) / self.step[:used])
        return Codes(np.clip(number, 0, self._levels - 1).astype(np.uint8), self.r, self.version, hamming=False)

    def estimate_distances(self, queries: npt.ArrayLike, stored: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """Squared Euclidean distances from queries to decoded items, (queries, items)."""
        rows, codes = self.rows(queries), np.ascontiguousarray(stored)
        squares = np.empty((len(rows), len(codes)), np.float32)
        if len(rows) > FEW or self.params.dims != "all":
            middle = self.decode(codes[:ROWS_PER_BLOCK]).mean(axis=0)  # distances from there lose less to cancellation
            for start in range(0, len(codes), ROWS_PER_BLOCK):
                some = slice(start, start + ROWS_PER_BLOCK)
                squares[:, some] = distances(rows - middle, self.decode(codes[some]) - middle, "l2")
        else:
            byte_distances()(rows, codes, self.low, self.step, squares)
        return squares

    def decode(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The vectors (n, d) that codes represent; dimensions that are not stored get the middle of their range."""
        used = codes.shape[1]
        rows = np.tile(self.low + 127.5 * self.step, (len(codes), 1))
        rows[:, :used] = self.low[:used] + self.step[:used] * codes
        return rows

    @property
    def _levels(self) -> npt.NDArray[np.int64]:
        """Levels of every stored dimension: 256, or fewer for the last."""
        whole, rest = divmod(self.r, 8)
        return np.array([256] * whole + [1 << rest] * bool(rest))

    def resume(self, values: JsonObject, arrays: Arrays) -> None:
        """Go on from a saved state."""
        super().resume(values, arrays)
        self._d = len(self.low) or None


HASHER = HasherSpec(
    hasher=Int8,
    title="int8 (scalar quantisation)",
    aliases=("scalar quantisation", "scalar quantization", "SQ8"),
    cite="Shakir, Aarsen, Lee: Binary and scalar embedding quantization, Hugging Face 2024; faiss calls it SQ8",
    bibtex="""@misc{shakir2024quantization,
  title        = {Binary and Scalar Embedding Quantization for Significantly Faster and Cheaper Retrieval},
  author       = {Shakir, Aamir and Aarsen, Tom and Lee, Sean},
  howpublished = {Hugging Face Blog},
  year         = {2024}
}""",
    supervision="none",
    features="distance",
    features_source="it rounds the vectors themselves",
    features_place="by its definition",
    consumes="nothing",
    linear=False,
    asymmetric=True,
    hamming=False,
    check_columns=check_columns,
    differs="Ranges are those of the warm-up, a tenth wider on each side, where databases calibrate on all vectors or "
    "on quantiles. Queries stay in floating point. 8 d bits are many times those of a hash: compare at equal memory.",
)
