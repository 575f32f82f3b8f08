"""Fashion-MNIST GIST-512, embedded: 2,500 pictures of 10 kinds of clothes; similar by label or by distance.

Fashion-MNIST GIST-512: the first 250 test pictures of each of the 10 classes, with their 28 x 28 pixels.

Two tasks in one: semantic neighbours (same label) and metric neighbours (the nearest 5 %). Zalando Research, MIT.
"""

import gzip
import struct
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ohash.core.gist import gist512
from ohash.runtime.frames import Arrays
from ohash.streams.chosen_defaults import chosen_defaults
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.datasets.fashion_mnist import BIBTEX, KINDS
from ohash.streams.samples import code_sqrt, find_source, missing_sample, read_sample, sample_folder, sample_status

FILE = "fashion_gist.npz"


def load() -> Dataset:
    """Vectors, classes and 28 x 28 pictures."""
    sample = read_sample(sample_folder() / FILE)
    labels = sample["labels"].astype(np.int64)
    return Dataset(
        key="fashion",
        title=DATASET.title,
        X=sample["features"],
        labels=labels,
        class_names=tuple(str(name) for name in sample["names"]),
        thumbnails=sample["thumbnails"],
        queries=(100, 250),
        licence=DATASET.licence,
        cite=DATASET.cite,
        note=str(sample["note"]),
        superclasses=np.asarray(KINDS, np.int64)[labels],
    )


DATASET = DatasetSpec(
    key="fashion",
    title="Fashion-MNIST, GIST-512",
    task="same kind of clothes, or nearest 5 %",
    n=2500,
    d=512,
    licence="MIT (Zalando SE)",
    cite="Xiao, Rasul and Vollgraf, arXiv 2017",
    bibtex=BIBTEX,
    load=load,
    missing=partial(missing_sample, FILE, "fashion"),
    status=partial(sample_status, FILE),
    group="embedded",
    similar_share=0.1,
    **chosen_defaults("fashion"),
)

PER_CLASS, SIDE = 250, 28
NAMES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
INSTALLED = (Path("/usr/share/datasets/fashion-mnist"),)
HOW = (
    "Get it with: apt install dataset-fashion-mnist; or put t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz of "
    "github.com/zalandoresearch/fashion-mnist into a folder and name it with --sources."
)


def build(sources: Path | None = None) -> Arrays:
    """The rows stay in the order of the file, in which the classes are mixed."""
    pictures = _idx("t10k-images-idx3-ubyte.gz", sources, (SIDE, SIDE))
    labels = _idx("t10k-labels-idx1-ubyte.gz", sources, ())
    if len(pictures) != len(labels):
        raise ValueError(f"Fashion-MNIST must have one label per picture, got {len(pictures)} and {len(labels)}")
    rows = np.sort(np.concatenate([np.flatnonzero(labels == c)[:PER_CLASS] for c in range(len(NAMES))]))
    features, scale = code_sqrt(gist512(pictures[rows]))
    return {
        "features": features,
        "coding": np.array("sqrt"),
        "scale": scale,
        "labels": labels[rows],
        "names": np.array(NAMES),
        "thumbnails": pictures[rows],
        "source_rows": rows.astype(np.int32),
        "note": np.array("Fashion-MNIST test pictures, Zalando Research"),
    }


def _idx(name: str, sources: Path | None, shape: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """An IDX file of bytes: 0, 0, 8 (uint8), number of axes, the axes as big-endian int32, the values."""
    path = find_source("Fashion-MNIST", [name, f"fashion-mnist/{name}"], sources, INSTALLED, HOW)
    with gzip.open(path) as file:
        content = file.read()
    axes = len(shape) + 1
    start = 4 + 4 * axes
    if len(content) < start or content[:4] != bytes((0, 0, 8, axes)):
        raise ValueError(
            f"{path} must be an IDX file of bytes with {axes} axes, got a header of {content[:4].hex(' ')}"
        )
    sizes = struct.unpack(f">{axes}i", content[4:start])
    if sizes[1:] != shape or len(content) - start != int(np.prod(sizes)):
        raise ValueError(f"{path} must hold (n, {shape}) bytes, got {len(content) - start} bytes for sizes {sizes}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(sizes)
