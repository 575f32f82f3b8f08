"""Both ways to search one set of codes, on words and keys: no checks, no choice between them.

Results are values key << 32 | row, ascending; `ohash.index.scan` says what a key is.

Which way is cheaper is computed from counts, not guessed (`CostModel`), and the planner decides by it. A scan reads
every word of every item in sequence. A look-up, and a row found in a table, are random accesses to memory, each as
expensive as scanning some tens of items; how many are needed depends on the radius that holds the k-th neighbour, which
only the data show. So the first queries are scanned, and their k-th distance tells how much work look-ups would have
been. The tables are filled once what they save would pay for filling them.

The constants are nanoseconds on one core of an ARM Neoverse N1; ``python3 -m ohash bench index`` compares the ratios
with the machine it runs on, and how often the choice was right. Only their ratios matter, and those differ little.
"""

import math
import threading
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats
from ohash.evaluation.hamming_kernels import SUM
from ohash.index.bit_words import Words
from ohash.index.multi_index import LookupEstimate, MultiIndex
from ohash.index.multi_index_kernels import LEVEL, search_tables
from ohash.index.scan import CHUNK, scan_nearest, scan_within

Values = npt.NDArray[np.int64]

MAX_TAIL = 0.1  # share of the rows that may be missing in the tables, and are scanned, before the tables are rebuilt
GROWTH = 1.5
INITIAL_ROOM = 1024  # rows of a radius search allocated at first

SCAN = 0.9  # per item and word of 64 bits; twice where a chunk holds one of the k nearest so far
LOOKUP = 30.0  # per value looked up
ROW_COST = 8.0  # per row found under a value
ITEM_CACHED, ITEM_UNCACHED = 20.0, 40.0  # per row found for the first time, whose distance is computed
CACHE = 2**25  # bytes of codes that fit into the cache
BUILD = 20.0  # per row put into a table
MIN_ITEMS = 4096  # fewer items are always scanned
PILOTS = 4  # queries scanned first, to learn how far away neighbours are
MARGIN = 0.8  # look-ups must cost at most this share of a scan
UNLIMITED = np.array([1.0, 1.0, 1.0, np.inf])  # limits that no query reaches


@dataclass(frozen=True)
class CostModel:
    """Costs in an index of `n` items of `words` words each (over all models), with `tables` still to be filled."""

    n: int
    words: int
    tables: int

    def scan(self, k: int) -> float:
        """One query by a scan; k = 0 for a radius.

        Of the first c chunks the last holds one of the k nearest with probability min(1, k/c), and is read twice.
        """
        chunks = self.n / CHUNK
        twice = k * (1 + math.log(max(chunks / k, 1))) if k else 0.0
        return SCAN * (self.n * self.words + min(twice, chunks) * CHUNK)

    @property
    def build(self) -> float:
        """Filling the tables that are out of date."""
        return BUILD * self.n * self.tables

    @property
    def item(self) -> float:
        """One distance to an item found in a table."""
        return ITEM_CACHED if 8 * self.n * self.words <= CACHE else ITEM_UNCACHED

    def lookups(self, values: float, rows: float, items: float) -> float:
        """One query that looks up `values`, finds `rows` under them, and computes the distance to `items` of those."""
        return LOOKUP * values + ROW_COST * rows + self.item * items

    def limits(self, k: int) -> npt.NDArray[np.float64]:
        """Costs of a look-up, a row and an item, and the most a query may cost before it is scanned instead."""
        return np.array([LOOKUP, ROW_COST, self.item, self.scan(k)])


class Searcher:
    """Words (T, words, capacity) of n items, and their tables once they are needed."""

    def __init__(self, words: Words, r: int) -> None:
        """`words` are not copied."""
        self.words, self.n, self.r = words, words.shape[2], r
        self._tables: MultiIndex | None = None
        self._lock = threading.Lock()

    @property
    def costs(self) -> CostModel:
        """What a search costs here."""
        T, W, _ = self.words.shape
        tables = self._current_tables()
        return CostModel(self.n, T * W, int(tables.stale.sum()))

    @property
    def nbytes(self) -> int:
        """Memory of codes and tables."""
        return self.words.nbytes + (0 if self._tables is None else self._tables.nbytes)

    @property
    def table_layout(self) -> str:
        """The number of tables and their substring lengths, as text."""
        lengths = sorted({int(length) for length in self._current_tables().parts[:, 2]})
        return f"{len(self._current_tables().parts)} tables of {' to '.join(map(str, lengths))} bits"

    # -- searching ---------------------------------------------------------------------------------------------------

    def scan(self, queries: Words, rule: int, step: int, k: int) -> Values:
        """The k nearest of every query (b, T, words), by a scan."""
        values = np.empty((len(queries), k), np.int64)
        scan_nearest()(queries, self.words, self.n, rule, step, values)
        values.sort(axis=1)
        return values

    def look_up(self, queries: Words, rule: int, step: int, k: int, limits: Floats) -> tuple[Values, Values]:
        """(the k nearest of every query, the work of each); a query whose work reached its limit has no result."""
        values, work = np.empty((len(queries), k), np.int64), np.empty((len(queries), 4), np.int64)
        self._search_tables(queries, rule, step, limits, values, 0, 0, np.empty(0, np.int64), work)
        values.sort(axis=1)
        return values, work

    def scan_radius(self, query: Words, rule: int, step: int, radius: int) -> Values:
        """All within the radius of one query (T, words), by a scan."""
        listed = self._scan_radius(query, rule, step, radius, 0)
        listed.sort()
        return listed

    def look_up_radius(
        self, query: Words, rule: int, step: int, radius: int, limits: Floats
    ) -> tuple[Values | None, Values]:
        """(all within the radius of one query, the work); None where the work reached its limit."""
        room, none, work = INITIAL_ROOM, np.empty((1, 0), np.int64), np.empty((1, 4), np.int64)
        while True:
            listed = np.empty(room, np.int64)
            count = self._search_tables(
                query[None], rule, step, limits, none, radius, (radius + 1) * step, listed, work
            )
            if work[0, LEVEL] < 0:
                return None, work
            if count <= room:
                break
            room = count
        tail = self._scan_radius(query, rule, step, radius, self._current_tables().n)
        values = np.concatenate([listed[:count], tail])
        values.sort()
        return values, work

    def estimate(self, query: Words, rule: int, radius: int) -> LookupEstimate:
        """The work of look-ups for one query (T, words) whose results lie within `radius`."""
        return self._current_tables().estimate(self.words, query, radius, rule == SUM)

    def _scan_radius(self, query: Words, rule: int, step: int, radius: int, start: int) -> Values:
        room = INITIAL_ROOM
        while True:
            listed = np.empty(room, np.int64)
            count = scan_within()(query, self.words, start, self.n, rule, step, (radius + 1) * step, listed)
            if count <= room:
                return listed[:count]
            room = count

    def _search_tables(
        self, queries: Words, rule: int, step: int, limits: Floats, values: Values, radius: int, limit: int,
        listed: Values, work: Values,
    ) -> int:  # fmt: skip
        with self._lock:  # another thread may be filling them
            tables = self._current_tables()
            tables.fill(self.words)
        return search_tables()(
            queries, self.words, self.n, tables.n, rule, step, tables.parts, tables.group_size(rule == SUM),
            tables.offsets, tables.rows, limits, values, radius, limit, listed, work,
        )  # fmt: skip

    def _current_tables(self) -> MultiIndex:
        """The tables, filled or not; new ones if too many rows are missing in them."""
        if self._tables is None or self.n - self._tables.n > MAX_TAIL * self.n:
            self._tables = MultiIndex(len(self.words), self.r, self.n)
        return self._tables

    # -- changing ----------------------------------------------------------------------------------------------------

    def append(self, words: Words) -> None:
        """Add items at the end."""
        n = self.n + words.shape[2]
        if n > self.words.shape[2]:
            grown = np.zeros((*self.words.shape[:2], max(n, int(GROWTH * self.n))), np.uint64)
            grown[..., : self.n] = self.words[..., : self.n]
            self.words = grown
        self.words[..., self.n : n] = words
        self.n = n

    def mark_stale(self, bits: npt.NDArray[np.bool_]) -> int:
        """`bits` (T, r) of the items have changed; returns how many tables are out of date."""
        if self._tables is None:
            return 0
        self._tables.mark_stale(bits)
        return int(self._tables.stale.sum())
