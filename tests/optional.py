"""Packages of an extra: without them a test is skipped with the reason; in `.ci/nightly`, which has them, it fails."""

import importlib
import os
from types import ModuleType

import pytest


def optional(module: str, extra: str) -> ModuleType:
    """The module, or a skip; in CI a missing one is an error."""
    if os.environ.get("OHASH_CI"):
        return importlib.import_module(module)
    return pytest.importorskip(module, reason=f'needs {module}: python3 -m pip install "ohash[{extra}]"')
