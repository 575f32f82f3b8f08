"""What a reader returns, and what it can say without reading.

Which array of a file of several (.npz, .mat, HDF5) is the matrix, which the labels, which the ids.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Array, Labels, Numbers
from ohash.core.rows import gather
from ohash.streams.readers.source import BadFileError
from ohash.streams.two_sides import SEARCHED

BLOCK_BYTES = 2**24


@dataclass(frozen=True)
class Peek:
    """The shape of a file from its header alone; `exact` is false where rows were estimated.

    `labels` says whether the file holds a label per row, `tests` how many test queries it holds besides, and `metric`
    which distance it declares, if any.
    """

    rows: int
    columns: int
    dtype: str
    exact: bool = True
    labels: bool = False
    tests: int = 0
    metric: str | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix and what came with it; `extra` holds further arrays, such as test queries."""

    name: str
    X: Numbers
    columns: tuple[str, ...] = ()
    labels: Labels | None = None
    class_names: tuple[str, ...] = ()
    ids: npt.NDArray[np.str_] | None = None
    time: npt.NDArray[np.float64] | None = None
    metric: str | None = None
    extra: Mapping[str, Array] = field(default_factory=lambda: MappingProxyType({}))
    note: str = ""
    captions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse NaN, infinity and a row too long to be measured, by their first place, of what is small enough."""
        _check_values(self.name, self.X, self.columns)
        for key, array in self.extra.items():
            _check_values(f"{self.name} [{key}]", array, ())


def _check_values(name: str, X: Numbers, columns: tuple[str, ...]) -> None:
    if X.nbytes > SEARCHED:
        return
    step = max(1, BLOCK_BYTES // max(1, X.shape[1] * X.dtype.itemsize))
    for start in range(0, len(X), step):
        _check_rows(name, gather(X, slice(start, start + step)), start, columns)


def _check_rows(name: str, rows: Numbers, start: int, columns: tuple[str, ...]) -> None:
    place = first_not_finite(rows)
    if place is not None:
        row, column = place
        title = f" ({columns[column]!r})" if columns else ""
        value = rows[row, column]
        raise BadFileError(
            f"{name} must be finite, got {'an empty cell or ' if columns and np.isnan(value) else ''}"
            f"{value} at row {start + row}, column {column}{title}; remove or impute that row"
        )
    long = validation.find_long_row(rows)
    if long is not None:
        row, column = long
        title = f" ({columns[column]!r})" if columns else ""
        where = f"row {start + row}, column {column}{title}"
        raise BadFileError(f"{name} {validation.long_row_message(rows[row, column], where)}")


def first_not_finite(X: Numbers) -> tuple[int, int] | None:
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


FEATURE_NAMES = ("x", "features", "embeddings", "embedding", "vectors", "data", "train", "gist", "fea", "base")
LABEL_NAMES = ("labels", "label", "y", "class", "classes", "target", "targets", "gnd")
ID_NAMES = ("ids", "id", "_id", "doc_id", "docid", "corpus_id", "corpus-id", "query_id", "query-id", "qid", "item_id")
# Texts that say what a row is, shown in this order of preference.
CAPTION_NAMES = ("title", "text")
TIME_NAMES = ("time", "timestamp")
# What pandas calls the row numbers that it writes with a table: not a feature.
INDEX_NAMES = ("", "unnamed: 0", "__index_level_0__")

Shapes = Mapping[str, tuple[int, ...]]


def choose_features(name: str, shapes: Shapes, variable: str | None = None) -> str:
    """The member that holds the matrix: the one asked for, the one with a usual name, or the only matrix there is.

    >>> choose_features("a.npz", {"y": (9,), "X": (9, 4)})
    'X'
    """
    held = ", ".join(f"{key} {tuple(shape)}" for key, shape in list(shapes.items())[:8]) or "nothing that can be read"
    if variable is not None:
        if variable not in shapes or len(shapes[variable]) != 2:
            raise BadFileError(
                f"{name} must hold a matrix {variable!r}, as the TOML file next to it says; it holds {held}"
            )
        return variable
    matrices = [key for key, shape in shapes.items() if len(shape) == 2 and min(shape) > 0]
    for wanted in FEATURE_NAMES:
        for key in matrices:
            if key.lower() == wanted:
                return key
    others = [key for key in matrices if 1 not in shapes[key] and key.lower() not in LABEL_NAMES]
    matrices = others or matrices
    if len(matrices) != 1:
        way_out = (
            'name one with variable = "..." in a TOML file next to it, or call it X'
            if matrices
            else "save the vectors as a matrix (n, d) of real numbers called X"
        )
        raise BadFileError(f"{name} must hold one matrix of vectors, it holds {held}; {way_out}")
    return matrices[0]


def find_companion(names: tuple[str, ...], shapes: Shapes, rows: int) -> str | None:
    """The member of a usual name with one entry per row, or None."""
    for wanted in names:
        for key, shape in shapes.items():
            if key.lower() == wanted and shape in ((rows,), (1, rows), (rows, 1)):
                return key
    return None
