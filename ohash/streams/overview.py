"""The overview of a data set before a run: class sizes, norms, a projection to the plane, examples of similar pairs."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats, Rows
from ohash.core.distances import normalize_rows
from ohash.core.rows import gather
from ohash.number_formats import fine_percent
from ohash.streams.data_split import split
from ohash.streams.dataset import Dataset
from ohash.streams.similarity import TOP_K, make_similarity
from ohash.streams.similarity.base import RowPairs
from ohash.streams.summary import POOL, explain_similarity

MAX_PROJECTED = 1_200
# Values that are projected: with more columns, fewer rows.
PROJECTED_VALUES = 2_000_000
# Subspace iteration: directions, and iterations.
WIDTH, ITERATIONS = 12, 20


@dataclass(frozen=True, eq=False)
class Projection:
    """Rows, their coordinates (n, 2), and the share of the variance along each axis; `exact` if d <= 2."""

    rows: Rows
    xy: Floats
    explained: tuple[float, float]
    exact: bool


def project(dataset: Dataset, seed: int = 0) -> Projection:
    """Principal components of a sample of rows; two columns stay as they are, cosine data are normalized first.

    >>> from ohash.streams.registry import load_by_key
    >>> projection = project(load_by_key("moons"))
    >>> projection.xy.shape, projection.exact
    ((1200, 2), True)
    """
    rows = sample_rows(dataset, min(MAX_PROJECTED, max(50, PROJECTED_VALUES // dataset.d)), seed)
    X = gather(dataset.X, rows).astype(np.float64)
    if not np.isfinite(X).all():
        raise ValueError(
            f"{dataset.title} must be finite to be drawn, got NaN or infinity; remove or impute those rows"
        )
    if dataset.metric == "cosine":
        X = normalize_rows(X).astype(np.float64)
    if dataset.d <= 2:
        spread = X.var(axis=0)
        share = spread / max(float(spread.sum()), 1e-300)
        return Projection(rows, np.pad(X, ((0, 0), (0, 2 - dataset.d))), _first_two(share), exact=True)
    X -= X.mean(axis=0)
    U, S = leading_singular_vectors(X, seed)
    xy = U[:, :2] * S[:2]
    xy *= np.where(np.abs(xy.max(axis=0)) >= np.abs(xy.min(axis=0)), 1, -1)  # the sign of a component is arbitrary
    return Projection(rows, xy, _first_two(S**2 / max(float((X**2).sum()), 1e-300)), exact=False)


def leading_singular_vectors(X: Floats, seed: int = 0) -> tuple[Floats, Floats]:
    """The first left singular vectors and values, by subspace iteration: 20 times faster than a full SVD.

    >>> X = np.random.default_rng(0).normal(size=(40, 30)) * np.r_[9.0, 5.0, np.ones(28)]
    >>> bool(np.allclose(leading_singular_vectors(X)[1][:2], np.linalg.svd(X)[1][:2]))
    True
    """
    Q = np.random.default_rng([seed, 0x5BD]).normal(size=(X.shape[1], min(WIDTH, *X.shape)))
    for _ in range(ITERATIONS):
        Q = np.linalg.qr(X.T @ (X @ Q))[0]
    U, S, _ = np.linalg.svd(X @ Q, full_matrices=False)
    return U, S


def sample_rows(dataset: Dataset, max_rows: int, seed: int = 0) -> Rows:
    """At most `max_rows` rows, sorted; the same for the same seed."""
    if dataset.n <= max_rows:
        return np.arange(dataset.n)
    return np.sort(np.random.default_rng([seed, 0x9107]).choice(dataset.n, max_rows, replace=False))


def _first_two(share: Floats) -> tuple[float, float]:
    first, second = [*share.tolist(), 0.0][:2]
    return first, second


MAX_NORMS = 20_000
EXAMPLES = 30


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts between edges, with the smallest, the median and the largest value."""

    edges: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    smallest: float
    median: float
    largest: float


@dataclass(frozen=True, eq=False)
class Overview:
    """What the Data page shows; `classes` and `class_sizes` are empty without labels.

    `norms` are those of a sample of `sampled` rows, or of all rows if that is 0; `examples` are rows to show.
    """

    classes: tuple[str, ...]
    class_sizes: npt.NDArray[np.int64]
    norms: Histogram
    sampled: int
    projection: Projection
    examples: Rows


def make_overview(dataset: Dataset, seed: int = 0) -> Overview:
    """Measure a data set; of a memory-mapped file only a sample of rows is read.

    >>> from ohash.streams.registry import load_by_key
    >>> overview = make_overview(load_by_key("digits"))
    >>> overview.classes[:3], int(overview.class_sizes.sum()), len(overview.examples)
    (('0', '1', '2'), 1797, 30)
    """
    rows = sample_rows(dataset, max(1, min(MAX_NORMS, 20_000_000 // dataset.d)), seed)
    values = gather(dataset.X, rows)
    return Overview(
        classes=class_names(dataset),
        class_sizes=class_sizes(dataset),
        norms=histogram(np.sqrt(np.einsum("nd,nd->n", values, values, dtype=np.float64))),
        sampled=0 if len(rows) == dataset.n else len(rows),
        projection=project(dataset, seed),
        examples=example_rows(dataset, EXAMPLES, seed),
    )


def histogram(values: npt.NDArray[np.float64], bins: int = 40) -> Histogram:
    """The histogram of the finite values; values equal up to rounding fall into one bin.

    >>> histogram(np.array([1.0, 1.0, 1.0000001])).counts.tolist()
    [3]
    """
    values = values[np.isfinite(values)]
    if not len(values):
        return Histogram(np.array([0.0, 1.0]), np.array([0]), np.nan, np.nan, np.nan)
    smallest, median, largest = float(values.min()), float(np.median(values)), float(values.max())
    if largest - smallest <= 1e-4 * max(abs(largest), 1e-300):
        half = max(abs(median), 1e-9) / 100
        return Histogram(np.array([median - half, median + half]), np.array([len(values)]), smallest, median, largest)
    counts, edges = np.histogram(values, bins)
    return Histogram(edges, counts, smallest, median, largest)


def class_sizes(dataset: Dataset) -> npt.NDArray[np.int64]:
    """Rows per class, in the order of the classes; a row with several labels counts once for each."""
    if dataset.labels is None:
        return np.empty(0, np.int64)
    if dataset.multi_label:
        return np.asarray(dataset.labels.sum(axis=0), np.int64)
    return np.bincount(dataset.labels, minlength=len(dataset.class_names))


def class_names(dataset: Dataset) -> tuple[str, ...]:
    """The names of the classes, or their numbers where they have none."""
    return dataset.class_names or tuple(str(c) for c in range(len(class_sizes(dataset))))


def item_name(dataset: Dataset, row: int) -> str:
    """The name of a row: its caption, its id, its class, or its number."""
    if dataset.captions:
        return dataset.captions[row]
    if dataset.ids is not None:
        return str(dataset.ids[row])
    return item_label(dataset, row) or f"row {row:,}"


def item_kind(dataset: Dataset, row: int) -> str:
    """Query or document of two-sided data; empty for one-sided data."""
    return "" if not dataset.two_sided else "query" if dataset.is_query[row] else "document"


def item_label(dataset: Dataset, row: int) -> str:
    """The class of a row, its labels, or its track; empty if it has none."""
    if dataset.labels is not None:
        names = class_names(dataset)
        if dataset.multi_label:
            return ", ".join(names[c] for c in np.flatnonzero(dataset.labels[row]))
        return names[int(dataset.labels[row])]
    return f"track {int(dataset.tracks[row])}" if dataset.tracks is not None else ""


def example_rows(dataset: Dataset, max_rows: int, seed: int = 0) -> Rows:
    """Rows of every class in turn, or of a few whole tracks, or at random."""
    rng = np.random.default_rng([seed, 0x5709])
    if dataset.tracks is not None:
        kept = rng.permutation(np.unique(dataset.tracks))[:max_rows]
        groups = [np.flatnonzero(dataset.tracks == track) for track in kept]
        return np.concatenate(groups)[:max_rows]
    if dataset.labels is None or dataset.multi_label:
        return rng.permutation(sample_rows(dataset, max_rows, seed))
    order = rng.permutation(dataset.n)
    order = order[np.argsort(dataset.labels[order], kind="stable")]
    labels = dataset.labels[order]
    turn = np.arange(dataset.n) - np.searchsorted(labels, labels)
    return order[np.sort(np.argsort(turn, kind="stable")[:max_rows])]


RowNumberPairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class SimilarityExamples:
    """What "similar" means in words, its natural share of the pairs, and a few pairs of rows of both kinds."""

    name: str
    words: str
    share: float
    similar: RowNumberPairs
    dissimilar: RowNumberPairs
    note: str = ""
    two_sided: bool = False

    @property
    def sentence(self) -> str:
        """A sentence for the reader."""
        share = fine_percent(self.share)
        if self.name == "clicks":
            pairs = "pairs of a query and a document" if self.two_sided else "pairs of clicked items"
            return f"Two items are {self.words}; {share} of all {pairs} were."
        note = f" ({self.note})" if self.note else ""
        return f"Two items are {self.words}; {share} of all pairs are{note}."


def draw_examples(dataset: Dataset, similar_by: str = "auto", count: int = 3, seed: int = 0) -> SimilarityExamples:
    """Pairs drawn as a run would draw them; by distance from a sample of a large set, where each point has a radius.

    >>> from ohash.streams.registry import load_by_key
    >>> source = draw_examples(load_by_key("digits"))
    >>> source.name, round(source.share, 2), len(source.similar), len(source.dissimilar)
    ('label', 0.1, 3, 3)
    """
    name = dataset.similarities[0] if similar_by == "auto" else similar_by
    rng = np.random.default_rng([seed, 0xE8A3])
    note, rows, part, k = "", None, dataset, TOP_K
    n = len(dataset.documents)
    if name in ("metric", "topk") and n > POOL:
        rows = dataset.documents[np.sort(rng.choice(n, POOL, replace=False))]
        part = Dataset.from_arrays(gather(dataset.X, rows), metric=dataset.metric)
        part = replace(part, one_sided=dataset.ranks_by_query)
        k = max(1, round(TOP_K * POOL / n))
        note = f"measured among {POOL:,} of {n:,} {'documents' if dataset.two_sided else 'rows'}"
    source = make_similarity(part, split(part, seed), name, top_k=k)
    return SimilarityExamples(
        name=name,
        words=explain_similarity(dataset, name),
        share=source.natural_share,
        similar=_row_pairs(source.draw_similar(rng, count), rows),
        dissimilar=_row_pairs(source.draw_dissimilar(rng, count), rows),
        note=", ".join(text for text in (source.note, note) if text),
        two_sided=dataset.two_sided,
    )


def _row_pairs(drawn: RowPairs, rows: Rows | None) -> RowNumberPairs:
    i, j = drawn if rows is None else (rows[drawn[0]], rows[drawn[1]])
    return tuple((int(a), int(b)) for a, b in zip(i, j, strict=True))
