"""The base of every method whose bits are signs of projections, and what learners, fitted and drawn methods add to it.

============= ================================================================================================
Projections   bit k of x is 1 where w_k · z >= threshold_k, z = x or features of x: `encode`, in blocks
HalfSpaces    z is x itself: `hyperplanes` and `bit_updates`, so that a code table can follow bit by bit
Starting      W exists before anything is learnt: `start(d)`, and `warm_up(X)` for the mean
Fitted        W is replaced as a whole by `_set_hash` (ITQ, KSH, SDH, click whitening)
Drawn         W is drawn once and never learnt (LSH, rotated sign, RaBitQ)
Learner       W is moved by a stream: a random state, a clock, arrays of its own
LinearLearner a learner of half-spaces: ``W=`` replaces its random start
PointLearner  learns rows in blocks, `_learn_block`
PairLearner   learns pairs in blocks, `_learn_pair_block`
============= ================================================================================================

A learner depends on the order of the stream and never on how it is cut into calls.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Floats, Labels, Numbers, Reals
from ohash.core.codes import Codes, pack
from ohash.core.parameters import param, validate
from ohash.models.base import Trace
from ohash.models.hasher import Hasher
from ohash.runtime.frames import Arrays

# Rows (or pairs) gathered for a kernel at a time, and rows encoded at a time.
GATHER = 2048
ENCODE = 8192

Scalar = TypeVar("Scalar", bound=np.generic)
Planes = tuple[Reals, Floats]  # (Wt (T, r, d), threshold (T, r))


@dataclass(frozen=True)
class LearnerParams:
    """What most learners of half-spaces have."""

    r: int = param(
        48, symbol="r", title="bits", lo=1, hi=8192, slider=(8, 1024), scale="log", help="Length of a code.",
    )  # fmt: skip
    center: str = param(
        "none", symbol="μ", title="centring", choices=("none", "frozen"),
        help="Subtract the warm-up's mean from the vector W multiplies, or take it as it is.",
    )  # fmt: skip
    dtype: str = param("float32", symbol="", title="precision", choices=("float32", "float64"), help="Precision.")
    seed: int = param(0, symbol="", title="seed", lo=0, hi=2**32 - 1, help="Draws the first W. Same seed, same run.")

    def __post_init__(self) -> None:
        """Validate."""
        validate(self)


def read_only(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """A view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def first_matrix(W: npt.ArrayLike, r: int, dtype: str, T: int = 1) -> Reals:
    """The given start of T models of r bits, checked, (T, d, r); one model's may be (d, r).

    >>> first_matrix([[1, 2], [3, 4], [5, 6]], 2, "float32").shape
    (1, 3, 2)
    """
    expected = f"(d, {r})" if T == 1 else f"({T}, d, {r})"
    given = validation.array("W", W, f"a real matrix {expected}")
    shape = (T, given.shape[-2] if given.ndim > 1 else 0, r)
    if given.size == 0 or given.dtype.kind not in "fiub" or given.shape not in (shape, shape[1:] if T == 1 else shape):
        raise ValueError(
            f"W must be a real matrix of shape {expected}, got dtype {given.dtype} and shape {given.shape}"
        )
    cast = validation.cast(given, dtype)
    if not np.isfinite(cast).all():
        raise ValueError(f"W must be finite in {dtype}, got NaN, infinity or a value too large")
    return cast.reshape(shape)


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
        self._need_start("hash")

    def _need_start(self, what: str) -> None:
        if self.d is None:
            raise ValueError(f"{what} does not exist yet: {self.key} needs data first (warm_up or fit, as it consumes)")

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


class Starting(Projections):
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


class Fitted(HalfSpaces):
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

    def resume(self, values: dict[str, Any], arrays: Arrays) -> None:
        """Go on from a saved state."""
        super().resume(values, arrays)
        self._d = len(self._W) or None


class Drawn(Starting, Fitted):
    """A method whose W is drawn once and never learnt; only the mean comes from the data."""

    def _draw(self, d: int) -> Floats:
        """W (d, r)."""
        raise NotImplementedError

    def _begin(self, d: int) -> None:
        self._set_hash(self._draw(d), np.zeros(d))

    def _set_mean(self, mean: Floats, n: int) -> None:
        self._set_hash(self._W, mean)


class Learner(Starting):
    """W learnt from a stream; `_Wt` is (r, d), W transposed, so that a projection vector is contiguous.

    `_clock` counts: its first entry the points or pairs learnt, its last one the changes of the hash (W, mean).
    """

    VALUES: ClassVar[tuple[str, ...]] = ()
    ARRAYS: ClassVar[tuple[str, ...]] = ("_Wt", "_mean", "_bit_updates", "_clock")
    FIXED: ClassVar[tuple[str, ...]] = ARRAYS  # arrays whose shape follows from the parameters and d
    WARM_UP_DTYPE: ClassVar[str] = "float64"
    UNIT: ClassVar[str] = "points"

    def _setup(self) -> None:
        super()._setup()
        self._rng = np.random.default_rng(self.params.seed)
        self._Wt: Reals = np.zeros((0, 0))
        self._mean: Floats = np.zeros(0)
        self._bit_updates: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._clock: npt.NDArray[np.int64] = np.zeros(2, np.int64)
        self._given: Reals | None = None  # (T, d, r) the start, until it is taken

    @property
    def version(self) -> int:
        """How often the hash (W, mean) has changed."""
        return int(self._clock[-1])

    @property
    def seen(self) -> int:
        """How many points or pairs have been learnt."""
        return int(self._clock[0])

    def _first_W(self, d: int) -> Floats:
        """The first W, transposed (r, d): random directions of unit length."""
        W = self._rng.standard_normal((d, self.r)).T
        unit: Floats = W / np.linalg.norm(W, axis=1, keepdims=True)
        return unit

    def _begin(self, d: int) -> None:
        first = self._first_W(d) if self._given is None else self._given[0].T
        self._Wt = np.array(first, dtype=self.params.dtype, order="C")
        self._mean = np.zeros(d)
        self._bit_updates = np.zeros(self.r, np.int64)

    def _set_mean(self, mean: Floats, n: int) -> None:
        self._mean[:] = mean
        self._clock[-1] += 1

    def _prepare(self, rows: Reals) -> None:
        self._prepare_centred(rows - self._mean)
        self._check_overflow()

    def _prepare_centred(self, rows: Reals) -> None:
        """Take what else the method needs from the centred rows of the warm-up."""

    def _planes(self) -> Planes:
        return self._Wt[None], (self._Wt.astype(np.float64) @ self._mean)[None]

    def _moves(self) -> npt.NDArray[np.int64]:
        return self._bit_updates[None]

    def _gather(self, X: Numbers, at: npt.NDArray[np.int64]) -> Reals:
        """Rows `at` of X, a centred copy in the precision of the method."""
        rows = validation.finite("X", validation.cast(X[at], self.params.dtype), rows=at)
        return rows - self._mean.astype(rows.dtype) if self._centred else rows

    def _check_overflow(self) -> None:
        if not np.isfinite(self._Wt).all():
            raise ValueError("X must be of moderate size, got values whose projections overflow; scale the features")

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Parameters and random state for JSON; everything learnt as arrays."""
        values, arrays = super().state()
        return values | {"rng": self._rng.bit_generator.state}, arrays

    def resume(self, values: dict[str, Any], arrays: Arrays) -> None:
        """Go on from a saved state."""
        if arrays:
            self.start(len(arrays["mean"]))
            for name in self.ARRAYS:
                key = name.removeprefix("_")
                ours, saved = getattr(self, name), arrays[key]
                same = ours.shape == saved.shape if name in self.FIXED else ours.ndim == saved.ndim
                if not same or ours.dtype != saved.dtype:
                    raise ValueError(
                        f"{key} must be {ours.dtype} of shape {ours.shape}, got {saved.dtype} {saved.shape}"
                    )
        super().resume(values, arrays)
        self._rng.bit_generator.state = values["rng"]

    def _facts(self) -> list[str]:
        return [*super()._facts(), f"{self.seen:,} {self.UNIT} learnt"]


class LinearLearner(Learner, HalfSpaces):
    """A learner whose bits are half-spaces of x itself."""

    def __init__(self, params: Any = None, /, *, W: npt.ArrayLike | None = None, **keywords: Any) -> None:
        """Parameters by keyword, or as one object; `W` (d, r) replaces the random start."""
        super().__init__(params, **keywords)
        if W is not None:
            self._given = first_matrix(W, self.r, self.params.dtype, getattr(self, "T", 1))
            self.start(self._given.shape[1])
            self._given = None

    @property
    def W(self) -> Reals:
        """Hash projection matrix (d, r), a read-only view."""
        self._need_start("W")
        return read_only(self._planes()[0][0].T)


class PointLearner(Learner):
    """A learner of points, labelled or not."""

    def learn_points(self, X: npt.ArrayLike, i: npt.ArrayLike, y: npt.ArrayLike | None = None) -> None:
        """Learn rows i of X, strictly in order, with their labels; methods without labels ignore y."""
        X = validation.matrix("X", X, d=self.d)
        at = validation.indices("i", i, len(X))
        with self._all_or_nothing():
            self.start(X.shape[1])
            labels = self._check_labels(y, len(at))
            for start in range(0, len(at), GATHER):
                block = slice(start, start + GATHER)
                self._learn_block(self._gather(X, at[block]), None if labels is None else labels[block])
            self._check_overflow()

    def _check_labels(self, y: npt.ArrayLike | None, n: int) -> Labels | None:
        """Labels of n points in the form `_learn_block` takes."""
        return None

    def _learn_block(self, rows: Reals, labels: Labels | None) -> None:
        """Learn centred rows in order."""
        raise NotImplementedError


class PairLearner(LinearLearner):
    """A learner of pairs."""

    UNIT: ClassVar[str] = "pairs"

    def learn(self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike) -> Trace:
        """Learn the pairs (X[i], X[j], s), strictly in order."""
        X = validation.matrix("X", X, d=self.d)
        at_i, at_j, similar = validation.pairs(i, j, s, len(X))
        D_h, updated = np.zeros(len(at_i), np.int64), np.zeros(len(at_i), np.bool_)
        with self._all_or_nothing():
            self.start(X.shape[1])
            for start in range(0, len(at_i), GATHER):
                block = slice(start, start + GATHER)
                self._learn_pair_block(
                    self._gather(X, at_i[block]), self._gather(X, at_j[block]), similar[block].copy(),
                    D_h[block], updated[block],
                )  # fmt: skip
            self._check_overflow()
        return Trace(D_h, updated)

    def _learn_pair_block(
        self,
        x_i: Reals,
        x_j: Reals,
        s: npt.NDArray[np.int8],
        D_h: npt.NDArray[np.int64],
        updated: npt.NDArray[np.bool_],
    ) -> None:
        """Learn centred pairs in order; fill in the columns D_h and updated."""
        raise NotImplementedError
