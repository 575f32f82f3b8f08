"""`Dataset`: vectors with what is known about them, their seeded split, and the frame that is sent to a worker."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Labels, Numbers, Rows
from ohash.core.rows import gather, is_memory_mapped
from ohash.notebook import PICTURES, bars_html, card_html, thumbnails_html
from ohash.runtime.frames import Arrays, Frame
from ohash.streams.annotations import (
    PairList,
    check_column,
    encode_labels,
    first_duplicate,
    parse_pairs,
    parse_times,
)

Metric = Literal["l2", "cosine", "dot"]

METRICS: tuple[Metric, ...] = ("l2", "cosine", "dot")
SIMILARITY_TEXTS = {
    "label": "similar if they share a label",
    "track": "similar if they are views of one thing",
    "metric": "similar if either is among the other's nearest 5 %",
    "topk": "similar if either is among the other's nearest k",
    "pairs": "similar as your pairs say",
    "clicks": "similar if clicked together; negatives are sampled",
}
ONE_SIDED_TEXT = "similar if the second is among the first's nearest 5 %"
LEAST_ROWS = 4
# A memory-mapped matrix of up to this many bytes is checked for NaN when it is opened.
SEARCHED = 256 * 2**20
# Stored runs know these by fingerprints from before `natural` was part of them.
NATURAL_NOT_HASHED = ("words",)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Vectors X (n, d) with optional labels, tracks, pairs, pictures and names. Arrays are never written to.

    `labels` is (n,) of classes, or a boolean matrix (n, L) where two points are similar if they share one label.
    `tracks` groups views of one thing. `queries` declares how many (validation, test) queries are split off.
    `kernel` is the feature map that suits the vectors: "rbf" for descriptors, "none" for learnt embeddings.
    `natural` is the similarity meant by "auto", such as "topk"; if empty, the first of `similarities`.
    `one_sided`: by distance, only the nearest 5 % of the first point (the query) count, not of either of the two.
    """

    key: str
    title: str
    X: Numbers
    labels: Labels | None = None
    class_names: tuple[str, ...] = ()
    tracks: npt.NDArray[np.int64] | None = None
    pairs: PairList | None = None
    thumbnails: npt.NDArray[np.uint8] | None = None
    ids: npt.NDArray[np.str_] | None = None
    time: npt.NDArray[np.float64] | None = None
    metric: Metric = "l2"
    queries: tuple[int, int] = (100, 100)
    kernel: Literal["rbf", "none"] = "rbf"
    licence: str = ""
    cite: str = ""
    note: str = ""
    fixed_test: Rows | None = None
    superclasses: npt.NDArray[np.int64] | None = None
    natural: str = ""
    one_sided: bool = False
    presets: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """One line, without the arrays."""
        return f"Dataset({self.title!r}, {self.n:,} x {self.d:,}, similar by {' or '.join(self.similarities)})"

    def _repr_html_(self) -> str:
        """For a notebook; of X only the shape is looked at, so a memory map of gigabytes is as fast as a small set."""
        rows = np.linspace(0, self.n - 1, min(self.n, PICTURES)).astype(np.int64)
        names, sizes = self.class_names, np.empty(0, np.int64)
        if self.labels is not None and self.multi_label:
            sizes = self.labels.sum(axis=0)
        elif self.labels is not None:
            classes, sizes = np.unique(self.labels, return_counts=True)
            names = tuple(self.class_names[c] if self.class_names else str(c) for c in classes.tolist())
        facts = [
            f"{self.n:,} x {self.d:,} {self.X.dtype}" + (f", {len(sizes):,} classes" if len(sizes) else ""),
            f"two items are {self.explain(self.similarities[0])}; distance: {self.metric}",
            "; ".join(text for text in (self.cite, self.licence) if text),
        ]
        pictures = "" if self.thumbnails is None else thumbnails_html(self.thumbnails[rows])
        return card_html(self.title, facts, pictures, bars_html("rows per class", sizes.tolist(), names))

    def __post_init__(self) -> None:
        """Check shapes; the values of X are checked where they are used (X may be a memory map of gigabytes)."""
        validation.matrix("X", self.X)
        n = len(self.X)
        for name in ("labels", "tracks", "thumbnails", "ids", "time"):
            value = getattr(self, name)
            if value is not None and len(value) != n:
                raise ValueError(f"{name} must have one entry per row of X, {n}, got {len(value)}")
        if self.metric not in METRICS:
            raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {self.metric!r}")
        if n < LEAST_ROWS:
            raise ValueError(
                f"X must have at least {LEAST_ROWS} rows (two to search, a query each for validation and test), got {n}"
            )
        check_queries(self.queries, n)

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.X)

    @property
    def d(self) -> int:
        """Columns."""
        return int(self.X.shape[1])

    @property
    def multi_label(self) -> bool:
        """Whether a point may have several labels."""
        return self.labels is not None and self.labels.ndim == 2

    @property
    def similarities(self) -> tuple[str, ...]:
        """What "similar" can mean here, the natural meaning first."""
        return tuple(sorted(self._similarities, key=lambda name: name != self.natural))

    def explain(self, similarity: str) -> str:
        """What a similarity means here, as the end of the sentence "two items are ..."."""
        return ONE_SIDED_TEXT if similarity == "metric" and self.one_sided else SIMILARITY_TEXTS[similarity]

    @property
    def _similarities(self) -> tuple[str, ...]:
        """In the order without a declared natural similarity."""
        listed = "" if self.pairs is None else "clicks" if self.pairs.s is None else "pairs"
        track = "" if self.tracks is None else "track"
        label = "" if self.labels is None else "label"
        return tuple(name for name in (listed, track, label, "metric", "topk") if name)

    @classmethod
    def from_arrays(
        cls,
        X: npt.ArrayLike,
        labels: npt.ArrayLike | None = None,
        pairs: Any = None,
        ids: npt.ArrayLike | None = None,
        *,
        tracks: npt.ArrayLike | None = None,
        time: npt.ArrayLike | None = None,
        metric: Metric = "l2",
        queries: tuple[int, int] | None = None,
        title: str = "your data",
        key: str = "user",
        kernel: Literal["rbf", "none"] = "none",
        thumbnails: npt.NDArray[np.uint8] | None = None,
    ) -> "Dataset":
        """A data set of arrays. `pairs` is (i, j), (i, j, s) or (i, j, s, time), of row numbers or `ids`.

        A tuple holds columns; a matrix or a list of tuples, one pair per row; a table or a dict, columns by name.
        `tracks` are numbers or names; views of the same thing share one.

        >>> rng = np.random.default_rng(0)
        >>> data = Dataset.from_arrays(rng.normal(size=(50, 4)), labels=np.arange(50) % 5)
        >>> data.similarities, data.queries
        (('label', 'metric', 'topk'), (2, 3))
        """
        X = validation.matrix("X", X)
        if X.nbytes <= SEARCHED or not is_memory_mapped(X):  # a large memory map is checked where its rows are used
            validation.measurable("X", X)
        names = None if ids is None else check_column("ids", ids, len(X)).astype(np.str_)
        if names is not None and (again := first_duplicate(names)) is not None:
            raise ValueError(
                f"ids must be distinct, got {str(names[again])!r} again at row {again}; drop it or leave ids out"
            )
        encoded, class_names = (None, ()) if labels is None else encode_labels(labels, len(X))
        return cls(
            key=key,
            title=title,
            X=X,
            labels=encoded,
            class_names=class_names,
            tracks=None
            if tracks is None
            else np.unique(check_column("tracks", tracks, len(X)), return_inverse=True)[1],
            pairs=None if pairs is None else parse_pairs(pairs, names, len(X)),
            ids=names,
            time=None if time is None else parse_times("time", check_column("time", time, len(X))),
            metric=metric,
            queries=queries or default_queries(len(X)),
            kernel=kernel,
            thumbnails=thumbnails,
        )

    def fingerprint(self) -> str:
        """A hash of what results depend on (of vectors beyond 64 MB a sample), so that a link can name its data."""
        digest = hashlib.sha256(f"{self.X.shape} {self.X.dtype}".encode())
        digest.update(b"" if self.metric == "l2" else self.metric.encode())  # part of the ground truth
        step = max(1, self.X.nbytes // 2**26)
        digest.update(np.ascontiguousarray(gather(self.X, np.arange(0, self.n, step))).tobytes())
        for name in ("labels", "tracks", "time", "fixed_test", "superclasses"):
            value = getattr(self, name)
            if value is not None and len(value):
                digest.update(f"{name}".encode() + np.ascontiguousarray(value).tobytes())
        digest.update(f"{self.queries}".encode())
        digest.update(b"one-sided" if self.one_sided else b"")
        if self.similarities != self._similarities and self.key not in NATURAL_NOT_HASHED:
            digest.update(f"natural {self.natural}".encode())
        if self.pairs is not None:
            for column in (self.pairs.i, self.pairs.j, self.pairs.s, self.pairs.time):
                digest.update(b"-" if column is None else np.ascontiguousarray(column).tobytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Split:
    """Disjoint rows; `train` is the database itself or disjoint from it. Queries are never trained on."""

    train: Rows
    database: Rows
    validation: Rows
    test: Rows
    database_seen: bool


def split(dataset: Dataset, seed: int, *, train: str = "database") -> Split:
    """Split off the declared queries; `train` = "database" (as in the paper) or "disjoint" (half of the rest)."""
    if train not in ("database", "disjoint"):
        raise ValueError(f"train must be 'database' or 'disjoint', got {train!r}")
    if seed < 0:
        raise ValueError(f"seed must be an integer >= 0, got {seed}")
    rng = np.random.default_rng([seed, 0x5EED])
    n_validation, n_test = dataset.queries
    order = rng.permutation(dataset.n)
    if dataset.fixed_test is not None:
        is_test = np.zeros(dataset.n, dtype=bool)
        is_test[dataset.fixed_test] = True
        test = order[is_test[order]][:n_test]
        order = order[~is_test[order]]
    else:
        test, order = order[:n_test], order[n_test:]
    queries, rest = order[:n_validation], order[n_validation:]
    parts = (rest, rest) if train == "database" else (rest[: len(rest) // 2], rest[len(rest) // 2 :])
    train_rows, database, validation_rows, test = (np.sort(part) for part in (*parts, queries, test))
    return Split(train_rows, database, validation_rows, test, database_seen=train == "database")


def check_queries(queries: tuple[int, int], n: int) -> None:
    """Refuse queries that would leave fewer than two of the n rows as a database."""
    if sum(queries) >= n - 1 or min(queries) < 1:
        raise ValueError(f"queries must be two counts >= 1 that leave a database of 2 of the {n} rows, got {queries}")


def default_queries(n: int) -> tuple[int, int]:
    """About a tenth of the rows, at most 500 of each kind."""
    return max(1, min(500, n // 20)), max(1, min(500, (n + 10) // 20))


@dataclass(frozen=True)
class DatasetSpec:
    """What is known about a data set without loading it.

    `missing` says how to get it, or "" if it is here; `status` then completes "the data set ...". `size` is
    the size of its file in bytes, 0 without one. `similar_share` is the natural share of similar pairs, or its bounds
    where it depends on the files. `kernel` and `normalize` are the features that suit its vectors, `defaults` the
    other parameters of OH and its features that do, `defaults_note` why (see `chosen_defaults`). `presets` are the
    paper's parameters for the features of the data set `paper_key`. `measure_size` gives (n, d) of files that may
    differ from what is declared, n = 0 if the rows are not counted yet; `size_note` says so if they do.
    """

    key: str
    title: str
    task: str
    n: int
    d: int
    licence: str
    cite: str
    load: Callable[[], Dataset]
    bibtex: str = ""
    missing: Callable[[], str] = lambda: ""
    group: str = "plugin"
    similar_by: str = "label"
    similar_share: float | tuple[float, float] | None = None
    size: int = 0
    kernel: Literal["rbf", "none"] = "rbf"
    normalize: bool = True
    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)
    defaults_note: str = ""
    status: Callable[[], str] = lambda: "is not here"
    presets: Mapping[str, Any] = field(default_factory=dict, hash=False)
    paper_key: str = ""
    measure_size: Callable[[], tuple[int, int]] | None = None
    size_note: str = ""


# Pictures and the paper's parameters, which no result depends on.
NOT_SENT = ("thumbnails", "presets")
PAIRS = "pairs/"


def dataset_to_frame(dataset: Dataset) -> Frame:
    """Every field that a result depends on, as plain values and arrays; pairs as ``pairs/i``, ``pairs/j``, ..."""
    parts: dict[str, Any] = {one.name: getattr(dataset, one.name) for one in fields(Dataset)}
    pairs = parts.pop("pairs")
    if pairs is not None:
        parts |= {PAIRS + one.name: getattr(pairs, one.name) for one in fields(PairList)}
    parts = {name: part for name, part in parts.items() if part is not None and name not in NOT_SENT}
    arrays: Arrays = {name: np.asarray(part) for name, part in parts.items() if isinstance(part, np.ndarray)}
    return {name: part for name, part in parts.items() if name not in arrays}, arrays


def dataset_from_frame(values: dict[str, Any], arrays: Arrays) -> Dataset:
    """The inverse of `dataset_to_frame`; a field that an older version did not write has its default."""
    parts: dict[str, Any] = {name: tuple(part) if isinstance(part, list) else part for name, part in values.items()}
    parts |= arrays
    pairs = {name.removeprefix(PAIRS): parts.pop(name) for name in list(parts) if name.startswith(PAIRS)}
    return Dataset(**parts, pairs=PairList(**pairs) if pairs else None)
