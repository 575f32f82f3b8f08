"""Every method as a scikit-learn transformer, for `Pipeline`, `GridSearchCV` and `clone`.

One class serves all methods: ``HashingEstimator("itq", r=32)``. The parameters of a method are those of its class;
`fit` validates them, as scikit-learn asks. The trained model is `hasher_`.

What a method consumes decides what `fit` does:

- nothing: the warm-up (mean, ranges, sample) sees all rows
- batch: `fit` of the method; with labels for supervised methods
- points and chunks: one pass over the rows in their order, after a warm-up with the first 1,000 of them
- pairs: one pass over pairs drawn from y by `pairs_from_labels`, after the same warm-up

`partial_fit` exists for methods that learn online, and goes on from the model as it is.
"""

from typing import Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from ohash.core.arrays import Bytes, Labels, Numbers, Rows, Signs
from ohash.core.codes import unpack
from ohash.core.parameters import Settings, unknown_parameter
from ohash.models import registry
from ohash.models.base import BatchHasher, HasherSpec, OnlineHasher, PairHasher, PointHasher

WARM_UP = 1000
ONLINE = ("pairs", "points", "chunks")
OUTPUTS = ("pm1", "packed")


def pairs_from_labels(
    y: Labels, pairs_per_row: int, rng: np.random.Generator
) -> tuple[Rows, Rows, npt.NDArray[np.int8]]:
    """(i, j, s): half of the pairs of each row are with rows of its class, half with others, all in random order.

    Flags (n, L) make rows similar that share one. A row that is alone in its class has no similar pair, and a row of
    the only class no dissimilar one.

    >>> i, j, s = pairs_from_labels(np.array([0, 0, 1, 1]), 2, np.random.default_rng(0))
    >>> len(s), bool(((np.array([0, 0, 1, 1])[i] == np.array([0, 0, 1, 1])[j]) == (s == 1)).all()), bool((i != j).all())
    (8, True, True)
    """
    n = len(y)
    i = np.repeat(np.arange(n), pairs_per_row)
    s = np.where(np.arange(len(i)) % 2, -1, 1).astype(np.int8)
    u = rng.random(len(i))
    if y.ndim == 1:
        order = np.argsort(y, kind="stable")
        _, first, inverse, size = np.unique(y[order], return_index=True, return_inverse=True, return_counts=True)
        at = np.empty(n, np.int64)
        at[order] = np.arange(n)
        group = inverse[at[i]]
        # Rows in the order of classes: similar ones follow row i within its group, dissimilar ones follow the group.
        count = np.where(s == 1, size[group] - 1, n - size[group])
        step = np.minimum((u * count).astype(np.int64), count - 1)
        similar = first[group] + (at[i] - first[group] + 1 + step) % size[group]
        j = order[np.where(s == 1, similar, (first[group] + size[group] + step) % n)]
    else:
        count, j = np.zeros(len(i), np.int64), np.zeros(len(i), np.int64)
        for k, row in enumerate(i):
            share = (y[row] & y).any(axis=1)
            share[row] = s[k] == 1
            others = np.flatnonzero(share if s[k] == 1 else ~share)
            others = others[others != row]
            count[k] = len(others)
            j[k] = others[int(u[k] * len(others))] if len(others) else row
    kept = rng.permutation(np.flatnonzero(count > 0))
    return i[kept], j[kept], s[kept]


def _find(method: object) -> HasherSpec | None:
    """The method of this name; None if there is none, which only `fit` may complain about."""
    try:
        return registry.find(method) if isinstance(method, str) else None
    except ValueError:
        return None


def _learns_online(estimator: "HashingEstimator") -> bool:
    spec = _find(estimator.method)
    return spec is not None and spec.consumes in ONLINE


class HashingEstimator(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Binary codes of any registered method.

    `output` "pm1" gives -1 and +1 as int8, one column per bit; "packed" gives uint8, eight bits per byte. The codes of
    several models (MMOH) stand side by side. `pairs_per_row` is used by methods that learn from pairs.

    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> HashingEstimator("itq", r=16).fit_transform(X).shape
    (60, 16)
    >>> HashingEstimator("lsh", output="packed", r=16).fit(X).get_feature_names_out().tolist()
    ['lsh_byte0', 'lsh_byte1']
    """

    def __init__(
        self, method: str = "itq", output: Literal["pm1", "packed"] = "pm1", pairs_per_row: int = 2, **params: Any
    ) -> None:
        """Store; everything is validated by `fit`."""
        self.method = method
        self.output = output
        self.pairs_per_row = pairs_per_row
        self._params = params

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The method, and what differs from the defaults.

        >>> HashingEstimator(r=8, output="packed"), HashingEstimator("oh", r=48)
        (HashingEstimator('itq', output='packed', r=8), HashingEstimator('oh'))
        """
        defaults = {"output": "pm1", "pairs_per_row": 2, **self._defaults()}
        values = {name: value for name, value in self.get_params().items() if name != "method"}
        changed = [f"{name}={value!r}" for name, value in values.items() if repr(value) != repr(defaults.get(name))]
        text = ", ".join([repr(self.method), *changed])[: N_CHAR_MAX or None]
        return f"{type(self).__name__}({text})"

    def get_params(self, deep: bool = True) -> Settings:
        """The parameters of the estimator, then those of the method, with its defaults filled in."""
        own = {"method": self.method, "output": self.output, "pairs_per_row": self.pairs_per_row}
        return own | self._defaults() | self._params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator or of the method; a new `method` drops what the old one had by default."""
        for name in ("output", "pairs_per_row"):
            if name in params:
                setattr(self, name, params.pop(name))
        if "method" in params:
            defaults = self._defaults()
            self._params = {
                name: value
                for name, value in self._params.items()
                if name not in defaults or value is not defaults[name]
            }
            self.method = params.pop("method")
        allowed = self._defaults()
        for name in params:
            if allowed and name not in allowed:
                problem = unknown_parameter(self.method, name, list(allowed))
                raise ValueError(f"{problem}; the estimator itself has method, output and pairs_per_row")
        self._params = self._params | params
        return self

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None) -> Self:
        """Train a new model on the rows of X and, for supervised methods, their labels y."""
        spec = self._spec()
        X, labels = self._check(spec, X, y, first=True)
        self.hasher_ = spec.build(spec.params(**{**self._defaults(), **self._params}))
        warm_up = getattr(self.hasher_, "warm_up", None)
        if warm_up is not None:
            warm_up(X if spec.consumes == "nothing" else X[:WARM_UP])
        self._rng_ = np.random.default_rng(self._params.get("seed", 0))
        self._learn(spec, X, labels)
        if spec.consumes == "nothing" and warm_up is None:
            self.hasher_.encode(X[:1])
        return self

    @available_if(_learns_online)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None) -> Self:
        """Go on learning from the rows of X; the first call trains a new model."""
        if not hasattr(self, "hasher_"):
            return self.fit(X, y)
        spec = self._spec()
        self._learn(spec, *self._check(spec, X, y, first=False))
        return self

    def transform(self, X: npt.ArrayLike) -> Signs | Bytes:
        """The codes of the rows of X."""
        check_is_fitted(self)
        hasher: OnlineHasher = self.hasher_
        codes = np.asarray(hasher.encode(validate_data(self, X, reset=False, dtype=[np.float64, np.float32])))
        parts = codes if codes.ndim == 3 else codes[None]
        if self.output == "pm1":
            parts = np.stack([unpack(part, hasher.r) for part in parts])
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> npt.NDArray[np.object_]:
        """One name per bit, or per byte of packed codes."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features, generate_names=False)
        r, T = self.hasher_.r, getattr(self.hasher_, "T", 1)
        unit, count = ("bit", T * r) if self.output == "pm1" else ("byte", T * -(-r // 8))
        return np.array([f"{self.method}_{unit}{k}" for k in range(count)], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        """Labels are required by supervised methods; codes have a type of their own."""
        tags = super().__sklearn_tags__()
        spec = _find(self.method)
        tags.target_tags.required = spec is not None and spec.supervision != "none"
        tags.transformer_tags.preserves_dtype = []
        return tags

    # -- private ---------------------------------------------------------------------------------------------------

    def _defaults(self) -> Settings:
        spec = _find(self.method)
        if spec is None:
            return {}
        defaults = {name: row.default for name, row in spec.table.items()}
        if "center" in spec.table and "frozen" in spec.table["center"].choices:
            defaults["center"] = "frozen"  # as everywhere: the mean of the first rows
        return defaults

    def _spec(self) -> HasherSpec:
        spec = registry.find(str(self.method))
        if spec.missing:
            raise ValueError(f"method {spec.key!r} needs a package that is missing: {spec.missing}")
        if self.output not in OUTPUTS:
            raise ValueError(f"output must be one of {', '.join(map(repr, OUTPUTS))}, got {self.output!r}")
        unknown = [name for name in self._params if name not in spec.table]
        if unknown:
            raise unknown_parameter(spec.key, unknown[0], list(spec.table))
        return spec

    def _check(
        self, spec: HasherSpec, X: npt.ArrayLike, y: npt.ArrayLike | None, *, first: bool
    ) -> tuple[Numbers, Labels | None]:
        kinds = [np.float64, np.float32]
        if spec.supervision == "none":
            return validate_data(self, X, reset=first, dtype=kinds), None
        rows, labels = validate_data(self, X, y, reset=first, dtype=kinds, multi_output=True)
        check_classification_targets(labels)
        if labels.ndim == 2:
            return rows, labels.astype(bool)
        if first:
            self.classes_ = np.zeros(0, labels.dtype)
        new = labels[np.sort(np.unique(labels, return_index=True)[1])]
        self.classes_ = np.concatenate([self.classes_, new[~np.isin(new, self.classes_)]])
        order = np.argsort(self.classes_)
        return rows, np.asarray(order[np.searchsorted(self.classes_, labels, sorter=order)], np.int64)

    def _learn(self, spec: HasherSpec, X: Numbers, labels: Labels | None) -> None:
        if spec.consumes == "pairs":
            i, j, s = pairs_from_labels(cast(Labels, labels), self.pairs_per_row, self._rng_)
            if len(s):
                cast(PairHasher, self.hasher_).learn(X, i, j, s)
        elif spec.consumes in ("points", "chunks"):
            cast(PointHasher, self.hasher_).learn_points(X, np.arange(len(X)), labels)
        elif spec.consumes == "batch":
            cast(BatchHasher, self.hasher_).fit(X, labels)
