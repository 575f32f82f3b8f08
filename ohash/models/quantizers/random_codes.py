"""Random codes: the score of a code that knows nothing. Equal vectors get equal codes; everything else is chance.

The mAP of this reference is close to the share of relevant items, the true zero of every chart. Bits depend only on the
content of a row: a 64-bit mix of its words, then a counter through the same mix.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.codes import Codes
from ohash.core.parameters import Parameters, bits_param, seed_param
from ohash.models.base import HasherSpec
from ohash.models.hasher import Hasher
from ohash.runtime.compile import inline, kernel


@inline
def mix(z: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def random_words(rows: npt.NDArray[np.uint32], seed: np.uint64, width: int, words: npt.NDArray[np.uint64]) -> None:
    """words[i] = `width` pseudo-random words; equal rows have equal words."""
    step = np.uint64(0x9E3779B97F4A7C15)
    for i in range(rows.shape[0]):
        key = mix(seed + step)
        for c in range(rows.shape[1]):
            key = mix((key ^ np.uint64(rows[i, c])) + step)
        for k in range(width):
            key += step
            words[i, k] = mix(key)


@dataclass(frozen=True)
class RandomCodesParams(Parameters):
    """Bits, seed."""

    r: int = bits_param()
    seed: int = seed_param("Draws the codes.")


class RandomCodes(Hasher):
    """Every distinct vector (in float32) gets r fair coin flips."""

    key = "random_codes"
    Params = RandomCodesParams
    params: RandomCodesParams
    VALUES = ("_version", "_d")

    def start(self, d: int) -> None:
        """Fix the number of columns."""
        if self.d is None:
            self._d = d

    def warm_up(self, X: npt.ArrayLike) -> None:
        """Take only the number of columns from the first points."""
        self.start(validation.matrix("X", X, d=self.d).shape[1])

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8))."""
        X = self._rows(X, "float32")
        self.start(X.shape[1])
        words = np.empty((len(X), -(-self.r // 64)), np.uint64)
        random_words((X + np.float32(0)).view(np.uint32), np.uint64(self.params.seed), words.shape[1], words)  # -0 = 0
        packed = words.astype("<u8").view(np.uint8)[:, : -(-self.r // 8)].copy()
        if self.r % 8:
            packed[:, -1] &= (1 << self.r % 8) - 1
        return Codes(packed, self.r, self.version)


HASHER = HasherSpec(
    hasher=RandomCodes,
    title="Random codes (reference)",
    aliases=("chance",),
    cite="Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014 (the generator)",
    bibtex="""@inproceedings{steele2014fast,
  title     = {Fast Splittable Pseudorandom Number Generators},
  author    = {Steele, Guy L. and Lea, Doug and Flood, Christine H.},
  booktitle = {ACM International Conference on Object Oriented Programming Systems Languages and Applications},
  year      = {2014},
  pages     = {453--472},
  doi       = {10.1145/2660193.2660195}
}""",
    supervision="none",
    features="vectors",
    consumes="nothing",
    linear=False,
    reference=True,
    differs="Not a method: the floor that every method should exceed.",
)
