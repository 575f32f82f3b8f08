"""The data of the figures: the embedded data sets, the paper's own four where they are here, or one's own."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ohash.core.parameters import Settings
from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.params import OWN
from ohash.streams import registry
from ohash.streams.dataset import Dataset

Kind = Literal["tracks", "metric", "labels", "nearest", "clicks"]
PAPER_KINDS: tuple[Kind, ...] = ("tracks", "metric", "labels")
LABELLED: tuple[Kind, ...] = ("tracks", "labels")


@dataclass(frozen=True)
class Setting:
    """A data set with its similarity, and the data set of the paper that it is or stands for; "" for none of them.

    `classes` is the number of labels or tracks, 0 if unknown; `content` the fingerprint of the user's own data,
    `differs` how they differ from the paper's data; `paper_rows` how many rows the paper's own have.
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
    paper_rows: int = 0

    def difference(self, rows: int) -> str:
        """How data of so many rows differ from the paper's, as far as is known; "" if they do not.

        >>> REAL[2].difference(3000), REAL[2].difference(1_001_000)
        ('3,000 rows of 1,000,000', '')
        """
        fewer = self.paper_rows and abs(rows - self.paper_rows) > 0.05 * self.paper_rows
        return "; ".join(filter(None, (self.differs, f"{rows:,} rows of {self.paper_rows:,}" if fewer else "")))

    @property
    def role(self) -> str:
        """Whether these are the paper's data or stand for them, in words."""
        if not self.paper:
            return "beyond the paper"
        if not self.real:
            return f"in place of {self.paper}"
        return f"as in the paper, but {self.differs}" if self.differs else "as in the paper"

    @property
    def truth(self) -> str:
        """The score that says how well codes follow what is similar here: "map", or "hit_10" for clicks."""
        return truth_column(self.similar_by)

    @property
    def truth_title(self) -> str:
        """Its name."""
        return TRUTH_SCORES[self.truth]

    @property
    def values(self) -> Settings:
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
        differs="pictures of clothes, not photos; far fewer rows; on GIST1M the paper takes each point's nearest 5 %, "
        "and not those that have it among theirs",
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
# Embedded, too, and like none of the paper's data: no claim is judged on them.
TEXTS = (
    Setting(
        "words", "Word vectors", "", "nearest", "words", "topk", 0.5,
        differs="words, not pictures; similar are the nearest 10, not the nearest 5 %",
    ),
    Setting(
        "debian", "Debian packages", "", "clicks", "debian", "clicks", 0.5,
        differs="descriptions of packages, not pictures; similar by clicks, which the paper does not have",
    ),
)  # fmt: skip
REAL = (
    Setting(
        "phototourism",
        "Photo Tourism",
        "Photo Tourism",
        "tracks",
        "phototourism",
        "track",
        0.5,
        real=True,
        paper_rows=104_000,
    ),
    Setting("labelme", "22K LabelMe", "22K LabelMe", "metric", "labelme", "metric", 0.5, real=True, paper_rows=22_019),
    Setting("gist1m", "GIST1M", "GIST1M", "metric", "gist1m", "metric", 0.4, real=True, paper_rows=1_000_000),
    Setting(
        "cifar10",
        "CIFAR-10 (GIST)",
        "CIFAR-10",
        "labels",
        "cifar10-gist",
        "label",
        0.4,
        real=True,
        classes=10,
        paper_rows=60_000,
        differs="GIST, not deep features",
    ),
)


def settings() -> tuple[Setting, ...]:
    """The embedded settings, then those of the paper's data sets that are available."""
    return (*EMBEDDED, *TEXTS, *(one for one in REAL if not registry.find_dataset(one.dataset).missing()))


def stand_ins_text(data: Iterable[Setting]) -> str:
    """Data, each with those of the paper that they are or stand for, as a sentence; "" for none.

    >>> stand_ins_text(EMBEDDED[:2])
    'Data: Photo patches (in place of Photo Tourism); Fashion by distance (in place of 22K LabelMe, GIST1M).'
    >>> stand_ins_text(REAL[2:])
    'Data: GIST1M (as in the paper); CIFAR-10 (GIST) (as in the paper, but GIST, not deep features).'
    >>> stand_ins_text(TEXTS)
    'Data: Word vectors (beyond the paper); Debian packages (beyond the paper).'
    """
    parts = [f"{one.title} ({one.role})" for one in data]
    return f"Data: {'; '.join(parts)}." if parts else ""


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
