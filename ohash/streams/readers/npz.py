"""NumPy's .npz: a zip of .npy members. Declared sizes are checked first, only the members needed are unpacked."""

import zipfile
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.streams.readers import npy
from ohash.streams.readers import table as members
from ohash.streams.readers.limits import BadFileError, Limits, refusal, told
from ohash.streams.readers.source import MAP_FROM, Source
from ohash.streams.readers.table import Peek, Table

MOST_MEMBERS = 1000
LONGEST_DIRECTORY = MOST_MEMBERS * 512
END, END_64 = b"PK\x05\x06", b"PK\x06\x07"
LOCAL, LOCAL_HEADER = b"PK\x03\x04", 30
PIECE = 2**20
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)


@dataclass(frozen=True)
class Member:
    """One .npy of the archive."""

    info: zipfile.ZipInfo
    header: npy.Header


def peek(source: Source, limits: Limits, variable: str | None = None) -> Peek:
    """From the headers of the members."""
    found = _members(source)
    shapes = _shapes(found)
    chosen = found[members.features(source.name, shapes, variable)]
    _check(source, limits, chosen)
    rows, columns = npy.matrix_shape(source.name, chosen.header.shape)
    labels = members.companion(members.LABELS, shapes, rows) is not None
    return Peek(rows, columns, str(chosen.header.dtype), labels=labels)


def read(source: Source, limits: Limits, variable: str | None = None) -> Table:
    """The matrix, with labels and ids of a usual name."""
    found = _members(source)
    shapes = _shapes(found)
    X = _unpack(source, limits, found[members.features(source.name, shapes, variable)])
    rows, columns = npy.matrix_shape(source.name, X.shape)
    limits.check_shape(source.name, rows, columns)
    label, known_by = (members.companion(names, shapes, rows) for names in (members.LABELS, members.IDS))
    return Table(
        source.name,
        X,
        labels=None if label is None else _unpack(source, limits, found[label]).reshape(rows),
        ids=None if known_by is None else _unpack(source, limits, found[known_by]).reshape(rows).astype(np.str_),
    )


def arrays(source: Source, limits: Limits) -> dict[str, npt.NDArray[Any]]:
    """Every array of a small archive (pairs, labels), by name."""
    found = _members(source)
    limits.check_decoded(source.name, sum(member.info.file_size for member in found.values()))
    return {key: _unpack(source, limits, member) for key, member in found.items()}


def names(source: Source) -> list[str]:
    """The names of the arrays."""
    return list(_members(source))


def _members(source: Source) -> dict[str, Member]:
    """The members with their headers; those that are no plain arrays are left out, unless there is nothing else."""
    _check_directory(source)
    found: dict[str, Member] = {}
    refusal: BadFileError | None = None
    with source.open() as stream, _archive(source, stream) as archive:
        for info in archive.infolist():
            name = f"{source.name} [{info.filename}]"
            if not info.filename.endswith(".npy") or len(info.filename) > 200:
                continue
            if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise BadFileError(f"{name} must be stored or deflated without a password; write it with np.savez")
            try:
                with archive.open(info) as member:
                    found[info.filename.removesuffix(".npy")] = Member(
                        info,
                        npy.header(name, member, npy.NUMBERS + npy.TEXT),  # type: ignore[arg-type]
                    )
            except BadFileError as error:
                refusal = error
            except DAMAGE as error:
                raise _damaged(source, info, 0, error) from None
    if not found:
        raise refusal or BadFileError(f"{source.name} must hold .npy members, got none; write it with np.savez")
    return found


def _archive(source: Source, stream: Any) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(stream)
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError, OSError) as error:
        raise refusal(
            source.name,
            error,
            f"{source.name} must be a zip archive as np.savez writes it, got bytes {source.start(4)!r}... of "
            f"{source.size:,} ({told(error)}){_first_cut(source)}; copy it again",
        ) from None


def _first_cut(source: Source) -> str:
    """Without its directory, which comes last: the first member that should end behind the end of the file."""
    with source.open() as stream:
        for _ in range(MOST_MEMBERS):
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
        raise BadFileError(f"{source.name} must be a zip of at most {MOST_MEMBERS} arrays; keep only those needed")


def _shapes(found: dict[str, Member]) -> dict[str, tuple[int, ...]]:
    return {
        key: m.header.shape
        for key, m in found.items()
        if m.header.dtype.kind in npy.NUMBERS or len(m.header.shape) == 1
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


def _unpack(source: Source, limits: Limits, member: Member) -> npt.NDArray[Any]:
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
            raise _damaged(source, member.info, head.offset + done, error) from None
    if done != head.nbytes:
        raise _damaged(source, member.info, head.offset + done, "it ends there")
    data.flags.writeable = False
    return data.view(head.dtype).reshape(head.shape, order="F" if head.fortran else "C")


def _damaged(source: Source, info: zipfile.ZipInfo, done: int, why: Exception | str) -> BadFileError:
    """Where a member lies and how far it could be unpacked."""
    return BadFileError(
        f"{source.name} [{info.filename}], packed from byte {info.header_offset:,} on, must unpack to "
        f"{info.file_size:,} bytes with the checksum (CRC-32) {info.CRC:08x} that the archive declares; something is "
        f"wrong after byte {done:,} of them ({why}); copy the file again"
    )
