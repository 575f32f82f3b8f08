"""A closed tab ends its run; a server limit makes runs wait in line."""

import time
from typing import Any

import pytest

from ohash.cli.lab import Dashboard
from tests.browser.live_page import LivePage

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]
DIGITS = "?dataset=digits&method=oh&pairs=100000000"


def test_beyond_the_limit_runs_wait_and_a_closed_tab_makes_room(browser: Any) -> None:
    server = Dashboard(OHASH_MAX_RUNS="1")
    try:
        first = LivePage(browser.new_page(), server.url, DIGITS)
        first.until(lambda: first.pairs > 0, what="the first run moves")
        second = browser.new_page()
        second.goto(f"{server.url}/{DIGITS}")
        second.get_by_text("in line").wait_for(timeout=60_000)
        closed_at = time.monotonic()
        first.page.close()
        second.wait_for_selector(".ohash-status", timeout=60_000)
        assert time.monotonic() - closed_at < 45  # 10 s of grace, the watchdog's rhythm, and a busy machine
        second.close()
    finally:
        server.stop()
