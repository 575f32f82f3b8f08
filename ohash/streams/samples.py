"""Samples, the embedded data sets: read, written, checked and found.

A sample is an .npz whose bytes depend only on its arrays: sorted names, no dates, no pickle; packed by LZMA, a tenth
smaller than deflated. Features are stored as bytes:

``sqrt``: uint8 = 255 sqrt(x / scale), for descriptors >= 0: small energies, which are most of a GIST vector, keep their
precision. ``linear``: int8 = x / scale, one scale per column, for embeddings of both signs.
"""

import hashlib
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Singles
from ohash.runtime.files import atomic_file
from ohash.runtime.frames import Arrays
from ohash.streams.data_folder import peek_size


def code_sqrt(X: Singles) -> tuple[npt.NDArray[np.uint8], Singles]:
    """Codes, and the scale (the largest value), of features >= 0.

    >>> codes, scale = code_sqrt(np.array([[0, 0.25, 1]], np.float32))
    >>> codes.tolist(), float(scale)
    ([[0, 128, 255]], 1.0)
    """
    if not (np.isfinite(X).all() and X.min() >= 0 and X.max() > 0):
        raise ValueError(f"X must be finite, >= 0 and not all 0, got values from {X.min()} to {X.max()}")
    scale = np.asarray(X.max(), np.float32)
    return np.round(255 * np.sqrt(X / scale)).astype(np.uint8), scale


def code_linear(X: Singles) -> tuple[npt.NDArray[np.int8], Singles]:
    """Codes -127..127, and the scale of every column.

    >>> code_linear(np.array([[-1, 0], [0.5, 0]], np.float32))[0].tolist()
    [[-127, 0], [64, 0]]
    """
    if not np.isfinite(X).all():
        raise ValueError(f"X must be finite, got {np.count_nonzero(~np.isfinite(X))} values that are not")
    largest = np.abs(X).max(axis=0)
    scale: Singles = (np.where(largest > 0, largest, 1) / 127).astype(np.float32)
    return np.round(X / scale).astype(np.int8), scale


def decode(codes: Array, coding: str, scale: Singles) -> Singles:
    """The features that were coded, as float32.

    >>> decode(np.array([[0, 51, 255]], np.uint8), "sqrt", np.array(2, np.float32)).round(2).tolist()
    [[0.0, 0.07999999821186066, 2.0]]
    """
    if coding == "sqrt":
        return np.asarray(np.square(codes.astype(np.float32) / 255) * scale, np.float32)
    if coding == "linear":
        return np.asarray(codes.astype(np.float32) * scale, np.float32)
    raise ValueError(f"coding must be 'sqrt' or 'linear', got {coding!r}")


README = "README.md"
# Arrays with one entry per row of `features`.
ROW_WISE = ("labels", "tracks", "thumbnails", "words", "texts", "counts", "photos", "source_rows")


def sample_folder() -> Path:
    """`sample_data/` of the checkout, or the copy inside an installed wheel."""
    package = Path(__file__).parents[1]
    checkout = package.parent / "sample_data"
    return checkout if checkout.is_dir() else package / "_app" / "sample_data"


def read_sample(path: str | Path) -> Arrays:
    """The arrays of a sample, `features` decoded to float32 (n, d).

    Besides `features`: `labels` (class of a row, with `names` of the classes) or `tracks` (rows of one track show the
    same thing; `photos` says in which of `names`, and `credits` whose), `words`, `texts`, `thumbnails` (n, side, side)
    uint8, `source_rows` (row in the source), pairs as `counts` (how many a row has) and `partners` (their other rows,
    one after another), and `note`, one text () to be shown with the data.
    """
    path = Path(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        features = decode(arrays.pop("features"), str(arrays.pop("coding")), arrays.pop("scale"))
    except FileNotFoundError:
        raise ValueError(f"{path} is not there; rebuild it with: python3 -m ohash samples") from None
    except (
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        EOFError,
        OSError,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
    ) as error:
        raise ValueError(
            f"{path} is not a sample of this project or is damaged ({error}); rebuild it with: python3 -m ohash samples"
        ) from error
    for name in ROW_WISE:
        if name in arrays and len(arrays[name]) != len(features):
            raise ValueError(f"{path}: {name} must have {len(features)} entries, one per row, got {len(arrays[name])}")
    return {"features": features, **arrays}


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def recorded_checksums(folder: Path) -> dict[str, str]:
    """The checksums in a folder's README.md (lines as `sha256sum` prints them), by file name; none without a README."""
    readme = folder / README
    if not readme.is_file():
        return {}
    lines = re.findall(r"^([0-9a-f]{64})  (\S+)$", readme.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: digest for digest, name in lines}


def write_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write `arrays` to `path` atomically."""
    with atomic_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name in sorted(arrays):
            content = io.BytesIO()
            np.save(content, arrays[name], allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_LZMA
            entry.create_system = 3  # the same on Windows as elsewhere
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content.getvalue())


def missing_sample(file: str, name: str) -> str:
    """What is wrong with the file of the sample `name` and how to rebuild it; empty if nothing is wrong."""
    path, rebuild = sample_folder() / file, f"rebuild it with: python3 -m ohash samples {name}"
    if not path.is_file():
        return rebuild
    size = peek_size(path, "features")
    return f"{size}, or {rebuild}" if isinstance(size, str) else ""


def sample_status(file: str) -> str:
    """The end of the sentence "the data set ...", if the sample cannot be read."""
    return "is damaged" if (sample_folder() / file).is_file() else "is not here"


class SourceMissingError(Exception):
    """The source of a sample is not on this machine; the message says how to get it."""


def find_source(what: str, names: Iterable[str], sources: Path | None, installed: Iterable[Path], how: str) -> Path:
    """The first of `names` found in the folder `sources`, the current folder or where packages install it."""
    folders = [*([sources] if sources is not None else []), Path.cwd(), *installed]
    for folder in folders:
        for name in names:
            if (folder / name).is_file():
                return folder / name
    looked = ", ".join(str(folder) for folder in folders)
    raise SourceMissingError(f"{what} is not on this machine (looked in {looked}). {how}")
