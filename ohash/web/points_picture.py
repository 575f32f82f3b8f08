"""The points of a playground's link as a small SVG, for paper: each class has a mark of its own."""

from urllib.parse import parse_qsl

from ohash.plots import theme
from ohash.streams.datasets.playground import MOST_SEED, SHAPES, Place, make_points

HALF, SIZE, RADIUS = 1.6, 320, 3.6  # of the plane shown; of the picture and a mark, in its own units
ROLES = ("similar", "dissimilar", "bound", "distance")  # colours of the classes
DEFAULTS = {"data": "blobs", "seed": "1"}  # as in run.js
EDITS = ("paint", "move", "erase")
CORNERS = {
    1: ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    2: ((0, -1.2), (1.1, 0.8), (-1.1, 0.8)),
    3: ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
}


def points_svg(link: str) -> str:
    """The points that a link begins with; "" where it paints or moves some, or names none."""
    values = DEFAULTS | dict(parse_qsl(link))
    shape, seed = values["data"], values["seed"]
    edited = any(f":{edit}:" in values.get("changes", "") for edit in EDITS)
    if shape not in SHAPES or edited or not (seed.isascii() and seed.isdigit() and len(seed) <= len(str(MOST_SEED))):
        return ""
    places, labels = make_points(shape, int(seed))
    marks = "".join(_mark(place, label) for place, label in zip(places, labels, strict=True))
    title = f"{SHAPES[shape][0]}: {len(places)} points of {SHAPES[shape][1]} classes"
    frame = f'<rect width="{SIZE}" height="{SIZE}" fill="none" stroke="#888"/>'
    return f'<svg viewBox="0 0 {SIZE} {SIZE}" role="img"><title>{title}</title>{frame}{marks}</svg>'


def _mark(place: Place, label: int) -> str:
    """Circle, square, triangle or diamond, as in look.js."""
    x, y = ((1 + sign * v / HALF) / 2 * SIZE for sign, v in zip((1, -1), place, strict=True))
    colour = theme.colour(ROLES[label], dark=False)
    if label == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="{colour}"/>'
    corners = " ".join(f"{x + RADIUS * dx:.1f},{y + RADIUS * dy:.1f}" for dx, dy in CORNERS[label])
    return f'<polygon points="{corners}" fill="{colour}"/>'
