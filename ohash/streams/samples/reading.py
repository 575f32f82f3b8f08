"""Read a sample: one function, plain arrays, nothing unpickled."""

import hashlib
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.streams.samples.coding import decode

README = "README.md"
# Arrays with one entry a row of `features`.
ROW_WISE = ("labels", "tracks", "thumbnails", "words", "photos", "source_rows")


def sample_folder() -> Path:
    """Where the samples are: `sample_data/` of the checkout, or the copy inside an installed wheel."""
    package = Path(__file__).parents[2]
    checkout = package.parent / "sample_data"
    return checkout if checkout.is_dir() else package / "_app" / "sample_data"


def read_sample(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a sample, `features` decoded to float32 (n, d).

    Beside `features`: `labels` (class of a row, with `names` of the classes) or `tracks` (rows of one track show the
    same thing; `photos` says in which of `names`, and `credits` whose), `words`, `thumbnails` (n, side, side) uint8,
    `source_rows` (row in the source), and `note`, one text () to be shown with the data.
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
    ) as error:
        raise ValueError(
            f"{path} is not a sample of this project or is damaged ({error}); rebuild it with: python3 -m ohash samples"
        ) from error
    for name in ROW_WISE:
        if name in arrays and len(arrays[name]) != len(features):
            raise ValueError(f"{path}: {name} must have {len(features)} entries, one a row, got {len(arrays[name])}")
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
