"""The float vectors themselves: nothing is compressed, and the ranking is by exact distance.

A reference, not a ceiling: methods that learn from labels or clicks exceed it on labels and clicks.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.codes import Codes
from ohash.core.distances import distances
from ohash.core.parameters import Parameters, bits_param
from ohash.models.base import HasherSpec
from ohash.models.quantizers.reconstruction import Reconstruction


@dataclass(frozen=True)
class FloatVectorsParams(Parameters):
    """Nothing to tune."""

    r: int = bits_param(hi=2**21, help="Ignored: a code has 32 d bits, four bytes per dimension.")


class FloatVectors(Reconstruction):
    """A code is the vector in float32, byte for byte.

    >>> X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    >>> model = FloatVectors()
    >>> codes = model.encode(X)
    >>> model.r, bool((model.decode(codes) == X).all())
    (128, True)
    """

    key = "float"
    Params = FloatVectorsParams
    params: FloatVectorsParams
    VALUES = ("_version", "_d")

    @property
    def r(self) -> int:
        """Bits of a code: 32 d, once data have been seen."""
        return int(self.params.r) if self.d is None else 32 * self.d

    def warm_up(self, X: npt.ArrayLike) -> None:
        """Take only the number of columns from the first points."""
        self._d = self.rows(X).shape[1]

    def encode(self, X: npt.ArrayLike) -> Codes:
        """The bytes of the rows."""
        X = self.rows(X)
        self._d = X.shape[1]
        return Codes(np.ascontiguousarray(X, "<f4").view(np.uint8), self.r, self.version, hamming=False)

    def decode(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The rows themselves."""
        return np.ascontiguousarray(codes).view("<f4")

    def estimate_distances(self, queries: npt.ArrayLike, stored: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """Squared Euclidean distances, (queries, items); of vectors of unit length they rank as cosine does."""
        rows = self.decode(stored)
        shift = rows[:1]  # distances do not change, but less is lost to cancellation far from the origin
        return distances(self.rows(queries) - shift, rows - shift, "l2").astype(np.float32, copy=False)


HASHER = HasherSpec(
    hasher=FloatVectors,
    title="Exact search (float vectors)",
    aliases=("float vectors", "exact", "brute force"),
    cite="Manning, Raghavan, Schütze: Introduction to information retrieval, 2008, section 6.3 (cosine similarity)",
    bibtex="""@book{manning2008introduction,
  title     = {Introduction to Information Retrieval},
  author    = {Manning, Christopher D. and Raghavan, Prabhakar and Sch{\\"u}tze, Hinrich},
  publisher = {Cambridge University Press},
  year      = {2008}
}""",
    supervision="none",
    features="distance",
    features_source="it is the exact search that codes approximate",
    features_place="by its definition",
    consumes="nothing",
    linear=False,
    reference=True,
    asymmetric=True,
    hamming=False,
    differs="Not a method: the ranking that every code approximates. 32 d bits are many times those of a hash.",
)
