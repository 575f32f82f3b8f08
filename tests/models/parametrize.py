"""Tests that run once for every method to which they apply, instead of being skipped for the others."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest

from ohash.models import registry
from ohash.models.base import HasherSpec


def for_methods(applies: Callable[[HasherSpec], bool]) -> Callable[[Any], Any]:
    """Run a test for methods of which `applies` is true."""

    def mark(test: Any) -> Any:
        test.applies = applies
        return test

    return mark


def parametrize_keys(metafunc: pytest.Metafunc, keys: Iterable[str], slow: Collection[str]) -> None:
    """The keys of the methods that a test is for, as its parameter; those in `slow` are for the night."""
    applies, specs = getattr(metafunc.function, "applies", lambda spec: True), registry.hashers()
    chosen = [key for key in keys if applies(specs[key])]
    assert chosen, f"{metafunc.function.__name__} applies to no method"
    metafunc.parametrize("key", [pytest.param(key, marks=pytest.mark.slow) if key in slow else key for key in chosen])
