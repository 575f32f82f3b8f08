"""NumPy's .npy and .npz; never a pickle.

The header of an .npy is compared with the size of the file, then the data are mapped. An .npz is a zip of .npy members:
the sizes it declares are checked first, and only the members needed are unpacked.
"""

import io
import lzma
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, Any, BinaryIO

import numpy as np

from ohash.core.arrays import Array
from ohash.runtime.frames import Arrays
from ohash.streams.readers.source import MAP_FROM, BadFileError, Limits, Source, file_error, short_message
from ohash.streams.readers.table import ID_NAMES, LABEL_NAMES, Peek, Table, choose_features, find_companion

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


def parse_header(name: str, stream: BinaryIO, kinds: str = NUMBERS) -> Header:
    """Parse a header; `kinds` are the letters of the dtypes that are allowed."""
    start = io.BytesIO(stream.read(LONGEST_HEADER + 12))
    if start.getvalue()[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        raise pickle_error(name)
    try:
        version = np.lib.format.read_magic(start)
        parse = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = parse(start)
    except Exception as error:
        raise file_error(
            name,
            error,
            f"{name} must start with a .npy header (byte 0: \\x93NUMPY, version 1 or 2), got bytes "
            f"{start.getvalue()[:8]!r} ({short_message(error)}); write it with np.save",
        ) from None
    if dtype.hasobject:
        raise pickle_error(name)
    if dtype.kind not in kinds or (dtype.kind in NUMBERS and dtype.itemsize > 8):
        raise BadFileError(
            f"{name} must hold real numbers (float16, float32, float64, int8, uint8, ...), got dtype {dtype}; "
            "convert it with X.astype('float32')"
        )
    if any(extent < 0 for extent in shape):
        raise BadFileError(f"{name} must declare a shape of counts, its header declares {shape}")
    return Header(dtype, tuple(int(extent) for extent in shape), bool(fortran), start.tell())


def pickle_error(name: str) -> BadFileError:
    """The error that refuses a pickle."""
    return BadFileError(
        f"{name} holds a pickle, and reading one runs code, so it is never read here; save plain numbers instead: "
        "np.save('x.npy', X.astype('float32')), np.savez or Parquet (CIFAR-10: take the binary version, .bin)"
    )


def matrix_shape(name: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """The two extents, or an error that says what to do with the others."""
    if len(shape) != 2:
        way_out = (
            'labels belong under "Labels" on the page, in --labels, or in a TOML file next to the vectors '
            '(labels = "...")'
            if len(shape) == 1
            else "reshape it with X.reshape(len(X), -1)"
        )
        raise BadFileError(f"{name} must be a matrix (n, d), got shape {shape}; {way_out}")
    return shape[0], shape[1]


def check_header(source: Source, limits: Limits, kinds: str = NUMBERS) -> Header:
    """The header of a file whose size and shape are as they should be."""
    with source.open() as stream:
        header = parse_header(source.name, stream, kinds)
    got = source.size - header.offset
    if got != header.nbytes:
        raise BadFileError(
            f"{source.name} must have {header.nbytes:,} bytes of data from byte {header.offset} on for the shape "
            f"{header.shape} and dtype {header.dtype} it declares, got {got:,}: the file is "
            f"{'truncated' if got < header.nbytes else 'longer than it should be'}; copy it again"
        )
    if len(header.shape) == 2:
        limits.check_shape(source.name, *header.shape)
    elif header.nbytes == 0 or not header.shape:
        raise BadFileError(f"{source.name} must hold a non-empty array, got shape {header.shape}")
    return header


def read_array(source: Source, limits: Limits, kinds: str = NUMBERS) -> Array:
    """Any plain array, mapped if it is large."""
    header = check_header(source, limits, kinds)
    return source.array(header.dtype, header.shape, header.offset, fortran=header.fortran)


def peek_npy(source: Source, limits: Limits, variable: str | None = None) -> Peek:
    """From the header, which also reveals a truncated file."""
    header = check_header(source, limits)
    return Peek(*matrix_shape(source.name, header.shape), str(header.dtype))


def read_npy(source: Source, limits: Limits, variable: str | None = None) -> Table:
    """The matrix."""
    X = read_array(source, limits)
    matrix_shape(source.name, X.shape)
    return Table(source.name, X)


MAX_MEMBERS = 1000
LONGEST_DIRECTORY = MAX_MEMBERS * 512
END, END_64 = b"PK\x05\x06", b"PK\x06\x07"
LOCAL, LOCAL_HEADER = b"PK\x03\x04", 30
PIECE = 2**20
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError)
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)


@dataclass(frozen=True)
class Member:
    """One .npy of the archive."""

    info: zipfile.ZipInfo
    header: Header


def peek_npz(source: Source, limits: Limits, variable: str | None = None) -> Peek:
    """From the headers of the members."""
    members = _members(source)
    shapes = _shapes(members)
    chosen = members[choose_features(source.name, shapes, variable)]
    _check(source, limits, chosen)
    rows, columns = matrix_shape(source.name, chosen.header.shape)
    labels = find_companion(LABEL_NAMES, shapes, rows) is not None
    return Peek(rows, columns, str(chosen.header.dtype), labels=labels)


def read_npz(source: Source, limits: Limits, variable: str | None = None) -> Table:
    """The matrix, with labels and ids of a usual name."""
    members = _members(source)
    shapes = _shapes(members)
    X = _unpack(source, limits, members[choose_features(source.name, shapes, variable)])
    rows, columns = matrix_shape(source.name, X.shape)
    limits.check_shape(source.name, rows, columns)
    label, known_by = (find_companion(names, shapes, rows) for names in (LABEL_NAMES, ID_NAMES))
    return Table(
        source.name,
        X,
        labels=None if label is None else _unpack(source, limits, members[label]).reshape(rows),
        ids=None if known_by is None else _unpack(source, limits, members[known_by]).reshape(rows).astype(np.str_),
    )


def read_arrays(source: Source, limits: Limits) -> Arrays:
    """Every array of a small archive (pairs, labels), by name."""
    members = _members(source)
    limits.check_decoded(source.name, sum(member.info.file_size for member in members.values()))
    return {key: _unpack(source, limits, member) for key, member in members.items()}


def array_names(source: Source) -> list[str]:
    """The names of the arrays."""
    return list(_members(source))


def _members(source: Source) -> dict[str, Member]:
    """The members with their headers; those that are no plain arrays are left out, unless there is nothing else."""
    _check_directory(source)
    members: dict[str, Member] = {}
    refused: BadFileError | None = None
    with source.open() as stream, _archive(source, stream) as archive:
        for info in archive.infolist():
            name = f"{source.name} [{info.filename}]"
            if not info.filename.endswith(".npy") or len(info.filename) > 200:
                continue
            if info.flag_bits & 1 or info.compress_type not in PACKED:
                raise BadFileError(
                    f"{name} must be stored, deflated or packed by LZMA, without a password; write it with np.savez"
                )
            try:
                with archive.open(info) as member:
                    members[info.filename.removesuffix(".npy")] = Member(
                        info,
                        parse_header(name, member, NUMBERS + TEXT),  # type: ignore[arg-type]
                    )
            except BadFileError as error:
                refused = error
            except DAMAGE as error:
                raise _damage_error(source, info, 0, error) from None
    if not members:
        raise refused or BadFileError(f"{source.name} must hold .npy members, got none; write it with np.savez")
    return members


def _archive(source: Source, stream: IO[bytes]) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(stream)
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError, OSError) as error:
        raise file_error(
            source.name,
            error,
            f"{source.name} must be a zip archive as np.savez writes it, got bytes {source.start(4)!r}... of "
            f"{source.size:,} ({short_message(error)}){_first_cut(source)}; copy it again",
        ) from None


def _first_cut(source: Source) -> str:
    """Without its directory, which comes last: the first member that should end behind the end of the file."""
    with source.open() as stream:
        for _ in range(MAX_MEMBERS):
            at = stream.tell()
            head = stream.read(LOCAL_HEADER)
            if len(head) < LOCAL_HEADER or head[:4] != LOCAL:
                break
            name, more = stream.read(int.from_bytes(head[26:28], "little")), int.from_bytes(head[28:30], "little")
            extra, packed = stream.read(more), int.from_bytes(head[18:22], "little")
            if packed == 2**32 - 1 and extra[:2] == b"\x01\x00":  # zip64: both sizes in 8 bytes, the packed one second
                packed = int.from_bytes(extra[12:20], "little")
            end = at + LOCAL_HEADER + len(name) + more + packed
            if end > source.size:
                return (
                    f": {name[:200].decode('utf-8', 'replace')!r} must lie in bytes {at:,} to {end:,}, and the "
                    "directory after it"
                )
            stream.seek(end)
    return ": the directory of the archive must be its last part, it is not there"


def _check_directory(source: Source) -> None:
    """Refuse a huge directory before it is parsed: a million entries would take gigabytes."""
    with source.open() as stream:
        tail = min(source.size, 2**16 + 22)
        stream.seek(source.size - tail)
        end = stream.read(tail)
    at = end.rfind(END)
    length = int.from_bytes(end[at + 12 : at + 16], "little") if at >= 0 else 0
    is_64 = at >= 20 and end[at - 20 : at - 16] == END_64
    if source.size < 2**32 - 1 and (is_64 or length > LONGEST_DIRECTORY):
        raise BadFileError(f"{source.name} must be a zip of at most {MAX_MEMBERS} arrays; keep only those needed")


def _shapes(members: dict[str, Member]) -> dict[str, tuple[int, ...]]:
    return {
        key: m.header.shape for key, m in members.items() if m.header.dtype.kind in NUMBERS or len(m.header.shape) == 1
    }


def _check(source: Source, limits: Limits, member: Member) -> None:
    declared, held = member.header.nbytes, member.info.file_size - member.header.offset
    name = f"{source.name} [{member.info.filename}]"
    if declared != held:
        raise BadFileError(
            f"{name} must have {declared:,} bytes for the shape {member.header.shape} and dtype {member.header.dtype} "
            f"it declares, the archive declares {held:,}; write it again with np.savez"
        )
    if not _mappable(source, member):
        limits.check_decoded(name, declared)


def _mappable(source: Source, member: Member) -> bool:
    return (
        source.path is not None and member.info.compress_type == zipfile.ZIP_STORED and member.header.nbytes >= MAP_FROM
    )


def _unpack(source: Source, limits: Limits, member: Member) -> Array:
    _check(source, limits, member)
    head = member.header
    if _mappable(source, member):
        with source.open() as stream:
            stream.seek(member.info.header_offset)
            local = stream.read(LOCAL_HEADER)
        start = member.info.header_offset + LOCAL_HEADER
        start += int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little") + head.offset
        if start + head.nbytes <= source.size:
            return source.array(head.dtype, head.shape, start, fortran=head.fortran)
    data, done = np.empty(head.nbytes, np.uint8), 0
    with source.open() as stream, _archive(source, stream) as archive:
        try:
            with archive.open(member.info) as packed:
                packed.read(head.offset)
                while piece := packed.read(min(PIECE, head.nbytes - done)):
                    data[done : done + len(piece)] = np.frombuffer(piece, np.uint8)
                    done += len(piece)
        except DAMAGE as error:
            raise _damage_error(source, member.info, head.offset + done, error) from None
    if done != head.nbytes:
        raise _damage_error(source, member.info, head.offset + done, "it ends there")
    data.flags.writeable = False
    return data.view(head.dtype).reshape(head.shape, order="F" if head.fortran else "C")


def _damage_error(source: Source, info: zipfile.ZipInfo, done: int, why: Exception | str) -> BadFileError:
    """Where a member lies and how far it could be unpacked."""
    return BadFileError(
        f"{source.name} [{info.filename}], packed from byte {info.header_offset:,} on, must unpack to "
        f"{info.file_size:,} bytes with the checksum (CRC-32) {info.CRC:08x} that the archive declares; something is "
        f"wrong after byte {done:,} of them ({why}); copy the file again"
    )
