"""MMOH: Multi-Model Online Hashing, T models that are updated selectively (Section VI, Eq. (28)).

For a similar pair only the model with the smallest R moves, and none if that R is 0; for a dissimilar pair every model
with R > 0 moves. T = 1 is OH bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from ohash.core.arrays import Reals
from ohash.core.codes import Codes
from ohash.core.loss import PairStep
from ohash.core.parameters import param
from ohash.models.base import PAPER, Check, HasherSpec
from ohash.models.linear import read_only
from ohash.models.online.oh_params import USUAL_C, OHParams, check_C
from ohash.models.online.passive_aggressive import PassiveAggressive


@dataclass(frozen=True)
class MMOHParams(OHParams):
    """The parameters of OH and the number of models."""

    T: int = param(
        4, symbol="T", title="models", lo=1, hi=64, slider=(1, 16), step=1,
        help="Models that share the work. Storage is T · r bits: compare at equal bits.", eq="Eq. (28)",
        tex=r"s = 1:\ \text{only } \operatorname{argmin}_m R_m;\quad s = -1:\ \text{every } m \text{ with } R_m > 0",
    )  # fmt: skip


class MMOH(PassiveAggressive):
    """Multi-Model Online Hashing.

    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> M = MMOH(T=2, r=8, seed=1)
    >>> t = M.learn(X, [0, 1], [1, 2], [-1, +1])
    >>> t.D_h.shape, M.W.shape, M.encode(X).shape
    ((2, 2), (2, 3, 8), (2, 3, 1))
    """

    key = "mmoh"
    Params = MMOHParams
    params: MMOHParams

    def __init__(
        self,
        T: int = 4,
        r: int = 48,
        alpha: int = 0,
        beta: float = 0.5,
        C: float | str = USUAL_C,
        seed: int = 0,
        dtype: str = "float32",
        center: str | None = None,
        W: npt.ArrayLike | None = None,
        *,
        ema: float = 0.01,
        select: str = "smallest",
        rounds: int = 1,
    ) -> None:
        """See `MMOHParams` for every parameter; `W` (T, d, r) replaces the random start.

        center=None is "none", with an `UncentredWarning` if the vectors need centring.
        """
        params = MMOHParams(
            T=T, r=r, alpha=alpha, beta=beta, C=check_C(C), seed=seed, dtype=dtype, center=center or "none", ema=ema,
            select=select, rounds=rounds,
        )  # fmt: skip
        super().__init__(params, W, centring_chosen=center is not None)

    @property
    def W(self) -> Reals:
        """Hash projection matrices (T, d, r), a read-only view."""
        self._need_start("W")
        return read_only(self._Wt.transpose(0, 2, 1))

    def learn_pair(
        self,
        x_i: npt.ArrayLike,
        x_j: npt.ArrayLike,
        s: int,
        dry_run: bool = False,
        alpha: int | None = None,
        beta: float | None = None,
        C: float | None = None,
    ) -> list[PairStep]:
        """Learn one pair and explain its step, model by model; `dry_run` changes nothing."""
        return self._explain(x_i, x_j, s, dry_run, alpha, beta, C)

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (T, n, ceil(r/8)) of the rows of X, Eq. (1)."""
        return self._encode(X)


HASHER = HasherSpec(
    hasher=MMOH,
    title="MMOH",
    aliases=("multi-model online hashing",),
    cite="Huang, Yang, Zheng: Online Hashing, TNNLS 2017, Section VI",
    bibtex=PAPER,
    supervision="pairs",
    features="kernel",
    features_source="an RBF map",
    features_place="Online Hashing, Sections III-C and VII-B",
    consumes="pairs",
    differs="As OH. Among models with the same smallest loss the first is moved. The paper does not say how T models "
    "rank items: here by the smallest Hamming distance, then by the sum.",
    checked=Check("Algorithm 1 and Eq. (28), one loop per sum", "60 pairs", 1e-13),
)
