"""Binary codes: sgn, packing, Hamming distance; and the conventions of the whole package, stated here once.

The paper leaves them open; the reasons are measured (see the tests):

- Data are rows, ``X`` is (n, d); ``W`` is (d, r); ``h = sgn(Wᵀx)``, Eq. (1), with **sgn(0) = +1**. An update can move
  a projection to exactly 0 (a pair that comes again with p0 = R = 2 and tau < C), so learning takes what is 0 up to
  rounding (`ZERO`) as 0. A code that is read later compares Wᵀx with Wᵀmean, so that a moving mean costs no new
  projections; where the two are equal up to rounding, the bit is whatever rounding makes it.
- A packed code is uint8 of width ``ceil(r / 8)``; bit k lies in byte ``k // 8`` at position ``k % 8`` (little), 1 means
  +1, and the unused bits of the last byte are 0, so that Hamming distances need no mask.
- ``beta * r`` is rounded to an integer when within 1e-9 of one, and that one value is used in R and in the ceiling.
  Differs from the paper: literally, 0.55 * 100 = 55.00000000000001 gives R > 0 with p0 = 0.
- Of the two sides of a bit the one with the smaller margin is flipped, of equal margins side i, Eq. (20). Of the bits
  of a pool the p0 smallest deltas are flipped, and of equal deltas those of the lowest bits. **Margins within a share
  `TIE` of each other are equal**, because ties are structural: an update with p0 = R = 1 and tau < C leaves a margin of
  exactly ½, so that bits tie up to rounding, and the order of a sum would decide. Equality within a tolerance is not
  transitive, so one cut decides for the whole pool: the p0-th smallest delta. Bits below the cut by more than the
  tolerance are flipped; of those level with it, the lowest, until p0 are flipped.
- Of several models with the same R the argmin of Eq. (28) is the lowest index.
- A pair whose flipped sides are all zero vectors has ‖x(g - h)ᵀ‖² = 0: Eq. (10) is undefined, the pair is *degenerate*,
  keeps its R, and changes nothing. A point paired with itself is learnt like any pair; our streams draw none.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint8]

# Two margins are equal when they differ by no more than this share of their size; a projection Σ w x is 0 when it is no
# more than this share of Σ |w x|. Both lie far above what rounding can do in float64.
TIE = {"float32": 1e-5, "float64": 1e-9}
ZERO = {"float32": 1e-6, "float64": 1e-12}


def sgn(p: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """Sign of a projection, +1 at 0 (and at -0.0), Eq. (1).

    >>> sgn([-2.0, -0.0, 0.0, 3.0])
    array([-1,  1,  1,  1], dtype=int8)
    """
    return np.where(np.asarray(p) >= 0, 1, -1).astype(np.int8)


def pack(positive: npt.ArrayLike) -> Bits:
    """Pack booleans (..., r), True for +1, into uint8 (..., ceil(r/8)).

    >>> pack([[True, False, False, True, False, False, False, False, True]])
    array([[9, 1]], dtype=uint8)
    """
    return np.packbits(np.asarray(positive, dtype=bool), axis=-1, bitorder="little")


def unpack(codes: Bits, r: int) -> npt.NDArray[np.int8]:
    """Packed codes (..., ceil(r/8)) back to ±1 (..., r).

    >>> unpack(np.array([[9, 1]], dtype=np.uint8), 9)
    array([[ 1, -1, -1,  1, -1, -1, -1, -1,  1]], dtype=int8)
    """
    bits = np.unpackbits(np.asarray(codes), axis=-1, count=r, bitorder="little")
    return (2 * bits.astype(np.int8) - 1).astype(np.int8)


def hamming(a: Bits, b: Bits) -> npt.NDArray[np.int64]:
    """D_h between packed codes along the last axis, broadcasting the others.

    >>> hamming(np.array([[0b1011]], dtype=np.uint8), np.array([[0b0001], [0b1011]], dtype=np.uint8))
    array([2, 0])
    """
    differing: Bits = np.bitwise_count(np.bitwise_xor(np.asarray(a), np.asarray(b)))
    return np.asarray(differing.sum(axis=-1, dtype=np.int64))


class Codes(np.ndarray[Any, np.dtype[np.uint8]]):
    """Packed codes that remember their length `r` and the `version` of the hash (W, mean) that made them.

    Where they are numbers, not `hamming`, differing bits say nothing, and a Hamming index refuses them.
    """

    r: int
    version: int
    hamming: bool

    def __new__(cls, packed: Bits, r: int, version: int, hamming: bool = True) -> "Codes":
        """View `packed` as codes of `r` bits made by hash `version`."""
        codes = np.asarray(packed).view(cls)
        codes.r, codes.version, codes.hamming = r, version, hamming
        return codes

    def __array_finalize__(self, source: object) -> None:
        """Slices and copies are codes of the same hash."""
        self.r = getattr(source, "r", -1)
        self.version = getattr(source, "version", -1)
        self.hamming = getattr(source, "hamming", True)

    def __reduce__(self) -> tuple[object, ...]:
        """Copies across processes keep what they remember."""
        return (Codes, (np.asarray(self), self.r, self.version, self.hamming))
