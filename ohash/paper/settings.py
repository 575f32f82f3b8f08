"""The data of the paper's figures: the embedded data sets, the paper's own four where they are here, or one's own."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ohash.engine.params import OWN
from ohash.streams import registry
from ohash.streams.dataset import Dataset

Kind = Literal["tracks", "metric", "labels"]


@dataclass(frozen=True)
class Setting:
    """A data set with its similarity, and the data set of the paper that it is or stands for.

    `classes` is the number of labels or tracks, 0 if unknown; `content` the fingerprint of data of one's own,
    `differs` how a stand-in differs from the paper's data.
    """

    key: str
    title: str
    paper: str
    kind: Kind
    dataset: str
    similar_by: str
    beta: float
    real: bool = False
    classes: int = 0
    content: str = ""
    differs: str = ""

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of an experiment on it."""
        own = {"content": self.content} if self.content else {}
        return {"dataset": self.dataset, "similar_by": self.similar_by, **own}


EMBEDDED = (
    Setting(
        "patches", "Photo patches", "Photo Tourism", "tracks", "patches", "track", 0.5, classes=500,
        differs="views of a point are synthetic warps of one photo, not photos from different places; fewer points",
    ),
    Setting(
        "fashion-metric", "Fashion by distance", "22K LabelMe, GIST1M", "metric", "fashion", "metric", 0.5,
        differs="pictures of clothes, not photos; far fewer rows",
    ),
    Setting(
        "fashion", "Fashion by label", "CIFAR-10", "labels", "fashion", "label", 0.4, classes=10,
        differs="grey pictures of clothes and GIST, not colour photos and deep features; far fewer rows",
    ),
    Setting(
        "digits", "Digits", "CIFAR-10", "labels", "digits", "label", 0.4, classes=10,
        differs="pixels of small handwritten digits, not deep features of colour photos; far fewer rows",
    ),
)  # fmt: skip
REAL = (
    Setting("phototourism", "Photo Tourism", "Photo Tourism", "tracks", "phototourism", "track", 0.5, real=True),
    Setting("labelme", "22K LabelMe", "22K LabelMe", "metric", "labelme", "metric", 0.5, real=True),
    Setting("gist1m", "GIST1M", "GIST1M", "metric", "gist1m", "metric", 0.4, real=True),
    Setting("cifar10", "CIFAR-10 (GIST)", "CIFAR-10", "labels", "cifar10-gist", "label", 0.4, real=True, classes=10),
)


def settings() -> tuple[Setting, ...]:
    """The embedded settings, then those of the paper's data sets that are available."""
    return (*EMBEDDED, *(one for one in REAL if not registry.find_dataset(one.dataset).missing()))


def own_settings(dataset: Dataset) -> tuple[Setting, ...]:
    """Data of one's own in place of the paper's: by tracks or labels, where there are any, and by distance."""
    content = dataset.fingerprint()
    by_distance = Setting(
        "own-metric", f"{dataset.title} by distance", "22K LabelMe, GIST1M", "metric", OWN, "metric", 0.5,
        content=content,
    )  # fmt: skip
    if dataset.tracks is not None:
        count = len(np.unique(dataset.tracks))
        by_track = Setting(
            "own-track", f"{dataset.title} by track", "Photo Tourism", "tracks", OWN, "track", 0.5, classes=count,
            content=content,
        )  # fmt: skip
        return by_track, by_distance
    if dataset.labels is None or dataset.multi_label:
        return (by_distance,)
    count = len(np.unique(dataset.labels))
    by_label = Setting(
        "own-label", f"{dataset.title} by label", "CIFAR-10", "labels", OWN, "label", 0.4, classes=count,
        content=content,
    )  # fmt: skip
    return by_label, by_distance
