"""Scan or look-ups: which is cheaper is counted, not guessed.

A scan passes every word of every item, one after another. A look-up and a row met in a table are accesses to memory all
over the place, each as dear as passing some tens of items; how many it takes depends on the radius that holds the k-th
neighbour, which only the data know. So the first queries are scanned, and their k-th distance says how much work
look-ups would have been. The tables are filled once what they save would pay for them.

The numbers are nanoseconds on one core of an ARM Neoverse N1; ``python3 -m ohash bench index`` prints them for the
machine it runs on, and how often the choice was right. Only their ratios matter, and those differ little.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.index.scan_kernels import CHUNK

SCAN = 0.9  # an item passed, for each word of 64 bits; and once more where a chunk holds one of the k nearest so far
LOOKUP = 30.0  # a value looked up
ROW = 8.0  # a row met under a value
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
        return LOOKUP * values + ROW * rows + self.item * items

    def limits(self, k: int) -> npt.NDArray[np.float64]:
        """Of a look-up, a row, an item, and a whole query: beyond the cost of a scan it is scanned after all."""
        return np.array([LOOKUP, ROW, self.item, self.scan(k)])


UNLIMITED = np.array([1.0, 1.0, 1.0, np.inf])
