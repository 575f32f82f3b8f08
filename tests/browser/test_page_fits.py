"""The Live page keeps its charts in view and its parts in their places, in a real Chromium."""

from typing import Any

import pytest

from ohash.cli.bench.ui import SIZES, layout_shift
from ohash.cli.browser import Dashboard
from tests.browser.live_page import LivePage
from tests.browser.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TOP = "(name) => document.querySelector(name).getBoundingClientRect().top"
MANY = "?dataset=fashion&noise=0.1&seed=3&alpha=2&similar_share=0.3&kernel=none&order=class"
# Chips that lie over the status or the headline.
COVERED = """() => {
  const boxes = (name) => [...document.querySelectorAll(name)].map((one) => one.getBoundingClientRect());
  const words = boxes(".ohash-status, .ohash-headline");
  return boxes(".st-key-chips button").filter((a) => a.width && words.some((b) => b.width &&
    a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2)).length;
}"""
BOTTOM = "(name) => document.querySelector(name).getBoundingClientRect().bottom"


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_jumps_and_the_charts_stay_in_view(browser: Any, server: Dashboard, width: int, height: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": height})
    assert layout_shift(page, f"{server.url}/", seconds=2) < 0.1
    for bar in (".st-key-top", ".st-key-transport"):
        assert page.locator(bar).bounding_box()["height"] < 45, "one row each"
    last = page.locator(".st-key-rail [data-testid=stExpander] [data-testid=stNumberInput] input").last
    last.scroll_into_view_if_needed()
    assert 0 < page.evaluate(TOP, ".st-key-chart_a") < page.evaluate(BOTTOM, ".st-key-chart_b") < height, "the seed"
    page.goto(f"{server.url}/{MANY}")
    page.locator(".st-key-chip_seed button:visible").wait_for()
    page.locator(".ohash-status:visible").wait_for()
    assert page.evaluate(COVERED) == 0, "six chips push the words down"
    page.close()


def test_switches_sit_on_their_charts(page: Any, server: Dashboard) -> None:
    live = LivePage(page, server.url, "?dataset=digits&method=oh&pairs=100000000")
    live.until(lambda: live.pairs > 150, what="a checkpoint")
    for switch, chart in ((".st-key-on_quality", ".st-key-chart_a"), (".st-key-on_loss", ".st-key-chart_c")):
        on, under = page.locator(switch).bounding_box(), page.locator(chart).bounding_box()
        assert under["x"] < on["x"] and on["x"] + on["width"] < under["x"] + under["width"] + 2
        assert under["y"] - 2 < on["y"] and on["y"] + on["height"] < under["y"] + under["height"] + 2
    page.get_by_text("Similar pairs should lie left of α").wait_for()
    page.locator(".st-key-chart_c canvas").first.hover()
    with page.expect_download() as waiting:
        page.locator(".st-key-chart_c").get_by_role("button", name="Download as PNG").click()
    assert waiting.value.suggested_filename == "ohash-digits-oh-r48-seed0-loss.png"
    page.locator(".st-key-pin button").first.click()
    page.get_by_role("button", name="Unpin").first.wait_for()


def test_a_phone_keeps_play_and_a_slider_in_view(browser: Any, server: Dashboard) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    live = LivePage(context.new_page(), server.url, "?dataset=digits&method=oh&pairs=100000000")
    slider = live.page.locator(".st-key-dock input[type=range]")
    slider.wait_for()
    live.page.locator(".st-key-chart_d").scroll_into_view_if_needed()
    assert slider.bounding_box()["y"] < 844 and live.page.locator(".st-key-dock button").first.is_visible()
    slider.focus()
    live.page.keyboard.press("ArrowRight")
    live.until(lambda: "%3Abeta%3A" in live.query, what="β acts on the run")
    live.page.locator(".st-key-dock_play button").click()
    live.until(lambda: "paused" in live.status, what="it pauses")
    until(lambda: live.page.get_by_role("button", name="Play").count() > 0, "and offers Play")
    context.close()
