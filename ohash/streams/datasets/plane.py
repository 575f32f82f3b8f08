"""Moons and rings in the plane: classes that no straight line separates, always the same points."""

from functools import partial

import numpy as np
import numpy.typing as npt

from ohash.streams.chosen_defaults import chosen_defaults
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.datasets.blobs import BIBTEX, CITE

N = 2000
NOISE = 0.08

Points = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


def moons(rng: np.random.Generator) -> Points:
    """Two half circles, each reaching into the other."""
    labels = np.arange(N) % 2
    angle = rng.uniform(0, np.pi, N)
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X[labels == 1] = [1, 0.5] - X[labels == 1]
    return X + rng.normal(scale=NOISE, size=X.shape), labels


def rings(rng: np.random.Generator) -> Points:
    """Three circles around one centre."""
    labels = np.arange(N) % 3
    angle = rng.uniform(0, 2 * np.pi, N)
    X = (labels + 1)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return X + rng.normal(scale=NOISE, size=X.shape), labels


def load(key: str) -> Dataset:
    """Points and classes."""
    points, title, names, like = KINDS[key]
    X, labels = points(np.random.default_rng(20171))
    return Dataset(
        key=key,
        title=title,
        X=X.astype(np.float32),
        labels=labels,
        class_names=names,
        queries=(100, 200),
        licence="CC0 (generated)",
        cite=CITE.format(like),
    )


KINDS = {
    "moons": (moons, "Two moons in the plane", ("upper", "lower"), "make_moons"),
    "rings": (rings, "Three rings in the plane", ("inner", "middle", "outer"), "make_circles"),
}

DATASET = tuple(
    DatasetSpec(
        key=key,
        title=title,
        task="same curve",
        n=N,
        d=2,
        licence="CC0 (generated)",
        cite=CITE.format(like),
        bibtex=BIBTEX,
        load=partial(load, key),
        group="synthetic",
        similar_share=1 / len(names),
        **chosen_defaults(key),  # at unit length all rings are one circle, and both moons lie on it
    )
    for key, (_, title, names, like) in KINDS.items()
)
