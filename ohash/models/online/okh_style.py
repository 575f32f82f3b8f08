"""OKH-style: the passive-aggressive learner of OH and what is known of its first version (Huang et al., IJCAI 2013).

One ratio is the only threshold of the loss: a similar pair has loss beyond 0 bits, a dissimilar one below ratio r bits;
instead of centring, a constant feature 1 gives each bit a learnt offset.
"""

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Array, Reals
from ohash.core.codes import Codes
from ohash.core.parameters import Parameters, bits_param, param, precision_param, seed_param
from ohash.models.base import HasherSpec
from ohash.models.hasher import Hasher
from ohash.models.learners import first_matrix
from ohash.models.linear import read_only
from ohash.models.online.oh import OH
from ohash.models.online.oh_params import PairTrace
from ohash.runtime.frames import Arrays, Frame, JsonObject

ROWS_PER_BLOCK = 8192


@dataclass(frozen=True)
class OKHStyleParams(Parameters):
    """The values of the authors' demonstration: C = 0.1, ratio 0.2."""

    r: int = bits_param()
    ratio: float = param(
        0.2, symbol="α", title="dissimilar threshold", lo=0, hi=1, lo_open=True, slider=(0.05, 1), step=0.01,
        help="A dissimilar pair should differ in at least this share of the bits.",
    )  # fmt: skip
    C: float = param(
        0.1, symbol="C", title="aggressiveness", lo=0, hi=1e6, lo_open=True, slider=(1e-5, 10), scale="log",
        help="Cap on the step size.",
    )  # fmt: skip
    dtype: str = precision_param()
    seed: int = seed_param("Draws the first W. Same seed, same run.")


class OKHStyle(Hasher):
    """OH on (x, 1)."""

    key = "okh_style"
    Params = OKHStyleParams
    params: OKHStyleParams

    def __init__(self, params: object = None, /, *, W: npt.ArrayLike | None = None, **keywords: object) -> None:
        """Parameters by keyword, or as one object; `W` (d, r) replaces the random start, with no offsets."""
        super().__init__(params, **keywords)
        if W is not None:
            first = first_matrix(W, self.r, self.params.dtype)[0]
            self._inner = self._oh(np.concatenate([first, np.zeros((1, self.r))]))

    def _setup(self) -> None:
        self._inner = self._oh(None)

    def _oh(self, W: Reals | None) -> OH:
        p = self.params
        return OH(r=p.r, alpha=0, beta=p.ratio, C=p.C, seed=p.seed, dtype=p.dtype, center="none", W=W)

    @property
    def W(self) -> Reals:
        """Hash projection matrix (d, r) without the constant's weights, read-only."""
        return read_only(self._inner.W[:-1])

    @property
    def d(self) -> int | None:
        """Columns of X, known once data have been seen."""
        return None if self._inner.d is None else self._inner.d - 1

    @property
    def version(self) -> int:
        """How often W has changed."""
        return self._inner.version

    @property
    def hyperplanes(self) -> tuple[Array, npt.NDArray[np.float64]]:
        """(Wt (1, r, d), threshold (1, r)): the threshold is minus the weight of the constant feature."""
        Wt = self._inner.hyperplanes[0]
        return read_only(np.ascontiguousarray(Wt[..., :-1])), read_only(-Wt[..., -1].astype(np.float64))

    @property
    def bit_updates(self) -> npt.NDArray[np.int64]:
        """(1, r) how often each projection vector has moved."""
        return self._inner.bit_updates

    def start(self, d: int) -> None:
        """Draw W for d features and the constant."""
        self._inner.start(validation.integer("d", d) + 1)

    def learn(self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike) -> PairTrace:
        """One pass over the pairs, strictly in order."""
        X = validation.matrix("X", X, d=self.d)
        at_i, at_j, similar = validation.pairs(i, j, s, len(X))
        rows, at = np.unique(np.concatenate([at_i, at_j]), return_inverse=True)
        some = validation.finite("X", validation.cast(X[rows], self.params.dtype), rows=rows)
        return self._inner.learn(_with_one(some), at[: len(at_i)], at[len(at_i) :], similar)

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8))."""
        X = validation.matrix("X", X, d=self.d)
        rows = validation.finite("X", validation.cast(X, self.params.dtype))
        packed = np.empty((len(X), -(-self.r // 8)), np.uint8)
        for start in range(0, len(X), ROWS_PER_BLOCK):
            packed[start : start + ROWS_PER_BLOCK] = self._inner.encode(_with_one(rows[start : start + ROWS_PER_BLOCK]))
        return Codes(packed, self.r, self.version)

    def state(self) -> Frame:
        """For `ohash.save`."""
        values, arrays = self._inner.state()
        return {"params": asdict(self.params), "rng": values["rng"]}, arrays

    def resume(self, values: JsonObject, arrays: Arrays) -> None:
        """Go on from a saved state."""
        self._inner.resume(values, arrays)

    def _facts(self) -> list[str]:
        return [*super()._facts(), f"{self._inner.pairs:,} pairs learnt"]

    def _bars(self) -> tuple[str, npt.NDArray[np.float64]]:
        return self._inner._bars()


def _with_one(rows: Reals) -> Reals:
    return np.concatenate([rows, np.ones((len(rows), 1), rows.dtype)], axis=1)


HASHER = HasherSpec(
    hasher=OKHStyle,
    title="OKH-style",
    aliases=("OKH", "online kernel hashing"),
    cite="after Huang, Yang, Zheng: Online Hashing, IJCAI 2013",
    bibtex="""@inproceedings{huang2013online,
  title     = {Online Hashing},
  author    = {Huang, Long-Kai and Yang, Qiang and Zheng, Wei-Shi},
  booktitle = {International Joint Conference on Artificial Intelligence},
  year      = {2013}
}""",
    supervision="pairs",
    features="kernel",
    features_source="a kernel is part of its hash function, as its name says",
    features_place="adapted from the authors' program: fcakir/mihash, online-hashing/+Methods/OKH.m, 300 anchors",
    consumes="pairs",
    differs="Not OKH itself: its learning rule was only ever distributed as compiled code, and the journal paper "
    "says that loss and inference differed. Known are C = 0.1, one ratio of 0.2, RBF features of 300 anchors with a "
    "constant 1, and one pair per step; the loss is read as OH's with that ratio as the only threshold, the inference "
    "is OH's.",
)
