"""PairLearner: T passive-aggressive models on one stream of pairs. It learns, explains one step, and encodes.

The state OH and MMOH share: parameters, W and the mean, running sums; drawn, saved, restored, undone.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import certificate, kernels, validation
from ohash.core.certificate import Certificate
from ohash.core.codes import Codes, pack, sgn
from ohash.core.features import FeatureMap
from ohash.core.loss import PairStep, dissimilar_threshold, explain, similarity_loss
from ohash.models.base import Arrays
from ohash.models.online.oh_params import OHParams, PairTrace
from ohash.models.storage import save


class PairModel:
    """T hashes (W, mean) and what is known about how they came to be.

    W is drawn from N(0, 1) when the first data tell d, in float64 and then cast, so that T = 1 equals OH bit for bit.
    (W, mean) is one hash: `version` rises at every change of either, and codes carry the version that made them.
    """

    key: str
    params: OHParams

    def __init__(self, params: OHParams, W: npt.ArrayLike | None, T: int) -> None:
        """Keep the validated parameters; start at once if W is given."""
        self.params = params
        self._T = T
        self.feature_map: FeatureMap | None = None
        self._rng = np.random.default_rng(params.seed)
        self._Wt: npt.NDArray[Any] | None = None
        if W is not None:
            self._start_from(validation.array("W", W, f"a real matrix (d, {params.r})"))

    # -- parameters ----------------------------------------------------------------------------------------------

    @property
    def r(self) -> int:
        """Bits of a code of one model."""
        return self.params.r

    @property
    def T(self) -> int:
        """Models."""
        return self._T

    @property
    def seed(self) -> int:
        """What W was drawn from."""
        return self.params.seed

    @property
    def dtype(self) -> str:
        """Precision of W."""
        return self.params.dtype

    @property
    def center(self) -> str:
        """Which mean is subtracted."""
        return self.params.center

    @property
    def alpha(self) -> int:
        """Similar pairs may differ in this many bits."""
        return self.params.alpha

    @property
    def beta(self) -> float:
        """Dissimilar pairs should differ in this share of the bits; may be set between calls of `learn`."""
        return self.params.beta

    @beta.setter
    def beta(self, value: float) -> None:
        self.params = replace(self.params, beta=value)

    @property
    def C(self) -> float:
        """Cap on tau; may be set between calls of `learn`."""
        return self.params.C

    @C.setter
    def C(self, value: float) -> None:
        self.params = replace(self.params, C=value)

    # -- state ---------------------------------------------------------------------------------------------------

    @property
    def d(self) -> int | None:
        """Columns of X, known once data (or W) have been seen."""
        return None if self._Wt is None else int(self._Wt.shape[2])

    @property
    def mean(self) -> npt.NDArray[np.float64]:
        """The mean that is subtracted from every point, (d,), read-only; zeros without centring."""
        self._need_start("mean")
        return read_only(self._mean)

    @property
    def threshold(self) -> npt.NDArray[np.float64]:
        """W·mean, (T, r): bit k of x is 1 where (Wᵀx)_k is at least this."""
        self._need_start("threshold")
        return read_only(self._W_mean)

    @property
    def hyperplanes(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """(Wt (T, r, d), threshold (T, r)): bit k of model m is 1 where Wt[m, k] · x >= threshold[m, k]."""
        return read_only(self._need_start("W")), self.threshold

    @property
    def version(self) -> int:
        """How often the hash (W, mean) has changed."""
        return 0 if self._Wt is None else int(self._clock[kernels.VERSION])

    @property
    def pairs(self) -> int:
        """How many pairs have been learnt."""
        return 0 if self._Wt is None else int(self._clock[kernels.N_PAIRS])

    @property
    def bit_updates(self) -> npt.NDArray[np.int64]:
        """How often each projection vector has moved, (T, r)."""
        self._need_start("bit_updates")
        return read_only(self._bit_updates)

    @property
    def certificate(self) -> Certificate:
        """The running sums, summed over the models; ‖W‖² is computed afresh, O(d r)."""
        return certificate.total(self.certificates)

    @property
    def certificates(self) -> list[Certificate]:
        """One certificate a model."""
        Wt = self._need_start("certificate")
        return certificate.certificates(self._sums, self._W1_norm2, Wt)

    def start(self, d: int) -> None:
        """Draw the first W for `d` features now, instead of when the first data come."""
        d = validation.integer("d", d)
        if d < 1:
            raise ValueError(f"d must be an integer >= 1, got {d}")
        if self._Wt is None:
            self._begin(self._rng.standard_normal((self.T, d, self.r)))
        elif d != self.d:
            raise ValueError(f"d must be {self.d}, as at the start, got {d}; begin a new model for other vectors")

    def warm_up(self, X: npt.ArrayLike) -> None:
        """Set the mean from the first points of the stream (mapped), before any pair is learnt; draws W if need be."""
        X = validation.finite("X", validation.cast(validation.matrix("X", X, d=self.d), self.params.dtype))
        if self.pairs:
            raise ValueError(f"warm_up must come before the first pair, but {self.pairs} pairs have been learnt")
        self.start(X.shape[1])
        if self.params.center != "none":
            self._mean[:] = X.mean(axis=0, dtype=np.float64)
            self._clock[kernels.N_MEAN] = len(X)
            self._clock[kernels.VERSION] += 1
            self._W_mean[:] = self._need_start("W").astype(np.float64) @ self._mean

    # -- saving --------------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Parameters and random state for JSON; W, mean, sums and the feature map as arrays."""
        values: dict[str, Any] = {"params": asdict(self.params), "rng": self._rng.bit_generator.state}
        arrays: Arrays = {}
        if self._Wt is not None:
            arrays = {name: getattr(self, f"_{name}") for name in STATE}
        if self.feature_map is not None:
            values["feature_map"], map_arrays = self.feature_map.state()
            arrays |= {f"map.{name}": array for name, array in map_arrays.items()}
        return values, arrays

    def _restore_state(self, values: dict[str, Any], arrays: Arrays) -> None:
        self._rng.bit_generator.state = values["rng"]
        if "Wt" in arrays:
            self._begin(np.zeros((self.T, arrays["Wt"].shape[-1], self.r)))
            for name in STATE:
                ours, saved = getattr(self, f"_{name}"), arrays[name]
                if (ours.shape, ours.dtype) != (saved.shape, saved.dtype):
                    raise ValueError(
                        f"{name} must be {ours.dtype} of shape {ours.shape}, got {saved.dtype} {saved.shape}"
                    )
                ours[...] = saved
        if "feature_map" in values:
            parts = {name[4:]: array for name, array in arrays.items() if name.startswith("map.")}
            self.feature_map = FeatureMap.from_state(values["feature_map"], parts)

    # -- private -------------------------------------------------------------------------------------------------

    def _start_from(self, W: npt.NDArray[Any]) -> None:
        shape = (self.T, W.shape[-2] if W.ndim > 1 else 0, self.r)
        expected = f"(d, {self.r})" if self.T == 1 else f"({self.T}, d, {self.r})"
        if W.size == 0 or W.dtype.kind not in "fiub" or W.shape not in (shape, shape[1:] if self.T == 1 else shape):
            raise ValueError(f"W must be a real matrix of shape {expected}, got dtype {W.dtype} and shape {W.shape}")
        if not np.isfinite(validation.cast(W, self.params.dtype)).all():
            raise ValueError(f"W must be finite in {self.params.dtype}, got NaN, infinity or a value too large")
        self._begin(W.reshape(shape))

    def _begin(self, W: npt.NDArray[Any]) -> None:
        self._Wt = W.transpose(0, 2, 1).astype(self.params.dtype, order="C")
        T, r, d = self._Wt.shape
        self._mean = np.zeros(d)
        self._W_mean = np.zeros((T, r))
        self._clock = np.zeros(3, np.int64)
        self._sums = np.zeros((T, kernels.N_SUMS))
        self._bit_updates = np.zeros((T, r), np.int64)
        self._W1_norm2 = certificate.squared_norms(self._Wt)

    def _need_start(self, what: str) -> npt.NDArray[Any]:
        if self._Wt is None:
            raise ValueError(
                f"{what} is not there yet: W is drawn when the first data tell d; call start(d) to draw it now"
            )
        return self._Wt

    def _need_mean(self) -> None:
        if self.params.center == "frozen" and not (self._Wt is not None and self._clock[kernels.N_MEAN]):
            raise ValueError("center must have its mean when it is 'frozen': call warm_up(X) with the first points")

    @contextmanager
    def _all_or_nothing(self, *, undo: bool = False) -> Iterator[None]:
        """Whatever goes wrong inside, or if `undo`: the model is as it was, bit for bit, W drawn or not."""
        was_started, rng = self._Wt is not None, self._rng.bit_generator.state
        before = {name: getattr(self, f"_{name}").copy() for name in STATE} if was_started else {}
        done = False
        try:
            yield
            done = not undo
        finally:
            if not done:
                for name, value in before.items():
                    getattr(self, f"_{name}")[...] = value
                if not was_started:
                    self._Wt = None
                    self._rng.bit_generator.state = rng


STATE = ("Wt", "mean", "W_mean", "clock", "sums", "bit_updates", "W1_norm2")


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


# Rows are gathered for the kernel in blocks of this many pairs when X itself cannot be handed over as it is.
GATHER = 2048
# Rows are encoded in blocks of this many, so that memory does not grow with T·n·r.
ENCODE = 8192
CENTRING = {"none": kernels.NONE, "frozen": kernels.FROZEN, "running": kernels.RUNNING, "ema": kernels.EMA}


class PairLearner(PairModel):
    """OH (T = 1) and MMOH are thin faces of it."""

    def _learn(self, X: Any, i: Any, j: Any, s: Any, params: OHParams) -> PairTrace:
        X = validation.matrix("X", X, d=self.d)
        i, j, s = validation.pairs(i, j, s, len(X))
        self._need_mean()
        shape = (len(i), self.T)
        D_h, p0 = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        R, loss, ratio, tau, norm2 = (np.zeros(shape) for _ in range(5))
        degenerate = np.zeros(shape, np.bool_)
        learn_pairs = kernels.learn_pairs(params.dtype)
        with self._all_or_nothing():
            self.start(X.shape[1])
            for start, rows, at_i, at_j in self._rows(X, i, j):
                stop = start + len(at_i)
                bad = learn_pairs(
                    self._Wt, self._mean, self._W_mean, self._clock, self._sums, self._bit_updates,
                    rows, at_i, at_j, s[start:stop], params.alpha, dissimilar_threshold(params.beta, params.r),
                    params.C, params.select == "largest", params.rounds, CENTRING[params.center], params.ema,
                    D_h[start:stop], R[start:stop], loss[start:stop], ratio[start:stop], tau[start:stop],
                    norm2[start:stop], p0[start:stop], degenerate[start:stop],
                )  # fmt: skip
                if bad >= 0:
                    raise ValueError(_not_finite(X, int(i[start + bad]), int(j[start + bad]), start + bad))
        return PairTrace(D_h, tau > 0, R, loss, ratio, tau, norm2, p0, degenerate)

    def _rows(self, X: Any, i: Any, j: Any) -> Iterator[tuple[int, Any, Any, Any]]:
        """X itself where the kernel can read it; otherwise the rows of GATHER pairs at a time, cast and contiguous."""
        if X.dtype == self.params.dtype and X.flags.c_contiguous and X.flags.aligned:
            yield 0, X, i, j
            return
        for start in range(0, len(i), GATHER):
            stop = min(start + GATHER, len(i))
            rows = validation.cast(np.concatenate([X[i[start:stop]], X[j[start:stop]]]), self.params.dtype)
            index = np.arange(stop - start, dtype=np.int64)
            yield start, rows, index, index + len(index)

    def _explain(
        self,
        x_i: npt.ArrayLike,
        x_j: npt.ArrayLike,
        s: int,
        dry_run: bool,
        alpha: int | None,
        beta: float | None,
        C: float | None,
    ) -> list[PairStep]:
        """One pair through the same kernel as `learn`, with everything it did written down, model by model."""
        x_i, x_j = validation.vector("x_i", x_i, d=self.d), validation.vector("x_j", x_j, d=self.d)
        if x_i.shape != x_j.shape:
            raise ValueError(f"x_j must have the shape of x_i, {x_i.shape}, got {x_j.shape}")
        if np.ndim(s) != 0 or s not in (-1, 1):
            raise ValueError(f"s must be +1 (similar) or -1 (dissimilar), got {s!r}")
        given: dict[str, Any] = {"alpha": alpha, "beta": beta, "C": C}
        params = replace(self.params, **{key: value for key, value in given.items() if value is not None})
        X = validation.cast(np.stack([x_i, x_j]), params.dtype)
        for name, x in zip(("x_i", "x_j"), X, strict=True):
            validation.vector(name, x)  # what was finite may not be so in float32
        with self._all_or_nothing(undo=dry_run):
            self.start(x_i.size)
            bit_updates = self._bit_updates.copy()
            u, v = validation.cast(X - self._mean if params.center != "none" else X, params.dtype)
            first = [self._project(m, u, v) for m in range(self.T)]
            trace = self._learn(X, [0], [1], [s], params)
            second = [self._project(m, u, v) for m in range(self.T)]
            moved = self._bit_updates > bit_updates
        square_i, square_j = (float(np.vdot(x, x)) for x in (u.astype(np.float64), v.astype(np.float64)))
        br = dissimilar_threshold(params.beta, params.r)
        steps = []
        for m in range(self.T):
            step = explain(
                *first[m], square_i, square_j, s, alpha=params.alpha, beta=params.beta, C=params.C,
                selected=bool(trace.updated[0, m] | trace.degenerate[0, m]), largest=params.select == "largest",
            )  # fmt: skip
            D_after = int((sgn(second[m][0]) != sgn(second[m][1])).sum())
            R_after = similarity_loss(D_after, s, params.alpha, br)
            steps.append(replace(step, R_after=R_after, columns=np.flatnonzero(moved[m])))
        return steps

    def _project(self, m: int, u: Any, v: Any) -> tuple[Any, Any]:
        """(Wᵀu, Wᵀv) of model m, with the very rounding of the learning kernel."""
        p_u, p_v = np.empty(self.r, self.params.dtype), np.empty(self.r, self.params.dtype)
        kernels.project(self.params.dtype)(self._need_start("W")[m], u, v, p_u, p_v)
        return p_u, p_v

    # -- codes ---------------------------------------------------------------------------------------------------

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (T, n, ceil(r/8)) of the rows of X, Eq. (1); pure, but that it draws W if need be."""
        X = validation.matrix("X", X, d=self.d)
        self._need_mean()
        packed = np.empty((self.T, len(X), -(-self.r // 8)), np.uint8)
        with nullcontext() if self._Wt is not None else self._all_or_nothing():
            self.start(X.shape[1])
            W = self._need_start("W").transpose(0, 2, 1)
            threshold = self._W_mean.astype(self.params.dtype)[:, None, :]
            for start in range(0, len(X), ENCODE):
                rows = validation.cast(X[start : start + ENCODE], self.params.dtype)
                validation.finite("X", rows, rows=np.arange(start, start + len(rows)))
                packed[:, start : start + ENCODE] = pack(np.matmul(rows, W) >= threshold)
        return Codes(packed, self.r, self.version)

    def save(self, path: str | Path) -> None:
        """Everything needed to go on learning as if nothing had happened, as .npz without pickle."""
        save(self, path)


def _not_finite(X: npt.NDArray[Any], i: int, j: int, pair: int) -> str:
    for row in (i, j):
        bad = np.flatnonzero(~np.isfinite(X[row].astype(np.float64)))
        if bad.size:
            return (
                f"X must be finite, got {X[row, bad[0]]} at row {row}, column {bad[0]} (pair {pair}); "
                "remove or impute that row. The model is unchanged"
            )
    return (
        f"X must be of moderate size, got values up to {np.abs(X[[i, j]].astype(np.float64)).max():.0e} in rows {i} "
        f"and {j} (pair {pair}), whose projections overflow; scale the features. The model is unchanged"
    )
