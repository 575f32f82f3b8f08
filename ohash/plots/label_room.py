"""Room for labels inside a plot, where curves and level lines may cross them: each beside the end of its own line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Line = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
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

    def meets(self, other: "Text") -> bool:
        """Whether they share a stretch of x."""
        return self.left < other.right + GAP and other.left < self.right + GAP


def place(
    texts: Mapping[int, Text], fixed: Sequence[Text], lines: Mapping[int, Line], size: float, height: float
) -> dict[int, Text]:
    """Each text as near the end of its line as it lies on no line and on no other text; those without room are missing.

    `lines` are all that is drawn, by the text that names them (below 0: none does); `fixed` are texts that stay. Texts
    that share a stretch of x are in the order of the ends of their lines.

    >>> x = np.array([0.0, 100.0])
    >>> place({0: Text(0, 50, 30)}, [], {-1: (x, np.array([52.0, 52.0]))}, 10, 100)[0].y
    44.0
    >>> place({0: Text(0, 50, 30)}, [], {-k: (x, np.array([8.0 * k, 8.0 * k])) for k in range(1, 12)}, 10, 100)
    {}
    """
    both_ways = [_placed(texts, fixed, lines, size, height, upwards=upwards) for upwards in (True, False)]
    return max(both_ways, key=lambda one: (len(one), -sum(abs(text.y - texts[at].y) for at, text in one.items())))


def _placed(
    texts: Mapping[int, Text],
    fixed: Sequence[Text],
    lines: Mapping[int, Line],
    size: float,
    height: float,
    *,
    upwards: bool,
) -> dict[int, Text]:
    """One text after the other, each beyond those before it."""
    placed: dict[int, Text] = {}
    steps = sorted((0.1 * size * k for k in range(round(-10 * REACH), round(10 * REACH) + 1)), key=abs)
    for at in sorted(texts, key=lambda at: texts[at].y, reverse=not upwards):
        text = texts[at]
        passing = [y for name, line in lines.items() if name >= 0 and name != at for y in _beyond(line, text)]
        passing = [y for y in passing if abs(y - text.y) > TOGETHER * size]
        for one in (text, replace(text, over=True)):
            spans = [span for name, line in lines.items() if one.over or name != at for span in _span(line, one)]
            stay = [other.y for other in fixed if one.meets(other)]
            before = [other.y for other in placed.values() if one.meets(other)]
            lowest = max([0.0, *(y + APART * size for y in before if upwards)])
            highest = min([height, *(y - APART * size for y in before if not upwards)])
            free = (
                y
                for y in (text.y + step for step in steps)
                if lowest <= y <= highest
                and not any(lo - CLEAR * size < y < hi + CLEAR * size for lo, hi in spans)
                and not any(min(y, text.y) < other < max(y, text.y) for other in passing)
                and not any(abs(y - other) < APART * size for other in stay)
            )
            y = next(free, None) if one.left >= 0 else None
            if y is not None:
                placed[at] = replace(one, y=y)
                break
    return placed


def _span(line: Line, text: Text) -> list[tuple[float, float]]:
    """From where to where the line goes under a text, whatever its height."""
    x, y = line
    left, right = max(text.left, float(x[0])), min(text.right, float(x[-1]))
    if left > right:
        return []
    heights = [*np.interp([left, right], x, y), *y[(x >= left) & (x <= right)]]
    return [(float(min(heights)), float(max(heights)))]


def _beyond(line: Line, text: Text) -> list[float]:
    """The height of a line that goes on where that of the text ends: its label would be taken for the other's."""
    x, y = line
    return [float(np.interp(text.x, x, y))] if x[0] <= text.x and x[-1] > text.x + GAP else []
