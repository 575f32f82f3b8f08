"""Scan or look-ups: which is cheaper is computed from counts, not guessed.

A scan reads every word of every item in sequence. A look-up, and a row found in a table, are random accesses to memory,
each as expensive as scanning some tens of items; how many are needed depends on the radius that holds the k-th
neighbour, which only the data show. So the first queries are scanned, and their k-th distance tells how much work
look-ups would have been. The tables are filled once what they save would pay for filling them.

The constants are nanoseconds on one core of an ARM Neoverse N1; ``python3 -m ohash bench index`` compares the ratios
with the machine it runs on, and how often the choice was right. Only their ratios matter, and those differ little.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.index.scan import CHUNK

SCAN = 0.9  # per item and word of 64 bits; twice where a chunk holds one of the k nearest so far
LOOKUP = 30.0  # per value looked up
ROW_COST = 8.0  # per row found under a value
ITEM_CACHED, ITEM_UNCACHED = 20.0, 40.0  # per row found for the first time, whose distance is computed
CACHE = 2**25  # bytes of codes that fit into the cache
BUILD = 20.0  # per row put into a table
MIN_ITEMS = 4096  # fewer items are always scanned
PILOTS = 4  # queries scanned first, to learn how far away neighbours are
MARGIN = 0.8  # look-ups must cost at most this share of a scan


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


# Limits that no query reaches.
UNLIMITED = np.array([1.0, 1.0, 1.0, np.inf])
