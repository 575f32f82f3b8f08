"""A recording opened from disk, without a server: it scrubs, plays, obeys keys, and axe has nothing serious to say."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from ohash.cli.main import main
from tests.browser.conftest import PATIENCE
from tests.browser.wait import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "run.html"
    assert main(["run", "--dataset", "digits", "--pairs", "1500", "--quiet", "--recording", str(path)]) == 0
    return path


def moment(page: Any) -> int:
    return int(page.locator(".scrub").input_value())


def test_it_opens_from_disk_scrubs_and_plays(page: Any, file: Path) -> None:
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if request.url.startswith("http") else None)
    page.goto(file.as_uri())
    assert page.locator(".charts svg").count() == 4
    last = moment(page)
    assert page.locator(".pairs").inner_text() == "1,500 pairs"
    title = page.locator("[data-chart=loss] figcaption").inner_text()
    page.keyboard.press("ArrowLeft")
    assert moment(page) == last - 1
    assert page.locator("[data-chart=loss] figcaption").inner_text() != title
    page.locator(".scrub").focus()
    page.keyboard.press("ArrowLeft")
    assert moment(page) == last - 2, "one moment, whether the slider has the focus or not"
    page.locator(".scrub").fill("4")
    assert page.locator(".scrub").get_attribute("aria-valuetext") == page.locator(".pairs").inner_text()
    page.get_by_role("button", name="Play").click()
    until(lambda: moment(page) > 6, "it plays")
    page.get_by_role("button", name="Pause").click()
    rests = moment(page)
    page.keyboard.press("Home")
    assert moment(page) == 0 < rests
    page.locator("h1").click()
    page.keyboard.press(" ")
    until(lambda: moment(page) > 1, "Space plays")
    page.keyboard.press("End")
    assert page.get_by_role("button", name="Play").is_visible()
    assert page.locator("[data-chart=loss] figcaption").inner_text() == title
    assert page.locator(".gallery li").count() == 11
    shown = "all => all.every((one) => one.naturalWidth > 0)"
    until(lambda: page.locator(".gallery img").evaluate_all(shown), "every picture")
    assert not problems


# The type of every text in the charts, in pixels on the screen.
TYPE = """() => [...document.querySelectorAll(".charts svg text")].map((one) => {
  const { a, b } = one.getScreenCTM();
  return parseFloat(getComputedStyle(one).fontSize) * Math.hypot(a, b);
})"""


def test_the_charts_can_be_read_on_a_phone(page: Any, file: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(file.as_uri())
    assert min(page.evaluate(TYPE)) >= 12
    first = page.locator(".charts svg").first
    narrow = first.get_attribute("viewBox")
    page.set_viewport_size({"width": 1280, "height": 800})
    until(lambda: first.get_attribute("viewBox") != narrow, "the wide drawing where there is room")
    page.set_viewport_size({"width": 390, "height": 844})
    until(lambda: first.get_attribute("viewBox") == narrow, "the narrow one again")


def test_what_was_taken_over_goes_on_when_a_phone_is_turned(page: Any, file: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(file.as_uri())
    page.locator(".scrub").fill("8")
    page.locator(".beta").fill("0.8")
    first, says = page.locator(".charts svg").first, page.locator(".over-says")
    narrow, start = first.get_attribute("viewBox"), page.locator(".pairs").inner_text().split()[0]
    says.get_by_text(f"Taken over at pair {start}, ").wait_for()
    page.set_viewport_size({"width": 844, "height": 390})
    until(lambda: first.get_attribute("viewBox") != narrow, "the wide drawing where there is room")
    says.get_by_text(f"Taken over at pair {start}, ").wait_for()
    assert page.locator(".beta").input_value() == "0.8" and page.locator(".over-charts").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_light_dark_and_a_phone(browser: Any, file: Path, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    other = "Light" if scheme == "dark" else "Dark"
    for _ in range(2):
        violations = Axe().run(page).response["violations"]
        assert not [one["id"] for one in violations if one["impact"] in ("serious", "critical")]
        page.get_by_role("button", name=other).click()
        other = "Dark" if other == "Light" else "Light"
    ink = page.locator(".charts svg").first.evaluate("(svg) => getComputedStyle(svg).fill")
    assert ink == page.evaluate("getComputedStyle(document.body).color"), "charts follow the page"
    context.close()
