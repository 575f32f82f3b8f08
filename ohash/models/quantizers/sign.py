"""Centred sign: h = sgn(x - mean), one bit per dimension; what vector databases call binary quantisation.

There is nothing to learn and nothing to multiply. The code has d bits whatever r is, unless `dims` is "first r", which
truncates the vector first, as embeddings trained for truncation (Matryoshka) allow.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ohash.core.codes import Codes, pack
from ohash.core.parameters import Parameters, bits_param, centring_param, param, precision_param
from ohash.models.base import HasherSpec
from ohash.models.linear import DrawnHalfSpaces


@dataclass(frozen=True)
class SignParams(Parameters):
    """Which dimensions, centring, precision."""

    r: int = bits_param(help="Used only with dims 'first r'; otherwise a code has d bits, one per dimension.")
    dims: str = param(
        "all", symbol="", title="dimensions", choices=("all", "first r"),
        help="all: one bit for each of the d dimensions. first r: truncate the vector first (Matryoshka embeddings).",
    )  # fmt: skip
    center: str = centring_param(
        "frozen", "Subtract the warm-up's mean; without it most embeddings give useless codes."
    )
    dtype: str = precision_param()


def check_dimensions(params: SignParams, d: int, *, instead: str) -> None:
    """Refuse more bits than dimensions; `instead` names a method that has them."""
    if params.dims == "first r" and params.r > d:
        raise ValueError(f"r must be at most d={d} with dims='first r', got {params.r}; use dims='all', or {instead}")


check_columns = partial(check_dimensions, instead="rotated")


def chosen_axes(d: int, params: SignParams) -> npt.NDArray[np.float64]:
    """(d, r): one bit for each of d dimensions, or for the first r."""
    return np.eye(d, d if params.dims == "all" else params.r)


class Sign(DrawnHalfSpaces):
    """h = sgn(x - mean)."""

    key = "sign"
    Params = SignParams
    params: SignParams

    @property
    def r(self) -> int:
        """Bits of a code: d, once data have been seen."""
        return int(self.params.r) if self.d is None else self._W.shape[1]

    def _draw(self, d: int) -> npt.NDArray[np.float64]:
        check_columns(self.params, d)
        return chosen_axes(d, self.params)

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8)), by comparison alone."""
        X = self._rows(X, self.params.dtype)
        self.start(X.shape[1])
        return Codes(pack(X[:, : self.r] >= self._threshold.astype(X.dtype)), self.r, self.version)


HASHER = HasherSpec(
    hasher=Sign,
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
    features="distance",
    features_source="vector databases binarise embeddings as they are",
    features_place="by its definition",
    consumes="nothing",
    check_columns=check_columns,
    differs="Vector databases take sgn(x) directly; here the warm-up's mean is subtracted first (center='none' "
    "does what they do). r is fixed to d, unless dims is 'first r'.",
)
