"""The files of sample_data/ as they are committed: checksums, sizes, contents, and nothing that needs pickle."""

import os
import re
import zipfile

import numpy as np
import pytest

from ohash import gist512
from ohash.cli.samples import SAMPLES
from ohash.engine.live.landing_recording import Recording
from ohash.engine.live.presets import PRESETS
from ohash.streams import samples
from ohash.streams.datasets.patches import NOTE, PHOTOS
from ohash.streams.datasets.words import LEFT_OUT
from ohash.streams.registry import find_dataset, load_by_key
from ohash.streams.samples import checksum, read_sample, recorded_checksums, sample_folder

FOLDER = sample_folder()
FILES = [file for file, _ in SAMPLES.values()]
SHAPES = [(4000, 256), (2500, 512), (2500, 512), (4000, 100)]


def top(X, k):
    """The k nearest rows of every row, by L2 on centred unit vectors."""
    Z = X - X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    S = Z @ Z.T
    np.fill_diagonal(S, -np.inf)
    return np.argpartition(-S, k, axis=1)[:, :k]


def shared(a, b):
    return np.mean([np.isin(x, y).mean() for x, y in zip(a, b, strict=True)])


def test_the_readme_records_every_file():
    every = [*FILES, "recording.npz"]
    assert recorded_checksums(FOLDER) == {file: checksum(FOLDER / file) for file in every}
    assert {path.name for path in FOLDER.glob("*.np?")} == set(every)


def test_the_recording_is_of_the_first_preset():
    assert Recording(FOLDER / "recording.npz").params == PRESETS[0].params(), "run python3 -m ohash record"


def test_sizes_stay_within_the_limits():
    assert all((FOLDER / file).stat().st_size < 3e6 for file in FILES)
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 6e6


@pytest.mark.parametrize("file", FILES)
def test_plain_arrays_only(file):
    with np.load(FOLDER / file, allow_pickle=False) as archive:
        assert {"features", "coding", "scale", "note"} <= set(archive.files)
        assert all(archive[name].dtype.kind in "iufU" for name in archive.files)


@pytest.mark.parametrize("file", FILES)
def test_bytes_carry_no_clock_and_are_sorted(file):
    with zipfile.ZipFile(FOLDER / file) as archive:
        entries = archive.infolist()
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)


@pytest.mark.parametrize(("file", "shape"), list(zip(FILES, SHAPES, strict=True)))
def test_features_are_sane(file, shape):
    X = read_sample(FOLDER / file)["features"]
    assert X.shape == shape
    assert X.dtype == np.float32
    assert np.isfinite(X).all()
    assert (X.std(axis=0) > 0).all()
    assert len(np.unique(X, axis=0)) == len(X)


@pytest.mark.slow
def test_fashion_is_balanced_and_its_features_are_of_its_pictures():
    sample = read_sample(FOLDER / "fashion_gist.npz")
    assert np.bincount(sample["labels"]).tolist() == [250] * 10
    assert len(sample["names"]) == 10
    assert (np.diff(sample["source_rows"]) > 0).all()
    exact = gist512(sample["thumbnails"][:300])
    assert shared(top(exact, 15), top(sample["features"][:300], 15)) > 0.98


def test_patches_are_five_views_a_track_of_one_photo_each():
    sample = read_sample(FOLDER / "patches_gist.npz")
    assert str(sample["note"]) == NOTE == "synthetic warps of real photos"
    assert np.bincount(sample["tracks"]).tolist() == [5] * 500
    photo_of = {(int(track), int(photo)) for track, photo in zip(sample["tracks"], sample["photos"], strict=True)}
    assert len(photo_of) == 500
    assert np.bincount(sample["photos"]).max() <= 0.1 * 2500
    assert sample["thumbnails"].shape == (2500, 32, 32)
    assert len(sample["names"]) == len(sample["credits"]) == len(PHOTOS)
    nearest = top(sample["features"], 1)[:, 0]
    assert (sample["tracks"][nearest] == sample["tracks"]).mean() > 0.8


def test_every_photo_is_credited_in_the_readme():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for photo in PHOTOS:
        row = next(line for line in readme.splitlines() if line.startswith(f"| {photo.name.removesuffix('.jpg')} |"))
        assert photo.licence.split(" 1.0")[0] in row
        assert photo.credit.split(",")[0] in row


@pytest.mark.slow
def test_words_have_sensible_neighbours():
    sample = read_sample(FOLDER / "words_glove.npz")
    words = sample["words"].tolist()
    assert len(set(words)) == 4000
    assert not LEFT_OUT & set(words)
    assert all(word.isascii() and word.isalpha() and word.islower() and len(word) > 2 for word in words)
    nearest = top(sample["features"], 10)
    for word, other in (("king", "queen"), ("monday", "tuesday"), ("coffee", "tea"), ("river", "lake")):
        assert other in [words[i] for i in nearest[words.index(word)]]


@pytest.mark.slow
def test_debian_packages_depend_on_each_other_and_say_what_they_are():
    data = load_by_key("debian")
    assert len(set(data.ids.tolist())) == data.n == 4000
    assert (data.pairs.i != data.pairs.j).all()
    names = {(str(data.ids[i]), str(data.ids[j])) for i, j in zip(data.pairs.i, data.pairs.j, strict=True)}
    assert len(names) == len(data.pairs)
    assert ("libgtk-3-0", "libpango-1.0-0") in names
    assert not {"libc6", "libgcc-s1", "libstdc++6"} & {dependency for _, dependency in names}
    assert np.abs(np.diff(data.pairs.i[:1000])).mean() > 500, "the pairs come in no order of names"
    caption = data.captions[data.ids.tolist().index("python3-numpy")]
    assert caption.startswith("python3-numpy: ")
    nearest = top(data.X, 10)
    shared_section = (data.labels[nearest] == data.labels[:, None]).mean()
    assert shared_section > 3 * np.square(np.bincount(data.labels) / data.n).sum()


@pytest.mark.parametrize("key", ["debian", "fashion", "patches", "words"])
def test_a_damaged_file_is_told_in_the_list(key, tmp_path, monkeypatch):
    file = SAMPLES[key][0]
    monkeypatch.setattr(samples, "sample_folder", lambda: tmp_path)
    spec, data = find_dataset(key), (FOLDER / file).read_bytes()
    assert (spec.status(), spec.missing()) == ("is not here", f"rebuild it with: python3 -m ohash samples {key}")
    (tmp_path / file).write_bytes(data)
    assert spec.missing() == ""
    for bad in (data[:-100], data[: len(data) // 2], b"\0" * 1000 + data[1000:], b"<html>", b""):
        (tmp_path / file).write_bytes(bad)
        os.utime(tmp_path / file, ns=(len(bad), bad[0] if bad else 7))
        assert re.match(rf"{file} .*, or rebuild it with: python3 -m ohash samples {key}$", spec.missing())
        with pytest.raises(ValueError, match=f"dataset '{key}' is damaged: {file}"):
            load_by_key(key)
