"""What methods share whose code stands for an approximation of the vector: the distance of a query to that.

The query stays a float vector, so only the item's error counts (the asymmetric distance of Jégou, Douze and Schmid).
Their codes are numbers, not bits: Hamming distance says nothing about them.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.codes import Codes
from ohash.models.storage import save


class Reconstruction:
    """A base for methods that can `decode`; `d` is the number of columns once data have been seen."""

    d: int | None

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8))."""
        raise NotImplementedError

    def decode(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The vectors (n, d) that codes stand for."""
        raise NotImplementedError

    def rows(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """X checked, as float32."""
        return validation.finite("X", validation.cast(validation.matrix("X", X, d=self.d), "float32"))

    def quantise(self, X: npt.ArrayLike) -> Codes:
        """What is stored of the rows of X: their codes alone."""
        return self.encode(X)

    def estimate_distances(self, queries: npt.ArrayLike, stored: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """Squared Euclidean distances from queries to what codes stand for, (queries, items)."""
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Write to .npz."""
        save(self, path)  # type: ignore[arg-type]
