"""Every format: written by its own library, read back; truncated, corrupted and hostile files are refused in words."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from ohash.core.rows import gather
from ohash.streams.readers import mat, numpy_files
from ohash.streams.readers.file_formats import READERS, peek_path, read_path, read_upload
from ohash.streams.readers.source import MAP_FROM, UPLOAD, Source
from tests.streams.files import FILES, RNG, X, Y, hdf5_bytes, mat_bytes, npy_bytes, npz_bytes, parquet_bytes, vecs_bytes


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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.npz", r"'X\.npy' must lie in bytes 0 to 1,077, and the directory after it; copy it again"),
        ("a.parquet", r"from PAR1 to a footer and PAR1, it ends at byte \d,\d+ .* truncated, copy it again"),
        ("a.hdf5", r"must have the {size:,} bytes that its header declares, it ends at byte {half:,}; it is truncated"),
        ("a.mat", r"variable at byte 128 that ends within the file, .* a length of 992 of {half:,} bytes"),
    ],
)
def test_a_truncated_file_says_what_was_expected(name: str, message: str) -> None:
    size = len(FILES[name])
    with pytest.raises(
        ValueError, match=message.replace("{size:,}", f"{size:,}").replace("{half:,}", f"{size // 2:,}")
    ):
        read_upload(name, FILES[name][: size // 2])


def test_a_block_before_the_hdf5_counts(tmp_path: Path) -> None:
    import h5py

    with h5py.File(tmp_path / "x.hdf5", "w", userblock_size=512) as file:
        file["X"] = X
    whole = (tmp_path / "x.hdf5").read_bytes()
    with pytest.raises(ValueError, match=f"have the {len(whole):,} bytes .* ends at byte {len(whole) - 600:,}"):
        read_upload("x.hdf5", whole[:-600])


def test_damage_inside_a_packed_mat_is_placed() -> None:
    """Beyond the header that is looked at first, so that only unpacking all of it meets the damage."""
    data = bytearray(mat_bytes(X=RNG.normal(size=(200, 20))))
    data[-40] ^= 0xFF
    place = f"variable 'X' must be \\(200, 20\\) in bytes 128 to {len(data):,}, which cannot be decoded .*; copy it"
    with pytest.raises(ValueError, match=place):
        read_upload("x.mat", bytes(data))


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
    table = read_upload("x.npy", npy_bytes(array))
    assert table.X.dtype == array.dtype
    np.testing.assert_array_equal(table.X, array)


def test_a_large_npy_and_npz_and_fvecs_are_mapped(tmp_path: Path) -> None:
    big = np.zeros((MAP_FROM // 4000 + 1, 1000), np.float32)
    big[-1, -1] = 7
    np.save(tmp_path / "x.npy", big)
    np.savez(tmp_path / "x.npz", X=big)
    (tmp_path / "x.fvecs").write_bytes(vecs_bytes(big))
    for name in ("x.npy", "x.npz", "x.fvecs"):
        rows = read_path(tmp_path / name).X
        while not isinstance(rows, np.memmap):
            assert rows.base is not None, name
            rows = rows.base
        assert read_path(tmp_path / name).X[-1, -1] == 7
        assert gather(read_path(tmp_path / name).X, np.array([len(big) - 1]))[0, -1] == 7


def test_a_large_contiguous_hdf5_is_mapped(tmp_path: Path) -> None:
    big = np.zeros((MAP_FROM // 4000 + 1, 1000), np.float32)
    (tmp_path / "x.hdf5").write_bytes(hdf5_bytes(train=big))
    assert isinstance(read_path(tmp_path / "x.hdf5").X, np.memmap)


def test_npz_chooses_the_matrix_labels_and_ids() -> None:
    table = read_upload("x.npz", npz_bytes(other=Y, embeddings=X, labels=Y, ids=np.array([f"p{k}" for k in range(40)])))
    assert table.X.shape == (40, 6)
    assert table.labels is not None
    assert table.ids is not None
    assert table.ids[7] == "p7"
    with pytest.raises(ValueError, match="variable"):
        read_upload("x.npz", npz_bytes(p=X, q=X))
    with pytest.raises(ValueError, match="a matrix"):
        read_upload("x.npz", npz_bytes(p=Y))


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


def test_parquet_lists_roles_and_refusals() -> None:
    import pyarrow as pa

    vectors = pa.array(X.tolist(), pa.list_(pa.float32()))
    table = read_upload("x.parquet", parquet_bytes(embedding=vectors, text=["t"] * 40, label=["b", "a"] * 20))
    np.testing.assert_array_equal(table.X, X)
    assert table.class_names == ("a", "b")
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 6)
    np.testing.assert_array_equal(read_upload("x.parquet", parquet_bytes(v=fixed)).X, X)
    ragged = pa.array([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]])
    with pytest.raises(ValueError, match="one length"):
        read_upload("x.parquet", parquet_bytes(v=ragged))
    with pytest.raises(ValueError, match="columns of numbers"):
        read_upload("x.parquet", parquet_bytes(text=["a"]))
    with pytest.raises(ValueError, match="row 0"):
        read_upload("x.parquet", parquet_bytes(a=[None, 1.0]))


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
        read_upload("x.mat", mat_bytes(s={"a": X}, c=np.array([X, "x"], dtype=object)))
    with pytest.raises(ValueError, match="variable"):
        read_upload("x.mat", mat_bytes(p=X, q=X))
    table = read_upload("x.mat", mat_bytes(fea=X.astype(np.float64), gnd=Y[:, None]))
    assert table.labels is not None
    assert table.labels.tolist() == Y.tolist()
    with pytest.raises(ValueError, match="is a struct"):
        mat.values(Source.upload("x.mat", mat_bytes(s={"a": 1})), UPLOAD, ["s"])


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
    assert {name: array.shape for name, array in table.extra.items()} == {"test": (3, 6)}  # no row numbers


def test_without_h5py_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ValueError, match=r"ohash\[hdf5\]"):
        read_upload("a.hdf5", FILES["a.hdf5"])


def test_a_row_too_long_to_be_measured_is_reported_by_its_place() -> None:
    text = "a,b\n1,2\n3,1e23\n5,6\n7,8\n"
    with pytest.raises(ValueError, match=r"x.csv must .* got 1e\+23 at row 1, column 1 \('b'\)"):
        read_upload("x.csv", text.encode())


def test_nan_is_reported_by_its_first_place() -> None:
    bad = X.copy()
    bad[17, 3] = np.nan
    bad[20, 1] = np.inf
    with pytest.raises(ValueError, match="row 17, column 3; remove or impute"):
        read_upload("x.npy", npy_bytes(bad))


def test_what_a_library_says_is_cut_to_a_line() -> None:
    """It quotes the line it stumbled over."""
    with pytest.raises(ValueError, match=r"^x\.csv must have 2 columns .*got 3.*\.\.\.\); call a column") as error:
        read_upload("x.csv", b"a,b\n1,2\n" + b"9" * 5000 + b",2,3\n")
    assert len(str(error.value)) < 400
    with pytest.raises(ValueError, match=r"^x\.csv must have 2 columns .*'a b'") as error:
        read_upload("x.csv", b'a,b\n1,2\n"a\nb",2\n')
    assert "\n" not in str(error.value)


def test_unknown_extensions_name_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"\.npy, \.npz"):
        read_upload("x.gz", gzip.compress(b"x"))


def test_headers_are_not_needed_to_hold_text() -> None:
    assert numpy_files.NUMBERS + numpy_files.TEXT == "fiubUS"
    assert numpy_files.read_arrays(Source.upload("x.npz", npz_bytes(a=np.array(["p", "q"]))), UPLOAD)["a"].tolist() == [
        "p",
        "q",
    ]


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


@pytest.mark.parametrize(("name", "advice"), [("a.zip", "“Or pictures”"), ("a.docx", "np.save")])
def test_a_file_of_no_format_says_what_to_do(name: str, advice: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be one of .*{advice}"):
        read_upload(name, b"PK")
