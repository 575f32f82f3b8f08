"""HDF5 as ann-benchmarks writes it (train, test), and MATLAB 7.3 files; needs the extra `hdf5`.

Its `neighbors` are not read: a run computes those of its own queries and database.

Only plain datasets of numbers are read. Links and storage that lead out of the file are refused: an upload must not
read another file of the machine.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ohash.core.arrays import Array
from ohash.runtime.frames import Arrays
from ohash.streams.readers.source import MAP_FROM, BadFileError, Limits, Source, file_error, short_message
from ohash.streams.readers.table import LABEL_NAMES, Peek, Shapes, Table, choose_features, find_companion

if TYPE_CHECKING:
    import h5py

MAGIC = b"\x89HDF\r\n\x1a\n"
METRICS = {"angular": "cosine", "cosine": "cosine", "euclidean": "l2", "l2": "l2", "dot": "dot", "ip": "dot"}
# deflate, shuffle, fletcher32, szip, nbit, scaleoffset, lzf: filters without third-party code
FILTERS = {1, 2, 3, 4, 5, 6, 32000}
MAX_MEMBERS = 1000
# How the HDF5 library says that a file was cut off.
TRUNCATED = re.compile(r"truncated file: .* stored_eof = (\d+)")


def peek(source: Source, limits: Limits, variable: str | None = None, *, transposed: bool = False) -> Peek:
    """From the headers of the datasets."""
    with _open(source) as file:
        shapes, dtypes = _shapes(source, file, transposed=transposed)
        name = choose_features(source.name, shapes, variable)
        rows, d = shapes[name]
        limits.check_shape(source.name, rows, d)
        _check_decoded(source, limits, file, name)
        labels = find_companion(LABEL_NAMES, shapes, rows) is not None
        tests = shapes["test"][0] if "test" in _test_queries(shapes, name, transposed=transposed) else 0
        metric = METRICS.get(_distance(source, file))
        return Peek(rows, d, dtypes[name], labels=labels, tests=tests, metric=metric)


def read(source: Source, limits: Limits, variable: str | None = None, *, transposed: bool = False) -> Table:
    """The matrix; of ann-benchmarks also `test`, and the metric."""
    with _open(source) as file:
        shapes, _ = _shapes(source, file, transposed=transposed)
        name = choose_features(source.name, shapes, variable)
        rows, d = shapes[name]
        limits.check_shape(source.name, rows, d)
        distance = _distance(source, file)
        if distance and distance not in METRICS:
            raise BadFileError(
                f"{source.name} must use one of the distances {', '.join(METRICS)}, it declares {distance[:40]!r}"
            )
        wanted = _test_queries(shapes, name, transposed=transposed)
        if name == "train" and "test" in file and not wanted and not transposed:
            raise BadFileError(
                f"{source.name} [test] must be a matrix of numbers of {d} columns, as train is, got "
                f"{'shape ' + str(shapes['test']) if 'test' in shapes else 'something else'}"
            )
        label = find_companion(LABEL_NAMES, shapes, rows)
        got = _values(source, limits, file, [name, *wanted, *([label] if label else [])], transposed=transposed)
    return Table(
        source.name,
        got[name],
        labels=got[label].reshape(rows) if label else None,
        metric=METRICS.get(distance),
        extra=MappingProxyType({key: got[key] for key in wanted}),
    )


def _test_queries(shapes: Shapes, name: str, *, transposed: bool) -> list[str]:
    """The test queries of ann-benchmarks, if they have as many columns as the matrix."""
    has_test = "test" in shapes and not transposed and name != "test"
    return ["test"] if has_test and shapes["test"][1:] == shapes[name][1:] else []


def values(
    source: Source, limits: Limits, wanted: list[str], *, transposed: bool, optional: tuple[str, ...] = ()
) -> Arrays:
    """The datasets asked for, those in `optional` if they are there; MATLAB stores them transposed."""
    with _open(source) as file:
        wanted = [name for name in wanted if name not in optional or _dataset(source, file, name) is not None]
        return _values(source, limits, file, wanted, transposed=transposed)


def _values(source: Source, limits: Limits, file: "h5py.File", wanted: list[str], *, transposed: bool) -> Arrays:
    arrays = {}
    for name in wanted:
        one = _dataset(source, file, name)
        if one is None:
            raise BadFileError(f"{source.name} must hold the plain numeric dataset {name!r}; it does not")
        array = _memory_map(source, one)
        if array is None:
            _check_decoded(source, limits, file, name)
            array = one[()]
        arrays[name] = array.T if transposed else array
    return arrays


def _check_decoded(source: Source, limits: Limits, file: "h5py.File", name: str) -> None:
    """Refuse what has to be unpacked and does not fit."""
    one = file[name]
    if _memory_map(source, one) is None:
        limits.check_decoded(f"{source.name} [{name}]", one.size * one.dtype.itemsize)
        chunk = int(np.prod(one.chunks or (), dtype=object)) * one.dtype.itemsize
        limits.check_decoded(f"{source.name} [{name}], one chunk", chunk)


def _distance(source: Source, file: "h5py.File") -> str:
    """What the file declares, or what its name ends in, as those of ann-benchmarks do (glove-100-angular.hdf5).

    Of an upload only the name counts: a damaged attribute makes the HDF5 library allocate gigabytes.
    """
    if source.path is not None and "distance" in file.attrs:
        return str(file.attrs["distance"]).lower()
    last = source.name.rsplit(".", 1)[0].rsplit("-", 1)[-1].lower()
    return last if last in METRICS else ""


def _dataset(source: Source, file: "h5py.File", name: str) -> "h5py.Dataset":
    """A dataset of plain numbers inside this file, or None."""
    import h5py  # noqa: PLC0415

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        return None
    one = file[name]
    if not isinstance(one, h5py.Dataset) or one.dtype.kind not in "fiub" or one.dtype.itemsize > 8 or not one.shape:
        return None
    properties = one.id.get_create_plist()
    filters = {properties.get_filter(k)[0] for k in range(properties.get_nfilters())}
    if properties.get_external_count() or one.is_virtual or not filters <= FILTERS:
        raise BadFileError(
            f"{source.name} [{name}] must lie inside the file, in plain, gzip or lzf chunks; copy it with h5repack"
        )
    return one


def _memory_map(source: Source, one: "h5py.Dataset") -> Array | None:
    """The data in place, if they lie in one piece in a large file."""
    offset = one.id.get_offset() if one.chunks is None else None
    size = one.size * one.dtype.itemsize
    if source.path is None or offset is None or size < MAP_FROM or offset + size > source.size:
        return None
    array = source.array(one.dtype, one.shape, offset)
    # some versions count the offset without the block a file may start with
    return array if np.array_equal(array[0], one[0], equal_nan=True) else None


def _shapes(
    source: Source, file: "h5py.File", *, transposed: bool
) -> tuple[dict[str, tuple[int, ...]], dict[str, str]]:
    shapes: dict[str, tuple[int, ...]] = {}
    dtypes: dict[str, str] = {}
    if len(file) > MAX_MEMBERS:
        raise BadFileError(f"{source.name} must hold at most {MAX_MEMBERS} datasets, got {len(file):,}")
    for name in file:
        one = _dataset(source, file, name)
        if one is not None:
            shapes[name] = tuple(one.shape[::-1] if transposed else one.shape)
            dtypes[name] = str(one.dtype)
    return shapes, dtypes


@contextmanager
def _open(source: Source) -> Iterator["h5py.File"]:
    try:
        import h5py  # noqa: PLC0415
    except ImportError:
        raise BadFileError(
            f"{source.name} is an HDF5 file and needs the package h5py: pip install 'ohash[hdf5]'"
        ) from None
    try:
        with h5py.File(source.path or source.open(), "r", **({"locking": False} if source.path else {})) as file:
            yield file
    except BadFileError:
        raise
    except Exception as error:  # the HDF5 library reports damage as OSError, KeyError, RuntimeError, ...
        cut = TRUNCATED.search(str(error))
        if cut is not None:
            raise BadFileError(
                f"{source.name} must have the {int(cut[1]):,} bytes that its header declares, it ends at byte "
                f"{source.size:,}; it is truncated, copy it again"
            ) from None
        raise file_error(
            source.name,
            error,
            f"{source.name} must be a whole HDF5 file, got bytes {source.start(8)!r}... of {source.size:,} "
            f"({short_message(error)}); copy it again",
        ) from None
