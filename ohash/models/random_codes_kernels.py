"""Bits that depend on a row's content and nothing else: a 64-bit mix of its words, then a counter through the mix."""

import numpy as np
import numpy.typing as npt

from ohash.core.compile import inlined, kernel


@inlined
def mix(z: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def random_words(rows: npt.NDArray[np.uint32], seed: np.uint64, width: int, found: npt.NDArray[np.uint64]) -> None:
    """found[i] = `width` pseudo-random words that equal rows share."""
    step = np.uint64(0x9E3779B97F4A7C15)
    for i in range(rows.shape[0]):
        key = mix(seed + step)
        for c in range(rows.shape[1]):
            key = mix((key ^ np.uint64(rows[i, c])) + step)
        for k in range(width):
            key += step
            found[i, k] = mix(key)
