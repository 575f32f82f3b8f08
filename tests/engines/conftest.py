"""A folder for each engine's files."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Not in pytest's own folder: Postgres runs as another user if the tests run as root.

    Every session of pytest, also one that another test starts, closes that folder to all other users.
    """
    with tempfile.TemporaryDirectory(prefix="ohash-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
