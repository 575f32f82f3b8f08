"""Columns that come with vectors: checked, and in one form."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import validation

Rows = npt.NDArray[np.int64]


def column(name: str, values: npt.ArrayLike, n: int) -> npt.NDArray[Any]:
    """One entry a row of X."""
    found = validation.array(name, values, "a column")
    if found.shape != (n,):
        raise ValueError(f"{name} must have one entry a row of X, {n}, got shape {found.shape}")
    return found


def repeated(values: npt.NDArray[Any]) -> int | None:
    """The first row whose value came before, or None.

    >>> repeated(np.array(["b", "a", "b", "a"]))
    2
    """
    first = np.unique(values, return_index=True)[1]
    return None if len(first) == len(values) else int(np.setdiff1d(np.arange(len(values)), first)[0])


def class_labels(labels: npt.ArrayLike, n: int) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """Class numbers, or flags, and the names of the classes where they are not numbers already."""
    found = validation.array("labels", labels, "classes or flags")
    if found.ndim not in (1, 2) or len(found) != n:
        raise ValueError(f"labels must have one entry (or one row of flags) a row of X, {n}, got shape {found.shape}")
    names: tuple[str, ...] = ()
    if found.ndim == 2:
        if not np.isin(found, (0, 1)).all():
            raise ValueError("labels of two dimensions must be flags, 0 or 1, one column a label")
        found = found.astype(bool)
        classes = found.shape[1]
    else:
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise ValueError("labels must be finite, got NaN or infinity; give unlabelled rows a class of their own")
        if found.dtype.kind == "f" and (found % 1 != 0).any():
            at = int(np.flatnonzero(found % 1 != 0)[0])
            raise ValueError(
                f"labels must be classes, whole numbers or texts, got {found[at]:g} at row {at}; cut a measurement "
                "into classes first, or leave labels out"
            )
        try:
            values, found = np.unique(found, return_inverse=True)
        except TypeError:
            kinds = ", ".join(sorted({type(value).__name__ for value in found.tolist()}))
            raise ValueError(f"labels must be of one kind, numbers or texts, got a mixture of {kinds}") from None
        classes = len(values)
        names = tuple(str(value).removesuffix(".0") for value in values)
    if classes < 2:
        raise ValueError("labels must have at least 2 classes, got 1: every pair would be similar; leave labels out")
    return found, names


def times(name: str, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Finite numbers."""
    try:
        found = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got dtype {values.dtype}; convert dates to seconds first") from None
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return found
