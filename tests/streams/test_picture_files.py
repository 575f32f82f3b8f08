"""Pictures that a user brings: described, labelled by folder, and refused with words where they are hostile."""

import io
import zipfile

import numpy as np
import pytest
from PIL import Image

from ohash.core.gist import gist512
from ohash.streams.readers import picture_files
from ohash.streams.readers.picture_files import MIN_PICTURES, SUFFIXES, read_pictures
from ohash.streams.readers.source import BadFileError


def saved(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.open(io.BytesIO(png())).save(buffer, format=kind)
    return buffer.getvalue()


def png(seed: int = 0, width: int = 40, height: int = 30) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format="PNG")
    return buffer.getvalue()


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


PICTURES = {f"{'cats' if at % 2 else 'dogs'}/{at:02}.png": png(at) for at in range(24)}


def test_folders_of_a_zip_are_labels_and_progress_is_told() -> None:
    progress: list[tuple[int, int]] = []
    extra = {"__MACOSX/cats/._01.png": b"x", "cats/notes.txt": b"no picture", "cats/.hidden.png": b"x"}
    pets = read_pictures([("pets.zip", zipped(**PICTURES, **extra))], "pets.zip", lambda *done: progress.append(done))
    assert pets.n == 24 and pets.d == 512 and pets.class_names == ("cats", "dogs")
    assert pets.labels is not None and pets.labels.sum() == 12
    assert pets.thumbnails is not None and pets.thumbnails.shape == (24, 64, 64, 3)
    np.testing.assert_allclose(pets.X, gist512(pets.thumbnails), rtol=1e-5)
    assert progress[-1] == (24, 24)


def test_single_files_have_no_labels() -> None:
    loose = read_pictures([(f"{at}.png", png(at)) for at in range(MIN_PICTURES)], "20 files")
    assert loose.labels is None and loose.n == MIN_PICTURES


def test_a_folder_is_read_like_the_zip_of_it() -> None:
    hidden = [("pets/cats/._01.png", b"x"), ("pets/.trash/01.png", b"x")]
    folder = read_pictures([*((f"pets/{name}", png) for name, png in PICTURES.items()), *hidden], "pets")
    packed = read_pictures([("pets.zip", zipped(**PICTURES))], "pets")
    assert folder.class_names == ("cats", "dogs") and folder.fingerprint() == packed.fingerprint()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            [("a.zip", zipped(**{**PICTURES, "cats/dot.png": png(0, 1, 1)}))],
            "cats/dot.png has 1 x 1 pixels; at least 8",
        ),
        ([("a.zip", zipped(**{**PICTURES, "cats/bad.png": b"not a picture"}))], "cats/bad.png cannot be read"),
        ([("a.zip", zipped(**{**PICTURES, "cats/cut.png": png(1)[:-600]}))], "cats/cut.png cannot be read"),
        ([("a.zip", b"PK not a zip")], "a.zip cannot be unzipped"),
        ([("a.exe", b"MZ")], "a.exe is neither a zip nor a picture"),
        ([("a.zip", zipped(readme=b"nothing"))], "at least 20 pictures"),
        ([("one.png", png())], "at least 20 pictures"),
    ],
)
def test_what_is_wrong_is_said_with_the_name_of_the_file(files: list[tuple[str, bytes]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_pictures(files, "a.zip")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_kind_of_picture_is_read_whatever_its_name(suffix: str) -> None:
    Image.init()
    assert picture_files._square("a.png", saved(Image.registered_extensions()[suffix])).shape == (64, 64, 3)


@pytest.mark.parametrize("kind", ["DDS", "EPS", "ICO", "JPEG2000", "PCX", "PPM", "SGI", "TGA"])
def test_kinds_that_are_not_offered_are_not_opened(kind: str) -> None:
    """An EPS file, for one, is a program, which Pillow has Ghostscript run."""
    with pytest.raises(BadFileError, match=r"^a\.png cannot be read as a picture; leave it out$"):
        picture_files._square("a.png", saved(kind))


def test_a_zip_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_files, "UNPACKED", 10 * 2**20)
    with pytest.raises(ValueError, match="unpacks to more than 10 MB"):
        read_pictures([("bomb.zip", zipped(**{"a.png": bytes(11 * 2**20)}))], "bomb.zip")


def test_too_many_and_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_files, "MAX_PICTURES", 23)
    with pytest.raises(ValueError, match="more than 23 pictures"):
        read_pictures([("a.zip", zipped(**PICTURES))], "a.zip")
    monkeypatch.setattr(picture_files, "MAX_PIXELS", 100)
    with pytest.raises(ValueError, match="40 x 30 pixels, more than 100"):
        read_pictures([("a.zip", zipped(**PICTURES))], "a.zip")
