"""What is learnt from the clicks of one split: the adapter, click whitening's hash, and OH at several lengths.

OH sees unit vectors about the mean (documents and queries have their own), and starts from a random rotation, so that
without learning it is rotated sign. Its stream weaves clicks, in order of time, with sampled negatives: the query of a
click and a clicked document that it is not known to have clicked. C and the share of clicks are chosen on the
validation clicks, at one length for all. MMOH learns the same stream with the same choice.
"""

from collections.abc import Generator
from itertools import product
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ohash.advice.adapter import CHOICE_DOCS, Adapter, choose_adapter, fit_adapters, means
from ohash.advice.click_log import ClickLog, Matrix, Split, subsample
from ohash.advice.coders import BitCoder
from ohash.advice.params import AdviceOptions
from ohash.advice.scoring import blocks, rank
from ohash.core.arrays import Rows
from ohash.core.distances import normalize_rows
from ohash.models.online.mmoh import MMOH
from ohash.models.online.oh import OH
from ohash.models.quantizers.rotated import random_rotation
from ohash.number_formats import percent
from ohash.runtime.clock import working_seconds
from ohash.runtime.threads import run_side_by_side

STRENGTHS = (0.03, 0.3)  # C
SHARES = (0.1, 0.5)  # of clicks in the stream
CHOSEN_AT = 128  # bits
TRIED = 3  # the share 1 / TRIED of the pairs is learnt to choose
PAIRS_PER_STEP = 1000
Result = TypeVar("Result")


class Learning:
    """What has been learnt in one split; everything is learnt once, when it is first needed."""

    def __init__(self, log: ClickLog, split: Split, options: AdviceOptions) -> None:
        """Nothing is learnt yet."""
        self.log, self.split, self.options = log, split, options
        self.seconds: dict[str, float] = {}  # of training, by what was trained
        self._adapter: Adapter | None = None
        self._oh: dict[tuple[int, int], Matrix] = {}
        self._chosen: tuple[float, float] | None = None
        self._doc_mean, self._query_mean = means(log, split.query)

    def map_docs(self, X: Matrix) -> Matrix:
        """Unit vectors about the mean of the documents."""
        return np.asarray(normalize_rows(X - self._doc_mean), np.float32)

    def map_queries(self, X: Matrix) -> Matrix:
        """Unit vectors about the mean of the queries."""
        return np.asarray(normalize_rows(X - self._query_mean), np.float32)

    def adapter(self) -> Generator[float, None, Adapter]:
        """The linear adapter."""
        if self._adapter is None:
            self._adapter = yield from self._time("adapter", self._fit_adapter())
        return self._adapter

    def oh(self, r: int, T: int = 1) -> Generator[float, None, Matrix]:
        """W (d, r) of OH after its stream; with T > 1 of MMOH, its T models of r / T bits side by side."""
        if self._chosen is None:
            self._chosen = yield from self._time("choice", self._choose())
        if (r, T) not in self._oh:
            learn = self._learn(r, *self._chosen, self.options.pairs, T)
            self._oh[r, T] = yield from self._time(f"oh {r}" if T == 1 else f"mmoh {r}", learn)
        return self._oh[r, T]

    def whitening(self, r: int) -> Generator[float, None, Matrix]:
        """W (d, r) of click whitening: the adapter's first directions, rotated at random."""
        adapter = yield from self.adapter()
        k = min(r, self.log.d)
        rotation = random_rotation(k, r, np.random.default_rng(self.options.seed))
        return np.asarray(adapter.A[:, :k] @ rotation, np.float32)

    @property
    def settings(self) -> str:
        """What was chosen on the validation clicks, in words."""
        texts = []
        if self._adapter is not None:
            shrink = self._adapter.shrink
            texts.append("adapter: none" if shrink is None else f"adapter: γ = {shrink:g}")
        if self._chosen is not None:
            texts.append(f"OH: C = {self._chosen[0]:g}, {percent(self._chosen[1])} clicks")
        return "; ".join(texts)

    def _fit_adapter(self) -> Generator[float, None, Adapter]:
        adapters = fit_adapters(self.log, self.split.query, self.split.doc, (self._doc_mean, self._query_mean))
        yield 0.0
        return (yield from choose_adapter(self.log, self.split, adapters))

    def _choose(self) -> Generator[float, None, tuple[float, float]]:
        best, chosen = -1.0, (STRENGTHS[0], SHARES[0])
        r = min(CHOSEN_AT, 8 * self.log.d)
        small, query_set, _ = subsample(self.log, self.split.validation, CHOICE_DOCS)
        tried = list(product(STRENGTHS, SHARES)) if len(query_set) else []
        pairs = max(1, self.options.pairs // TRIED)
        learnt = yield from run_side_by_side([self._learn(r, C, share, pairs) for C, share in tried])
        for (C, share), W in zip(tried, learnt, strict=True):
            coder = BitCoder(W, self.map_docs, self.map_queries, asymmetric=True)
            _, scores = yield from rank(
                small, query_set, coder.query_vectors(small.X[query_set.queries]), blocks(small, coder), None
            )
            value = float(np.mean(scores.ndcg))
            if value > best:
                best, chosen = value, (C, share)
        return chosen

    def _learn(self, r: int, C: float, share: float, pairs: int, T: int = 1) -> Generator[float, None, Matrix]:
        rng = np.random.default_rng([self.options.seed, self.split.number, 0x0A])
        start = random_rotation(self.log.d, r, np.random.default_rng(self.options.seed)) * np.sqrt(self.log.d)
        starts = start.astype(np.float32).reshape(self.log.d, T, r // T).transpose(1, 0, 2)
        model: OH | MMOH = (
            OH(r=r, C=C, seed=self.options.seed, center="none", W=starts[0])
            if T == 1
            else MMOH(T=T, r=r // T, C=C, seed=self.options.seed, center="none", W=starts)
        )
        i, j, s = stream(self.split.query, self.split.doc, share, pairs, rng)
        for first in range(0, len(s), PAIRS_PER_STEP):
            some = slice(first, first + PAIRS_PER_STEP)
            queries, docs = self.map_queries(self.log.X[i[some]]), self.map_docs(self.log.X[j[some]])
            at = np.arange(len(queries))
            model.learn(np.concatenate([queries, docs]), at, at + len(at), s[some])
            yield first / len(s)
        return np.asarray(model.W if T == 1 else np.concatenate(model.W, axis=1), np.float32)

    def _time(self, name: str, work: Generator[float, None, Result]) -> Generator[float, None, Result]:
        """The work as it is; the seconds between its steps are noted, not those in which a viewer holds it still."""
        self.seconds[name] = 0.0
        while True:
            start = working_seconds()
            try:
                share = next(work)
            except StopIteration as end:
                value = end.value
                self.seconds[name] += working_seconds() - start
                return value  # type: ignore[no-any-return]
            self.seconds[name] += working_seconds() - start
            yield share


def stream(
    query: Rows, doc: Rows, share: float, pairs: int, rng: np.random.Generator
) -> tuple[Rows, Rows, npt.NDArray[np.int8]]:
    """Pairs (query row, document row, s): clicks in their order, as many as fit, and sampled negatives between them.

    >>> i, j, s = stream(np.array([8, 9]), np.array([1, 2]), 0.5, 6, np.random.default_rng(0))
    >>> i[s > 0].tolist(), j[s > 0].tolist(), set(zip(i[s < 0].tolist(), j[s < 0].tolist())) <= {(8, 2), (9, 1)}
    ([8, 9, 8], [1, 2, 1], True)
    """
    t = np.arange(pairs)
    due = np.floor((t + 1) * share) > np.floor(t * share)
    count = int(due.sum())
    at = (
        np.arange(count) % len(query) if count >= len(query) else np.linspace(0, len(query) - 1, count).astype(np.int64)
    )
    i, j, s = np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.where(due, 1, -1).astype(np.int8)
    i[due], j[due] = query[at], doc[at]
    size = np.int64(max(int(query.max()), int(doc.max())) + 1)
    known = np.unique(np.concatenate([query * size + doc, doc * size + query]))
    open_ = np.flatnonzero(~due)
    for _ in range(50):
        i[open_] = query[rng.integers(0, len(query), len(open_))]
        j[open_] = doc[rng.integers(0, len(doc), len(open_))]
        drawn = i[open_] * size + j[open_]
        place = np.minimum(np.searchsorted(known, drawn), len(known) - 1)
        clash = (known[place] == drawn) | (i[open_] == j[open_])
        open_ = open_[clash]
        if not len(open_):
            break
    kept = np.ones(pairs, bool)
    kept[open_] = False  # every document is a known click of the query: there is no negative
    return i[kept], j[kept], s[kept]
