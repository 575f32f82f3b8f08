"""Methods that move W by a stream of points or pairs.

============= =====================================================================
Learner       has a random state, a clock, arrays of its own
LinearLearner a learner of half-spaces: ``W=`` replaces its random start
PointLearner  learns rows in blocks, `_learn_block`
ChunkLearner  learns labelled rows, which wait in a buffer until a chunk is full
PairLearner   learns pairs in blocks, `_learn_pair_block`
============= =====================================================================

A learner depends on the order of the stream and never on how it is cut into calls.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Array, Floats, Labels, Numbers, Reals
from ohash.core.parameters import Parameters, bits_param, centring_param, precision_param, seed_param
from ohash.models import supervision
from ohash.models.base import Trace
from ohash.models.linear import HalfSpaces, LazyStart, Planes, read_only
from ohash.runtime.frames import Arrays, Frame, JsonObject

GATHER = 2048  # rows or pairs gathered for a kernel at a time


@dataclass(frozen=True)
class LearnerParams(Parameters):
    """What most learners of half-spaces have."""

    r: int = bits_param()
    center: str = centring_param(
        "none", "Subtract the warm-up's mean from the vector W multiplies, or take it as it is."
    )
    dtype: str = precision_param()
    seed: int = seed_param("Draws the first W. Same seed, same run.")


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


class Learner(LazyStart):
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

    def state(self) -> Frame:
        """Parameters and random state for JSON; everything learnt as arrays."""
        values, arrays = super().state()
        return values | {"rng": self._rng.bit_generator.state}, arrays

    def resume(self, values: JsonObject, arrays: Arrays) -> None:
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

    def __init__(self, params: object = None, /, *, W: npt.ArrayLike | None = None, **keywords: object) -> None:
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


class ChunkLearner(PointLearner, LinearLearner):
    """A learner of chunks of labelled points; its parameters have `chunk`, their size."""

    LABELS: ClassVar[str] = "_buffer_labels"  # the attribute, and the name in saved models
    ARRAYS: ClassVar[tuple[str, ...]] = (*PointLearner.ARRAYS, "_buffer", "_waiting", "_form")

    def _begin(self, d: int) -> None:
        super()._begin(d)
        self._buffer = np.zeros((self.params.chunk, d), self.params.dtype)
        self._waiting = np.zeros(1, np.int64)
        self._form = np.zeros(1, np.int64)
        self._start_labels(1)

    @property
    def _chunk_labels(self) -> npt.NDArray[np.int64]:
        """The labels in the buffer, one row per point."""
        labels: npt.NDArray[np.int64] = getattr(self, self.LABELS)
        return labels

    def _check_labels(self, y: npt.ArrayLike | None, n: int) -> Array:
        first = self._form[0] == supervision.UNKNOWN
        checked, self._form[0] = supervision.check(y, n, int(self._form[0]), type(self).__name__)
        rows = self._label_rows(checked)
        if first:
            self._start_labels(rows.shape[1])
        return rows

    def _start_labels(self, width: int) -> None:
        """An empty buffer of labels; their form is known from the first of them on."""
        setattr(self, self.LABELS, np.zeros((self.params.chunk, width), np.int64))

    def _label_rows(self, checked: Array) -> npt.NDArray[np.int64]:
        """Labels as rows of integers."""
        return np.asarray(checked, np.int64).reshape(len(checked), -1)

    def _learn_block(self, rows: Reals, labels: Any) -> None:
        at = 0
        while at < len(rows):
            waiting = int(self._waiting[0])
            stop = at + min(len(rows) - at, len(self._buffer) - waiting)
            self._buffer[waiting : waiting + stop - at] = rows[at:stop]
            self._chunk_labels[waiting : waiting + stop - at] = labels[at:stop]
            self._waiting[0] += stop - at
            self._clock[0] += stop - at
            at = stop
            if self._waiting[0] == len(self._buffer):
                self._waiting[0] = 0
                self._learn_chunk(self._buffer.astype(np.float64))

    def _learn_chunk(self, X: npt.NDArray[np.float64]) -> None:
        """Move W by the chunk X; its labels are `_chunk_labels`."""
        raise NotImplementedError
