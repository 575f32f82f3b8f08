"""Columns into a matrix, for CSV and Parquet alike: which columns are features, labels, ids and times."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array
from ohash.core.rows import empty_rows, release_pages
from ohash.streams.readers.source import BadFileError, Limits, one_line, short_message
from ohash.streams.readers.table import CAPTION_NAMES, ID_NAMES, INDEX_NAMES, LABEL_NAMES, TIME_NAMES, Table

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_TEXT = 256
LONGEST_CAPTION = 160
# Rows of more are known by their ids: captions are kept in memory.
MAX_CAPTIONS = 1_000_000
# Vectors of files on this machine that take more bytes than this are mapped from a temporary file.
IN_MEMORY = 2**28


@dataclass(frozen=True)
class ColumnRoles:
    """Names of columns by what they are for."""

    features: tuple[str, ...]
    label: str | None
    id: str | None
    time: str | None
    captions: tuple[str, ...] = ()

    @property
    def others(self) -> tuple[str, ...]:
        """All but the features."""
        return (*(name for name in (self.label, self.id, self.time) if name is not None), *self.captions)


def assign_roles(names: Sequence[str]) -> ColumnRoles:
    """By name: label (labels, y, class, target), id, time, captions (title, text); every other column is a feature.

    The row numbers that pandas writes are left out.

    >>> assign_roles(["id", "a", "b", "Label"]), assign_roles(["", "a", "b"]).features
    (ColumnRoles(features=('a', 'b'), label='Label', id='id', time=None, captions=()), ('a', 'b'))
    """
    label, identity, time = (_column_named(names, wanted) for wanted in (LABEL_NAMES, ID_NAMES, TIME_NAMES))
    index = _column_named(names, INDEX_NAMES)
    captions = tuple(name for wanted in CAPTION_NAMES if (name := _column_named(names, (wanted,))) is not None)
    features = tuple(name for name in names if name not in (label, identity, time, index, *captions))
    return ColumnRoles(features, label, identity, time, captions)


def _column_named(names: Sequence[str], wanted: tuple[str, ...]) -> str | None:
    return next((name for name in names if name.strip().lower() in wanted), None)


def fill_table(
    name: str,
    limits: Limits,
    part: ColumnRoles,
    rows: int,
    batches: Iterable["pa.RecordBatch"],
    width: int | None = None,
) -> Table:
    """Fill a float32 matrix from record batches of at most `rows` rows in total; `width` is that of a list column."""
    X = empty_rows((rows, width or len(part.features)), np.float32, IN_MEMORY)
    kept: dict[str, list[pa.Array]] = {column: [] for column in (part.label, part.id, part.time) if column is not None}
    captions: list[str] = []
    at = 0
    for batch in batches:
        if at + len(batch) > rows:
            raise BadFileError(f"{name} must have the {rows:,} rows it declares, got more; write it again")
        if width is None:
            for k, column in enumerate(part.features):
                X[at : at + len(batch), k] = to_numbers(batch.column(column))
        else:
            X[at : at + len(batch)] = _lists(name, batch.column(part.features[0]), width, at)
        for column, pieces in kept.items():
            pieces.append(batch.column(column))
        if part.captions and rows <= MAX_CAPTIONS:
            captions += to_captions([batch.column(column) for column in part.captions])
        at += len(batch)
        release_pages(X)
    if at == 0:
        raise BadFileError(f"{name} must have at least one row of numbers, got none")
    labels, class_names = (None, ()) if part.label is None else encode_classes(name, part.label, kept[part.label])
    return Table(
        name,
        X[:at],
        columns=part.features if width is None else (),
        labels=labels,
        class_names=class_names,
        ids=None if part.id is None else to_texts(name, part.id, kept[part.id], limits),
        time=None if part.time is None else to_seconds(name, part.time, kept[part.time]),
        captions=tuple(captions),
    )


def to_captions(columns: list["pa.Array"]) -> list[str]:
    """The first text of each row that is not empty, cut to what can be shown.

    >>> import pyarrow as pa
    >>> to_captions([pa.array(["a title", "", None]), pa.array(["a text", "its text", None])])
    ['a title', 'its text', '']
    """
    shown: dict[str, str] = {}  # a text of many rows is looked at, and kept, once
    captions = []
    for texts in zip(*map(_cut_texts, columns), strict=True):
        text = next((text for text in texts if text), "")
        if text not in shown:
            shown[text] = one_line(text)
        captions.append(shown[text])
    return captions


def _cut_texts(column: "pa.Array") -> list[str | None]:
    """Texts cut to what can be shown; those of a dictionary are cut there, and never written out per row."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    coded = pa.types.is_dictionary(column.type)
    texts = column.dictionary if coded else column
    cut: list[str | None] = pc.utf8_slice_codeunits(texts.cast(pa.large_string()), 0, LONGEST_CAPTION).to_pylist()
    return [None if at is None else cut[at] for at in column.indices.to_pylist()] if coded else cut


def join_pieces(pieces: list["pa.Array"]) -> "pa.ChunkedArray":
    """Pieces of one column; those of several files may be stored as different kinds of text."""
    import pyarrow as pa  # noqa: PLC0415

    kinds = {piece.type for piece in pieces}
    return pa.chunked_array(pieces if len(kinds) == 1 else [piece.cast(pa.string()) for piece in pieces])


def to_numbers(column: "pa.Array") -> Array:
    """An Arrow column as numbers, its nulls as NaN."""
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_floating(column.type) and not column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy())
    values: Array = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values


def encode_classes(name: str, title: str, pieces: list["pa.Array"]) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Classes as numbers 0, 1, ... in the order of their names, without ever writing a name out per row."""
    import pyarrow as pa  # noqa: PLC0415

    column = join_pieces(pieces)
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise BadFileError(f"{name} must have a label in every row, column {title!r} is empty at row {row}")
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=lambda k: class_order(names[k]))
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    indices: Array = encoded.indices.to_numpy(zero_copy_only=False)
    return rank[indices], tuple(str(names[k])[:LONGEST_TEXT] for k in order)


def to_texts(name: str, title: str, pieces: list["pa.Array"], limits: Limits) -> npt.NDArray[np.str_]:
    """A column as text; NumPy gives every row the room of the longest one, so that is limited first."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    column = join_pieces(pieces)
    if pa.types.is_dictionary(column.type):
        lengths = pc.utf8_length(column.unify_dictionaries().chunk(0).dictionary) if len(column) else None
        longest = pc.max(lengths).as_py() if lengths is not None else 0
        _check_text(name, title, longest or 0, len(column), limits)
        column = column.cast(pa.string())
    column = column.cast(pa.string())
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise BadFileError(f"{name} must have a value in every row, column {title!r} is empty at row {row}")
    longest = pc.max(pc.utf8_length(column)).as_py() or 0
    _check_text(name, title, longest, len(column), limits)
    return np.asarray(column.to_pylist(), dtype=f"U{max(1, longest)}")


def to_seconds(name: str, title: str, pieces: list["pa.Array"]) -> npt.NDArray[np.float64]:
    """Numbers, or dates as seconds since 1970."""
    import pyarrow as pa  # noqa: PLC0415

    column = pa.chunked_array(pieces)
    try:
        try:
            seconds = to_numbers(column)
        except pa.ArrowInvalid:
            seconds = to_numbers(column.cast(pa.timestamp("us")).cast(pa.int64())) / 1e6
        except pa.ArrowNotImplementedError:
            seconds = to_numbers(column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())) / 1e6
    except pa.ArrowException as error:
        raise BadFileError(
            f"{name} must have numbers or ISO dates in column {title!r} ({short_message(error)})"
        ) from None
    if not np.isfinite(seconds).all():
        row = int(np.flatnonzero(~np.isfinite(seconds))[0])
        raise BadFileError(f"{name} must have a time in every row, column {title!r} has none at row {row}")
    return seconds


def _check_text(name: str, title: str, longest: int, rows: int, limits: Limits) -> None:
    if longest > LONGEST_TEXT:
        raise BadFileError(
            f"{name} must have texts of at most {LONGEST_TEXT} characters in column {title!r}, got {longest}"
        )
    limits.check_decoded(f"{name}, column {title!r}", 4 * longest * rows)


def class_order(value: Any) -> tuple[int, Any, str]:
    """Numbers by value and before texts, also numbers written as text."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 1, 0.0, str(value)
    return (1, 0.0, str(value)) if math.isnan(number) else (0, number, str(value))


def _lists(name: str, column: "pa.Array", width: int, first: int) -> Array:
    import pyarrow as pa  # noqa: PLC0415

    if column.null_count:
        row = first + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise BadFileError(f"{name} must have a vector in every row, got none at row {row}")
    lengths = np.full(len(column), width)
    if not pa.types.is_fixed_size_list(column.type):
        lengths = np.diff(column.offsets.to_numpy())
    flat = column.flatten()
    if (lengths != width).any():
        row = int(np.flatnonzero(lengths != width)[0])
        raise BadFileError(
            f"{name} must have vectors of one length, on average {width}, got {lengths[row]} at row {first + row}"
        )
    return to_numbers(flat).reshape(len(column), width)
