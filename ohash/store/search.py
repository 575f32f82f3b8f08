"""Searching a list of runs: words, and conditions on any parameter, such as ``C = 0.1, r >= 32``."""

import operator
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from ohash.engine.params import experiment, rows_of
from ohash.store.listing import RunRow

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
CONDITION = re.compile(r"\s*([^=<>!]+?)\s*(!=|<=|>=|=|<|>)\s*([^=<>!]+?)\s*")


def matches(row: RunRow, words: str) -> bool:
    """Whether a run meets every part between commas.

    A part is a condition on a parameter, by key or symbol, changed or at its default; or text that the run's settings,
    tags, note, key, method or data contain. A run without the parameter does not meet the condition.

    >>> row = RunRow("1f", "OH", "Digits", "r = 32", 100, "done", *[None] * 5, 32, settings=(("r", 32), ("beta", 0.5)))
    >>> [matches(row, words) for words in ("", "digits, r=32", "β = 0.5", "beta < .5", "r = 3", "C = 1")]
    [True, True, True, False, False, False]
    """
    return all(_meets(row, part) for part in words.split(","))


def _meets(row: RunRow, part: str) -> bool:
    condition = CONDITION.fullmatch(part)
    if condition is not None:
        name, sign, wanted = condition.groups()
        key, settings = _key(name, row), dict(row.settings)
        if key in settings:
            return _compare(settings[key], sign, wanted) or _contains((row.tags, row.note), part)
        if key:
            return _contains((row.tags, row.note), part)
    return _contains((row.changed_settings, row.tags, row.note, row.key, row.method, row.data), part)


def _key(name: str, row: RunRow) -> str:
    """The key of a parameter by its key or symbol, else in any case; "" if there is none."""
    names = {**_symbols(), **{key: key for key, _ in row.settings}}
    return names.get(name) or {other.lower(): key for other, key in names.items()}.get(name.lower(), "")


def _contains(texts: tuple[str, ...], part: str) -> bool:
    return part.strip().lower() in " ".join(texts).lower()


def _compare(value: Any, sign: str, wanted: str) -> bool:
    if not isinstance(value, bool) and isinstance(value, int | float):
        try:
            return OPERATORS[sign](float(value), float(wanted))
        except ValueError:
            return False
    return sign in ("=", "!=") and OPERATORS[sign](str(value).lower(), wanted.lower())


@cache
def _symbols() -> dict[str, str]:
    """The keys of common parameters, by symbol and by key."""
    rows = rows_of(experiment())
    return {row.symbol: key for key, row in rows.items() if row.symbol} | {key: key for key in rows}
