"""The paper's protocol for its four datasets (Section V-A and Table I), shared by their files."""

from typing import Any

from ohash.streams.data_folder import DATA
from ohash.streams.dataset import default_queries

VALIDATION = 1000


# Either of two points among the nearest 5 %: between all neighbours mutual and none.
EITHER_OF_TWO = (0.05, 0.1)


def paper_params(beta: float, similar_by: str) -> dict[str, Any]:
    """Parameters of a run as in the paper: Table I, and an RBF kernel of sigma = 1. m is not given there: 300.

    The text has r = 64 and C = 0.1 where Table I has 48 and 1; its comparisons go by the table.
    """
    model = {"r": 48, "alpha": 0.0, "beta": beta, "C": 1.0}
    return {**model, "kernel": "rbf", "m": 300, "sigma": 1.0, "similar_by": similar_by, "judged_by": "test"}


def paper_queries(n: int, test: int) -> tuple[int, int]:
    """The paper's number of test queries where the rows allow, with a validation set of our own beside it."""
    return (VALIDATION, test) if n >= 5 * (test + VALIDATION) else default_queries(n)


def how_to_get(what: str, where: str) -> str:
    """How to get a data set that may not be redistributed."""
    return f"put {what} ({where}) into a folder and name it with {DATA} or --data"
