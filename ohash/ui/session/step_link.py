"""What a link says of a pair on Step by step beside its number: two items in its place, and other values for it."""

import re
from collections.abc import Mapping
from typing import cast

from ohash.engine.params import ExperimentParams
from ohash.models.online.oh_params import OHParams

ITEMS, WHAT_IF = "items", "what_if"
KINDS = {"similar": 1, "dissimilar": -1}
RANGES = {"alpha": (0.0, 2048.0), "beta": (0.01, 1.0), "C": (1e-6, 1e6)}
MUST = {
    ITEMS: "items must be two rows and similar or dissimilar, such as 7,9,similar",
    WHAT_IF: "what_if must be values of alpha, beta or C in their ranges, such as C:0.01,beta:0.4",
}
Items = tuple[int, int, int]


def read_items(text: str) -> Items | None:
    """Rows i and j and their similarity s; None if it is none.

    >>> read_items("7,9,dissimilar"), read_items("7,9"), read_items("7,-9,similar")
    ((7, 9, -1), None, None)
    """
    match = re.fullmatch(r"(\d{1,11}),(\d{1,11}),(similar|dissimilar)", text, re.ASCII)
    return (int(match[1]), int(match[2]), KINDS[match[3]]) if match else None


def write_items(items: Items) -> str:
    """The items as text that `read_items` reads."""
    i, j, s = items
    return f"{i},{j},{kind_of(s)}"


def kind_of(s: int) -> str:
    """The word for s = 1 or -1."""
    return "similar" if s == 1 else "dissimilar"


def read_what_if(text: str) -> dict[str, float] | None:
    """Values by name; None if one of them is not possible.

    >>> read_what_if("C:0.01,alpha:2"), read_what_if("C:x"), read_what_if("beta:7"), read_what_if("alpha:1.5")
    ({'C': 0.01, 'alpha': 2}, None, None, None)
    """
    values: dict[str, float] = {}
    for part in text.split(","):
        match = re.fullmatch(r"(alpha|beta|C):(\d[\d.e+-]{0,20})", part, re.ASCII)
        try:
            value = float(match[2]) if match else None
        except ValueError:
            value = None
        if match is None or value is None or not RANGES[match[1]][0] <= value <= RANGES[match[1]][1]:
            return None
        if match[1] == "alpha" and value != int(value):
            return None
        values[match[1]] = int(value) if match[1] == "alpha" else value
    return values


def write_what_if(values: Mapping[str, float]) -> str:
    """The values as text that `read_what_if` reads."""
    return ",".join(f"{name}:{value!r}" for name, value in values.items())


def problems_of(query: Mapping[str, str]) -> list[str]:
    """What such a part of a link should be, where it is not."""
    readers = {ITEMS: read_items, WHAT_IF: read_what_if}
    return [
        f"{MUST[key]}, got {query[key][:40]!r}; left out"
        for key, read in readers.items()
        if key in query and read(query[key]) is None
    ]


def possible_items(items: Items | None, n: int) -> tuple[Items | None, list[str]]:
    """The items, if a data set of n rows has them, and what is wrong with them."""
    if items is None or max(items[:2]) < n:
        return items, []
    return None, [f"{ITEMS} must be rows up to {n - 1:,}, got {write_items(items)}; left out"]


def possible_values(
    values: Mapping[str, float], params: ExperimentParams, t: int
) -> tuple[dict[str, float], list[str]]:
    """The values that this experiment can take at pair t, and what is wrong with the others."""
    model = cast(OHParams, params.model_at(t))
    wrong = []
    if values.get("alpha", 0) > model.r:
        wrong.append(("alpha", f"alpha must be at most r = {model.r}"))
    if "C" in values and not model.C > 0:
        wrong.append(("C", "C is auto in this experiment"))
    names = {name for name, _ in wrong}
    problems = [f"{WHAT_IF}: {why}, got {values[name]:g}; left out" for name, why in wrong]
    return {name: value for name, value in values.items() if name not in names}, problems
