"""Similar by a list of pairs: with s = ±1, or positives only (clicks) with sampled negatives.

Of two-sided data a pair is (query, document), and negatives are sampled among all documents; of one-sided data among
the items of the training part.

The list is split by time (or by its order): the first 80 % for training, the next 10 % for validation, the last 10 %
for the test. A result is about later clicks, as in production.

With `later_items` = "new" it is about items that come after training, too: a tenth of them each for validation and test
is held out, the last to appear in time, or, in a list without times, a seeded choice. What is learnt are the first 80 %
of the pairs without those that name an item held out; what is judged, the later pairs of items held out. Of two-sided
data queries are held out: documents are there before they are asked for.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Flags, Rows
from ohash.streams.annotations import PairList
from ohash.streams.dataset import Dataset
from ohash.streams.similarity.base import AT_ONCE, FEW_SIMILAR, MAX_DRAWS, RowPairs

TRAIN_SHARE = 0.8
VALIDATION_SHARE = 0.1
# The smallest share of positives in one pass over the clicks, so that a pass ends.
MIN_SHARE = 1e-6
LATER_ITEMS = ("any", "new")
# The share of the items held out for validation, and as many for the test.
HELD_OUT = 0.1


@dataclass(frozen=True)
class TimeSplit:
    """Positions in the list of given pairs, in time order."""

    train: Rows
    validation: Rows
    test: Rows


def split_by_time(pairs: PairList) -> TimeSplit:
    """First, next and last pairs."""
    order = np.arange(len(pairs)) if pairs.time is None else np.argsort(pairs.time, kind="stable")
    a, b = round(TRAIN_SHARE * len(order)), round((TRAIN_SHARE + VALIDATION_SHARE) * len(order))
    return TimeSplit(order[:a], order[a:b], order[b:])


def split_by_items(pairs: PairList, *, two_sided: bool) -> tuple[TimeSplit, dict[str, Rows]]:
    """The first pairs without items held out, and the later pairs of those; and the items held out for each part."""
    by_time = split_by_time(pairs)
    order = np.concatenate([by_time.train, by_time.validation, by_time.test])
    named = pairs.i[order] if two_sided else np.stack([pairs.i[order], pairs.j[order]], axis=1).ravel()
    items, first = np.unique(named, return_index=True)
    if pairs.time is None:
        items = np.random.default_rng(0).permutation(items)
    else:
        items = items[np.argsort(first, kind="stable")]  # as they appear
    count = max(1, round(HELD_OUT * len(items)))
    held = {"validation": np.sort(items[-2 * count : -count]), "test": np.sort(items[-count:])}
    later = np.concatenate([by_time.validation, by_time.test])

    def name(at: Rows, some: Rows) -> Flags:
        return np.isin(pairs.i[at], some) | (np.isin(pairs.j[at], some) if not two_sided else False)

    train = by_time.train[~name(by_time.train, np.concatenate(list(held.values())))]
    return TimeSplit(train, *(later[name(later, held[part])] for part in ("validation", "test"))), held


@dataclass
class PairListSimilarity:
    """Pairs of the training part, drawn with replacement; unlisted pairs count as dissimilar."""

    dataset: Dataset
    negatives: str = "uniform"
    later_items: str = "any"
    note: str = ""
    name: str = field(init=False)
    pool: Rows = field(init=False)

    def __post_init__(self) -> None:
        """Index the known positives; without given negatives they are sampled."""
        pairs = self.dataset.pairs
        if pairs is None:
            raise ValueError(f"similar_by='pairs' needs pairs, and {self.dataset.title} has none")
        if self.negatives not in ("uniform", "popularity"):
            raise ValueError(f"negatives must be 'uniform' or 'popularity', got {self.negatives!r}")
        self._held: dict[str, Rows] = {}
        if self.later_items == "new":
            self.parts, self._held = split_by_items(pairs, two_sided=self.dataset.two_sided)
        else:
            self.parts = split_by_time(pairs)
        train = self.parts.train
        s = np.ones(len(pairs), np.int8) if pairs.s is None else pairs.s
        self._positive = train[s[train] == 1]
        self._negative = train[s[train] == -1]
        if not len(self._positive):
            left = " without an item held out" if self._held else ""
            raise ValueError(f"pairs must hold similar ones (s = +1) among the first 80 %{left}, got none")
        self.name = "clicks" if pairs.s is None else "pairs"
        self._pairs, self._i, self._j, self._s = pairs, pairs.i, pairs.j, s
        # all known positives, also later ones: a sampled negative must not be one of them
        self._known = np.unique(self._keys(pairs.i[s == 1], pairs.j[s == 1]))
        others = self.dataset.documents if self.dataset.two_sided else pairs.j[train]
        self.pool = np.unique(np.concatenate([pairs.i[train], others]))
        self._candidates = others if self.dataset.two_sided else self.pool  # of negatives
        if not len(self._negative):
            clicks = f"{len(self._positive):,} click{'s' * (len(self._positive) != 1)} to learn from"
            self.note = f"{clicks}, drawn again if the stream goes on for longer; negatives sampled ({self.negatives})"
            clicked = [pairs.j[train]] if self.dataset.two_sided else [pairs.i[train], pairs.j[train]]
            items, counts = np.unique(np.concatenate(clicked), return_counts=True)
            self._items, self._popularity = items, np.cumsum(counts / counts.sum())
        if self._held:
            kind = "queries" if self.dataset.two_sided else "items"
            held = f"{len(self._held['test']):,} held out for the test"
            judged = f"judged on later pairs of {kind} that no training pair names, {held}"
            self.note += f"{'; ' if self.note else ''}{judged}"

    @property
    def natural_share(self) -> float:
        """As given; of clicks, how many of all pairs (of clicked items, or of a query and a document) were clicked."""
        n = len(self._positive) + len(self._negative)
        if len(self._negative):
            return len(self._positive) / n
        distinct = len(np.unique(self._keys(self._i[self._positive], self._j[self._positive])))
        if self.dataset.two_sided:
            asked = len(np.unique(self._i[self._positive]))
            return distinct / (asked * len(self._candidates))
        return distinct / (len(self.pool) * (len(self.pool) - 1) / 2)

    @property
    def mixed_share(self) -> float:
        """The share of similar pairs in a stream where the natural one is too small."""
        return 0.5 if len(self._negative) else FEW_SIMILAR

    def is_similar(self, i: Rows, j: Rows) -> Flags:
        """A known positive."""
        keys = self._keys(i, j)
        at = np.minimum(np.searchsorted(self._known, keys), len(self._known) - 1)
        return np.asarray(self._known[at] == keys)

    def draw_similar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """From the given positives."""
        at = self._positive[rng.integers(0, len(self._positive), size)]
        return self._i[at], self._j[at]

    def draw_dissimilar(self, rng: np.random.Generator, size: int) -> RowPairs:
        """From the given negatives, or sampled.

        Sampled: x_i as often as it occurs among the positives, x_j uniformly, or by popularity: then an item is a
        negative as often as a positive, and popularity alone tells the model nothing.
        """
        if len(self._negative):
            at = self._negative[rng.integers(0, len(self._negative), size)]
            return self._i[at], self._j[at]
        found_i, found_j, have, drawn = [], [], 0, 0
        while have < size:
            if drawn > MAX_DRAWS * max(1, have):
                raise ValueError("no negatives could be sampled: almost every pair of items is a known positive")
            count = max(64, 2 * size, min(drawn, AT_ONCE))
            i = self._i[self._positive[rng.integers(0, len(self._positive), count)]]
            if self.negatives == "popularity":
                at = np.searchsorted(self._popularity, rng.random(count), side="right")
                j = self._items[np.minimum(at, len(self._items) - 1)]
            else:
                j = self._candidates[rng.integers(0, len(self._candidates), count)]
            keep = np.flatnonzero((i != j) & ~self.is_similar(i, j))[: size - have]
            found_i.append(i[keep])
            found_j.append(j[keep])
            have += len(keep)
            drawn += count
        return np.concatenate(found_i), np.concatenate(found_j)

    def relevant(self, queries: Rows, database: Rows) -> Flags:
        """Known positives, also later ones, in either direction."""
        grid_i, grid_j = np.meshgrid(queries, database, indexing="ij")
        flat = self.is_similar(grid_i.ravel(), grid_j.ravel()) | self.is_similar(grid_j.ravel(), grid_i.ravel())
        return flat.reshape(len(queries), len(database))

    @property
    def has_negatives(self) -> bool:
        """Whether the list has dissimilar pairs, so that none are sampled."""
        return len(self._negative) > 0

    @property
    def listed_share(self) -> float:
        """The share of similar pairs among the training pairs."""
        return float((self._s[self.parts.train] > 0).mean())

    def take_in_order(self, rng: np.random.Generator, t: Rows, share: float) -> tuple[Rows, Rows, npt.NDArray[np.int8]]:
        """Pairs number t of the training part in time order, again and again.

        Sampled negatives are woven in evenly: pair t is the next positive whenever t · share passes an integer.
        """
        if self.has_negatives:
            at = self.parts.train[t % len(self.parts.train)]
            return self._i[at], self._j[at], self._s[at]
        due = np.floor((t + 1) * share) > np.floor(t * share)
        at = self._positive[np.floor(t * share).astype(np.int64) % len(self._positive)]
        i, j = self._i[at], self._j[at]
        if not due.all():
            i[~due], j[~due] = self.draw_dissimilar(rng, int((~due).sum()))
        return i, j, np.where(due, 1, -1).astype(np.int8)

    def pass_length(self, share: float) -> int:
        """The number of pairs until every training pair has occurred once."""
        if self.has_negatives:
            return len(self.parts.train)
        if share < MIN_SHARE:
            raise ValueError(
                f"similar_share must be at least {MIN_SHARE:g} with order='once' and sampled negatives, got {share:g}"
            )
        length = int(np.ceil(len(self._positive) / share)) - 1
        while np.floor(length * share) < len(self._positive):  # the rule of `take_in_order`, rounding included
            length += 1
        return length

    def later(self, part: str) -> RowPairs:
        """The positives of the "validation" or "test" part: what a user clicked afterwards.

        Of new items, the first of a pair is one: it asks.
        """
        at: Rows = getattr(self.parts, part)
        at = at[self._s[at] == 1]
        i, j = self._i[at], self._j[at]
        if part not in self._held:
            return i, j
        if not len(at):
            raise ValueError(
                f"no later pair names one of the {len(self._held[part]):,} items held out for {part}; use "
                "later_items='any', or more pairs"
            )
        new = np.isin(i, self._held[part])
        return np.where(new, i, j), np.where(new, j, i)

    def partners(self, rows: Rows) -> list[Rows]:
        """The rows similar to each row in the first 80 %, which are hidden from its search as known answers.

        Of two-sided data only documents are such answers.
        """
        first = split_by_time(self._pairs).train if self._held else self._positive
        i, j = (column[first[self._s[first] == 1]] for column in (self._i, self._j))
        if self.dataset.two_sided:
            return group_partners(rows, i, j)
        return group_partners(rows, np.concatenate([i, j]), np.concatenate([j, i]))

    def _keys(self, i: Rows, j: Rows) -> npt.NDArray[np.int64]:
        return np.asarray(np.minimum(i, j) * self.dataset.n + np.maximum(i, j))


def group_partners(rows: Rows, i: Rows, j: Rows) -> list[Rows]:
    """For each row the distinct j of its pairs (row, j), by one sort.

    >>> group_partners(np.array([1, 2, 5]), np.array([5, 1, 5, 5]), np.array([7, 8, 6, 7]))
    [array([8]), array([], dtype=int64), array([6, 7])]
    """
    order = np.argsort(i, kind="stable")
    first, last = np.searchsorted(i[order], rows, "left"), np.searchsorted(i[order], rows, "right")
    return [np.unique(j[order[a:b]]) for a, b in zip(first, last, strict=True)]
