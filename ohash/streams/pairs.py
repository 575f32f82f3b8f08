"""`pair_stream`: endless, seeded pairs, drawn in fixed blocks from a counter-based generator.

Block b is a function of (seed, b) alone. Batch size, pace and pauses never change the pairs, and any pair can be drawn
again without its predecessors: replay and resume need only a position.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Rows
from ohash.core.parameters import param, validate
from ohash.streams.data_split import split
from ohash.streams.dataset import Dataset
from ohash.streams.similarity import NAMES, TOP_K, make_similarity
from ohash.streams.similarity.base import MIN_NATURAL_SHARE, Similarity, draw_uniform_pairs, stream_share
from ohash.streams.similarity.pair_list import LATER_ITEMS, PairListSimilarity

BLOCK_PAIRS = 1024
ORDERS = ("shuffled", "class", "time", "once")
# Partners tried, in rounds, for an arriving point that should get a similar (or dissimilar) one.
TRIES = (16, 64, 256)
RESHUFFLES = 50
KEPT_BLOCKS = 4

Pairs = tuple[Rows, Rows, npt.NDArray[np.int8]]


@dataclass(frozen=True)
class StreamParams:
    """How pairs are drawn."""

    similar_by: str = param(
        "auto", symbol="s", title="similarity", choices=NAMES,
        help="What makes two points similar: a shared label, one track, distance, or your own pairs.", eq="Sec. III-A",
    )  # fmt: skip
    similar_share: float = param(
        -1.0, symbol="P(s=1)", title="share of similar pairs", lo=-1, hi=0.99, slider=(0.05, 0.95), step=0.05,
        alias="natural",
        help="Share of similar pairs; natural (-1) = as drawn where that is at least 5 %, else 50 % (clicks and "
        "nearest neighbours: 10 %).",
    )  # fmt: skip
    order: str = param(
        "shuffled", symbol="t", title="order", choices=ORDERS,
        help="shuffled: any pair at any time. class: classes arrive one after another. time: points arrive in time "
        "order. once: every point is used once, then the stream ends.",
    )  # fmt: skip
    noise: float = param(
        0.0, symbol="ε", title="wrong labels", lo=0, hi=0.5, slider=(0, 0.5), step=0.01,
        help="Share of pairs whose s is flipped.",
    )  # fmt: skip
    period: int = param(
        2000, symbol="", title="pairs per class", lo=1, hi=10**9, slider=(100, 100_000), scale="log",
        help="With order 'class': a new class arrives every so many pairs. With 'time': the size of the window of "
        "recent points that a new point is paired with.",
        active_if=("order", "class", "time"),
    )  # fmt: skip
    negatives: str = param(
        "uniform", symbol="", title="negatives", choices=("uniform", "popularity"),
        help="Clicks only: how the dissimilar partner is sampled.", active_if=("similar_by", "auto", "clicks"),
    )  # fmt: skip
    top_k: int = param(
        TOP_K, symbol="k", title="neighbours", lo=1, hi=100_000, slider=(1, 500), scale="log",
        help="With similarity 'topk': how many nearest neighbours are similar.",
        active_if=("similar_by", "auto", "topk"),
    )  # fmt: skip
    later_items: str = param(
        "any", symbol="", title="judged items", choices=LATER_ITEMS,
        help="Clicks and pairs only. any: later pairs of all items. new: later pairs of items that no training pair "
        "names, as they come into production; a tenth of the items each for validation and test is held out.",
        active_if=("similar_by", "auto", "clicks", "pairs"),
    )  # fmt: skip
    train: str = param(
        "database", symbol="", title="training items", choices=("database", "disjoint"),
        help="database: train on the items that are searched, as in the paper. disjoint: on others.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Validate."""
        validate(self)
        if -1 < self.similar_share < 0:
            raise ValueError(
                f"similar_share must be a share in [0, 0.99], or -1 for the natural one, got {self.similar_share:g}"
            )
        if self.order == "class" and self.similar_by not in ("auto", "label", "track"):
            raise ValueError(f"order='class' needs similar_by='label' or 'track', got {self.similar_by!r}")


class PairStream:
    """Pairs by position, with `take(start, stop)`; `length` is None for an endless stream."""

    def __init__(self, source: Similarity, params: StreamParams, seed: int, dataset: Dataset) -> None:
        """Prepare; nothing is drawn yet."""
        self.similarity = source
        self.params = params
        self.seed = seed
        self.natural_share = source.natural_share
        natural = params.similar_share < 0 and self.natural_share >= MIN_NATURAL_SHARE
        self.similar_share = stream_share(source, params.similar_share)
        if isinstance(source, PairListSimilarity) and params.order in ("time", "once") and source.has_negatives:
            self.similar_share = source.listed_share  # pairs come in the order given
        # natural pairs are drawn uniformly, except where unlisted pairs have no known similarity
        self._draws_uniformly = natural and not isinstance(source, PairListSimilarity)
        self.length: int | None = None
        self._blocks: dict[int, Pairs] = {}  # the latest; replaced, never changed: threads of other runs share it
        if params.order == "class":
            classes = _classes(dataset, source)
            self._first_rows = np.array([rows[0] for rows in classes])
            self._members = np.concatenate(classes)
            self._size = np.array([len(rows) for rows in classes])
            self._start = np.cumsum(self._size) - self._size
        elif isinstance(source, PairListSimilarity):
            if params.order == "once":
                self.length = source.pass_length(self.similar_share)
        elif params.order == "time":
            self._arrival = source.pool
            if dataset.time is not None:
                self._arrival = source.pool[np.argsort(dataset.time[source.pool], kind="stable")]
        elif params.order == "once":
            self._all = self._one_pass()
            self.length = len(self._all[0])

    def take(self, start: int, stop: int) -> Pairs:
        """Pairs from start to stop, fewer at the end of a finite stream."""
        if not 0 <= start <= stop:
            raise ValueError(f"take needs 0 <= start <= stop, got {start} and {stop}")
        if self.length is not None:
            stop = min(stop, self.length)
        parts = [self._block(b) for b in range(start // BLOCK_PAIRS, -(-stop // BLOCK_PAIRS))]
        if not parts or start >= stop:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int8)
        offset = start // BLOCK_PAIRS * BLOCK_PAIRS
        i, j, s = (np.concatenate(columns)[start - offset : stop - offset] for columns in zip(*parts, strict=True))
        return i, j, s

    def arrivals(self, rows: Rows) -> npt.NDArray[np.float64]:
        """With order 'class': the pair at which the class of each row joins the stream; infinite if it never does."""
        if self.params.order != "class":
            raise ValueError(f"classes arrive only with order='class', got {self.params.order!r}")
        groups: npt.NDArray[np.int64] = self.similarity.groups  # type: ignore[attr-defined]
        joins = np.maximum(0, np.arange(len(self._first_rows)) - 1) * self.params.period
        of_group = dict(zip(groups[self._first_rows].tolist(), joins.tolist(), strict=True))
        return np.array([of_group.get(group, np.inf) for group in groups[rows].tolist()])

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """One pair after another."""
        at = 0
        while self.length is None or at < self.length:
            for i, j, s in zip(*self.take(at, at + BLOCK_PAIRS), strict=True):
                yield int(i), int(j), int(s)
            at += BLOCK_PAIRS

    def _block(self, b: int) -> Pairs:
        blocks = self._blocks
        if b in blocks:
            return blocks[b]
        rng = np.random.Generator(np.random.Philox(key=[self.seed, 0x9A125], counter=[0, 0, 0, b]))
        if isinstance(self.similarity, PairListSimilarity) and self.params.order in ("time", "once"):
            i, j, s = self.similarity.take_in_order(
                rng, np.arange(b * BLOCK_PAIRS, (b + 1) * BLOCK_PAIRS), self.similar_share
            )
        elif self.params.order == "once":
            at = slice(b * BLOCK_PAIRS, (b + 1) * BLOCK_PAIRS)
            i, j, s = self._all[0][at], self._all[1][at], self._all[2][at]
        elif self.params.order == "class":
            i, j, s = self._class_block(rng, b)
        elif self.params.order == "time":
            i, j, s = self._time_block(rng, b)
        elif self._draws_uniformly:
            i, j = draw_uniform_pairs(rng, self.similarity.pool, BLOCK_PAIRS)
            s = np.where(self.similarity.is_similar(i, j), 1, -1).astype(np.int8)
        else:
            i, j, s = self._mix(rng)
        if self.params.noise > 0:
            s = np.where(rng.random(len(s)) < self.params.noise, -s, s).astype(np.int8)
        self._blocks = {**dict(list(blocks.items())[1 - KEPT_BLOCKS :]), b: (i, j, s)}
        return i, j, s

    def _mix(self, rng: np.random.Generator) -> Pairs:
        similar = rng.random(BLOCK_PAIRS) < self.similar_share
        count = int(similar.sum())
        i, j = np.empty(BLOCK_PAIRS, np.int64), np.empty(BLOCK_PAIRS, np.int64)
        if count:
            i[similar], j[similar] = self.similarity.draw_similar(rng, count)
        if count < BLOCK_PAIRS:
            i[~similar], j[~similar] = self.similarity.draw_dissimilar(rng, BLOCK_PAIRS - count)
        return i, j, np.where(similar, 1, -1).astype(np.int8)

    def _class_block(self, rng: np.random.Generator, b: int) -> Pairs:
        """Class c joins at pair (c - 1) · period; two classes are present from the start."""
        t = np.arange(b * BLOCK_PAIRS, (b + 1) * BLOCK_PAIRS)
        classes = np.minimum(len(self._size), 2 + t // self.params.period)
        similar = rng.random(BLOCK_PAIRS) < self.similar_share
        first = rng.integers(0, classes)
        other = rng.integers(0, classes - 1)
        second = np.where(similar, first, other + (other >= first))
        at = (rng.random(BLOCK_PAIRS) * self._size[first]).astype(np.int64)
        to = (rng.random(BLOCK_PAIRS) * (self._size[second] - similar)).astype(np.int64)
        to += similar & (to >= at)
        i, j = self._members[self._start[first] + at], self._members[self._start[second] + to]
        return i, j, np.where(similar, 1, -1).astype(np.int8)

    def _time_block(self, rng: np.random.Generator, b: int) -> Pairs:
        """Point t + 1 arrives and is paired with one of the `period` points before it, if possible of the due kind."""
        n = len(self._arrival)
        t = np.arange(b * BLOCK_PAIRS + 1, (b + 1) * BLOCK_PAIRS + 1)
        window = np.minimum(min(self.params.period, n - 1), t)  # few points have arrived at first
        i, j = self._arrival[t % n], np.empty(BLOCK_PAIRS, np.int64)
        due = rng.random(BLOCK_PAIRS) < self.similar_share
        similar = np.empty(BLOCK_PAIRS, dtype=bool)
        open_ = np.arange(BLOCK_PAIRS)
        for tries in (1,) if self._draws_uniformly else TRIES:
            back = rng.integers(1, window[open_, None] + 1, (len(open_), tries))
            partners = self._arrival[(t[open_, None] - back) % n]
            kind = self.similarity.is_similar(np.repeat(i[open_], tries), partners.ravel()).reshape(-1, tries)
            fits = kind == due[open_, None]
            pick = fits.argmax(axis=1)[:, None]  # the first one if none fits
            j[open_] = np.take_along_axis(partners, pick, 1)[:, 0]
            similar[open_] = np.take_along_axis(kind, pick, 1)[:, 0]
            open_ = open_[~fits.any(axis=1)]
            if not len(open_):
                break
        return i, j, np.where(similar, 1, -1).astype(np.int8)

    def _one_pass(self) -> Pairs:
        """Every point at most once. At a given share, similar pairs are formed first, dissimilar ones from the rest."""
        rng = np.random.Generator(np.random.Philox(key=[self.seed, 0x0CCE]))
        pool = rng.permutation(self.similarity.pool)
        groups = getattr(self.similarity, "groups", None)
        if self._draws_uniformly or groups is None:
            if not self._draws_uniformly and self.params.similar_share >= 0:
                raise ValueError(
                    "order='once' takes a share of similar pairs only for labels and tracks; leave similar_share at -1 "
                    "(natural)"
                )
            self.similar_share = self.natural_share
            couples = pool[: len(pool) // 2 * 2].reshape(-1, 2)
        else:
            couples = _disjoint_pairs(rng, pool, groups, self.similar_share)
        i, j = couples[:, 0], couples[:, 1]
        return i, j, np.where(self.similarity.is_similar(i, j), 1, -1).astype(np.int8)


def pair_stream(
    dataset: Dataset,
    similar_share: float | None = None,
    order: str = "shuffled",
    noise: float = 0.0,
    seed: int = 0,
    *,
    similar_by: str = "auto",
    **more: object,
) -> PairStream:
    """The stream of a dataset, split with the same seed; `more` are further fields of `StreamParams`.

    >>> from ohash.streams.registry import load_by_key
    >>> stream = pair_stream(load_by_key("digits"), seed=3)
    >>> i, j, s = stream.take(0, 5)
    >>> bool((i != j).all()), sorted(set(s.tolist()) - {-1, 1})
    (True, [])
    """
    share = -1.0 if similar_share is None else similar_share
    params = StreamParams(similar_by=similar_by, similar_share=share, order=order, noise=noise, **more)  # type: ignore[arg-type]
    return make_stream(dataset, params, seed)


def make_stream(dataset: Dataset, params: StreamParams, seed: int) -> PairStream:
    """The stream that `params` describe."""
    parts = split(dataset, seed, train=params.train)
    source = make_similarity(
        dataset, parts, params.similar_by,
        negatives=params.negatives, top_k=params.top_k, later_items=params.later_items,
    )  # fmt: skip
    return PairStream(source, params, seed, dataset)


def _classes(dataset: Dataset, source: Similarity) -> list[Rows]:
    groups = getattr(source, "groups", None)
    if groups is None:
        raise ValueError("order='class' needs similar_by='label' or 'track' with one label per point")
    classes = [source.pool[groups[source.pool] == c] for c in np.unique(groups[source.pool])]
    classes = [rows for rows in classes if len(rows) > 1]
    if len(classes) < 2:
        raise ValueError(
            f"order='class' needs 2 classes with at least 2 points each, {dataset.title} has {len(classes)}"
        )
    return classes


def _disjoint_pairs(rng: np.random.Generator, pool: Rows, groups: npt.NDArray[np.int64], share: float) -> Rows:
    """Disjoint pairs of the pool, (n, 2), a `share` of them within a group, in random order."""
    by_group = pool[np.argsort(groups[pool], kind="stable")]
    _, start, size = np.unique(groups[by_group], return_index=True, return_counts=True)
    place = np.arange(len(pool)) - np.repeat(start, size)
    first = np.flatnonzero((place % 2 == 0) & (place + 1 < np.repeat(size, size)))
    first = rng.permutation(first)[: round(share * len(pool) / 2)]
    used = np.zeros(len(pool), dtype=bool)
    used[first] = used[first + 1] = True
    similar = np.stack([by_group[first], by_group[first + 1]], axis=1)
    rest = rng.permutation(by_group[~used])
    dissimilar = rest[: len(rest) // 2 * 2].reshape(-1, 2)
    for _ in range(RESHUFFLES):  # pairs within a group swap partners with each other and with some that fit
        bad = groups[dissimilar[:, 0]] == groups[dissimilar[:, 1]]
        if not bad.any():
            break
        mixed = np.flatnonzero(bad | (rng.random(len(dissimilar)) < bad.mean()))
        dissimilar[mixed, 1] = rng.permutation(dissimilar[mixed, 1])
    dissimilar = dissimilar[groups[dissimilar[:, 0]] != groups[dissimilar[:, 1]]]
    if share > 0:  # if one kind runs short, the other is cut to keep the share
        dissimilar = dissimilar[: round(len(similar) * (1 - share) / share)]
    similar = similar[: round(len(dissimilar) * share / (1 - share))]
    return rng.permutation(np.concatenate([similar, dissimilar]))
