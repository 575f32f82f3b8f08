"""What a dataset is, measured: the summary a user reads before trusting a run on data of their own.

Up to `WHOLE` values everything is looked at; beyond, a seeded sample of rows, and `sampled` says how many.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.rows import gather
from ohash.core.validation import first_too_long, too_long
from ohash.streams.dataset import SIMILARITY_TEXTS, Dataset, split
from ohash.streams.readers.table import first_not_finite
from ohash.streams.similarity import TOP_K, make_similarity
from ohash.streams.similarity.base import stream_share

WHOLE = 20_000_000
SAMPLE = 20_000
# To measure the share of similar pairs by distance takes the radius of every point of a pool: a part will do.
POOL = 2_000
# A column with more than this share of the variance is hardly one feature among others.
DOMINANT = 0.9
# A row this many times as long as the median one is hardly one among others.
OUTLIER_FACTOR = 1000
DISTANCES = {"l2": "Euclidean (L2)", "cosine": "cosine, only directions count", "dot": "dot product"}


@dataclass(frozen=True)
class Summary:
    """Measured facts; `sampled` is 0 if every row was looked at, else the number of rows that were."""

    title: str
    rows: int
    columns: int
    dtype: str
    classes: int
    smallest_class: int
    pairs: int
    similar_by: str
    similar_share: float | None
    norms: tuple[float, float, float]
    duplicates: int
    constant: tuple[int, ...]
    not_finite: tuple[int, int] | None
    zero_rows: int
    kernel: str
    sampled: int
    metric: str = "l2"
    negative: bool = True
    mixed_share: float | None = None
    problem: str = ""
    self_pairs: int = 0
    dominant_column: tuple[int, float] | None = None
    note: str = ""
    longest_row: int = 0

    @property
    def good(self) -> bool:
        """Whether a run can start on it."""
        return self.not_finite is None and not self.problem

    def lines(self) -> list[str]:
        """For printing."""
        least, median, most = self.norms
        of = f" (of {self.sampled:,} sampled rows)" if self.sampled else ""
        said = [f"{self.title}: {self.rows:,} rows of {self.columns:,} {self.dtype} values"]
        said.append(self._checks(of))
        said.append(f"norms: {least:.4g} least, {median:.4g} median, {most:.4g} most{of}")
        if median > 0 and most > OUTLIER_FACTOR * median:
            said.append(
                f"row {self.longest_row:,} is {most / median:.0e} times as long as the median row".replace("e+0", "e")
                + ": if it is damaged, remove it; one such row moves means, kernels and rates"
            )
        if self.classes:
            said.append(f"classes: {self.classes:,}, the smallest of {self.smallest_class:,} rows")
        if self.pairs:
            alone = f"; {self.self_pairs:,} that joined a row with itself were left out" if self.self_pairs else ""
            said.append(f"pairs: {self.pairs:,}{alone}")
        said.append(f"similarity: {self.similar_by}, {explain_similarity(self.similar_by)}{self._share_text}")
        said.append(f"original distance: {DISTANCES[self.metric]}")
        said.append(
            "feature map: RBF kernel, which suits descriptors such as pixels and GIST"
            if self.kernel == "rbf"
            else "feature map: kernel off, which suits learnt embeddings"
            + (
                ""
                if self.negative
                else "; no value is negative, as in pixels and counts: if it is such, try the RBF kernel"
            )
        )
        if self.dominant_column is not None:
            column, part = self.dominant_column
            said.append(
                f"column {column} alone makes {part:.0%} of the variance: if it is an id, a time or a row number, "
                "leave it out"
            )
        if self.zero_rows:
            said.append(f"zero rows: {self.zero_rows:,}{of}; all of them get one code")
        if self.note:
            said.append(f"note: {self.note}")
        if self.problem:
            said.append(f"problem: {self.problem}")
        return said

    def _checks(self, of: str) -> str:
        """What was looked for, found or not."""
        finite = "all values are finite"
        if self.not_finite is not None:
            row, column = self.not_finite
            finite = f"the first NaN or infinity is at row {row}, column {column}: remove or impute it"
        constant = "no constant column"
        if self.constant:
            shown = ", ".join(str(column) for column in self.constant[:8])
            more = ", ..." if len(self.constant) > 8 else ""
            constant = f"constant columns: {len(self.constant):,} ({shown}{more}), which carry nothing"
        duplicates = f"duplicate rows: {self.duplicates:,}" if self.duplicates else "no duplicate row"
        return f"checked: {finite}; {duplicates}; {constant}{of}"

    @property
    def _share_text(self) -> str:
        if self.similar_share is None:
            return ""
        digits = 2 if self.similar_share >= 0.001 else 4
        share = f"; naturally {self.similar_share:.{digits}%} of the pairs".replace("%", " %")
        if self.similar_by == "clicks" and self.mixed_share is not None:
            share += f" of clicked items; a run mixes {self.mixed_share:.0%} clicks with sampled negatives".replace(
                "%", " %"
            )
        return share


def summarize(dataset: Dataset, similar_by: str = "auto", seed: int = 0) -> Summary:
    """Measure; a memory-mapped file of gigabytes takes seconds, because only some of its rows are read.

    >>> from ohash.streams.registry import load_by_key
    >>> for line in summarize(load_by_key("blobs2d")).lines()[:3]:
    ...     print(line)
    Blobs in the plane: 2,000 rows of 2 float32 values
    checked: all values are finite; no duplicate row; no constant column
    norms: 0.06059 least, 1.049 median, 2.108 most
    """
    X, sampled = dataset.X, 0
    rows = np.arange(dataset.n)
    if X.size > WHOLE:
        sampled = max(1, min(SAMPLE, WHOLE // dataset.d))
        rows = np.sort(np.random.default_rng(seed).choice(dataset.n, sampled, replace=False))
        X = gather(X, rows)
    bad = first_not_finite(X)
    values = np.nan_to_num(X.astype(np.float32)) if bad is not None else X.astype(np.float32)
    norms = np.sqrt(np.einsum("nd,nd->n", values, values, dtype=np.float64))
    duplicates = len(values) - len(_distinct(values))
    share: float | None = None
    mixed: float | None = None
    problem = ""
    long = None if bad is not None else first_too_long(X)
    if bad is not None:
        problem = "values that are not finite"
    elif long is not None:
        problem = f"the vectors {too_long(X[long], f'row {rows[long[0]]}, column {long[1]}')}"
    else:
        share, mixed, problem = _share(dataset, similar_by, seed)
    counts = _class_sizes(dataset)
    return Summary(
        title=dataset.title,
        rows=dataset.n,
        columns=dataset.d,
        dtype=str(dataset.X.dtype),
        classes=len(counts),
        smallest_class=int(counts.min()) if len(counts) else 0,
        pairs=0 if dataset.pairs is None else len(dataset.pairs),
        self_pairs=0 if dataset.pairs is None else dataset.pairs.left_out,
        similar_by=dataset.similarities[0] if similar_by == "auto" else similar_by,
        similar_share=share,
        norms=(float(norms.min()), float(np.median(norms)), float(norms.max())),
        duplicates=duplicates,
        constant=tuple(int(k) for k in np.flatnonzero((values == values[0]).all(axis=0))),
        not_finite=None if bad is None else (int(rows[bad[0]]), bad[1]),
        zero_rows=int((norms == 0).sum()),
        kernel=dataset.kernel,
        sampled=sampled,
        metric=dataset.metric,
        negative=bool((values < 0).any()),
        mixed_share=mixed,
        problem=problem,
        dominant_column=_dominant_column(values),
        note=dataset.note,
        longest_row=int(rows[norms.argmax()]),
    )


def _dominant_column(values: npt.NDArray[np.float32]) -> tuple[int, float] | None:
    """A column that drowns the others, with its share of the variance; None if there is none."""
    variance = values.var(axis=0, dtype=np.float64)
    if values.shape[1] < 4 or not variance.sum() > 0:
        return None
    column, share = int(variance.argmax()), float(variance.max() / variance.sum())
    return (column, share) if share > DOMINANT else None


def explain_similarity(similar_by: str) -> str:
    """What a similarity means."""
    return SIMILARITY_TEXTS[similar_by].replace("nearest k", f"nearest {TOP_K}")


def _share(dataset: Dataset, similar_by: str, seed: int) -> tuple[float | None, float | None, str]:
    """Natural share of similar pairs, by distance on a part of a large set; the share a run mixes; what is wrong."""
    name, k = dataset.similarities[0] if similar_by == "auto" else similar_by, TOP_K
    if name in ("metric", "topk") and dataset.n > POOL:
        some = np.sort(np.random.default_rng(seed).choice(dataset.n, POOL, replace=False))
        k = max(1, round(TOP_K * POOL / dataset.n))
        dataset = Dataset.from_arrays(gather(dataset.X, some), metric=dataset.metric)
    try:
        source = make_similarity(dataset, split(dataset, seed), name, top_k=k)
        share = source.natural_share
    except ValueError as error:
        return None, None, str(error)
    problem = "every pair is similar: there is nothing to tell apart" if share >= 1 else ""
    return share, stream_share(source, -1.0), problem


def _class_sizes(dataset: Dataset) -> npt.NDArray[np.int64]:
    if dataset.labels is None:
        return np.empty(0, np.int64)
    if dataset.multi_label:
        return np.asarray(dataset.labels.sum(axis=0), np.int64)
    return np.asarray(np.unique(dataset.labels, return_counts=True)[1], np.int64)


def _distinct(values: npt.NDArray[np.float32]) -> set[bytes]:
    """Rows as bytes; + 0 turns -0.0 into 0.0."""
    whole: Any = np.ascontiguousarray(values + 0)
    return {row.tobytes() for row in whole}
