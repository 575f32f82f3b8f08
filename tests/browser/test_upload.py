"""Data of one's own, from the file dialog to a run that learns from them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ohash.cli.browser import Dashboard
from tests.browser.live_page import LivePage
from tests.browser.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ROWS, COLUMNS = 600, 12


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 6, ROWS)
    np.save(tmp_path / "x.npy", rng.normal(size=(ROWS, COLUMNS)) + 4 * rng.normal(size=(6, COLUMNS))[group])
    clicks = [(a, b) for a in range(ROWS) for b in np.flatnonzero(group == group[a])[:2] if a != b]
    (tmp_path / "clicks.csv").write_text("i,j\n" + "\n".join(f"{a},{b}" for a, b in clicks))
    return tmp_path


def bring(page: Any, server: Dashboard, *files: Path) -> None:
    """The Data page, its part for data of one's own, and the files one after the other into its places."""
    page.goto(f"{server.url}/data")
    page.get_by_text("Upload your own").first.click()
    inputs = page.locator("[data-testid=stFileUploader] input[type=file]")
    for place, file in zip((0, 2), files, strict=False):
        inputs.nth(place).set_input_files(str(file))
        page.get_by_text(file.name).first.wait_for()


def test_a_bare_matrix_is_enough(page: Any, server: Dashboard, vectors: Path) -> None:
    bring(page, server, vectors / "x.npy")
    page.get_by_text(f"{ROWS:,} rows").first.wait_for()
    page.get_by_role("button", name="Watch OH learn this").click()
    live = LivePage(page)
    live.until(lambda: live.pairs > 0, what="it learns")
    live.until(lambda: "dataset=own" in live.query, what="the link says whose data")


def test_clicks_make_the_pairs(page: Any, server: Dashboard, vectors: Path) -> None:
    bring(page, server, vectors / "x.npy", vectors / "clicks.csv")
    page.get_by_text("clicks", exact=False).first.wait_for()
    page.get_by_role("button", name="Compare methods on this").click()
    page.wait_for_url("**/compare*")
    until(lambda: "dataset=own" in page.evaluate("location.search"), "the link says whose data")
    until(lambda: page.locator("canvas").count() >= 2, "curves")
    assert page.get_by_text("Traceback").count() == 0


def test_a_pickle_is_refused_with_words(page: Any, server: Dashboard, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    bring(page, server, tmp_path / "x.npy")
    message = page.locator("[data-testid=stAlert]").first
    message.wait_for()
    assert "x.npy" in message.inner_text() and "pickle" in message.inner_text()
    assert page.get_by_text("Traceback").count() == 0
