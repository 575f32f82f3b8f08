"""A file of pairs: columns i and j, optionally s (+1 / -1, or 1 / 0) and time, as row numbers or ids."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.streams.annotations import signs
from ohash.streams.readers import columns as arrow
from ohash.streams.readers import delimited, npy, npz, parquet
from ohash.streams.readers.formats import guarded, refuse_pickle
from ohash.streams.readers.limits import FOLDER, UPLOAD, BadFileError, Limits
from ohash.streams.readers.source import Source

NAMES = {
    "i": ("i", "a", "query", "query_id", "left", "id1", "item1", "source"),
    "j": ("j", "b", "item", "item_id", "right", "id2", "item2", "target"),
    "s": ("s", "similar", "label", "clicked", "match"),
    "time": ("time", "timestamp", "t"),
}
EXTENSIONS = (".csv", ".tsv", ".parquet", ".npy", ".npz")

Columns = tuple[npt.NDArray[Any], ...]


def read_pairs(path: str | Path, limits: Limits = FOLDER) -> Columns:
    """(i, j), (i, j, s) or (i, j, s, time), as `Dataset.from_arrays(pairs=...)` takes them."""
    return pairs(Source.file(path), limits)


def read_pairs_upload(name: str, data: bytes, limits: Limits = UPLOAD) -> Columns:
    """The same from uploaded bytes."""
    return pairs(Source.upload(name, data), limits)


def pairs(source: Source, limits: Limits) -> Columns:
    """Read by extension, then bring the columns into one form."""
    check_extension(source)
    return guarded(source, limits, lambda: _clean(source, _columns(source, limits)))


def as_row_numbers(name: str, found: Columns, vectors: str) -> Columns:
    """Columns of the file `name`, for `vectors` without ids: text such as 1.0 is a row number, other text refused."""
    if found[0].dtype.kind != "U":
        return found
    i, j = (_numbers(name, column, vectors) for column in found[:2])
    return _ids(name, "i", i), _ids(name, "j", j), *found[2:]


def check_extension(source: Source) -> None:
    """Refuse a file that is none of the formats of pairs."""
    if source.extension not in EXTENSIONS:
        refuse_pickle(source)
        raise BadFileError(
            f"{source.name} must be one of {', '.join(EXTENSIONS)} to hold pairs, got {source.extension}"
        )


def check(source: Source, limits: Limits) -> None:
    """Refuse by the header what cannot be pairs."""
    check_extension(source)
    guarded(source, limits, lambda: _shape(source, limits) if source.extension == ".npy" else _wanted(source, limits))


def _columns(source: Source, limits: Limits) -> Mapping[str, npt.NDArray[Any]]:
    if source.extension == ".npy":
        _shape(source, limits)
        return dict(zip(NAMES, npy.array(source, limits, npy.NUMBERS + npy.TEXT).T, strict=False))
    wanted = _wanted(source, limits)
    if source.extension == ".npz":
        arrays = npz.arrays(source, limits)
        return {name: arrays[column] for column, name in wanted.items()}
    columns = parquet.columns if source.extension == ".parquet" else delimited.columns
    return {name: _values(source, limits, name, found) for name, found in columns(source, limits, wanted).items()}


def _shape(source: Source, limits: Limits) -> tuple[int, ...]:
    """Of a matrix with a pair in every row."""
    shape = npy.checked(source, limits, npy.NUMBERS + npy.TEXT).shape
    if len(shape) != 2 or not 2 <= shape[1] <= 4:
        raise BadFileError(f"{source.name} must be a matrix of 2 to 4 columns i, j, s, time, got shape {shape}")
    return shape


def _wanted(source: Source, limits: Limits) -> dict[str, str]:
    """Names in the file -> i, j, s, time; columns without names come in that order."""
    if source.extension == ".npz":
        return _chosen(source, npz.names(source))
    if source.extension == ".parquet":
        return _chosen(source, parquet.names(source))
    first = delimited.first_line(source, limits)
    if len(first.names) < 2:
        raise BadFileError(f"{source.name} must have columns i, j and optionally s and time, got one column")
    return _chosen(source, first.names) if first.has_names else dict(zip(first.names, NAMES, strict=False))


def _chosen(source: Source, names: Sequence[str]) -> dict[str, str]:
    """Names in the file -> i, j, s, time."""
    found = {}
    for wanted, aliases in NAMES.items():
        for alias in aliases:
            match = next((name for name in names if name.strip().lower() == alias and name not in found), None)
            if match is not None:
                found[match] = wanted
                break
    if not {"i", "j"} <= set(found.values()):
        raise BadFileError(
            f"{source.name} must have columns i and j (or a, b; query, item; left, right), optionally s and time, got "
            f"{', '.join(list(names)[:6]) or 'none'}; rename them"
        )
    return found


def _values(source: Source, limits: Limits, name: str, column: Any) -> npt.NDArray[Any]:
    """An Arrow column as numbers where it holds numbers, else as text."""
    import pyarrow as pa  # noqa: PLC0415

    if name == "time":
        return arrow.times(source.name, name, column.chunks)
    try:
        if name == "s":
            return arrow.numbers(column)
        if not pa.types.is_dictionary(column.type) and not column.null_count:
            whole: npt.NDArray[Any] = column.cast(pa.int64()).to_numpy()
            return whole
    except pa.ArrowException:
        if name == "s":
            raise BadFileError(f"{source.name} must have +1 and -1 (or 1 and 0) in column s, got text") from None
    return arrow.texts(source.name, name, column.chunks, limits)


def _clean(source: Source, found: Mapping[str, npt.NDArray[Any]]) -> Columns:
    i, j = (_ids(source.name, title, found[title]) for title in "ij")
    if not len(i) == len(j) > 0 or i.ndim != 1 or j.ndim != 1:
        raise BadFileError(f"{source.name} must have as many i as j, at least one, got shapes {i.shape} and {j.shape}")
    if i.dtype.kind != j.dtype.kind and "U" in (i.dtype.kind, j.dtype.kind):
        i, j = i.astype(np.str_), j.astype(np.str_)
    s, time = found.get("s"), found.get("time")
    columns = [i, j]
    if s is not None:
        columns.append(_signs(source, s))
    elif time is not None:
        columns.append(np.ones(len(i), np.int8))
    if time is not None:
        columns.append(np.asarray(time, dtype=np.float64))
    if len({column.shape for column in columns}) != 1:
        raise BadFileError(f"{source.name} must have columns of one length, got {[len(column) for column in columns]}")
    return tuple(columns)


def _numbers(name: str, column: npt.NDArray[Any], vectors: str) -> npt.NDArray[np.float64]:
    try:
        return column.astype(np.float64)
    except ValueError:
        one = next((text for text in column.tolist() if not delimited.is_number(text)), str(column[0]))
        raise BadFileError(
            f"{name} names points by ids such as {one!r}, and {vectors} has none; give it a column 'id', or use row "
            "numbers 0, 1, ... in the pairs"
        ) from None


def _ids(name: str, title: str, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Row numbers as int64 (whole numbers stored as floats too), ids as text."""
    if column.dtype.kind == "f":
        if not (np.isfinite(column) & (np.abs(column) < 2**53)).all() or (column % 1 != 0).any():
            raise BadFileError(f"{name} must have whole row numbers or ids in column {title}, got fractions or NaN")
        return column.astype(np.int64)
    return column.astype(np.str_) if column.dtype.kind in "US" else column.astype(np.int64)


def _signs(source: Source, s: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    """As `given_pairs.signs`, of this file. A column of ones only says that all pairs are similar."""
    try:
        return signs(np.asarray(s))
    except ValueError as error:
        raise BadFileError(f"{source.name}: {error}") from None
