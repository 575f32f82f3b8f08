"""A data set of any size as partitions: row groups of Parquet files, or fragments of a Lance data set.

A partition is plain JSON, so that it can be sent to a worker. Batches of a few thousand rows are all that is ever in
memory. Folders are paths on this machine, or any URL that fsspec knows, such as s3://bucket/folder.
"""

import importlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ohash.runtime.frames import JsonObject
from ohash.streams.readers.table import ID_NAMES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.fs import FileSystem

PARTITION_ROWS = 500_000  # row groups are joined up to this many rows
BATCH_VALUES = 2**22  # numbers of one batch
LANCE = ".lance"


@dataclass(frozen=True)
class Partition:
    """Some row groups of a file (or one fragment of a Lance data set), and the number of its first row in the whole."""

    place: str
    file: str
    groups: tuple[int, ...]
    rows: int
    first_row: int
    column: str
    id: str | None
    d: int

    @property
    def name(self) -> str:
        """The file of its codes."""
        return f"{self.file.removesuffix('.parquet')}-{self.groups[0]:05d}.parquet"

    def to_json(self) -> JsonObject:
        """Plain values."""
        return {**asdict(self), "groups": list(self.groups)}

    @classmethod
    def from_json(cls, values: JsonObject) -> "Partition":
        """The inverse of `to_json`."""
        return cls(**{**values, "groups": tuple(values["groups"])})


def list_partitions(place: str, column: str | None = None, identity: str | None = None) -> list[Partition]:
    """All partitions in order; files without rows have none."""
    parts = _lance_fragments if place.rstrip("/").endswith(LANCE) else _row_groups
    partitions: list[Partition] = []
    first = 0
    for file, groups, rows, schema in parts(place):
        vectors, name, d = _columns(f"{place}/{file}", schema, column, identity)
        partitions.append(Partition(place, file, groups, rows, first, vectors, name, d))
        first += rows
        if partitions[0].d not in (0, d) and d:
            raise ValueError(f"{place}/{file} must have vectors of {partitions[0].d} numbers like the others, got {d}")
    if not partitions:
        raise ValueError(f"{place} must be a folder of .parquet files or a Lance data set with rows, got none")
    return partitions


def read_batches(partition: Partition) -> Iterator[tuple["pa.Array", npt.NDArray[np.float32]]]:
    """(ids as an Arrow array, vectors (n, d)) of one batch after another."""
    size = max(1, BATCH_VALUES // max(1, partition.d or 256))
    columns = [partition.column] + ([partition.id] if partition.id is not None else [])
    row = partition.first_row
    for batch in (
        _lance_batches(partition, columns, size)
        if partition.place.rstrip("/").endswith(LANCE)
        else (_parquet_batches(partition, columns, size))
    ):
        import pyarrow as pa  # noqa: PLC0415

        ids = pa.array(np.arange(row, row + len(batch))) if partition.id is None else batch.column(partition.id)
        yield ids, to_vectors(f"{partition.place}/{partition.file}", batch.column(partition.column), row)
        row += len(batch)


def to_vectors(name: str, column: "pa.Array", first: int) -> npt.NDArray[np.float32]:
    """A column of lists as a matrix."""
    import pyarrow as pa  # noqa: PLC0415

    if column.null_count:
        raise ValueError(
            f"{name} must have a vector in every row, got none in some of rows {first} to {first + len(column) - 1}"
        )
    flat = column.flatten()
    if not len(column):
        return np.empty((0, 0), np.float32)
    if (
        flat.null_count
        or len(flat) % len(column)
        or (not pa.types.is_fixed_size_list(column.type) and len(set(np.diff(column.offsets.to_numpy()).tolist())) != 1)
    ):
        raise ValueError(f"{name} must have vectors of one length without gaps, got others at or after row {first}")
    return np.asarray(flat.to_numpy(zero_copy_only=False), np.float32).reshape(len(column), -1)


def _columns(name: str, schema: "pa.Schema", column: str | None, identity: str | None) -> tuple[str, str | None, int]:
    """(column of vectors, column of ids or None, numbers per vector if the schema says)."""
    import pyarrow as pa  # noqa: PLC0415

    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    lists = [
        field.name for field in schema
        if any(test(field.type) for test in kinds) and pa.types.is_floating(field.type.value_type)
    ]  # fmt: skip
    if column is not None and column not in lists:
        raise ValueError(f"--column must be a column of vectors of {name}, got {column!r}; it has {', '.join(lists)}")
    if column is None and len(lists) != 1:
        raise ValueError(f"{name} must have one column of vectors, got {', '.join(lists) or 'none'}; name it: --column")
    if identity is not None and identity not in schema.names:
        raise ValueError(f"--id must be a column of {name}, got {identity!r}; it has {', '.join(schema.names)}")
    if identity is None:
        identity = next((one for one in schema.names if one.strip().lower() in ID_NAMES), None)
    chosen = column or lists[0]
    kind = schema.field(chosen).type
    return chosen, identity, kind.list_size if pa.types.is_fixed_size_list(kind) else 0


def _row_groups(place: str) -> Iterator[tuple[str, tuple[int, ...], int, "pa.Schema"]]:
    import pyarrow.parquet as pq  # noqa: PLC0415

    system, folder = open_place(place)
    for file in (name for name in list_files(system, folder) if name.endswith(".parquet")):
        with system.open_input_file(f"{folder}/{file}") as stream:
            parquet = pq.ParquetFile(stream)
            sizes = [parquet.metadata.row_group(at).num_rows for at in range(parquet.metadata.num_row_groups)]
            schema = parquet.schema_arrow
        groups: list[int] = []
        for at, rows in enumerate(sizes):
            if groups and sum(sizes[group] for group in groups) + rows > PARTITION_ROWS:
                yield file, tuple(groups), sum(sizes[group] for group in groups), schema
                groups = []
            groups.append(at)
        if groups and sum(sizes[group] for group in groups):
            yield file, tuple(groups), sum(sizes[group] for group in groups), schema


def _parquet_batches(partition: Partition, columns: list[str], size: int) -> Iterator["pa.RecordBatch"]:
    import pyarrow.parquet as pq  # noqa: PLC0415

    system, folder = open_place(partition.place)
    with system.open_input_file(f"{folder}/{partition.file}") as stream:
        parquet = pq.ParquetFile(stream, pre_buffer=False)
        yield from parquet.iter_batches(size, row_groups=list(partition.groups), columns=columns, use_threads=False)


def _lance() -> ModuleType:
    try:
        return importlib.import_module("lance")
    except ImportError as error:
        raise ValueError("a Lance data set needs its reader: python3 -m pip install pylance") from error


def _lance_fragments(place: str) -> Iterator[tuple[str, tuple[int, ...], int, "pa.Schema"]]:
    data = _lance().dataset(place)
    for fragment in data.get_fragments():
        yield "fragment", (fragment.fragment_id,), fragment.count_rows(), data.schema


def _lance_batches(partition: Partition, columns: list[str], size: int) -> Iterator["pa.RecordBatch"]:
    fragment = _lance().dataset(partition.place).get_fragment(partition.groups[0])
    yield from fragment.to_batches(columns=columns, batch_size=size)


def open_place(place: str) -> tuple["FileSystem", str]:
    """(a file system of pyarrow, the path in it)."""
    from pyarrow import fs  # noqa: PLC0415

    if "://" not in place:
        return fs.LocalFileSystem(), place
    try:
        fsspec = importlib.import_module("fsspec")
        system, path = fsspec.core.url_to_fs(place)
    except ImportError as error:
        raise ValueError(f'{place} needs fsspec: python3 -m pip install "ohash[object-storage]" ({error})') from error
    except ValueError as error:
        raise ValueError(f"{place} is no place that fsspec knows: {error}") from error
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path


def list_files(system: "FileSystem", folder: str) -> dict[str, int]:
    """Sizes in bytes of all files under a folder, by their path within it; nothing if there is no such folder."""
    from pyarrow import fs  # noqa: PLC0415

    if system.get_file_info(folder).is_file:
        return {}
    entries = system.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
    start = len(folder.rstrip("/")) + 1
    return {info.path[start:]: info.size for info in sorted(entries, key=lambda one: one.path) if info.is_file}


def read_bytes(system: "FileSystem", path: str) -> bytes:
    """A whole file."""
    with system.open_input_stream(path) as stream:
        return bytes(stream.read())


def write_bytes(system: "FileSystem", path: str, content: bytes) -> None:
    """A whole file; the folder is made."""
    system.create_dir(path.rpartition("/")[0] or ".", recursive=True)
    with system.open_output_stream(path) as stream:
        stream.write(content)
