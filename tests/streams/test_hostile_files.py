"""Headers that lie, bombs, pickles and links: refused without being opened, allocated or followed."""

import errno
import io
import pickle
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ohash.streams.readers import source
from ohash.streams.readers.file_formats import peek_path, read_path, read_upload
from ohash.streams.readers.source import UPLOAD, Limits
from tests.streams.files import X, hdf5_bytes, header_bytes, mat_bytes, npy_bytes, npz_bytes, parquet_bytes


@pytest.mark.parametrize("shape", [(10**12, 4), (4, 10**12), (2**62, 8), (-1, 4), (0, 4), (10**30, 10**30)])
def test_a_header_cannot_make_us_allocate(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"x\.npy"):
        read_upload("x.npy", header_bytes(shape) + b"\0" * 64)


def test_version_2_header_of_gigabytes_is_not_read() -> None:
    with pytest.raises(ValueError, match=r"x\.npy"):
        read_upload("x.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + b"(" * 100_000)


def test_deeply_nested_header_is_refused() -> None:
    bad = b"\x93NUMPY\x01\x00" + struct.pack("<H", 5000) + b"(" * 5000
    with pytest.raises(ValueError, match="header"):
        read_upload("x.npy", bad)


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    """10 GB of zeros declared and compressed to a few kB (only the first 64 MB are really there, declared as more)."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as member:
        member.write(header_bytes((2_500_000_000 // 16, 16)))
        for _ in range(16):
            member.write(bytes(2**22))
    data = bytearray(stream.getvalue())
    with pytest.raises(ValueError, match=r"bytes"):
        read_upload("x.npz", bytes(data))
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 2**32 - 2)
    with pytest.raises(ValueError, match=r"x\.npz"):
        read_upload("x.npz", bytes(data))


def test_an_honest_bomb_is_refused_by_its_declared_size() -> None:
    stream = io.BytesIO()
    rows = 2**26 // 64
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("X.npy", "w") as x,
    ):
        x.write(header_bytes((rows, 16)))
        for _ in range(2**26 // 2**24):
            x.write(bytes(2**24))
    with pytest.raises(ValueError, match="decode to at most"):
        read_upload("x.npz", stream.getvalue(), replace(UPLOAD, decoded=2**25))


PACKED = {
    "x.npz": npz_bytes(X=np.zeros((1000, 8), np.float32)),
    "x.mat": mat_bytes(X=np.zeros((1000, 8))),
    "x.csv": b"1,2,3,4,5,6,7,8\n" * 1000,
    "x.parquet": parquet_bytes(**{name: np.zeros(1000, np.float32) for name in "abcdefgh"}),
    "x.hdf5": hdf5_bytes(X=np.zeros((1000, 8), np.float32)),
}


@pytest.mark.parametrize("name", PACKED)
def test_what_unpacks_to_more_than_half_of_the_memory_is_refused_by_its_header(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_bytes(PACKED[name])
    monkeypatch.setattr(source, "available_memory", lambda: 200_000)
    assert read_path(tmp_path / name).X.shape == (1000, 8)
    monkeypatch.setattr(source, "available_memory", lambda: 63_998)
    for look in (peek_path, read_path):
        with pytest.raises(
            ValueError, match=r"x\..* not fit in memory: .* at most 32\.0 kB here, half of it.*np\.save"
        ):
            look(tmp_path / name)


def test_memory_is_known_or_the_limit_of_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 2**28 < source.available_memory() <= source.UNKNOWN
    (tmp_path / "limit").write_text("12345\n")
    (tmp_path / "none").write_text("max\n")
    monkeypatch.setattr(source, "CONTAINER", (tmp_path / "none", tmp_path / "gone"))
    machine = source.available_memory.__wrapped__()
    monkeypatch.setattr(source, "CONTAINER", (tmp_path / "none", tmp_path / "limit"))
    assert source.available_memory.__wrapped__() == 12345 < machine
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda of: {resource.RLIMIT_AS: (1234, -1)}[of])
    assert source.available_memory.__wrapped__() == 1234


def _no_memory(*_: object, **__: object) -> None:
    raise MemoryError("Unable to allocate 3.1 GiB")


def _no_map(*_: object, **__: object) -> None:
    raise OSError(errno.ENOMEM, "Cannot allocate memory")


@pytest.mark.parametrize("fail", [_no_memory, _no_map])
@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("x.npy", "ohash.streams.readers.source.Source.array"),
        ("x.npy", "numpy.lib.format.read_magic"),
        ("x.npz", "zipfile.ZipFile.__init__"),
        ("x.npz", "numpy.empty"),
        ("x.mat", "scipy.io.loadmat"),
        ("x.csv", "pyarrow.csv.open_csv"),
        ("x.parquet", "pyarrow.parquet.ParquetFile.__init__"),
        ("x.parquet", "ohash.streams.readers.arrow_columns.fill_table"),
        ("x.hdf5", "h5py.File.__init__"),
    ],
)
def test_want_of_memory_is_no_damage(
    name: str, where: str, fail: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_bytes({"x.npy": npy_bytes(X), **PACKED}[name])
    read_path(tmp_path / name)
    monkeypatch.setattr(where, fail)
    with pytest.raises(ValueError, match=rf"^{name} does not fit in memory .*ulimit -v"):
        read_path(tmp_path / name)


def test_a_matrix_that_cannot_be_mapped_is_told_as_such(tmp_path: Path) -> None:
    """In a process of its own, whose limit it reaches."""
    pytest.importorskip("resource")
    with (tmp_path / "x.npy").open("wb") as stream:
        stream.write(header_bytes((10**9, 50)))
        stream.truncate(stream.tell() + 4 * 50 * 10**9)
    code = (
        "import resource, sys; from ohash.streams.readers.file_formats import read_path;"
        "resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, -1)); read_path(sys.argv[1])"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "x.npy"], capture_output=True, text=True, check=False)
    assert "x.npy does not fit in memory (4.3 GB available)" in done.stderr


def test_damage_in_an_archive_is_told_with_its_place() -> None:
    many = np.random.default_rng(0).normal(size=(3000, 100)).astype(np.float32)
    data = bytearray(npz_bytes(y=np.arange(3000), X=many))
    at = zipfile.ZipFile(io.BytesIO(data)).getinfo("X.npy").header_offset
    data[at + 600_000] ^= 0xFF
    with pytest.raises(ValueError, match=rf"x\.npz \[X\.npy\], packed from byte {at:,} on, .*1,200,128 bytes .*CRC-32"):
        read_upload("x.npz", bytes(data))
    data[at : at + 4] = b"JUNK"
    with pytest.raises(ValueError, match=rf"x\.npz \[X\.npy\], packed from byte {at:,} on"):
        read_upload("x.npz", bytes(data))


def test_damage_in_a_parquet_file_is_told_with_its_place() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    columns = {name: np.random.default_rng(0).normal(size=2000) for name in "abc"}
    pq.write_table(
        pa.table(columns), stream, row_group_size=1000, write_page_checksum=True, use_dictionary=False,
        compression="zstd",
    )  # fmt: skip
    chunk = pq.ParquetFile(stream).metadata.row_group(1).column(2)
    start = chunk.data_page_offset
    data = bytearray(stream.getvalue())
    data[start + 2000] ^= 0xFF
    place = rf"column 'c' of row group 1 .*1,000 values in bytes {start:,} to {start + chunk.total_compressed_size:,}"
    with pytest.raises(ValueError, match=rf"x\.parquet is damaged: {place}"):
        read_upload("x.parquet", bytes(data))


def test_a_zip_of_very_many_members_is_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for k in range(12_000):
            archive.writestr(f"{k}.npy", b"")
    with pytest.raises(ValueError, match="at most 1000 arrays"):
        read_upload("x.npz", stream.getvalue())


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.pkl", pickle.dumps(X)),
        ("x.npy", pickle.dumps(X)),
        ("x.npy", npy_bytes(np.array([[{}]], dtype=object), allow_pickle=True)),
        ("x.npz", npz_bytes(X=np.array([[{}]], dtype=object))),
        ("data_batch_1", pickle.dumps({b"data": X})),
        ("x.joblib", b"anything"),
    ],
)
def test_pickles_are_refused_with_the_alternative(name: str, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickle, "load", pytest.fail)
    monkeypatch.setattr(pickle, "loads", pytest.fail)
    with pytest.raises(ValueError, match=r"pickle.*np\.save"):
        read_upload(name, data)


def test_a_csv_of_a_million_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="1,000,000"):
        read_upload("x.csv", b",".join([b"1"] * 1_000_000) + b"\n")
    with pytest.raises(ValueError, match="rows"):
        read_upload("x.csv", b"1\n" * 2_000_001)
    with pytest.raises(ValueError, match="2 columns"):
        read_upload("x.csv", b"1,2\n" + b"," * 1_000_000)


def test_uploads_are_limited_and_paths_are_not(tmp_path: Path) -> None:
    tight = Limits(size=500, rows=10, columns=4, values=20, decoded=100, where="here")
    for shape, what in (((11, 1), "rows"), ((1, 5), "columns"), ((10, 3), "values"), ((400, 1), "500 bytes")):
        data = npy_bytes(np.zeros(shape, np.uint8))
        with pytest.raises(ValueError, match=what):
            read_upload("x.npy", data, tight)
        (tmp_path / "x.npy").write_bytes(data)
        assert read_path(tmp_path / "x.npy").X.shape == shape
    with pytest.raises(ValueError, match="data folder"):
        UPLOAD.check_size("x.npy", 10**12)


def test_the_name_of_an_upload_is_no_path() -> None:
    assert read_upload("..\\..//etc/x.npy", npy_bytes(X)).name == "x.npy"


def test_one_long_text_in_every_row_is_not_written_out() -> None:
    import pyarrow as pa

    indices = pa.array(np.zeros(50_000, np.int32))
    labels = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 100_000]))
    data = parquet_bytes(a=np.zeros(50_000), id=labels)
    with pytest.raises(ValueError, match="256 characters"):
        read_upload("x.parquet", data)


def test_a_mat_bomb_is_refused_by_its_header() -> None:
    """A compressed variable that declares 40000 x 40000 doubles, 12.8 GB."""
    shape = struct.pack("<IIii", 5, 8, 40_000, 40_000)
    inner = struct.pack("<IIII", 6, 8, 6, 0) + shape + struct.pack("<HHc3x", 1, 1, b"X")
    inner += struct.pack("<II", 9, 8 * 40_000**2 % 2**32) + bytes(2**20)
    packed = zlib.compress(struct.pack("<II", 14, len(inner)) + inner)
    data = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(packed)) + packed
    with pytest.raises(ValueError, match=r"40000, 40000"):
        read_upload("x.mat", data)


def test_hdf5_cannot_lead_out_of_the_file(tmp_path: Path) -> None:
    import h5py

    (tmp_path / "secret").write_bytes(bytes(64))
    with h5py.File(tmp_path / "ext.hdf5", "w") as file:
        file.create_dataset("train", (4, 4), "f4", external=[(str(tmp_path / "secret"), 0, 64)])
    with h5py.File(tmp_path / "link.hdf5", "w") as file:
        file["train"] = h5py.ExternalLink(str(tmp_path / "ext.hdf5"), "/train")
    with h5py.File(tmp_path / "virtual.hdf5", "w") as file:
        layout = h5py.VirtualLayout((4, 4), "f4")
        layout[:] = h5py.VirtualSource(str(tmp_path / "ext.hdf5"), "train", (4, 4))
        file.create_virtual_dataset("train", layout)
    for name in ("ext", "link", "virtual"):
        with pytest.raises(ValueError, match=f"{name}.hdf5"):
            read_upload(f"{name}.hdf5", (tmp_path / f"{name}.hdf5").read_bytes())


def test_hdf5_declaring_terabytes_is_refused() -> None:
    import h5py

    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file.create_dataset("train", (10**12, 4), "f4", chunks=(1000, 4), compression="gzip")
    with pytest.raises(ValueError, match="rows"):
        read_upload("x.hdf5", stream.getvalue())


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_long_text_in_every_row_is_never_written_out(kind: pa.DataType) -> None:
    """A few hundred kB as a file, and 600 MB if each row has its own."""
    rows = 30_000
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(2.0 * rows)), 2)
    texts = pa.chunked_array([pa.array(["caption " * 2500] * 1000, kind)] * (rows // 1000))
    stream = io.BytesIO()
    pq.write_table(pa.table({"vector": vectors, "text": texts}), stream, compression="zstd")
    del texts
    usual = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(counted)
    try:
        table = read_upload("x.parquet", stream.getvalue())
    finally:
        pa.set_memory_pool(usual)
    assert set(table.captions) == {("caption " * 20).strip()} and len(table.captions) == rows
    assert len({id(text) for text in table.captions}) < 100, "kept once per batch"
    assert counted.max_memory() < 100e6
