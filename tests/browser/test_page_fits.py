"""The Live page keeps its charts in view and its parts in their places, in a real Chromium."""

import json
import statistics
import time
from functools import partial
from typing import Any

import pytest

from ohash.cli.bench.ui import SIZES, layout_shift
from ohash.cli.lab import Dashboard
from ohash.ui.session.feed import PATH
from tests.browser.conftest import PATIENCE
from tests.browser.live_page import LivePage
from tests.browser.wait import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TOP = "(name) => document.querySelector(name).getBoundingClientRect().top"
MANY = "?dataset=fashion&noise=0.1&seed=3&alpha=2&similar_share=0.3&kernel=none&order=class"
# Whether the row of chips, which clips them, lies over the status or the headline.
COVERED = """() => {
  const boxes = (name) => [...document.querySelectorAll(name)].map((one) => one.getBoundingClientRect());
  const words = boxes(".ohash-status, .ohash-headline");
  return boxes(".st-key-chips").filter((a) => a.width && words.some((b) => b.width &&
    a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2)).length;
}"""
BELOW = """([one, other]) => document.querySelector(one).getBoundingClientRect().top >=
  document.querySelector(other).getBoundingClientRect().bottom"""
PLACE = "(name) => document.querySelector(name).getBoundingClientRect().top + document.scrollingElement.scrollTop"
INSIDE = """([one, other]) => {
  const [on, under] = [one, other].map((name) => document.querySelector(name).getBoundingClientRect());
  return under.left < on.left && on.right < under.right + 2 && under.top - 2 < on.top && on.bottom < under.bottom + 2;
}"""
PLACES = "(names) => names.map((name) => document.querySelector(name).getBoundingClientRect().toJSON())"
BOTTOM = "(name) => document.querySelector(name).getBoundingClientRect().bottom"


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_jumps_and_the_charts_stay_in_view(browser: Any, server: Dashboard, width: int, height: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(PATIENCE)
    assert layout_shift(page, f"{server.url}/", seconds=2) < 0.1
    for bar in (".st-key-top", ".st-key-transport"):
        until(lambda bar=bar: page.locator(bar).bounding_box()["height"] < 45, "one row each")  # type: ignore[misc]
    last = page.locator(".st-key-rail [data-testid=stExpander] [data-testid=stNumberInput] input").last
    last.scroll_into_view_if_needed()
    seen = lambda: 0 < page.evaluate(TOP, ".st-key-chart_a") < page.evaluate(BOTTOM, ".st-key-chart_b") < height  # noqa: E731
    until(seen, "the charts are seen beside the seed")
    charts = page.evaluate(PLACE, ".st-key-chart_a")
    page.goto(f"{server.url}/{MANY}")
    page.locator(".st-key-chip_seed button:visible").wait_for()
    page.locator(".ohash-status:visible").wait_for()
    page.locator(".st-key-chart_a canvas").first.wait_for()
    until(lambda: page.evaluate(COVERED) == 0, "six chips are one row beside the status, once all are drawn", 10)
    until(lambda: abs(page.evaluate(PLACE, ".st-key-chart_a") - charts) < 2, "and do not move the charts")
    page.locator(".st-key-chips").hover(position={"x": 20, "y": 8})
    last = page.locator(".st-key-chips button:visible").last
    last.click(trial=True)  # those that did not fit are there under the pointer
    until(lambda: last.bounding_box()["x"] + last.bounding_box()["width"] < width, "on the screen")
    page.close()


def test_switches_sit_on_their_charts(page: Any, server: Dashboard) -> None:
    live = LivePage(page, server.url, "?dataset=digits&method=oh&pairs=100000000")
    live.until(lambda: live.pairs > 150, what="a checkpoint")
    for switch, chart in ((".st-key-on_quality", ".st-key-chart_a"), (".st-key-on_loss", ".st-key-chart_c")):
        until(lambda both=[switch, chart]: page.evaluate(INSIDE, both), f"{switch} is on {chart}")  # type: ignore[misc]
    page.get_by_text("Similar pairs should lie at α or below").wait_for()
    page.locator(".st-key-chart_c canvas").first.hover()
    with page.expect_download() as waiting:
        page.locator(".st-key-chart_c").get_by_role("button", name="Download as PNG").click()
    assert waiting.value.suggested_filename == "ohash-digits-oh-r48-seed0-loss.png"
    page.locator(".st-key-pin button").first.click()
    page.get_by_role("button", name="Unpin").first.wait_for()


def test_the_tools_of_a_chart_cover_neither_headline_nor_switches(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})  # where the headline has two lines
    live = LivePage(page, server.url, "?dataset=digits&method=oh&pairs=100000000")
    live.until(lambda: live.pairs > 150, what="a checkpoint")
    for chart in (".st-key-chart_a", ".st-key-chart_b"):
        for above in (".ohash-headline", ".st-key-on_quality"):
            until(partial(_is_above_tools, page, above, chart), f"{above} is above the tools of {chart}", 20)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1024, 768)])
def test_the_tools_of_the_lower_charts_cover_no_caption(page: Any, server: Dashboard, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    live = LivePage(page, server.url, "?dataset=digits&method=oh&pairs=100000000")
    live.until(lambda: live.pairs > 150, what="a checkpoint")
    for chart in (".st-key-chart_c", ".st-key-chart_d"):
        for above in (".of-chart_a", ".of-chart_b"):
            until(partial(_is_above_tools, page, above, chart), f"{above} is above the tools of {chart}", 20)
        until(partial(_is_above_curves, page, chart), f"the curves of {chart} begin under its tools", 20)


def test_a_switch_of_the_toolbar_is_level_with_its_words(page: Any, server: Dashboard) -> None:
    LivePage(page, server.url, "?dataset=digits&method=oh&pairs=100000000")
    label = page.locator("[class*=st-key-w_five_seeds] label")
    switch, words = label.locator("> div").first, label.locator("[data-testid=stMarkdownContainer]")
    until(lambda: abs(_middle(switch) - _middle(words)) < 2, "as high as its words", 20)


def _middle(part: Any) -> float:
    box = part.bounding_box()
    return float(box["y"] + box["height"] / 2)


def _is_above_curves(page: Any, chart: str) -> bool:
    """Whether the tools of a lower chart end where its title and legend do, 45 pixels below its top, or before."""
    drawn, tools = page.evaluate(PLACES, [chart, f"{chart} [data-testid=stElementToolbar]"])
    return bool(tools["bottom"] <= drawn["top"] + 45)


def _is_above_tools(page: Any, above: str, chart: str) -> bool:
    """Whether this ends where the tools of a chart begin, or before; False while either is being drawn.

    The pointer moves each time: a chart that is drawn anew under a pointer at rest does not notice it. Playwright's
    `hover` would wait until the chart rests, which on a busy machine it does not; and between two questions of its own
    `bounding_box` loses words that are drawn five times a second.
    """
    place = page.locator(f"{chart} canvas").first.bounding_box()
    page.mouse.move(place["x"] + 60, place["y"] + 60)
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    first, tools = page.evaluate(PLACES, [above, f"{chart} [data-testid=stElementToolbar]"])
    return bool(first["height"] and tools["height"] and first["bottom"] <= tools["top"])


def test_a_phone_keeps_play_and_a_slider_in_view(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    live = LivePage(page, server.url, "?dataset=digits&method=oh&pairs=100000000")
    slider = live.page.locator(".st-key-dock input[type=range]")
    slider.wait_for()
    live.page.locator(".st-key-chart_d").scroll_into_view_if_needed()
    until(lambda: slider.bounding_box()["y"] < 844, "the slider is on the screen")
    until(live.page.locator(".st-key-dock button").first.is_visible, "and so is Play")
    slider.focus()
    live.page.keyboard.press("ArrowRight")
    live.until(lambda: "%3Abeta%3A" in live.query, what="β acts on the run")
    live.page.locator(".st-key-dock_play button").click()
    live.until(lambda: "paused" in live.status, what="it pauses")
    until(lambda: live.page.get_by_role("button", name="Play").count() > 0, "and offers Play")


@pytest.mark.parametrize("path", ["?dataset=digits&pairs=300", "learn", "step?dataset=digits&pairs=300&at=9", "data"])
def test_a_phone_does_not_pan_sideways(page: Any, server: Dashboard, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/{path}")
    page.locator("h1").first.wait_for(state="attached")
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("(one) => one.clientWidth") == 390
    until(lambda: main.evaluate("(one) => one.scrollWidth") == 390, "nothing is wider than the screen", 20)


def test_the_words_over_the_gallery_have_the_width_of_a_phone(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/?dataset=digits&pairs=500")
    for name in (".st-key-another button", ".st-key-gallery_bar [class*=st-key-w_codes] button"):
        page.locator(name).first.wait_for()
    words = page.locator(".st-key-gallery_bar p").first
    until(lambda: words.bounding_box()["height"] < 60, "at most two lines, with the buttons under them", 20)


def test_a_comparison_does_not_pan_sideways_on_a_phone(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/compare?dataset=digits&pairs=500")
    page.locator(".st-key-another button").wait_for()
    page.locator(".ohash-compare").first.wait_for()
    main = page.locator("[data-testid=stMain]")
    until(lambda: main.evaluate("(one) => one.scrollWidth") == 390, "nothing is wider than the screen", 20)


# Labels of upright lines that lie outside of their chart, or over another label.
CUT_LABELS = """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap((chart) => {
  const frame = chart.getBoundingClientRect(), texts = [...chart.querySelectorAll(".annotation-text")];
  const boxes = texts.map((one) => one.getBoundingClientRect());
  const over = (a, b) => a !== b && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return texts.filter((one, at) => boxes[at].left < frame.left || boxes[at].right > frame.right
    || boxes[at].top < frame.top || boxes.some((other) => over(boxes[at], other))).map((one) => one.textContent);
})"""


@pytest.mark.parametrize("C", ["0.0001", "0.04", "0.05", "0.055", "0.06", "10"])
def test_both_candidates_of_a_step_can_be_read_on_a_phone(page: Any, server: Dashboard, C: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/step?dataset=fashion&pairs=2000&at=1200&stage=all&what_if=C:{C}")
    labels = page.locator(".js-plotly-plot .annotation-text")
    labels.get_by_text(f"C = {C}", exact=True).wait_for(state="attached")
    assert labels.filter(has_text="ℓ/").count() == 1
    until(lambda: not page.evaluate(CUT_LABELS), "neither is cut off or covered", 5)


def test_the_bits_of_a_pair_can_be_read_on_a_phone(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/step?dataset=fashion&pairs=2000&at=1200")
    strips = page.locator(".st-key-step_body img[src^='data:image/svg']:visible")
    strips.wait_for()
    scale, frame, cut = strips.evaluate(
        "(one) => [one.width / one.naturalWidth, one.parentElement.clientWidth, one.parentElement.scrollWidth]"
    )
    assert 16 * scale >= 12 and cut == frame < 390, "names and numbers, and no bit is cut off"


def test_own_two_items_are_chosen_by_what_they_are(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/step?dataset=fashion&pairs=2000&at=9")
    page.locator(".st-key-own_items button").click()
    first, second = (page.locator(f".st-key-own_item_{name}") for name in "ij")
    first.locator("img").wait_for()
    words = second.locator("figcaption").inner_text(), second.locator("img").get_attribute("src")
    second.locator("input").fill("7")
    second.locator("input").press("Enter")
    until(lambda: second.locator("img").get_attribute("src") != words[1], "the picture of the other row")
    number, picture = second.locator("input").bounding_box(), second.locator("img").bounding_box()
    assert picture["x"] > number["x"] and picture["x"] + picture["width"] <= 390, "beside the number, on the screen"
    assert abs(picture["y"] + picture["height"] / 2 - number["y"]) < 60
    page.locator(".st-key-own_use button").click()
    page.get_by_text("rows 0 and 7, a similar pair that you chose").wait_for()


def test_a_remedy_acts_on_the_run_and_ends_its_finding_while_one_watches(page: Any, server: Dashboard) -> None:
    changes = "".join(f"{300 * k}%3Abeta%3A0.{50 + k}%2C" for k in range(1, 5)).removesuffix("%2C")
    live = LivePage(page, server.url, f"?dataset=digits&method=oh&C=0.0001&pairs=100000000&changes={changes}")
    live.until(lambda: live.pairs > 2_000, what="enough pairs to judge")
    page.locator(".st-key-health button").first.click()
    page.get_by_text("raise C above 0.0001").wait_for()
    page.locator(".st-key-remedy_C button:visible").click()
    live.until(lambda: "%3AC%3A" in live.query, what="the change is in the link")
    page.get_by_text("raise C above 0.0001").wait_for(state="detached")
    page.get_by_text("What is checked").wait_for()
    until(lambda: page.locator(".st-key-chart_c").bounding_box()["height"] == 178, "with the marks of five changes")


# Type of less than 20 pixels on the stage, as it is drawn, the playground included; icons are pictures.
SMALL_TYPE = """() => {
  const small = [], visit = (root) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    while (walk.nextNode()) {
      if (walk.currentNode.shadowRoot) visit(walk.currentNode.shadowRoot);
      const one = walk.currentNode.parentElement, text = walk.currentNode.textContent.replace(/[\\s\u200b]/g, "");
      if (walk.currentNode.nodeType !== Node.TEXT_NODE || !text || !one?.checkVisibility()) continue;
      if (one.closest("[data-testid=stIconMaterial], .katex-mathml")) continue;
      let pixels = parseFloat(getComputedStyle(one).fontSize);
      for (let at = one; at; at = at.parentElement ?? at.getRootNode().host)
        pixels *= parseFloat(getComputedStyle(at).zoom) || 1;
      if (pixels < 20 && !one.closest(".katex") && one.getBoundingClientRect().width > 1) small.push([text, pixels]);
    }
  };
  visit(document.querySelector(".st-key-presenting"));
  return small;
}"""
# Equations that are cut off, and pictures that are.
CUT = """() => [...document.querySelectorAll(".st-key-large_stage .katex-display, .st-key-large_stage img")]
  .filter((one) => one.scrollWidth > one.clientWidth + 4 || one.getBoundingClientRect().bottom > innerHeight).length"""


def test_every_stage_of_a_pair_fills_the_screen(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto(f"{server.url}/step?dataset=digits&method=mmoh&T=4&pairs=300&at=100&present=1")
    page.locator(".st-key-large_stage").wait_for()
    page.locator(".st-key-pair_update button").click()
    large, seen = page.locator(".st-key-large_stage"), set()
    for part in ("The update", "The theory"):
        page.get_by_role("radio", name=part).click()
        page.locator(".st-key-stage_again button").click()
        until(lambda: page.get_by_text("Stage 1 of").count() == 1, "the first stage")
        count = int(page.get_by_text("Stage 1 of").inner_text().split()[-1])
        for number in range(1, count + 1):
            page.get_by_text(f"Stage {number} of {count}").wait_for()
            until(lambda n=number: large.inner_text().startswith(f"{n} ·"), "its words")  # type: ignore[misc]
            seen.add(large.inner_text().splitlines()[0])
            for width, height in ((1024, 768), (1920, 1080)):
                page.set_viewport_size({"width": width, "height": height})
                until(lambda h=height: 0.9 * h < page.evaluate(BOTTOM, ".st-key-large_stage") <= h, "full")  # type: ignore[misc]
                until(lambda: page.evaluate(CUT) == 0, "nothing is cut off")
            until(lambda: not page.evaluate(SMALL_TYPE), "no small type")
            page.keyboard.press("ArrowRight")
    assert len(seen) == 12, "seven stages of an update after that of the models, and four of its theory"


def test_what_if_on_stage_leaves_everything_on_the_screen(page: Any, server: Dashboard) -> None:
    run = f"{server.url}/step?dataset=digits&method=mmoh&T=4&r=16&noise=0.1&pairs=1500&at=704&present=1"
    low = """() => Math.max(...[...document.querySelectorAll(".st-key-step_body :is(button, input, img, p)")]
      .map((one) => one.getBoundingClientRect().bottom))"""
    for rest in ("stage=3&what_if=C:0.05,alpha:1", "part=theory&stage=4&what_if=C:0.05"):
        page.set_viewport_size({"width": 1024, "height": 768})
        page.goto(f"{run}&{rest}")
        page.locator(".st-key-large_stage").wait_for()
        page.get_by_text("the model up to this pair is that of the experiment.").wait_for()
        for width, height in ((1024, 768), (1920, 1080)):
            page.set_viewport_size({"width": width, "height": height})
            until(lambda h=height: 0.85 * h < page.evaluate(BOTTOM, ".st-key-large_stage") <= h, "full")  # type: ignore[misc]
            until(lambda h=height: page.evaluate(low) <= h, "all of it is on the screen")  # type: ignore[misc]


ON_STAGE = [*(f"present=lesson-{number}" for number in range(1, 9)), "present=1&r=8&T=4&at=40", "present=1&data=own"]


@pytest.mark.parametrize("link", ON_STAGE)
def test_the_playground_on_stage_is_readable_and_ends_on_the_screen(page: Any, server: Dashboard, link: str) -> None:
    page.goto(f"{server.url}/learn?{link}")
    playground = page.locator(".st-key-presenting .playground.presents")
    playground.wait_for()
    end = lambda: playground.bounding_box()["y"] + playground.bounding_box()["height"]  # noqa: E731
    for width, height in ((1280, 720), (1280, 800), (1366, 768), (1024, 768), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        until(lambda h=height: 0.9 * h < end() <= h, f"it ends on a screen of {width} x {height}")  # type: ignore[misc]
    until(lambda: not page.evaluate(SMALL_TYPE), "no small type")


def test_the_playground_on_stage_makes_room_for_what_is_drawn_above_it_later(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{server.url}/learn?present=lesson-1")
    playground = page.locator(".st-key-presenting .playground.presents")
    playground.wait_for()
    end = lambda: playground.bounding_box()["y"] + playground.bounding_box()["height"]  # noqa: E731
    until(lambda: 0.9 * 800 < end() <= 800, "it ends on the screen")
    page.evaluate("document.querySelector('.st-key-learn_top').style.paddingBottom = '60px'")
    until(lambda: 0.9 * 800 < end() <= 800, "it still ends on the screen")


def test_the_sliders_on_stage_are_on_the_screen_with_the_longest_captions(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/?dataset=digits&method=mmoh&r=24&pairs=100000000&present=1")
    page.get_by_text("The distance is that of the nearest of the models.").wait_for()
    page.locator(".ohash-gallery").wait_for()
    thumbs = page.locator(".st-key-presenting .st-key-rail [role=group] input[type=range]")
    for width, height in ((1280, 800), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        until(lambda: thumbs.count() == 4, "four sliders")
        middles = lambda: [box["y"] + box["height"] / 2 for box in (one.bounding_box() for one in thumbs.all())]  # noqa: E731
        until(lambda middles=middles, height=height: max(middles()) < height, f"on a screen of {width} x {height}")  # type: ignore[misc]
    page.set_viewport_size({"width": 1920, "height": 1080})
    limits = page.locator(".st-key-presenting .st-key-rail [data-testid=stSliderTickBar] p")
    sizes = lambda: limits.evaluate_all("(all) => all.map((one) => parseFloat(getComputedStyle(one).fontSize))")  # noqa: E731
    until(lambda: len(sizes()) == 8 and min(sizes()) >= 20, "the limits of the sliders are readable, too")
    until(lambda: not page.evaluate(SMALL_TYPE), lambda: f"no small type: {page.evaluate(SMALL_TYPE)}")
    after = "parseFloat(getComputedStyle(document.querySelector('.st-key-play button'), '::after').fontSize)"
    assert page.evaluate(after) >= 20, "the key that plays"


def test_a_picture_restyles_only_what_it_changes(page: Any, browser: Any, server: Dashboard) -> None:
    """One rule with :has() on the whole page made the browser match every element again, several times per picture."""
    fetched: list[str] = []
    page.on("response", lambda answer: fetched.append(answer.url) if PATH in answer.url and answer.ok else None)
    live = LivePage(page, server.url, "?dataset=debian")
    live.until(lambda: page.locator("canvas").count() == 4 and live.pairs > 0, what="four charts")
    # the page is drawn once more when the browser begins to fetch pictures
    live.until(lambda: live.pairs > 0 and len(fetched) > 10, what="pictures that are fetched")
    page.wait_for_selector(".ohash-gallery")
    until(lambda: page.evaluate(BELOW, [".ohash-status", ".st-key-transport"]), "the status is below the buttons")
    assert page.locator(".st-key-chips").count() == 0
    before = live.pairs
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    live.until(lambda: live.pairs > before, what="a picture")
    time.sleep(2)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    restyled = [one["args"]["elementCount"] for one in events if "elementCount" in one.get("args", {})]
    elements = page.evaluate("document.querySelectorAll('*').length")
    assert len(restyled) > 4 and statistics.median(restyled) < 0.05 * elements, (restyled, elements)
    whole = sum(count > 0.5 * elements for count in restyled)  # the page itself is drawn again now and then
    assert whole < len(restyled) / 4, (restyled, elements)
