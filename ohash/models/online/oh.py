"""OH: Online Hashing, one passive-aggressive model (Sections III to V, Algorithm 1).

Differs from the paper: beta r is rounded when it is an integer up to 1e-9, degenerate pairs are skipped and counted,
and centring is explicit; see `ohash.core.loss` for the conventions.
"""

from __future__ import annotations

import numpy.typing as npt

from ohash.core.arrays import Reals
from ohash.core.loss import PairStep
from ohash.models.base import PAPER, Check, HasherSpec
from ohash.models.linear import read_only
from ohash.models.online.oh_params import USUAL_C, OHParams, PairTrace, check_C
from ohash.models.online.passive_aggressive import PassiveAggressive


class OH(PassiveAggressive):
    """Online Hashing.

    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> m = OH(r=8, seed=1)
    >>> t = m.learn(X, [0, 1], [1, 2], [-1, +1])
    >>> t.D_h.shape, m.W.shape, m.encode(X).shape
    ((2,), (3, 8), (3, 1))
    """

    key = "oh"
    Params = OHParams
    params: OHParams

    def __init__(
        self,
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
        """See `OHParams` for every parameter; `W` (d, r) replaces the random start.

        center=None is "none", with an `UncentredWarning` if the vectors need centring.
        """
        params = OHParams(
            r=r, alpha=alpha, beta=beta, C=check_C(C), seed=seed, dtype=dtype, center=center or "none", ema=ema,
            select=select, rounds=rounds,
        )  # fmt: skip
        super().__init__(params, W, centring_chosen=center is not None)

    @property
    def W(self) -> Reals:
        """Hash projection matrix (d, r), a read-only view."""
        self._need_start("W")
        return read_only(self._Wt[0].T)

    def learn(self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike) -> PairTrace:
        """One pass over the pairs (X[i], X[j], s), strictly in order; X is already mapped. Algorithm 1."""
        trace = super().learn(X, i, j, s)
        return PairTrace(**{name: column[:, 0] for name, column in trace.columns().items()})

    def learn_pair(
        self,
        x_i: npt.ArrayLike,
        x_j: npt.ArrayLike,
        s: int,
        dry_run: bool = False,
        alpha: int | None = None,
        beta: float | None = None,
        C: float | None = None,
    ) -> PairStep:
        """Learn one pair and explain its step; `dry_run` changes nothing."""
        return self._explain(x_i, x_j, s, dry_run, alpha, beta, C)[0]


HASHER = HasherSpec(
    hasher=OH,
    title="OH",
    aliases=("online hashing",),
    cite="Huang, Yang, Zheng: Online Hashing, TNNLS 2017",
    bibtex=PAPER,
    supervision="pairs",
    features="kernel",
    features_source="an RBF map",
    features_place="Online Hashing, Sections III-C and VII-B",
    consumes="pairs",
    differs="β r is taken as a whole number where it is one up to rounding; a pair that cannot move W (zero vectors) "
    "is skipped and counted; of bits whose margins are equal up to rounding the lower is flipped; centring is an "
    "explicit choice. The bound of Theorem 2 is used in a corrected form: as printed it is false.",
    checked=Check("Algorithm 1, one loop per sum", "60 pairs", 1e-13),
)
