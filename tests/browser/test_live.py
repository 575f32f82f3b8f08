"""The Live page in a real Chromium."""

import csv
import io
import os
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

from ohash.cli.lab import Dashboard
from ohash.ui.parts.live_chart import CHART_KEYS
from ohash.web.lessons import lessons, without_emphasis
from tests.browser.live_page import LivePage
from tests.browser.wait import place_at_rest, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
DIGITS = "?dataset=digits&method=oh&pairs=100000000"


FRAMES_WITH_A_READ_OUT = """() => new Promise((tell) => {
  const shown = [];
  const look = () => {
    shown.push([...document.querySelectorAll("div")].some((one) => one.style.position === "absolute"
      && one.innerText.includes("each checkpoint") && one.checkVisibility({checkVisibilityCSS: true})));
    shown.length < 60 ? requestAnimationFrame(look) : tell(shown);
  };
  requestAnimationFrame(look);
})"""


@pytest.fixture
def live(page: Any, server: Dashboard) -> LivePage:
    opened = LivePage(page, server.url, DIGITS)
    opened.until(lambda: opened.pairs > 0, what="something moves")
    return opened


def test_something_moves_on_landing(page: Any, server: Dashboard) -> None:
    landing = LivePage(page, server.url)
    landing.until(lambda: landing.pairs > 0, what="a recording or a live run")
    before = landing.pairs
    landing.until(lambda: landing.pairs != before, what="it goes on")
    landing.until(lambda: "recording" not in landing.status, what="the live run takes over")
    landing.until(lambda: page.locator("canvas").count() >= 4, what="four charts")


def test_pause_step_play_reset(live: LivePage) -> None:
    live.until(lambda: live.pairs > 150, what="far enough to see that Reset goes back")
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


def test_a_key_pressed_before_the_buttons_are_drawn_counts(page: Any, server: Dashboard) -> None:
    page.add_init_script("""new MutationObserver((_, watch) => {
      if (!document.querySelector(".ohash-status")) return;
      watch.disconnect();
      document.querySelectorAll(".st-key-play").forEach((drawn) => { drawn.className = "late"; });
      setTimeout(() => document.querySelectorAll(".late").forEach((one) => { one.className = "st-key-play"; }), 500);
      document.body.dispatchEvent(new KeyboardEvent("keydown", {key: " ", bubbles: true}));
    }).observe(document, {childList: true, subtree: true});""")
    live = LivePage(page, server.url, DIGITS)
    live.until(lambda: "paused" in live.status, what="space pauses once there is a button", seconds=30)


def test_a_scene_chosen_before_the_scenes_are_drawn_counts(page: Any, server: Dashboard) -> None:
    page.add_init_script("""new MutationObserver((_, watch) => {
      if (!document.querySelector(".st-key-presenting .ohash-status")) return;
      watch.disconnect();
      document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "2", bubbles: true}));
    }).observe(document, {childList: true, subtree: true});""")
    live = LivePage(page, server.url, f"{DIGITS}&present=loss")
    live.until(lambda: "C=1e-05" in live.query, what="the second scene", seconds=30)
    page.keyboard.press("Space")
    live.until(lambda: "paused" in live.status, what="no key is held back any more", seconds=30)


def test_space_belongs_to_the_control_that_the_keyboard_has_reached(live: LivePage) -> None:
    live.page.get_by_role("button", name="New seed").wait_for()  # the next one, which Tab must find
    live.page.locator(".st-key-reset button").first.focus()
    live.page.keyboard.press("Tab")
    before = live.query
    live.page.keyboard.press("Space")
    live.until(lambda: live.query != before and "seed=" in live.query, what="New seed, and no pause")
    reached = live.query
    live.page.get_by_role("button", name="New seed").click()
    live.until(lambda: live.query != reached and "running" in live.status, what="one more seed, and it runs")
    stood = live.query
    live.page.keyboard.press("Space")
    live.until(lambda: "paused" in live.status, what="after a click Space pauses")
    assert live.query == stood


def test_every_press_counts_once_whenever_it_comes(live: LivePage) -> None:
    moments = random.Random(0)
    for press in range(int(os.environ.get("OHASH_PRESSES", "8"))):
        wanted = "running" if "paused" in live.status else "paused"
        time.sleep(moments.uniform(0, 0.5))  # the timer of the pictures fires five times per second
        live.page.keyboard.press("Space")
        live.until(lambda wanted=wanted: wanted in live.status, what=f"press {press} gives {wanted}", seconds=15)


def test_beta_and_C_act_on_the_running_model(live: LivePage) -> None:
    live.slider("beta", "ArrowRight", 2)
    live.until(lambda: "changes=" in live.query and "beta" in live.query, what="beta in the link")
    live.slider("C", "ArrowRight")
    live.until(lambda: "%3AC%3A" in live.query, what="C in the link")
    assert live.pairs > 0


def test_a_change_while_paused_is_recorded_at_that_pair(live: LivePage) -> None:
    live.paused()
    at = live.pairs
    live.slider("beta", "ArrowLeft")
    live.until(lambda: f"changes={at}%3Abeta" in live.query, what="the change at this very pair")


def test_new_r_leaves_a_ghost(live: LivePage) -> None:
    live.until(lambda: live.pairs > 150, what="a checkpoint")
    live.slider("r", "ArrowRight")
    live.until(lambda: "r=64" in live.query, what="r in the link")
    live.page.get_by_text("New run: r 48 → 64").wait_for()
    live.until(lambda: live.pairs > 0, what="the new run moves")


def test_page_switch_and_back_keeps_the_run(live: LivePage) -> None:
    live.paused()
    stood = live.pairs
    live.page.get_by_role("link", name="Data").first.click()
    live.page.wait_for_url("**/data*")
    live.page.get_by_role("link", name="Live").first.click()
    live.until(lambda: live.pairs == stood, what="the same run")


def test_reload_restarts_from_the_link(live: LivePage) -> None:
    live.slider("r", "ArrowRight")
    live.until(lambda: "r=64" in live.query, what="r in the link")
    live.page.reload()
    live.page.wait_for_selector(".ohash-status")
    assert "r=64" in live.query
    live.until(lambda: live.pairs > 0, what="it starts again")


def test_two_tabs_are_two_runs(live: LivePage, browser: Any, server: Dashboard) -> None:
    live.paused()
    stood = live.pairs
    other = LivePage(browser.new_page(), server.url, DIGITS)
    other.until(lambda: other.pairs > stood, what="the other tab goes on")
    assert live.pairs == stood
    other.page.close()


def test_dropped_connection_comes_back_to_the_same_run(live: LivePage) -> None:
    live.paused()
    stood = live.pairs
    live.page.context.set_offline(True)
    time.sleep(2)
    live.page.context.set_offline(False)
    live.press("Step")
    live.until(lambda: live.pairs == stood + 1, what="the same run, one pair further")


@pytest.mark.parametrize(
    "query",
    [
        "?r=-5&beta=nan&method=%3Cscript%3E&T=999999999",
        "?dataset=own&content=" + "f" * 5000,
        "?dataset=blobs2d&m=100000",
    ],
)
def test_forged_links_give_a_message(page: Any, server: Dashboard, query: str) -> None:
    page.goto(f"{server.url}/{query}")
    message = page.locator("[data-testid=stAlert]").filter(has_text=re.compile("must be|needs an uploaded file"))
    message.first.wait_for()  # the page that is replaced while it is drawn may still show its own
    assert page.get_by_text("Traceback").count() == 0


def test_an_error_inside_a_run_is_shown(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/?dataset=words&method=sdh")
    message = page.locator("[data-testid=stAlert]").filter(has_text="choose a preset")
    message.wait_for()
    assert "labels" in message.inner_text()


def test_export_downloads(live: LivePage) -> None:
    live.until(lambda: live.pairs > 150, what="a checkpoint")
    live.paused()
    live.press("Export")
    with live.page.expect_download() as waiting:
        live.page.get_by_role("button", name="Checkpoints (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text())))
    assert float(rows[0]["pairs"]) == 0 and 0 < float(rows[-1]["map"]) < 1
    with live.page.expect_download() as waiting:
        live.page.get_by_role("button", name="Animation (GIF)").click()
    assert Path(waiting.value.path()).read_bytes().startswith(b"GIF89a")


def test_share_shows_the_link(live: LivePage) -> None:
    live.press("Share")
    live.page.get_by_text("dataset=digits&method=oh&pairs=100000000").first.wait_for()
    code = live.page.get_by_alt_text("QR code of the link")
    live.until(lambda: code.evaluate("image => image.naturalWidth") > 60, what="the picture of the code")
    code.click()
    large = live.page.locator(".ohash-qr-screen img")
    live.until(lambda: large.bounding_box()["height"] > 600, what="the code fills the screen")
    address = live.page.locator(".ohash-qr-screen")
    assert re.fullmatch(r"http://[\w.]+:\d+/?", address.inner_text()), "with the address, to type"
    assert address.evaluate("screen => parseFloat(getComputedStyle(screen).fontSize)") >= 40
    assert address.evaluate("screen => screen.scrollHeight <= innerHeight"), "all of it"
    live.page.keyboard.press("Escape")
    live.until(lambda: large.count() == 0, what="and goes away")


def test_preset_tells_its_story(live: LivePage) -> None:
    live.press("Too timid")
    live.until(lambda: "C=1e-05" in live.query, what="the preset's parameters")
    live.until(lambda: live.pairs > 0, what="it runs")


@pytest.mark.parametrize(("width", "height", "scheme"), [(1280, 800, "dark"), (390, 844, "light")])
def test_dark_and_phone(page: Any, server: Dashboard, width: int, height: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)
    live = LivePage(page, server.url, DIGITS)
    live.until(lambda: live.pairs > 0, what="it runs")
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    background = "getComputedStyle(document.querySelector('.stApp')).backgroundColor"
    live.until(lambda: page.evaluate(overflow) <= 1, what="nothing is wider than the screen")
    live.until(lambda: (page.evaluate(background) != "rgb(255, 255, 255)") == (scheme == "dark"), what=scheme)


def test_charts_of_a_run_that_has_ended_follow_the_theme(page: Any, server: Dashboard) -> None:
    page.emulate_media(color_scheme="light")
    live = LivePage(page, server.url, "?dataset=digits&method=oh&pairs=3000")
    live.until(lambda: "done" in live.status and page.locator("canvas").count() >= 4, what="four charts at the end")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        for chart in CHART_KEYS:
            live.until(
                lambda at=chart, as_in=scheme: is_dark(page, at) == (as_in == "dark"), what=f"{chart} is {scheme}"
            )


def is_dark(page: Any, chart: str) -> bool:
    """Whether the ground of a chart is dark, of which it draws every pixel."""
    corner = f"""document.querySelector(".st-key-{chart} canvas").getContext("2d").getImageData(2, 2, 1, 1).data"""
    red, _, _, opaque = page.evaluate(f"[...{corner}]")
    assert opaque
    return bool(red < 128)


def test_who_wants_no_motion_gets_a_run_that_waits(page: Any, server: Dashboard) -> None:
    page.emulate_media(reduced_motion="reduce")
    live = LivePage(page, server.url, DIGITS)
    live.until(lambda: "paused" in live.status, what="it stands still without being told")
    assert live.pairs == 0
    stood = live.pairs
    live.press("Play")
    live.until(lambda: live.pairs > stood, what="Play starts it")


def test_a_read_out_stays_in_every_frame_while_pictures_come(live: LivePage) -> None:
    live.page.wait_for_selector("canvas")
    read_out = live.page.get_by_text("each checkpoint").locator("visible=true").first

    def pointed_at() -> bool:
        """The charts move while the page is being drawn."""
        chart = live.page.locator("canvas").first.bounding_box()
        live.page.mouse.move(chart["x"] + chart["width"] / 2, chart["y"] + chart["height"] * 0.6)
        return bool(read_out.is_visible())

    live.until(pointed_at, what="a read-out")
    seconds = []
    for _ in range(5):
        before, shown = live.pairs, live.page.evaluate(FRAMES_WITH_A_READ_OUT)
        if live.pairs > before:
            seconds.append(sum(shown) / len(shown))
    assert max(seconds) > 0.95, "in no second was it there throughout; a busy machine may paint before it once"
    assert min(seconds) > 0.5


def test_the_whole_sketch_fits_a_laptop(page: Any, server: Dashboard) -> None:
    """Charts, numbers and the gallery with its signs, above the fold of 1280 x 800; also after another r."""
    live = LivePage(page, server.url)
    live.until(lambda: live.pairs > 0, what="something moves")
    page.wait_for_selector(".ohash-gallery figure:nth-child(11)")
    bottom = "document.querySelector('.ohash-gallery figure:last-child').getBoundingClientRect().bottom"
    live.until(lambda: page.evaluate(bottom) <= 800, what="it fits")
    live.slider("r", "ArrowRight")
    page.get_by_text("New run: r 48 → 64").wait_for()
    live.until(lambda: live.pairs > 0 and page.evaluate(bottom) <= 800, what="it still fits")


def test_on_a_phone_the_sliders_come_before_the_gallery(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    live = LivePage(page, server.url, DIGITS)
    names = ("canvas", ".st-key-rail", ".ohash-gallery", ".st-key-details")
    for name in names:
        live.page.wait_for_selector(name)
    places = "(names) => names.map((name) => document.querySelector(name).getBoundingClientRect().top)"
    live.until(lambda: (tops := page.evaluate(places, names)) == sorted(tops), what=f"{names} in this order")


def right_end_of_the_last_button(bar: Any) -> float:
    """Where it ends after the row was pushed as far as it goes."""
    bar.evaluate("(bar) => bar.scrollLeft = 9999")
    last = bar.locator("button").locator("visible=true").last.bounding_box()
    return float(last["x"] + last["width"])


@pytest.mark.parametrize("path", ["", "compare"])
def test_on_a_phone_a_toolbar_is_one_row_that_fades_where_it_goes_on(page: Any, server: Dashboard, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/{path}")
    for bar in (".st-key-top", ".st-key-transport")[: 1 if path else 2]:  # on Compare the one is inside the other
        shown = page.locator(bar)
        shown.locator("button:visible").first.wait_for()
        until(lambda shown=shown: shown.bounding_box()["height"] < 60, "one row")
        fade = lambda shown=shown: shown.evaluate("(bar) => getComputedStyle(bar).maskImage")  # noqa: E731
        until(lambda fade=fade: "gradient" in fade(), "it fades")
        until(lambda shown=shown: right_end_of_the_last_button(shown) < 352, "the last button is not under the fade")


def test_present_is_large_and_without_the_rail(live: LivePage) -> None:
    live.press("Present")
    live.page.wait_for_selector(".st-key-presenting")
    rail = live.page.locator(".st-key-rail")
    live.until(lambda: not rail.get_by_role("combobox").first.is_visible(), what="the rail is hidden")
    for name in ("β ·", "C ·", "r ·", "T ·"):
        rail.get_by_text(name).first.wait_for()  # docked
    moved = live.pairs
    live.until(lambda: live.pairs > moved, what="it goes on")
    live.page.set_viewport_size({"width": 1920, "height": 1080})
    for what in (".ohash-headline", ".ohash-caption", ".ohash-gallery figure", ".ohash-status", ".st-key-scene_1 p"):
        size = f"parseFloat(getComputedStyle(document.querySelector('.st-key-presenting {what}')).fontSize) >= 20"
        live.until(lambda size=size: live.page.evaluate(size), what=f"{what} in large type")
    live.until(lambda: live.page.locator("canvas").count() == 2, what="two charts")
    live.page.keyboard.press("Escape")
    live.page.wait_for_selector(".st-key-live_page")
    live.until(lambda: "present" not in live.query, what="the address has left it, too")


def test_a_click_on_a_curve_opens_that_pair_step_by_step(live: LivePage) -> None:
    live.until(lambda: live.pairs > 200, what="a curve")
    live.paused()
    page = live.page
    cursor = "document.querySelector('.st-key-chart_c canvas').parentElement.style.cursor"

    def on_curve() -> bool:
        box = place_at_rest(page, page.locator(".st-key-chart_c canvas"))
        for share in range(90, 20, -1):
            page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + share / 100 * box["height"])
            if page.evaluate(cursor) == "pointer":
                return True
        return False

    live.until(on_curve, what="a point of the curve under the pointer")
    time.sleep(0.5)  # the read-out follows the pointer
    hint = page.evaluate(
        "[...document.querySelectorAll('.st-key-chart_c div')].find((one) => one.style.position === 'absolute' "
        "&& one.innerText).innerText"
    )
    pairs = int(re.match(r"[\d,]+", hint)[0].replace(",", ""))
    page.mouse.down()
    page.mouse.up()
    page.get_by_text("Stage 1 of").wait_for()
    until(lambda: f"at={pairs - 1}" in page.evaluate("location.search"), f"the pair in the read-out, {hint}")
    page.get_by_role("link", name="Live").first.click()
    live.until(lambda: live.pairs > 200, what="back, and it stays on Live")


LOWEST = """() => [document.querySelector("[data-testid=stMain]").scrollHeight - innerHeight,
  innerHeight - Math.max(...[...document.querySelectorAll(".st-key-presenting :is(canvas, img, input, p, button)")]
    .map((one) => one.getBoundingClientRect()).filter((box) => box.height).map((box) => box.bottom))]"""


def full(lowest: tuple[float, float], height: int) -> bool:
    """Whether nothing is below the screen and little of it is left empty."""
    below, free = lowest
    return below <= 0 <= free < 0.15 * height


def test_present_fills_the_screen_with_one_thing_and_has_scenes_on_keys(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    live = LivePage(page, server.url, f"{DIGITS}&present=loss")
    for size in ((1920, 1080), (1024, 768)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        live.until(lambda: page.locator("canvas").count() == 1, what="one chart")
        high = lambda size=size: page.locator("canvas").bounding_box()["height"] > 0.55 * size[1]  # noqa: E731
        live.until(high, what=f"it fills {size}")
        live.until(lambda size=size: full(page.evaluate(LOWEST), size[1]), what=f"all of {size}, and nothing below")  # type: ignore[misc]
    page.keyboard.press("2")
    live.until(lambda: "C=1e-05" in live.query and "present=loss" in live.query, what="the second preset, same chart")
    page.reload()
    page.wait_for_selector(".st-key-presenting .ohash-status")
    live.until(
        lambda: page.locator("canvas").count() == 1 and "present=loss" in live.query, what="it survives a reload"
    )
    page.locator("[class*=st-key-w_present_view] input").click()
    page.get_by_role("option", name="Gallery").click()
    live.until(
        lambda: page.locator("canvas").count() == 0 and "present=gallery" in live.query, what="the gallery alone"
    )
    live.until(lambda: page.locator(".ohash-gallery img").first.bounding_box()["height"] > 140, what="large pictures")
    page.get_by_role("link", name="Step by step").click()
    page.get_by_text("Stage 1 of").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Stage 2 of").wait_for()
    page.keyboard.press("ArrowLeft")
    page.get_by_text("Stage 1 of").wait_for()
    live.until(lambda: page.evaluate(LOWEST)[0] <= 0 and "present=" in live.query, what="all of it on the screen")
    page.get_by_role("radio", name="The theory").click()
    page.get_by_text(re.compile("Stage 1 of (1|4)$")).wait_for()
    if page.get_by_text("Stage 1 of 1").count() == 0:  # a pair that updates the model has more to tell
        page.get_by_role("button", name="All", exact=True).click()
    page.get_by_role("slider", name="wrong answers").wait_for()
    page.get_by_text("5 % wrong answers no such W exists").wait_for()
    page.get_by_role("slider", name="wrong answers").press("ArrowRight")
    page.get_by_text("6 % wrong answers no such W exists").wait_for()
    page.get_by_role("link", name="Playground").click()
    page.wait_for_selector(".st-key-presenting .playground[data-agreement]")
    page.keyboard.press("3")
    page.get_by_text("In this lesson only C can be changed").wait_for()
    until(lambda: "present=lesson-3" in page.evaluate("location.search"), "the scene is in the address")
    page.get_by_text(without_emphasis(lessons()[2].question)).wait_for()
    page.reload()
    page.get_by_text(without_emphasis(lessons()[2].question)).wait_for()
    page.wait_for_selector(".playground[data-pairs='0']")
    page.locator("body").press("ArrowRight")
    page.wait_for_selector(".playground[data-pairs='1']")
    until(lambda: page.evaluate(LOWEST)[0] <= 0, "all of it on the screen")
    page.keyboard.press("Escape")
    page.get_by_text("Lessons, five minutes each").wait_for()
    until(lambda: "present" not in page.evaluate("location.search"), "the address has left it, too")


def test_an_equation_stands_at_its_control(live: LivePage) -> None:
    live.paused()
    live.page.get_by_role("button", name="Help for C · aggressiveness").hover()
    live.page.locator("[data-testid=stTooltipContent] .katex").first.wait_for()


def test_a_deep_link_that_comes_first_has_the_navigation(browser: Any) -> None:
    """Two tabs on pages other than the first, before the router has ever run in this server."""
    fresh = Dashboard()
    try:
        pages = [browser.new_page() for _ in range(2)]
        for page, path in zip(pages, ("data", "runs"), strict=True):
            page.goto(f"{fresh.url}/{path}", wait_until="commit")
        for page in pages:
            page.get_by_role("link", name="Compare", exact=True).first.wait_for(timeout=90_000)
            assert page.locator("[data-testid=stSidebarNav]").count() == 0
            page.close()
    finally:
        fresh.stop()


def test_back_leaves_pages_in_the_order_they_were_visited(page: Any, server: Dashboard) -> None:
    live = LivePage(page, server.url)
    live.until(lambda: "dataset=" in live.query, what="the bare address becomes an experiment")
    live.slider("r", "ArrowRight")
    live.until(lambda: "r=64" in live.query, what="another experiment")
    for name in ("Data", "Compare"):
        page.get_by_role("link", name=name, exact=True).first.click()
        until(lambda name=name: f"/{name.lower()}?" in page.evaluate("location.href"), f"{name} has an address")
    page.go_back()
    page.get_by_text("Measured on the data").wait_for()
    page.go_back()
    live.until(lambda: "r=64" in live.query and live.pairs > 0, what="one Back each")


def test_back_leads_from_a_data_set_to_the_list_it_was_chosen_from(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/data?view=all")
    rows = page.locator(".ohash-list [data-row]")
    rows.nth(2).wait_for()
    place_at_rest(page, rows.nth(2))
    rows.nth(2).click()
    page.get_by_text("Measured on the data").wait_for()
    until(lambda: "dataset=" in page.evaluate("location.search"), "the data set has an address")
    chosen = page.evaluate("location.search")
    page.go_back()
    rows.nth(2).wait_for()
    until(lambda: page.evaluate("location.search") == "?view=all", "the list has its address")
    page.go_forward()
    page.get_by_text("Measured on the data").wait_for()
    until(lambda: page.evaluate("location.search") == chosen, "the same data set")


# Which item was clicked: the gallery may be drawn once more after Pause, with other items.
NOTE_ROW = """document.addEventListener("click", (event) => {
  window.row = event.target.closest("[data-row]").dataset.row;
}, {capture: true, once: true})"""


def test_an_item_of_the_gallery_asks_when_it_is_clicked(live: LivePage) -> None:
    live.paused()
    item = live.page.locator(".ohash-gallery [data-row]")
    item.nth(4).wait_for()
    asked = live.page.locator(".ohash-gallery .query img")
    live.page.evaluate(NOTE_ROW)
    item.nth(4).click()
    row = live.page.evaluate("window.row")
    live.until(lambda: asked.get_attribute("alt") == f"item {row}", what="it is the query now")
    item.nth(2).focus()
    row = item.nth(2).get_attribute("data-row")
    live.page.keyboard.press("Enter")
    live.until(lambda: asked.get_attribute("alt") == f"item {row}", what="by the keyboard, too")
    live.press("Next query")
    live.until(lambda: asked.get_attribute("alt") != f"item {row}", what="a query again")
