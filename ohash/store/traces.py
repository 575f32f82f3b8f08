"""The file of one run: its curves as a Parquet table that any tool can read, everything else in the table's metadata.

The column `kind` says which curve a row belongs to: "pairs" for the history, "checkpoint" for evaluations. A file is
written under a temporary name and renamed when it is complete, so there are no partial files.
"""

import base64
import io
import json
import os
from pathlib import Path

import numpy as np

from ohash.runtime.files import write_file
from ohash.runtime.frames import Arrays, Frame, JsonObject, group_of, read_frame, write_frame

KINDS = {"columns": "pairs", "checkpoints": "checkpoint"}
MAGIC = b"PAR1"
VALUES, ARRAYS = b"ohash", b"ohash.arrays"


def write_trace(path: Path, values: JsonObject, arrays: Arrays) -> None:
    """Write the file atomically; an error leaves nothing behind."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    curves = {group: group_of(arrays, group) for group in KINDS}
    names = list(dict.fromkeys(name for columns in curves.values() for name in columns))
    lengths = {group: len(next(iter(columns.values()), ())) for group, columns in curves.items()}
    table: Arrays = {"kind": np.repeat(list(KINDS.values()), list(lengths.values()))}
    for name in names:
        parts = [
            pa.array(curves[group][name]) if name in curves[group] else pa.nulls(lengths[group], pa.float64())
            for group in KINDS
        ]
        table[name] = pa.concat_arrays(parts)
    rest = io.BytesIO()
    write_frame(rest, {}, {name: array for name, array in arrays.items() if name.partition("/")[0] not in KINDS})
    description = {**values, "curves": {group: list(columns) for group, columns in curves.items()}}
    schema_metadata = {VALUES: json.dumps(description).encode(), ARRAYS: base64.b64encode(rest.getvalue())}
    sink = io.BytesIO()
    pq.write_table(pa.table(table).replace_schema_metadata(schema_metadata), sink, compression="zstd")
    write_file(path, sink.getvalue())


def read_trace(path: Path) -> Frame:
    """Values and arrays as they were written; ValueError for a damaged or foreign file."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        table = pq.read_table(path)
        values, arrays = _metadata(table.schema.metadata)
        kind = np.asarray(table["kind"].to_pylist())
        for group, names in values.pop("curves").items():
            rows = kind == KINDS[group]
            for name in names:
                column = table[name].to_numpy()[rows]
                arrays[f"{group}/{name}"] = column.astype(np.float64)
        return values, arrays
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged file fails in a dozen ways
        raise ValueError(f"{path} must be the trace of a run, but is foreign or damaged ({error})") from error


def read_values(path: Path) -> JsonObject:
    """Only the values; reads the end of the file."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        values, _ = _metadata(pq.read_schema(path).metadata)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(f"{path} must be the trace of a run, but is foreign or damaged ({error})") from error
    return values


def looks_complete(path: Path) -> bool:
    """A quick check for long lists: the file starts and ends like Parquet. `read_trace` also reads its content."""
    try:
        with path.open("rb") as file:
            head, size = file.read(len(MAGIC)), file.seek(0, os.SEEK_END)
            if head != MAGIC or size < 3 * len(MAGIC):
                return False
            file.seek(-2 * len(MAGIC), os.SEEK_END)  # the length of the footer, and the magic again
            footer, tail = int.from_bytes(file.read(len(MAGIC)), "little"), file.read()
    except OSError:
        return False
    return tail == MAGIC and footer + 3 * len(MAGIC) <= size


def _metadata(metadata: dict[bytes, bytes]) -> Frame:
    values = json.loads(metadata[VALUES])
    frame = read_frame(io.BytesIO(base64.b64decode(metadata[ARRAYS])))
    assert frame is not None
    return values, frame[1]
