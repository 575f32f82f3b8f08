"""The state OH and MMOH share: parameters, W and the mean, running sums; drawn, saved, restored, undone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import certificate, kernels, validation
from ohash.core.certificate import Certificate
from ohash.core.features import FeatureMap
from ohash.models.base import Arrays
from ohash.models.oh_params import OHParams


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
