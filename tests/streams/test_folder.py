"""The data folder: everything is listed, what cannot be read with its reason; the paper's four are known by name."""

import os
import pickle
import re
import struct
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from ohash.streams import folder
from ohash.streams.base import split
from ohash.streams.readers import formats
from ohash.streams.registry import datasets, load
from tests.streams.files import FILES, hdf5_bytes

RNG = np.random.default_rng(6)
X = RNG.normal(size=(200, 4)).astype(np.float32)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.setenv("OHASH_DATA", str(data))
    monkeypatch.setenv("OHASH_HOME", str(tmp_path / "home"))
    return data


def _absent(key: str) -> str:
    return datasets()[key].absent()


def _problem(key: str) -> str:
    return datasets()[key].missing()


def test_without_a_folder_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OHASH_DATA", raising=False)
    assert folder.folder_specs() == {}


def test_a_folder_that_does_not_exist_is_told_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OHASH_DATA", "/nowhere/at/all")
    assert "/nowhere/at/all" in _problem("folder:")
    assert load("blobs2d").n == 2000
    with pytest.raises(ValueError, match="folder that exists"):
        folder.use_folder("/nowhere/at/all")


def test_everything_readable_is_listed(root: Path) -> None:
    np.save(root / "x.npy", X)
    (root / "sub").mkdir()
    np.save(root / "sub" / "y.npy", X)
    np.save(root / "twice.npy", X)
    np.savez(root / "twice.npz", X=X)
    (root / "note.md").write_text("no data")
    (root / ".hidden.npy").write_bytes(b"")
    specs = folder.folder_specs()
    assert sorted(specs) == ["folder:sub/y", "folder:twice.npy", "folder:twice.npz", "folder:x"]
    spec = specs["folder:x"]
    assert (spec.n, spec.d, spec.group, spec.size) == (200, 4, "folder", (root / "x.npy").stat().st_size)
    dataset = load("folder:x")
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
    assert _problem("folder:good") == ""
    assert "truncated" in _problem("folder:cut")
    assert "pickle" in _problem("folder:p")
    assert "'labels.npy'" in _problem("folder:labels")
    assert "PAR1" in _problem("folder:noise")
    assert "empty" in _problem("folder:empty")
    assert "'lables'" in _problem("folder:toml")
    with pytest.raises(ValueError, match="truncated"):
        load("folder:cut")


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
    specs = folder.folder_specs()
    held = {key: spec.absent() for key, spec in specs.items() if spec.missing()}
    pairs, labels = "holds pairs", "holds labels"
    assert held == {
        "folder:labels": labels, "folder:names": labels, "folder:class": labels, "folder:rows": pairs,
        "folder:archive": pairs, "folder:clicks": pairs, "folder:clicked": pairs,
    }  # fmt: skip
    assert set(specs) - set(held) == {"folder:x", "folder:plane"}
    with pytest.raises(ValueError, match=r"dataset 'folder:clicks' holds pairs: .*pairs = 'clicks\.csv'"):
        load("folder:clicks")
    (root / "x.toml").write_text("pairs = 'clicks.csv'\nlabels = 'labels.npy'")
    assert not {"folder:clicks", "folder:labels"} & set(folder.folder_specs())


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith("ivecs")])
def test_the_list_says_what_loading_gives(root: Path, name: str) -> None:
    (root / name).write_bytes(FILES[name])
    spec = folder.folder_specs()["folder:a"]
    dataset = load("folder:a")
    assert (spec.n, spec.d) == (dataset.n, dataset.d)
    assert spec.similar_by == ("label" if dataset.labels is not None else "auto")
    assert spec.task == ("same label" if dataset.labels is not None else "your vectors")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_labels_is_seen_in_the_list(root: Path, kind: str) -> None:
    import pandas as pd

    table = pd.DataFrame(X, columns=[*"abcd"]).assign(label=np.arange(200) % 3)
    table.to_csv(root / "x.csv", index=False) if kind == "csv" else table.to_parquet(root / "x.parquet")
    assert folder.folder_specs()["folder:x"].task == "same label"
    assert load("folder:x").labels is not None


def test_test_queries_beside_labels_are_not_counted(root: Path) -> None:
    (root / "x.hdf5").write_bytes(hdf5_bytes(train=X, test=X[:30], labels=np.arange(200) % 3))
    assert folder.folder_specs()["folder:x"].n == load("folder:x").n == 200
    (root / "z.hdf5").write_bytes(hdf5_bytes(train=X, test=X[:30]))
    assert folder.folder_specs()["folder:z"].n == load("folder:z").n == 230


def test_too_few_rows_are_told_in_the_list(root: Path) -> None:
    np.save(root / "x.npy", X[:3])
    assert "at least 4 rows" in _problem("folder:x")
    assert folder.folder_specs()["folder:x"].absent() == "is too small"


def test_a_ground_truth_is_no_vectors(root: Path) -> None:
    rows = np.concatenate([np.full((200, 1), 10), np.arange(2000).reshape(200, 10)], axis=1)
    (root / "sift_groundtruth.ivecs").write_bytes(rows.astype("<i4").tobytes())
    assert folder.folder_specs()["folder:sift_groundtruth"].absent() == "holds a ground truth"
    assert "rename it" in _problem("folder:sift_groundtruth")


def test_links_out_of_the_folder_are_not_followed(root: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "secret.npy", X)
    (tmp_path / "elsewhere").mkdir()
    np.save(tmp_path / "elsewhere" / "other.npy", X)
    (root / "link.npy").symlink_to(tmp_path / "secret.npy")
    (root / "dir").symlink_to(tmp_path / "elsewhere")
    np.save(root / "x.npy", X)
    (root / "inner.npy").symlink_to(root / "x.npy")
    (root / "x.toml").write_text('labels = "../secret.npy"')
    assert "link out of the data folder" in _problem("folder:link")
    assert not any("other" in key for key in folder.folder_specs())
    assert _problem("folder:inner") == ""
    assert "'../secret.npy'" in _problem("folder:x")


def test_a_pipe_in_the_folder_blocks_nothing(root: Path) -> None:
    os.mkfifo(root / "pipe.npy")
    assert folder.folder_specs() == {}


def test_the_toml_beside_a_file(root: Path) -> None:
    np.save(root / "x.npy", X)
    np.save(root / "y.npy", np.arange(200) % 3)
    (root / "x.toml").write_text(
        'title = "Mine"\nlabels = "y.npy"\nmetric = "cosine"\nqueries = [10, 20]\nkernel = "rbf"\nlicence = "CC0"'
    )
    spec = folder.folder_specs()["folder:x"]
    assert (spec.title, spec.licence, spec.similar_by) == ("Mine", "CC0", "label")
    assert "folder:y" not in folder.folder_specs()
    dataset = load("folder:x")
    assert spec.kernel == "rbf"
    assert (dataset.metric, dataset.queries, dataset.kernel, dataset.licence) == ("cosine", (10, 20), "rbf", "CC0")
    assert dataset.similarities[0] == "label"
    (root / "x.toml").write_text('pairs = "p.csv"')
    (root / "p.csv").write_text("i,j\n" + "\n".join(f"{k},{k + 1}" for k in range(100)))
    assert load("folder:x").similarities[0] == "clicks"


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
    import re

    np.save(root / "x.npy", X)
    (root / "x.toml").write_text(text)
    assert re.search(message, _problem("folder:x"))


def test_a_changed_file_is_loaded_again(root: Path) -> None:
    np.save(root / "x.npy", X)
    first = load("folder:x")
    assert load("folder:x") is first
    np.save(root / "x.npy", X + 1)
    os.utime(root / "x.npy", ns=(1, 1))
    np.testing.assert_array_equal(load("folder:x").X, X + 1)


def test_listing_reads_no_data(root: Path) -> None:
    """A sparse file of 3.8 GB, as large as GIST1M, is listed at once."""
    with (root / "big.npy").open("wb") as stream:
        header = {"descr": "<f4", "fortran_order": False, "shape": (1_000_000, 960)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.truncate(stream.tell() + 4 * 960_000_000)
    spec = folder.folder_specs()["folder:big"]
    assert (spec.n, spec.d) == (1_000_000, 960)
    assert isinstance(formats.read_path(root / "big.npy").X, np.memmap)


def test_gist1m(root: Path) -> None:
    assert "gist_base.fvecs" in _problem("gist1m")
    d = np.full((200, 1), 4, "<i4")
    (root / "sub").mkdir()
    np.hstack([d.view("<f4"), X]).tofile(root / "sub" / "gist_base.fvecs")
    assert _problem("gist1m") == ""
    assert folder.folder_specs() == {}
    dataset = load("gist1m")
    np.testing.assert_array_equal(dataset.X, X)
    assert (datasets()["gist1m"].n, datasets()["gist1m"].d) == (200, 4)
    assert dataset.presets["beta"] == 0.4
    assert dataset.similarities[0] == "metric"


def test_gist1m_takes_half_a_million_of_a_real_size_without_reading_it(root: Path) -> None:
    record = struct.pack("<i", 960)
    with (root / "gist_base.fvecs").open("wb") as stream:
        for row in np.linspace(0, 999_999, 1000).astype(int).tolist():
            stream.seek(row * 3844)
            stream.write(record)
        stream.truncate(3_844_000_000)
    dataset = load("gist1m")
    parts = split(dataset, 0)
    assert (dataset.n, dataset.d, len(parts.train), len(parts.test)) == (502_000, 960, 500_000, 1_000)


def test_labelme(root: Path) -> None:
    assert "LabelMe_gist.mat" in _problem("labelme")
    pictures = RNG.integers(0, 256, (8, 8, 3, 200), dtype=np.uint8)
    content = {
        "gist": X.astype(np.float64),
        "img": pictures,
        "ndxtrain": np.arange(1, 181)[None],
        "ndxtest": np.arange(181, 201)[None],
        "names": np.array(["a", X], dtype=object),
        "param": {"a": 1},
    }
    scipy.io.savemat(root / "LabelMe_gist.mat", content)
    dataset = load("labelme")
    np.testing.assert_array_equal(dataset.X, X)
    assert dataset.thumbnails is not None
    np.testing.assert_array_equal(dataset.thumbnails[7], pictures[..., 7])
    assert set(split(dataset, 0).test) <= set(range(180, 200))
    assert dataset.presets["beta"] == 0.5
    scipy.io.savemat(root / "LabelMe_gist.mat", content | {"ndxtest": np.array([[0, 5]])})
    with pytest.raises(ValueError, match="from 1 to 200"):
        datasets()["labelme"].load()


def _photo_tourism(root: Path, patches: np.ndarray, points: np.ndarray) -> None:
    from PIL import Image

    sheet = np.zeros((256, 64, 64), np.uint8)
    sheet[: len(patches)] = patches
    pixels = sheet.reshape(16, 16, 64, 64).transpose(0, 2, 1, 3).reshape(1024, 1024)
    Image.fromarray(pixels).save(root / "patches0000.bmp")
    (root / "info.txt").write_text("".join(f"{point} 0\n" for point in points))
    (root / "m50_10_10_0.txt").write_text(
        "".join(f"{k} {points[k]} 0 {k + 1} {points[k + 1]} 0 0\n" for k in range(39))
    )


def test_photo_tourism(root: Path) -> None:
    assert "info.txt" in _problem("phototourism")
    patches, points = RNG.integers(0, 256, (40, 64, 64), dtype=np.uint8), np.arange(40) // 2
    _photo_tourism(root, patches, points)
    dataset = load("phototourism")
    assert dataset.X.shape == (40, 512)
    assert dataset.tracks is not None
    assert dataset.tracks.tolist() == points.tolist()
    assert dataset.thumbnails is not None
    assert dataset.thumbnails[3, 0, 0] == int(patches[3, :2, :2].mean())
    pairs = load("phototourism-m50").pairs
    assert pairs is not None
    assert pairs.s is not None
    assert pairs.s.tolist() == [1, -1] * 19 + [1]
    (root / "info.txt").write_text("1 0\nx 0\n")
    with pytest.raises(ValueError, match="line 2, got 'x 0'"):
        datasets()["phototourism"].load()
    (root / "info.txt").write_text("1 0\n" * 300)
    with pytest.raises(ValueError, match=r"patches0001\.bmp of Photo Tourism: missing in"):
        datasets()["phototourism"].load()
    assert "patches0001.bmp" in _problem("phototourism")
    (root / "patches0002.bmp").write_bytes((root / "patches0000.bmp").read_bytes())
    (root / "info.txt").write_text("1 0\n" * 700)
    assert "patches0001.bmp of Photo Tourism: missing" in _problem("phototourism")
    (root / "info.txt").unlink()
    assert "info.txt of Photo Tourism: missing" in _problem("phototourism")
    (root / "info.txt").write_text("1 0\n2 0\n" * 15)
    (root / "patches0000.bmp").write_bytes((root / "patches0000.bmp").read_bytes()[:5000])
    cut = r"patches0000\.bmp .* to 1,049,654, the file ends at byte 5,000"
    with pytest.raises(ValueError, match=cut):
        datasets()["phototourism"].load()
    assert re.match(cut, _problem("phototourism")) and _absent("phototourism") == "is damaged"
    (root / "m50_10_10_0.txt").unlink()
    assert _absent("phototourism-m50") == "is incomplete"
    (root / "patches0000.bmp").write_bytes(b"JUNK" * 50)
    with pytest.raises(ValueError, match=r"patches0000\.bmp must start with BM at byte 0 .* got b'JU'"):
        datasets()["phototourism"].load()


def test_cifar10(root: Path) -> None:
    assert "binary" in _problem("cifar10")
    (root / "data_batch_1").write_bytes(pickle.dumps({"data": X}))
    assert "pickled" in _problem("cifar10")
    assert "data_batch_1.bin" in _problem("cifar10")
    records = RNG.integers(0, 256, (6, 10, 3073), dtype=np.uint8)
    records[:, :, 0] = np.arange(10)
    names = [*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"]
    for name, batch in zip(names, records, strict=True):
        batch.tofile(root / name)
    dataset = load("cifar10")
    assert dataset.X.shape == (60, 3072)
    assert dataset.thumbnails is not None
    assert dataset.thumbnails.shape == (60, 32, 32, 3)
    assert dataset.thumbnails[1, 0, 0].tolist() == records[0, 1, [1, 1025, 2049]].tolist()
    assert load("cifar10-gist").X.shape == (60, 512)
    spec = datasets()["cifar10"]
    assert (spec.n, spec.d, spec.partly) == (60, 3072, "60 x 3,072 are here, the paper's are 60,000 x 3,072")
    with (root / "test_batch.bin").open("ab") as stream:
        stream.write(b"abc")
    assert "byte 30,733" in _problem("cifar10") and _absent("cifar10") == "is damaged"
    with pytest.raises(ValueError, match=r"test_batch\.bin .*record 10 begins at byte 30,730 .*byte 30,733"):
        datasets()["cifar10"].load()


def _batches(folder: Path, *names: str) -> None:
    for name in names:
        np.zeros((10, 3073), np.uint8).tofile(folder / name)


def test_what_is_missing_of_the_papers_data_is_named(root: Path, tmp_path: Path) -> None:
    _batches(root, "data_batch_1.bin", "data_batch_3.bin", "test_batch.bin")
    said = _problem("cifar10")
    assert _absent("cifar10") == "is incomplete"
    assert said.startswith("data_batch_2.bin, data_batch_4.bin, data_batch_5.bin of CIFAR-10: missing in")
    _batches(root, *(f"data_batch_{k}.bin" for k in (2, 4, 5)))
    assert _problem("cifar10") == ""
    (root / "test_batch.bin").unlink()
    _batches(tmp_path, "test_batch.bin")
    (root / "test_batch.bin").symlink_to(tmp_path / "test_batch.bin")
    assert "test_batch.bin of CIFAR-10" in _problem("cifar10")
    assert "links out of the data folder are not followed" in _problem("cifar10")
    (root / "sub").mkdir()
    _batches(root / "sub", *(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin")
    assert load("cifar10").n == 60


@pytest.mark.parametrize(("key", "name"), [("gist1m", "gist_base.fvecs"), ("labelme", "LabelMe_gist.mat")])
def test_links_and_damage_of_the_papers_files_are_told_in_the_list(
    root: Path, tmp_path: Path, key: str, name: str
) -> None:
    (tmp_path / name).write_bytes(b"no such thing")
    (root / name).symlink_to(tmp_path / name)
    assert "not followed" in _problem(key) and _absent(key) == "is not here"
    (root / name).unlink()
    (root / name).write_bytes(b"no such thing")
    assert name in _problem(key)
    assert "put" not in _problem(key) and _absent(key) == "is damaged"
