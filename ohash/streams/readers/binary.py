""".fvecs, .bvecs and .ivecs of the TEXMEX site: each vector is its dimension d (int32, little-endian), then d values.

The file is memory-mapped as rows of 4 + d values; the column of dimensions is left out by a view.

IDX, the format of MNIST, plain or gzipped: 0, 0, 8 (uint8), number of axes, the axes (big-endian), the values.
"""

import gzip
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ohash.core.rows import gather
from ohash.streams.readers.source import MAP_FROM, BadFileError, Limits, Source, file_error, short_message
from ohash.streams.readers.table import Peek, Table

DTYPES: dict[str, np.dtype[Any]] = {".fvecs": np.dtype("<f4"), ".ivecs": np.dtype("<i4"), ".bvecs": np.dtype("u1")}
LOOKED_AT = 1000


def peek(source: Source, limits: Limits, variable: str | None = None) -> Peek:
    """From the first dimension and the size of the file."""
    rows, d = _shape(source, limits)
    return Peek(rows, d, str(DTYPES[source.extension]))


def read(source: Source, limits: Limits, variable: str | None = None) -> Table:
    """The vectors, as a view."""
    rows, d = _shape(source, limits)
    dtype = DTYPES[source.extension]
    ahead = 4 // dtype.itemsize
    whole = source.array(dtype, (rows, ahead + d))
    # every row of a small file, a thousand of a mapped one: to look at all would read it all
    looked_at = (
        np.arange(rows) if source.size < MAP_FROM else np.unique(np.linspace(0, rows - 1, LOOKED_AT).astype(int))
    )
    dimensions = np.ascontiguousarray(gather(whole, looked_at)[:, :ahead]).view("<i4")[:, 0]
    if (dimensions != d).any():
        row = int(looked_at[np.flatnonzero(dimensions != d)[0]])
        got = int(dimensions[dimensions != d][0])
        raise BadFileError(
            f"{source.name} must have vectors of one dimension, {d} as the first says, got {got} for vector {row} at "
            f"byte {row * (4 + d * dtype.itemsize):,}; the file is damaged there, copy it again"
        )
    return Table(source.name, whole[:, ahead:])


def _shape(source: Source, limits: Limits) -> tuple[int, int]:
    if source.size < 4:
        raise BadFileError(f"{source.name} must start with a dimension of 4 bytes, the file ends at byte {source.size}")
    d = int.from_bytes(source.start(4), "little", signed=True)
    if not 1 <= d <= limits.columns:
        raise BadFileError(
            f"{source.name} must start with the dimension of its vectors, 1 to {limits.columns:,} (int32, "
            f"little-endian), got {d} at byte 0; is it a {source.extension} file?"
        )
    record = 4 + d * DTYPES[source.extension].itemsize
    rows, rest = divmod(source.size, record)
    if rest:
        raise BadFileError(
            f"{source.name} must hold whole vectors of {record:,} bytes (dimension {d}); vector {rows} begins "
            f"at byte {rows * record:,} and should end at byte {(rows + 1) * record:,}, the file ends at byte "
            f"{source.size:,}; it is truncated, copy it again"
        )
    limits.check_shape(source.name, rows, d)
    return rows, d


MAX_BYTES = 2**28


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """The array; one byte more than declared, or less, is refused."""
    stream: IO[bytes] | gzip.GzipFile
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            start = stream.read(4)
            if len(start) < 4 or start[:3] != b"\0\0\x08" or not 1 <= start[3] <= 3:
                raise BadFileError(f"{path} must start with the bytes 0, 0, 8 and 1 to 3 axes of IDX, got {start!r}")
            axes = stream.read(4 * start[3])
            shape = tuple(int(v) for v in np.frombuffer(axes[: len(axes) // 4 * 4], ">u4"))
            size = int(np.prod(shape, dtype=object))
            if len(shape) != start[3] or not 1 <= size <= MAX_BYTES:
                raise BadFileError(f"{path} must declare 1 to {MAX_BYTES:,} values, its header declares {shape}")
            data = stream.read(size + 1)
    except (OSError, EOFError, gzip.zlib.error) as error:  # type: ignore[attr-defined]
        raise file_error(
            str(path),
            error,
            f"{path} cannot be read ({short_message(error)}); it is damaged or truncated, install it again",
        ) from None
    if len(data) != size:
        raise BadFileError(
            f"{path} must have {size:,} bytes after its header for the shape {shape}, got "
            f"{'more' if len(data) > size else f'{len(data):,}'}; it is damaged or truncated, install it again"
        )
    return np.frombuffer(data, np.uint8).reshape(shape)
