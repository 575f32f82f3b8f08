"""Files that annotate vectors: pairs, and labels.

Pairs have columns i and j, optionally s (+1 / -1, or 1 / 0) and time, as row numbers or ids. Relevance judgements
(qrels, as BEIR and MTEB publish them) have query-id, corpus-id and a score: above 0 is similar, 0 dissimilar. Labels
are one per row of the vectors, as .npy, .csv or .txt.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Labels
from ohash.streams.annotations import parse_signs
from ohash.streams.readers import arrow_columns as arrow
from ohash.streams.readers import delimited, json_lines, numpy_files, parquet
from ohash.streams.readers.file_formats import read_safely, refuse_pickle
from ohash.streams.readers.source import BadFileError, Limits, Source
from ohash.streams.readers.table import LABEL_NAMES
from ohash.table_files import is_number

if TYPE_CHECKING:
    import pyarrow as pa

NAMES = {
    "i": ("i", "a", "query", "query_id", "query-id", "qid", "left", "id1", "item1", "source"),
    "j": (
        "j", "b", "item", "item_id", "item-id", "corpus-id", "corpus_id", "doc_id", "doc-id", "docid", "doc",
        "document", "right", "id2", "item2", "target",
    ),
    "s": ("s", "similar", "label", "clicked", "match"),
    "time": ("time", "timestamp", "t"),
    "score": ("score", "relevance", "rel"),
}  # fmt: skip
BY_PLACE = ("i", "j", "s", "time")
PAIR_EXTENSIONS = (".csv", ".tsv", ".parquet", ".npy", ".npz", ".jsonl")

COLUMN_READERS = {".parquet": parquet.columns, ".jsonl": json_lines.columns}

Columns = tuple[Array, ...]


def load_pairs(source: Source, limits: Limits, *, texts: bool = False) -> Columns:
    """Columns of pairs in one form, read by the extension of the file; with `texts`, ids stay as they are written."""
    _check_extension(source, PAIR_EXTENSIONS, "pairs")
    return read_safely(source, limits, lambda: _check_columns(source, _pair_columns(source, limits, texts=texts)))


def as_row_numbers(name: str, columns: Columns, vectors: str) -> Columns:
    """Columns of the file `name`, for `vectors` without ids: text such as 1.0 is a row number, other text refused."""
    if columns[0].dtype.kind != "U":
        return columns
    i, j = (_row_numbers(name, column, vectors) for column in columns[:2])
    return _parse_ids(name, "i", i), _parse_ids(name, "j", j), *columns[2:]


def _check_extension(source: Source, extensions: tuple[str, ...], content: str) -> None:
    if source.extension not in extensions:
        refuse_pickle(source)
        raise BadFileError(
            f"{source.name} must be one of {', '.join(extensions)} to hold {content}, got {source.extension}"
        )


def check_pairs(source: Source, limits: Limits) -> None:
    """Refuse by its header a file that cannot hold pairs."""
    _check_extension(source, PAIR_EXTENSIONS, "pairs")
    read_safely(
        source,
        limits,
        lambda: _pair_matrix_shape(source, limits) if source.extension == ".npy" else _find_columns(source, limits),
    )


def _pair_columns(source: Source, limits: Limits, *, texts: bool) -> Mapping[str, Array]:
    if source.extension == ".npy":
        _pair_matrix_shape(source, limits)
        return dict(
            zip(
                BY_PLACE, numpy_files.read_array(source, limits, numpy_files.NUMBERS + numpy_files.TEXT).T, strict=False
            )
        )
    wanted = _find_columns(source, limits)
    if source.extension == ".npz":
        arrays = numpy_files.read_arrays(source, limits)
        return {name: arrays[column] for column, name in wanted.items()}
    columns = COLUMN_READERS.get(source.extension, delimited.columns)(source, limits, wanted)
    return {name: _pair_values(source, limits, name, column, texts=texts) for name, column in columns.items()}


def _pair_matrix_shape(source: Source, limits: Limits) -> tuple[int, ...]:
    """The shape of a matrix with one pair per row."""
    shape = numpy_files.check_header(source, limits, numpy_files.NUMBERS + numpy_files.TEXT).shape
    if len(shape) != 2 or not 2 <= shape[1] <= 4:
        raise BadFileError(f"{source.name} must be a matrix of 2 to 4 columns i, j, s, time, got shape {shape}")
    return shape


def _find_columns(source: Source, limits: Limits) -> dict[str, str]:
    """Names in the file -> i, j, s, time; columns without names come in that order."""
    if source.extension == ".npz":
        return _match_names(source, numpy_files.array_names(source))
    if source.extension == ".parquet":
        return _match_names(source, parquet.names(source))
    if source.extension == ".jsonl":
        return _match_names(source, json_lines.names(source))
    first = delimited.first_line(source, limits)
    if len(first.names) < 2:
        raise BadFileError(f"{source.name} must have columns i, j and optionally s and time, got one column")
    return _match_names(source, first.names) if first.has_names else dict(zip(first.names, BY_PLACE, strict=False))


def _match_names(source: Source, names: Sequence[str]) -> dict[str, str]:
    """Names in the file -> i, j, s, time."""
    matches = {}
    for wanted, aliases in NAMES.items():
        for alias in aliases:
            match = next((name for name in names if name.strip().lower() == alias and name not in matches), None)
            if match is not None:
                matches[match] = wanted
                break
    if not {"i", "j"} <= set(matches.values()):
        raise BadFileError(
            f"{source.name} must have columns i and j (or query, item; query-id, corpus-id), optionally s and time, "
            f"got {', '.join(list(names)[:6]) or 'none'}; rename them"
        )
    return matches


def _pair_values(source: Source, limits: Limits, name: str, column: "pa.ChunkedArray", *, texts: bool) -> Array:
    """An Arrow column as numbers where it holds numbers, else as text; ids always as text if `texts`."""
    import pyarrow as pa  # noqa: PLC0415

    if name == "time":
        return arrow.to_seconds(source.name, name, column.chunks)
    try:
        if name in ("s", "score"):
            return arrow.to_numbers(column)
        if not texts and not pa.types.is_dictionary(column.type) and not column.null_count:
            whole: Array = column.cast(pa.int64()).to_numpy()
            return whole
    except pa.ArrowException:
        if name == "s":
            raise BadFileError(f"{source.name} must have +1 and -1 (or 1 and 0) in column s, got text") from None
        if name == "score":
            raise BadFileError(f"{source.name} must have numbers in column score, got text") from None
    return arrow.to_texts(source.name, name, column.chunks, limits)


def _check_columns(source: Source, values: Mapping[str, Array]) -> Columns:
    i, j = (_parse_ids(source.name, title, values[title]) for title in "ij")
    if not len(i) == len(j) > 0 or i.ndim != 1 or j.ndim != 1:
        raise BadFileError(f"{source.name} must have as many i as j, at least one, got shapes {i.shape} and {j.shape}")
    if i.dtype.kind != j.dtype.kind and "U" in (i.dtype.kind, j.dtype.kind):
        i, j = i.astype(np.str_), j.astype(np.str_)
    s, time = values.get("s"), values.get("time")
    if s is None and "score" in values:
        s = _signs_of_scores(source, values["score"])
    columns = [i, j]
    if s is not None:
        columns.append(_parse_signs(source, s))
    elif time is not None:
        columns.append(np.ones(len(i), np.int8))
    if time is not None:
        columns.append(np.asarray(time, dtype=np.float64))
    if len({column.shape for column in columns}) != 1:
        raise BadFileError(f"{source.name} must have columns of one length, got {[len(column) for column in columns]}")
    return tuple(columns)


def _signs_of_scores(source: Source, scores: Array) -> npt.NDArray[np.int8]:
    """Judgements: above 0 is similar, anything else dissimilar."""
    missing = np.flatnonzero(np.isnan(scores))
    if len(missing):
        raise BadFileError(f"{source.name} must have a score in every row, got none at row {missing[0]}")
    return np.where(scores > 0, 1, -1).astype(np.int8)


def _row_numbers(name: str, column: Array, vectors: str) -> npt.NDArray[np.float64]:
    try:
        return column.astype(np.float64)
    except ValueError:
        one = next((text for text in column.tolist() if not is_number(text)), str(column[0]))
        raise BadFileError(
            f"{name} refers to points by ids such as {one!r}, and {vectors} has none; give it a column 'id', or use "
            "row numbers 0, 1, ... in the pairs"
        ) from None


def _parse_ids(name: str, title: str, column: Array) -> Array:
    """Row numbers as int64 (whole numbers stored as floats too), ids as text."""
    if column.dtype.kind == "f":
        if not (np.isfinite(column) & (np.abs(column) < 2**53)).all() or (column % 1 != 0).any():
            raise BadFileError(f"{name} must have whole row numbers or ids in column {title}, got fractions or NaN")
        return column.astype(np.int64)
    return column.astype(np.str_) if column.dtype.kind in "US" else column.astype(np.int64)


def _parse_signs(source: Source, s: Array) -> npt.NDArray[np.int8]:
    """`annotations.parse_signs` for this file. If all are 1, all pairs are similar."""
    try:
        return parse_signs(np.asarray(s))
    except ValueError as error:
        raise BadFileError(f"{source.name}: {error}") from None


LABEL_EXTENSIONS = (".npy", ".csv", ".tsv", ".txt")

# One class a row and the names of the classes; or flags (n, L) and no names.
NamedLabels = tuple[Labels, tuple[str, ...]]  # class numbers or flags, and the names of the classes


def load_labels(source: Source, limits: Limits) -> NamedLabels:
    """Read by extension."""
    _check_extension(source, LABEL_EXTENSIONS, "labels")
    return read_safely(source, limits, lambda: _read_labels(source, limits))


def count_labels(source: Source, limits: Limits) -> int | None:
    """How many labels the header declares, None if it does not; a file that cannot hold labels is refused."""
    _check_extension(source, LABEL_EXTENSIONS, "labels")
    return read_safely(source, limits, lambda: _label_count(source, limits))


def check_label_count(name: str, got: int, vectors: str, rows: int) -> None:
    """Refuse labels that do not match the rows of the file `vectors`."""
    if got != rows:
        raise BadFileError(f"{name} must have one label per row of {vectors}, {rows:,}, got {got:,}")


def encode_labels(name: str, labels: Array) -> NamedLabels:
    """An array of classes as numbers with names."""
    _label_count_of(name, labels.shape)
    if labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    if labels.ndim == 2:
        return labels, ()
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        at = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise BadFileError(f"{name} must have a label in every row, got {labels[at]} at row {at}")
    if labels.dtype.kind == "f" and (labels % 1 != 0).any():
        at = int(np.flatnonzero(labels % 1 != 0)[0])
        raise BadFileError(
            f"{name} must hold classes, whole numbers or texts, got {labels[at]:g} at row {at}; cut a measurement into "
            "classes first"
        )
    names, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), tuple(_class_name(value) for value in names)


def _read_labels(source: Source, limits: Limits) -> NamedLabels:
    if source.extension == ".npy":
        labels = numpy_files.read_array(source, limits, numpy_files.NUMBERS + numpy_files.TEXT)
        limits.check_decoded(source.name, labels.nbytes)
        return encode_labels(source.name, labels)
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
        return arrow.encode_classes(source.name, "label", [pa.array(cells, pa.string())])
    column = _label_column(source, limits)
    return arrow.encode_classes(
        source.name, column, delimited.columns(source, limits, {column: "label"})["label"].chunks
    )


def _label_count(source: Source, limits: Limits) -> int | None:
    if source.extension == ".npy":
        return _label_count_of(
            source.name, numpy_files.check_header(source, limits, numpy_files.NUMBERS + numpy_files.TEXT).shape
        )
    if source.extension != ".txt":
        _label_column(source, limits)
    return None


def _label_count_of(name: str, shape: tuple[int, ...]) -> int:
    """One label per row, or a row of flags."""
    if len(shape) not in (1, 2):
        raise BadFileError(f"{name} must have one label per row, or a matrix of flags, got shape {shape}")
    return max(shape) if 1 in shape else shape[0]


def _label_column(source: Source, limits: Limits) -> str:
    """The column of labels of a table, by its name or because it is the only one."""
    first = delimited.first_line(source, limits)
    column = arrow.assign_roles(first.names).label if first.has_names else None
    if column is None and len(first.names) > 1:
        raise BadFileError(
            f"{source.name} must have one column, or one called {LABEL_NAMES[0]!r}, got {', '.join(first.names[:6])}"
            + ("; these look like pairs: give them as pairs" if {"i", "j"} <= {*map(str.lower, first.names)} else "")
        )
    return column or first.names[0]


def _class_name(value: object) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.removesuffix(".0")[: arrow.LONGEST_TEXT]
