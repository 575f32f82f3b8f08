"""Between two pictures of Streamlit the browser fetches others; where it finds no charts, Streamlit draws all."""

from typing import Any

import pytest

from ohash.cli.lab import Dashboard
from ohash.ui.session.feed import PATH
from tests.browser.live_page import LivePage
from tests.browser.wait import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ENDLESS = "?dataset=digits&method=oh&pairs=100000000"
# Charts as ECharts shows them a moment after a picture was fetched, beside what was fetched.
WATCH = """() => {
  const find = (element) => {
    const name = Object.keys(element).find((one) => one.startsWith("__reactFiber$"));
    for (let fiber = element[name]; fiber; fiber = fiber.return)
      for (let hook = fiber.memoizedState; hook && "next" in hook; hook = hook.next)
        if (hook.memoizedState && hook.memoizedState.setOption) return hook.memoizedState;
  };
  const get = window.fetch;
  window.fetched = [];
  window.fetch = async (...request) => {
    const answer = await get(...request);
    if (answer.status !== 200 || !String(request[0]).startsWith("/ohash-changes")) return answer;
    const picture = await answer.clone().json(), before = document.querySelector(".ohash-status").dataset.seq;
    if (!request[0].endsWith(`shown=${before}`)) return answer;
    setTimeout(() => {
      const shown = picture.charts.map(([key, alt, option]) => {
        const element = document.querySelector(`.st-key-${key} [_echarts_instance_]`), now = find(element).getOption();
        const labelled = element.getAttribute("aria-label") === alt;
        const tables = (option.dataset || []).map((one, at) => !one.source || JSON.stringify(Object.values(one.source))
          === JSON.stringify(one.dimensions.map((name) => [...now.dataset[at].source[name] ?? []])));
        return labelled && tables.every(Boolean) && now.series.length > 1 && Boolean(now.title[0].text);
      });
      const words = document.querySelector(".ohash-words").outerHTML === picture.words;
      const changed = picture.charts.filter((one) => one[2].dataset).length;
      window.fetched.push({ shown: words && shown.every(Boolean), changed });
    }, 50);
    return answer;
  };
}"""
NO_CHARTS = """() => {
  const keys = Object.keys;
  Object.keys = (one) => keys(one).filter((name) => !name.startsWith("__reactFiber$"));
}"""


def test_a_fetched_picture_is_what_charts_and_words_show(page: Any, server: Dashboard) -> None:
    live = LivePage(page, server.url, ENDLESS)
    page.locator("canvas").nth(3).wait_for()
    page.evaluate("document.querySelectorAll('canvas').forEach((one) => { one.mark = 1; })")
    page.evaluate(WATCH)
    pictures = lambda: page.evaluate("window.fetched")  # noqa: E731
    live.until(lambda: sum(one["shown"] for one in pictures()) >= 5, what="five pictures that were fetched")
    assert max(one["changed"] for one in pictures()) >= 2, "several charts have moved"
    assert page.evaluate("[...document.querySelectorAll('canvas')].every((one) => one.mark)"), "none was mounted again"
    live.paused()
    rest = len(pictures())
    before = live.pairs
    page.wait_for_timeout(1500)
    assert len(pictures()) <= rest + 1 and live.pairs == before, "a run at rest is not fetched"


def test_a_moved_slider_is_shown_by_a_picture_that_the_browser_asks_for_at_once(page: Any, server: Dashboard) -> None:
    live = LivePage(page, server.url, ENDLESS)
    page.locator("canvas").nth(3).wait_for()
    page.evaluate(WATCH)
    live.until(lambda: page.evaluate("window.fetched").__len__() >= 2, what="two pictures that were fetched")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if PATH in request.url else None)
    slider = page.locator(".st-key-rail [data-testid=stSlider] input[type=range]").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    live.until(lambda: page.locator(".ohash-status").get_attribute("data-changes") == "1", what="the change")
    assert sum("&changes=0" in one for one in asked) == 1
    live.until(lambda: page.locator(".st-key-chip_beta").count() == 1, what="the chip of the change")
    live.until(lambda: "beta%3A0.51" in live.query, what="the change in the address")


def test_without_the_charts_of_streamlit_nothing_is_fetched_and_all_goes_on(page: Any, server: Dashboard) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if PATH in request.url else None)
    page.add_init_script(f"({NO_CHARTS})()")
    live = LivePage(page, server.url, ENDLESS)
    for _ in range(5):
        before = live.pairs
        until(lambda now=before: live.pairs > now, "the next picture")  # type: ignore[misc]
    assert not asked
