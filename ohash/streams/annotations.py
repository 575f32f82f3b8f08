"""What annotates vectors: labels, ids, times and pairs, checked and brought into one form."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Array, Labels, Rows


def check_column(name: str, values: npt.ArrayLike, n: int, of: str = "X") -> Array:
    """A column with one entry per row of X."""
    array = validation.array(name, values, "a column")
    if array.shape != (n,):
        raise ValueError(f"{name} must have one entry per row of {of}, {n}, got shape {array.shape}")
    return array


def check_ids(name: str, ids: npt.NDArray[np.str_]) -> npt.NDArray[np.str_]:
    """Refuse an id that occurs twice."""
    if (again := first_duplicate(ids)) is not None:
        raise ValueError(
            f"{name} must be distinct, got {str(ids[again])!r} again at row {again}; drop it or leave {name} out"
        )
    return ids


def first_duplicate(values: Array) -> int | None:
    """The first row whose value occurs in an earlier row, or None.

    >>> first_duplicate(np.array(["b", "a", "b", "a"]))
    2
    """
    first = np.unique(values, return_index=True)[1]
    return None if len(first) == len(values) else int(np.setdiff1d(np.arange(len(values)), first)[0])


def encode_labels(labels: npt.ArrayLike, n: int) -> tuple[Labels, tuple[str, ...]]:
    """Class numbers with the names of the classes; or flags, and no names."""
    codes = validation.array("labels", labels, "classes or flags")
    if codes.ndim not in (1, 2) or len(codes) != n:
        raise ValueError(f"labels must have one entry (or one row of flags) per row of X, {n}, got shape {codes.shape}")
    names: tuple[str, ...] = ()
    if codes.ndim == 2:
        if not np.isin(codes, (0, 1)).all():
            raise ValueError("labels of two dimensions must be flags (0 or 1), one column per label")
        codes = codes.astype(bool)
        classes = codes.shape[1]
    else:
        if codes.dtype.kind == "f" and not np.isfinite(codes).all():
            raise ValueError("labels must be finite, got NaN or infinity; give unlabelled rows a class of their own")
        if codes.dtype.kind == "f" and (codes % 1 != 0).any():
            at = int(np.flatnonzero(codes % 1 != 0)[0])
            raise ValueError(
                f"labels must be classes, whole numbers or texts, got {codes[at]:g} at row {at}; cut a measurement "
                "into classes first, or leave labels out"
            )
        try:
            values, codes = np.unique(codes, return_inverse=True)
        except TypeError:
            kinds = ", ".join(sorted({type(value).__name__ for value in codes.tolist()}))
            raise ValueError(f"labels must be of one kind, numbers or texts, got a mixture of {kinds}") from None
        classes = len(values)
        names = tuple(str(value).removesuffix(".0") for value in values)
    if classes < 2:
        raise ValueError("labels must have at least 2 classes, got 1: every pair would be similar; leave labels out")
    return codes, names


def parse_times(name: str, values: Array) -> npt.NDArray[np.float64]:
    """Times as finite numbers."""
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got dtype {values.dtype}; convert dates to seconds first") from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return numbers


@dataclass(frozen=True)
class PairList:
    """Pairs of the user: rows i and j, optionally s (None: all similar, "clicks") and time of arrival.

    `left_out` counts the pairs of a point with itself, which are left out.
    """

    i: Rows
    j: Rows
    s: npt.NDArray[np.int8] | None = None
    time: npt.NDArray[np.float64] | None = None
    left_out: int = 0

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.i)


def _pair_columns(pairs: Any) -> Any:
    """A tuple holds columns; a matrix or a list of tuples holds one pair per row; a table has columns by name."""
    names = pairs if isinstance(pairs, dict) else getattr(pairs, "columns", ())
    if {"i", "j"} <= set(names):
        given = [pairs[name] if name in names else None for name in ("i", "j", "s", "time")]
        return given if given[3] is not None else given[: 3 if given[2] is not None else 2]
    if isinstance(pairs, np.ndarray) and pairs.ndim == 2 and pairs.shape[1] in (2, 3, 4):
        return tuple(pairs.T)
    if isinstance(pairs, list) and pairs and all(isinstance(pair, tuple) for pair in pairs):
        return tuple(zip(*pairs, strict=True)) if len({len(pair) for pair in pairs}) == 1 else pairs
    return pairs


def parse_pairs(pairs: object, ids: npt.NDArray[np.str_] | None, n: int) -> PairList:
    """Pairs in any form, between n points given by row number or by `ids`."""
    i, j, s, time = _checked_columns(pairs)
    i, j = _rows("i", i, ids, n), _rows("j", j, ids, n)
    keep = i != j
    if not keep.any():
        raise ValueError("pairs must be of two different points, got only pairs of a point with itself")
    if s is not None:
        s = parse_signs(s)[keep]
        s = None if (s == 1).all() else s
    time = None if time is None else parse_times("time of pairs", time)[keep]
    return PairList(i[keep], j[keep], s, time, int((~keep).sum()))


def parse_two_sided_pairs(
    pairs: object, query_ids: npt.NDArray[np.str_] | None, q: int, doc_ids: npt.NDArray[np.str_] | None, n: int
) -> PairList:
    """Pairs of one of q queries and one of n documents, whose rows are the documents, then the queries."""
    i, j, s, time = _checked_columns(pairs)
    s = None if s is None else parse_signs(s)
    return PairList(
        n + _rows("i (query)", i, query_ids, q),
        _rows("j (document)", j, doc_ids, n),
        None if s is None or (s == 1).all() else s,
        None if time is None else parse_times("time of pairs", time),
    )


def _checked_columns(pairs: Any) -> tuple[Array, Array, Array | None, Array | None]:
    """The columns i, j, s and time, equally long; s and time may be None."""
    pairs = _pair_columns(pairs)
    columns = [None if column is None else validation.array("pairs", column, "columns") for column in pairs]
    shapes = {column.shape for column in columns if column is not None}
    if not 2 <= len(columns) <= 4 or len(shapes) != 1 or len(next(iter(shapes))) != 1 or shapes == {(0,)}:
        raise ValueError(
            "pairs must be (i, j), (i, j, s) or (i, j, s, time), columns equally long and not empty (s may be None), "
            f"got {len(columns)} of shape {', '.join(map(str, sorted(shapes)))}"
        )
    i, j, s, time = [*columns, None, None][:4]
    if i is None or j is None:
        raise ValueError("pairs must have i and j, got None")
    return i, j, s, time


def _rows(name: str, column: Array, ids: npt.NDArray[np.str_] | None, n: int) -> Rows:
    """Row numbers, from row numbers or ids."""
    if ids is not None:
        order = np.argsort(ids)
        wanted = column.astype(np.str_)
        at = np.minimum(np.searchsorted(ids, wanted, sorter=order), n - 1)
        rows = order[at]
        missing = ids[rows] != wanted
        if missing.any():
            raise ValueError(
                f"{name} of pairs must be known ids, got {str(wanted[missing][0])!r}, which is not among ids"
                + (f", nor {more} others" if (more := int(missing.sum()) - 1) else "")
            )
        return rows.astype(np.int64)
    allowed = f"{name} of pairs must be row numbers, integers 0 to {n - 1}"
    if column.dtype.kind == "f" and (column == np.floor(column)).all():  # as pandas stores integers with gaps
        column = column.astype(np.int64)
    if column.dtype.kind not in "iu":
        raise ValueError(f"{allowed}, got dtype {column.dtype}; rows count from 0; to use names, give ids")
    outside = np.flatnonzero((column < 0) | (column >= n))
    if len(outside):
        raise ValueError(
            f"{allowed}, got {column[outside[0]]} at pair {outside[0]}; rows count from 0; to use names, give ids"
        )
    return column.astype(np.int64)


def parse_signs(s: Array) -> npt.NDArray[np.int8]:
    """+1 and -1; where there is no -1, 0 means -1.

    >>> parse_signs(np.array([1, 0, 1])).tolist(), parse_signs(np.array([-1.0, 1.0])).tolist()
    ([1, -1, 1], [-1, 1])
    """
    allowed = "s of pairs must be +1 (similar) and -1 (dissimilar), or 1 and 0"
    if s.dtype.kind not in "fiub":
        raise ValueError(f"{allowed}, got dtype {s.dtype}")
    wrong = np.flatnonzero(~np.isin(s, (-1, 0, 1)))
    if len(wrong):
        raise ValueError(f"{allowed}, got {s[wrong[0]]!s} at pair {wrong[0]}; leave out pairs that were not judged")
    if (s == 0).any() and (s < 0).any():
        raise ValueError(f"{allowed}, got -1, 0 and 1 mixed; leave out pairs that were not judged")
    return np.where(s > 0, 1, -1).astype(np.int8)
