"""The Live page in a real Chromium."""

import time
from typing import Any

import pytest

from ohash.cli.browser import Dashboard
from tests.browser.live_page import LivePage

pytestmark = [pytest.mark.browser, pytest.mark.slow]
DIGITS = "?dataset=digits&method=oh&pairs=100000000"


@pytest.fixture
def live(page: Any, server: Dashboard) -> LivePage:
    opened = LivePage(page, server.url, DIGITS)
    opened.until(lambda: opened.pairs > 0, what="something moves")
    time.sleep(2)  # the first run of the page is over: a user needs longer to find a control
    return opened


def test_something_moves_on_landing(page: Any, server: Dashboard) -> None:
    landing = LivePage(page, server.url)
    landing.until(lambda: landing.pairs > 0, what="a recording or a live run")
    before = landing.pairs
    landing.until(lambda: landing.pairs != before, what="it goes on")
    landing.until(lambda: "recording" not in landing.status, what="the live run takes over")
    landing.until(lambda: page.locator("canvas").count() >= 4, what="four charts")


def test_pause_step_play_reset(live: LivePage) -> None:
    live.paused()
    stood = live.pairs
    time.sleep(1)
    assert live.pairs == stood
    live.press("Step")
    live.until(lambda: live.pairs == stood + 1, what="one more pair")
    live.press("Play")
    live.until(lambda: live.pairs > stood + 1, what="it goes on")
    live.press("Reset")
    live.until(lambda: live.pairs < stood, what="from the beginning")


def test_keyboard(live: LivePage) -> None:
    live.page.keyboard.press("Space")
    live.until(lambda: "paused" in live.status, what="space pauses")
    stood = live.pairs
    live.page.keyboard.press("ArrowRight")
    live.until(lambda: live.pairs == stood + 1, what="the right arrow steps")
    live.page.keyboard.press("r")
    live.until(lambda: live.pairs == 0, what="R resets")


def test_page_switch_and_back_keeps_the_run(live: LivePage) -> None:
    live.paused()
    stood = live.pairs
    live.page.get_by_role("link", name="Data").first.click()
    live.page.wait_for_url("**/data*")
    live.page.get_by_role("link", name="Live").first.click()
    live.until(lambda: live.pairs == stood, what="the same run")


@pytest.mark.parametrize(
    "query", ["?r=-5&beta=nan&method=%3Cscript%3E&T=999999999", "?dataset=own&content=" + "f" * 5000]
)
def test_forged_links_give_a_message(page: Any, server: Dashboard, query: str) -> None:
    page.goto(f"{server.url}/{query}")
    message = page.locator("[data-testid=stAlert]").first
    message.wait_for()
    assert page.get_by_text("Traceback").count() == 0
    assert "must be" in message.inner_text() or "needs data" in message.inner_text()


def test_an_error_inside_a_run_is_shown(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/?dataset=blobs2d&method=oh&m=100000")
    page.locator("[data-testid=stAlert]").first.wait_for()
    assert "m must be" in page.locator("[data-testid=stAlert]").first.inner_text()
