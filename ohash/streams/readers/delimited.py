""".csv and .tsv: numbers in columns, with or without a header line; label, id and time columns are recognized by name.

The columns of the first line and the number of lines are counted before anything is parsed; parsing streams in blocks.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from ohash.streams.readers import arrow_columns as arrow
from ohash.streams.readers.source import BadFileError, Limits, Source, file_error, short_message
from ohash.streams.readers.table import Peek, Table
from ohash.table_files import is_number

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_LINE = 2**24
BYTES_PER_READ = 2**22
# Lines of a larger file are not counted for a listing, only estimated from its start.
COUNTED = 2**26

# A file that was cut inside its last number looks like this; some programs write it so.
UNENDED = "the last line has no line break: is the file complete?"

Result = TypeVar("Result")


@dataclass(frozen=True)
class FirstLine:
    """What the first line says."""

    names: tuple[str, ...]
    has_names: bool
    delimiter: str
    length: int


def peek(source: Source, limits: Limits, variable: str | None = None) -> Peek:
    """Columns from the first line; lines counted, or estimated if the file is large."""
    first = first_line(source, limits)
    if source.size <= COUNTED:
        rows, exact = lines(source), True
    else:
        start = source.start(2**20)
        rows, exact = round(source.size * start.count(b"\n") / len(start)), False
    rows -= first.has_names
    limits.check_shape(source.name, rows, len(first.names))
    part = arrow.assign_roles(first.names)
    if exact:
        limits.check_decoded(source.name, rows * len(part.features) * 4)
    return Peek(rows, len(part.features), "float32", exact, labels=part.label is not None)


def read(source: Source, limits: Limits, variable: str | None = None) -> Table:
    """The feature columns as float32, with the label, id and time columns."""
    first = first_line(source, limits)
    rows = lines(source) - first.has_names
    part = arrow.assign_roles(first.names)
    limits.check_shape(source.name, rows, len(first.names))
    limits.check_decoded(source.name, rows * len(part.features) * 4)
    if not part.features:
        raise BadFileError(f"{source.name} must have columns of numbers besides {', '.join(first.names[:4])}, got none")
    table = _parse(source, first, part.features, lambda found: arrow.fill_table(source.name, limits, part, rows, found))
    return table if _ends_a_line(source) else replace(table, note=UNENDED)


def columns(source: Source, limits: Limits, wanted: dict[str, str]) -> "dict[str, pa.ChunkedArray]":
    """Columns as text: `wanted` maps a name in the file to the name the column is wanted by."""
    import pyarrow as pa  # noqa: PLC0415

    first = first_line(source, limits)
    limits.check_shape(source.name, lines(source) - first.has_names, len(first.names))

    def collect(batches: "Iterable[pa.RecordBatch]") -> "dict[str, pa.ChunkedArray]":
        whole = pa.Table.from_batches(list(batches))
        return {name: whole.column(column) for column, name in wanted.items()}

    return _parse(source, first, (), collect)


def first_line(source: Source, limits: Limits) -> FirstLine:
    """Names and delimiter; if the first line holds numbers, there are no names."""
    start = source.start(LONGEST_LINE)
    line, newline, _ = start.partition(b"\n")
    if not newline and source.size > LONGEST_LINE:
        raise BadFileError(f"{source.name} must have lines of at most {LONGEST_LINE:,} bytes, the first is longer")
    delimiter = max((",", ";", "\t"), key=lambda c: line.count(c.encode()))
    limits.check_shape(source.name, 1, line.count(delimiter.encode()) + 1)
    try:
        text = line.decode("utf-8-sig").rstrip("\r")
        if "\0" in text:
            raise UnicodeError("a zero byte")
        cells = next(csv.reader([text], delimiter=delimiter), [])
    except (UnicodeError, csv.Error) as error:
        raise BadFileError(
            f"{source.name} must be text in UTF-8, the first line is not ({short_message(error)}); save it as UTF-8"
        ) from None
    if not any(cell.strip() for cell in cells):
        raise BadFileError(f"{source.name} must start with a line of names or numbers, the first line is empty")
    counted = len(cells) > 2 and [cell.strip() for cell in cells] == [str(k) for k in range(len(cells))]
    if all(is_number(cell) for cell in cells) and not counted:  # pandas calls unnamed columns 0, 1, 2, ...
        return FirstLine(tuple(str(k) for k in range(len(cells))), False, delimiter, len(line))
    return FirstLine(_distinct([cell.strip() for cell in cells]), True, delimiter, len(line))


def lines(source: Source) -> int:
    """The number of lines, the last one also without a line break."""
    count, last = 0, b"\n"
    with source.open() as stream:
        while block := stream.read(LONGEST_LINE):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")


def _ends_a_line(source: Source) -> bool:
    with source.open() as stream:
        stream.seek(-1, io.SEEK_END)
        return stream.read(1) in b"\r\n"


def _parse(
    source: Source, first: FirstLine, features: tuple[str, ...], use: "Callable[[Iterable[pa.RecordBatch]], Result]"
) -> Result:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.csv as pa_csv  # noqa: PLC0415

    numeric = set(features)
    types = {name: pa.float64() if name in numeric else pa.string() for name in first.names}
    try:
        with source.open() as stream:
            reader = pa_csv.open_csv(
                stream,
                pa_csv.ReadOptions(
                    use_threads=False,
                    block_size=max(BYTES_PER_READ, 4 * first.length),
                    column_names=list(first.names),
                    skip_rows=int(first.has_names),
                ),
                pa_csv.ParseOptions(delimiter=first.delimiter),
                pa_csv.ConvertOptions(column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False),
            )
            return use(reader)
    except (pa.ArrowException, UnicodeError) as error:
        message = short_message(error)
        advice = "call a column of text 'label' or 'id', or remove it"
        if re.search(r"'-?\d+,\d+'", message):
            advice = "write numbers with a decimal point, not a comma"
        raise file_error(
            source.name,
            error,
            f"{source.name} must have {len(first.names)} columns of numbers in every line ({message}); {advice}",
        ) from None


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Repeated names get a number: a, a.1, a.2."""
    seen: dict[str, int] = {}
    distinct = []
    for name in names:
        count = seen.get(name, 0)
        seen[name] = count + 1
        distinct.append(f"{name}.{count}" if count else name)
    if len(set(distinct)) != len(distinct):
        return tuple(f"{k} {name}" for k, name in enumerate(names))
    return tuple(distinct)
