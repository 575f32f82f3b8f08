"""Checks of arrays. Every message names the parameter, what is allowed, what was given, and a remedy."""

import operator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Numbers, Reals, Rows, Signs

# Values checked at a time: the flags of a large matrix are large themselves.
BLOCK_VALUES = 2**22
# The squared distances of a longer row come near the largest float32, 3.4e38.
MAX_ROW_LENGTH = 1e18

Pairs = tuple[Rows, Rows, Signs]
Number = TypeVar("Number", bound=np.integer[Any] | np.floating[Any])


def matrix(name: str, X: object, *, d: int | None = None) -> Numbers:
    """`X` as a real (n, d) array, not copied if it is one; its values are not checked."""
    rows = array(name, X, "a matrix (n, d) of real numbers")
    if rows.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must hold real numbers, got dtype {rows.dtype}; convert it with {name}.astype('float32')"
        )
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(
            f"{name} must be a non-empty matrix (n, d), got shape {rows.shape}; one point is {name}.reshape(1, -1)"
        )
    if d is not None and rows.shape[1] != d:
        raise ValueError(
            f"{name} must have {d} columns, as at the start, got shape {rows.shape}; give vectors of the same kind, "
            "or start a new model"
        )
    return rows


def vector(name: str, x: object, *, d: int | None = None) -> Numbers:
    """`x` as a finite real vector."""
    expected = "a vector of real numbers" if d is None else f"a vector of {d} real numbers"
    values = array(name, x, expected)
    if values.dtype.kind not in "fiub" or values.ndim != 1 or values.size == 0 or (d is not None and values.size != d):
        raise ValueError(f"{name} must be {expected}, got dtype {values.dtype} and shape {values.shape}")
    if not np.isfinite(values).all():
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"{name} must be finite, got {values[at]} at position {at}; remove or impute it")
    return values


def finite(name: str, X: npt.NDArray[Number], *, rows: npt.ArrayLike | None = None) -> npt.NDArray[Number]:
    """Raise for the first NaN or infinity of a matrix; `rows` are the numbers of its rows in messages.

    >>> finite("X", np.array([[1.0, np.nan]]), rows=[7])
    Traceback (most recent call last):
    ValueError: X must be finite, got nan at row 7, column 1; remove or impute that row
    """
    block = max(1, BLOCK_VALUES // max(1, X.shape[1]))
    for start in range(0, len(X) if X.dtype.kind == "f" else 0, block):
        good = np.isfinite(X[start : start + block])
        if not good.all():
            row, column = (int(v) for v in np.argwhere(~good)[0])
            row += start
            number = row if rows is None else int(np.asarray(rows)[row])
            raise ValueError(
                f"{name} must be finite, got {X[row, column]} at row {number}, column {column}; "
                "remove or impute that row"
            )
    return X


def measurable(name: str, X: npt.NDArray[Number], *, rows: npt.ArrayLike | None = None) -> npt.NDArray[Number]:
    """`finite`, and raise for the first row whose squared distances would overflow float32.

    >>> measurable("X", np.array([[1.0, 2.0], [0.0, 1e23]], np.float32))
    Traceback (most recent call last):
    ValueError: X must have rows of length at most 1e+18, got 1e+23 at row 1, column 1; remove it or scale all rows down
    """
    finite(name, X, rows=rows)
    place = find_long_row(X)
    if place is not None:
        row, column = place
        number = row if rows is None else int(np.asarray(rows)[row])
        raise ValueError(f"{name} {long_row_message(X[row, column], f'row {number}, column {column}')}")
    return X


def find_long_row(X: Numbers) -> tuple[int, int] | None:
    """The first row of a finite X longer than MAX_ROW_LENGTH, and its largest column; None if there is none."""
    if X.dtype.itemsize < 4:
        return None
    block = max(1, BLOCK_VALUES // max(1, X.shape[1]))
    for start in range(0, len(X), block):
        part = X[start : start + block]
        with np.errstate(over="ignore"):
            long = np.einsum("nd,nd->n", part, part, dtype=np.float64) > MAX_ROW_LENGTH**2
        if long.any():
            row = int(long.argmax())
            return start + row, int(np.abs(part[row].astype(np.float64)).argmax())
    return None


def long_row_message(value: float, place: str) -> str:
    """The message about such a row."""
    return (
        f"must have rows of length at most {MAX_ROW_LENGTH:g}, got {value:g} at {place}; "
        "remove it or scale all rows down"
    )


def cast(X: Numbers, dtype: str) -> Reals:
    """`X` in `dtype`, C-contiguous (sums then run in one order), not copied if it already is.

    Values that do not fit become infinite, without a warning: callers check for that.
    """
    with np.errstate(over="ignore"):
        return X.astype(dtype, order="C", copy=False)


def integer(name: str, value: Any, minimum: int | None = None) -> int:
    """`value` as an int, at least `minimum`; 3.0 and True are not integers here."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, got {value!r}") from None
    if minimum is not None and number < minimum:
        raise ValueError(f"{name} must be an integer >= {minimum}, got {number}")
    return number


def indices(name: str, value: object, n: int) -> Rows:
    """`value` as row indices of an X of `n` rows, not empty; negative indices are refused."""
    index = array(name, value, "a vector of row indices")
    if index.ndim != 1 or index.size == 0 or index.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a non-empty vector of row indices (integers), "
            f"got dtype {index.dtype} and shape {index.shape}; a mask becomes indices by np.flatnonzero"
        )
    if index.min() < 0 or index.max() >= n:
        bad = int(index[(index < 0) | (index >= n)][0])
        raise ValueError(
            f"{name} must index rows of X, 0 to {n - 1}, got {bad}; rows count from 0 and never from the end"
        )
    return np.ascontiguousarray(index, dtype=np.int64)


def pairs(i: object, j: object, s: object, n: int) -> Pairs:
    """Row indices i, j below `n` and labels s in {-1, +1}, equally long and not empty."""
    at_i, at_j = indices("i", i, n), indices("j", j, n)
    labels = array("s", s, "a vector of +1 and -1")
    good = (labels == 1) | (labels == -1) if labels.dtype.kind in "iuf" else np.zeros(labels.shape, bool)
    if labels.ndim != 1 or not good.all():
        got = f"shape {labels.shape}" if labels.ndim != 1 else f"{labels[~good][0]} at position {int(good.argmin())}"
        binary = labels.dtype.kind == "b" or (labels.dtype.kind in "iuf" and np.isin(labels, (0, 1)).all())
        remedy = "map 0/1 labels with 2 * s - 1" if binary else "remove the pairs whose label is unknown"
        raise ValueError(f"s must hold only +1 (similar) and -1 (dissimilar), got {got}; {remedy}")
    if not len(at_i) == len(at_j) == len(labels):
        raise ValueError(
            f"i, j and s must be equally long, got {len(at_i)}, {len(at_j)} and {len(labels)}; give one each per pair"
        )
    return at_i, at_j, np.ascontiguousarray(labels, dtype=np.int8)


def array(name: str, value: object, expected: str) -> Array:
    """`value` as an array, with a clear message for a ragged list, a masked array or a sparse matrix.

    >>> array("y", np.ma.masked_equal([1, 9, 2], 9), "a vector")
    Traceback (most recent call last):
    ValueError: y must be a vector without gaps, got a masked value at row 1; fill it, y.filled(...), or drop the row
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        place = np.argwhere(np.ma.getmaskarray(value))[0]
        where = ", ".join(f"{axis} {at}" for axis, at in zip(("row", "column"), place, strict=False))
        raise ValueError(
            f"{name} must be {expected} without gaps, got a masked value at {where}; fill it, {name}.filled(...), or "
            "drop the row"
        )
    if not isinstance(value, np.ndarray) and hasattr(value, "toarray"):
        raise ValueError(f"{name} must be {expected}, got a sparse {type(value).__name__}; give {name}.toarray()")
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} must be {expected}, got {type(value).__name__} ({error})") from None
