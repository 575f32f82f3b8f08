"""Datasets of small grey pictures that come with a package: pixels, or GIST-512 computed once and cached."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ohash.streams.data_folder import data_folder
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.feature_cache import cached_gist
from ohash.streams.readers.binary import read_idx
from ohash.streams.readers.source import BadFileError

Pictures = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]
NODE = (Path("/usr/lib"), Path("/usr/local/lib"))
IDX = (
    ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
)


@dataclass(frozen=True)
class Source:
    """Where pictures come from; `read` gives (n, height, width) and (n,), `missing` says how to get them."""

    key: str
    title: str
    n: int
    side: int
    class_names: tuple[str, ...]
    superclasses: tuple[int, ...]
    licence: str
    cite: str
    bibtex: str
    read: Callable[[], Pictures]
    missing: Callable[[], str]


def specs(source: Source) -> tuple[DatasetSpec, DatasetSpec]:
    """Two datasets of one source: pixels and, with the suffix -gist, GIST-512."""
    pixels = (source.key, f"{source.title}, pixels", source.side**2, False)
    gist = (f"{source.key}-gist", f"{source.title}, GIST-512", 512, True)
    first, second = (
        DatasetSpec(
            key=key,
            title=title,
            task="same class",
            n=source.n,
            d=d,
            licence=source.licence,
            cite=source.cite,
            bibtex=source.bibtex,
            load=partial(_load, source, key, title, of_gist),
            missing=source.missing,
            group="package",
            similar_share=1 / len(source.class_names),
        )
        for key, title, d, of_gist in (pixels, gist)
    )
    return first, second


def _load(source: Source, key: str, title: str, gist: bool) -> Dataset:
    pictures, labels = source.read()
    if pictures.shape != (source.n, source.side, source.side) or labels.shape != (source.n,):
        raise BadFileError(
            f"{source.title} must have {source.n:,} pictures of {source.side} x {source.side} and a label each, got "
            f"{pictures.shape} and {labels.shape}; install it again"
        )
    if labels.min() < 0 or labels.max() >= len(source.class_names):
        raise BadFileError(f"{source.title} must have labels 0 to {len(source.class_names) - 1}, got {labels.max()}")
    version = hashlib.sha256(np.ascontiguousarray(pictures).data).hexdigest()
    flat = pictures.reshape(source.n, -1)
    return Dataset(
        key=key,
        title=title,
        X=cached_gist(source.key, version, source.n, lambda a, b: pictures[a:b]) if gist else flat,
        labels=labels,
        class_names=source.class_names,
        thumbnails=pictures,
        queries=(500, min(1000, source.n // 10)),
        licence=source.licence,
        cite=source.cite,
        superclasses=np.asarray(source.superclasses, np.int64)[labels],
    )


def places(variable: str, *folders: str, node: str = "") -> list[Path]:
    """Where to look: the environment variable, the data folder, usual folders, node_modules here and there."""
    named = os.environ.get(variable, "")
    candidates = [Path(named).expanduser()] if named else []
    root = data_folder()
    for folder in folders:
        candidates += [root / Path(folder).name] * (root is not None) if root else []
        candidates.append(Path(folder))
    if node:
        candidates += [base / "node_modules" / node for base in (*([root] if root else []), Path.cwd(), *NODE)]
    return candidates


def idx_folder(candidates: list[Path]) -> Path | None:
    """The first folder that holds the four IDX files, gzipped or not."""
    return next((at for at in candidates if all(_idx(at, name) for pair in IDX for name in pair)), None)


def read_idx_folder(folder: Path) -> Pictures:
    """Training and test pictures, in this order."""
    pictures, labels = [], []
    for image_name, label_name in IDX:
        image_file, label_file = _idx(folder, image_name), _idx(folder, label_name)
        assert image_file is not None
        assert label_file is not None
        pictures.append(read_idx(image_file))
        labels.append(read_idx(label_file).astype(np.int64))
        if pictures[-1].ndim != 3 or labels[-1].shape != pictures[-1].shape[:1]:
            raise BadFileError(f"{image_file} must hold pictures, one for each label of {label_file.name}")
    return np.concatenate(pictures), np.concatenate(labels)


def _idx(folder: Path, name: str) -> Path | None:
    return next((folder / f"{name}{end}" for end in ("", ".gz") if (folder / f"{name}{end}").is_file()), None)
