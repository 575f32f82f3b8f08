"""A dashboard on a free port and a headless Chromium, for benchmarks and screenshots."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ohash.cli.lab import app_file

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--js-flags=--expose-gc",
]  # fmt: skip
STARTING_SECONDS = 60.0


class Dashboard:
    """A server process; `url` answers as soon as the object exists."""

    def __init__(self, **environment: str) -> None:
        """Start it with extra environment variables, and wait until it is healthy."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://localhost:{port}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(app_file()), "--server.port", str(port)],
            cwd=app_file().parent,
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + STARTING_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise ValueError(
            f"the dashboard did not start within {STARTING_SECONDS:.0f} s; try: {sys.executable} -m streamlit run"
        )

    def stop(self) -> None:
        """Stop the server."""
        self.process.terminate()
        self.process.wait(10)


def write_pdf(svg: str, file: Path, *, width: float, height: float) -> None:
    """A figure as a PDF page of its own size in millimetres, with its lines and letters as they are."""
    with chromium() as browser:
        page = browser.new_page()
        page.set_content(f"<style>@page{{margin:0}}body{{margin:0}}svg{{display:block}}</style>{svg}")
        page.pdf(path=str(file), width=f"{width}mm", height=f"{height}mm", print_background=True, page_ranges="1")


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser."""
    executable = shutil.which("chromium")
    if executable is None:
        raise ValueError("this needs chromium on the PATH: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415
    except ImportError:
        raise ValueError('this needs playwright: python3 -m pip install -e ".[test]"') from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()
