"""The data of the paper's figures: the embedded data sets, and the paper's own four where the user has them."""

from dataclasses import dataclass
from typing import Any, Literal

from ohash.streams import registry

Kind = Literal["tracks", "metric", "labels"]


@dataclass(frozen=True)
class Setting:
    """A data set with its similarity, and the data set of the paper that it is or stands for."""

    key: str
    title: str
    paper: str
    kind: Kind
    dataset: str
    similar_by: str
    beta: float
    real: bool = False

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of an experiment on it."""
        return {"dataset": self.dataset, "similar_by": self.similar_by}


EMBEDDED = (
    Setting("patches", "Photo patches", "Photo Tourism", "tracks", "patches", "track", 0.5),
    Setting("fashion-metric", "Fashion by distance", "22K LabelMe, GIST1M", "metric", "fashion", "metric", 0.5),
    Setting("fashion", "Fashion by label", "CIFAR-10", "labels", "fashion", "label", 0.4),
    Setting("digits", "Digits", "CIFAR-10", "labels", "digits", "label", 0.4),
)
REAL = (
    Setting("phototourism", "Photo Tourism", "Photo Tourism", "tracks", "phototourism", "track", 0.5, real=True),
    Setting("labelme", "22K LabelMe", "22K LabelMe", "metric", "labelme", "metric", 0.5, real=True),
    Setting("gist1m", "GIST1M", "GIST1M", "metric", "gist1m", "metric", 0.4, real=True),
    Setting("cifar10", "CIFAR-10 (GIST)", "CIFAR-10", "labels", "cifar10-gist", "label", 0.4, real=True),
)


def settings() -> tuple[Setting, ...]:
    """The embedded settings, then those of the paper's data sets that are available."""
    return (*EMBEDDED, *(one for one in REAL if not registry.find_dataset(one.dataset).missing()))


def find_setting(dataset: str, similar_by: str) -> Setting:
    """The setting of an experiment."""
    for one in (*EMBEDDED, *REAL):
        if (one.dataset, one.similar_by) == (dataset, similar_by):
            return one
    raise KeyError((dataset, similar_by))
