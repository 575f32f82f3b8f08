"""What a dataset is, measured: the summary a user reads before trusting a run on data of their own.

Up to `WHOLE` values everything is looked at; beyond, a seeded sample of rows, and `sampled` says how many.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.rows import gather
from ohash.streams.base import Dataset, split
from ohash.streams.readers.table import first_not_finite
from ohash.streams.similar_by import similarity

WHOLE = 20_000_000
SAMPLE = 20_000
# To measure the share of similar pairs by distance takes the radius of every point of a pool: a part will do.
POOL = 2_000
MEANING = {
    "label": "similar if they share a label",
    "track": "similar if they are views of one thing",
    "metric": "similar if either is among the other's nearest 5 %",
    "topk": "similar if either is among the other's nearest k",
    "pairs": "similar as your pairs say",
    "clicks": "similar if clicked together; negatives are sampled",
}


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
    problem: str = ""

    @property
    def good(self) -> bool:
        """Whether a run can start on it."""
        return self.not_finite is None and not self.problem

    def lines(self) -> list[str]:
        """For printing."""
        least, median, most = self.norms
        of = f" (of {self.sampled:,} sampled rows)" if self.sampled else ""
        said = [f"{self.title}: {self.rows:,} rows of {self.columns:,} {self.dtype} values"]
        if self.not_finite is not None:
            row, column = self.not_finite
            said.append(f"not finite: the first NaN or infinity is at row {row}, column {column}; remove or impute it")
        said.append(f"norms: {least:.4g} least, {median:.4g} median, {most:.4g} most{of}")
        if self.classes:
            said.append(f"classes: {self.classes:,}, the smallest of {self.smallest_class:,} rows")
        if self.pairs:
            said.append(f"pairs: {self.pairs:,}")
        share = "" if self.similar_share is None else f"; naturally {self.similar_share:.2%} of the pairs"
        said.append(f"similarity: {self.similar_by}, {MEANING[self.similar_by]}{share}")
        said.append(
            "feature map: kernel off, which suits learnt embeddings"
            if self.kernel == "none"
            else "feature map: RBF kernel, which suits descriptors such as pixels and GIST"
        )
        if self.duplicates:
            said.append(f"duplicate rows: {self.duplicates:,}{of}")
        if self.constant:
            shown = ", ".join(str(column) for column in self.constant[:8])
            more = ", ..." if len(self.constant) > 8 else ""
            said.append(f"constant columns: {len(self.constant):,} ({shown}{more}){of}; they carry nothing")
        if self.zero_rows:
            said.append(f"zero rows: {self.zero_rows:,}{of}; all of them get one code")
        if self.problem:
            said.append(f"problem: {self.problem}")
        return said


def summarize(dataset: Dataset, similar_by: str = "auto", seed: int = 0) -> Summary:
    """Measure; a memory-mapped file of gigabytes takes seconds, because only some of its rows are read.

    >>> from ohash.streams.registry import load
    >>> for line in summarize(load("blobs2d")).lines()[:3]:
    ...     print(line)
    Blobs in the plane: 2,000 rows of 2 float32 values
    norms: 0.06059 least, 1.049 median, 2.108 most
    classes: 5, the smallest of 400 rows
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
    problem = ""
    if bad is not None:
        problem = "values that are not finite"
    elif 2 * duplicates < len(values):  # among equal points every distance is a tie, and measuring says nothing
        share, problem = _share(dataset, similar_by, seed)
    counts = _class_sizes(dataset)
    return Summary(
        title=dataset.title,
        rows=dataset.n,
        columns=dataset.d,
        dtype=str(dataset.X.dtype),
        classes=len(counts),
        smallest_class=int(counts.min()) if len(counts) else 0,
        pairs=0 if dataset.pairs is None else len(dataset.pairs),
        similar_by=dataset.similarities[0] if similar_by == "auto" else similar_by,
        similar_share=share,
        norms=(float(norms.min()), float(np.median(norms)), float(norms.max())),
        duplicates=duplicates,
        constant=tuple(int(k) for k in np.flatnonzero((values == values[0]).all(axis=0))),
        not_finite=None if bad is None else (int(rows[bad[0]]), bad[1]),
        zero_rows=int((norms == 0).sum()),
        kernel=dataset.kernel,
        sampled=sampled,
        problem=problem,
    )


def _share(dataset: Dataset, similar_by: str, seed: int) -> tuple[float | None, str]:
    """Natural share of similar pairs; by distance on a part of a large set."""
    name = dataset.similarities[0] if similar_by == "auto" else similar_by
    if name in ("metric", "topk") and dataset.n > POOL:
        some = np.sort(np.random.default_rng(seed).choice(dataset.n, POOL, replace=False))
        dataset = Dataset.from_arrays(gather(dataset.X, some), metric=dataset.metric)
    try:
        return similarity(dataset, split(dataset, seed), name).natural_share, ""
    except ValueError as error:
        return None, str(error)


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
