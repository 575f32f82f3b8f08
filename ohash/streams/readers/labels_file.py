"""A file of labels: one a row of the vectors, as .npy, .csv or .txt."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.streams.readers import columns as arrow
from ohash.streams.readers import delimited, npy
from ohash.streams.readers import table as members
from ohash.streams.readers.formats import guarded, refuse_pickle
from ohash.streams.readers.limits import FOLDER, UPLOAD, BadFileError, Limits
from ohash.streams.readers.source import Source

EXTENSIONS = (".npy", ".csv", ".tsv", ".txt")

# One class a row and the names of the classes; or flags (n, L) and no names.
Labels = tuple[npt.NDArray[Any], tuple[str, ...]]


def read_labels(path: str | Path, limits: Limits = FOLDER) -> Labels:
    """Classes as numbers 0, 1, ... with their names; a matrix of flags 0 / 1 stays as it is."""
    return labels(Source.file(path), limits)


def read_labels_upload(name: str, data: bytes, limits: Limits = UPLOAD) -> Labels:
    """The same from uploaded bytes."""
    return labels(Source.upload(name, data), limits)


def labels(source: Source, limits: Limits) -> Labels:
    """Read by extension."""
    check_extension(source)
    return guarded(source, limits, lambda: _read(source, limits))


def check_extension(source: Source) -> None:
    """Refuse a file that is none of the formats of labels."""
    if source.extension not in EXTENSIONS:
        refuse_pickle(source)
        raise BadFileError(
            f"{source.name} must be one of {', '.join(EXTENSIONS)} to hold labels, got {source.extension}"
        )


def peek(source: Source, limits: Limits) -> int | None:
    """How many labels the header declares, None where it does not tell; what cannot be labels is refused."""
    check_extension(source)
    return guarded(source, limits, lambda: _declared(source, limits))


def check_length(name: str, got: int, vectors: str, rows: int) -> None:
    """Refuse labels that are more or fewer than the rows of the file `vectors`."""
    if got != rows:
        raise BadFileError(f"{name} must have one label a row of {vectors}, {rows:,}, got {got:,}")


def coded(name: str, found: npt.NDArray[Any]) -> Labels:
    """An array of classes as numbers with names."""
    _length(name, found.shape)
    if found.ndim == 2 and 1 in found.shape:
        found = found.ravel()
    if found.ndim == 2:
        return found, ()
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        at = int(np.flatnonzero(~np.isfinite(found))[0])
        raise BadFileError(f"{name} must have a label in every row, got {found[at]} at row {at}")
    if found.dtype.kind == "f" and (found % 1 != 0).any():
        at = int(np.flatnonzero(found % 1 != 0)[0])
        raise BadFileError(
            f"{name} must hold classes, whole numbers or texts, got {found[at]:g} at row {at}; cut a measurement into "
            "classes first"
        )
    names, codes = np.unique(found, return_inverse=True)
    return codes.astype(np.int64), tuple(_shown(value) for value in names)


def _read(source: Source, limits: Limits) -> Labels:
    if source.extension == ".npy":
        found = npy.array(source, limits, npy.NUMBERS + npy.TEXT)
        limits.check_decoded(source.name, found.nbytes)
        return coded(source.name, found)
    if source.extension == ".txt":
        limits.check_decoded(source.name, source.size)
        try:
            lines = source.start(source.size).decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise BadFileError(
                f"{source.name} must be text in UTF-8, byte {error.start} is not; save it as UTF-8"
            ) from None
        limits.check_shape(source.name, len(lines), 1)
        import pyarrow as pa  # noqa: PLC0415

        cells = [line.strip() or None for line in lines]
        return arrow.codes(source.name, "label", [pa.array(cells, pa.string())])
    column = _column(source, limits)
    return arrow.codes(source.name, column, delimited.columns(source, limits, {column: "label"})["label"].chunks)


def _declared(source: Source, limits: Limits) -> int | None:
    if source.extension == ".npy":
        return _length(source.name, npy.checked(source, limits, npy.NUMBERS + npy.TEXT).shape)
    if source.extension != ".txt":
        _column(source, limits)
    return None


def _length(name: str, shape: tuple[int, ...]) -> int:
    """One label a row, or a row of flags."""
    if len(shape) not in (1, 2):
        raise BadFileError(f"{name} must have one label a row, or a matrix of flags, got shape {shape}")
    return max(shape) if 1 in shape else shape[0]


def _column(source: Source, limits: Limits) -> str:
    """The column of labels of a table, by its name or because it is the only one."""
    first = delimited.first_line(source, limits)
    column = arrow.roles(first.names).label if first.has_names else None
    if column is None and len(first.names) > 1:
        raise BadFileError(
            f"{source.name} must have one column, or one called {members.LABELS[0]!r}, got {', '.join(first.names[:6])}"
            + ("; these look like pairs: give them as pairs" if {"i", "j"} <= {*map(str.lower, first.names)} else "")
        )
    return column or first.names[0]


def _shown(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.removesuffix(".0")[: arrow.LONGEST_TEXT]
