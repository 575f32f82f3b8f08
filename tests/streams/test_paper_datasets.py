"""The paper's four datasets, known by name in the data folder."""

import pickle
import re
import struct
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from ohash.streams import data_folder
from ohash.streams.data_split import split
from ohash.streams.overview import draw_examples
from ohash.streams.registry import datasets, load_by_key
from ohash.streams.similarity import make_similarity
from ohash.streams.summary import summarize
from tests.streams.availability import absent, problem

RNG = np.random.default_rng(6)
X = RNG.normal(size=(200, 4)).astype(np.float32)


def test_gist1m(root: Path) -> None:
    assert "gist_base.fvecs" in problem("gist1m")
    d = np.full((200, 1), 4, "<i4")
    (root / "sub").mkdir()
    np.hstack([d.view("<f4"), X]).tofile(root / "sub" / "gist_base.fvecs")
    assert problem("gist1m") == ""
    assert data_folder.folder_specs() == {}
    dataset = load_by_key("gist1m")
    np.testing.assert_array_equal(dataset.X, X)
    assert (datasets()["gist1m"].n, datasets()["gist1m"].d) == (200, 4)
    assert dataset.presets["beta"] == 0.4
    assert dataset.similarities[0] == "metric"
    parts = split(dataset, 0)
    relevant = make_similarity(dataset, parts).relevant(parts.test, parts.database)
    assert (relevant.sum(axis=1) == round(0.05 * len(parts.database))).all(), "the plain nearest 5 %"
    assert "among the first's nearest 5 %" in "\n".join(summarize(dataset).lines())
    assert draw_examples(dataset).words == dataset.explain("metric") and "among the first" in dataset._repr_html_()


def test_gist1m_takes_half_a_million_of_a_real_size_without_reading_it(root: Path) -> None:
    record = struct.pack("<i", 960)
    with (root / "gist_base.fvecs").open("wb") as stream:
        for row in np.linspace(0, 999_999, 1000).astype(int).tolist():
            stream.seek(row * 3844)
            stream.write(record)
        stream.truncate(3_844_000_000)
    dataset = load_by_key("gist1m")
    parts = split(dataset, 0)
    assert (dataset.n, dataset.d, len(parts.train), len(parts.test)) == (502_000, 960, 500_000, 1_000)


def test_labelme(root: Path) -> None:
    assert "LabelMe_gist.mat" in problem("labelme")
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
    dataset = load_by_key("labelme")
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
    assert "info.txt" in problem("phototourism")
    patches, points = RNG.integers(0, 256, (40, 64, 64), dtype=np.uint8), np.arange(40) // 2
    _photo_tourism(root, patches, points)
    dataset = load_by_key("phototourism")
    assert dataset.X.shape == (40, 512)
    assert dataset.tracks is not None
    assert dataset.tracks.tolist() == points.tolist()
    assert dataset.thumbnails is not None
    assert dataset.thumbnails[3, 0, 0] == int(patches[3, :2, :2].mean())
    pairs = load_by_key("phototourism-m50").pairs
    assert pairs is not None
    assert pairs.s is not None
    assert pairs.s.tolist() == [1, -1] * 19 + [1]
    (root / "info.txt").write_text("1 0\nx 0\n")
    with pytest.raises(ValueError, match="line 2, got 'x 0'"):
        datasets()["phototourism"].load()
    (root / "info.txt").write_text("1 0\n" * 300)
    with pytest.raises(ValueError, match=r"patches0001\.bmp of Photo Tourism: missing in"):
        datasets()["phototourism"].load()
    assert "patches0001.bmp" in problem("phototourism")
    (root / "patches0002.bmp").write_bytes((root / "patches0000.bmp").read_bytes())
    (root / "info.txt").write_text("1 0\n" * 700)
    assert "patches0001.bmp of Photo Tourism: missing" in problem("phototourism")
    (root / "info.txt").unlink()
    assert "info.txt of Photo Tourism: missing" in problem("phototourism")
    (root / "info.txt").write_text("1 0\n2 0\n" * 15)
    (root / "patches0000.bmp").write_bytes((root / "patches0000.bmp").read_bytes()[:5000])
    cut = r"patches0000\.bmp .* to 1,049,654, the file ends at byte 5,000"
    with pytest.raises(ValueError, match=cut):
        datasets()["phototourism"].load()
    assert re.match(cut, problem("phototourism")) and absent("phototourism") == "is damaged"
    (root / "m50_10_10_0.txt").unlink()
    assert absent("phototourism-m50") == "is incomplete"
    (root / "patches0000.bmp").write_bytes(b"JUNK" * 50)
    with pytest.raises(ValueError, match=r"patches0000\.bmp must start with BM at byte 0 .* got b'JU'"):
        datasets()["phototourism"].load()


def test_cifar10(root: Path) -> None:
    assert "binary" in problem("cifar10")
    (root / "data_batch_1").write_bytes(pickle.dumps({"data": X}))
    assert "pickled" in problem("cifar10")
    assert "data_batch_1.bin" in problem("cifar10")
    records = RNG.integers(0, 256, (6, 10, 3073), dtype=np.uint8)
    records[:, :, 0] = np.arange(10)
    names = [*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"]
    for name, batch in zip(names, records, strict=True):
        batch.tofile(root / name)
    dataset = load_by_key("cifar10")
    assert dataset.X.shape == (60, 3072)
    assert dataset.thumbnails is not None
    assert dataset.thumbnails.shape == (60, 32, 32, 3)
    assert dataset.thumbnails[1, 0, 0].tolist() == records[0, 1, [1, 1025, 2049]].tolist()
    assert load_by_key("cifar10-gist").X.shape == (60, 512)
    spec = datasets()["cifar10"]
    assert (spec.n, spec.d, spec.size_note) == (60, 3072, "60 x 3,072 are here, the paper's are 60,000 x 3,072")
    with (root / "test_batch.bin").open("ab") as stream:
        stream.write(b"abc")
    assert "byte 30,733" in problem("cifar10") and absent("cifar10") == "is damaged"
    with pytest.raises(ValueError, match=r"test_batch\.bin .*record 10 begins at byte 30,730 .*byte 30,733"):
        datasets()["cifar10"].load()


def _batches(folder: Path, *names: str) -> None:
    for name in names:
        np.zeros((10, 3073), np.uint8).tofile(folder / name)


def test_what_is_missing_of_the_papers_data_is_named(root: Path, tmp_path: Path) -> None:
    _batches(root, "data_batch_1.bin", "data_batch_3.bin", "test_batch.bin")
    message = problem("cifar10")
    assert absent("cifar10") == "is incomplete"
    assert message.startswith("data_batch_2.bin, data_batch_4.bin, data_batch_5.bin of CIFAR-10: missing in")
    _batches(root, *(f"data_batch_{k}.bin" for k in (2, 4, 5)))
    assert problem("cifar10") == ""
    (root / "test_batch.bin").unlink()
    _batches(tmp_path, "test_batch.bin")
    (root / "test_batch.bin").symlink_to(tmp_path / "test_batch.bin")
    assert "test_batch.bin of CIFAR-10" in problem("cifar10")
    assert "links out of the data folder are not followed" in problem("cifar10")
    (root / "sub").mkdir()
    _batches(root / "sub", *(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin")
    assert load_by_key("cifar10").n == 60


@pytest.mark.parametrize(("key", "name"), [("gist1m", "gist_base.fvecs"), ("labelme", "LabelMe_gist.mat")])
def test_links_and_damage_of_the_papers_files_are_told_in_the_list(
    root: Path, tmp_path: Path, key: str, name: str
) -> None:
    (tmp_path / name).write_bytes(b"no such thing")
    (root / name).symlink_to(tmp_path / name)
    assert "not followed" in problem(key) and absent(key) == "is not here"
    (root / name).unlink()
    (root / name).write_bytes(b"no such thing")
    assert name in problem(key)
    assert "put" not in problem(key) and absent(key) == "is damaged"
