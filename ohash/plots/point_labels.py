"""Names of points: each beside its own point, on no other, on no line; a leader where another point is as near."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats

Place = tuple[float, float]
# In sizes of type: half the height of a text, what it keeps free of points, of lines and of other texts, how far it may
# stand from its point, how far, and by how much its own point must be nearer than any other, to need no leader.
HALF, CLEAR, CLEAR_OF_LINES, APART, REACH, FAR, NEARER = 0.5, 0.5, 0.2, 0.2, 4.0, 1.2, 0.3
STEP = 4.0  # px between the places of a line that are looked at


@dataclass(frozen=True)
class PointLabel:
    """Where a text begins (`over`: ends), in pixels from its point; `leader` is where a line leads to."""

    across: float
    up: float
    over: bool = False
    leader: Place | None = None


@lru_cache(maxsize=64)  # from one picture to the next they seldom move
def place(
    named: tuple[tuple[Place, float], ...],
    dots: tuple[Place, ...],
    lines: tuple[tuple[Place, ...], ...],
    size: float,
    height: float,
    widths: tuple[float, ...],
) -> tuple[PointLabel, ...]:
    """Labels of the `named` points, so wide, among all `dots` and `lines`; free in a plot of each of the `widths`.

    Places are x as a share of the width, and y in pixels upwards.

    >>> place((((0.1, 50), 20),), ((0.1, 50),), (), 10, 100, (200,))
    (PointLabel(across=6.0, up=0.0, over=False, leader=None),)
    """
    scales = np.asarray(widths, np.float64)
    spots = _on_plots(dots, scales)
    along = _on_plots([spot for line in lines for spot in _walk(line, float(scales.max()))], scales)
    room = max((wide for _, wide in named), default=0.0)
    taken: list[Floats] = []
    leading = np.empty((len(scales), 0, 2))
    labels: dict[int, PointLabel] = {}
    for at in sorted(range(len(named)), key=lambda at: -named[at][0][1]):
        (x, y), wide = named[at]
        own = _on_plots([(x, y)], scales)
        others = spots[:, np.abs(spots - own).max(axis=(0, 2)) > 1e-6]
        across, up = _candidates(wide, size)
        boxes = _boxes(own, across, up, wide, size)
        near = _distance(boxes, own)[..., 0]
        rivals = _distance(boxes, others).min(axis=2, initial=np.inf)
        free = (near > 0.9 * CLEAR * size) & (rivals > CLEAR * size)
        free &= (boxes[..., 0] >= 0) & (boxes[..., 2] <= scales[:, None] + room + 1)
        free &= (y + up >= 0) & (y + up <= height)
        strokes = np.concatenate([along, leading], axis=1)
        free &= _distance(boxes, strokes).min(axis=2, initial=np.inf) > CLEAR_OF_LINES * size
        for other in taken:
            free &= ~_overlap(boxes, other, APART * size)
        leaders = _near_edges(boxes, own)
        unclear = (rivals < near + NEARER * size) | (near > FAR * size)
        passing = _passes(own, leaders, np.concatenate([others, leading], axis=1), taken, 0.6 * CLEAR * size)
        cost = near + size * (2.0 * unclear + 3.0 * (unclear & passing) + 1.5 * (unclear & (near < size)))
        cost = cost.max(axis=0) + 0.3 * size * (across < 0) + 0.05 * np.abs(up)
        best = int(np.argmin(cost + 1e6 * (~free).sum(axis=0)))
        box, over = boxes[:, best], bool(across[best] + wide <= 0)
        taken.append(box)
        begin, leader = float(across[best] + wide if over else across[best]), None
        if unclear[:, best].any():
            way = leaders[0, best] - own[0, 0]
            leading = np.concatenate([leading, own + np.linspace(0, 1, 13)[:, None] * way], axis=1)
            leader = float(way[0]), float(way[1])
        labels[at] = PointLabel(begin, float(up[best]), over, leader)
    return tuple(labels[at] for at in range(len(named)))


def _candidates(wide: float, size: float) -> tuple[Floats, Floats]:
    """Where a text may begin, and how high: right of its point, left, or above and below."""
    ups = size * np.arange(-REACH, REACH + 0.1, 0.25)
    gaps = size * (0.6 + 0.7 * np.arange(4))
    left_right = np.concatenate([gaps, -wide - gaps])
    above = np.array([-0.25, -0.5, -0.75]) * wide
    vertical = ups[np.abs(ups) >= (HALF + CLEAR) * size - 1e-9]
    across = np.concatenate([np.tile(left_right, len(ups)), np.tile(above, len(vertical))])
    return across, np.concatenate([np.repeat(ups, len(left_right)), np.repeat(vertical, len(above))])


def _on_plots(places: Sequence[Place], widths: Floats) -> Floats:
    """Pixels of places in plots of these widths: (width, place, x and y)."""
    points = np.asarray(places, np.float64).reshape(-1, 2)
    return np.stack([np.outer(widths, points[:, 0]), np.tile(points[:, 1], (len(widths), 1))], axis=2)


def _walk(line: Sequence[Place], width: float) -> list[Place]:
    """Places along a line, a few pixels apart."""
    points: list[Place] = []
    for (x, y), (x_end, y_end) in pairwise(line):
        steps = max(2, int(np.hypot((x_end - x) * width, y_end - y) / STEP))
        points += zip(np.linspace(x, x_end, steps).tolist(), np.linspace(y, y_end, steps).tolist(), strict=True)
    return points


def _boxes(own: Floats, across: Floats, up: Floats, wide: float, size: float) -> Floats:
    """Left, bottom, right and top of a text at each candidate, in each plot."""
    left, middle = own[..., 0] + across, own[..., 1] + up
    return np.stack([left, middle - HALF * size, left + wide, middle + HALF * size], axis=2)


def _distance(boxes: Floats, spots: Floats) -> Floats:
    """From each box to each place: (plot, box, place)."""
    low, high = boxes[:, :, None, :2], boxes[:, :, None, 2:]
    outside = np.maximum(np.maximum(low - spots[:, None], spots[:, None] - high), 0)
    return np.asarray(np.hypot(outside[..., 0], outside[..., 1]))


def _near_edges(boxes: Floats, own: Floats) -> Floats:
    """The place of each box that is nearest to its point."""
    return np.clip(own, boxes[..., :2], boxes[..., 2:])


def _overlap(boxes: Floats, other: Floats, gap: float) -> npt.NDArray[np.bool_]:
    low, high = boxes[..., :2] - gap, boxes[..., 2:] + gap
    meets = (low < other[:, None, 2:]) & (other[:, None, :2] < high)
    return np.asarray(meets.all(axis=2))


def _passes(own: Floats, ends: Floats, dots: Floats, texts: Sequence[Floats], clear: float) -> npt.NDArray[np.bool_]:
    """Whether a leader from the point to each end would pass over another point or a text."""
    way = own[:, :, None] + np.linspace(0.1, 1, 10)[:, None] * (ends - own)[:, :, None]
    gaps = np.linalg.norm(way[:, :, :, None] - dots[:, None, None], axis=4)
    passes = gaps.min(axis=(2, 3), initial=np.inf) < clear
    for box in texts:
        inside = (way > box[:, None, None, :2]) & (way < box[:, None, None, 2:])
        passes |= np.any(np.all(inside, axis=3), axis=2)
    return np.asarray(passes)
