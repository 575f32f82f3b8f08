"""Scan or look-ups: which is cheaper is counted, not guessed.

A scan passes every word of every item, one after another. A look-up and a row met in a table are accesses to memory all
over the place, each as dear as passing some tens of items; how many it takes depends on the radius that holds the k-th
neighbour, which only the data know. So the first queries are scanned, and their k-th distance says how much work
look-ups would have been. The tables are filled once what they save would pay for them.

The numbers are nanoseconds on one core of an ARM Neoverse N1; ``python3 -m ohash bench index`` prints them for the
machine it runs on, and how often the choice was right. Only their ratios matter, and those differ little.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.index.multi_index import Expected

SCAN = 0.9  # an item, for each word of 64 bits
LOOKUP = 20.0  # a value looked up
ROW = 40.0  # a row met in a table, measured in full
BUILD = 20.0  # a row put into a table
FEW = 4096  # items too few for tables
PILOTS = 4  # queries that are scanned to learn how far neighbours lie
MARGIN = 0.8  # look-ups must cost at most this share of a scan


@dataclass(frozen=True)
class Costs:
    """What things cost in one index of n items with T models of so many words and tables."""

    n: int
    words: int
    tables: int

    @property
    def scan(self) -> float:
        """One query that passes all items."""
        return SCAN * self.n * self.words

    @property
    def build(self) -> float:
        """Filling all tables."""
        return BUILD * self.n * self.tables

    def lookups(self, expected: Expected) -> float:
        """One query that is looked up."""
        return LOOKUP * expected.lookups + ROW * expected.rows

    @property
    def limits(self) -> npt.NDArray[np.float64]:
        """Of a look-up, of a row, and of a whole query: beyond the cost of a scan it is scanned after all."""
        return np.array([LOOKUP, ROW, self.scan])


UNLIMITED = np.array([LOOKUP, ROW, np.inf])
