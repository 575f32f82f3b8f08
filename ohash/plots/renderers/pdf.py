"""A figure as a PDF: a headless Chromium prints the SVG, whose lines and letters stay what they are."""

import importlib.util
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--js-flags=--expose-gc",
    "--font-render-hinting=none",  # the headless shell would place letters on whole pixels, unlike Chromium
]  # fmt: skip
STYLE = "<style>@page{margin:0}body{margin:0}svg{display:block}</style>"


def executable() -> str | None:
    """The browser on the PATH: Chromium's headless shell, which draws the same with less work, or Chromium."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


def available() -> bool:
    """Whether this machine can make a PDF."""
    return executable() is not None and importlib.util.find_spec("playwright") is not None


def to_pdf(svg: str) -> bytes:
    """One page of the size of the figure."""
    size = re.search(r'width="([\d.]+mm)" height="([\d.]+mm)"', svg)
    assert size is not None
    with chromium() as browser:
        page = browser.new_page()
        page.set_content(STYLE + svg)
        width, height = size.groups()
        return bytes(page.pdf(width=width, height=height, print_background=True, page_ranges="1"))


@contextmanager
def chromium() -> Iterator["Browser"]:
    """A headless browser."""
    browser_file = executable()
    if browser_file is None:
        raise ValueError("this needs chromium or chromium-headless-shell on the PATH: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415
    except ImportError:
        raise ValueError('this needs playwright: python3 -m pip install -e ".[test]"') from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_file, args=FLAGS)
        yield browser
        browser.close()
