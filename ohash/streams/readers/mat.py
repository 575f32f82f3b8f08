"""MATLAB's .mat, version 5 to 7 (and 7.3, which is HDF5): plain numeric matrices only.

The list of variables is read here, not by `scipy.io.whosmat`: that believes a forged shape, because it does not compare
it with the bytes that are stored, and allocates a name of whatever length is declared. SciPy then reads the chosen
variable alone. Cells, structs, objects, function handles and opaque classes are never opened.
"""

import zlib
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from ohash.runtime.frames import Arrays
from ohash.streams.readers import hdf5
from ohash.streams.readers.source import BadFileError, Limits, Source, file_error, short_message
from ohash.streams.readers.table import LABEL_NAMES, Peek, Table, choose_features, find_companion

COMPRESSED, MATRIX = 15, 14
NUMERIC = {6: "double", 7: "single", 8: "int8", 9: "uint8", 10: "int16", 11: "uint16", 12: "int32", 13: "uint32"} | {
    14: "int64", 15: "uint64",
}  # fmt: skip
OTHER = {1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 16: "function", 17: "opaque object"}
# Bytes a stored number takes, by the type its tag names.
STORED = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}
MAX_VARIABLES = 1000
HEAD = 1024


@dataclass(frozen=True)
class Variable:
    """One variable as its header declares it; `kind` is MATLAB's class, and it lies in the bytes `at` to `end`."""

    name: str
    kind: str
    shape: tuple[int, ...]
    numeric: bool
    nbytes: int
    at: int = 0
    end: int = 0


def peek(source: Source, limits: Limits, variable: str | None = None) -> Peek:
    """From the headers of the variables."""
    if _is_hdf5(source):
        return hdf5.peek(source, limits, variable, transposed=True)
    listed = list_variables(source)
    shapes = _shapes(source, listed)
    name = choose_features(source.name, shapes, variable)
    limits.check_decoded(f"{source.name} [{name}]", listed[name].nbytes)
    rows, columns = shapes[name]
    labels = find_companion(LABEL_NAMES, shapes, rows) is not None
    return Peek(rows, columns, listed[name].kind, labels=labels)


def read(source: Source, limits: Limits, variable: str | None = None) -> Table:
    """The matrix, with labels of a usual name."""
    if _is_hdf5(source):
        return hdf5.read(source, limits, variable, transposed=True)
    listed = list_variables(source)
    shapes = _shapes(source, listed)
    name = choose_features(source.name, shapes, variable)
    label = find_companion(LABEL_NAMES, shapes, shapes[name][0])
    limits.check_shape(source.name, *listed[name].shape)
    got = values(source, limits, [name] if label is None else [name, label])
    return Table(source.name, got[name], labels=None if label is None else got[label].ravel())


def values(source: Source, limits: Limits, wanted: list[str], optional: tuple[str, ...] = ()) -> Arrays:
    """The numeric variables asked for, and nothing else; those in `optional` if they are there."""
    if _is_hdf5(source):
        return hdf5.values(source, limits, wanted, transposed=True, optional=optional)
    listed = list_variables(source)
    wanted = [name for name in wanted if name in listed or name not in optional]
    for name in wanted:
        if name not in listed or not listed[name].numeric:
            what = f"is a {listed[name].kind}" if name in listed else "is not there"
            raise BadFileError(f"{source.name} must hold the numeric variable {name!r}, which {what}")
        limits.check_decoded(f"{source.name} [{name}]", listed[name].nbytes)
    from scipy.io import loadmat  # noqa: PLC0415

    got: Arrays = {}
    for name in wanted:
        with source.open() as stream:
            try:
                got |= loadmat(stream, variable_names=[name])  # type: ignore[arg-type]
            except Exception as error:  # SciPy raises anything from zlib.error to TypeError
                raise file_error(
                    source.name,
                    error,
                    f"{source.name} is damaged: variable {name!r} must be {listed[name].shape} in bytes "
                    f"{listed[name].at:,} to {listed[name].end:,}, which cannot be decoded ({short_message(error)}); "
                    "copy it again",
                ) from None
    for name in wanted:
        if name not in got or got[name].dtype.kind not in "fiub" or got[name].shape != listed[name].shape:
            raise BadFileError(f"{source.name} must hold {name!r} as its header declares it, {listed[name].shape}")
    return {name: np.asarray(got[name]) for name in wanted}


def list_variables(source: Source) -> dict[str, Variable]:
    """Every variable by name, from the headers alone."""
    with source.open() as stream:
        start = stream.read(128)
        if len(start) < 128 or start[126:128] not in (b"IM", b"MI") or not start.startswith(b"MATLAB"):
            raise BadFileError(
                f"{source.name} must start with the 128 bytes of a MATLAB 5 header, got {start[:12]!r}; "
                "save it with save(..., '-v7')"
            )
        order = "<" if start[126:128] == b"IM" else ">"
        listed: dict[str, Variable] = {}
        for _ in range(MAX_VARIABLES):
            at = stream.tell()
            tag = stream.read(8)
            if not tag:
                return listed
            kind, length = (int(v) for v in np.frombuffer(tag.ljust(8, b"\0"), order + "u4"))
            if len(tag) < 8 or kind not in (COMPRESSED, MATRIX) or at + 8 + length > source.size:
                raise BadFileError(
                    f"{source.name} must have a variable at byte {at:,} that ends within the file, got type {kind} and "
                    f"a length of {length:,} of {source.size:,} bytes; it is truncated or damaged, copy it again"
                )
            one = _variable(source, stream, order, compressed=kind == COMPRESSED, length=length, at=at)
            if one is not None:
                listed[one.name] = one
            stream.seek(at + 8 + length)
    raise BadFileError(f"{source.name} must hold at most {MAX_VARIABLES} variables")


def _variable(
    source: Source, stream: BinaryIO, order: str, *, compressed: bool, length: int, at: int
) -> Variable | None:
    head = stream.read(min(length, HEAD))
    try:
        if compressed:
            head = zlib.decompressobj().decompress(head, HEAD)[8:]
        flags = int(np.frombuffer(head[8:12], order + "u4")[0])
        kind = flags & 0xFF
        if kind == 17:  # opaque: no dimensions, and never read
            return None
        _, data, next_at = _element(head, 16, order)
        shape = tuple(int(v) for v in np.frombuffer(data, order + "i4"))
        _, data, next_at = _element(head, next_at, order)
        name = bytes(data).decode("ascii")
        if kind not in NUMERIC:
            return Variable(name, OTHER.get(kind, f"class {kind}"), shape, False, 0)
        stored, nbytes = _tag(head, next_at, order)[:2]
        count = int(np.prod(shape, dtype=object))
        if flags & 0x800 or len(shape) < 2 or min(shape) < 0 or nbytes != count * STORED[stored]:
            raise ValueError(f"class {NUMERIC[kind]} of shape {shape} in {nbytes:,} bytes")
    except (ValueError, KeyError, IndexError, UnicodeError, zlib.error) as error:
        raise BadFileError(
            f"{source.name} must have a real variable at byte {at:,}, it cannot be read ({short_message(error)}); "
            "if it is damaged, copy it again"
        ) from None
    return Variable(name, NUMERIC[kind], shape, True, count * 8, at, at + 8 + length)


def _tag(head: bytes, at: int, order: str) -> tuple[int, int, int]:
    """Type, length and first byte of an element; short ones are packed into the tag."""
    first, second = (int(v) for v in np.frombuffer(head[at : at + 8], order + "u4"))
    if first >> 16:
        return first & 0xFFFF, first >> 16, at + 4
    return first, second, at + 8


def _element(head: bytes, at: int, order: str) -> tuple[int, bytes, int]:
    kind, length, start = _tag(head, at, order)
    if start + length > len(head):
        raise ValueError("a header longer than any real one")
    end = at + 8 if start == at + 4 else start + -(-length // 8) * 8
    return kind, head[start : start + length], end


def _shapes(source: Source, listed: dict[str, Variable]) -> dict[str, tuple[int, ...]]:
    shapes = {name: one.shape for name, one in listed.items() if one.numeric}
    if not shapes:
        held = ", ".join(f"{one.name} ({one.kind})" for one in list(listed.values())[:8]) or "no plain variable"
        raise BadFileError(
            f"{source.name} must hold a numeric matrix, got {held}; objects, structs and cells are never opened: "
            "save the matrix alone, save('x.mat', 'X', '-v7')"
        )
    return shapes


def _is_hdf5(source: Source) -> bool:
    start = source.start(520)
    return start[512:520] == hdf5.MAGIC or start[:8] == hdf5.MAGIC
