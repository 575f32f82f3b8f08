"""The playground as a widget of a notebook."""

from typing import TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:
    from ohash.web.widget import Playground

# What the settings may be; CONTROLS in link.js says the same.
CHOICES: dict[str, tuple[str | int, ...]] = {
    "data": ("blobs", "moons", "rings", "xor", "spirals", "drift", "own"),
    "features": ("linear", "rbf"),
    "pace": (1, 2, 5, 10, 30, 100, 300, 1000, 3000),
}
RANGES = {
    "r": (1, 16), "T": (1, 4), "beta": (0.1, 1), "C": (0.001, 10), "noise": (0, 0.5), "drift": (0, 30),
    "seed": (0, 999),
}  # fmt: skip


def playground(
    link: str = "",
    *,
    data: str | None = None,
    features: str | None = None,
    r: int | None = None,
    T: int | None = None,
    beta: float | None = None,
    C: float | None = None,
    noise: float | None = None,
    drift: float | None = None,
    pace: float | None = None,
    seed: int | None = None,
    changes: str | None = None,
    at: int | None = None,
    only: str | None = None,
) -> "Playground":
    """The playground of the Learn page as a widget of a notebook (Jupyter, VS Code, Colab, marimo).

    `link` is what follows ``?`` on the Learn page or ``#`` in the file, or what *Copy call* gave; the other arguments
    set its parts: ``ohash.playground(data="rings", features="rbf", r=8)``. With `at` it waits at that pair, without it
    plays; `only="C"` locks all other settings.
    """
    given = {
        "data": data, "features": features, "r": r, "T": T, "beta": beta, "C": C, "noise": noise, "drift": drift,
        "pace": pace, "seed": seed, "changes": changes, "at": at,
        "only": only,
    }  # fmt: skip
    for name, value in given.items():
        _check(name, value)
    try:
        from ohash.web.widget import Playground  # noqa: PLC0415
    except ImportError as error:
        raise ValueError('the playground in a notebook needs anywidget: pip install "ohash[notebook]"') from error
    parts = [link.lstrip("?#"), urlencode({key: value for key, value in given.items() if value is not None}, safe=":,")]
    return Playground(start="&".join(part for part in parts if part))


def _check(name: str, value: object) -> None:
    """Name the values that a setting may have, if this is none of them."""
    if value is None:
        return
    if name in CHOICES and value not in CHOICES[name]:
        raise ValueError(f"{name} must be one of {', '.join(map(str, CHOICES[name]))}, got {value!r}")
    if name in RANGES:
        lo, hi = RANGES[name]
        if not isinstance(value, int | float) or not lo <= value <= hi:
            raise ValueError(f"{name} must be a number in [{lo}, {hi}], got {value!r}")
    if name == "at" and (not isinstance(value, int) or value < 0):
        raise ValueError(f"at must be the number of a pair, 0 or more, got {value!r}")
