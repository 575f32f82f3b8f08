"""What a search has found, and how."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Nearest:
    """The k nearest rows of every query, (queries, k), nearest first, equal distances by row.

    `by` is "scan" or "mih", whichever answered most queries; `why` says why.
    """

    indices: Indices
    distances: Indices
    by: str
    why: str


@dataclass(frozen=True, eq=False)
class Within:
    """All rows within a radius, nearest first, then by row; of query q: `indices[offsets[q] : offsets[q + 1]]`."""

    offsets: Indices
    indices: Indices
    distances: Indices
    by: str
    why: str

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> tuple[Indices, Indices]:
        """(rows, distances) of one query."""
        if not 0 <= query < len(self):
            raise IndexError(f"query must be in 0 to {len(self) - 1}, got {query}")
        some = slice(self.offsets[query], self.offsets[query + 1])
        return self.indices[some], self.distances[some]


@dataclass(frozen=True, eq=False)
class Updated:
    """What an update changed: bits that flipped, which bits (T, r) those were, and the tables that must be refilled."""

    bits_flipped: int
    bits: npt.NDArray[np.bool_]
    tables: int
