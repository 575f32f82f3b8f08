"""What methods whose bits are half-spaces share: W and thresholds, encoding, columns that have moved, saving.

Bit k of x is 1 where w_k · x >= threshold_k, so a centred method keeps threshold = Wᵀmean. A method that is fitted
calls `place` with its new W; the columns that are really new are counted, and a code table computes only those again.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.codes import Codes, pack
from ohash.models.base import Arrays
from ohash.models.storage import save


class HalfSpaces:
    """A base for methods with h = [Wᵀx >= threshold]; `params` has r and dtype."""

    key: str

    def __init__(self, params: Any) -> None:
        """W comes with the first data."""
        self.params = params
        self.version = 0
        self.W: npt.NDArray[Any] | None = None
        self.threshold: npt.NDArray[np.float64] = np.zeros(0)
        self.moved: npt.NDArray[np.int64] = np.zeros(0, np.int64)

    @property
    def r(self) -> int:
        """Bits of a code."""
        return int(self.params.r)

    @property
    def d(self) -> int | None:
        """Columns of X, known once data have been seen."""
        return None if self.W is None else len(self.W)

    @property
    def hyperplanes(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """(Wt (1, r, d), threshold (1, r))."""
        return self._need_W().T[None], self.threshold[None]

    @property
    def bit_updates(self) -> npt.NDArray[np.int64]:
        """(1, r) how often each column of W was replaced by another."""
        self._need_W()
        return self.moved[None]

    def rows(self, X: npt.ArrayLike, dtype: str | None = None) -> npt.NDArray[Any]:
        """X checked, in the precision of the method."""
        cast = validation.cast(validation.matrix("X", X, d=self.d), dtype or self.params.dtype)
        return validation.finite("X", cast)

    def place(self, W: npt.NDArray[Any], mean: npt.NDArray[Any], bias: float | npt.NDArray[np.float64] = 0.0) -> None:
        """Hash by W (d, r) about `mean` from now on: bit k is 1 where w_k · (x - mean) + bias_k >= 0."""
        W = np.ascontiguousarray(W, dtype=self.params.dtype)
        threshold = mean.astype(np.float64) @ W.astype(np.float64) - bias
        if self.W is None:
            self.moved = np.zeros(W.shape[1], np.int64)
        else:
            changed = (W != self.W).any(axis=0)
            self.moved = self.moved + changed
            self.version += bool(changed.any() or (threshold != self.threshold).any())
        self.W, self.threshold = W, threshold

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8))."""
        W = self._need_W()
        return Codes(pack(self.rows(X) @ W >= self.threshold.astype(W.dtype)), self.r, self.version)

    def save(self, path: str | Path) -> None:
        """Write to .npz."""
        save(self, path)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """For `ohash.save`."""
        values = {"params": asdict(self.params), "version": self.version}
        if self.W is None:
            return values, {}
        return values, {"W": self.W, "threshold": self.threshold, "moved": self.moved}

    def resume(self, values: dict[str, Any], arrays: Arrays) -> Self:
        """Go on from a saved state; a method with more to remember extends both."""
        if "W" in arrays:
            self.W = np.ascontiguousarray(arrays["W"], dtype=self.params.dtype)
            self.threshold = np.array(arrays["threshold"], np.float64)
            self.moved = np.array(arrays["moved"], np.int64)
        self.version = int(values["version"])
        return self

    def _need_W(self) -> npt.NDArray[Any]:
        if self.W is None:
            raise ValueError(f"{self.key} has no hash yet: give it data first (warm_up or fit, as it consumes)")
        return self.W
