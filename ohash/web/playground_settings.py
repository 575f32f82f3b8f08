"""What the settings of the playground may be (CONTROLS in link.js says the same), and what its links may say."""

import math
import re
from urllib.parse import parse_qsl

CHOICES: dict[str, tuple[str | int, ...]] = {
    "data": ("blobs", "moons", "rings", "xor", "spirals", "drift", "own"),
    "features": ("linear", "rbf"),
    "pace": (1, 2, 5, 10, 30, 100, 300, 1000, 3000),
}
RANGES = {
    "r": (1, 16), "T": (1, 4), "beta": (0.1, 1), "C": (0.001, 10), "noise": (0, 0.5), "drift": (0, 30),
    "seed": (0, 999),
}  # fmt: skip
STEPS = {"r": 1, "T": 1, "beta": 0.05, "noise": 0.05, "drift": 1, "seed": 1}  # C has none
KEYS = ("data", "features", "r", "T", "beta", "C", "noise", "drift", "pace", "seed")
LIVE = ("beta", "C", "noise", "drift")  # what a change may be of, beside the points
EDITS = {"paint": r"[0-3](?:[0-9a-z]{4})+", "move": r"\d+\.[0-9a-z]{4}", "erase": r"\d+"}
LONGEST = 50_000  # pairs that a link makes up for when it is opened


def check_setting(name: str, value: object) -> None:
    """Name the values that a setting may have, if this is none of them."""
    if name in CHOICES and value not in CHOICES[name]:
        raise ValueError(f"{name} must be one of {', '.join(map(str, CHOICES[name]))}, got {value!r}")
    if name in RANGES:
        lo, hi = RANGES[name]
        if not isinstance(value, int | float) or not lo <= value <= hi:
            raise ValueError(f"{name} must be a number in [{lo}, {hi}], got {value!r}")
        if name in STEPS and abs(math.remainder(value - lo, STEPS[name])) > 1e-6:
            raise ValueError(f"{name} must be a number in [{lo}, {hi}] in steps of {STEPS[name]}, got {value!r}")
    if name == "at" and (not isinstance(value, int) or value < 0):
        raise ValueError(f"at must be the number of a pair, 0 or more, got {value!r}")


def settings_of(address: str) -> str:
    """The link in an address, which begins after `?` or `#`.

    >>> settings_of("http://localhost:8501/learn?data=moons&r=3"), settings_of("#r=3"), settings_of("r=3")
    ('data=moons&r=3', 'r=3', 'r=3')
    """
    return re.sub(r"^[^?#]*[?#]", "", address.strip())


def check_link(link: str) -> None:
    """Say what is wrong with a link, if the playground would leave a part of it out or take another value.

    >>> check_link("data=moons&beta=0.4&at=300&changes=120:C:1&only=C")
    """
    parts = parse_qsl(link, keep_blank_values=True)
    if "://" in link or not parts:
        raise ValueError(f"a link must be settings such as data=moons&r=3&only=r, got {link[:60]!r}")
    for name, text in parts:
        if name in KEYS:
            check_setting(name, _value(text))
        elif name == "at":
            if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or int(text) > LONGEST:
                raise ValueError(f"at must be the number of a pair, 0 to {LONGEST}, got {text!r}")
        elif name == "only":
            _check_only(text)
        elif name == "changes":
            for change in filter(None, text.split(",")):
                _check_change(change)
        else:
            raise ValueError(f"a link must be of {', '.join((*KEYS, 'changes', 'at', 'only'))}, got {name!r}")


def _check_only(text: str) -> None:
    unknown = [name for name in text.split(",") if name and name not in KEYS]
    if unknown:
        raise ValueError(f"only must name settings that stay free, of {', '.join(KEYS)}, got {unknown[0]!r}")


def _check_change(change: str) -> None:
    """Such as "120:beta:0.55" or "120:erase:7"."""
    at, _, rest = change.partition(":")
    name, _, text = rest.partition(":")
    is_setting = name in LIVE or (name in EDITS and re.fullmatch(EDITS[name], text, re.ASCII))
    if not re.fullmatch(r"\d+", at, re.ASCII) or not is_setting:
        raise ValueError(f"a change must be PAIR:{'|'.join(LIVE)}:VALUE or an edit of the points, got {change[:40]!r}")
    if name in LIVE:
        check_setting(name, _value(text))


def _value(text: str) -> str | float:
    """A number if it is one, which 7 also is where it says 7.0."""
    if not re.fullmatch(r"\d+(\.\d*)?(e-?\d+)?|\.\d+", text, re.ASCII):
        return text
    number = float(text)
    return int(number) if number.is_integer() else number
