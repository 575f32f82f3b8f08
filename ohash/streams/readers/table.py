"""What a reader returns, and what it can say without reading."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.streams.base import SEARCHED
from ohash.streams.readers.limits import BadFileError

BLOCK_BYTES = 2**24


@dataclass(frozen=True)
class Peek:
    """The shape of a file from its header alone; `exact` is false where rows were estimated.

    `labels` says whether the file holds a label a row, `tests` how many test queries come beside the rows.
    """

    rows: int
    columns: int
    dtype: str
    exact: bool = True
    labels: bool = False
    tests: int = 0


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix and what came with it; `extra` holds further arrays, such as test queries."""

    name: str
    X: npt.NDArray[Any]
    columns: tuple[str, ...] = ()
    labels: npt.NDArray[Any] | None = None
    class_names: tuple[str, ...] = ()
    ids: npt.NDArray[np.str_] | None = None
    time: npt.NDArray[np.float64] | None = None
    metric: str | None = None
    extra: Mapping[str, npt.NDArray[Any]] = field(default_factory=lambda: MappingProxyType({}))
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse NaN, infinity and a row too long to be measured, by their first place, of what is small enough."""
        _check_values(self.name, self.X, self.columns)
        for key, array in self.extra.items():
            _check_values(f"{self.name} [{key}]", array, ())


def _check_values(name: str, X: npt.NDArray[Any], columns: tuple[str, ...]) -> None:
    if X.nbytes > SEARCHED:
        return
    place = first_not_finite(X)
    if place is not None:
        row, column = place
        title = f" ({columns[column]!r})" if columns else ""
        value = X[row, column]
        raise BadFileError(
            f"{name} must be finite, got {'an empty cell or ' if columns and np.isnan(value) else ''}"
            f"{value} at row {row}, column {column}{title}; remove or impute that row"
        )
    long = validation.first_too_long(X)
    if long is not None:
        row, column = long
        title = f" ({columns[column]!r})" if columns else ""
        raise BadFileError(f"{name} {validation.too_long(X[row, column], f'row {row}, column {column}{title}')}")


def first_not_finite(X: npt.NDArray[Any]) -> tuple[int, int] | None:
    """Row and column of the first NaN or infinity, searched in blocks; None if there is none.

    >>> first_not_finite(np.array([[1.0, 2.0], [3.0, np.inf]]))
    (1, 1)
    """
    if X.dtype.kind != "f":
        return None
    step = max(1, BLOCK_BYTES // max(1, X.shape[1] * X.dtype.itemsize))
    for start in range(0, len(X), step):
        good = np.isfinite(X[start : start + step])
        if not good.all():
            row, column = (int(v) for v in np.argwhere(~good)[0])
            return start + row, column
    return None
