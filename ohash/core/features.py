"""FeatureMap: what happens to a raw vector before W multiplies it (Section III-C of the paper).

x -> optional input centring -> L2 normalisation -> RBF similarities to m anchors. The map is fitted on the first points
of the stream, never on future data; the pairs that brought these points are consumed, not trained.

Differs from the paper: sigma = 1 means nothing without a scale, so vectors are normalised first, and the default sigma
is half the median distance of the warm-up; m may exceed d.
"""

import warnings
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Numbers, Reals, Rows
from ohash.core.parameters import Parameters, param
from ohash.core.rows import gather
from ohash.runtime.frames import Arrays, Frame, JsonObject

POINTS_PER_BLOCK = 256  # looked at for distinct values
ROWS_PER_BLOCK = 4096  # mapped at a time, so that the distances to the anchors stay in cache
MIN_WARM_UP = 100


class KernelWarning(UserWarning):
    """The RBF kernel is dead (all values near 0) or flat (all near 1): codes will carry no information."""


@dataclass(frozen=True)
class FeatureParams(Parameters):
    """What the map does."""

    kernel: str = param(
        "rbf", symbol="κ", title="kernel", choices=("rbf", "none", "given", "raw"),
        help="rbf: similarities to anchors, which OH was made for. none: the vectors, centred and scaled as set "
        "below. given: the vectors as they are, or scaled to unit length if the distance is cosine. raw: the vectors "
        "as they are, whatever the distance.",
    )  # fmt: skip
    m: int = param(
        300, symbol="m", title="anchors", lo=1, hi=100_000, slider=(16, 1024), scale="log",
        help="The first m distinct points of the stream become the anchors.",
        tex=r"z(x) = [\kappa(x, a_1), \dots, \kappa(x, a_m)]", active_if=("kernel", "rbf"),
    )  # fmt: skip
    sigma: float = param(
        0.0, symbol="σ", title="kernel width", lo=0, hi=1e6, slider=(0.05, 2), step=0.05, alias="auto",
        help="Width of the RBF kernel on normalised vectors; auto is half the median distance of the warm-up. "
        "The paper uses 1.", tex=r"\kappa(x, a) = \exp(-\lVert x - a \rVert^2 / 2\sigma^2)",
        active_if=("kernel", "rbf"),
    )  # fmt: skip
    center_input: bool = param(
        True, symbol="x̄", title="centre the input",
        help="Subtract the warm-up mean before normalising.", active_if=("kernel", "rbf", "none"),
    )  # fmt: skip
    normalize: bool = param(
        True, symbol="‖x‖", title="unit length", help="Scale every vector to length 1.",
        active_if=("kernel", "rbf", "none"),
    )  # fmt: skip
    warm: int = param(
        0, symbol="", title="warm-up points", lo=0, hi=100_000,
        help="Least number of distinct points before learning starts, so that methods with and without a kernel see "
        "the same pairs; 0: as many as the map needs.",
    )  # fmt: skip

    @property
    def warm_up(self) -> int:
        """Number of distinct points before learning starts."""
        return max(self.m if self.kernel == "rbf" else 0, self.warm, MIN_WARM_UP)

    def in_metric(self, metric: str) -> "FeatureParams":
        """These parameters with "given" and "raw" spelt out for a distance.

        >>> FeatureParams(kernel="given").in_metric("cosine")
        FeatureParams(kernel='none', m=300, sigma=0.0, center_input=False, normalize=True, warm=0)
        """
        if self.kernel not in ("given", "raw"):
            return self
        of_unit_length = self.kernel == "given" and metric == "cosine"
        return replace(self, kernel="none", center_input=False, normalize=of_unit_length)

    @property
    def text(self) -> str:
        """The features in a few words.

        >>> FeatureParams().text, FeatureParams(kernel="none").text, FeatureParams(kernel="given").text
        ('RBF, 300 anchors', 'centred vectors of unit length', 'vectors as given')
        """
        if self.kernel == "rbf":
            return f"RBF, {self.m} anchors"
        if self.kernel in ("given", "raw") or not (self.center_input or self.normalize):
            return "vectors as given"
        return f"{'centred ' * self.center_input}vectors{' of unit length' * self.normalize}"


class FeatureMap:
    """A fitted map; call `fit` (points) or `fit_stream` (pairs) once, then `transform`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 8))
    >>> z = FeatureMap(m=16).fit(X)
    >>> z.transform(X).shape, z.anchors.shape
    ((500, 16), (16, 8))
    """

    def __init__(
        self,
        kernel: str = "rbf",
        m: int = 300,
        sigma: float | str = "auto",
        center_input: bool = True,
        normalize: bool = True,
        dtype: str = "float32",
        *,
        warm: int = 0,
    ) -> None:
        """`sigma` is a number, or "auto" for half the median distance of the warm-up."""
        if isinstance(sigma, str):
            if sigma != "auto":
                raise ValueError(f"sigma must be a number > 0 or 'auto', got {sigma!r}")
            sigma = 0.0
        elif not sigma > 0:
            raise ValueError(f"sigma must be a number > 0 or 'auto', got {sigma!r}")
        if dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
        self.params = FeatureParams(kernel, m, sigma, center_input, normalize, warm).in_metric("l2")
        self.dtype = dtype
        self.mean: npt.NDArray[np.float64] | None = None
        self.anchors: Reals | None = None
        self.sigma: float = float("nan")
        self.mean_kernel: float = float("nan")

    @classmethod
    def from_params(cls, params: FeatureParams, dtype: str) -> "FeatureMap":
        """A map as an experiment describes it, where sigma 0 means "auto"."""
        return cls(
            params.kernel, params.m, params.sigma or "auto", params.center_input, params.normalize, dtype,
            warm=params.warm,
        )  # fmt: skip

    @property
    def d_out(self) -> int:
        """Columns after the map."""
        self._check_is_fitted()
        assert self.mean is not None
        return len(self.anchors) if self.anchors is not None else len(self.mean)

    def fit(self, X: npt.ArrayLike) -> "FeatureMap":
        """Fit on the first max(m, 100) distinct rows of X, in order; fewer are enough if X has at least m."""
        X = validation.matrix("X", X)
        rows, _ = _first_distinct(X, np.arange(len(X)), self.params.warm_up)
        return self._fit(X, rows)

    def fit_stream(self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike) -> int:
        """Fit on the points of the first pairs (X[i], X[j]); return how many pairs that consumed."""
        X = validation.matrix("X", X)
        points = _points(X, i, j)
        rows, seen = _first_distinct(X, points, self.params.warm_up)
        if len(rows) < self.params.warm_up:
            raise ValueError(
                f"i and j must name {self.params.warm_up} distinct points (the warm-up, max(m, 100)), got {len(rows)} "
                f"from {len(points) // 2} pairs; give more pairs"
            )
        self._fit(X, rows)
        return -(-seen // 2)

    def warm_up_rows(self, X: npt.ArrayLike, i: npt.ArrayLike, j: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The rows `fit_stream` would fit on."""
        X = validation.matrix("X", X)
        return _first_distinct(X, _points(X, i, j), self.params.warm_up)[0]

    def transform(self, X: npt.ArrayLike) -> Reals:
        """Map rows: (n, d) -> (n, m), or (n, d) without a kernel; C-contiguous in `dtype`."""
        self._check_is_fitted()
        assert self.mean is not None
        X = validation.matrix("X", X, d=len(self.mean))
        Z = np.empty((len(X), self.d_out), self.dtype)
        # an overlong row is scaled like any other, but it would ruin a mean
        check_rows = validation.measurable if self.params.center_input else validation.finite
        for start in range(0, len(X), ROWS_PER_BLOCK):
            rows = validation.cast(gather(X, slice(start, start + ROWS_PER_BLOCK)), self.dtype)
            check_rows("X", rows, rows=np.arange(start, start + len(rows)))
            Z[start : start + ROWS_PER_BLOCK] = self._map(rows)
        return Z

    def state(self) -> Frame:
        """Plain values and arrays, for saving."""
        values = asdict(self.params) | {"dtype": self.dtype}
        if self.mean is None:
            return values, {}
        arrays: Arrays = {"mean": self.mean, "fitted": np.array([self.sigma, self.mean_kernel])}
        if self.anchors is not None:
            arrays["anchors"] = self.anchors
        return values, arrays

    @classmethod
    def from_state(cls, values: JsonObject, arrays: Arrays) -> "FeatureMap":
        """The inverse of `state`, bit for bit."""
        values = dict(values)
        dtype = values.pop("dtype")
        feature_map = cls.from_params(FeatureParams(**values), dtype)
        if "mean" in arrays:
            feature_map.mean = np.asarray(arrays["mean"])
            feature_map.sigma, feature_map.mean_kernel = (float(v) for v in arrays["fitted"])
            feature_map.anchors = arrays.get("anchors")
        return feature_map

    def _fit(self, X: Numbers, at: npt.NDArray[np.int64]) -> "FeatureMap":
        rows = validation.finite("X", validation.cast(gather(X, at), "float64"), rows=at)
        m = self.params.m
        if self.params.kernel == "rbf" and len(rows) < m:
            raise ValueError(f"m must be at most the number of distinct points seen, got m={m} and {len(rows)} points")
        self.mean = rows.mean(axis=0) if self.params.center_input else np.zeros(rows.shape[1])
        if self.params.kernel == "rbf":
            unit = self._scale(rows)
            squares = _square_distances(unit, unit)[~np.eye(len(unit), dtype=bool)]
            median = float(np.median(np.sqrt(squares))) if squares.size else 0.0
            self.sigma = self.params.sigma or 0.5 * median or 1.0
            self.mean_kernel = float(np.exp(squares / (-2 * self.sigma**2)).mean()) if squares.size else 1.0
            self.anchors = np.ascontiguousarray(unit[:m].astype(self.dtype))
            if not 1e-3 <= self.mean_kernel <= 0.99:
                warnings.warn(
                    f"the mean kernel value of the warm-up is {self.mean_kernel:.2g}, outside [0.001, 0.99]: with "
                    f"sigma={self.sigma:g} the kernel is {'dead' if self.mean_kernel < 0.5 else 'flat'} and codes will "
                    "carry little information; use sigma='auto', or normalise the features",
                    KernelWarning,
                    stacklevel=3,
                )
        return self

    def _scale(self, rows: Reals) -> Reals:
        assert self.mean is not None
        rows = rows - self.mean.astype(rows.dtype)
        if self.params.normalize:
            norm = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))  # float32 squares overflow at 1e19
            rows /= np.where(norm > 0, norm, 1)[:, None]  # a zero vector stays zero
        return rows

    def _map(self, rows: Reals) -> Reals:
        rows = self._scale(rows)
        if self.anchors is None:
            return rows
        squares = _square_distances(rows, self.anchors)
        squares *= -1 / (2 * self.sigma**2)
        np.exp(squares, out=squares)
        return squares

    def _check_is_fitted(self) -> None:
        if self.mean is None:
            raise ValueError("the feature map is not fitted yet: call fit(X) or fit_stream(X, i, j) first")


def _square_distances(A: Reals, B: Reals) -> Reals:
    squares: Reals = A @ B.T
    squares *= -2
    squares += np.einsum("nd,nd->n", A, A)[:, None]
    squares += np.einsum("nd,nd->n", B, B)
    np.maximum(squares, 0, out=squares)
    return squares


def _points(X: Numbers, i: npt.ArrayLike, j: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The rows of the pairs in the order of the stream: i, j, i, j, ..."""
    at_i, at_j = validation.indices("i", i, len(X)), validation.indices("j", j, len(X))
    if len(at_i) != len(at_j):
        raise ValueError(f"i and j must be equally long, got {len(at_i)} and {len(at_j)}")
    return np.stack([at_i, at_j], axis=1).ravel()


def _first_distinct(X: Numbers, points: Rows, wanted: int) -> tuple[npt.NDArray[np.int64], int]:
    """The first `wanted` rows of X, in the order of `points`, with distinct values; and how many points that took."""
    rows: list[int] = []
    values: set[bytes] = set()
    seen: set[int] = set()
    for start in range(0, len(points), POINTS_PER_BLOCK):
        new = []  # places of the rows that were not seen before
        for at, row in enumerate(points[start : start + POINTS_PER_BLOCK].tolist(), start):
            if row not in seen:
                seen.add(row)
                new.append(at)
        vectors = gather(X, points[new]) + 0  # turns -0.0 into 0.0
        for at, vector in zip(new, vectors, strict=True):
            value = vector.tobytes()
            if value not in values:
                values.add(value)
                rows.append(int(points[at]))
                if len(rows) == wanted:
                    return np.array(rows, np.int64), at + 1
    return np.array(rows, np.int64), len(points)
