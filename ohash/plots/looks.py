"""Many lines in one chart, each with a colour, a dash and a shape of its points, so that no two look alike."""

from collections.abc import Sequence
from typing import NamedTuple

from ohash.plots.chart import Dash, Marker

DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")
MARKERS: tuple[Marker, ...] = ("circle", "square", "diamond", "triangle")
# Colours in the order in which they stay apart best: orange, teal, ink, olive, grey, red, green, pink, indigo.
OTHERS = (
    "dissimilar", "bound", "threshold", "palette:2", "reference", "palette:1", "palette:5", "palette:4", "palette:3",
)  # fmt: skip
OURS = {"oh": "method:oh", "mmoh": "method:mmoh"}
FIRST = tuple(OURS.values())


class Look(NamedTuple):
    """How a line is drawn."""

    role: str
    dash: Dash
    marker: Marker


def of_methods(keys: Sequence[str]) -> dict[str, Look]:
    """Each method a colour, OH and MMOH as on every page, with a dash and a shape: they stay apart without colour too.

    >>> of_methods(["oh", "mmoh"])
    {'oh': Look(role='method:oh', dash='solid', marker='circle'), 'mmoh': Look(role='method:mmoh', dash='dashed', \
marker='square')}
    """
    others = [key for key in keys if key not in OURS]
    roles = OURS | {key: OTHERS[at % len(OTHERS)] for at, key in enumerate(others)}
    return {key: Look(roles[key], *_shape(at)) for at, key in enumerate(keys)}


def plain(count: int) -> list[Look]:
    """So many lines that are of one kind."""
    colours = (*FIRST, *OTHERS)
    return [Look(colours[at % len(colours)], *_shape(at)) for at in range(count)]


def of_cases(cases: Sequence[tuple[str, str]]) -> list[Look]:
    """Lines that are (method, everything else): the colour says the method, dash and shape say the rest.

    Where all are of one method the colour says the rest.
    """
    methods, rests = (list(dict.fromkeys(case[at] for case in cases)) for at in (0, 1))
    if len(methods) == 1:
        return plain(len(cases))
    looks = of_methods(methods)
    if len(rests) == 1:
        return [looks[method] for method, _ in cases]
    return [Look(looks[method].role, *_shape(rests.index(rest))) for method, rest in cases]


def _shape(at: int) -> tuple[Dash, Marker]:
    """Twelve that differ."""
    return DASHES[at % len(DASHES)], MARKERS[at % len(MARKERS)]
