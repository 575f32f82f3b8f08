"""Labels as the supervised stream methods take them: one class a point, or flags (n, L) of which several may be set."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import validation

# The form of the labels seen so far: not known yet, one class a point, or the number L > 0 of flags.
UNKNOWN, SINGLE = 0, -1


def check(y: npt.ArrayLike | None, n: int, form: int, title: str) -> tuple[npt.NDArray[Any], int]:
    """(int64 classes (n,) or flags (n, L), their form), in the form of those before.

    >>> check([3, 3, 5], 3, UNKNOWN, "HCOH")
    (array([3, 3, 5]), -1)
    """
    if y is None:
        raise ValueError(f"{title} learns from labels: y must hold one class (or one row of flags) a point, got None")
    found = validation.array("y", y, "classes or flags")
    if found.ndim not in (1, 2) or len(found) != n or found.dtype.kind not in "iub":
        raise ValueError(
            f"y must hold {n} classes (integers) or {n} rows of flags, got dtype {found.dtype}, shape {found.shape}"
        )
    mine = SINGLE if found.ndim == 1 else found.shape[1]
    if form not in (UNKNOWN, mine):
        expected = "one class a point" if form == SINGLE else f"{form} flags a point"
        raise ValueError(f"y must be {expected}, as before, got shape {found.shape}")
    return (found.astype(np.int64) if mine == SINGLE else found.astype(bool)), mine


def words(labels: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Labels as int64 (n, w): the class itself, or flags packed 64 to a word.

    >>> words(np.array([[True, False, True]]))
    array([[5]])
    """
    if labels.ndim == 1:
        return np.ascontiguousarray(labels[:, None])
    n, L = labels.shape
    padded = np.zeros((n, -(-L // 64) * 64), bool)
    padded[:, :L] = labels
    return np.packbits(padded, axis=1, bitorder="little").view("<i8").astype(np.int64)
