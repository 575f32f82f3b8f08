"""A real server and a real Chromium. Skipped without chromium, except in CI, where that is a failure."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ohash.cli.lab import Dashboard
from ohash.plots.renderers.pdf import chromium, executable
from ohash.web import bundle

PATIENCE = 90_000  # ms; a busy machine compiles kernels first


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    started = Dashboard(OHASH_HOME=str(tmp_path_factory.mktemp("home")))
    yield started
    started.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if executable() is None:
        if os.environ.get("OHASH_CI"):
            pytest.fail("chromium is not installed: the browser tests must run in CI")
        pytest.skip("chromium is not on the PATH (apt-get install chromium)")
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def visitor(browser: Any) -> Iterator[Any]:
    """One context for most tests: the scripts of the dashboard stay in its cache, compiled."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@contextmanager
def new_page(visitor: Any) -> Iterator[Any]:
    """A tab of a visitor who has never been here: what a page stores in the browser is forgotten afterwards."""
    others = visitor.pages
    yield visitor.new_page()
    for tab in (one for one in visitor.pages if one not in others):
        if tab.url.startswith("http"):
            tab.evaluate("localStorage.clear()")
        tab.close()
    visitor.clear_cookies()


@pytest.fixture
def page(visitor: Any) -> Iterator[Any]:
    with new_page(visitor) as opened:
        yield opened


@pytest.fixture(scope="module")
def scratch(browser: Any) -> Iterator[Any]:
    """A page with the playground's script, to call its functions."""
    page = browser.new_page()
    page.add_script_tag(content=bundle.script())
    yield page
    page.close()
