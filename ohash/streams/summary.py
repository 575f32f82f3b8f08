"""The summary of a data set: what a user reads before trusting a run on it.

Up to `WHOLE` values, all rows are measured; beyond that, a seeded sample, and `sampled` says how many.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Numbers
from ohash.core.rows import gather
from ohash.core.validation import find_long_row, long_row_message
from ohash.number_formats import fine_percent, percent
from ohash.streams.data_split import split
from ohash.streams.dataset import Dataset
from ohash.streams.readers.table import first_not_finite
from ohash.streams.similarity import TOP_K, make_similarity
from ohash.streams.similarity.base import stream_share

WHOLE = 20_000_000
SAMPLE = 20_000
# The share of pairs that are similar by distance needs the radius of every point, so it is measured on this many.
POOL = 2_000
# A column with more than this share of the variance is probably not a feature.
DOMINANT = 0.9
# A row this many times as long as the median row is probably damaged.
OUTLIER_FACTOR = 1000
DISTANCES = {"l2": "Euclidean (L2)", "cosine": "cosine, only directions count", "dot": "dot product"}


@dataclass(frozen=True)
class Summary:
    """Measured facts; `sampled` is the number of rows that were measured, 0 for all."""

    title: str
    rows: int
    columns: int
    dtype: str
    classes: int
    smallest_class: int
    pairs: int
    similar_by: str
    similar_if: str
    similar_share: float | None
    norms: tuple[float, float, float]
    duplicates: int
    constant: tuple[int, ...]
    not_finite: tuple[int, int] | None
    zero_rows: int
    kernel: str
    sampled: int
    metric: str = "l2"
    mixed_share: float | None = None
    problem: str = ""
    self_pairs: int = 0
    dominant_column: tuple[int, float] | None = None
    note: str = ""
    longest_row: int = 0

    @property
    def good(self) -> bool:
        """Whether a run can start on this data set."""
        return self.not_finite is None and not self.problem

    def lines(self) -> list[str]:
        """The facts in sentences."""
        smallest, median, largest = self.norms
        of = f" (of {self.sampled:,} sampled rows)" if self.sampled else ""
        lines = [f"{self.title}: {self.rows:,} rows of {self.columns:,} {self.dtype} values"]
        lines.append(self._checks(of))
        lines.append(f"norms: min {smallest:.4g}, median {median:.4g}, max {largest:.4g}{of}")
        if median > 0 and largest > OUTLIER_FACTOR * median:
            times = f"{largest / median:.0e}".replace("e+0", "e")
            lines.append(
                f"row {self.longest_row:,} is {times} times as long as the median row: if it is damaged, remove it; "
                "one such row distorts means, kernels and step sizes"
            )
        if self.classes:
            rows = f"{self.smallest_class:,} row{'s' if self.smallest_class != 1 else ''}"
            lines.append(f"classes: {self.classes:,}, the smallest has {rows}")
        if self.pairs:
            alone = f"; {self.self_pairs:,} pairs of a row with itself were left out" if self.self_pairs else ""
            lines.append(f"pairs: {self.pairs:,}{alone}")
        lines.append(f"similarity: {self.similar_by}, {self.similar_if}{self._share_text}")
        lines.append(f"original distance: {DISTANCES[self.metric]}")
        lines.append(
            "feature map: RBF kernel, which OH was made for"
            if self.kernel == "rbf"
            else "feature map: no kernel, though OH was made for one"
        )
        if self.dominant_column is not None:
            column, part = self.dominant_column
            lines.append(
                f"column {column} alone accounts for {percent(part)} of the variance: if it is an id, a time or a row "
                "number, leave it out"
            )
        if self.zero_rows:
            lines.append(f"zero rows: {self.zero_rows:,}{of}; they all get the same code")
        if self.note:
            lines.append(f"note: {self.note}")
        if self.problem:
            lines.append(f"problem: {self.problem}")
        return lines

    def _checks(self, of: str) -> str:
        """The results of all checks, also of those that found nothing."""
        finite = "all values are finite"
        if self.not_finite is not None:
            row, column = self.not_finite
            finite = f"the first NaN or infinity is at row {row}, column {column}: remove or impute it"
        constant = "no constant column"
        if self.constant:
            shown = ", ".join(str(column) for column in self.constant[:8])
            more = ", ..." if len(self.constant) > 8 else ""
            constant = f"constant columns: {len(self.constant):,} ({shown}{more}), which carry no information"
        duplicates = f"duplicate rows: {self.duplicates:,}" if self.duplicates else "no duplicate row"
        return f"checked: {finite}; {duplicates}; {constant}{of}"

    @property
    def _share_text(self) -> str:
        if self.similar_share is None:
            return ""
        text = f"; {fine_percent(self.similar_share)} of all pairs are similar"
        if self.similar_by == "clicks" and self.mixed_share is not None:
            text += (
                f" (among clicked items); in a run {percent(self.mixed_share)} are clicks, the rest sampled negatives"
            )
        return text


def summarize(dataset: Dataset, similar_by: str = "auto", seed: int = 0) -> Summary:
    """Measure a data set; a memory-mapped file of gigabytes takes seconds, because only a sample of its rows is read.

    >>> from ohash.streams.registry import load_by_key
    >>> for line in summarize(load_by_key("blobs2d")).lines()[:3]:
    ...     print(line)
    Blobs in the plane: 2,000 rows of 2 float32 values
    checked: all values are finite; no duplicate row; no constant column
    norms: min 0.6895, median 1.005, max 1.293
    """
    sampled = 0
    rows = np.arange(dataset.n)
    if dataset.X.size > WHOLE:
        sampled = max(1, min(SAMPLE, WHOLE // dataset.d))
        rows = np.sort(np.random.default_rng(seed).choice(dataset.n, sampled, replace=False))
    X = gather(dataset.X, rows if sampled else slice(None))
    bad = first_not_finite(X)
    values = np.nan_to_num(X.astype(np.float32)) if bad is not None else X.astype(np.float32)
    norms = np.sqrt(np.einsum("nd,nd->n", values, values, dtype=np.float64))
    duplicates = len(values) - len(_distinct(values))
    share: float | None = None
    mixed: float | None = None
    problem = ""
    long = None if bad is not None else find_long_row(X)
    if bad is not None:
        problem = "values that are not finite"
    elif long is not None:
        problem = f"the vectors {long_row_message(X[long], f'row {rows[long[0]]}, column {long[1]}')}"
    else:
        share, mixed, problem = _share(dataset, similar_by, seed)
    counts = _class_sizes(dataset)
    name = dataset.similarities[0] if similar_by == "auto" else similar_by
    return Summary(
        title=dataset.title,
        rows=dataset.n,
        columns=dataset.d,
        dtype=str(dataset.X.dtype),
        classes=len(counts),
        smallest_class=int(counts.min()) if len(counts) else 0,
        pairs=0 if dataset.pairs is None else len(dataset.pairs),
        self_pairs=0 if dataset.pairs is None else dataset.pairs.left_out,
        similar_by=name,
        similar_if=explain_similarity(dataset, name),
        similar_share=share,
        norms=(float(norms.min()), float(np.median(norms)), float(norms.max())),
        duplicates=duplicates,
        constant=tuple(int(k) for k in np.flatnonzero((values == values[0]).all(axis=0))),
        not_finite=None if bad is None else (int(rows[bad[0]]), bad[1]),
        zero_rows=int((norms == 0).sum()),
        kernel=dataset.kernel,
        sampled=sampled,
        metric=dataset.metric,
        mixed_share=mixed,
        problem=problem,
        dominant_column=_dominant_column(values),
        note="; ".join(text for text in (_sides(dataset), dataset.note) if text),
        longest_row=int(rows[norms.argmax()]),
    )


def _dominant_column(values: npt.NDArray[np.float32]) -> tuple[int, float] | None:
    """A column that dominates the variance, with its share; None if there is none."""
    variance = values.var(axis=0, dtype=np.float64)
    if values.shape[1] < 4 or not variance.sum() > 0:
        return None
    column, share = int(variance.argmax()), float(variance.max() / variance.sum())
    return (column, share) if share > DOMINANT else None


def explain_similarity(dataset: Dataset, similar_by: str) -> str:
    """What a similarity means, as the end of the sentence "two items are ..."."""
    return dataset.explain(similar_by).replace("nearest k", f"nearest {TOP_K}")


def _share(dataset: Dataset, similar_by: str, seed: int) -> tuple[float | None, float | None, str]:
    """The natural share of similar pairs (by distance: on a sample of a large set), the share in a run, the problem."""
    name, k = dataset.similarities[0] if similar_by == "auto" else similar_by, TOP_K
    n = len(dataset.documents)
    if name in ("metric", "topk") and n > POOL:
        some = dataset.documents[np.sort(np.random.default_rng(seed).choice(n, POOL, replace=False))]
        k = max(1, round(TOP_K * POOL / n))
        few = Dataset.from_arrays(gather(dataset.X, some), metric=dataset.metric)
        dataset = replace(few, one_sided=dataset.ranks_by_query)
    try:
        source = make_similarity(dataset, split(dataset, seed), name, top_k=k)
        share = source.natural_share
    except ValueError as error:
        return None, None, str(error)
    problem = "every pair is similar: there is nothing to learn" if share >= 1 else ""
    return share, stream_share(source, -1.0), problem


def _sides(dataset: Dataset) -> str:
    """How large the two sides are, if there are two."""
    if dataset.query_rows is None:
        return ""
    return f"two-sided, {len(dataset.documents):,} documents to search and {len(dataset.query_rows):,} queries"


def _class_sizes(dataset: Dataset) -> npt.NDArray[np.int64]:
    if dataset.labels is None:
        return np.empty(0, np.int64)
    if dataset.multi_label:
        return np.asarray(dataset.labels.sum(axis=0), np.int64)
    return np.asarray(np.unique(dataset.labels, return_counts=True)[1], np.int64)


def _distinct(values: npt.NDArray[np.float32]) -> Counter[bytes]:
    """Rows as bytes, and how often each comes; + 0 turns -0.0 into 0.0."""
    whole = np.ascontiguousarray(values + 0)
    return Counter(row.tobytes() for row in whole)


@dataclass(frozen=True)
class Repetition:
    """Shares of rows: those equal to the most frequent row, 0 if none comes twice; zero rows; rows seen before."""

    most_frequent: float
    zero: float
    repeated: float


def repetition(X: Numbers) -> Repetition:
    """How often vectors come again.

    >>> repetition(np.array([[0, 0], [1, 2], [-0.0, 0], [3, 4]]))
    Repetition(most_frequent=0.5, zero=0.5, repeated=0.25)
    >>> repetition(np.array([[0, 0], [1, 2]]))
    Repetition(most_frequent=0.0, zero=0.5, repeated=0.0)
    """
    n, rows = max(1, len(X)), _distinct(X.astype(np.float32))
    largest = max(rows.values(), default=0)
    zero = rows[np.zeros(X.shape[1], np.float32).tobytes()]
    return Repetition(largest / n if largest > 1 else 0.0, zero / n, (len(X) - len(rows)) / n)
