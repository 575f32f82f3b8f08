"""NumPy's .npy: the header is compared with the size of the file, then the data are mapped; never a pickle."""

import io
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ohash.streams.readers.limits import BadFileError, Limits, refusal, told
from ohash.streams.readers.source import Source
from ohash.streams.readers.table import Peek, Table

# No header of a plain array comes near this; more is not read, whatever length is declared.
LONGEST_HEADER = 8192
NUMBERS = "fiub"
TEXT = "US"


@dataclass(frozen=True)
class Header:
    """What the header declares, and the byte the data start at."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    offset: int

    @property
    def nbytes(self) -> int:
        """Bytes of data, as a Python integer: 10^12 rows do not overflow."""
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize


def header(name: str, stream: BinaryIO, kinds: str = NUMBERS) -> Header:
    """Parse a header; `kinds` are the letters of the dtypes that are allowed."""
    start = io.BytesIO(stream.read(LONGEST_HEADER + 12))
    if start.getvalue()[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        raise pickled(name)
    try:
        version = np.lib.format.read_magic(start)
        parse = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = parse(start)
    except Exception as error:
        raise refusal(
            name,
            error,
            f"{name} must start with a .npy header (byte 0: \\x93NUMPY, version 1 or 2), got bytes "
            f"{start.getvalue()[:8]!r} ({told(error)}); write it with np.save",
        ) from None
    if dtype.hasobject:
        raise pickled(name)
    if dtype.kind not in kinds or (dtype.kind in NUMBERS and dtype.itemsize > 8):
        raise BadFileError(
            f"{name} must hold real numbers (float16, float32, float64, int8, uint8, ...), got dtype {dtype}; "
            "convert it with X.astype('float32')"
        )
    if any(extent < 0 for extent in shape):
        raise BadFileError(f"{name} must declare a shape of counts, its header declares {shape}")
    return Header(dtype, tuple(int(extent) for extent in shape), bool(fortran), start.tell())


def pickled(name: str) -> BadFileError:
    """The refusal of a pickle."""
    return BadFileError(
        f"{name} holds a pickle, and reading one runs code, so it is never read here; save plain numbers instead: "
        "np.save('x.npy', X.astype('float32')), np.savez or Parquet (CIFAR-10: take the binary version, .bin)"
    )


def matrix_shape(name: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """The two extents, or a refusal that says what to do with the others."""
    if len(shape) != 2:
        way_out = (
            'labels belong in a TOML beside the vectors (labels = "...") or in --labels'
            if len(shape) == 1
            else "reshape it with X.reshape(len(X), -1)"
        )
        raise BadFileError(f"{name} must be a matrix (n, d), got shape {shape}; {way_out}")
    return shape[0], shape[1]


def checked(source: Source, limits: Limits, kinds: str = NUMBERS) -> Header:
    """The header of a file whose size and shape are as they should be."""
    with source.open() as stream:
        found = header(source.name, stream, kinds)
    got = source.size - found.offset
    if got != found.nbytes:
        raise BadFileError(
            f"{source.name} must have {found.nbytes:,} bytes of data from byte {found.offset} on for the shape "
            f"{found.shape} and dtype {found.dtype} it declares, got {got:,}: the file is "
            f"{'truncated' if got < found.nbytes else 'longer than it should be'}; copy it again"
        )
    if len(found.shape) == 2:
        limits.check_shape(source.name, *found.shape)
    elif found.nbytes == 0 or not found.shape:
        raise BadFileError(f"{source.name} must hold a non-empty array, got shape {found.shape}")
    return found


def array(source: Source, limits: Limits, kinds: str = NUMBERS) -> npt.NDArray[Any]:
    """Any plain array, mapped if it is large."""
    found = checked(source, limits, kinds)
    return source.array(found.dtype, found.shape, found.offset, fortran=found.fortran)


def peek(source: Source, limits: Limits, variable: str | None = None) -> Peek:
    """From the header; a truncated file is found out here too."""
    found = checked(source, limits)
    return Peek(*matrix_shape(source.name, found.shape), str(found.dtype))


def read(source: Source, limits: Limits, variable: str | None = None) -> Table:
    """The matrix."""
    X = array(source, limits)
    matrix_shape(source.name, X.shape)
    return Table(source.name, X)
