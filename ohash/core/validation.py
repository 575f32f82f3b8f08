"""Checks of arrays. Every message names the parameter, what is allowed, what was got, and the way out."""

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

Pairs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int8]]


def matrix(name: str, X: Any, *, d: int | None = None) -> npt.NDArray[Any]:
    """`X` as a real (n, d) array; its values are not looked at."""
    X = np.asanyarray(X)
    if X.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}; convert it with {name}.astype('float32')")
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"{name} must be a non-empty matrix (n, d), got shape {X.shape}")
    if d is not None and X.shape[1] != d:
        raise ValueError(f"{name} must have {d} columns, as this model was started with, got shape {X.shape}")
    return X


def vector(name: str, x: Any, *, d: int | None = None) -> npt.NDArray[Any]:
    """`x` as a finite real vector."""
    x = np.asarray(x)
    if x.dtype.kind not in "fiub" or x.ndim != 1 or x.size == 0 or (d is not None and x.size != d):
        expected = "a vector of real numbers" if d is None else f"a vector of {d} real numbers"
        raise ValueError(f"{name} must be {expected}, got dtype {x.dtype} and shape {x.shape}")
    if not np.isfinite(x).all():
        at = int(np.flatnonzero(~np.isfinite(x))[0])
        raise ValueError(f"{name} must be finite, got {x[at]} at position {at}; remove or impute it")
    return x


def finite(name: str, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Raise for the first NaN or infinity of a matrix."""
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        row, column = (int(v) for v in np.argwhere(~np.isfinite(X))[0])
        raise ValueError(
            f"{name} must be finite, got {X[row, column]} at row {row}, column {column}; remove or impute that row"
        )
    return X


def integer(name: str, value: Any) -> int:
    """`value` as an int; 3.0 and True are not integers here."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, got {value!r}") from None


def pairs(i: Any, j: Any, s: Any, n: int) -> Pairs:
    """Row indices i, j below `n` and labels s in {-1, +1}, equally long and not empty."""
    rows = []
    for name, value in (("i", i), ("j", j)):
        index = np.asarray(value)
        if index.ndim != 1 or index.size == 0 or index.dtype.kind not in "iu":
            raise ValueError(
                f"{name} must be a non-empty vector of row indices (integers), "
                f"got dtype {index.dtype} and shape {index.shape}"
            )
        if index.min() < 0 or index.max() >= n:
            bad = int(index[(index < 0) | (index >= n)][0])
            raise ValueError(f"{name} must index rows of X, 0 to {n - 1}, got {bad}")
        rows.append(np.ascontiguousarray(index, dtype=np.int64))
    labels = np.asarray(s)
    if labels.ndim != 1 or labels.dtype.kind not in "iuf" or not np.isin(labels, (-1, 1)).all():
        bad_values = np.unique(labels[~np.isin(labels, (-1, 1))])[:3] if labels.ndim == 1 else labels.shape
        raise ValueError(
            f"s must hold only +1 (similar) and -1 (dissimilar), got {bad_values}; map 0/1 labels with 2 * s - 1"
        )
    if not len(rows[0]) == len(rows[1]) == len(labels):
        raise ValueError(f"i, j and s must be equally long, got {len(rows[0])}, {len(rows[1])} and {len(labels)}")
    return rows[0], rows[1], np.ascontiguousarray(labels, dtype=np.int8)
