"""PairLearner: T passive-aggressive models on one stream of pairs. It learns, explains one step, and encodes."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import kernels, validation
from ohash.core.codes import Codes, pack, sgn
from ohash.core.loss import PairStep, dissimilar_threshold, explain, similarity_loss
from ohash.models.oh_params import OHParams, PairTrace
from ohash.models.pair_model import PairModel
from ohash.models.storage import save

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
