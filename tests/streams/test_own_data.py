"""Pairs, labels and vectors of the user, from files and from uploads, into a dataset."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ohash.streams.pairs import pair_stream
from ohash.streams.readers.own_data import DataOptions, dataset_from_files, dataset_from_sources
from ohash.streams.readers.source import UPLOAD, Source
from tests.streams.files import (
    hdf5_bytes,
    read_labels,
    read_labels_upload,
    read_pairs,
    read_pairs_upload,
    vecs_bytes,
)

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 5)).astype(np.float32)


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i,j\n0,1\n2,3\n", [[0, 2], [1, 3]]),
        ("0,1\n2,3\n", [[0, 2], [1, 3]]),
        ("query;item;clicked\n0;1;1\n2;3;0\n", [[0, 2], [1, 3], [1, -1]]),
        ("a,b,s\n0,1,-1\n2,3,+1\n", [[0, 2], [1, 3], [-1, 1]]),
        ("left,right\np,q\nr,s\n", [["p", "r"], ["q", "s"]]),
        ("i,j,time\n0,1,5.5\n2,3,6\n", [[0, 2], [1, 3], [1, 1], [5.5, 6.0]]),
        ("time,j,i\n1970-01-01 00:00:10,1,0\n1970-01-02,3,2\n", [[0, 2], [1, 3], [1, 1], [10.0, 86400.0]]),
    ],
)
def test_pairs_in_csv(text: str, expected: list[list[object]]) -> None:
    assert [column.tolist() for column in read_pairs_upload("p.csv", text.encode())] == expected


def test_pairs_in_other_formats(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    i, j, s = np.array([0, 4, 5]), np.array([1, 2, 3]), np.array([1, -1, 1], np.int8)
    np.save(tmp_path / "p.npy", np.stack([i, j, s], axis=1))
    np.savez(tmp_path / "p.npz", i=i, j=j, s=s)
    pq.write_table(pa.table({"i": i, "j": j, "s": s}), tmp_path / "p.parquet")
    for name in ("p.npy", "p.npz", "p.parquet"):
        assert [column.tolist() for column in read_pairs(tmp_path / name)] == [i.tolist(), j.tolist(), s.tolist()]
    pq.write_table(pa.table({"query": ["a", "b"], "item": ["b", "c"]}), tmp_path / "q.parquet")
    assert [column.tolist() for column in read_pairs(tmp_path / "q.parquet")] == [["a", "b"], ["b", "c"]]
    when = pa.array([10**6, 3 * 10**6], pa.timestamp("us"))
    pq.write_table(pa.table({"i": [1, 2], "j": [3, 4], "time": when}), tmp_path / "t.parquet")
    assert read_pairs(tmp_path / "t.parquet")[3].tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("p.csv", b"x,y\n1,2\n", "columns i and j"),
        ("p.csv", b"i,j,s\n1,2,3\n", "p.csv: s of pairs must be .* got 3.0 at pair 0"),
        ("p.csv", b"i,j,s\n1,2,yes\n", "column s"),
        ("p.csv", b"i,j\n1,\n", "empty at row 0"),
        ("p.npy", _npy(np.array([[0.5, 1.0]])), "whole row numbers"),
        ("p.npy", _npy(X), "2 to 4 columns"),
        ("p.mat", b"x", "to hold pairs"),
        ("p.pkl", b"x", "pickle"),
    ],
)
def test_pairs_refused(name: str, data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_pairs_upload(name, data)


def test_labels_in_every_format(tmp_path: Path) -> None:
    expected = [1, 0, 1], ("cat", "dog")
    for name, data in {
        "y.txt": b"dog\ncat\ndog\n",
        "y.csv": b"label\ndog\ncat\ndog\n",
        "z.csv": b"n,class\n1,dog\n2,cat\n3,dog\n",
        "y.npy": _npy(np.array(["dog", "cat", "dog"])),
    }.items():
        (tmp_path / name).write_bytes(data)
        codes, names = read_labels(tmp_path / name)
        assert (codes.tolist(), names) == expected, name
    codes, names = read_labels_upload("y.txt", b"10\n9\n10\n")
    assert (codes.tolist(), names) == ([1, 0, 1], ("9", "10"))
    assert read_labels_upload("y.npy", _npy(np.array([3.0, 7.0])))[1] == ("3", "7")
    flags, names = read_labels_upload("y.npy", _npy(np.eye(3, dtype=np.uint8)))
    assert flags.shape == (3, 3)
    assert names == ()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("y.txt", b"a\n\nb\n", "empty at row 1"),
        ("y.csv", b"a,b\n1,2\n", "one column"),
        ("y.csv", b"i,j,s\n1,2,1\n", "give them as pairs"),
        ("y.npy", _npy(np.array([1.0, np.nan])), "row 1"),
        ("y.npy", _npy(np.array([1.0, 0.25])), r"classes, .* got 0.25 at row 1"),
        ("y.npy", _npy(np.zeros((2, 2, 2))), "one label per row"),
        ("y.txt", b"\xff\xfe\xfd", "byte 0"),
        ("y.parquet", b"PAR1", "to hold labels"),
    ],
)
def test_labels_refused(name: str, data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_labels_upload(name, data)


def test_a_bare_matrix_is_welcome(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    dataset = dataset_from_files(tmp_path / "x.npy")
    assert dataset.similarities == ("metric", "topk")
    assert dataset.kernel == "rbf"
    assert dataset.title == "x.npy"


def test_clicks_by_id_make_a_stream() -> None:
    names = [f"item{k}" for k in range(60)]
    vectors = "id,a,b,c,d,e\n" + "\n".join(f"{n},{','.join(map(str, x))}" for n, x in zip(names, X, strict=True))
    clicks = "query,item\n" + "\n".join(f"item{k},item{(k + 1) % 60}" for k in range(60))
    dataset = dataset_from_sources(
        Source.upload("x.csv", vectors.encode()), pairs=Source.upload("c.csv", clicks.encode()), limits=UPLOAD
    )
    assert dataset.similarities[0] == "clicks"
    assert dataset.pairs is not None
    assert dataset.pairs.i.tolist() == list(range(60))
    s = pair_stream(dataset, seed=1).take(0, 100)[2]
    assert set(s.tolist()) == {-1, 1}
    with pytest.raises(ValueError, match="column 'id'"):
        dataset_from_sources(
            Source.upload("x.npy", _npy(X)), pairs=Source.upload("c.csv", clicks.encode()), limits=UPLOAD
        )


def test_labels_must_fit(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "y.txt").write_text("a\nb\n")
    with pytest.raises(ValueError, match=r"one label per row of x\.npy, 60, got 2"):
        dataset_from_files(tmp_path / "x.npy", tmp_path / "y.txt")
    (tmp_path / "y.txt").write_text("a\nb\n" * 30)
    dataset = dataset_from_files(
        tmp_path / "x.npy", tmp_path / "y.txt", options=DataOptions(title="mine", metric="cosine")
    )
    assert dataset.class_names == ("a", "b")
    assert (dataset.title, dataset.metric) == ("mine", "cosine")


def test_queries_that_come_with_the_vectors_are_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import h5py

    from ohash.streams.data_split import split
    from ohash.streams.readers import own_data as own

    monkeypatch.setenv("OHASH_HOME", str(tmp_path / "home"))
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        file["train"], file["test"], file["neighbors"] = X, X[:7] + 1, np.zeros((7, 3), int)
        file.attrs["distance"] = "angular"
    for joined in (own.JOINED_IN_MEMORY, 0):
        monkeypatch.setattr(own, "JOINED_IN_MEMORY", joined)
        dataset = dataset_from_files(tmp_path / "a.hdf5")
        assert (dataset.n, dataset.metric) == (67, "cosine")
        assert split(dataset, 0).test.tolist() == list(range(60, 67))
        np.testing.assert_array_equal(dataset.X[60:], X[:7] + 1)


def test_row_numbers_of_neighbours_are_no_vectors(tmp_path: Path) -> None:
    (tmp_path / "x_groundtruth.ivecs").write_bytes(vecs_bytes(np.ones((9, 4), np.int32)))
    with pytest.raises(ValueError, match=r"x_groundtruth\.ivecs lists the neighbours of queries"):
        dataset_from_files(tmp_path / "x_groundtruth.ivecs")


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_last_line_without_an_end_is_doubted(end: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(("\n".join(f"{k}.25,{k}.75" for k in range(30)) + end).encode())
    dataset = dataset_from_files(tmp_path / "x.csv")
    assert dataset.n == 30
    assert dataset.note == ("" if end else "the last line has no line break: is the file complete?")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
@pytest.mark.parametrize("index", [True, False])
def test_what_pandas_writes_beside_the_vectors_is_no_feature(name: str, index: bool, tmp_path: Path) -> None:
    """Row numbers, and the numbers that unnamed columns are called by."""
    frame = pd.DataFrame(X).sample(frac=1, random_state=0)
    if name.endswith(".csv"):
        frame.to_csv(tmp_path / name, index=index)
    else:
        frame.rename(columns=str).to_parquet(tmp_path / name, index=index)
    np.testing.assert_allclose(dataset_from_files(tmp_path / name).X, frame.to_numpy(), rtol=1e-6)


def test_a_decimal_comma_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a;b;c\n1,5;2,5;3,5\n")
    with pytest.raises(ValueError, match="decimal point"):
        dataset_from_files(tmp_path / "x.csv")


@pytest.mark.parametrize("ids", [None, [f"{k}.0" for k in range(59, -1, -1)]])
def test_whole_numbers_written_as_floats_are_row_numbers_unless_there_are_ids(ids: list[str] | None) -> None:
    table = pd.DataFrame(X, columns=[*"abcde"])
    vectors = (table if ids is None else table.assign(id=ids)).to_csv(index=False)
    pairs = Source.upload("p.csv", b"i,j\n1.0,2.0\n3.0,4.0\n")
    dataset = dataset_from_sources(Source.upload("x.csv", vectors.encode()), pairs=pairs, limits=UPLOAD)
    assert dataset.pairs is not None
    rows = [dataset.pairs.i.tolist(), dataset.pairs.j.tolist()]
    assert rows == ([[1, 3], [2, 4]] if ids is None else [[58, 56], [57, 55]])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_fractions_are_no_ids_where_there_are_none(kind: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    table = pd.DataFrame({"i": [1.0, 3.5], "j": [2.0, 4.0]})
    file = tmp_path / f"p.{kind}"
    table.to_csv(file, index=False) if kind == "csv" else table.to_parquet(file)
    with pytest.raises(ValueError, match=rf"p\.{kind} must have whole row numbers or ids in column i, got fractions"):
        dataset_from_files(tmp_path / "x.npy", pairs=file)


def test_what_is_wrong_is_told_with_its_file(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "p.npy", np.array([[0, 1], [2, 999]]))
    with pytest.raises(ValueError, match=r"p\.npy: j of pairs must be row numbers, .* 0 to 59, got 999 at pair 1"):
        dataset_from_files(tmp_path / "x.npy", pairs=tmp_path / "p.npy")
    np.save(tmp_path / "y.npy", np.zeros(60))
    with pytest.raises(ValueError, match=r"y\.npy: labels must have at least 2 classes"):
        dataset_from_files(tmp_path / "x.npy", tmp_path / "y.npy")
    np.savez(tmp_path / "x.npz", X=X, y=np.zeros(60))
    with pytest.raises(ValueError, match=r"x\.npz: labels must have at least 2 classes"):
        dataset_from_files(tmp_path / "x.npz")
    with pytest.raises(ValueError, match=r"x\.npy: queries must be"):
        dataset_from_files(tmp_path / "x.npy", options=DataOptions(queries=(50, 50)))


def test_a_repeated_id_is_told_with_its_file_and_row() -> None:
    vectors = "id,a,b\n" + "".join(f"item{k % 7},{k},{k * k}\n" for k in range(20))
    with pytest.raises(ValueError, match=r"v\.csv: ids must be distinct, got 'item0' again at row 7"):
        dataset_from_sources(Source.upload("v.csv", vectors.encode()), limits=UPLOAD)


@pytest.mark.parametrize(("value", "words"), [(np.nan, "must be finite, got nan"), (1e20, "must have rows of length")])
def test_damage_in_the_test_part_is_told_of_that_part(value: float, words: str) -> None:
    test = X[:5].copy()
    test[3, 2] = value
    with pytest.raises(ValueError, match=rf"x\.hdf5 \[test\] {words}.* at row 3, column 2"):
        dataset_from_sources(Source.upload("x.hdf5", hdf5_bytes(train=X, test=test)), limits=UPLOAD)
