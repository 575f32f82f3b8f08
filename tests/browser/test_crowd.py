"""One run with a crowd of viewers: one of them has a real browser."""

import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import TimeoutError as Late

from ohash.cli.bench.load import measure_class
from ohash.cli.bench.results import Results
from ohash.cli.lab import Dashboard
from ohash.ui.live.crowd import CROWD
from tests.browser.live_page import LivePage
from tests.browser.wait import until

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]
LINK = "dataset=blobs2d&method=oh&pairs=100000000"
OTHERS = CROWD + 8  # the first few have runs of their own, because the server is not busy yet


def test_a_crowd_sees_pictures_and_who_changes_something_gets_her_own_charts(page: Any, server: Dashboard) -> None:
    visitors = [sys.executable, "-m", "ohash.ui.visitors", server.url, "600", *[LINK] * OTHERS]
    others = subprocess.Popen(visitors, stdout=subprocess.DEVNULL)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    try:
        live = LivePage(page, server.url, f"?{LINK}")

        def in_crowd() -> bool:
            """Whoever comes before the others has a run of her own, and comes again."""
            with suppress(Late):
                page.locator(".ohash-crowd svg").nth(3).wait_for(timeout=20_000)
                return True
            page.reload()
            return False

        until(in_crowd, "she is one of many", 300)
        page.evaluate("document.querySelector('.ohash-crowd').mark = 1")
        before = live.pairs
        live.until(lambda: live.pairs > before, "the picture moves")
        assert page.evaluate("document.querySelector('.ohash-crowd').mark") == 1, "and stays where it is"
        assert any("/ohash-pictures/" in url for url in fetched)
        until(lambda: page.locator("canvas").count() == 0, "no chart of her own")
        until(lambda: page.locator(".ohash-headline").count() == 1, "one headline")
        page.get_by_role("radio", name="recall@10").click()
        page.locator(".ohash-crowd figure").first.locator("text", has_text="recall@10").first.wait_for()
        live.slider("beta", "ArrowRight")
        page.locator(".st-key-chart_d canvas").wait_for()
        until(lambda: page.locator(".ohash-crowd").count() == 0, "the picture has gone")
        live.until(lambda: "beta" in live.query, "her change is in the address")
    finally:
        others.kill()
        others.wait()


def test_the_benchmark_of_a_class_times_the_lecturer_beside_visitors_and_pages(browser: Any) -> None:
    results = Results()
    measure_class(3, browser, results, pages=2, opening=5, watching=15)
    assert [row.name.rpartition(": ")[2] for row in results.rows] == [
        "pictures per second of a visitor, median",
        "pictures per second of a page, slowest",
        "memory",
        "lecturer's slider to redraw, median",
        "lecturer's slider to redraw, longest",
    ]
    assert {row.name.partition(":")[0] for row in results.rows} == {"3 on one link and 2 pages"}
    assert all(row.value > 0 for row in results.rows) and results.rows[3].value <= results.rows[4].value
