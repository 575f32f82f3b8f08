"""T passive-aggressive models on one stream of pairs: state, step and explanation, shared by OH and MMOH."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from ohash.core import certificate, kernels, validation
from ohash.core.arrays import Floats, Numbers, Reals, Rows
from ohash.core.certificate import Certificate
from ohash.core.codes import TIE, ZERO, Codes, sgn
from ohash.core.features import FeatureMap
from ohash.core.loss import PairStep, dissimilar_threshold, explain, similarity_loss
from ohash.models.learners import GATHER, LinearLearner
from ohash.models.linear import Planes, read_only
from ohash.models.online.oh_params import USUAL_C, OHParams, PairTrace, check_C
from ohash.number_formats import percent
from ohash.runtime.compile import aligned_copy
from ohash.runtime.frames import Arrays, Frame, JsonObject

CENTRING = {"none": kernels.NONE, "frozen": kernels.FROZEN, "running": kernels.RUNNING, "ema": kernels.EMA}

# C = auto in units of the median step: 0.1 on the paper's kind of features, and beyond it nothing is gained elsewhere.
AUTO_FACTOR = 2.0
UNCENTRED = 0.25  # share of the squared length that is the mean's
UNCENTRED_PAIRS = 200  # fewest pairs of a first call that are worth a warning, and how many are looked at
NO_STEP = 1e-12  # a C with which W stays as it is


class PassiveAggressive(LinearLearner):
    """T hashes (W, mean) and the running sums of how they came about.

    W is drawn from N(0, 1) when the first data show d, in float64 and then cast, so that T = 1 equals OH bit for bit.
    (W, mean) is one hash: `version` rises at every change of either, and codes carry the version that made them.
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("_Wt", "_mean", "_W_mean", "_clock", "_sums", "_bit_updates", "_W1_norm2")
    FIXED: ClassVar[tuple[str, ...]] = ARRAYS
    WARM_UP_DTYPE: ClassVar[str] = ""
    UNIT: ClassVar[str] = "pairs"
    params: OHParams

    def __init__(self, params: OHParams, W: npt.ArrayLike | None, *, centring_chosen: bool) -> None:
        """Keep the validated parameters; start at once if W is given.

        Without `centring_chosen` nobody has said that nothing is to be centred: an `UncentredWarning` may say so.
        """
        super().__init__(params, W=W)
        self._centring_chosen = centring_chosen

    def _setup(self) -> None:
        super()._setup()
        self._Wt = np.zeros((self.T, self.r, 0))  # (T, r, d)
        self._W_mean: Floats = np.zeros((self.T, self.r))  # W·mean, kept in step by the kernel
        self._clock = np.zeros(3, np.int64)  # kernels.N_PAIRS, N_MEAN, VERSION
        self._sums: Floats = np.zeros((self.T, kernels.N_SUMS))
        self._W1_norm2: Floats = np.zeros(self.T)

    # -- parameters ----------------------------------------------------------------------------------------------

    @property
    def T(self) -> int:
        """Models."""
        return int(getattr(self.params, "T", 1))

    @property
    def seed(self) -> int:
        """The seed W was drawn from."""
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
        self.params = replace(self.params, C=check_C(value))

    def choose_C(self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike) -> float:
        """Set C to AUTO_FACTOR times the median uncapped step l/norm2 of some pairs, in two digits; nothing is learnt.

        Steps are those of the present W, before the cap. C becomes USUAL_C if no pair has a loss.
        """
        with self._all_or_nothing(undo=True):
            trace = self._learn(X, i, j, s, replace(self.params, C=NO_STEP))
        asked = trace.ratio[trace.updated]
        self.C = float(f"{AUTO_FACTOR * np.median(asked):.2g}") if len(asked) else USUAL_C
        return self.C

    # -- state ---------------------------------------------------------------------------------------------------

    @property
    def mean(self) -> Floats:
        """The mean that is subtracted from every point, (d,), read-only; zeros without centring."""
        self._need_start("mean")
        return read_only(self._mean)

    @property
    def threshold(self) -> Floats:
        """W·mean, (T, r), read-only: bit k of x is 1 where (Wᵀx)_k is at least this."""
        self._need_start("threshold")
        return read_only(self._W_mean)

    @property
    def pairs(self) -> int:
        """How many pairs have been learnt."""
        return self.seen

    @property
    def certificate(self) -> Certificate:
        """The running sums, summed over the models; ‖W‖² is computed afresh, O(d r)."""
        return certificate.total(self.certificates)

    @property
    def certificates(self) -> list[Certificate]:
        """One certificate per model."""
        self._need_start("certificate")
        return certificate.certificates(self._sums, self._W1_norm2, self._Wt)

    def _planes(self) -> Planes:
        return self._Wt, self._W_mean

    def _moves(self) -> npt.NDArray[np.int64]:
        return self._bit_updates

    def _begin(self, d: int) -> None:
        W = self._rng.standard_normal((self.T, d, self.r)) if self._given is None else self._given
        self._Wt = aligned_copy(W.transpose(0, 2, 1).astype(self.params.dtype, order="C"))
        T, r, d = self._Wt.shape
        self._mean = np.zeros(d)
        self._W_mean = np.zeros((T, r))
        self._clock = np.zeros(3, np.int64)
        self._sums = np.zeros((T, kernels.N_SUMS))
        self._bit_updates = np.zeros((T, r), np.int64)
        self._W1_norm2 = certificate.squared_norms(self._Wt)

    def _set_mean(self, mean: Floats, n: int) -> None:
        super()._set_mean(mean, n)
        self._clock[kernels.N_MEAN] = n
        self._W_mean[:] = self._Wt.astype(np.float64) @ self._mean

    def _prepare(self, rows: Reals) -> None:
        """Nothing but the mean comes from the warm-up."""

    def _need_mean(self) -> None:
        if self.params.center == "frozen" and not self._clock[kernels.N_MEAN]:
            raise ValueError("center must have its mean when it is 'frozen': call warm_up(X) with the first points")

    def state(self) -> Frame:
        """Parameters and random state for JSON; W, mean, sums and the feature map as arrays."""
        values, arrays = super().state()
        if self.feature_map is not None:
            values["feature_map"], map_arrays = self.feature_map.state()
            arrays |= {f"map.{name}": array for name, array in map_arrays.items()}
        return values, arrays

    def resume(self, values: JsonObject, arrays: Arrays) -> None:
        """Go on from a saved state."""
        super().resume(values, {name: array for name, array in arrays.items() if not name.startswith("map.")})
        self._Wt = aligned_copy(self._Wt)
        if "feature_map" in values:
            parts = {name[4:]: array for name, array in arrays.items() if name.startswith("map.")}
            self.feature_map = FeatureMap.from_state(values["feature_map"], parts)

    def _facts(self) -> list[str]:
        facts = super()._facts()
        if self.d is not None:
            c = self.certificate
            facts.append(f"certificate: cumulative loss {c.sum_R:,.0f} ≤ bound {c.bound:,.0f}, gap {c.gap:.0e}")
        return facts

    # -- learning ------------------------------------------------------------------------------------------------

    def _learn(
        self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike, params: OHParams
    ) -> PairTrace:
        X = validation.matrix("X", X, d=self.d)
        at_i, at_j, signs = validation.pairs(i, j, s, len(X))
        self._need_mean()
        if params.C == 0:
            raise ValueError(
                "C must be a number before pairs are learnt, got 'auto'; call choose_C with a few pairs first"
            )
        if not self._centring_chosen and not self.seen and len(at_i) >= UNCENTRED_PAIRS:
            warn_if_uncentred(X, at_i[:UNCENTRED_PAIRS])
        shape = (len(at_i), self.T)
        D_h, p0 = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        R, loss, ratio, tau, norm2 = (np.zeros(shape) for _ in range(5))
        degenerate = np.zeros(shape, np.bool_)
        learn_pairs = kernels.learn_pairs(params.dtype)
        with self._all_or_nothing():
            self.start(X.shape[1])
            for start, rows, row_i, row_j in self._blocks(X, at_i, at_j):
                stop = start + len(row_i)
                bad = learn_pairs(
                    self._Wt, self._mean, self._W_mean, self._clock, self._sums, self._bit_updates,
                    rows, row_i, row_j, signs[start:stop], params.alpha, dissimilar_threshold(params.beta, params.r),
                    params.C, params.select == "largest", params.rounds, CENTRING[params.center], params.ema,
                    TIE[params.dtype], ZERO[params.dtype],
                    D_h[start:stop], R[start:stop], loss[start:stop], ratio[start:stop], tau[start:stop],
                    norm2[start:stop], p0[start:stop], degenerate[start:stop],
                )  # fmt: skip
                if bad >= 0:
                    raise ValueError(_not_finite(X, int(at_i[start + bad]), int(at_j[start + bad]), start + bad))
        return PairTrace(D_h, tau > 0, R, loss, ratio, tau, norm2, p0, degenerate)

    def learn(self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike) -> PairTrace:
        """One pass over the pairs (X[i], X[j], s), strictly in order; X is already mapped. Algorithm 1."""
        return self._learn(X, i, j, s, self.params)

    def _blocks(self, X: Numbers, i: Rows, j: Rows) -> Iterator[tuple[int, Reals, Rows, Rows]]:
        """X itself where the kernel can read it; otherwise the rows of GATHER pairs at a time, cast and contiguous."""
        if X.dtype == self.params.dtype and X.flags.c_contiguous and X.flags.aligned:
            yield 0, cast(Reals, X), i, j
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
        """Learn one pair by the same kernel as `learn`, and explain the step, model by model."""
        x_i, x_j = validation.vector("x_i", x_i, d=self.d), validation.vector("x_j", x_j, d=self.d)
        if x_i.shape != x_j.shape:
            raise ValueError(f"x_j must have the shape of x_i, {x_i.shape}, got {x_j.shape}")
        if np.ndim(s) != 0 or s not in (-1, 1):
            raise ValueError(f"s must be +1 (similar) or -1 (dissimilar), got {s!r}")
        given: JsonObject = {"alpha": alpha, "beta": beta, "C": None if C is None else check_C(C)}
        params = replace(self.params, **{key: value for key, value in given.items() if value is not None})
        X = validation.cast(np.stack([x_i, x_j]), params.dtype)
        for name, x in zip(("x_i", "x_j"), X, strict=True):
            validation.vector(name, x)  # what was finite may not be so in float32
        with self._all_or_nothing(undo=dry_run):
            self.start(x_i.size)
            bit_updates = self._bit_updates.copy()
            centred = validation.cast(X - self._mean if params.center != "none" else X, params.dtype)
            offset = CENTRING[params.center] >= kernels.RUNNING
            first = [self._project(m, X if offset else centred, offset) for m in range(self.T)]
            trace = self._learn(X, [0], [1], [s], params)
            second = [self._project(m, centred, offset=False) for m in range(self.T)]
            moved = self._bit_updates > bit_updates
        square_i, square_j = (float(np.vdot(x, x)) for x in centred.astype(np.float64))
        br = dissimilar_threshold(params.beta, params.r)
        steps = []
        for m in range(self.T):
            step = explain(
                *first[m], square_i, square_j, s, alpha=params.alpha, beta=params.beta, C=params.C,
                selected=bool(trace.updated[0, m] | trace.degenerate[0, m]), largest=params.select == "largest",
            )  # fmt: skip
            h_i, h_j = sgn(second[m][0]), sgn(second[m][1])
            R_after = similarity_loss(int((h_i != h_j).sum()), s, params.alpha, br)
            columns = np.flatnonzero(moved[m])
            steps.append(replace(step, h_i_after=h_i, h_j_after=h_j, R_after=R_after, columns=columns))
        return steps

    def _project(self, m: int, pair: Reals, offset: bool) -> tuple[Reals, Reals]:
        """Wᵀx of both points, minus Wᵀmean with an `offset`, of model m, with the rounding of the learning kernel."""
        p = np.empty((4, self.r), self.params.dtype)
        kernels.project(self.params.dtype)(
            self._Wt[m], np.concatenate([pair, pair]), self._mean, self._W_mean[m], offset, ZERO[self.params.dtype], p
        )
        return p[0], p[1]

    def _encode(self, X: npt.ArrayLike) -> Codes:
        X = validation.matrix("X", X, d=self.d)
        self._need_mean()
        return super()._encode(X)


class UncentredWarning(UserWarning):
    """The vectors lie far from the origin and nothing centres them: many hyperplanes miss them all."""


def warn_if_uncentred(X: Numbers, rows: Rows) -> None:
    """Say once, at the first pairs, that the mean is long beside the vectors themselves."""
    some = np.asarray(X[rows], np.float64)
    squares = float(np.einsum("ij,ij->", some, some)) / len(some)
    mean = some.mean(axis=0)
    share = float(mean @ mean) / squares if squares > 0 and np.isfinite(squares) else 0.0
    if share > UNCENTRED:
        warnings.warn(
            f"the mean of the vectors has {percent(share)} of their squared length and nothing centres them, so that "
            "many hyperplanes miss the data; pass center='frozen' and call warm_up(X) first, as the dashboard does, or "
            "pass center='none' if it is meant",
            UncentredWarning,
            stacklevel=4,
        )


def _not_finite(X: Numbers, i: int, j: int, pair: int) -> str:
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
