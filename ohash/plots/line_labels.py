"""Room for labels inside a plot, where curves and level lines may cross them: each beside the end of its own line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ohash.core.arrays import Floats, Reals

Line = tuple[Reals, Reals]  # x and y in pixels
# In sizes of type: how far a label may stand from the end of its line, what it keeps free of lines and of other labels,
# and the distance of lines that nobody can tell apart.
REACH, CLEAR, APART, TOGETHER = 2.4, 0.75, 1.2, 0.3
GAP = 6.0  # px between the end of a line and its label


@dataclass(frozen=True)
class Text:
    """A label of the line that ends at (x, y), so wide: right of its end, or `over` the line; pixels, y upwards."""

    x: float
    y: float
    wide: float
    over: bool = False

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.x - self.wide if self.over else self.x

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.x if self.over else self.x + GAP + self.wide

    def overlaps(self, other: "Text") -> bool:
        """Whether they share a stretch of x."""
        return self.left < other.right + GAP and other.left < self.right + GAP


def place(
    texts: Mapping[int, Text],
    fixed: Sequence[Text],
    lines: Mapping[int, Line],
    size: float,
    height: float,
    taller: float = 1.0,
) -> dict[int, Text]:
    """Each text as near the end of its line as it lies on no line and on no other text; those without room are missing.

    `lines` are all that is drawn, by the text that names them (below 0: none does); `fixed` are texts that stay. Texts
    that share a stretch of x are in the order of the ends of their lines. All of it also holds in a plot that is up to
    `taller` times as high, where lines are further apart and a text is as far from the end of its line as here.

    >>> x = np.array([0.0, 100.0])
    >>> place({0: Text(0, 50, 30)}, [], {-1: (x, np.array([52.0, 52.0]))}, 10, 100)[0].y
    44.0
    >>> place({0: Text(0, 50, 30)}, [], {-k: (x, np.array([8.0 * k, 8.0 * k])) for k in range(1, 12)}, 10, 100)
    {}
    >>> place({0: Text(0, 50, 30)}, [], {-1: (x, np.array([45.0, 45.0]))}, 10, 100, taller=2)[0].y
    53.0
    """
    steps = 0.1 * size * np.array(sorted(range(round(-10 * REACH), round(10 * REACH) + 1), key=abs))
    rooms = {
        at: [
            (one, _free(one, at, fixed, lines, size, taller, heights[(heights >= 0) & (heights <= height)]))
            for one, heights in ((text, text.y + steps), (replace(text, over=True), text.y + steps))
            if one.left >= 0
        ]
        for at, text in texts.items()
    }
    both_ways = [_place_texts(texts, rooms, size, upwards=upwards) for upwards in (True, False)]
    return max(both_ways, key=lambda one: (len(one), -sum(abs(text.y - texts[at].y) for at, text in one.items())))


def _place_texts(
    texts: Mapping[int, Text], rooms: Mapping[int, list[tuple[Text, list[float]]]], size: float, *, upwards: bool
) -> dict[int, Text]:
    """One text after the other at the first height that it has room at, each beyond those before it."""
    placed: dict[int, Text] = {}
    for at in sorted(texts, key=lambda at: texts[at].y, reverse=not upwards):
        for one, heights in rooms[at]:
            before = [other.y for other in placed.values() if one.overlaps(other)]
            lowest = max(before, default=-np.inf) + APART * size if upwards else -np.inf
            highest = np.inf if upwards else min(before, default=np.inf) - APART * size
            y = next((y for y in heights if lowest <= y <= highest), None)
            if y is not None:
                placed[at] = replace(one, y=y)
                break
    return placed


def _free(
    text: Text, at: int, fixed: Sequence[Text], lines: Mapping[int, Line], size: float, taller: float, heights: Floats
) -> list[float]:
    """The heights at which the text lies on no line and on no fixed text, with no other line between it and its own."""
    blocked = [
        (low - CLEAR * size, high + CLEAR * size)
        for name, line in lines.items()
        if text.over or name != at
        for low, high in (_stretch(span, text.y, taller) for span in _span(line, text))
    ]
    for other in fixed:
        if text.overlaps(other):
            low, high = _stretch((other.y, other.y), text.y, taller)
            blocked.append((low - APART * size, high + APART * size))
    for name, line in lines.items():
        for y in _height_beyond(line, text) if name >= 0 and name != at else ():
            if abs(y - text.y) > TOGETHER * size:
                blocked.append((y, np.inf) if y > text.y else (-np.inf, y))
    if not blocked:
        return list(heights.tolist())
    low, high = np.array(blocked).T
    within = (low < heights[:, None]) & (heights[:, None] < high)
    return list(heights[~within.any(axis=1)].tolist())


def _span(line: Line, text: Text) -> list[tuple[float, float]]:
    """From where to where the line goes under a text, whatever its height."""
    x, y = line
    left, right = max(text.left, float(x[0])), min(text.right, float(x[-1]))
    if left > right:
        return []
    first, last = x.searchsorted((left, right))
    heights = [*np.interp((left, right), x, y).tolist(), *y[first:last].tolist()]
    return [(min(heights), max(heights))]


def _stretch(span: tuple[float, float], end: float, taller: float) -> tuple[float, float]:
    """All heights that a span can have over the `end` of a line in a plot up to so many times as high."""
    low, high = (height - end for height in span)
    return end + min(low, taller * low), end + max(high, taller * high)


def _height_beyond(line: Line, text: Text) -> list[float]:
    """The height of a line that goes on where that of the text ends: its label would be taken for the other's."""
    x, y = line
    return [float(np.interp(text.x, x, y))] if x[0] <= text.x and x[-1] > text.x + GAP else []
