"""What the online methods share: W, mean, labels, rows in blocks, saving, all or nothing.

`Wt` is (r, d), W transposed: a projection vector is contiguous. A subclass names its own arrays in ARRAYS, makes them
in `_begin`, and learns blocks of centred rows in `_absorb` or blocks of pairs in `_absorb_pairs`, in a way that depends
on the order of what comes and never on how it is cut.

What methods whose bits are half-spaces share: W and thresholds, encoding, columns that have moved, saving.

Bit k of x is 1 where w_k · x >= threshold_k, so a centred method keeps threshold = Wᵀmean. A method that is fitted
calls `place` with its new W; the columns that are really new are counted, and a code table computes only those again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.codes import Codes, pack
from ohash.core.parameters import check, param
from ohash.models.base import Arrays, Trace
from ohash.models.storage import save

# Rows (or pairs) gathered for a kernel at a time, and rows encoded at a time.
GATHER = 2048
ENCODE = 8192

# Entries of `clock`: points or pairs learnt, and changes of the hash (W, mean).
SEEN, VERSION = range(2)

Rows = npt.NDArray[Any]
Labels = npt.NDArray[Any]


@dataclass(frozen=True)
class LearnerParams:
    """What every learner of half-spaces has."""

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
        check(self)


class StreamBase:
    """h = sgn(Wᵀz - threshold), W learnt from a stream; z is x itself, or what `_map` makes of it."""

    key: str
    ARRAYS: ClassVar[tuple[str, ...]] = ("Wt", "mean", "bit_updates", "clock")

    def __init__(self, params: Any) -> None:
        """W is drawn when the first data tell d."""
        self.params = params
        self._rng = np.random.default_rng(params.seed)
        self._Wt: npt.NDArray[Any] | None = None
        self._mean = np.zeros(0)
        self._bit_updates = np.zeros(0, np.int64)
        self._clock = np.zeros(2, np.int64)
        self._centred = getattr(params, "center", "none") == "frozen"

    # -- what it is ----------------------------------------------------------------------------------------------

    @property
    def r(self) -> int:
        """Bits of a code."""
        return int(self.params.r)

    @property
    def d(self) -> int | None:
        """Columns of X, known once data have been seen."""
        return None if self._Wt is None else len(self._mean)

    @property
    def version(self) -> int:
        """How often the hash (W, mean) has changed."""
        return int(self._clock[VERSION])

    @property
    def seen(self) -> int:
        """How many points or pairs have been learnt."""
        return int(self._clock[SEEN])

    def start(self, d: int) -> None:
        """Draw the first W for d features now, instead of when the first data come."""
        d = validation.integer("d", d)
        if d < 1:
            raise ValueError(f"d must be an integer >= 1, got {d}")
        if self._Wt is None:
            self._begin(d)
        elif d != self.d:
            raise ValueError(f"d must be {self.d}, as at the start, got {d}; begin a new model for other vectors")

    def warm_up(self, X: npt.ArrayLike) -> None:
        """See the first points of the stream (mapped) before anything is learnt: their mean, and what else is fixed."""
        X = validation.finite("X", validation.cast(validation.matrix("X", X, d=self.d), "float64"))
        if self.seen:
            raise ValueError(f"warm_up must come before learning, but {self.seen} have been learnt")
        with self._all_or_nothing():
            self.start(X.shape[1])
            if self._centred:
                self._mean[:] = X.mean(axis=0)
                self._clock[VERSION] += 1
            self._prepare(X - self._mean)

    # -- what a subclass fills in ----------------------------------------------------------------------------------

    def _first(self, d: int) -> npt.NDArray[np.float64]:
        """The first W, transposed (r, d): random directions of unit length."""
        W = self._rng.standard_normal((d, self.r)).T
        unit: npt.NDArray[np.float64] = W / np.linalg.norm(W, axis=1, keepdims=True)
        return unit

    def _begin(self, d: int) -> None:
        self._Wt = np.ascontiguousarray(self._first(d), dtype=self.params.dtype)
        self._mean = np.zeros(d)
        self._bit_updates = np.zeros(self.r, np.int64)

    def _prepare(self, rows: Rows) -> None:
        """Take what else the method needs from the centred rows of the warm-up."""

    def _check_labels(self, y: npt.ArrayLike | None, n: int) -> Labels | None:
        """Labels of n points in the form the method learns from; a method without labels ignores them."""
        return None

    def _map(self, rows: Rows) -> Rows:
        """The vectors W multiplies."""
        return rows

    def _absorb(self, rows: Rows, labels: Any) -> None:
        raise NotImplementedError

    def _absorb_pairs(self, x_i: Rows, x_j: Rows, s: Rows, D_h: Rows, updated: Rows) -> None:
        raise NotImplementedError

    # -- learning ------------------------------------------------------------------------------------------------

    def _learn_points(self, X: npt.ArrayLike, i: npt.ArrayLike, y: npt.ArrayLike | None) -> None:
        X = validation.matrix("X", X, d=self.d)
        at = validation.indices("i", i, len(X))
        with self._all_or_nothing():
            self.start(X.shape[1])
            labels = self._check_labels(y, len(at))
            for start in range(0, len(at), GATHER):
                block = slice(start, start + GATHER)
                self._absorb(self._gather(X, at[block]), None if labels is None else labels[block])

    def _learn_pairs(self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike) -> Trace:
        X = validation.matrix("X", X, d=self.d)
        at_i, at_j, similar = validation.pairs(i, j, s, len(X))
        D_h, updated = np.zeros(len(at_i), np.int64), np.zeros(len(at_i), np.bool_)
        with self._all_or_nothing():
            self.start(X.shape[1])
            for start in range(0, len(at_i), GATHER):
                block = slice(start, start + GATHER)
                self._absorb_pairs(
                    self._gather(X, at_i[block]), self._gather(X, at_j[block]), similar[block].copy(),
                    D_h[block], updated[block],
                )  # fmt: skip
        return Trace(D_h, updated)

    def _gather(self, X: Rows, at: npt.NDArray[np.int64]) -> Rows:
        """Rows `at` of X, a centred copy in the precision of the method."""
        rows = validation.finite("X", validation.cast(X[at], self.params.dtype), rows=at)
        return rows - self._mean.astype(rows.dtype) if self._centred else rows

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Whatever goes wrong inside, or if W has left the real numbers: the model is as it was, bit for bit."""
        before = {name: _copy(value) for name, value in vars(self).items()}
        rng = self._rng.bit_generator.state
        done = False
        try:
            yield
            if not np.isfinite(self._need_start()).all():
                raise ValueError(
                    "X must be of moderate size, got values whose projections overflow; scale the features"
                )
            done = True
        finally:
            if not done:
                vars(self).update(before)
                self._rng.bit_generator.state = rng

    # -- codes and saving ------------------------------------------------------------------------------------------

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8)) of the rows of X; pure, but that it draws W if need be."""
        X = validation.matrix("X", X, d=self.d)
        first = validation.cast(X[:ENCODE], self.params.dtype)
        validation.finite("X", first)
        self.start(X.shape[1])
        planes, threshold = self._planes()
        packed = np.empty((len(X), -(-self.r // 8)), np.uint8)
        for start in range(0, len(X), ENCODE):
            rows = validation.cast(X[start : start + ENCODE], self.params.dtype)
            validation.finite("X", rows, rows=np.arange(start, start + len(rows)))
            packed[start : start + ENCODE] = pack(self._map(rows) @ planes.T >= threshold.astype(planes.dtype))
        return Codes(packed, self.r, self.version)

    def save(self, path: str | Path) -> None:
        """Everything needed to go on learning as if nothing had happened, as .npz without pickle."""
        save(self, path)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Parameters and random state for JSON; everything learnt as arrays."""
        values: dict[str, Any] = {"params": asdict(self.params), "rng": self._rng.bit_generator.state}
        return values, {} if self._Wt is None else {name: getattr(self, f"_{name}") for name in self.ARRAYS}

    def resume(self, values: dict[str, Any], arrays: Arrays) -> Self:
        """Go on from a saved state."""
        if "Wt" in arrays:
            self._begin(len(arrays["mean"]))
            for name in self.ARRAYS:
                ours, saved = getattr(self, f"_{name}"), arrays[name]
                fixed = name in StreamBase.ARRAYS
                if ours.dtype != saved.dtype or ours.ndim != saved.ndim or (fixed and ours.shape != saved.shape):
                    raise ValueError(
                        f"{name} must be {ours.dtype} of shape {ours.shape}, got {saved.dtype} {saved.shape}"
                    )
                setattr(self, f"_{name}", np.array(saved, order="C"))
        self._rng.bit_generator.state = values["rng"]
        return self

    def _planes(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """(Wt (r, d), threshold (r,)) of the hash."""
        Wt = self._need_start()
        return Wt, Wt.astype(np.float64) @ self._mean

    def _need_start(self) -> npt.NDArray[Any]:
        if self._Wt is None:
            raise ValueError("W is not there yet: it is drawn when the first data tell d; call start(d) to draw it now")
        return self._Wt


class StreamLearner(StreamBase):
    """A learner whose bits are half-spaces of x itself, so that a code table follows it column by column."""

    @property
    def hyperplanes(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """(Wt (1, r, d), threshold (1, r)), read-only."""
        planes, threshold = self._planes()
        return read_only(planes[None]), read_only(threshold[None])

    @property
    def bit_updates(self) -> npt.NDArray[np.int64]:
        """(1, r) how often each projection vector has moved."""
        self._need_start()
        return read_only(self._bit_updates[None])


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view nobody can write to."""
    view = array.view()
    view.flags.writeable = False
    return view


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


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
