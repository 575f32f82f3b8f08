"""Rankings of methods with a distance of their own (RaBitQ, product quantisation, int8): what they store, and asked it.

Where codes are numbers rather than bits, the distance of a pair is the method's own, too, in units in which two rows of
the warm-up are r/2 apart on average, as the bits of unrelated items are.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.experiment.frozen import Frozen

BLOCK = 4096  # rows stored in one slice

Rows = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int64]


class Estimates:
    """A database as one method stores it, and distances of float queries to it."""

    def __init__(self, hasher: Any, Z: npt.NDArray[Any], database: Rows) -> None:
        """Nothing is stored before `iter_store`."""
        self._hasher, self._Z, self._database = hasher, Z, database
        self._parts: list[Any] = []

    def iter_store(self) -> Iterator[None]:
        """Store the database, a block at a time."""
        for start in range(0, len(self._database), BLOCK):
            rows = np.ascontiguousarray(self._Z[self._database[start : start + BLOCK]])
            self._parts.append(self._hasher.quantise(rows))
            yield

    def stored(self) -> "Estimates":
        """`iter_store` at once."""
        for _ in self.iter_store():
            pass
        return self

    def of(self, queries: Rows) -> npt.NDArray[np.float32]:
        """Distances of rows of Z to the database, (queries, database)."""
        rows = np.ascontiguousarray(self._Z[queries])
        return np.concatenate([self._hasher.estimate_distances(rows, part) for part in self._parts], axis=1)


class PairDistances:
    """Distances of pairs in units of half a bit string."""

    def __init__(self, hasher: Any, warm: npt.NDArray[Any]) -> None:
        """Measure the unit on the rows of the warm-up."""
        self._r = int(hasher.r)
        D = hasher.estimate_distances(warm, hasher.quantise(warm))
        n = len(warm)
        self._unit = max(float((D.sum(dtype=np.float64) - np.trace(D)) / max(1, n * (n - 1))), 1e-30)

    def __call__(self, hasher: Any, Z: npt.NDArray[Any], i: Rows, j: Rows) -> Ints:
        """A whole number in 0 to r for each pair: of x_i to what is stored of x_j."""
        places, at = np.unique(j, return_inverse=True)
        decoded = hasher.decode(np.asarray(hasher.quantise(np.ascontiguousarray(Z[places]))))[at]
        squares = np.square(np.asarray(Z[i], np.float32) - decoded).sum(axis=1, dtype=np.float64)
        steps: npt.NDArray[np.float64] = np.rint(0.5 * self._r * squares / self._unit)
        return np.clip(steps, 0, self._r).astype(np.int64)


class FrozenEstimates(Frozen):
    """The first state of a method whose codes are numbers: pairs are scored by its own distance."""

    def __init__(self, hasher: Any, warm: npt.NDArray[Any]) -> None:
        """Copy the hasher."""
        super().__init__(hasher)
        self.pairs = PairDistances(hasher, warm)

    @property
    def hasher(self) -> Any:
        """As it was."""
        return self._hasher

    def iter_enter(self, Z: npt.NDArray[Any]) -> Iterator[None]:
        """From now on rows are rows of Z; nothing is kept of them."""
        self._Z = Z
        yield

    def score(
        self, i: Rows, j: Rows, s: npt.NDArray[np.int8], alpha: int, br: float, *, largest: bool
    ) -> tuple[Ints, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """D_h stands for the scaled distance, R follows from it, Eq. (3); there is no prediction loss."""
        D = self.pairs(self._hasher, self._Z, i, j)
        R = np.where(s > 0, np.maximum(0.0, D - alpha), np.maximum(0.0, br - D)).astype(np.float64)
        return D, R, np.zeros(len(i))
