"""What changes in an ECharts chart with its size on the screen, which only the browser knows.

ECharts asks its `media` queries again whenever the chart is resized: a title is broken to the width there is, and a
chart that fills the screen has type for the back row.
"""

import textwrap
from functools import lru_cache
from typing import Any

Option = dict[str, Any]
WIDTHS = (720, 580, 480, 400, 350, 310, 280, 250)
FULL_SCREEN = 480  # px of height that no chart has inside a page
LARGER = 1.7
# Lengths in pixels that belong to type, and so grow with it.
LENGTHS = frozenset(
    {
        "fontSize", "lineHeight", "nameGap", "distance", "offset", "padding", "itemWidth", "itemHeight", "itemGap",
        "left", "right", "top", "bottom",
    }
)  # fmt: skip
RESIZED = ("title", "legend", "grid", "xAxis", "yAxis")


def media(drawn: Option, title: str, size: int, beside_title: int) -> list[Option]:
    """The queries of a chart; `beside_title` are the pixels right of its title that are not its own."""
    texts = {width: "\n".join(wrap(title, (0.92 * width - beside_title) / (0.5 * (size + 2)))) for width in WIDTHS}
    by_width = [
        {"query": {"maxWidth": width}, "option": {"title": [{"text": text}]}} for width, text in texts.items() if title
    ]
    larger = {part: _lengths(drawn[part]) for part in RESIZED if part in drawn}
    if title:
        larger["title"][0]["text"] = title
    larger["textStyle"] = _scale(drawn["textStyle"])
    larger["tooltip"] = {"textStyle": _scale(drawn["tooltip"]["textStyle"])}
    larger["series"] = [
        {"name": one["name"], "type": one["type"]}
        | {part: _scale(one[part]) for part in ("label", "endLabel", "markLine") if part in one}
        | ({"lineStyle": {"width": LARGER * one["lineStyle"]["width"]}} if "width" in one.get("lineStyle", {}) else {})
        for one in drawn["series"]
    ]
    return [*by_width, {"query": {"minHeight": FULL_SCREEN}, "option": larger}]


@lru_cache(maxsize=256)
def wrap(text: str, characters: float) -> list[str]:
    """Lines of so many characters; most pictures repeat the titles of the one before."""
    return textwrap.wrap(text, max(20, int(characters)))


def _lengths(part: Any) -> Any:
    """Only what is larger: ECharts merges it into the rest."""
    if isinstance(part, list):
        return [_lengths(one) for one in part]
    nested = {key: _lengths(value) for key, value in part.items() if isinstance(value, dict)}
    own = {key: _scale(value, True) for key, value in part.items() if key in LENGTHS}
    return own | {key: value for key, value in nested.items() if value}


def _scale(part: Any, length: bool = False) -> Any:
    """A copy with every length of type larger."""
    if isinstance(part, dict):
        return {key: _scale(value, key in LENGTHS) for key, value in part.items()}
    if isinstance(part, list):
        return [_scale(one, length) for one in part]
    if length and isinstance(part, int | float) and not isinstance(part, bool):
        return round(LARGER * part)
    return part
