"""Every format: written by its own library, read back; truncated, corrupted and hostile files are refused in words."""

import gzip
import io
import pickle
import struct
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from ohash.core.rows import gather
from ohash.streams.readers import mat, npy, npz
from ohash.streams.readers.formats import READERS, peek_path, read_path, read_upload
from ohash.streams.readers.limits import UPLOAD, Limits
from ohash.streams.readers.source import MAP_FROM, Source

RNG = np.random.default_rng(4)
X = RNG.normal(size=(40, 6)).astype(np.float32)
Y = np.arange(40) % 4


def _vecs(X: np.ndarray) -> bytes:
    d = np.full((len(X), 1), X.shape[1], "<i4")
    return np.hstack([d.view("u1"), np.ascontiguousarray(X).view("u1").reshape(len(X), -1)]).tobytes()


def _npy(array: np.ndarray, **more: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **more)
    return stream.getvalue()


def _npz(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def _mat(**variables: object) -> bytes:
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables, do_compression=True)
    return stream.getvalue()


def _csv(header: str = "") -> bytes:
    return (header + "\n".join(",".join(repr(float(v)) for v in row) for row in X) + "\n").encode()


def _parquet(**columns: object) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def _hdf5(**datasets: np.ndarray) -> bytes:
    import h5py

    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        for name, value in datasets.items():
            file[name] = value
        file.attrs["distance"] = "angular"
    return stream.getvalue()


def _files() -> dict[str, bytes]:
    return {
        "a.npy": _npy(X),
        "a.npz": _npz(X=X, y=Y),
        "a.csv": _csv("a,b,c,d,e,f\n"),
        "a.tsv": _csv().replace(b",", b"\t"),
        "a.parquet": _parquet(**{name: X[:, k] for k, name in enumerate("abcdef")}),
        "a.fvecs": _vecs(X),
        "a.bvecs": _vecs(np.arange(240).reshape(40, 6).astype(np.uint8)),
        "a.ivecs": _vecs(np.arange(240).reshape(40, 6).astype(np.int32)),
        "a.mat": _mat(X=X, y=Y, note="text", s={"a": 1}),
        "a.hdf5": _hdf5(train=X, test=X[:3], neighbors=np.zeros((3, 2), int)),
        "a.h5": _hdf5(X=X),
    }


FILES = _files()


def test_every_format_is_tried() -> None:
    assert {Path(name).suffix for name in FILES} == set(READERS)


@pytest.mark.parametrize("name", FILES)
def test_a_path_and_an_upload_give_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    table, upload, peek = read_path(path), read_upload(name, FILES[name]), peek_path(path)
    np.testing.assert_array_equal(table.X, upload.X)
    assert (peek.rows, peek.columns, peek.exact) == (40, 6, True)
    expected = np.arange(240).reshape(40, 6) if name[2] in "bi" else X
    np.testing.assert_array_equal(table.X, expected)


@pytest.mark.parametrize("name", [name for name in FILES if Path(name).suffix not in (".csv", ".tsv")])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.97])
def test_a_truncated_file_is_named(name: str, share: float, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name][: max(0, int(share * len(FILES[name])) - 1)])
    with pytest.raises(ValueError, match=name):
        read_path(path)


@pytest.mark.parametrize("name", FILES)
def test_flipped_bytes_are_read_or_refused_but_nothing_else(name: str) -> None:
    for _ in range(40):
        data = bytearray(FILES[name])
        for at in RNG.integers(0, min(len(data), 400), 3):
            data[at] = RNG.integers(0, 256)
        try:
            read_upload(name, bytes(data))
        except ValueError as error:
            assert name in str(error)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i8", "?", ">f4"])
@pytest.mark.parametrize("order", "CF")
def test_npy_dtypes(dtype: str, order: str) -> None:
    array = np.asarray((X > 0) if dtype == "?" else (X * 50), order=order).astype(dtype, order=order)
    table = read_upload("x.npy", _npy(array))
    assert table.X.dtype == array.dtype
    np.testing.assert_array_equal(table.X, array)


def test_a_large_npy_and_npz_and_fvecs_are_mapped(tmp_path: Path) -> None:
    big = np.zeros((MAP_FROM // 4000 + 1, 1000), np.float32)
    big[-1, -1] = 7
    np.save(tmp_path / "x.npy", big)
    np.savez(tmp_path / "x.npz", X=big)
    (tmp_path / "x.fvecs").write_bytes(_vecs(big))
    for name in ("x.npy", "x.npz", "x.fvecs"):
        found = read_path(tmp_path / name).X
        while not isinstance(found, np.memmap):
            assert found.base is not None, name
            found = found.base
        assert read_path(tmp_path / name).X[-1, -1] == 7
        assert gather(read_path(tmp_path / name).X, np.array([len(big) - 1]))[0, -1] == 7


def test_a_large_contiguous_hdf5_is_mapped(tmp_path: Path) -> None:
    big = np.zeros((MAP_FROM // 4000 + 1, 1000), np.float32)
    (tmp_path / "x.hdf5").write_bytes(_hdf5(train=big))
    assert isinstance(read_path(tmp_path / "x.hdf5").X, np.memmap)


def _header(shape: tuple[int, ...], descr: str = "<f4") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
    return stream.getvalue()


@pytest.mark.parametrize("shape", [(10**12, 4), (4, 10**12), (2**62, 8), (-1, 4), (0, 4), (10**30, 10**30)])
def test_a_header_cannot_make_us_allocate(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"x\.npy"):
        read_upload("x.npy", _header(shape) + b"\0" * 64)


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
        member.write(_header((2_500_000_000 // 16, 16)))
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
        x.write(_header((rows, 16)))
        for _ in range(2**26 // 2**24):
            x.write(bytes(2**24))
    with pytest.raises(ValueError, match="decode to at most"):
        read_upload("x.npz", stream.getvalue(), replace(UPLOAD, decoded=2**25))


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
        ("x.npy", _npy(np.array([[{}]], dtype=object), allow_pickle=True)),
        ("x.npz", _npz(X=np.array([[{}]], dtype=object))),
        ("data_batch_1", pickle.dumps({b"data": X})),
        ("x.joblib", b"anything"),
    ],
)
def test_pickles_are_refused_with_the_alternative(name: str, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickle, "load", pytest.fail)
    monkeypatch.setattr(pickle, "loads", pytest.fail)
    with pytest.raises(ValueError, match=r"pickle.*np\.save"):
        read_upload(name, data)


def test_npz_chooses_the_matrix_labels_and_ids() -> None:
    table = read_upload("x.npz", _npz(other=Y, embeddings=X, labels=Y, ids=np.array([f"p{k}" for k in range(40)])))
    assert table.X.shape == (40, 6)
    assert table.labels is not None
    assert table.ids is not None
    assert table.ids[7] == "p7"
    with pytest.raises(ValueError, match="variable"):
        read_upload("x.npz", _npz(p=X, q=X))
    with pytest.raises(ValueError, match="a matrix"):
        read_upload("x.npz", _npz(p=Y))


def test_csv_with_and_without_names_labels_and_ids() -> None:
    text = "id;a;b;Label\np1;1;2;cat\np2;3;4;dog\np3;5;6;cat\n"
    table = read_upload("x.csv", text.encode())
    assert table.columns == ("a", "b")
    assert table.class_names == ("cat", "dog")
    assert table.labels is not None
    assert table.labels.tolist() == [0, 1, 0]
    assert table.ids is not None
    assert table.ids.tolist() == ["p1", "p2", "p3"]
    assert read_upload("x.csv", b"1,2\n3,4\r\n\n5,6").X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert read_upload("x.csv", b"\xef\xbb\xbfa,a\n1,2\n").columns == ("a", "a.1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,x\n", "'x'"),
        ("a,b\n1,2\n3\n", "2 columns"),
        ("a,b\n1,2\n3,\n", "row 1, column 1 \\('b'\\)"),
        ("a,b\n1,2\n3,inf\n", "row 1, column 1"),
        ("a,b\n", "rows"),
        ("\n\n", "empty"),
        ("label\n1\n", "columns of numbers"),
    ],
)
def test_csv_refusals_say_where(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_upload("x.csv", text.encode())


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
        data = _npy(np.zeros(shape, np.uint8))
        with pytest.raises(ValueError, match=what):
            read_upload("x.npy", data, tight)
        (tmp_path / "x.npy").write_bytes(data)
        assert read_path(tmp_path / "x.npy").X.shape == shape
    with pytest.raises(ValueError, match="data folder"):
        UPLOAD.check_size("x.npy", 10**12)


def test_the_name_of_an_upload_is_no_path() -> None:
    assert read_upload("..\\..//etc/x.npy", _npy(X)).name == "x.npy"


def test_parquet_lists_roles_and_refusals() -> None:
    import pyarrow as pa

    vectors = pa.array(X.tolist(), pa.list_(pa.float32()))
    table = read_upload("x.parquet", _parquet(embedding=vectors, text=["t"] * 40, label=["b", "a"] * 20))
    np.testing.assert_array_equal(table.X, X)
    assert table.class_names == ("a", "b")
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 6)
    np.testing.assert_array_equal(read_upload("x.parquet", _parquet(v=fixed)).X, X)
    ragged = pa.array([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]])
    with pytest.raises(ValueError, match="one length"):
        read_upload("x.parquet", _parquet(v=ragged))
    with pytest.raises(ValueError, match="columns of numbers"):
        read_upload("x.parquet", _parquet(text=["a"]))
    with pytest.raises(ValueError, match="row 0"):
        read_upload("x.parquet", _parquet(a=[None, 1.0]))


def test_one_long_text_in_every_row_is_not_written_out() -> None:
    import pyarrow as pa

    indices = pa.array(np.zeros(50_000, np.int32))
    labels = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 100_000]))
    data = _parquet(a=np.zeros(50_000), id=labels)
    with pytest.raises(ValueError, match="256 characters"):
        read_upload("x.parquet", data)


def test_vecs_say_which_byte() -> None:
    with pytest.raises(ValueError, match=r"vector 39 begins at byte 1,092 and should end at byte 1,120.*byte 1,119"):
        read_upload("a.fvecs", FILES["a.fvecs"][:-1])
    bad = bytearray(FILES["a.fvecs"])
    bad[28 * 5] = 9
    with pytest.raises(ValueError, match="got 9 for vector 5 at byte 140"):
        read_upload("a.fvecs", bytes(bad))
    with pytest.raises(ValueError, match="at byte 0"):
        read_upload("a.fvecs", struct.pack("<i", -3) + b"abcd")


def test_genuine_texmex_files() -> None:
    folder = Path(__file__).parents[3] / "shared" / "data" / "fvecs_format_samples"
    if not folder.is_dir():
        pytest.skip("the TEXMEX samples lie outside the project and are not here")
    query = read_path(folder / "siftsmall_query.fvecs").X
    truth = read_path(folder / "siftsmall_groundtruth.ivecs").X
    assert query.shape == (100, 128)
    assert truth.shape == (100, 100)
    assert (query % 1 == 0).all()
    assert 0 <= truth.min() <= truth.max() < 10_000


def test_mat_reads_only_what_is_needed_and_never_an_object() -> None:
    with pytest.raises(ValueError, match=r"numeric matrix, got s \(struct\), c \(cell\)"):
        read_upload("x.mat", _mat(s={"a": X}, c=np.array([X, "x"], dtype=object)))
    with pytest.raises(ValueError, match="variable"):
        read_upload("x.mat", _mat(p=X, q=X))
    table = read_upload("x.mat", _mat(fea=X.astype(np.float64), gnd=Y[:, None]))
    assert table.labels is not None
    assert table.labels.tolist() == Y.tolist()
    with pytest.raises(ValueError, match="is a struct"):
        mat.values(Source.upload("x.mat", _mat(s={"a": 1})), UPLOAD, ["s"])


def test_a_mat_bomb_is_refused_by_its_header() -> None:
    """A compressed variable that declares 40000 x 40000 doubles, 12.8 GB."""
    shape = struct.pack("<IIii", 5, 8, 40_000, 40_000)
    inner = struct.pack("<IIII", 6, 8, 6, 0) + shape + struct.pack("<HHc3x", 1, 1, b"X")
    inner += struct.pack("<II", 9, 8 * 40_000**2 % 2**32) + bytes(2**20)
    packed = zlib.compress(struct.pack("<II", 14, len(inner)) + inner)
    data = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(packed)) + packed
    with pytest.raises(ValueError, match=r"40000, 40000"):
        read_upload("x.mat", data)


def test_mat_7_3_is_read_through_hdf5(tmp_path: Path) -> None:
    import h5py

    path = tmp_path / "x.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["X"] = X.T
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    np.testing.assert_array_equal(read_path(path).X, X)
    np.testing.assert_array_equal(read_upload("x.mat", path.read_bytes()).X, X)


def test_hdf5_of_ann_benchmarks(tmp_path: Path) -> None:
    (tmp_path / "a.hdf5").write_bytes(FILES["a.hdf5"])
    assert read_path(tmp_path / "a.hdf5").metric == "cosine"
    table = read_upload("glove-100-angular.hdf5", FILES["a.hdf5"])
    assert table.metric == "cosine"
    assert table.extra["test"].shape == (3, 6)
    assert table.extra["neighbors"].shape == (3, 2)


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


def test_without_h5py_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ValueError, match=r"ohash\[hdf5\]"):
        read_upload("a.hdf5", FILES["a.hdf5"])


def test_nan_is_reported_by_its_first_place() -> None:
    bad = X.copy()
    bad[17, 3] = np.nan
    bad[20, 1] = np.inf
    with pytest.raises(ValueError, match="row 17, column 3; remove or impute"):
        read_upload("x.npy", _npy(bad))


def test_unknown_extensions_name_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"\.npy, \.npz"):
        read_upload("x.gz", gzip.compress(b"x"))


def test_headers_are_not_needed_to_hold_text() -> None:
    assert npy.NUMBERS + npy.TEXT == "fiubUS"
    assert npz.arrays(Source.upload("x.npz", _npz(a=np.array(["p", "q"]))), UPLOAD)["a"].tolist() == ["p", "q"]


def test_a_map_that_was_looked_at_is_let_go_again(tmp_path: Path) -> None:
    """Scattered rows of a large file must not stay in memory: with the pages around them that would be all of it."""
    status = Path("/proc/self/status")
    if not status.is_file():
        pytest.skip("only Linux tells how much of a file is in memory")
    X = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (40_000, 1024))
    X[::100] = 1
    X.flush()
    del X
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")

    def held() -> int:
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("RssFile"))

    before = held()
    rows = np.arange(0, 40_000, 10)
    assert gather(mapped, rows).sum() == 400 * 1024
    assert sum(gather(mapped, slice(at, at + 4000)).sum() for at in range(0, 40_000, 4000)) == 400 * 1024
    assert held() - before < 20_000  # of 164,000 kB
