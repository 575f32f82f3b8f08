"""Pictures that a user brings, single files, a folder or a zip of them, as GIST-512 with thumbnails.

Folders are labels if every picture lies in one and there are at least two. Everything is bounded: the number
of pictures, their pixels, and what a zip may unpack to.
"""

import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt

from ohash.core.gist import MIN_SIDE, gist512
from ohash.streams.dataset import Dataset, default_queries
from ohash.streams.readers.source import MIB, BadFileError

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF")  # Pillow would look for thirty more, whatever a file is called
SIDE = 64  # pixels of the square that is described and shown
MIN_PICTURES, MAX_PICTURES = 20, 5000
MAX_PIXELS = 50_000_000
UNPACKED = 500 * MIB
PICTURES_PER_BLOCK = 64  # pictures between two reports of progress

Progress = Callable[[int, int], None]
Pixels = npt.NDArray[np.uint8]


def read_pictures(files: Sequence[tuple[str, bytes]], title: str, progress: Progress = lambda _, __: None) -> Dataset:
    """A dataset of the pictures in (name, content) files, zips opened; ValueError says what is wrong with which."""
    names: list[str] = []
    pictures: list[Pixels] = []
    for name, content in _members(files):
        if len(names) == MAX_PICTURES:
            raise BadFileError(f"{title} has more than {MAX_PICTURES:,} pictures; leave some out")
        names.append(name)
        pictures.append(_square(name, content))
    if len(names) < MIN_PICTURES:
        raise BadFileError(
            f"{title} must hold at least {MIN_PICTURES} pictures ({', '.join(SUFFIXES)}), got {len(names)}"
        )
    thumbnails = np.stack(pictures)
    X = np.empty((len(names), 512), np.float32)
    for start in range(0, len(names), PICTURES_PER_BLOCK):
        X[start : start + PICTURES_PER_BLOCK] = gist512(thumbnails[start : start + PICTURES_PER_BLOCK])
        progress(min(len(names), start + PICTURES_PER_BLOCK), len(names))
    folders = [PurePosixPath(name).parent.name for name in names]
    classes = sorted(set(folders))
    labels = np.searchsorted(classes, folders) if len(classes) > 1 and all(folders) else None
    return Dataset(
        key="own",
        title=title,
        X=X,
        labels=None if labels is None else labels.astype(np.int64),
        class_names=() if labels is None else tuple(classes),
        thumbnails=thumbnails,
        queries=default_queries(len(names)),
    )


def _members(files: Sequence[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The pictures among files and in zips, in the order of their names."""
    for name, content in sorted(files):
        if _is_hidden(name):
            continue
        if name.lower().endswith(".zip"):
            yield from _unzip(name, content)
        elif name.lower().endswith(SUFFIXES):
            yield name, content
        else:
            raise BadFileError(f"{name} is neither a zip nor a picture; pictures end in {', '.join(SUFFIXES)}")


def _unzip(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            wanted = [info for info in archive.infolist() if _is_picture(info)]
            if sum(info.file_size for info in wanted) > UNPACKED:
                raise BadFileError(f"{name} unpacks to more than {UNPACKED // MIB} MB; leave some pictures out")
            left = UNPACKED  # what a zip says about its sizes may be false
            for info in sorted(wanted, key=lambda info: info.filename):
                with archive.open(info) as packed:
                    data = packed.read(left + 1)
                left -= len(data)
                if left < 0:
                    raise BadFileError(f"{name} unpacks to more than {UNPACKED // MIB} MB; leave some pictures out")
                yield info.filename, data
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise BadFileError(f"{name} cannot be unzipped: {error}; pack it again, without a password") from None


def _is_picture(info: zipfile.ZipInfo) -> bool:
    """Not a folder, nor what a file manager has added."""
    return not info.is_dir() and not _is_hidden(info.filename) and info.filename.lower().endswith(SUFFIXES)


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def _square(name: str, content: bytes) -> Pixels:
    """The centred square of a picture, in colour, `SIDE` pixels wide."""
    from PIL import Image, ImageOps, UnidentifiedImageError  # noqa: PLC0415

    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as picture:
            width, height = picture.size
            if min(width, height) < MIN_SIDE:
                raise BadFileError(f"{name} has {width} x {height} pixels; at least {MIN_SIDE} x {MIN_SIDE} are needed")
            if width * height > MAX_PIXELS:
                raise BadFileError(f"{name} has {width} x {height} pixels, more than {MAX_PIXELS:,}; make it smaller")
            picture.draft("RGB", (2 * SIDE, 2 * SIDE))  # a JPEG is decoded at a smaller size at once
            return np.asarray(ImageOps.fit(picture.convert("RGB"), (SIDE, SIDE)), np.uint8)
    except BadFileError:
        raise
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, EOFError, MemoryError) as error:
        why = "" if isinstance(error, UnidentifiedImageError) else f": {error}"  # which would name a buffer
        raise BadFileError(f"{name} cannot be read as a picture{why}; leave it out") from None
