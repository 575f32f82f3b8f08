"""Scores of one way to store documents: which later clicks and which exact neighbours do its nearest ten hold?

Every way of storing ranks by a linear score, D(q, x) = bias_x - <f_q, g_x>: f_q is made of the query, g_x and bias_x of
what is stored. So all are judged by blocked matrix products. Equal distances are the rule for few bits: all scores
are expectations over a random order of ties. Of the hundred nearest, which the float vectors then rescore, ties at the
end go by row.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, fields
from functools import cache
from itertools import zip_longest

import numba
import numpy as np
import numpy.typing as npt

from ohash.advice.click_log import ClickLog, Matrix, QuerySet
from ohash.advice.coders import Coder, Form, Stored
from ohash.core.arrays import Bytes, Floats, Integers, Rows, Singles
from ohash.runtime.compile import array_type, inline, kernel_for
from ohash.runtime.threads import batches, in_parallel

NEAREST = 10
RESCORED = 100
TRUTH, NDCG, RECALL, RESCORED_RECALL = range(4)

ROWS_PER_BLOCK = 16_384
HELD = 2**25  # distances held at a time: 128 MB
QUERIES_PER_PART = 16  # judged by one thread at a time
DISCOUNT = 1 / np.log2(np.arange(2, NEAREST + 2))
# The linear form of the documents start to stop, a whole block.
Items = Callable[[int, int], Form]


@inline
def sift(values: Singles, items: Integers, size: int, value: float, item: int) -> None:
    """Put an entry at the top of a heap of (value, item), the largest first, and let it sink."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            values[right] > values[child] or (values[right] == values[child] and items[right] > items[child])
        ):
            child = right
        if values[child] < value or (values[child] == value and items[child] <= item):
            break
        values[at], items[at] = values[child], items[child]
        at = child
    values[at], items[at] = value, item


def _judge_rows(
    D: Singles,  # (b, n), infinite where an item is hidden
    answers: Bytes,  # (b, n): 1 for an answer
    counts: Integers,  # (b,): answers that exist
    exact: Integers,  # (b, e): exact neighbours, e = 0 if they are not known yet
    discount: Floats,  # (NEAREST,)
    by_label: bool,
    near: Integers,  # (b, k), filled: the nearest by (distance, row), k = RESCORED or n
    scores: Floats,  # (b, 4), filled
) -> None:
    """Scores of every row."""
    n, k = D.shape[1], near.shape[1]
    values = np.empty(k, np.float32)
    ends = np.array([min(NEAREST, k), k])
    for b in range(D.shape[0]):
        row, items = D[b], near[b]
        values[:] = np.float32(np.inf)
        for at in range(k):
            items[at] = n + at
        for i in range(n):
            if row[i] < values[0]:
                sift(values, items, k, row[i], i)
        for size in range(k - 1, 0, -1):  # the largest goes to the end
            value, item = values[size], items[size]
            values[size], items[size] = values[0], items[0]
            sift(values, items, size, value, item)
        gain, precise, miss = 0.0, 0.0, 1.0
        start = 0
        while start < ends[0] and np.isfinite(values[start]):
            stop = start
            while stop < k and values[stop] == values[start]:
                stop += 1
            size, right = 0, 0
            if stop < k:  # the tie ends within the list
                size = stop - start
                for at in range(start, stop):
                    right += answers[b, items[at]]
            else:
                for i in range(n):
                    if row[i] == values[start]:
                        size += 1
                        right += answers[b, i]
            shown = min(size, ends[0] - start)
            for at in range(shown):  # no answer among `shown` of `size`, drawn without replacement
                gain += right / size * discount[start + at]
                miss *= max(0.0, (size - right - at) / (size - at))
            precise += right * shown / size
            start += size
        best = 0.0
        for at in range(min(counts[b], NEAREST)):
            best += discount[at]
        scores[b, TRUTH] = precise / NEAREST if by_label else 1 - miss
        scores[b, NDCG] = gain / best if best > 0 else 0.0
        for which in range(2):
            end = ends[which]
            last = values[end - 1]
            share, level = 0.0, 0
            for at in range(exact.shape[1]):
                value = row[exact[b, at]]
                share += value < last
                level += value == last and np.isfinite(value)
            if level:  # a tie at the end: its places are shared by all that tie
                less, ties = end - 1, 0
                while less > 0 and values[less - 1] == last:
                    less -= 1
                for i in range(n):
                    ties += row[i] == last
                share += level * (end - less) / ties
            scores[b, RECALL + which] = share / exact.shape[1] if exact.shape[1] else 1.0


@cache
def judge_rows() -> Callable[..., None]:
    """Compiled at the first call on a machine, then read from disk."""
    types = numba.types
    f4, f8, i8, u1 = types.float32, types.float64, types.int64, types.uint8
    signature = types.void(
        array_type(f4, 2, readonly=True), array_type(u1, 2, readonly=True), array_type(i8, 1, readonly=True),
        array_type(i8, 2, readonly=True), array_type(f8, 1, readonly=True), types.boolean, array_type(i8, 2),
        array_type(f8, 2),
    )  # fmt: skip
    return kernel_for(signature, _judge_rows)


@dataclass(frozen=True, eq=False)
class Scores:
    """One entry per query: truth (hit@10, or precision@10 of labels), nDCG@10 and recall@10; then rescored."""

    truth: Floats
    ndcg: Floats
    recall: Floats
    rescored_truth: Floats
    rescored_ndcg: Floats
    rescored_recall: Floats

    def means(self) -> dict[str, float]:
        """The mean of each over the queries."""
        return {one.name: float(np.mean(getattr(self, one.name))) for one in fields(self)}


@dataclass(frozen=True, eq=False)
class Search:
    """Queries F of `asked` in `log`, whose documents are all that are coded or, in this order, those of `rows`.

    Without `exact`, (queries, 10), recall is 1.
    """

    log: ClickLog
    query_set: QuerySet
    F: Matrix
    exact: Rows | None = None
    rows: Rows | None = None

    def slices(self) -> list[slice]:
        """Queries whose distances are held at a time."""
        step = max(1, HELD // self.log.n_docs)
        return [slice(first, min(first + step, len(self.query_set))) for first in range(0, len(self.query_set), step)]

    def fill(self, D: Matrix, some: slice, start: int, linear_form: Form) -> None:
        """Put in the distances of some queries to a block of the coded documents that begins at `start`."""
        G, bias = linear_form
        columns = slice(start, start + len(bias))
        if self.rows is not None:
            first, last = np.searchsorted(self.rows, (start, start + len(bias)))
            inside = self.rows[first:last] - start
            G, bias, columns = G[inside], bias[inside], slice(int(first), int(last))
        np.subtract(bias, self.F[some] @ G.T, out=D[:, columns])

    def judge(self, D: Matrix, some: slice) -> tuple[Rows, Floats]:
        """The ten nearest of some queries, and their six scores."""
        judge_rows()  # compiled once, not by every thread
        parts = [slice(at, min(at + QUERIES_PER_PART, len(D))) for at in range(0, len(D), QUERIES_PER_PART)]

        def judge(part: slice) -> tuple[Rows, Floats]:
            these = slice(some.start + part.start, some.start + part.stop)
            return _judge(self.log, self.query_set, these, D[part], None if self.exact is None else self.exact[these])

        nearest, scores = zip(*in_parallel(judge, parts), strict=True)
        return np.concatenate(nearest), np.concatenate(scores)


def rank(
    log: ClickLog, query_set: QuerySet, F: Matrix, items: Items, exact: Rows | None
) -> Generator[float, None, tuple[Rows, Scores]]:
    """(ten nearest, scores) of queries F; yields the share done. Without `exact`, (queries, 10), recall is 1."""
    return (yield from rank_all(log.n_docs, items, [Search(log, query_set, F, exact)]))[0]


def rank_all(n: int, items: Items, searches: list[Search]) -> Generator[float, None, list[tuple[Rows, Scores]]]:
    """(ten nearest, scores) of each search among the same n coded documents; yields the share done."""
    results: list[list[tuple[Rows, Floats]]] = [[] for _ in searches]
    rounds = list(zip_longest(*(search.slices() for search in searches)))
    for number, slices in enumerate(rounds):
        held = [
            (search, some, np.empty((some.stop - some.start, search.log.n_docs), np.float32), parts)
            for search, some, parts in zip(searches, slices, results, strict=True)
            if some is not None
        ]

        def fill(start: int, held: "list[tuple[Search, slice, Matrix, Stored]]" = held) -> None:
            linear_form = items(start, min(start + ROWS_PER_BLOCK, n))
            for search, some, D, _ in held:
                search.fill(D, some, start, linear_form)

        for some_blocks in batches(range(0, n, ROWS_PER_BLOCK)):
            in_parallel(fill, some_blocks)
            yield (number + min(1.0, (some_blocks[-1] + ROWS_PER_BLOCK) / n)) / len(rounds)
        for search, some, D, parts in held:
            parts.append(search.judge(D, some))
        yield (number + 1) / len(rounds)
    return [
        (np.concatenate([ten for ten, _ in parts]), Scores(*np.concatenate([six for _, six in parts]).T))
        for parts in results
    ]


def _judge(log: ClickLog, query_set: QuerySet, some: slice, D: Matrix, exact: Rows | None) -> tuple[Rows, Floats]:
    """The ten nearest of some queries, and their six scores, (queries, 6)."""
    b, n = D.shape
    rows = query_set.queries[some]
    own = np.flatnonzero(rows < n)
    D[own, rows[own]] = np.inf  # no query finds itself
    for at, hidden in enumerate(query_set.hidden[some]):
        D[at, hidden] = np.inf
    answers = query_set.flags(some, n)
    answers[own, rows[own]] = 0
    counts = answers.sum(axis=1, dtype=np.int64)
    near = np.empty((b, min(RESCORED, n)), np.int64)
    scores = np.empty((b, 4))
    known = np.zeros((b, 0), np.int64) if exact is None else np.ascontiguousarray(exact)
    judge_rows()(D, answers, counts, known, DISCOUNT, log.labels is not None, near, scores)
    again = _rescore(log, rows, near, answers, counts)
    columns = scores[:, TRUTH], scores[:, NDCG], scores[:, RECALL], *again, scores[:, RESCORED_RECALL]
    return np.where(near < n, near, near[:, :1] % n)[:, : min(NEAREST, n - 1)], np.stack(columns, axis=1)


def _rescore(
    log: ClickLog, rows: Rows, near: Rows, answers: npt.NDArray[np.uint8], counts: Rows
) -> tuple[Floats, Floats]:
    """(truth, nDCG) when the nearest are sorted again by the float vectors."""
    listed = np.minimum(near, log.n_docs - 1)  # beyond: nothing is left to show
    right = np.take_along_axis(answers, listed, axis=1) * (near < log.n_docs)
    distances = np.empty(near.shape, np.float32)
    for at, (row, items) in enumerate(zip(rows, listed, strict=True)):
        X = log.docs[items]
        distances[at] = -(X @ log.X[row]) if log.metric == "dot" else ((X - log.X[row]) ** 2).sum(axis=1)
    distances[near >= log.n_docs] = np.inf
    first = np.take_along_axis(right, np.argsort(distances, axis=1, kind="stable"), axis=1)[:, :NEAREST]
    truth = first.sum(axis=1) / NEAREST if log.labels is not None else (first.sum(axis=1) > 0).astype(np.float64)
    best = np.concatenate([[0.0], np.cumsum(DISCOUNT)])[np.minimum(counts, NEAREST)]
    gain = first @ DISCOUNT[: first.shape[1]]
    return truth, np.divide(gain, best, out=np.zeros(len(gain)), where=best > 0)


def blocks(log: ClickLog, coder: Coder, stored: Stored | None = None) -> Items:
    """The documents as a coder gives them back: from its stored blocks, or encoded whenever they are needed."""

    def items(start: int, stop: int) -> Form:
        return coder.linear_form(
            coder.encode(log.docs[start:stop]) if stored is None else stored[start // ROWS_PER_BLOCK]
        )

    return items
