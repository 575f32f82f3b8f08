"""What changes in an ECharts chart with its size on the screen, which only the browser knows.

ECharts asks its `media` queries again whenever the chart is resized: a title is broken to the width there is, and a
chart that fills the screen has type for the back row.
"""

import textwrap
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ohash.plots.renderers.echarts_frame import Option

WIDTHS = (1040, 930, 830, 740, 640, 560, 499, 440, 390, 350, 310, 280, 250)
MIN_WIDTH = 200
FULL_WIDTHS = (1300, 1000, 740, 600)
FULL_SCREEN = 480  # px of height that no chart has inside a page
LARGER = 1.7
LARGER_PRESENTED = 1.25
# Between them labels keep their distance from their lines: the closer they are, the more labels have room.
FULL_HEIGHTS = (FULL_SCREEN, 580, 700, 820, 960, 1150, 1500, 2200)
LANDSCAPE = 1.2  # times as wide as high
UPRIGHT = {"minHeight": FULL_SCREEN, "maxAspectRatio": LANDSCAPE}  # a phone, where labels within a plot have no room
# Lengths in pixels that belong to type, and so grow with it.
LENGTHS = frozenset(
    {
        "fontSize", "lineHeight", "nameGap", "distance", "offset", "padding", "itemWidth", "itemHeight", "itemGap",
        "left", "right", "top", "bottom",
    }
)  # fmt: skip
RESIZED = ("title", "legend", "grid", "xAxis", "yAxis")


def media(
    drawn: Option, title: str, size: int, title_margin: int, title_lines: int, *, presenting: bool, moving: bool
) -> list[Option]:
    """The queries of a chart; `title_margin` are the pixels right of its title that are not its own.

    Where the title needs more than the `title_lines` it has room for, legend and plot begin lower. In present mode
    a chart has large type already, and its title is broken on the full screen, too.
    """
    by_width: list[Option] = []
    for widest, narrowest, lines in _break_title(title, size, title_margin):
        down = max(0, len(lines) - title_lines) * (size + 6)
        below: Option = {part: {"top": drawn[part]["top"] + down} for part in ("legend", "grid") if part in drawn}
        heading: Option = {"title": [{"text": "\n".join(lines)}]}
        query = {"minWidth": narrowest, "maxWidth": widest}
        by_width.append({"query": query, "option": heading | below})
    # A query that no longer holds is not undone: what the full screen enlarges, a chart in its page sets back; one that
    # moves does so with its next frame, and need not apply a query that always holds in every one.
    usual = [] if moving else [{"query": {"maxHeight": FULL_SCREEN - 1}, "option": _sizes(drawn, title, 1)}]
    larger = full_factor(presenting)
    full = [{"query": {"minHeight": FULL_SCREEN}, "option": _sizes(drawn, title, larger)}]
    for width in FULL_WIDTHS if title and presenting else ():
        lines = wrap(title, (0.94 * width - larger * title_margin) / (0.5 * larger * (size + 2)))
        query = {"minHeight": FULL_SCREEN, "maxWidth": width}
        full.append({"query": query, "option": {"title": [{"text": "\n".join(lines)}]}})
    return [*usual, *by_width, *full]


def full_factor(presenting: bool) -> float:
    """How much larger type is where a chart fills the screen."""
    return LARGER_PRESENTED if presenting else LARGER


def full_screens() -> Iterator[tuple[dict[str, float], int, int, int]]:
    """Queries of full screens that are not upright, each with its least width and its least and largest height."""
    for low, high in pairwise(FULL_HEIGHTS):
        query = {"minHeight": low, "maxHeight": high - 1, "minAspectRatio": LANDSCAPE}
        yield query, round(LANDSCAPE * low), low, high


@lru_cache(maxsize=256)
def _break_title(title: str, size: int, title_margin: int) -> list[tuple[int, int, list[str]]]:
    """Ranges of widths (from, down to, lines) in which a title needs several lines; at any width at most one holds.

    ECharts applies every query that holds, and each costs as much as the chart itself.

    >>> _break_title("one two three four five six seven eight nine", 11, 0)[0]
    (310, 281, ['one two three four five six seven eight', 'nine'])
    """
    if not title:
        return []
    ranges: list[tuple[int, int, list[str]]] = []
    for widest, below in zip(WIDTHS, (*WIDTHS[1:], -1), strict=True):
        narrowest = max(below + 1, MIN_WIDTH)  # where the lines must fit, too
        lines = wrap(title, (narrowest - title_margin) / (0.5 * (size + 2)))
        if ranges and ranges[-1][2] == lines:
            ranges[-1] = (ranges[-1][0], below + 1, lines)
        else:
            ranges.append((widest, below + 1, lines))
    return [one for one in ranges if len(one[2]) > 1]


def _sizes(drawn: Option, title: str, factor: float) -> Option:
    """Every length of type in a chart, `factor` times as large, and its title on one line."""
    sizes = {part: _lengths(drawn[part], factor) for part in RESIZED if part in drawn}
    if title:
        sizes["title"][0]["text"] = title
    sizes["textStyle"] = _scale(drawn["textStyle"], factor)
    sizes["tooltip"] = {"textStyle": _scale(drawn["tooltip"]["textStyle"], factor)}
    sizes["series"] = [
        {"name": one["name"], "type": one["type"]}
        | {part: _scale(one[part], factor) for part in ("label", "endLabel", "markLine") if part in one}
        | ({"lineStyle": {"width": factor * one["lineStyle"]["width"]}} if "width" in one.get("lineStyle", {}) else {})
        for one in drawn["series"]
    ]
    return sizes


@lru_cache(maxsize=256)
def wrap(text: str, characters: float) -> list[str]:
    """Lines of so many characters; most pictures repeat the titles of the one before, and most titles fit on a line."""
    limit = max(20, int(characters))
    return [text] if 0 < len(text) <= limit else textwrap.wrap(text, limit)


def _lengths(part: Any, factor: float) -> Any:
    """Only the lengths: ECharts merges them into the rest."""
    if isinstance(part, list):
        return [_lengths(one, factor) for one in part]
    nested = {key: _lengths(value, factor) for key, value in part.items() if isinstance(value, dict)}
    own = {key: _scale(value, factor, True) for key, value in part.items() if key in LENGTHS}
    return own | {key: value for key, value in nested.items() if value}


def _scale(part: object, factor: float, length: bool = False) -> Any:
    """The part with every length of type `factor` times as large."""
    if factor == 1:
        return part
    if isinstance(part, dict):
        return {key: _scale(value, factor, key in LENGTHS) for key, value in part.items()}
    if isinstance(part, list):
        return [_scale(one, factor, length) for one in part]
    if length and isinstance(part, int | float) and not isinstance(part, bool):
        return round(factor * part)
    return part
