"""Which cases of a long list the default run takes (a tuple is one case of several values); `.ci/nightly` takes all."""

from collections.abc import Iterable
from typing import Any

import pytest


def first(values: Iterable[Any], n: int = 1) -> list[Any]:
    """All values, those after the first n marked slow."""
    return [value if at < n else _slow(value) for at, value in enumerate(values)]


def alternate(values: Iterable[Any], start: int = 0) -> list[Any]:
    """All values, every second one marked slow, from `start` on: two tests of the same cases share them."""
    return [value if at % 2 == start else _slow(value) for at, value in enumerate(values)]


def share(values: Iterable[Any], part: int, of: int) -> list[Any]:
    """All values, one in `of` of them not marked slow: as many tests of the same cases take a part each."""
    return [value if at % of == part else _slow(value) for at, value in enumerate(values)]


def _slow(value: Any) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
