"""No serious finding of axe-core on any page, light and dark; headings, titles, and what a screen reader is told."""

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image

from ohash.cli.lab import Dashboard
from tests.browser.conftest import new_page
from tests.browser.wait import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
# Where each page is, its title, and what it shows when it is ready.
PAGES = {
    "?dataset=digits&method=oh&pairs=300": ("Live", ".ohash-gallery figure:nth-child(11)"),
    "compare?methods=lsh,itq&dataset=digits": ("Compare", "[data-testid=stMultiSelect] [data-tag]"),
    "learn#data=rings&features=rbf&at=200": ("Learn", ".playground[data-pairs='200']"),
    "step?dataset=digits&method=oh&pairs=300&at=100": ("Step by step", ".ohash-pair figure"),
    "step?dataset=digits&method=oh&pairs=300&at=101&present=1": ("Step by step", ".st-key-large_stage img"),
    "data": ("Data", ".ohash-items figure"),
    "data?view=all": ("Data", ".ohash-table"),
    "data?view=own": ("Data", "[data-testid=stCode] .token"),
    "advise?advise=1&dataset=digits&queries=20&pairs=200&splits=1": (
        "Learn or rotate?",
        ".ohash-verdict[data-state=done]",
    ),
    "runs": ("Runs", "[data-testid=stMainBlockContainer] button"),
    "sweeps": ("Sweeps", "[data-testid=stMultiSelect] [data-tag]"),
    "paper": ("Paper", ".claims tr"),  # after many seconds of computing the first time
}
MOVING = "document.querySelectorAll('[data-stale=true], [data-testid=stStatusWidget]').length"
GROUND = "getComputedStyle(document.querySelector('.stApp')).backgroundColor"


@pytest.fixture(scope="module")
def tab(visitor: Any) -> Iterator[Any]:
    with new_page(visitor) as page:
        yield page


@pytest.mark.parametrize("path", PAGES)
def test_axe_has_nothing_serious_to_say(tab: Any, server: Dashboard, path: str) -> None:
    title, ready = PAGES[path]
    tab.emulate_media(color_scheme="light")
    tab.goto(f"{server.url}/{path}")
    tab.wait_for_selector(ready)
    until(lambda: tab.title() == f"{title} · ohash", "its own title")
    until(lambda: tab.locator("h1").all_inner_texts() == [title], "one heading, which is the title")
    assert not serious_findings(tab, "light")
    tab.emulate_media(color_scheme="dark")
    tab.reload()  # colours that the server chose
    tab.wait_for_selector(ready)
    assert not serious_findings(tab, "dark")


def serious_findings(tab: Any, scheme: str) -> list[tuple[str, str]]:
    until(lambda: (tab.evaluate(GROUND) == "rgb(255, 255, 255)") == (scheme == "light"), f"it is {scheme}")
    until(lambda: tab.evaluate(MOVING) == 0, "nothing is faded because it is being drawn again, or fades in")
    return [
        (one["id"], node["html"][:160])
        for one in Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


# Equations and pictures that are wider than they may be, with their sizes.
SIDEWAYS = """() => [...document.querySelectorAll(".st-key-step_body .katex-display, .st-key-step_body img")]
  .filter((one) => one.scrollWidth > one.clientWidth + 2 || one.getBoundingClientRect().right > innerWidth)
  .map((one) => `${one.alt ?? one.textContent.slice(0, 80)}: ${one.scrollWidth} in ${one.clientWidth} pixels, up to ${
    one.getBoundingClientRect().right}; ${one.outerHTML.replace(/src="[^"]*"/, "").slice(0, 200)}`)"""


def test_a_phone_shows_equations_and_codes_without_scrolling_sideways(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/step?dataset=digits&method=oh&pairs=300&at=100&stage=7")
    until(lambda: page.locator(".st-key-step_body .katex-display").count() == 17, "all stages of the update")
    until(lambda: page.locator(".st-key-step_body .ohash-narrow:visible").count() == 3, "the strips of all stages")
    assert page.locator(".st-key-step_body .ohash-wide:visible").count() == 0
    until(lambda: not page.evaluate(SIDEWAYS), lambda: f"nothing is wider than the screen: {page.evaluate(SIDEWAYS)}")


@pytest.mark.parametrize(
    "part",
    [
        "[data-testid=stTopNavLink]",
        "[data-testid=stCheckbox] input",
        ".st-key-chart_a [data-testid=stElementToolbar] button",
        ".st-key-rail input[type=range]",
        ".ohash-gallery [data-row]",
    ],
)
def test_what_the_keyboard_has_reached_is_seen(tab: Any, server: Dashboard, part: str) -> None:
    if "pairs=300" not in tab.url or "step" in tab.url:
        tab.goto(f"{server.url}/?dataset=digits&method=oh&pairs=300")
    tab.wait_for_selector(".ohash-gallery figure:nth-child(11)")
    until(lambda: "done" in tab.locator(".ohash-status").inner_text() and tab.evaluate(MOVING) == 0, "it is at rest")
    tab.evaluate("document.activeElement.blur()")
    reached = tab.locator(part).first
    drawn = reached.locator("xpath=ancestor::label[1]/span/following-sibling::div[1]") if "input" in part else reached
    box = (drawn if drawn.count() else reached).bounding_box()
    around = {"x": box["x"] - 4, "y": box["y"] - 4, "width": box["width"] + 8, "height": box["height"] + 8}
    at_rest = pixels(tab, around)

    def looks_otherwise() -> bool:
        reached.evaluate("one => one.focus({focusVisible: true})")  # a last redraw of the run may have taken it away
        return bool(np.sum(abs(pixels(tab, around) - at_rest) > 50) > 60)

    until(looks_otherwise, "it looks clearly otherwise", seconds=5)


def pixels(tab: Any, clip: dict[str, float]) -> np.ndarray:
    """The brightness of a part of the page."""
    return np.asarray(Image.open(io.BytesIO(tab.screenshot(clip=clip))).convert("L"), int)


def test_a_screen_reader_is_told_the_headline_and_the_distance_of_an_item(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/?dataset=digits&method=oh&pairs=300")
    page.wait_for_selector(".ohash-gallery figure:nth-child(11)")
    headline = page.locator(".ohash-headline")
    announced = page.locator(".ohash-says[role=status]")
    until(lambda: "has learnt from pairs of" in announced.inner_text() == headline.inner_text(), "the words, politely")
    name = page.locator(".ohash-gallery [data-row]").first.get_attribute("aria-label")
    assert "relevant, " in name and " bit" in name


def test_the_introduction_leads_to_a_lesson_and_does_not_come_back(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/?dataset=digits&method=oh&pairs=300")
    words = page.get_by_text("A hash code is a short row of bits")
    words.wait_for()
    page.wait_for_selector(".st-key-preset_timid button")
    page.get_by_role("link", name="See codes form").click()
    page.wait_for_selector(".playground[data-pairs]")
    until(lambda: page.evaluate("location.pathname") == "/learn", "its address")
    page.goto(f"{server.url}/?dataset=digits&method=oh&pairs=300")
    page.wait_for_selector(".ohash-intro", state="attached")
    assert not words.is_visible()
