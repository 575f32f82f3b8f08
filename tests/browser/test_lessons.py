"""What the lessons say of a run is what the playground shows, and both are seen together."""

import re
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ohash.cli.lab import Dashboard
from ohash.web import points_picture
from ohash.web.bundle import script, standalone
from ohash.web.lessons import lessons
from tests.browser.wait import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

READINGS = {
    "agreement": r"Label agreement \(mAP\)\s+[\d.]+ → ([\d.]+)",
    "loss": r"dashed\s+([\d,.]+);",
    "frozen": r"dashed\s+[\d,.]+; ([\d,.]+)",
    "R": r"R\s=\s([\d.]+)\.",
    "tau": r"τ = C = ([\d.]+)",
    "ratio": r"capped from ([\d.]+)\.",
}


def reading(page: Any, what: str) -> float:
    """What a check is about: a number beside a chart, or the lowest share of one class in the table of codes."""
    if what == "purity":
        shares = page.locator(".buckets td:nth-child(3)").all_inner_texts()
        return min(float(share.strip().removesuffix("%")) for share in shares) / 100
    if what == "codes":
        more = re.search(r"and (\d+) more code", page.inner_text(".buckets"))
        return page.locator(".buckets tbody tr").count() + int(more[1] if more else 0)
    return float(re.search(READINGS[what], page.inner_text("body"))[1].replace(",", ""))


@pytest.mark.nightly
def test_every_claim_of_the_lessons(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "play.html"
    file.write_text(standalone(), encoding="utf-8")
    checks = sorted((link, lesson.title, *check) for lesson in lessons() for link, *check in lesson.checks)
    wrong = []
    for link, of_this_state in groupby(checks, key=itemgetter(0)):
        at = dict(part.split("=") for part in link.split("&")).get("at", "1")
        page.goto("about:blank")
        page.goto(f"{file.as_uri()}#{link}" + ("" if "at=" in link else "&at=1"))
        pairs = f"{int(at):,} pair"
        until(lambda pairs=pairs: pairs in page.inner_text("body"), f"{pairs}s of {link}")
        for _, title, what, sign, bound in of_this_state:
            value = reading(page, what)
            if not {"<": value < bound, ">": value > bound, "=": value == bound}[sign]:
                wrong.append(f"{title}: {link}: {what} is {value}, not {sign} {bound}")
    assert len(checks) >= 60 and not wrong, "\n".join(wrong)


SCROLLS = """() => { const panel = document.querySelector(".st-key-lessons");
  return Math.max(panel.scrollHeight - panel.clientHeight, panel.getBoundingClientRect().bottom - innerHeight); }"""


SIDE_BY_SIDE = """() => {
  const [one, other] = [".st-key-learn_playground", ".st-key-lessons"].map((name) => document.querySelector(name));
  return one.getBoundingClientRect().right <= other.getBoundingClientRect().left;
}"""


def end_of(what: Any) -> float:
    box = what.bounding_box()
    return box["y"] + box["height"]


@pytest.mark.nightly
def test_a_lesson_and_the_playground_are_on_one_screen(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/learn")
    page.locator(".playground").wait_for()
    for number in range(1, 9):
        lesson = lessons()[number - 1]
        shown = page.locator("[data-testid=stExpander]").filter(has_text=f"Lesson {number} · {lesson.title}")
        shown.locator("summary").click()
        shown.locator("details[open]").wait_for()
        until(lambda: page.locator(".st-key-lessons details[open]").count() == 1, "only this lesson is open")
        shown.get_by_role("link", name=f"Set the playground for “{lesson.title}”").click()
        page.set_viewport_size({"width": 1024, "height": 768})
        free = page.locator(".playground .rail label:visible input").last
        last = shown.get_by_role("radio").last
        for what in (shown.get_by_role("link"), last, free, page.locator(".playground .plane"), page.locator(".bar")):
            until(lambda what=what: end_of(what) <= 768, f"{what} of {lesson.title} on a screen of 1024 x 768")  # type: ignore[misc]
        until(lambda: page.evaluate(SIDE_BY_SIDE), "the lesson does not cover the playground")
        beyond = page.locator(".buckets").evaluate("(one) => one.scrollWidth - one.clientWidth")
        assert beyond <= 0, f"the table of codes is {beyond} pixels too wide in {lesson.title}"
        page.set_viewport_size({"width": 1280, "height": 800})
        shown.get_by_text(lesson.right, exact=True).click()
        shown.get_by_text("Right.", exact=True).wait_for()
        for seen in (page.locator(".playground .plane"), page.locator(".playground .bar"), shown.get_by_text("Try.")):
            until(lambda seen=seen: seen.bounding_box()["y"] >= 0 and end_of(seen) <= 800, f"{seen} of {lesson.title}")  # type: ignore[misc]
        page.locator(".playground .locked").wait_for()
        until(lambda: page.evaluate(SCROLLS) <= 0, "all of it is seen without scrolling")
        for wrong in (option for option in lesson.options if option != lesson.right):
            shown.get_by_text(wrong, exact=True).click()
            shown.get_by_text(f"Not quite: {lesson.right}.", exact=True).wait_for()
            until(lambda: page.evaluate(SCROLLS) <= 0, f"also after a wrong answer to {lesson.title}")


TABS = """() => [...document.querySelectorAll(".st-key-lessons details:not([open]) summary p")]
  .filter((tab) => tab.innerText.startsWith("Lesson")).map((tab) => {
    const text = document.createTreeWalker(tab, NodeFilter.SHOW_TEXT).nextNode();
    const end = tab.getBoundingClientRect().right;
    const box = (from, to) => {
      const range = document.createRange();
      range.setStart(text, from);
      range.setEnd(text, to);
      return range.getBoundingClientRect();
    };
    return box(0, "Lesson 1".length).right <= end && end <= box("Lesson 1 ".length, "Lesson 1 ·".length).left + 1;
  })"""


def test_on_a_phone_a_lesson_brings_its_playground_and_its_setting_into_view(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/learn")
    page.locator(".playground").wait_for()
    lesson = lessons()[4]
    shown = page.locator("[data-testid=stExpander]").filter(has_text=f"Lesson 5 · {lesson.title}")
    shown.locator("summary").click()
    until(lambda: page.evaluate(TABS) == [True] * 7, "each of the other tabs ends after its number, before the dot")
    shown.get_by_role("link", name=f"Set the playground for “{lesson.title}”").click()
    plane, play = page.locator(".playground .plane"), page.locator(".playground [data-press=play]")
    until(lambda: end_of(plane) <= 844, "the picture that the lesson set is on the screen")
    free = page.locator(".playground .rail label:visible input")
    assert free.evaluate_all("(all) => all.map((one) => one.name)") == ["C", "pace"], "the others are out of the way"
    header = end_of(page.locator("[data-testid=stHeader]"))
    until(
        lambda: header <= play.bounding_box()["y"] < end_of(play) < free.first.bounding_box()["y"], "under the header"
    )
    assert end_of(free.first) < plane.bounding_box()["y"], "the setting is beside what it changes"
    page.locator(".playground .buckets").scroll_into_view_if_needed()
    until(lambda: header - 1 <= play.bounding_box()["y"] < header + 40, "Play stays there while one scrolls")
    play.click()
    until(lambda: play.inner_text() == "Pause", "and can be pressed")


UNSEEN = """() => {
  const { params } = readLink("LINK"), run = new PlaygroundRun(params), unseen = [];
  for (let t = 0; t <= 10; t++) {
    run.seek(t);
    run.models[0].forEach((w, k) => { if (!lineSegments(w).length) unseen.push([t, k + 1]); });
  }
  return [unseen, settingWords(3000), settingWords(0.001)];
}"""


def test_every_boundary_of_one_update_is_in_the_picture_and_long_numbers_have_commas(page: Any) -> None:
    page.add_script_tag(content=script())
    assert page.evaluate(UNSEEN.replace("LINK", lessons()[2].link)) == [[], "3,000", "0.001"]


CHANCE = """() => {
  const run = new PlaygroundRun({ ...DEFAULTS, data: "rings", r: 16 }), { u } = randomNumbers(1), n = 50;
  const random = () => run.measure([run.labels.map(() => Math.floor(65536 * u()))]);
  const mean = [...Array(n)].reduce((sum) => sum + random() / n, 0);
  return [run.measure([run.labels.map(() => 0)]), mean].map((value) => value.toFixed(2));
}"""


def test_the_level_of_chance_in_the_lesson_on_kernels_is_that_of_random_codes_and_of_one_code(page: Any) -> None:
    page.add_script_tag(content=script())
    levels = page.evaluate(CHANCE)
    text = " ".join(lessons()[5].text.split())
    assert levels[0] == levels[1] and f"know nothing of the colours have {levels[0]}." in text


LOW_MOMENTS = """(C) => {
  const run = new PlaygroundRun({ ...DEFAULTS, data: "moons", features: "rbf", r: 16, noise: 0.2, C });
  let low = 0;
  for (let t = 1000; t <= 2500; t += 50) { run.seek(t); low += run.now < 0.8; }
  return low;
}"""


def test_with_wrong_answers_a_large_C_makes_the_curve_fall_again_and_again(page: Any) -> None:
    page.add_script_tag(content=script())
    assert page.evaluate(LOW_MOMENTS, 0.05) <= 1
    assert page.evaluate(LOW_MOMENTS, 10) >= 5


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_a_handout_is_one_page_with_its_picture_and_its_answer(browser: Any, paper: str) -> None:
    page = browser.new_page()
    strokes = ",".join(f"0:paint:{c}{''.join(f'{k:02d}{k:02d}' for k in range(99))}" for c in range(4))
    longest = max(lessons(), key=lambda lesson: len(f"{lesson.text}{lesson.question}{lesson.answer}{lesson.exercise}"))
    for lesson in (*lessons(), replace(longest, link=f"data=own&at=0&changes={strokes}")):
        page.set_content(lesson.handout("http://192.168.178.21:8501/learn"))
        picture = page.locator("figure svg").bounding_box()
        assert picture["width"] > 150 and abs(picture["width"] - picture["height"]) < 2, "a square plane"
        assert len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(format=paper))) == 1, lesson.title
    page.close()


def test_the_picture_of_a_handout_has_the_defaults_marks_and_colours_of_the_playground(scratch: Any) -> None:
    defaults, roles, half, corners = scratch.evaluate("[DEFAULTS, CLASS_ROLES, HALF, CORNERS]")
    assert {key: str(defaults[key]) for key in points_picture.DEFAULTS} == points_picture.DEFAULTS
    assert (tuple(roles), half) == (points_picture.ROLES, points_picture.HALF)
    assert all(np.array_equal(places, points_picture.CORNERS[int(label)]) for label, places in corners.items())
    assert scratch.evaluate("[SHAPES.own.title, SHAPES.drift.drift, LONGEST]") == [
        points_picture.OWN_TITLE,
        *points_picture.DRIFTS.values(),
        points_picture.LONGEST,
    ]


@pytest.mark.parametrize(
    "link",
    [
        "data=moons&seed=7",
        "data=xor&at=30&changes=20:erase:0,20:move:0.i0i0,30:paint:3h0h0,31:erase:1",
        "data=own&at=40&changes=40:move:3.zz00,0:paint:0h0h0h0h0k0k0,0:paint:1i0i0i0i0,3:erase:99,2:paint:9i0i0",
        "at=0&changes=0:paint:2" + "h0k0" * 300,
        "data=drift&at=250",
        "data=blobs&at=90&drift=3&changes=30:drift:12,60:paint:1k0k0,60:drift:0",
    ],
)
def test_the_picture_of_a_handout_has_the_points_that_its_link_opens_with(scratch: Any, link: str) -> None:
    places, labels = scratch.evaluate(
        """(link) => { const { params, events, at } = readLink(link), run = new PlaygroundRun(params, events);
          run.seek(at); return [run.places(), run.labels]; }""",
        link,
    )
    drawn = points_picture.points_of(link)
    assert [label for _, label in drawn] == labels
    np.testing.assert_allclose([place for place, _ in drawn], places, rtol=0, atol=1e-9)
