"""Both ways to search one set of codes, on words and keys: no checks, no choice.

What is found comes as values key << 32 | row, rising: `scan_kernels` says what a key is.

Scan or look-ups: which is cheaper is counted, not guessed.

A scan passes every word of every item, one after another. A look-up and a row met in a table are accesses to memory all
over the place, each as dear as passing some tens of items; how many it takes depends on the radius that holds the k-th
neighbour, which only the data know. So the first queries are scanned, and their k-th distance says how much work
look-ups would have been. The tables are filled once what they save would pay for them.

The numbers are nanoseconds on one core of an ARM Neoverse N1; ``python3 -m ohash bench index`` prints them for the
machine it runs on, and how often the choice was right. Only their ratios matter, and those differ little.
"""

import math
import threading
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.evaluation.hamming_kernels import SUM
from ohash.index.bit_words import Words
from ohash.index.multi_index import Expected, MultiIndex
from ohash.index.multi_index_kernels import LEVEL, ask_tables
from ohash.index.scan import CHUNK, scan_nearest, scan_within

SCAN = 0.9  # an item passed, for each word of 64 bits; and once more where a chunk holds one of the k nearest so far
LOOKUP = 30.0  # a value looked up
ROW_COST = 8.0  # a row met under a value
ITEM_NEAR, ITEM_FAR = 20.0, 40.0  # a row met for the first time, and measured: with codes in the cache or beyond it
CACHE = 2**25  # bytes
BUILD = 20.0  # a row put into a table
FEW = 4096  # items too few for tables
PILOTS = 4  # queries that are scanned to learn how far neighbours lie
MARGIN = 0.8  # look-ups must cost at most this share of a scan


@dataclass(frozen=True)
class Costs:
    """What things cost in one index of n items with so many words each (over all models) and tables to be filled."""

    n: int
    words: int
    tables: int

    def scan(self, k: int) -> float:
        """One query that passes all items; k = 0 for a radius.

        Among the first c chunks the last holds one of the k nearest with chance min(1, k/c), and is passed twice.
        """
        chunks = self.n / CHUNK
        twice = k * (1 + math.log(max(chunks / k, 1))) if k else 0.0
        return SCAN * (self.n * self.words + min(twice, chunks) * CHUNK)

    @property
    def build(self) -> float:
        """Filling the tables that are not filled."""
        return BUILD * self.n * self.tables

    @property
    def item(self) -> float:
        """An item measured."""
        return ITEM_NEAR if 8 * self.n * self.words <= CACHE else ITEM_FAR

    def lookups(self, values: float, rows: float, items: float) -> float:
        """One query that looks up so many values, meets so many rows, and measures so many items."""
        return LOOKUP * values + ROW_COST * rows + self.item * items

    def limits(self, k: int) -> npt.NDArray[np.float64]:
        """Of a look-up, a row, an item, and a whole query: beyond the cost of a scan it is scanned after all."""
        return np.array([LOOKUP, ROW_COST, self.item, self.scan(k)])


UNLIMITED = np.array([1.0, 1.0, 1.0, np.inf])

Values = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

TAIL = 0.1  # share of the rows that are scanned beside the tables before the tables take them in
GROWTH = 1.5
ROOM = 1024  # rows of a ball that are expected at first


class Engine:
    """Words (T, words, capacity) of n items, and their tables once they are wanted."""

    def __init__(self, words: Words, r: int) -> None:
        """Take the words as they are."""
        self.words, self.n, self.r = words, words.shape[2], r
        self._tables: MultiIndex | None = None
        self._lock = threading.Lock()

    @property
    def costs(self) -> Costs:
        """What things cost here."""
        T, W, _ = self.words.shape
        tables = self._planned()
        return Costs(self.n, T * W, int(tables.stale.sum()))

    @property
    def nbytes(self) -> int:
        """Memory of codes and tables."""
        return self.words.nbytes + (0 if self._tables is None else self._tables.nbytes)

    @property
    def cut(self) -> str:
        """How codes are cut, in words."""
        lengths = sorted({int(length) for length in self._planned().parts[:, 2]})
        return f"{len(self._planned().parts)} tables of {' to '.join(map(str, lengths))} bits"

    # -- searching ---------------------------------------------------------------------------------------------------

    def scan(self, queries: Words, rule: int, step: int, k: int) -> Values:
        """The k nearest of every query (b, T, words), by passing all items."""
        found = np.empty((len(queries), k), np.int64)
        scan_nearest()(queries, self.words, self.n, rule, step, found)
        found.sort(axis=1)
        return found

    def look_up(self, queries: Words, rule: int, step: int, k: int, limits: Floats) -> tuple[Values, Values]:
        """(the k nearest of every query, the work of each); where the work reached its limit nothing was found."""
        found, work = np.empty((len(queries), k), np.int64), np.empty((len(queries), 4), np.int64)
        self._ask(queries, rule, step, limits, found, 0, 0, np.empty(0, np.int64), work)
        found.sort(axis=1)
        return found, work

    def scan_ball(self, query: Words, rule: int, step: int, radius: int) -> Values:
        """All within the radius of one query (T, words), by passing all items."""
        listed = self._scan_ball(query, rule, step, radius, 0)
        listed.sort()
        return listed

    def look_up_ball(
        self, query: Words, rule: int, step: int, radius: int, limits: Floats
    ) -> tuple[Values | None, Values]:
        """(all within the radius of one query, the work); None where the work reached its limit."""
        room, none, work = ROOM, np.empty((1, 0), np.int64), np.empty((1, 4), np.int64)
        while True:
            listed = np.empty(room, np.int64)
            count = self._ask(query[None], rule, step, limits, none, radius, (radius + 1) * step, listed, work)
            if work[0, LEVEL] < 0:
                return None, work
            if count <= room:
                break
            room = count
        tail = self._scan_ball(query, rule, step, radius, self._planned().n)
        found = np.concatenate([listed[:count], tail])
        found.sort()
        return found, work

    def expected(self, query: Words, rule: int, radius: int) -> Expected:
        """What look-ups would have to do for one query (T, words) whose answer lies within `radius`."""
        return self._planned().expected(self.words, query, radius, rule == SUM)

    def _scan_ball(self, query: Words, rule: int, step: int, radius: int, start: int) -> Values:
        room = ROOM
        while True:
            listed = np.empty(room, np.int64)
            count = scan_within()(query, self.words, start, self.n, rule, step, (radius + 1) * step, listed)
            if count <= room:
                return listed[:count]
            room = count

    def _ask(
        self, queries: Words, rule: int, step: int, limits: Floats, found: Values, radius: int, limit: int,
        listed: Values, work: Values,
    ) -> int:  # fmt: skip
        with self._lock:  # another thread may be filling them
            tables = self._planned()
            tables.fill(self.words)
        return ask_tables()(
            queries, self.words, self.n, tables.n, rule, step, tables.parts, tables.group(rule == SUM), tables.offsets,
            tables.rows, limits, found, radius, limit, listed, work,
        )  # fmt: skip

    def _planned(self) -> MultiIndex:
        """The tables, filled or not; new ones if they lack too many rows."""
        if self._tables is None or self.n - self._tables.n > TAIL * self.n:
            self._tables = MultiIndex(len(self.words), self.r, self.n)
        return self._tables

    # -- changing ----------------------------------------------------------------------------------------------------

    def append(self, words: Words) -> None:
        """More items, behind the others."""
        n = self.n + words.shape[2]
        if n > self.words.shape[2]:
            grown = np.zeros((*self.words.shape[:2], max(n, int(GROWTH * self.n))), np.uint64)
            grown[..., : self.n] = self.words[..., : self.n]
            self.words = grown
        self.words[..., self.n : n] = words
        self.n = n

    def touched(self, bits: npt.NDArray[np.bool_]) -> int:
        """`bits` (T, r) of the items have changed; returns how many tables are out of date."""
        if self._tables is None:
            return 0
        self._tables.touch(bits)
        return int(self._tables.stale.sum())
