"""ClickLog: documents, queries, and which query led to which document, in order of time; and its splits.

A click log is split at moments in time: what came before is learnt, the next tenth chooses parameters, and the tenth
after that is the later clicks that everything is judged on. A later click that repeats an earlier one is no test and is
left out, and what a query has clicked before is hidden from its search. No click of a query that asks is learnt, of
documents that are queries neither one on it: tests are of queries not trained on, among documents that may have been.

Labels stand for clicks where there are none: pairs of one label are learnt, and the queries are rows that no learnt
pair holds: documents, or queries of a side of their own. Every document of the query's label is then an answer.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Labels, Rows
from ohash.core.distances import normalize_rows
from ohash.core.rows import is_memory_mapped, stack_rows
from ohash.streams.dataset import Dataset
from ohash.streams.similarity.pair_list import group_partners

MIN_CLICKS = 10
LAST = 8  # tenths of the clicks that are learnt in the last split; each earlier split learns a tenth less
MIN_LEARNT_SHARE = 0.5  # of the earlier clicks are learnt; fewer queries ask if they would hold back more
MIN_QUERIES = 20  # queries
LABEL_PAIRS = 50_000  # drawn from labels per split, at most
Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ClickLog:
    """Rows X: documents first, then queries; if `one_sided` every document may be a query.

    `query` and `doc` are rows of X, one entry per click, in order of time. `labels` replaces clicks if there are none.
    """

    title: str
    X: Matrix
    n_docs: int
    query: Rows
    doc: Rows
    metric: str = "l2"
    labels: Labels | None = None
    timed: bool = False
    one_sided: bool = field(init=False)

    def __post_init__(self) -> None:
        """Whether queries are documents themselves."""
        object.__setattr__(self, "one_sided", self.n_docs == len(self.X))

    @property
    def docs(self) -> Matrix:
        """The documents."""
        return self.X[: self.n_docs]

    @cached_property
    def doc_mean(self) -> Matrix:
        """The mean of the documents."""
        return np.asarray(self.docs.mean(axis=0, dtype=np.float64), np.float32)

    @property
    def d(self) -> int:
        """Columns."""
        return int(self.X.shape[1])

    @property
    def truth(self) -> str:
        """What agreement with clicks or labels is called."""
        return "hit@10" if self.labels is None else "precision@10"

    @property
    def source(self) -> str:
        """What is learnt from."""
        return "clicks" if self.labels is None else "labels"


@dataclass(frozen=True, eq=False)
class QuerySet:
    """Queries (rows of X) with the answers to be found, given as documents or as a label, and what is hidden."""

    queries: Rows
    answers: tuple[Rows, ...]
    hidden: tuple[Rows, ...]
    labels: Labels | None = None

    def __len__(self) -> int:
        """How many queries."""
        return len(self.queries)

    def flags(self, some: slice, n: int) -> npt.NDArray[np.uint8]:
        """(queries, n documents): 1 for an answer."""
        rows = self.queries[some]
        if self.labels is None:
            flags = np.zeros((len(rows), n), np.uint8)
            for at, docs in enumerate(self.answers[some]):
                flags[at, docs] = 1
            return flags
        labels, wanted = self.labels[:n], self.labels[rows]
        if labels.ndim == 1:
            return np.asarray(labels == wanted[:, None]).astype(np.uint8)
        return np.asarray(wanted.astype(np.float32) @ labels.T.astype(np.float32) > 0).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class Split:
    """What is learnt, (query rows, document rows), and the queries of the validation and the test part.

    `disjoint`: no learnt pair holds any of these queries.
    """

    number: int
    query: Rows
    doc: Rows
    validation: QuerySet
    test: QuerySet
    disjoint: bool = True


def subsample(log: ClickLog, query_set: QuerySet, max_docs: int) -> tuple[ClickLog, QuerySet, Rows]:
    """The same queries in a smaller log: at most so many documents, evenly spaced, and all answers; and their rows."""
    if log.n_docs <= max_docs:
        return log, query_set, np.arange(log.n_docs)
    spaced = np.linspace(0, log.n_docs - 1, max_docs).astype(np.int64)
    kept = np.unique(np.concatenate([spaced, *query_set.answers]))
    X = np.concatenate([log.docs[kept], log.X[query_set.queries]])
    rows = len(kept) + np.arange(len(query_set))
    labels = None if log.labels is None else np.concatenate([log.labels[kept], log.labels[query_set.queries]])
    answers = tuple(np.searchsorted(kept, docs) for docs in query_set.answers)
    unseen = [np.append(docs, row) for docs, row in zip(query_set.hidden, query_set.queries, strict=True)]  # nor itself
    hidden = tuple(np.flatnonzero(np.isin(kept, docs)) for docs in unseen)
    nothing = np.zeros(0, np.int64)
    small = ClickLog(log.title, X, len(kept), nothing, nothing, log.metric, labels)
    return small, QuerySet(rows, answers, hidden, labels), kept


def click_log(dataset: Dataset) -> ClickLog:
    """The click log of a data set: its pairs with s = +1 or, without pairs, its labels."""
    own = dataset.X
    if is_memory_mapped(own):  # somebody may cut the file while the advice is worked out
        own = stack_rows(own, own[:0])
    X = np.ascontiguousarray(validation.measurable("X", np.asarray(own)), np.float32)
    if dataset.metric == "cosine":
        X = np.asarray(normalize_rows(X), np.float32)
    n_docs = len(X) if dataset.query_rows is None else len(X) - len(dataset.query_rows)
    none = np.zeros(0, np.int64)
    if dataset.pairs is None:
        if dataset.labels is None:
            raise ValueError(f"advice needs clicks (pairs) or labels, and {dataset.title} has neither")
        return ClickLog(dataset.title, X, n_docs, none, none, dataset.metric, dataset.labels)
    pairs = dataset.pairs
    order = np.arange(len(pairs)) if pairs.time is None else np.argsort(pairs.time, kind="stable")
    clicked = order if pairs.s is None else order[pairs.s[order] == 1]
    query, doc = np.asarray(pairs.i[clicked], np.int64), np.asarray(pairs.j[clicked], np.int64)
    if len(query) < MIN_CLICKS:
        raise ValueError(f"advice needs at least {MIN_CLICKS} clicks, got {len(query)}")
    return ClickLog(dataset.title, X, n_docs, query, doc, dataset.metric, timed=pairs.time is not None)


def splits(log: ClickLog, count: int, queries: int, seed: int) -> list[Split]:
    """`count` splits, the one that learns from most clicks first; those without a later query are left out."""
    every = [_split(log, number, queries, seed) for number in range(count)]
    kept = [one for one in every if len(one.test)]
    if not kept:
        raise ValueError("every later click repeats an earlier one; advice needs later clicks on other documents")
    return kept


def _split(log: ClickLog, number: int, queries: int, seed: int) -> Split:
    rng = np.random.default_rng([seed, number, 0xAD])
    if log.labels is not None:
        return _split_labels(log, number, queries, rng)
    edges = [round((LAST - number + more) * len(log.query) / 10) for more in range(3)]
    before, between, later = slice(0, edges[0]), slice(edges[0], edges[1]), slice(edges[1], edges[2])
    query, doc = log.query[before], log.doc[before]
    while True:
        test = _later_queries(log, slice(0, edges[1]), later, queries, rng)
        validation = _later_queries(log, before, between, max(1, queries // 2), rng, without=test.queries)
        held = np.concatenate([test.queries, validation.queries])
        learnt = ~np.isin(query, held)
        if log.one_sided:
            learnt &= ~np.isin(doc, held)
        if learnt.sum() >= max(MIN_LEARNT_SHARE * len(query), 1):
            return Split(number, query[learnt], doc[learnt], validation, test)
        if queries <= MIN_QUERIES:  # too few queries to hold any back
            return Split(number, query, doc, validation, test, disjoint=False)
        queries = max(MIN_QUERIES, queries // 2)


def _later_queries(
    log: ClickLog, before: slice, later: slice, max_docs: int, rng: np.random.Generator, without: Rows | None = None
) -> QuerySet:
    """Some of the queries with a later click on a document that they had not clicked before."""
    size = np.int64(len(log.X))
    known = np.unique(_keys(log, before, size))
    keys = np.setdiff1d(_keys(log, later, size), known)
    query, doc = keys // size, keys % size
    rows = np.unique(query) if without is None else np.setdiff1d(query, without)
    rows = np.sort(rng.choice(rows, max_docs, replace=False)) if len(rows) > max_docs else rows
    seen_query, seen_doc = log.query[before], log.doc[before]
    if log.one_sided:
        seen_query, seen_doc = np.concatenate([seen_query, seen_doc]), np.concatenate([seen_doc, seen_query])
    hidden = tuple(group_partners(rows, seen_query, seen_doc))
    answers = tuple(group_partners(rows, query, doc))
    hidden = tuple(np.setdiff1d(out, wanted) for out, wanted in zip(hidden, answers, strict=True))
    return QuerySet(rows, answers, hidden)


def _keys(log: ClickLog, part: slice, size: np.int64) -> npt.NDArray[np.int64]:
    return np.asarray(log.query[part] * size + log.doc[part])


def _split_labels(log: ClickLog, number: int, queries: int, rng: np.random.Generator) -> Split:
    """Rows that are learnt, rows that choose parameters, and rows that ask, each drawn anew."""
    assert log.labels is not None
    first = 0 if log.one_sided else log.n_docs
    order = first + rng.permutation(len(log.X) - first)
    few = max(1, min(queries, len(order) // 10))
    test, validation, rest = order[:few], order[few : few + max(1, few // 2)], order[few + max(1, few // 2) :]
    if not len(rest):
        raise ValueError(f"advice from labels needs at least 3 queries (learnt, validation, test), got {len(order)}")
    pairs = min(LABEL_PAIRS, 10 * len(rest))
    i = rest[rng.integers(0, len(rest), pairs)]
    j = _same_label(log.labels, rest if log.one_sided else np.arange(log.n_docs), i, rng)
    kept = i != j
    if not kept.any():
        raise ValueError("advice from labels needs two rows of one label")

    def query_set(rows: Rows) -> QuerySet:
        rows = np.sort(rows)
        nothing = (np.zeros(0, np.int64),) * len(rows)
        return QuerySet(rows, nothing, nothing, log.labels)

    return Split(number, i[kept], j[kept], query_set(validation), query_set(test))


def _same_label(labels: Labels, rows: Rows, i: Rows, rng: np.random.Generator) -> Rows:
    """For each i one of the rows that shares a label with it, perhaps i itself; i where there is none."""
    if labels.ndim == 1:
        order = rows[np.argsort(labels[rows], kind="stable")]
        first = np.searchsorted(labels[order], labels[i], "left")
        last = np.searchsorted(labels[order], labels[i], "right")
        at = first + (rng.random(len(i)) * (last - first)).astype(np.int64)
        return np.where(first < last, order[np.minimum(at, len(order) - 1)], i)
    j = i.copy()
    for _ in range(50):
        open_ = np.flatnonzero(j == i)
        drawn = rows[rng.integers(0, len(rows), len(open_))]
        shared = (labels[drawn] & labels[i[open_]]).any(axis=1)
        j[open_[shared]] = drawn[shared]
    return j
