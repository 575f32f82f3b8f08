"""Centred sign: h = sgn(x - mean), one bit a dimension; what vector databases call binary quantisation.

There is nothing to learn and nothing to multiply. The code has d bits whatever r says, unless `dims` is "first r",
which cuts the vector first, as embeddings trained for cutting (Matryoshka) allow.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.codes import Codes, pack
from ohash.core.parameters import check, param
from ohash.models.base import Arrays, HasherSpec
from ohash.models.linear import HalfSpaces


@dataclass(frozen=True)
class SignParams:
    """Which dimensions, centring, precision."""

    r: int = param(
        48, symbol="r", title="bits", lo=1, hi=8192, slider=(8, 1024), scale="log",
        help="Fixed to d, one bit a dimension, when data come; obeyed only with dims 'first r'.",
    )  # fmt: skip
    dims: str = param(
        "all", symbol="", title="dimensions", choices=("all", "first r"),
        help="all: one bit for each of the d dimensions. first r: cut the vector first (Matryoshka embeddings).",
    )  # fmt: skip
    center: str = param(
        "frozen", symbol="μ", title="centring", choices=("none", "frozen"),
        help="Subtract the warm-up's mean; without it most embeddings give useless codes.",
    )  # fmt: skip
    dtype: str = param("float32", symbol="", title="precision", choices=("float32", "float64"), help="Precision.")

    def __post_init__(self) -> None:
        """Validate."""
        check(self)


class Sign(HalfSpaces):
    """h = sgn(x - mean)."""

    key = "sign"

    def __init__(self, params: SignParams | None = None) -> None:
        """The first data tell d, and with it r."""
        super().__init__(params or SignParams())

    @property
    def r(self) -> int:
        """Bits of a code: d, once data have come."""
        return int(self.params.r) if self.W is None else self.W.shape[1]

    def start(self, d: int) -> None:
        """One bit for each of d dimensions, or for the first r."""
        if self.W is None:
            r = d if self.params.dims == "all" else int(self.params.r)
            if r > d:
                raise ValueError(f"r must be at most d={d} with dims='first r', got {r}; use dims='all', or rotated")
            self.place(np.eye(d, r), np.zeros(d))

    def warm_up(self, X: npt.ArrayLike) -> None:
        """Take the mean of the first points."""
        X = self.rows(X)
        self.start(X.shape[1])
        if self.params.center == "frozen":
            assert self.W is not None
            self.place(self.W, X.mean(axis=0, dtype=np.float64))

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8)), by comparison alone."""
        X = self.rows(X)
        self.start(X.shape[1])
        return Codes(pack(X[:, : self.r] >= self.threshold.astype(X.dtype)), self.r, self.version)


def restore(values: dict[str, Any], arrays: Arrays) -> Sign:
    """A Sign from its saved state."""
    return Sign(SignParams(**values["params"])).resume(values, arrays)


HASHER = HasherSpec(
    key="sign",
    title="Sign (binary quantisation)",
    aliases=("binary quantisation", "binary quantization", "bq", "centred sign"),
    cite="Weiss, Torralba, Fergus: Spectral hashing, NIPS 2008 (the sign as a baseline); "
    "Shakir, Aarsen, Lee: Binary and scalar embedding quantization, Hugging Face 2024",
    bibtex="""@misc{shakir2024quantization,
  title        = {Binary and Scalar Embedding Quantization for Significantly Faster and Cheaper Retrieval},
  author       = {Shakir, Aamir and Aarsen, Tom and Lee, Sean},
  howpublished = {Hugging Face Blog},
  year         = {2024}
}

@inproceedings{weiss2008spectral,
  title     = {Spectral Hashing},
  author    = {Weiss, Yair and Torralba, Antonio and Fergus, Rob},
  booktitle = {Advances in Neural Information Processing Systems 21},
  year      = {2008}
}""",
    supervision="none",
    consumes="nothing",
    params=SignParams,
    build=Sign,
    restore=restore,
    differs="Vector databases take sgn(x) as it stands; here the warm-up's mean is subtracted first (center='none' "
    "does as they do). r is fixed to d, unless dims is 'first r'.",
)
