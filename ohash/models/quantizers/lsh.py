"""LSH: sign random projections, the start of OH and the floor of every comparison.

P[bits differ] = angle / pi. Data-independent but for the mean that is subtracted.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.codes import Codes, pack
from ohash.core.parameters import check, param
from ohash.models.base import Arrays, HasherSpec
from ohash.models.storage import save


@dataclass(frozen=True)
class LSHParams:
    """Bits, seed, precision."""

    r: int = param(
        48, symbol="r", title="bits", lo=1, hi=8192, slider=(8, 1024), scale="log", help="Length of a code.",
    )  # fmt: skip
    center: str = param(
        "none", symbol="μ", title="centring", choices=("none", "frozen"), help="Subtract the warm-up's mean.",
    )  # fmt: skip
    dtype: str = param("float32", symbol="", title="precision", choices=("float32", "float64"), help="Precision.")
    seed: int = param(0, symbol="", title="seed", lo=0, hi=2**32 - 1, help="Draws W.")

    def __post_init__(self) -> None:
        """Validate."""
        check(self)


class LSH:
    """h = sgn(Wᵀ(x - mean)), W ~ N(0, 1) drawn once."""

    key = "lsh"

    def __init__(self, params: LSHParams | None = None) -> None:
        """W is drawn when the first data tell d."""
        self.params = params or LSHParams()
        self.version = 0
        self.W: npt.NDArray[Any] | None = None
        self.mean: npt.NDArray[np.float64] | None = None

    @property
    def r(self) -> int:
        """Bits of a code."""
        return self.params.r

    @property
    def d(self) -> int | None:
        """Columns of X, known once data have been seen."""
        return None if self.W is None else len(self.W)

    @property
    def hyperplanes(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """(Wt (1, r, d), threshold (1, r))."""
        if self.W is None or self.mean is None:
            raise ValueError("W is not there yet: call start(d), or encode something")
        return self.W.T[None], (self.mean @ self.W.astype(np.float64))[None]

    @property
    def bit_updates(self) -> npt.NDArray[np.int64]:
        """W never moves."""
        return np.zeros((1, self.r), np.int64)

    def start(self, d: int) -> None:
        """Draw W for d features: the first W of an OH with this seed."""
        if self.W is None:
            W = np.random.default_rng(self.params.seed).standard_normal((1, d, self.r))[0]
            self.W, self.mean = W.astype(self.params.dtype), np.zeros(d)

    def warm_up(self, X: npt.ArrayLike) -> None:
        """Take the mean of the first points."""
        X = validation.finite("X", validation.cast(validation.matrix("X", X, d=self.d), self.params.dtype))
        self.start(X.shape[1])
        if self.params.center == "frozen":
            self.mean = X.mean(axis=0, dtype=np.float64)
            self.version += 1

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8))."""
        X = validation.finite("X", validation.cast(validation.matrix("X", X, d=self.d), self.params.dtype))
        self.start(X.shape[1])
        assert self.W is not None and self.mean is not None
        projections = X @ self.W
        threshold = (self.mean @ self.W.astype(np.float64)).astype(self.params.dtype)
        return Codes(pack(projections >= threshold), self.r, self.version)

    def save(self, path: str | Path) -> None:
        """Write to .npz."""
        save(self, path)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """For `ohash.save`."""
        values = {"params": asdict(self.params), "version": self.version}
        return values, {} if self.W is None or self.mean is None else {"W": self.W, "mean": self.mean}


def restore(values: dict[str, Any], arrays: Arrays) -> LSH:
    """An LSH from its saved state."""
    model = LSH(LSHParams(**values["params"]))
    if "W" in arrays:
        model.start(len(arrays["W"]))
        assert model.W is not None and model.mean is not None
        model.W[...], model.mean[...] = arrays["W"], arrays["mean"]
    model.version = int(values["version"])
    return model


HASHER = HasherSpec(
    key="lsh",
    title="LSH",
    aliases=("sign random projection",),
    cite="Charikar: Similarity estimation techniques from rounding algorithms, STOC 2002",
    bibtex="""@inproceedings{charikar2002similarity,
  title     = {Similarity Estimation Techniques from Rounding Algorithms},
  author    = {Charikar, Moses S.},
  booktitle = {ACM Symposium on Theory of Computing},
  year      = {2002},
  pages     = {380--388},
  doi       = {10.1145/509907.509965}
}""",
    supervision="none",
    consumes="nothing",
    params=LSHParams,
    build=LSH,
    restore=restore,
    differs="As published; the mean of the warm-up can be subtracted first.",
)
