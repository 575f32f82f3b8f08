"""Methods whose bits are signs of projections, and what fitted and drawn methods add to that.

================ ================================================================================================
Projections      bit k of x is 1 where w_k · z >= threshold_k, z = x or features of x: `encode`, in blocks
HalfSpaces       z is x itself: `hyperplanes` and `bit_updates`, so that a code table can follow bit by bit
LazyStart        W exists before anything is learnt: `start(d)`, and `warm_up(X)` for the mean
FittedHalfSpaces W is replaced as a whole by `_set_hash` (ITQ, KSH, SDH, click whitening)
DrawnHalfSpaces  W is drawn once and never learnt (LSH, rotated sign, RaBitQ)
================ ================================================================================================

Those that move W by a stream are in `learners`.
"""

from contextlib import nullcontext
from typing import ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Floats, Reals
from ohash.core.codes import Codes, pack
from ohash.models.hasher import Hasher
from ohash.runtime.frames import Arrays, JsonObject

ENCODE = 8192  # rows at a time

Scalar = TypeVar("Scalar", bound=np.generic)
Planes = tuple[Reals, Floats]  # (Wt (T, r, d), threshold (T, r))


def read_only(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """A view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


class Projections(Hasher):
    """Codes of T models (one unless said otherwise): h = [W z >= threshold]; `params` has r and dtype."""

    def _planes(self) -> Planes:
        """(Wt (T, r, columns of z), threshold (T, r)) of the hash."""
        raise NotImplementedError

    def _map(self, rows: Reals) -> Reals:
        """The vectors z that W multiplies."""
        return rows

    def _ready(self, d: int) -> None:
        """Refuse, or start, if there is no hash for d columns yet."""
        self._need_start("the hash")

    def _need_start(self, what: str) -> None:
        if self.d is None:
            calls = [f"{name}(X)" for name in ("warm_up", "fit") if hasattr(self, name)]
            raise ValueError(f"{what} does not exist yet: {self.key} needs data first; call {' or '.join(calls)}")

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8)) of the rows of X, Eq. (1); pure, except that it draws W if there is none yet."""
        codes: Codes = self._encode(X)[0]
        return codes

    def _encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (T, n, ceil(r/8)), in blocks, so that memory does not grow with T·n·r."""
        X = validation.matrix("X", X, d=self.d)
        with nullcontext() if self.d is not None else self._all_or_nothing():
            self._ready(X.shape[1])
            Wt, threshold = self._planes()
            W, least = Wt.transpose(0, 2, 1), threshold.astype(Wt.dtype)[:, None, :]
            packed = np.empty((len(Wt), len(X), -(-self.r // 8)), np.uint8)
            for start in range(0, len(X), ENCODE):
                rows = validation.cast(X[start : start + ENCODE], self.params.dtype)
                validation.finite("X", rows, rows=np.arange(start, start + len(rows)))
                packed[:, start : start + ENCODE] = pack(np.matmul(self._map(rows), W) >= least)
        return Codes(packed, self.r, self.version)


class HalfSpaces(Projections):
    """Bits are half-spaces of x itself, so that a code table follows the hash column by column."""

    @property
    def hyperplanes(self) -> Planes:
        """(Wt (T, r, d), threshold (T, r)), read-only: bit k of model m is 1 where Wt[m, k] · x >= threshold[m, k]."""
        self._need_start("W")
        Wt, threshold = self._planes()
        return read_only(Wt), read_only(threshold)

    @property
    def bit_updates(self) -> npt.NDArray[np.int64]:
        """(T, r) how often each projection vector has moved, read-only."""
        self._need_start("bit_updates")
        return read_only(self._moves())

    def _moves(self) -> npt.NDArray[np.int64]:
        """(T, r) how often each projection vector has moved."""
        raise NotImplementedError

    def _bars(self) -> tuple[str, Floats]:
        if self.d is None:
            return super()._bars()
        Wt = self._planes()[0].astype(np.float64)
        return "length of w, one bar per bit", np.sqrt(np.einsum("trd,trd->tr", Wt, Wt)).ravel()


class LazyStart(Projections):
    """W is drawn when the first data show d, or by `start`; the mean comes from `warm_up`."""

    WARM_UP_DTYPE: ClassVar[str] = ""  # precision of the warm-up's mean; "" is that of the method

    @property
    def seen(self) -> int:
        """How many points or pairs have been learnt."""
        return 0

    @property
    def _centred(self) -> bool:
        return getattr(self.params, "center", "none") != "none"

    def start(self, d: int) -> None:
        """Draw the first W for d columns now, instead of with the first data."""
        d = validation.integer("d", d)
        if d < 1:
            raise ValueError(f"d must be an integer >= 1, got {d}")
        if self.d is None:
            self._begin(d)
            self._d = d
        elif d != self.d:
            raise ValueError(f"d must be {self.d}, as at the start, got {d}; begin a new model for other vectors")

    def warm_up(self, X: npt.ArrayLike) -> None:
        """See the first points of the stream (mapped) before anything is learnt: their mean, and what else is fixed."""
        X = self._rows(X, self.WARM_UP_DTYPE or self.params.dtype)
        if self.seen:
            raise ValueError(f"warm_up must come before learning, but {self.seen} pairs or points have been learnt")
        with self._all_or_nothing():
            self.start(X.shape[1])
            if self._centred:
                self._set_mean(X.mean(axis=0, dtype=np.float64), len(X))
            self._prepare(X)

    def _begin(self, d: int) -> None:
        """Draw W and make all arrays for d columns."""
        raise NotImplementedError

    def _set_mean(self, mean: Floats, n: int) -> None:
        """Subtract this mean of n points from now on."""
        raise NotImplementedError

    def _prepare(self, rows: Reals) -> None:
        """Take what else the method needs from the rows of the warm-up."""

    def _ready(self, d: int) -> None:
        self.start(d)

    def _need_start(self, what: str) -> None:
        if self.d is None:
            raise ValueError(
                f"{what} does not exist yet: W is drawn when the first data show d; call start(d) to draw it now"
            )


class FittedHalfSpaces(HalfSpaces):
    """A method that replaces W as a whole; the columns that are really new are counted."""

    ARRAYS: ClassVar[tuple[str, ...]] = ("_W", "_threshold", "_moved")

    def _setup(self) -> None:
        super()._setup()
        self._W: Reals = np.zeros((0, 0))
        self._threshold: Floats = np.zeros(0)
        self._moved: npt.NDArray[np.int64] = np.zeros(0, np.int64)

    @property
    def W(self) -> Reals:
        """Hash projection matrix (d, r), a read-only view."""
        self._need_start("W")
        return read_only(self._W)

    @property
    def threshold(self) -> Floats:
        """(r,): bit k of x is 1 where (Wᵀx)_k is at least this; read-only."""
        self._need_start("threshold")
        return read_only(self._threshold)

    def _planes(self) -> Planes:
        return self._W.T[None], self._threshold[None]

    def _moves(self) -> npt.NDArray[np.int64]:
        return self._moved[None]

    def _set_hash(self, W: Reals, mean: Reals, bias: float | Floats = 0.0) -> None:
        """Hash by W (d, r) about `mean` from now on: bit k is 1 where w_k · (x - mean) + bias_k >= 0."""
        W = np.ascontiguousarray(W, dtype=self.params.dtype)
        threshold = mean.astype(np.float64) @ W.astype(np.float64) - bias
        if self._W.size == 0:
            self._moved = np.zeros(W.shape[1], np.int64)
        else:
            changed = (W != self._W).any(axis=0)
            self._moved = self._moved + changed
            self._version += bool(changed.any() or (threshold != self._threshold).any())
        self._W, self._threshold, self._d = W, threshold, len(W)

    def resume(self, values: JsonObject, arrays: Arrays) -> None:
        """Go on from a saved state."""
        super().resume(values, arrays)
        self._d = len(self._W) or None


class DrawnHalfSpaces(LazyStart, FittedHalfSpaces):
    """A method whose W is drawn once and never learnt; only the mean comes from the data."""

    def _draw(self, d: int) -> Floats:
        """W (d, r)."""
        raise NotImplementedError

    def _begin(self, d: int) -> None:
        self._set_hash(self._draw(d), np.zeros(d))

    def _set_mean(self, mean: Floats, n: int) -> None:
        self._set_hash(self._W, mean)
