"""Every colour by role, light and dark; typeface, sizes and widths.

Blue and orange stay apart for every common kind of colour blindness, and a chart never tells two things apart by red
and green. Each colour has a contrast of at least 3 against its background (WCAG 1.4.11); the tests compute it.

Many lines in one chart, each with a colour, a dash and a shape of its points, so that no two look alike.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ohash.plots.chart import Dash, Marker

FONT = "'Source Sans', 'Source Sans 3', 'Source Sans Pro', Inter, Helvetica, Arial, sans-serif"
SIZE = 12
SIZE_COMPACT = 11
SIZE_PRESENTED = 17
THIN, NORMAL, THICK = 1.0, 1.75, 2.5
READABLE = 4.5  # contrast of text


@dataclass(frozen=True)
class Ground:
    """What lies under and around the curves."""

    background: str
    ink: str
    faint: str
    grid: str


# The grounds of Streamlit's own light and dark theme.
LIGHT = Ground(background="#ffffff", ink="#1f2430", faint="#5b6270", grid="#e6e8ec")
DARK = Ground(background="#171614", ink="#edebe8", faint="#b0aea8", grid="#33312d")

_BLUE = ("#1666b0", "#5cb3ee")
_ORANGE = ("#bb5500", "#f5a142")
_PURPLE = ("#8b3fa0", "#cf93e0")
_TEAL = ("#00776b", "#3fc2ae")
_GREY = ("#646b78", "#9aa2af")
_PALE = ("#8a909b", "#6f7887")
_INK = ("#1f2430", "#edebe8")

# Role -> (light, dark).
ROLES: dict[str, tuple[str, str]] = {
    "now": _BLUE,
    "best": _INK,
    "similar": _BLUE,
    "dissimilar": _ORANGE,
    "right": _BLUE,
    "wrong": _ORANGE,
    "clipped": _ORANGE,
    "labels": _BLUE,
    "distance": _PURPLE,
    "learn": _BLUE,
    "encode": _ORANGE,
    "evaluate": _GREY,
    "recomputed": _GREY,
    "flipped": _BLUE,
    "fresh": _TEAL,
    "bound": _TEAL,
    "frozen": _GREY,
    "start": _GREY,
    "reference": _GREY,
    "float": _INK,
    "ghost": _PALE,
    "pinned": _TEAL,
    "cap": _INK,
    "threshold": _INK,
    "change": _INK,
    "drift": _PURPLE,
    "method:oh": _BLUE,
    "method:mmoh": _PURPLE,
    "method:lsh": _GREY,
}
# For methods without a colour of their own; none is that of OH, MMOH or LSH.
_OTHERS = (
    _TEAL,
    ("#a8423f", "#f08c86"),
    ("#8a6d00", "#d9bd3c"),
    ("#3d4fb5", "#97a5f5"),
    ("#a03a70", "#e88fbb"),
    ("#4d7a1f", "#98c965"),
)
_PALETTE = (*_OTHERS, _ORANGE, _PURPLE, _GREY, _BLUE)


def ground(dark: bool = False) -> Ground:
    """Background, text and grid."""
    return DARK if dark else LIGHT


def method_role(key: str) -> str:
    """The role of a method: the same key has the same colour on every page and in every session.

    >>> method_role("oh"), colour(method_role("oh")) == colour("similar")
    ('method:oh', True)
    """
    return f"method:{key}"


def distinct_roles(keys: Sequence[str]) -> list[str]:
    """Roles for methods in one chart: each its own colour, or the next free one where two would look alike.

    >>> roles = distinct_roles(["oh", "itq", "oh", "lsh"])
    >>> roles[:2], len({colour(role) for role in roles})
    (['method:oh', 'method:itq'], 4)
    """
    free = [f"palette:{at}" for at in range(len(_PALETTE))]
    roles: list[str] = []
    for key in keys:
        taken = {colour(role) for role in roles}
        wanted = [method_role(key), *free]
        roles.append(next((role for role in wanted if colour(role) not in taken), wanted[0]))
    return roles


def colour(role: str, dark: bool = False) -> str:
    """The colour of a role; a method without one gets one of six by its name."""
    pair = ROLES.get(role)
    if role.startswith("palette:"):
        pair = _PALETTE[int(role.partition(":")[2]) % len(_PALETTE)]
    if pair is None:
        if not role.startswith("method:"):
            raise ValueError(f"role must be one of {', '.join(sorted(ROLES))} or method:<key>, got {role!r}")
        pair = _OTHERS[zlib.crc32(role.encode()) % len(_OTHERS)]
    return pair[int(dark)]


def text_colour(role: str, dark: bool = False) -> str:
    """The colour of words about something drawn in this role: its own where it can be read (WCAG 1.4.3), or faint ink.

    >>> text_colour("pinned") == colour("pinned"), text_colour("ghost") == LIGHT.faint
    (True, True)
    """
    own, under = colour(role, dark), ground(dark)
    return own if contrast(own, under.background) >= READABLE else under.faint


def light_to_dark() -> dict[str, str]:
    """Every colour of a chart by its light form.

    >>> light_to_dark()[colour("now")] == colour("now", dark=True)
    True
    """
    grounds = zip(vars(LIGHT).values(), vars(DARK).values(), strict=True)
    return dict([*grounds, *ROLES.values(), *_PALETTE])


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio of two colours, 1 to 21.

    >>> round(contrast("#000000", "#ffffff"), 3)
    21.0
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(hex_colour: str) -> float:
    parts = [int(hex_colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")
# Of lines; the star is left for what is best.
MARKERS: tuple[Marker, ...] = ("circle", "square", "diamond", "triangle")
# Colours in the order in which they stay apart best: orange, teal, ink, olive, grey, red, green, pink, indigo.
OTHERS = (
    "dissimilar", "bound", "threshold", "palette:2", "reference", "palette:1", "palette:5", "palette:4", "palette:3",
)  # fmt: skip
OURS = {"oh": "method:oh", "mmoh": "method:mmoh"}
FIRST = tuple(OURS.values())


class LineStyle(NamedTuple):
    """How a line is drawn."""

    role: str
    dash: Dash
    marker: Marker


def method_styles(keys: Sequence[str]) -> dict[str, LineStyle]:
    """Each method a colour, OH and MMOH as on every page, with a dash and a shape: they stay apart without colour too.

    >>> method_styles(["oh", "mmoh"])
    {'oh': LineStyle(role='method:oh', dash='solid', marker='circle'), \
'mmoh': LineStyle(role='method:mmoh', dash='dashed', marker='square')}
    """
    others = [key for key in keys if key not in OURS]
    roles = OURS | {key: OTHERS[at % len(OTHERS)] for at, key in enumerate(others)}
    return {key: LineStyle(roles[key], *_shape(at)) for at, key in enumerate(keys)}


def distinct_styles(count: int) -> list[LineStyle]:
    """Styles for so many lines of one kind."""
    colours = (*FIRST, *OTHERS)
    return [LineStyle(colours[at % len(colours)], *_shape(at)) for at in range(count)]


def case_styles(cases: Sequence[tuple[str, str]]) -> list[LineStyle]:
    """Lines that are (method, everything else): the colour says the method, dash and shape say the rest.

    Where all are of one method the colour says the rest.
    """
    methods, rests = (list(dict.fromkeys(case[at] for case in cases)) for at in (0, 1))
    if len(methods) == 1:
        return distinct_styles(len(cases))
    looks = method_styles(methods)
    if len(rests) == 1:
        return [looks[method] for method, _ in cases]
    return [LineStyle(looks[method].role, *_shape(rests.index(rest))) for method, rest in cases]


def _shape(at: int) -> tuple[Dash, Marker]:
    """Twelve that differ."""
    return DASHES[at % len(DASHES)], MARKERS[at % len(MARKERS)]
