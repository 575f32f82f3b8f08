"""The data folder: everything is listed, what cannot be read with its reason; the paper's four are known by name."""

import os
import pickle
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ohash.streams import data_folder
from ohash.streams.readers import file_formats
from ohash.streams.readers.own_data import open_files
from ohash.streams.registry import load_by_key
from tests.streams.availability import problem
from tests.streams.files import FILES, hdf5_bytes

RNG = np.random.default_rng(6)
X = RNG.normal(size=(200, 4)).astype(np.float32)


def test_without_a_folder_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OHASH_DATA", raising=False)
    assert data_folder.folder_specs() == {}


def test_a_folder_that_does_not_exist_is_told_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OHASH_DATA", "/nowhere/at/all")
    assert "/nowhere/at/all" in problem("folder:")
    assert load_by_key("blobs2d").n == 2000
    with pytest.raises(ValueError, match="folder that exists"):
        data_folder.use_data_folder("/nowhere/at/all")


def test_everything_readable_is_listed(root: Path) -> None:
    np.save(root / "x.npy", X)
    (root / "sub").mkdir()
    np.save(root / "sub" / "y.npy", X)
    np.save(root / "twice.npy", X)
    np.savez(root / "twice.npz", X=X)
    (root / "note.md").write_text("no data")
    (root / ".hidden.npy").write_bytes(b"")
    specs = data_folder.folder_specs()
    assert sorted(specs) == ["folder:sub/y", "folder:twice.npy", "folder:twice.npz", "folder:x"]
    spec = specs["folder:x"]
    assert (spec.n, spec.d, spec.group, spec.size) == (200, 4, "folder", (root / "x.npy").stat().st_size)
    dataset = load_by_key("folder:x")
    assert dataset.key == "folder:x"
    np.testing.assert_array_equal(dataset.X, X)


def test_bad_files_are_listed_with_the_reason(root: Path) -> None:
    np.save(root / "good.npy", X)
    (root / "cut.npy").write_bytes((root / "good.npy").read_bytes()[:-5])
    (root / "p.pkl").write_bytes(pickle.dumps(X))
    np.save(root / "labels.npy", np.arange(5))
    (root / "noise.parquet").write_bytes(RNG.bytes(100))
    (root / "empty.csv").write_bytes(b"")
    (root / "toml.npy").write_bytes((root / "good.npy").read_bytes())
    (root / "toml.toml").write_text("lables = 'y.npy'")
    assert problem("folder:good") == ""
    assert "truncated" in problem("folder:cut")
    assert "pickle" in problem("folder:p")
    assert "'labels.npy'" in problem("folder:labels")
    assert "PAR1" in problem("folder:noise")
    assert "empty" in problem("folder:empty")
    assert "'lables'" in problem("folder:toml")
    with pytest.raises(ValueError, match="truncated"):
        load_by_key("folder:cut")


def test_pairs_and_labels_that_nobody_named_are_no_vectors(root: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    np.save(root / "x.npy", X)
    np.save(root / "labels.npy", np.arange(200) % 3)
    np.save(root / "names.npy", np.array(["a", "b"] * 100))
    np.save(root / "rows.npy", np.arange(40).reshape(20, 2))
    np.savez(root / "archive.npz", i=np.arange(5), j=np.arange(5), s=np.ones(5))
    (root / "clicks.csv").write_text("query,item,time\n1,2,3\n")
    (root / "class.csv").write_text("label\na\nb\n")
    pq.write_table(pa.table({"i": [1, 2], "j": [3, 4]}), root / "clicked.parquet")
    (root / "plane.csv").write_text("a,b\n" + "0.5,1\n" * 9)
    specs = data_folder.folder_specs()
    held = {key: spec.status() for key, spec in specs.items() if spec.missing()}
    pairs, labels = "holds pairs", "holds labels"
    assert held == {
        "folder:labels": labels, "folder:names": labels, "folder:class": labels, "folder:rows": pairs,
        "folder:archive": pairs, "folder:clicks": pairs, "folder:clicked": pairs,
    }  # fmt: skip
    assert set(specs) - set(held) == {"folder:x", "folder:plane"}
    with pytest.raises(ValueError, match=r"dataset 'folder:clicks' holds pairs: .*pairs = 'clicks\.csv'"):
        load_by_key("folder:clicks")
    (root / "x.toml").write_text("pairs = 'clicks.csv'\nlabels = 'labels.npy'")
    assert not {"folder:clicks", "folder:labels"} & set(data_folder.folder_specs())


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith("ivecs")])
def test_the_list_says_what_loading_gives(root: Path, name: str) -> None:
    (root / name).write_bytes(FILES[name])
    spec = data_folder.folder_specs()["folder:a"]
    dataset = load_by_key("folder:a")
    assert (spec.n, spec.d) == (dataset.n, dataset.d)
    assert spec.similar_by == ("label" if dataset.labels is not None else "auto")
    assert spec.task == ("same label" if dataset.labels is not None else "your vectors")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_labels_is_seen_in_the_list(root: Path, kind: str) -> None:
    import pandas as pd

    table = pd.DataFrame(X, columns=[*"abcd"]).assign(label=np.arange(200) % 3)
    table.to_csv(root / "x.csv", index=False) if kind == "csv" else table.to_parquet(root / "x.parquet")
    assert data_folder.folder_specs()["folder:x"].task == "same label"
    assert load_by_key("folder:x").labels is not None


def test_test_queries_beside_labels_are_not_counted(root: Path) -> None:
    (root / "x.hdf5").write_bytes(hdf5_bytes(train=X, test=X[:30], labels=np.arange(200) % 3))
    assert data_folder.folder_specs()["folder:x"].n == load_by_key("folder:x").n == 200
    (root / "z.hdf5").write_bytes(hdf5_bytes(train=X, test=X[:30]))
    assert data_folder.folder_specs()["folder:z"].n == load_by_key("folder:z").n == 230


def test_too_few_rows_are_told_in_the_list(root: Path) -> None:
    np.save(root / "x.npy", X[:3])
    assert "at least 4 rows" in problem("folder:x")
    assert data_folder.folder_specs()["folder:x"].status() == "is too small"


def test_a_ground_truth_is_no_vectors(root: Path) -> None:
    rows = np.concatenate([np.full((200, 1), 10), np.arange(2000).reshape(200, 10)], axis=1)
    (root / "sift_groundtruth.ivecs").write_bytes(rows.astype("<i4").tobytes())
    assert data_folder.folder_specs()["folder:sift_groundtruth"].status() == "holds a ground truth"
    assert "rename it" in problem("folder:sift_groundtruth")


def test_links_out_of_the_folder_are_not_followed(root: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "secret.npy", X)
    (tmp_path / "elsewhere").mkdir()
    np.save(tmp_path / "elsewhere" / "other.npy", X)
    (root / "link.npy").symlink_to(tmp_path / "secret.npy")
    (root / "dir").symlink_to(tmp_path / "elsewhere")
    np.save(root / "x.npy", X)
    (root / "inner.npy").symlink_to(root / "x.npy")
    (root / "around").symlink_to(root)
    (root / "x.toml").write_text('labels = "../secret.npy"')
    assert "link out of the data folder" in problem("folder:link")
    assert not any("other" in key for key in data_folder.folder_specs())
    assert "dir is a link out of the data folder and is not followed; copy the folder" in problem("folder:dir")
    assert problem("folder:inner") == ""
    assert not any("around" in key for key in data_folder.folder_specs())
    for named in ("../secret.npy", "../gone.npy", "/etc/passwd", "/etc/gone", "link.npy"):  # there or not: all the same
        (root / "x.toml").write_text(f'labels = "{named}"')
        assert f"'{named}', which lies outside of it" in problem("folder:x")


def test_a_pipe_in_the_folder_blocks_nothing(root: Path) -> None:
    os.mkfifo(root / "pipe.npy")
    assert data_folder.folder_specs() == {}


def test_the_toml_beside_a_file(root: Path) -> None:
    np.save(root / "x.npy", X)
    np.save(root / "y.npy", np.arange(200) % 3)
    (root / "x.toml").write_text(
        'title = "Mine"\nlabels = "y.npy"\nmetric = "cosine"\nqueries = [10, 20]\nkernel = "rbf"\nlicence = "CC0"'
    )
    spec = data_folder.folder_specs()["folder:x"]
    assert (spec.title, spec.licence, spec.similar_by) == ("Mine", "CC0", "label")
    assert "folder:y" not in data_folder.folder_specs()
    dataset = load_by_key("folder:x")
    assert spec.kernel == "rbf" and spec.metric == "cosine"
    assert (dataset.metric, dataset.queries, dataset.kernel, dataset.licence) == ("cosine", (10, 20), "rbf", "CC0")
    assert dataset.similarities[0] == "label"
    (root / "x.toml").write_text('pairs = "p.csv"')
    (root / "p.csv").write_text("i,j\n" + "\n".join(f"{k},{k + 1}" for k in range(100)))
    assert load_by_key("folder:x").similarities[0] == "clicks"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('metric = "manhattan"', "cosine"),
        ("queries = [1]", "two counts"),
        ("queries = [1, true]", "two counts"),
        ("title = 3", "text"),
        ("labels = [1]", "text"),
        ("= 3", "TOML"),
        ('labels = "gone.npy"', "not there"),
        ('labels = "a\\u0000b"', "not there"),
        ("x = " + "[" * 5000, "TOML|keys"),
        ("#" * 70_000, "65,536"),
    ],
)
def test_a_bad_toml_is_told(root: Path, text: str, message: str) -> None:

    np.save(root / "x.npy", X)
    (root / "x.toml").write_text(text)
    assert re.search(message, problem("folder:x"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('labels = "y.npy"', r"y\.npy must have one label per row of x\.npy, 200, got 199"),
        ('labels = "flags.npy"', r"flags\.npy must have one label per row of x\.npy, 200, got 100"),
        ('labels = "cube.npy"', r"cube\.npy must have one label per row, .* got shape \(200, 2, 2\)"),
        ('labels = "noise.npy"', r"noise\.npy must start with a \.npy header"),
        ('labels = "note.md"', r"note\.md must be one of \.npy, .* to hold labels"),
        ('labels = "p.csv"', r"p\.csv must have one column"),
        ('pairs = "noise.npy"', r"noise\.npy must start with a \.npy header"),
        ('pairs = "y.npy"', r"y\.npy must be a matrix of 2 to 4 columns"),
        ('pairs = "class.csv"', r"class\.csv must have columns i, j"),
        ("queries = [1000, 1000]", r"x\.toml: queries must be .* 200 rows, got \(1000, 1000\)"),
    ],
)
def test_what_does_not_go_with_the_vectors_is_told_in_the_list(root: Path, text: str, message: str) -> None:
    np.save(root / "x.npy", X)
    np.save(root / "y.npy", np.arange(199) % 3)
    np.save(root / "flags.npy", np.zeros((100, 3), bool))
    np.save(root / "cube.npy", np.zeros((200, 2, 2), np.int8))
    (root / "noise.npy").write_bytes(b"no array")
    (root / "note.md").write_text("no array")
    (root / "p.csv").write_text("i,j\n1,2\n")
    (root / "class.csv").write_text("label\n1\n")
    (root / "x.toml").write_text(text)
    assert re.search(message, problem("folder:x"))
    assert data_folder.folder_specs()["folder:x"].status() == "cannot be used"
    with pytest.raises(ValueError, match=message.replace(r"x\.toml", r"x\.\w+")):
        open_files(root / "x.npy")


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith("ivecs")])
def test_a_variable_that_is_not_there_is_told(root: Path, name: str) -> None:
    (root / name).write_bytes(FILES[name])
    (root / "a.toml").write_text('variable = "nope"')
    assert re.search(rf"^{name} .*'nope'.* TOML file next to it", problem("folder:a"))


def test_texts_of_the_toml_stay_in_their_line(root: Path) -> None:
    np.save(root / "x.npy", X)
    (root / "x.toml").write_text('title = "a\\nb\\u202ec\\u001b[31m"\nlicence = "mine\\r\\nonly"\nnote = "one\\ttwo"')
    spec, dataset = data_folder.folder_specs()["folder:x"], load_by_key("folder:x")
    assert (spec.title, spec.licence) == (dataset.title, dataset.licence) == ("a b c [31m", "mine only")
    assert dataset.note.startswith("one two;")


def test_a_changed_file_is_loaded_again(root: Path) -> None:
    np.save(root / "x.npy", X)
    first = load_by_key("folder:x")
    assert load_by_key("folder:x") is first
    np.save(root / "x.npy", X + 1)
    os.utime(root / "x.npy", ns=(1, 1))
    np.testing.assert_array_equal(load_by_key("folder:x").X, X + 1)


def test_listing_reads_no_data(root: Path) -> None:
    """A sparse file of 3.8 GB, as large as GIST1M, is listed at once."""
    with (root / "big.npy").open("wb") as stream:
        header = {"descr": "<f4", "fortran_order": False, "shape": (1_000_000, 960)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.truncate(stream.tell() + 4 * 960_000_000)
    spec = data_folder.folder_specs()["folder:big"]
    assert (spec.n, spec.d) == (1_000_000, 960)
    assert isinstance(file_formats.read_path(root / "big.npy").X, np.memmap)


@pytest.mark.parametrize("test", [X[:3, :2], np.array([b"a", b"b"])])
def test_test_queries_that_do_not_fit_are_refused(root: Path, test: np.ndarray) -> None:
    (root / "a.hdf5").write_bytes(hdf5_bytes(train=X, test=test))
    with pytest.raises(ValueError, match=r"a\.hdf5 \[test\] must be a matrix of numbers of 4 columns"):
        load_by_key("folder:a")


def test_numbered_parquet_files_of_a_folder_are_one_data_set(root: Path) -> None:
    def write(file: Path, rows: slice) -> None:
        file.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"embedding": list(X[rows])}), file)

    for part in range(3):
        write(root / "shards" / f"train-0000{part}-of-00003.parquet", slice(50 * part, 50 * part + 50))
    (root / "shards" / "README.md").write_text("what it is")
    write(root / "others" / "images.parquet", slice(0, 40))
    write(root / "others" / "texts.parquet", slice(40, 90))
    specs = data_folder.folder_specs()
    assert sorted(specs) == ["folder:others/images", "folder:others/texts", "folder:shards"]
    assert (specs["folder:shards"].n, specs["folder:shards"].d) == (150, 4)
    assert np.array_equal(load_by_key("folder:shards").X, X[:150])
    write(root / "shards" / "train-00001-of-00003.parquet", slice(150, 200))
    assert np.array_equal(load_by_key("folder:shards").X[50:100], X[150:]), "a part written again is read again"
