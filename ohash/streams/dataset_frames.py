"""A data set as the frame that is sent to a worker or stored with a sweep."""

from dataclasses import fields
from typing import Any

import numpy as np

from ohash.runtime.frames import Arrays, Frame
from ohash.streams.annotations import PairList
from ohash.streams.dataset import Dataset

# Pictures, captions and the paper's parameters, which no result depends on.
NOT_SENT = ("thumbnails", "captions", "presets")
PAIRS = "pairs/"


def dataset_to_frame(dataset: Dataset) -> Frame:
    """Every field that a result depends on, as plain values and arrays; pairs as ``pairs/i``, ``pairs/j``, ..."""
    parts: dict[str, Any] = {one.name: getattr(dataset, one.name) for one in fields(Dataset)}
    pairs = parts.pop("pairs")
    if pairs is not None:
        parts |= {PAIRS + one.name: getattr(pairs, one.name) for one in fields(PairList)}
    parts = {name: part for name, part in parts.items() if part is not None and name not in NOT_SENT}
    arrays: Arrays = {name: np.asarray(part) for name, part in parts.items() if isinstance(part, np.ndarray)}
    return {name: part for name, part in parts.items() if name not in arrays}, arrays


def dataset_from_frame(values: dict[str, Any], arrays: Arrays) -> Dataset:
    """The inverse of `dataset_to_frame`; a field that an older version did not write has its default."""
    parts: dict[str, Any] = {name: tuple(part) if isinstance(part, list) else part for name, part in values.items()}
    parts |= arrays
    pairs = {name.removeprefix(PAIRS): parts.pop(name) for name in list(parts) if name.startswith(PAIRS)}
    return Dataset(**parts, pairs=PairList(**pairs) if pairs else None)
