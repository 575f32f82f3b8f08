"""The points of a playground's link as a small SVG, for paper: each class has a mark of its own."""

import math
import re
from urllib.parse import parse_qsl

from ohash.plots import theme
from ohash.streams.datasets.playground import MAX_POINTS, MAX_SEED, SHAPES, Place, make_points, read_points
from ohash.web.playground_settings import EDITS, LONGEST

HALF, SIZE, RADIUS = 1.6, 320, 3.6  # of the plane shown; of the picture and a mark, in its own units
ROLES = ("similar", "dissimilar", "bound", "distance")  # colours of the classes
DEFAULTS = {"data": "blobs", "seed": "1"}  # as in run.js
OWN, OWN_TITLE = "own", "Your own points"  # as in points.js
DRIFTS = {"drift": 6.0}  # of the shapes that turn by themselves, in degrees in 100 pairs
EVENT = re.compile(r"(\d+):(\w+):([\w.]+)", re.ASCII)
CORNERS = {
    1: ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    2: ((0, -1.2), (1.1, 0.8), (-1.1, 0.8)),
    3: ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
}

Points = list[tuple[Place, int]]  # places and classes


def points_svg(link: str) -> str:
    """The points that a link opens with; "" if there are none, or its shape or seed is not possible."""
    shape = (DEFAULTS | dict(parse_qsl(link)))["data"]
    points = points_of(link)
    if not points:
        return ""
    marks = "".join(_mark(place, label) for place, label in points)
    name = OWN_TITLE if shape == OWN else SHAPES[shape][0]
    classes = len({label for _, label in points})
    title = f"{name}: {len(points)} points of {classes} class{'es' if classes > 1 else ''}"
    frame = f'<rect width="{SIZE}" height="{SIZE}" fill="none" stroke="#888"/>'
    return f'<svg viewBox="0 0 {SIZE} {SIZE}" role="img"><title>{title}</title>{frame}{marks}</svg>'


def points_of(link: str) -> Points:
    """The points as they are at the pair that a link waits at: made, then edited, and turned if the plane drifts."""
    values = DEFAULTS | dict(parse_qsl(link))
    shape, seed, at = values["data"], values["seed"], values.get("at", "0")
    if not (seed.isascii() and seed.isdigit() and int(seed[:9]) <= MAX_SEED):
        return []
    if shape not in SHAPES and shape != OWN:
        return []
    points = [] if shape == OWN else list(zip(*make_points(shape, int(seed)), strict=True))
    t = min(LONGEST, int(at)) if re.fullmatch(r"\d{1,9}", at, re.ASCII) else 0
    events = [match.groups() for match in map(EVENT.fullmatch, values.get("changes", "").split(",")) if match]
    happened = sorted(((int(when), key, text) for when, key, text in events if int(when) <= t), key=lambda one: one[0])
    for _, key, text in happened:
        if key in EDITS and re.fullmatch(EDITS[key], text, re.ASCII):
            points = _edited(points, key, text)
    angle = _turn(_number(values.get("drift", ""), DRIFTS.get(shape, 0.0)), happened, t)
    cos, sin = math.cos(angle), math.sin(angle)
    return [((cos * x - sin * y, sin * x + cos * y), label) for (x, y), label in points] if angle else points


def _edited(points: Points, key: str, text: str) -> Points:
    """After one edit, as in points.js; what is impossible changes nothing."""
    if key == "paint":
        places, labels = read_points([text])
        return [*points, *zip(places, labels, strict=True)][: max(MAX_POINTS, len(points))]
    which, _, to = text.partition(".")
    at = int(which)
    if at >= len(points):
        return points
    moved: Points = [(read_points([f"0{to}"])[0][0], points[at][1])] if key == "move" else []
    return [*points[:at], *moved, *points[at + 1 :]]


def _turn(drift: float, happened: list[tuple[int, str, str]], t: int) -> float:
    """The angle by which the plane has turned after t pairs."""
    turn, since = 0.0, 0
    for when, key, text in happened:
        if key == "drift":
            turn, since, drift = turn + drift * (when - since), when, _number(text, drift)
    return math.radians((turn + drift * (t - since)) / 100)


def _number(text: str, default: float) -> float:
    return float(text) if re.fullmatch(r"\d{1,3}", text, re.ASCII) else default


def _mark(place: Place, label: int) -> str:
    """Circle, square, triangle or diamond, as in look.js."""
    x, y = ((1 + sign * v / HALF) / 2 * SIZE for sign, v in zip((1, -1), place, strict=True))
    colour = theme.colour(ROLES[label], dark=False)
    if label == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="{colour}"/>'
    corners = " ".join(f"{x + RADIUS * dx:.1f},{y + RADIUS * dy:.1f}" for dx, dy in CORNERS[label])
    return f'<polygon points="{corners}" fill="{colour}"/>'
