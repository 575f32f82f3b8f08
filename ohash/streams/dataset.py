"""`Dataset`: vectors with what is known about them, and the frame in which they travel to another process or a file."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Flags, Labels, Numbers, Rows
from ohash.core.parameters import Settings
from ohash.core.rows import gather
from ohash.repr_html import PICTURES, bars_html, card_html, thumbnails_html
from ohash.runtime.frames import Arrays, Frame, JsonObject
from ohash.streams.annotations import (
    PairList,
    check_column,
    check_ids,
    encode_labels,
    parse_pairs,
    parse_times,
)
from ohash.streams.two_sides import check_query_rows, check_sides, check_values, halve_queries, stack_sides

Metric = Literal["l2", "cosine", "dot"]

METRICS: tuple[Metric, ...] = ("l2", "cosine", "dot")
SIMILARITY_TEXTS = {
    "label": "similar if they share a label",
    "track": "similar if they are views of one object",
    "metric": "similar if either is among the other's nearest 5 %",
    "topk": "similar if either is among the other's nearest k",
    "pairs": "similar as your pairs say",
    "clicks": "similar if clicked together; negatives are sampled",
}
ONE_SIDED_TEXT = "similar if the second is among the first's nearest 5 %"
TWO_SIDED_TEXTS = {
    "metric": ONE_SIDED_TEXT,
    "topk": "similar if the second is among the first's nearest k",
    "clicks": "similar if the document was clicked for the query; negatives are sampled among the documents",
}
MIN_ROWS = 4
# Stored runs know these by fingerprints from before `natural` was part of them.
NATURAL_NOT_HASHED = ("words",)
# Pictures, captions and the paper's parameters, which no result depends on.
NOT_IN_FRAME = ("thumbnails", "captions", "presets")
PAIRS = "pairs/"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Vectors X (n, d) with optional labels, tracks, pairs, pictures and names. Arrays are never written to.

    `labels` is (n,) of classes, or a boolean matrix (n, L) where two points are similar if they share one label.
    `tracks` groups views of one object. `queries` declares how many (validation, test) queries are split off.
    `kernel` is the map of the methods that were made for a kernel, as OH was.
    `natural` is the similarity meant by "auto", such as "topk"; if empty, the first of `similarities`.
    `one_sided`: by distance, only the nearest 5 % of the first point (the query) count, not of either of the two.
    `query_rows`, sorted, makes the data two-sided: these rows are queries only, all others are documents. A pair is
    then (query, document), only documents are searched, and only queries ask. `captions` are texts to show, by row.
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
    presets: Settings = field(default_factory=dict)
    query_rows: Rows | None = None
    captions: tuple[str, ...] = ()

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
        if n < MIN_ROWS:
            raise ValueError(
                f"X must have at least {MIN_ROWS} rows (two to search, a query each for validation and test), got {n}"
            )
        if self.captions and len(self.captions) != n:
            raise ValueError(f"captions must have one entry per row of X, {n}, got {len(self.captions)}")
        if self.query_rows is None:
            check_queries(self.queries, n)
        else:
            check_query_rows(n, self.query_rows)
            check_sides(n, self.query_rows, self.is_query, self.queries, self.pairs, self.fixed_test)

    @property
    def two_sided(self) -> bool:
        """Whether queries and documents are different things."""
        return self.query_rows is not None

    @property
    def same_test_queries(self) -> bool:
        """Whether every seed has the same test queries: all those that the data declare."""
        return self.fixed_test is not None and self.queries[1] >= len(self.fixed_test)

    @cached_property
    def is_query(self) -> Flags:
        """(n,): which rows are queries only; none of one-sided data."""
        flags = np.zeros(self.n, dtype=bool)
        if self.query_rows is not None:
            flags[self.query_rows] = True
        return flags

    @cached_property
    def documents(self) -> Rows:
        """The rows that can be searched, sorted: all of one-sided data."""
        return np.flatnonzero(~self.is_query)

    @property
    def ranks_by_query(self) -> bool:
        """Whether, by distance, only the nearest of the first point (the query) count."""
        return self.one_sided or self.two_sided

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
        if self.two_sided and similarity in TWO_SIDED_TEXTS:
            return TWO_SIDED_TEXTS[similarity]
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
        pairs: object = None,
        ids: npt.ArrayLike | None = None,
        *,
        tracks: npt.ArrayLike | None = None,
        time: npt.ArrayLike | None = None,
        metric: Metric = "l2",
        queries: tuple[int, int] | None = None,
        title: str = "your data",
        key: str = "user",
        kernel: Literal["rbf", "none"] = "rbf",
        thumbnails: npt.NDArray[np.uint8] | None = None,
        query_rows: npt.ArrayLike | None = None,
        captions: Sequence[str] = (),
    ) -> "Dataset":
        """A data set of arrays. `pairs` is (i, j), (i, j, s) or (i, j, s, time), of row numbers or `ids`.

        A tuple holds columns; a matrix or a list of tuples, one pair per row; a table or a dict, columns by name.
        `tracks` are numbers or names; views of the same thing share one. `query_rows` are rows that are queries only,
        as in two-sided data (see `from_two_sides`); then i names a query and j a document.

        >>> rng = np.random.default_rng(0)
        >>> data = Dataset.from_arrays(rng.normal(size=(50, 4)), labels=np.arange(50) % 5)
        >>> data.similarities, data.queries
        (('label', 'metric', 'topk'), (2, 3))
        """
        X = validation.matrix("X", X)
        check_values("X", X)
        names = None if ids is None else check_column("ids", ids, len(X)).astype(np.str_)
        if names is not None:
            check_ids("ids", names)
        asking = None if query_rows is None else np.unique(validation.array("query_rows", query_rows, "row numbers"))
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
            queries=queries or (default_queries(len(X)) if asking is None else halve_queries(len(asking))),
            kernel=kernel,
            thumbnails=thumbnails,
            query_rows=asking,
            captions=tuple(captions),
        )

    @classmethod
    def from_two_sides(
        cls,
        docs: npt.ArrayLike,
        queries: npt.ArrayLike,
        pairs: object = None,
        *,
        doc_ids: npt.ArrayLike | None = None,
        query_ids: npt.ArrayLike | None = None,
        doc_captions: Sequence[str] = (),
        query_captions: Sequence[str] = (),
        metric: Metric = "l2",
        title: str = "your data",
        key: str = "user",
        kernel: Literal["rbf", "none"] = "rbf",
    ) -> "Dataset":
        """Documents (n, d) and queries (q, d), stacked; `pairs` as in `from_arrays`, i of a query and j of a document.

        Pairs name `query_ids` and `doc_ids`, or row numbers of each side where there are none. Ids need only be
        distinct within a side. If only one side has captions, the others show their ids.

        >>> rng = np.random.default_rng(0)
        >>> data = Dataset.from_two_sides(rng.normal(size=(30, 4)), rng.normal(size=(9, 4)), [(0, 7), (8, 29)])
        >>> data.n, data.pairs.i.tolist(), data.pairs.j.tolist(), data.similarities[0]
        (39, [30, 38], [7, 29], 'clicks')
        """
        stacked = stack_sides(docs, queries, pairs, doc_ids, query_ids, doc_captions, query_captions)
        return cls(key=key, title=title, metric=metric, kernel=kernel, **stacked)

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
        if self.query_rows is not None:
            digest.update(b"queries" + np.ascontiguousarray(self.query_rows, np.int64).tobytes())
        if self.similarities != self._similarities and self.key not in NATURAL_NOT_HASHED:
            digest.update(f"natural {self.natural}".encode())
        if self.pairs is not None:
            for column in (self.pairs.i, self.pairs.j, self.pairs.s, self.pairs.time):
                digest.update(b"-" if column is None else np.ascontiguousarray(column).tobytes())
        return digest.hexdigest()[:16]


def check_queries(queries: tuple[int, int], n: int) -> None:
    """Refuse queries that would leave fewer than two of the n rows as a database."""
    if sum(queries) >= n - 1 or min(queries) < 1:
        raise ValueError(f"queries must be two counts >= 1 that leave a database of 2 of the {n} rows, got {queries}")


def default_queries(n: int) -> tuple[int, int]:
    """About a tenth of the rows, at most 500 of each kind."""
    return max(1, min(500, n // 20)), max(1, min(500, (n + 10) // 20))


def dataset_to_frame(dataset: Dataset) -> Frame:
    """Every field that a result depends on, as plain values and arrays; pairs as ``pairs/i``, ``pairs/j``, ..."""
    parts: JsonObject = {one.name: getattr(dataset, one.name) for one in fields(Dataset)}
    pairs = parts.pop("pairs")
    if pairs is not None:
        parts |= {PAIRS + one.name: getattr(pairs, one.name) for one in fields(PairList)}
    parts = {name: part for name, part in parts.items() if part is not None and name not in NOT_IN_FRAME}
    arrays: Arrays = {name: np.asarray(part) for name, part in parts.items() if isinstance(part, np.ndarray)}
    return {name: part for name, part in parts.items() if name not in arrays}, arrays


def dataset_from_frame(values: JsonObject, arrays: Arrays) -> Dataset:
    """The inverse of `dataset_to_frame`; a field that an older version did not write has its default."""
    parts: JsonObject = {name: tuple(part) if isinstance(part, list) else part for name, part in values.items()}
    parts |= arrays
    pairs = {name.removeprefix(PAIRS): parts.pop(name) for name in list(parts) if name.startswith(PAIRS)}
    return Dataset(**parts, pairs=PairList(**pairs) if pairs else None)


@dataclass(frozen=True)
class DatasetSpec:
    """What is known about a data set without loading it.

    `missing` says how to get it, or "" if it is here; `status` then completes "the data set ...". `size` is
    the size of its file in bytes, 0 without one. `similar_share` is the natural share of similar pairs, or its bounds
    where it depends on the files. `kernel` and `normalize` are the features that suit its vectors, `defaults` the
    other parameters of OH and its features that do, `defaults_note` why (see `chosen_defaults`). `presets` are the
    paper's parameters for the features of the data set `paper_key`. `measure_size` gives (n, d) of files that may
    differ from what is declared, n = 0 if the rows are not counted yet; `size_note` says so if they do. `metric` is
    the distance of its vectors, "" if only the loaded data tell it.
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
    metric: Metric | Literal[""] = ""

    def __repr__(self) -> str:
        """One line: `ohash.datasets()` lists them all."""
        return f"DatasetSpec({self.key!r}, {self.title!r}, {self.n:,} x {self.d:,})"


@dataclass(frozen=True)
class DatasetFamily:
    """Data sets that are not listed, since their keys say what is in them: all that begin with `key`.

    `spec` gives what is known of one, the same object for the same key; ValueError for a key that names none.
    """

    key: str
    spec: Callable[[str], DatasetSpec]
