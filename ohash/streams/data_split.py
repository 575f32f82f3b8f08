"""Train, database, validation and test: the seeded split of a data set."""

from dataclasses import dataclass

import numpy as np

from ohash.core.arrays import Rows
from ohash.streams.dataset import Dataset


@dataclass(frozen=True)
class Split:
    """Disjoint rows; `train` is the database itself or disjoint from it. Queries are never trained on.

    Of two-sided data, validation and test are query rows, train and database documents.
    """

    train: Rows
    database: Rows
    validation: Rows
    test: Rows
    database_seen: bool


def split(dataset: Dataset, seed: int, *, train: str = "database") -> Split:
    """Split off the declared queries; `train` = "database" (as in the paper) or "disjoint" (half of the rest)."""
    if train not in ("database", "disjoint"):
        raise ValueError(f"train must be 'database' or 'disjoint', got {train!r}")
    if seed < 0:
        raise ValueError(f"seed must be an integer >= 0, got {seed}")
    rng = np.random.default_rng([seed, 0x5EED])
    n_validation, n_test = dataset.queries
    order = rng.permutation(dataset.n if dataset.query_rows is None else dataset.query_rows)
    if dataset.fixed_test is not None:
        is_test = np.zeros(dataset.n, dtype=bool)
        is_test[dataset.fixed_test] = True
        test = order[is_test[order]][:n_test]
        order = order[~is_test[order]]
    else:
        test, order = order[:n_test], order[n_test:]
    queries, rest = order[:n_validation], order[n_validation:]
    if dataset.two_sided:
        rest = rng.permutation(dataset.documents)
    parts = (rest, rest) if train == "database" else (rest[: len(rest) // 2], rest[len(rest) // 2 :])
    train_rows, database, validation_rows, test = (np.sort(part) for part in (*parts, queries, test))
    return Split(train_rows, database, validation_rows, test, database_seen=train == "database")
