"""CIFAR-10 from its binary version (data_batch_1.bin ... test_batch.bin): pixels, or GIST-512 computed here.

Differs from the paper: it used 2048-d deep features and searched Tiny Images, which its authors withdrew in 2020.
"""

from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ohash.streams.data_folder import find_file_set, find_files
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.datasets.paper_setting import how_to_get, paper_params, paper_queries
from ohash.streams.feature_cache import cached_gist
from ohash.streams.readers.source import BadFileError

FILES = (*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin")
RECORD = 1 + 3 * 32 * 32
WHERE = "cifar-10-binary.tar.gz, 162 MB, cs.toronto.edu/~kriz"
TEST = 1_000
NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
PARAMS = paper_params(beta=0.4, similar_by="label")
BIBTEX = """@techreport{krizhevsky2009learning,
  title       = {Learning Multiple Layers of Features from Tiny Images},
  author      = {Krizhevsky, Alex},
  institution = {University of Toronto},
  year        = {2009}
}"""


def missing() -> str:
    """How to get it, or which files of it are not here; the pickled version is named as what it is."""
    files = find_file_set(*FILES)
    if files.folder is not None:
        return files.problem("CIFAR-10", WHERE) or _damage(files.folder)
    if find_files("data_batch_1"):
        return (
            "data_batch_1 is the python version of CIFAR-10, which is pickled, and a pickle is never read here; take "
            "the binary version, cifar-10-binary.tar.gz (data_batch_1.bin ... test_batch.bin)"
        )
    return how_to_get(f"{FILES[0]} ... {FILES[-1]} of CIFAR-10", WHERE)


def measure_size(d: int) -> tuple[int, int]:
    """Pictures in the files, and the columns of a row."""
    folder = find_file_set(*FILES).folder
    assert folder is not None
    return sum((folder / name).stat().st_size for name in FILES) // RECORD, d


def load(key: str, title: str, gist: bool) -> Dataset:
    """60,000 pictures; red, green and blue planes in a row of pixels."""
    folder = find_file_set(*FILES).folder
    assert folder is not None
    records = np.concatenate([_batch(folder / name) for name in FILES])
    pixels, labels = records[:, 1:], records[:, 0].astype(np.int64)
    pictures = pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    version = " ".join(f"{name} {(folder / name).stat().st_mtime_ns}" for name in FILES)
    n = len(records)
    return Dataset(
        key=key,
        title=title,
        X=cached_gist("cifar10", f"{folder} {version}", n, lambda a, b: pictures[a:b]) if gist else pixels,
        labels=labels,
        class_names=NAMES,
        thumbnails=pictures,
        queries=paper_queries(n, TEST),
        licence=DATASET[0].licence,
        cite=DATASET[0].cite,
        superclasses=np.isin(labels, (0, 1, 8, 9)).astype(np.int64),
        presets=PARAMS,
    )


def _damage(folder: Path) -> str:
    """The first batch that is cut off; empty if none is."""
    return next((problem for name in FILES if (problem := _cut(folder / name))), "")


def _cut(path: Path) -> str:
    size = path.stat().st_size
    if size and size % RECORD == 0:
        return ""
    return (
        f"{path.name} must be whole records of {RECORD} bytes, record {size // RECORD} begins at byte "
        f"{size // RECORD * RECORD:,} and the file ends at byte {size:,}; it is truncated, copy it again"
    )


def _batch(path: Path) -> npt.NDArray[np.uint8]:
    if _cut(path):
        raise BadFileError(_cut(path))
    records = np.fromfile(path, np.uint8).reshape(-1, RECORD)
    if records[:, 0].max() > 9:
        at = int(np.flatnonzero(records[:, 0] > 9)[0])
        raise BadFileError(f"{path.name} must have labels 0 to 9, got {records[at, 0]} at byte {at * RECORD:,}")
    return records


def _spec(key: str, title: str, d: int, gist: bool) -> DatasetSpec:
    return DatasetSpec(
        key=key,
        title=title,
        task="same class",
        n=60_000,
        d=d,
        licence="research use (CIFAR-10)",
        cite="Krizhevsky, 2009",
        bibtex=BIBTEX,
        load=partial(load, key, title, gist),
        missing=missing,
        status=lambda: find_file_set(*FILES).status,
        group="paper",
        similar_share=0.1,
        presets=PARAMS,
        paper_key="cifar10-gist",
        measure_size=partial(measure_size, d),
    )


DATASET = (
    _spec("cifar10", "CIFAR-10, pixels", 3072, False),
    _spec("cifar10-gist", "CIFAR-10, GIST-512", 512, True),
)
