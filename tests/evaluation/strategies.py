"""Random codes with many ties, of any width."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ohash.core.codes import pack


@dataclass
class Case:
    queries: Any  # (T, n_queries, bytes)
    database: Any  # (T, n, bytes)
    query_labels: Any
    db_labels: Any
    r: int
    combine: str


ITEMS = st.integers(1, 40)
BITS = st.sampled_from([1, 2, 3, 7, 8, 9, 13, 64, 100, 249, 500, 1024])


@st.composite
def cases(draw, n=ITEMS, r=BITS):
    """Few prototypes with a little noise, so that distances tie whatever r is."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, r, T = draw(n), draw(r), draw(st.integers(1, 3))
    n_queries, classes = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    prototypes = rng.random((T, classes, r)) < 0.5
    noise = draw(st.sampled_from([0.0, 1 / r, 0.3]))

    def codes(labels):
        return pack(prototypes[:, labels] ^ (rng.random((T, len(labels), r)) < noise))

    query_labels, db_labels = rng.integers(0, classes, n_queries), rng.integers(0, classes, n)
    queries, database = codes(rng.integers(0, classes, n_queries)), codes(rng.integers(0, classes, n))
    return Case(queries, database, query_labels, db_labels, r, draw(st.sampled_from(["min", "min_sum", "sum"])))
