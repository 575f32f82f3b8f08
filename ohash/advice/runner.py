"""The background thread of an answer: contenders in turn, the decisive ones first, so that an early answer exists.

First the float vectors, RaBitQ, the adapter and OH in the split that learns from most clicks; then these in the other
splits; then everybody else; last, the chosen learnt contender with half of the clicks. An error of one contender is
shown next to its name and does not stop the others.
"""

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace

import numpy as np

from ohash.advice.adapter import CHOICE_DOCS
from ohash.advice.click_log import ClickLog, QuerySet, Split, click_log, splits, subsample
from ohash.advice.coders import Coder, Stored
from ohash.advice.contenders import Contender, contenders
from ohash.advice.faiss_latency import NoIndexError, faiss_search
from ohash.advice.learning import Learning
from ohash.advice.params import AdviceParams
from ohash.advice.results import AdviceSnapshot, ContenderEntry, ContenderResult
from ohash.advice.scoring import ROWS_PER_BLOCK, Search, blocks, rank_all
from ohash.advice.verdict import WAITING, Verdict, best_learnt, verdict
from ohash.core.arrays import Rows
from ohash.engine.params import OWN
from ohash.runtime.background import Background
from ohash.runtime.clock import working_seconds
from ohash.runtime.threads import batches, in_parallel, one_blas_thread
from ohash.streams.dataset import Dataset
from ohash.streams.registry import load_by_key

PUBLISH_SECONDS = 0.2
TIMED_CALLS = 10
OVER = object()


class AdviceRunner(Background):
    """One answer in the making; `snapshot` always returns its latest state."""

    def __init__(self, params: AdviceParams, dataset: Dataset | None = None, *, paused: bool = False) -> None:
        """Nothing happens before `start`; `dataset` is the user's own data, if the question is about them."""
        super().__init__(f"ohash-advise-{params.key()}", paused=paused)
        self.params, self._dataset = params, dataset
        self._snapshot = AdviceSnapshot(params)
        self._answer: tuple[tuple[int, int, bool] | None, Verdict] = None, WAITING
        self._measured: list[ContenderResult] = []
        self._half: list[ContenderResult] = []
        self._errors: dict[str, str] = {}
        self._exact: dict[int, Rows] = {}
        self._fewer: dict[int, tuple[ClickLog, QuerySet, Rows]] = {}
        self._codes: dict[tuple[str, int], tuple[Stored, float]] = {}
        self._kept: dict[str, tuple[Coder, Stored, float, float, float]] = {}
        self._engine: dict[str, tuple[float, str]] = {}
        self._done, self._tasks, self._part, self._activity = 0, 1, 0.0, "reading the data"
        self._since, self._published = time.monotonic(), 0.0

    def snapshot(self) -> AdviceSnapshot:
        """The latest state."""
        return self._snapshot

    def answer(self) -> Verdict:
        """The verdict on the latest snapshot, computed once per new result."""
        now = self._snapshot
        size = len(now.measured), len(now.half), now.state == "done"
        if self._answer[0] != size:
            self._answer = size, verdict(now)
        return self._answer[1]

    def _work(self) -> Iterator[None]:
        """In parallel where that pays, and else on one BLAS thread: a second one would mostly wait."""
        steps = self._steps()
        while True:
            with one_blas_thread():
                if next(steps, OVER) is OVER:
                    return
            yield

    def _steps(self) -> Iterator[None]:
        self._since = time.monotonic()
        dataset = self._dataset if self._dataset is not None else load_by_key(self.params.dataset)
        yield
        log = click_log(dataset)
        yield
        options = self.params.options
        parts = splits(log, options.splits, options.queries, options.seed)
        all_contenders = contenders(log)
        learnings = {split.number: Learning(log, split, options) for split in parts}
        answers = {doc for split in parts for docs in split.test.answers for doc in docs.tolist()}
        self._snapshot = replace(
            self._snapshot, title=log.title, n=log.n_docs, d=log.d, source=log.source, truth=log.truth,
            clicks=len(log.query) if log.labels is None else len(parts[0].query), timed=log.timed, splits=len(parts),
            disjoint=all(split.disjoint for split in parts),
            contenders=tuple(ContenderEntry(one.key, one.title, one.kind, one.bits) for one in all_contenders),
            numbers=tuple(split.number for split in parts), queries=tuple(split.test.queries for split in parts),
            answers=len(answers), note=_note(dataset),
        )  # fmt: skip
        first = [one for one in all_contenders if one.first]
        rest = [one for one in all_contenders if not one.first]
        tasks = [(one, split) for split in parts for one in first] + [(one, split) for one in rest for split in parts]
        self._tasks = len(tasks) + len(parts)
        for contender, split in tasks:
            self._activity, self._part = f"{contender.title}, split {len(parts) - split.number} of {len(parts)}", 0.0
            try:
                yield from self._progress(self._measure(log, contender, split, learnings[split.number]))
            except ValueError as error:
                self._errors[contender.title] = str(error)
            self._done, self._part = self._done + 1, 0.0
            if split is parts[-1]:
                self._kept.pop(contender.key, None)
            self._publish(last=True)
        yield from self._measure_with_half(log, all_contenders, parts)

    def _measure_with_half(self, log: ClickLog, all_contenders: list[Contender], parts: list[Split]) -> Iterator[None]:
        """The chosen learnt contender again, with every second click."""
        key = best_learnt(self._snapshot)
        contender = next((one for one in all_contenders if one.key == key), None)
        for split in parts if contender is not None else ():
            assert contender is not None
            self._activity, self._part = f"{contender.title} with half of the {self._snapshot.pairs_text}", 0.0
            fewer = replace(split, query=split.query[::2], doc=split.doc[::2])
            learning = Learning(log, fewer, self.params.options)
            yield from self._progress(self._measure(log, contender, fewer, learning, half=True))
            self._done, self._part = self._done + 1, 0.0

    def _measure(
        self, log: ClickLog, contender: Contender, split: Split, learning: Learning, *, half: bool = False
    ) -> Generator[float, None, None]:
        """Fit, encode, time and judge one contender in one split."""
        kept = self._kept.get(contender.key)
        if kept is None:
            since = working_seconds()
            coder = yield from contender.make(learning)
            train = working_seconds() - since
            if contender.trained:
                train = sum(learning.seconds.get(name, 0.0) for name in contender.trained)
            stored, encode = yield from self._encode(log, coder, "" if half else contender.codes, split.number)
            kept = coder, stored, train, encode, _query_seconds(log, coder, stored, split.test.queries)
            if contender.kind == "free" or contender.key == "float":
                self._kept[contender.key] = kept
        coder, stored, train, encode, query = kept
        if contender.key not in self._engine:  # the same in every split
            yield 0.0
            self._engine[contender.key] = _engine_seconds(log, coder, stored, split.test.queries)
        F = coder.query_vectors(log.X[split.test.queries])
        searches = [Search(log, split.test, F, self._exact.get(split.number)), *self._validation(log, split, coder)]
        (nearest, scores), *validated = yield from rank_all(log.n_docs, blocks(log, coder, stored), searches)
        validation = float(np.mean(validated[0][1].truth)) if validated else float("nan")
        if contender.key == "float":
            self._exact[split.number] = nearest
        settings = learning.settings if contender.kind == "learnt" else ""
        results = ContenderResult(
            contender.key, split.number, coder.bytes, scores, validation, train, encode, query,
            *self._engine[contender.key], settings,
        )  # fmt: skip
        (self._half if half else self._measured).append(results)

    def _validation(self, log: ClickLog, split: Split, coder: Coder) -> list[Search]:
        """The validation clicks, searched among fewer documents, if there are any."""
        if split.number not in self._fewer:
            self._fewer[split.number] = subsample(log, split.validation, CHOICE_DOCS)
        small, query_set, rows = self._fewer[split.number]
        return (
            [Search(small, query_set, coder.query_vectors(small.X[query_set.queries]), None, rows)]
            if len(query_set)
            else []
        )

    def _encode(
        self, log: ClickLog, coder: Coder, codes: str, split: int
    ) -> Generator[float, None, tuple[Stored, float]]:
        """All documents, and the seconds; the second of two contenders with the same codes takes those of the first."""
        if (codes, split) in self._codes:
            return self._codes.pop((codes, split))
        stored, seconds = [], 0.0
        for starts in batches(range(0, log.n_docs, ROWS_PER_BLOCK)):
            since = working_seconds()
            stored += in_parallel(lambda start: coder.encode(log.docs[start : start + ROWS_PER_BLOCK]), starts)
            seconds += working_seconds() - since
            yield 0.0
        if codes:
            self._codes[codes, split] = stored, seconds
        return stored, seconds

    def _progress(self, work: Generator[float, None, None]) -> Iterator[None]:
        for share in work:
            self._part = max(self._part, share)  # a contender is made, then judged: the share begins twice
            yield

    def _publish(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if not last and now - self._published < PUBLISH_SECONDS and self.state == self._snapshot.state:
            return
        self._published = now
        finished = self.state == "done"
        self._snapshot = replace(
            self._snapshot, state=self.state, measured=tuple(self._measured), half=tuple(self._half),
            errors=dict(self._errors), activity="" if finished else self._activity, seconds=now - self._since,
            share=1.0 if finished else min(0.999, (self._done + self._part) / self._tasks),
        )  # fmt: skip


def _note(dataset: Dataset) -> str:
    """What a reader must know about a user's own data, and which labels are left aside."""
    unused = dataset.pairs is not None and dataset.labels is not None
    notes = dataset.note if dataset.key == OWN else "", "labels are not used, because there are clicks" * unused
    return "; ".join(text for text in notes if text)


def _query_seconds(log: ClickLog, coder: Coder, stored: Stored, queries: Rows) -> float:
    """The median time of one query on one thread, scaled from one block to all documents."""
    return _median_seconds(log, coder.searcher(stored[0], log.X[queries[:TIMED_CALLS]]))


def _engine_seconds(log: ClickLog, coder: Coder, stored: Stored, queries: Rows) -> tuple[float, str]:
    """The median time of one query in faiss, and the name of its index; NaN and the reason without one."""
    try:
        index = faiss_search(coder, stored[0], log.docs[:ROWS_PER_BLOCK], log.X[queries[:TIMED_CALLS]])
    except NoIndexError as reason:
        return float("nan"), str(reason)
    return _median_seconds(log, index.search), index.name


def _median_seconds(log: ClickLog, search: Callable[[int], object]) -> float:
    rows = min(ROWS_PER_BLOCK, log.n_docs)
    seconds = []
    with one_blas_thread():
        search(0)
        for k in range(TIMED_CALLS):
            since = time.perf_counter()
            search(k)
            seconds.append(time.perf_counter() - since)
    return float(np.median(seconds)) * log.n_docs / rows
