"""A real server and a real Chromium. Skipped without chromium, except in CI, where that is a failure."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ohash.cli.browser import Dashboard, chromium

PATIENCE = 90_000  # ms; a busy machine compiles kernels first


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    started = Dashboard(OHASH_HOME=str(tmp_path_factory.mktemp("home")))
    yield started
    started.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if shutil.which("chromium") is None:
        if os.environ.get("OHASH_CI"):
            pytest.fail("chromium is not installed: the browser tests must run in CI")
        pytest.skip("chromium is not on the PATH (apt-get install chromium)")
    with chromium() as opened:
        yield opened


@contextmanager
def new_page(browser: Any) -> Iterator[Any]:
    """A tab of a visitor who has never been here."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    yield opened
    context.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    with new_page(browser) as opened:
        yield opened
