"""Fashion-MNIST GIST-512, embedded: 2,500 pictures of 10 kinds of clothes; similar by label or by distance."""

from functools import partial

import numpy as np

from ohash.streams.base import Dataset, DatasetSpec
from ohash.streams.datasets.fashion_mnist import BIBTEX, KINDS
from ohash.streams.samples import presence
from ohash.streams.samples.reading import read_sample, sample_folder

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
    missing=partial(presence.missing, FILE, "fashion"),
    absent=partial(presence.absent, FILE),
    group="embedded",
    similar_share=0.1,
)
