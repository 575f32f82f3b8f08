"""The points of the playground on Learn, named by their key: a shape and its seed, or the points themselves.

`playground-xor-7` are the 200 points that `points.js` makes of this shape and seed, drawn by the same rule. In
`playground-points-0i0i0k0k-1zzzz...` each part is a class and its places, four characters each, as in a link of the
playground. A key comes from a link, and may hold anything.
"""

import math
import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ohash.streams.dataset import MIN_ROWS, Dataset, DatasetFamily, DatasetSpec
from ohash.streams.datasets.synthetic import BIBTEX, CITE

N_POINTS, MAX_POINTS = 200, 400
MAX_SEED = 999
ANCHORS = 36  # of the RBF features, as in the playground
REACH, PLACE_STEPS = 1.5 * 1.6, 36**2 - 1  # a coordinate is one of 36² steps over [-REACH, REACH]
PREFIX = "playground-"
LISTED = re.compile(r"points(?:-[0-3](?:[0-9a-z]{4})+)+")
LICENCES = "CC0 (generated)", "of whoever made them"  # of a shape, and of points by hand
CITES = CITE.format("the generators"), "made by hand in the playground of ohash"
NOTE = (
    "the points of the playground on Learn; their pairs and the first W are drawn anew here, and boundaries pass "
    "through the mean of the points, where the playground has a bias"
)

Place = tuple[float, float]
Draw = Callable[[], float]


class RandomNumbers:
    """Numbers in [0, 1) by Marsaglia's xorshift, and normal ones by Box and Muller, as in `random.js`."""

    def __init__(self, seed: int) -> None:
        """The same numbers for the same seed."""
        self.state = ((seed + 1) * 2654435761) % 2**32 or 1
        for _ in range(20):
            self.u()

    def u(self) -> float:
        """The next number in [0, 1)."""
        state = self.state
        state = (state ^ (state << 13)) % 2**32
        state ^= state >> 17
        self.state = (state ^ (state << 5)) % 2**32
        return self.state / 2**32

    def normal(self) -> float:
        """The next normal number."""
        return math.sqrt(-2 * math.log(1 - self.u())) * math.cos(2 * math.pi * self.u())


def _blobs(c: int, u: Draw, normal: Draw) -> Place:
    x, y = ((-0.8, 0.7), (0.75, 0.8), (-0.7, -0.75), (0.8, -0.7))[c]
    return x + 0.24 * normal(), y + 0.24 * normal()


def _moons(c: int, u: Draw, normal: Draw) -> Place:
    angle = math.pi * u()
    x, y = math.cos(angle) - 0.5, math.sin(angle) - 0.25
    sign = -1 if c else 1
    return 0.9 * sign * x + 0.09 * normal(), 0.9 * sign * y + 0.09 * normal()


def _rings(c: int, u: Draw, normal: Draw) -> Place:
    angle = 2 * math.pi * u()
    radius = (1.15 if c else 0.4) + 0.08 * normal()
    return radius * math.cos(angle), radius * math.sin(angle)


def _xor(c: int, u: Draw, normal: Draw) -> Place:
    x = (-1 if u() < 0.5 else 1) * (0.12 + 1.1 * u())
    y = 0.12 + 1.1 * u()
    return x, y if (x > 0) == (c == 0) else -y


def _spirals(c: int, u: Draw, normal: Draw) -> Place:
    way = 0.15 + 0.85 * math.sqrt(u())
    angle = 3 * math.pi * way + math.pi * c
    return 1.35 * way * math.cos(angle) + 0.04 * normal(), 1.35 * way * math.sin(angle) + 0.04 * normal()


def _clouds(c: int, u: Draw, normal: Draw) -> Place:
    return (0.75 if c else -0.75) + 0.26 * normal(), 0.26 * normal()


# Title, number of classes, and a point of a class, of each shape of `points.js`.
SHAPES: dict[str, tuple[str, int, Callable[[int, Draw, Draw], Place]]] = {
    "blobs": ("Four blobs", 4, _blobs),
    "moons": ("Two moons", 2, _moons),
    "rings": ("A ring in a ring", 2, _rings),
    "xor": ("XOR", 2, _xor),
    "spirals": ("Two spirals", 2, _spirals),
    "drift": ("Two drifting clouds", 2, _clouds),
}


def make_points(shape: str, seed: int) -> tuple[list[Place], list[int]]:
    """The places of a shape and their classes."""
    _, classes, point = SHAPES[shape]
    numbers = RandomNumbers(seed)
    labels = [k % classes for k in range(N_POINTS)]
    return [point(c, numbers.u, numbers.normal) for c in labels], labels


def read_points(parts: list[str]) -> tuple[list[Place], list[int]]:
    """The places and classes that a key lists.

    >>> read_points(["20000zzzz"])
    ([(-2.4000000000000004, -2.4000000000000004), (2.4000000000000004, 2.4000000000000004)], [2, 2])
    """
    places, labels = [], []
    for part in parts:
        for at in range(1, len(part), 4):
            x, y = (int(part[k : k + 2], 36) / PLACE_STEPS * 2 * REACH - REACH for k in (at, at + 2))
            places.append((x, y))
            labels.append(int(part[0]))
    return places, labels


def load(spec: DatasetSpec, places: list[Place], labels: list[int]) -> Dataset:
    """The points as a data set."""
    colours, classes = np.unique(labels, return_inverse=True)
    return Dataset(
        key=spec.key,
        title=spec.title,
        X=np.array(places, np.float32),
        labels=classes,
        class_names=tuple(f"class {c + 1}" for c in colours.tolist()),
        queries=(max(1, len(places) // 8),) * 2,
        licence=spec.licence,
        cite=spec.cite,
        note=NOTE,
    )


@lru_cache(maxsize=64)
def make_spec(key: str) -> DatasetSpec:
    """What the points of a key are; ValueError if it names none."""
    name, _, rest = key.removeprefix(PREFIX).partition("-")
    if name in SHAPES and re.fullmatch("[0-9]{1,3}", rest) and int(rest) <= MAX_SEED:
        title = f"{SHAPES[name][0]} of the playground, seed {int(rest)}"
        return _spec(key, title, *make_points(name, int(rest)), by_hand=False)
    if len(key) <= 8 * MAX_POINTS and LISTED.fullmatch(key.removeprefix(PREFIX)):
        places, labels = read_points(rest.split("-"))
        if MIN_ROWS <= len(places) <= MAX_POINTS:
            return _spec(key, f"{len(places)} points of the playground", places, labels, by_hand=True)
        raise ValueError(f"points of the playground must be {MIN_ROWS} to {MAX_POINTS}, got {len(places)}")
    raise ValueError(
        f"points of the playground must be named {PREFIX}SHAPE-SEED, with a shape of {', '.join(SHAPES)} and a seed "
        f"from 0 to {MAX_SEED}, or {PREFIX}points- and places as in a link of the playground, got {key[:60]!r}"
    )


def _spec(key: str, title: str, places: list[Place], labels: list[int], *, by_hand: bool) -> DatasetSpec:
    n, counts = len(places), np.unique(labels, return_counts=True)[1]
    spec = DatasetSpec(
        key=key,
        title=title,
        task="same class",
        n=n,
        d=2,
        licence=LICENCES[by_hand],
        cite=CITES[by_hand],
        bibtex=BIBTEX,
        load=lambda: load(spec, places, labels),
        group="synthetic",
        similar_share=float((counts * (counts - 1)).sum() / (n * (n - 1))),
        normalize=False,
        defaults={"m": max(1, min(ANCHORS, n // 2))},
    )
    return spec


FAMILY = DatasetFamily(key=PREFIX, spec=make_spec)
