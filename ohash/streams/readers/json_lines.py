""".jsonl: one JSON object per line, such as {"query-id": "q1", "corpus-id": "d7", "score": 1}; a table of pairs."""

import io
import json
from typing import TYPE_CHECKING

from ohash.runtime.frames import JsonObject
from ohash.streams.readers.source import BadFileError, Limits, Source, short_message

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_LINE = 2**16
BLOCK_BYTES = 2**22


def names(source: Source) -> list[str]:
    """The keys of the first line."""
    return list(_first(source))


def columns(source: Source, limits: Limits, wanted: dict[str, str]) -> "dict[str, pa.ChunkedArray]":
    """Columns: `wanted` maps a key to the name the column is wanted by. The first line says which are texts."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.json as pa_json  # noqa: PLC0415

    first = _first(source)
    schema = pa.schema([(key, _kind(first[key])) for key in wanted])
    limits.check_decoded(source.name, source.size)
    with source.open() as stream:
        start = 3 if source.start(3) == b"\xef\xbb\xbf" else 0  # a byte order mark
        stream.seek(start)
        try:
            whole = pa_json.read_json(
                io.BytesIO(stream.read()),
                pa_json.ReadOptions(use_threads=False, block_size=BLOCK_BYTES),
                pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
            )
        except pa.ArrowException as error:
            raise BadFileError(
                f"{source.name} must have one JSON object per line, with values like those of the first line "
                f"({short_message(error)})"
            ) from None
    for key in wanted:
        if whole.column(key).null_count:
            raise BadFileError(f"{source.name} must have {key!r} in every line, some have none")
    return {name: whole.column(key) for key, name in wanted.items()}


def _first(source: Source) -> JsonObject:
    line = source.start(LONGEST_LINE).partition(b"\n")[0]
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadFileError(
            f"{source.name} must have one JSON object per line, the first is none ({short_message(error)})"
        ) from None
    if not isinstance(row, dict):
        raise BadFileError(f"{source.name} must have one JSON object per line, the first is {type(row).__name__}")
    return row


def _kind(value: object) -> "pa.DataType":
    import pyarrow as pa  # noqa: PLC0415

    if isinstance(value, bool):
        return pa.bool_()
    return pa.string() if isinstance(value, str) else pa.int64() if isinstance(value, int) else pa.float64()
