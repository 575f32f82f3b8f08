""".parquet: numeric columns side by side, or one column of lists (an embedding). The metadata are checked first.

A folder of Parquet files, as data sets are often published, is one table: its files follow each other by name. Rows are
read in batches, and what is large is written to a temporary file that is mapped: memory stays bounded.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ohash.streams.readers import arrow_columns as arrow
from ohash.streams.readers.source import (
    BadFileError,
    Limits,
    Source,
    file_error,
    format_bytes,
    out_of_memory,
    short_message,
)
from ohash.streams.readers.table import Peek, Table

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

MAGIC = b"PAR1"
WHOLE = "{} must be a whole Parquet file, from PAR1 to a footer and PAR1"
BATCH_VALUES = 2**22
# What a footer may claim to need: names and row groups of an honest file stay far below.
LONGEST_STRING, MAX_ENTRIES = 2**25, 2**20


def peek(source: Source, limits: Limits, variable: str | None = None) -> Peek:
    """From the footer."""
    part, width, rows, columns, _ = _whole_layout(source, limits, variable)
    _check_room(source, limits, rows * (width or columns) * 4)
    return Peek(rows, width or columns, "float32", labels=part.label is not None)


def read(source: Source, limits: Limits, variable: str | None = None) -> Table:
    """The features as float32, with label, id, time and captions; other columns are left out."""
    part, width, rows, columns, texts = _whole_layout(source, limits, variable)
    _check_room(source, limits, rows * (width or columns) * 4)
    wanted = [*part.features, *part.others]

    def batches() -> Iterator["pa.RecordBatch"]:
        for file_of in source.parts:
            # text is read as codes into a dictionary: a long text in every row would otherwise be written out each time
            with _open(file_of, texts) as file, _name_place(file_of, wanted):
                yield from file.iter_batches(max(1, BATCH_VALUES // (width or columns)), columns=wanted)

    return arrow.fill_table(source.name, limits, part, rows, batches(), width)


def columns(source: Source, limits: Limits, wanted: dict[str, str]) -> "dict[str, pa.ChunkedArray]":
    """Columns: `wanted` maps a name in the file to the name the column is wanted by."""
    with _open(source) as file:
        limits.check_shape(source.name, file.metadata.num_rows, len(wanted))
        texts = _texts(file, list(wanted))
    with _open(source, texts) as file, _name_place(source, list(wanted)):
        whole = file.read(columns=list(wanted))
    return {name: whole.column(column) for column, name in wanted.items()}


def names(source: Source) -> list[str]:
    """The names of the columns."""
    with _open(source) as file:
        return list(file.schema_arrow.names)


def _check_room(source: Source, limits: Limits, size: int) -> None:
    """Refuse vectors that fit neither in memory nor, read from this machine, in a temporary file."""
    if source.path is None or size <= arrow.IN_MEMORY:
        limits.check_decoded(source.name, size)
    elif (free := shutil.disk_usage(tempfile.gettempdir()).free) < size:
        raise BadFileError(
            f"{source.name} needs {format_bytes(size)} for its vectors in {tempfile.gettempdir()}, which has "
            f"{format_bytes(free)} left; free some, or set TMPDIR to a larger disk"
        )


def _whole_layout(
    source: Source, limits: Limits, variable: str | None
) -> tuple[arrow.ColumnRoles, int | None, int, int, list[str]]:
    """`_layout` of all files of a folder, which must agree; and the columns of text."""
    shared: tuple[arrow.ColumnRoles, int | None, int] | None = None
    total, texts = 0, set[str]()
    for one in source.parts:
        with _open(one) as file:
            part, width, rows, columns = _layout(one, limits, file, variable)
            texts |= set(_texts(file, [name for name in part.others if name != part.time]))
        if shared is not None and shared != (part, width, columns):
            raise BadFileError(
                f"files of {source.name} must have the same columns and vectors of one length, {one.name} differs from "
                f"{source.parts[0].name}: {_describe(part, columns)} instead of {_describe(shared[0], shared[2])}"
            )
        shared = part, width, columns
        total += rows
    assert shared is not None
    limits.check_shape(source.name, total, shared[2])
    return shared[0], shared[1], total, shared[2], sorted(texts)


def _describe(part: arrow.ColumnRoles, columns: int) -> str:
    return f"{', '.join([part.features[0], *part.others])} with {columns} values"


def _layout(
    source: Source, limits: Limits, file: "pq.ParquetFile", variable: str | None
) -> tuple[arrow.ColumnRoles, int | None, int, int]:
    """Roles of the columns, the width of the list column (None without one), rows, and the number of features."""
    import pyarrow as pa  # noqa: PLC0415

    rows, schema = file.metadata.num_rows, file.schema_arrow
    limits.check_shape(source.name, rows, max(1, file.metadata.num_columns))
    part = arrow.assign_roles(schema.names)
    numeric = [name for name in part.captions if not _is_text(schema.field(name).type)]  # then it is no caption
    part = replace(
        part,
        features=tuple(name for name in schema.names if name in (*part.features, *numeric)),
        captions=tuple(name for name in part.captions if name not in numeric),
    )
    is_list = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    lists = [name for name in part.features if any(test(schema.field(name).type) for test in is_list)]
    lists = [name for name in lists if _is_number(schema.field(name).type.value_type)]
    if variable is not None:
        if variable not in lists:
            raise BadFileError(
                f"{source.name} must have a column of lists of numbers {variable!r}, as the TOML file next to it says, "
                f"got {', '.join(lists[:5]) or 'none'}"
            )
        lists = [variable]
    if len(lists) > 1:
        raise BadFileError(
            f"{source.name} must have one column of vectors, got {', '.join(lists[:5])}; "
            'name one with variable = "..." in a TOML file next to it'
        )
    if lists:
        width = _width(source, file, lists[0], rows)
        limits.check_shape(source.name, rows, width)
        return replace(part, features=(lists[0],)), width, rows, width
    features = tuple(name for name in part.features if _is_number(schema.field(name).type))
    if not features or len(set(schema.names)) != len(schema.names):
        raise BadFileError(
            f"{source.name} must have columns of numbers or one column of lists of numbers, with distinct names, got "
            f"{', '.join(f'{field.name} ({field.type})' for field in list(schema)[:5]) or 'none'}"
        )
    return replace(part, features=features), None, rows, len(features)


def _width(source: Source, file: "pq.ParquetFile", column: str, rows: int) -> int:
    """Numbers in a list: all of them, as the footer counts, divided by the rows."""
    total = 0
    for group in range(file.metadata.num_row_groups):
        one = file.metadata.row_group(group)
        for k in range(one.num_columns):
            if one.column(k).path_in_schema.split(".", 1)[0] == column:
                total += one.column(k).num_values
    if total % rows or total == 0:
        raise BadFileError(
            f"{source.name} must have lists of one length in column {column!r}, got {total:,} numbers in {rows:,} rows"
        )
    return int(total // rows)


def _is_number(kind: "pa.DataType") -> bool:
    import pyarrow as pa  # noqa: PLC0415

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _is_text(kind: "pa.DataType") -> bool:
    import pyarrow as pa  # noqa: PLC0415

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _texts(file: "pq.ParquetFile", wanted: list[str]) -> list[str]:
    import pyarrow as pa  # noqa: PLC0415

    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    kinds = {name: file.schema_arrow.field(name).type for name in wanted}
    return [name for name, kind in kinds.items() if any(test(kind) for test in text)]


@contextmanager
def _name_place(source: Source, wanted: list[str]) -> Iterator[None]:
    """Errors name the place of the first part that cannot be decoded."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:
        if out_of_memory(error):  # the caller reports it
            raise
        raise BadFileError(
            f"{source.name} is damaged{_place(source, wanted)} ({short_message(error)}); copy it again"
        ) from None


def _place(source: Source, wanted: list[str]) -> str:
    """In words; empty if every part alone can be decoded."""
    with _open(source) as file:
        for group in range(file.metadata.num_row_groups):
            one = file.metadata.row_group(group)
            for chunk in (one.column(k) for k in range(one.num_columns)):
                if chunk.path_in_schema.split(".", 1)[0] not in wanted:
                    continue
                try:
                    file.read_row_group(group, columns=[chunk.path_in_schema])
                except Exception:  # whatever it is, it was raised before
                    start = min(at for at in (chunk.dictionary_page_offset, chunk.data_page_offset) if at is not None)
                    end = start + chunk.total_compressed_size
                    return (
                        f": column {chunk.path_in_schema!r} of row group {group} must be {chunk.num_values:,} values "
                        f"in bytes {start:,} to {end:,}, which cannot be decoded"
                    )
    return ""


@contextmanager
def _open(source: Source, dictionaries: list[str] | None = None) -> Iterator["pq.ParquetFile"]:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with source.open() as stream:
            yield pq.ParquetFile(
                stream,
                read_dictionary=dictionaries,
                thrift_string_size_limit=LONGEST_STRING,
                thrift_container_size_limit=MAX_ENTRIES,
                page_checksum_verification=True,
            )
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise file_error(
            source.name,
            error,
            _not_whole(source) or f"{WHOLE.format(source.name)} ({short_message(error)}); write it again",
        ) from None


def _not_whole(source: Source) -> str:
    """What a file that was cut off lacks: its footer, the length of that and PAR1; empty if they are there."""
    end = source.end(8)
    if source.start(4) != MAGIC:
        return f"{WHOLE.format(source.name)}, it starts with {source.start(4)!r} at byte 0; it is not one or damaged"
    if end[4:] != MAGIC or len(end) < 8:
        return (
            f"{WHOLE.format(source.name)}, it ends at byte {source.size:,} with {end[-4:]!r} instead; it is truncated, "
            "copy it again"
        )
    footer = int.from_bytes(end[:4], "little")
    if footer + 12 > source.size:
        return (
            f"{WHOLE.format(source.name)}, its footer must have {footer:,} bytes and the file has {source.size:,}; "
            "it is damaged, copy it again"
        )
    return ""
