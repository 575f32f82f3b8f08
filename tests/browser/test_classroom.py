"""A class with a real lecturer and a real student: follow me, leave, come back; and the board."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from ohash.cli.lab import Dashboard
from tests.browser.conftest import PATIENCE, new_page
from tests.browser.live_page import LivePage
from tests.browser.wait import until

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]
KEY = "a-key-of-the-tests"


@pytest.fixture(scope="module")
def classroom(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    started = Dashboard(OHASH_HOME=str(tmp_path_factory.mktemp("class")), OHASH_KEY=KEY)
    yield started
    started.stop()


@pytest.fixture(scope="module")
def visitors(browser: Any) -> Iterator[list[Any]]:
    """The browser of a lecturer, and one that has not shown the key; their caches keep the scripts."""
    contexts = [browser.new_context(viewport={"width": 1280, "height": 800}) for _ in range(2)]
    for context in contexts:
        context.set_default_timeout(PATIENCE)
    yield contexts
    for context in contexts:
        context.close()


@pytest.fixture
def lecturer(visitors: list[Any], classroom: Dashboard) -> Iterator[Any]:
    with new_page(visitors[0]) as page:
        yield page
        number = page.goto(f"{classroom.url}/ohash-class").json()["number"]
        stopped = page.request.post(f"{classroom.url}/ohash-class", data="", headers={"x-ohash": str(number)})
        assert stopped.json()["place"] == "", "nobody leads when the next test begins"


@pytest.fixture
def student(visitors: list[Any]) -> Iterator[Any]:
    with new_page(visitors[1]) as page:
        yield page


def where(page: Any) -> str:
    return str(page.evaluate("location.pathname + location.search"))


def lead_from(lecturer: Any, classroom: Dashboard) -> None:
    """A lecturer on Live, with a class that follows."""
    lecturer.goto(f"{classroom.url}/?dataset=digits&method=oh&pairs=2000&r=32&key={KEY}")
    LivePage(lecturer)
    lecturer.get_by_role("button", name="Follow me").click()
    lecturer.get_by_text("The class follows you.").wait_for()


def place(page: Any) -> str:
    """What the server tells a class."""
    return str(page.evaluate("fetch('/ohash-class').then((answer) => answer.json()).then((now) => now.place)"))


def press_beta(lecturer: Any) -> None:
    lecturer.locator(".st-key-rail [class*=st-key-w_beta_] input[type=range]").first.focus()
    lecturer.keyboard.press("ArrowRight")


def test_a_press_reaches_the_class_although_requests_fail_and_one_never_ends(
    lecturer: Any, classroom: Dashboard
) -> None:
    ends, held = ["abort", "error", "never"], []
    lead_from(lecturer, classroom)
    until(lambda: "r=32" in place(lecturer), "the place is known")

    def spoil(route: Any) -> None:
        if route.request.method != "POST" or not ends:
            route.continue_()
        elif (end := ends.pop(0)) == "abort":
            route.abort()
        elif end == "error":
            route.fulfill(status=503)
        else:
            held.append(route)

    lecturer.route("**/ohash-class", spoil)
    press_beta(lecturer)
    until(lambda: "beta" in place(lecturer), "the class is told")
    assert not ends and held, "after three requests that came to nothing"
    now = place(lecturer)
    press_beta(lecturer)
    until(lambda: place(lecturer) != now, "the next press is told")
    newest = place(lecturer)
    late = held[0].request
    answer = lecturer.context.request.post(
        f"{classroom.url}/ohash-class", data=late.post_data, headers={"x-ohash": late.headers["x-ohash"]}
    )
    assert answer.ok and answer.json()["place"] == newest, "one that comes late changes nothing"
    lecturer.get_by_text("The class follows you.").wait_for()


def opened(page: Any) -> list[str]:
    return [one.strip() for one in page.locator(".st-key-lessons details[open] summary").all_inner_texts()]


def test_a_class_sees_the_lesson_that_the_lecturer_opens(lecturer: Any, student: Any, classroom: Dashboard) -> None:
    lead_from(lecturer, classroom)
    follow(student, classroom)
    lecturer.get_by_role("link", name="Learn", exact=True).click()
    lesson = lambda number: lecturer.locator(".st-key-lessons summary").nth(number - 1)  # noqa: E731
    lesson(3).click()
    until(lambda: len(opened(student)) == 1 and opened(student) == opened(lecturer), "the same lesson")
    assert "Lesson 3" in opened(student)[0]
    with new_page(student.context) as late:
        late.goto(classroom.url)
        until(lambda: "Lesson 3" in "".join(opened(late)), "also who comes late")
    student.locator(".st-key-lessons summary").nth(4).click()
    student.wait_for_timeout(5000)
    assert "Lesson 5" in opened(student)[0], "she may read another one"
    lesson(2).click()
    until(lambda: "Lesson 2" in "".join(opened(student)) and len(opened(student)) == 1, "the next one")
    lesson(2).click()
    until(lambda: not opened(student), "and none")
    assert "lesson=" not in where(student) + where(lecturer), "the address is that of the playground"
    assert student.evaluate("window.kept"), "in the same document"


COUNT = "window.turns = []; addEventListener('popstate', () => window.turns.push(location.href))"
BITS = ".st-key-rail [class*=st-key-w_r_] input[type=range]"


def follow(student: Any, classroom: Dashboard) -> None:
    """Be on Live with the lecturer, in a document that has a mark, which a load would remove."""
    student.goto(classroom.url)
    until(lambda: "r=32" in where(student), "the student is where the lecturer is")
    LivePage(student)
    student.evaluate(f"window.kept = true; {COUNT}")


def test_a_class_turns_to_the_page_that_the_lecturer_goes_to_once(
    lecturer: Any, student: Any, classroom: Dashboard
) -> None:
    lead_from(lecturer, classroom)
    follow(student, classroom)
    loads: list[str] = []
    student.on("domcontentloaded", lambda page: loads.append(page.url))
    lecturer.get_by_role("link", name="Learn", exact=True).click()
    until(lambda: where(student).startswith("/learn?"), "the student is on Learn, where the playground has its link")
    until(lambda: where(student) == where(lecturer), "the same one")
    student.wait_for_timeout(7000)
    assert not loads and len(student.evaluate("window.turns")) == 1, (loads, student.evaluate("window.turns"))


def test_a_follower_sees_what_the_lecturer_does_in_the_same_document(
    lecturer: Any, student: Any, classroom: Dashboard
) -> None:
    lead_from(lecturer, classroom)
    follow(student, classroom)
    chart = lambda words: student.locator(f".st-key-moving div[aria-label*='{words}']")  # noqa: E731
    chart("of 32 bits").wait_for()
    lecturer.locator(BITS).focus()
    lecturer.keyboard.press("ArrowRight")
    chart("of 48 bits").wait_for()
    until(lambda: where(student) == where(lecturer), "the same address")
    bits = lambda: [page.locator(BITS).get_attribute("aria-valuetext") for page in (lecturer, student)]  # noqa: E731
    until(lambda: bits() == ["48", "48"], "the same number of bits on both sliders")
    press_beta(lecturer)
    until(lambda: "0.51" in student.locator(".st-key-chips_row").inner_text(), "she sees the lecturer's beta")

    lecturer.get_by_role("link", name="Learn", exact=True).click()
    student.locator(".playground").wait_for()
    pairs = lambda page: page.locator(".playground").get_attribute("data-pairs")  # noqa: E731
    until(lambda: where(student) == where(lecturer), "the playground is the lecturer's")
    lecturer.get_by_role("button", name="Start over").click()
    if lecturer.get_by_role("button", name="Pause", exact=True).count():
        lecturer.get_by_role("button", name="Pause", exact=True).click()
    turns = len(student.evaluate("window.turns"))
    lecturer.locator(".playground .scrub").fill("0")
    lecturer.get_by_role("button", name="Step", exact=True).click()
    lecturer.get_by_role("button", name="Step", exact=True).click()
    until(lambda: pairs(student) == pairs(lecturer) == "2", "the same pair")
    assert len(student.evaluate("window.turns")) == turns, "without the server"
    lecturer.get_by_role("button", name="Present").click()
    student.locator(".st-key-presenting .playground").wait_for()
    bar = lambda: student.locator(".ohash-class").bounding_box()  # noqa: E731
    until(lambda: bar()["x"] > 1200 and bar()["width"] < 80, "on the stage only the button is left, in the corner")
    lecturer.keyboard.press("4")
    until(lambda: "lesson-4" in where(student) and pairs(student) == "2000", "the scene")
    until(lambda: student.locator(".ohash-scene[aria-current]").inner_text() == "4 What β does", "it is marked")
    until(lambda: "β" in student.locator(".ohash-question").inner_text(), "its question")
    lecturer.keyboard.press("Escape")
    until(lambda: not student.locator(".st-key-presenting").count(), "both have left the stage")

    student.get_by_role("button", name="Leave").click()
    lecturer.get_by_role("link", name="Live", exact=True).first.click()
    until(lambda: place(lecturer).startswith("/?dataset"), "the class is told")
    student.wait_for_timeout(4500)
    assert where(student).startswith("/learn"), "she has left"
    student.get_by_role("button", name="Follow the lecturer").click()
    until(lambda: where(student) == where(lecturer), "and is back")
    LivePage(student)
    assert student.evaluate("window.kept"), "one document for all of it"


RUN = """(one) => { const { run, playing } = one.playground;
  const W = JSON.stringify(run.models.map((columns) => columns.map((w) => [...w])));
  return { playing, t: run.t, beta: run.params.beta, seed: run.first.seed, W }; }"""


def test_a_class_sees_the_playground_play_and_rest_where_the_lecturer_does(
    lecturer: Any, student: Any, classroom: Dashboard
) -> None:
    run = lambda page: page.locator(".playground").evaluate(RUN)  # noqa: E731
    button = lambda page, name: page.locator(".playground").get_by_role("button", name=name, exact=True)  # noqa: E731
    lecturer.goto(f"{classroom.url}/learn?data=moons&seed=3&r=4&pace=10&at=100&key={KEY}")
    lecturer.get_by_role("button", name="Follow me").click()
    lecturer.get_by_text("The class follows you.").wait_for()
    student.goto(classroom.url)
    until(lambda: where(student) == where(lecturer) and student.locator(".playground").count() == 1, "on Learn")
    until(lambda: run(student) == run(lecturer), "the same pair, at rest")
    student.evaluate("window.kept = true; window.opened = 0; addEventListener('ohash-place', () => window.opened += 1)")
    named: list[str] = []
    lecturer.on("request", lambda one: named.append(one.post_data or "") if one.method == "POST" else None)

    button(lecturer, "Play").click()
    until(lambda: run(student)["playing"] and run(student)["t"] > 105, "hers plays, too")
    lecturer.wait_for_timeout(6000)
    assert run(student)["playing"] and run(lecturer)["playing"]
    assert student.evaluate("window.opened") == 1 and len(named) == 1, "told once, whatever time passes"
    with new_page(student.context) as late:
        late.goto(classroom.url)
        until(lambda: late.locator(".playground").count() == 1 and run(late)["playing"], "who comes late sees it, too")

    lecturer.locator(".playground").get_by_role("slider", name="β").press("ArrowRight")
    until(lambda: run(student)["beta"] == run(lecturer)["beta"] > 0.5, "her slider, while it plays")
    assert run(student)["playing"] and student.evaluate("window.opened") == 2

    button(lecturer, "Pause").click()
    until(lambda: run(student) == run(lecturer), "the same pair and the same W, bit for bit")
    assert not run(student)["playing"] and student.evaluate("window.opened") == 3

    button(lecturer, "Play").click()
    button(lecturer, "Pause").click()
    lecturer.locator(".playground .scrub").fill("50")
    until(lambda: run(student) == run(lecturer) and run(student)["t"] == 50, "back at another pair")
    button(lecturer, "Play").click()
    until(lambda: run(student)["playing"] and run(student)["t"] < 200, "from there")
    button(student, "Pause").click()
    student.wait_for_timeout(5000)
    assert not run(student)["playing"], "a student may stop hers"
    button(lecturer, "Pause").click()
    until(lambda: run(student) == run(lecturer), "and is with the lecturer when she rests")
    assert student.evaluate("window.kept"), "in the same document"


LOSE = """() => {
  const send = window.dispatchEvent, here = location.href;
  window.dispatchEvent = function (event) {
    if (event.type !== "popstate" || window.lost) return send.call(window, event);
    window.lost = true;
    history.replaceState(history.state, "", here);  // as a frame under way does, with a message that overtakes this one
    window.stood = location.search;
    return true;
  };
}"""


def test_a_turn_that_was_lost_is_made_again(lecturer: Any, student: Any, classroom: Dashboard) -> None:
    lead_from(lecturer, classroom)
    follow(student, classroom)
    student.evaluate(LOSE)
    lecturer.locator(BITS).focus()
    lecturer.keyboard.press("ArrowRight")
    until(lambda: student.evaluate("window.lost") is True, "it was lost")
    assert "r=32" in student.evaluate("window.stood")
    until(lambda: student.locator(BITS).get_attribute("aria-valuetext") == "48", "and made again")
    assert student.evaluate("window.kept"), "without a load"


def test_the_key_is_in_no_link_that_a_lecturer_copies(lecturer: Any, classroom: Dashboard) -> None:
    lecturer.add_init_script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    lecturer.goto(f"{classroom.url}/learn?key={KEY}&data=moons&seed=3&at=20")
    lecturer.locator("[data-press=link]").click()
    until(lambda: "seed=3" in str(lecturer.evaluate("window.copied")), "the link is copied")
    assert KEY not in lecturer.evaluate("window.copied")
    until(lambda: "key=" not in where(lecturer), "it is taken out of the address")
    assert "seed=3" in where(lecturer)
    lecturer.reload()
    lecturer.get_by_role("button", name="Follow me").wait_for()


def test_another_window_of_the_lecturer_is_not_led_away(lecturer: Any, student: Any, classroom: Dashboard) -> None:
    other = student  # a browser that has not shown the key yet
    lead_from(lecturer, classroom)
    until(lambda: "r=32" in place(lecturer), "the place is known")
    other.goto(f"{classroom.url}/?dataset=digits&method=oh&pairs=2000&r=24&key={KEY}")
    LivePage(other)
    other.get_by_role("button", name="Follow me").wait_for()
    assert "r=24" in where(other)


def test_when_the_lecturer_has_left_a_student_stays_and_follows_again_when_she_is_back(
    lecturer: Any, student: Any, classroom: Dashboard
) -> None:
    with new_page(lecturer.context) as closed:
        lead_from(closed, classroom)
        follow(student, classroom)
        closed.close(run_before_unload=True)
        student.get_by_text("The lecturer has left.").wait_for(timeout=20_000)
        student.get_by_role("link", name="Data", exact=True).click()
        until(lambda: where(student).startswith("/data"), "she goes where she likes")
        student.reload()
        student.get_by_text("The lecturer has left.").wait_for(timeout=30_000)
        student.wait_for_timeout(5000)
        assert where(student).startswith("/data"), "and stays there"
    lead_from(lecturer, classroom)
    until(lambda: "r=32" in where(student), "she follows again, to the same place")
    student.get_by_text("You follow the lecturer.").wait_for()
    lecturer.reload()
    lecturer.get_by_text("The class follows you.").wait_for()
    student.wait_for_timeout(3000)
    assert student.get_by_text("You follow the lecturer.").is_visible(), "a page loaded again has not left"


# What the bar of the class lies over: nothing but the header.
UNDER_THE_BAR = """() => {
  const bar = document.querySelector(".ohash-class"), box = bar.getBoundingClientRect(), under = new Set();
  for (let x = box.left + 1; x < box.right; x += 6)
    for (let y = box.top + 1; y < box.bottom; y += 6)
      for (const one of document.elementsFromPoint(x, y))
        if (!bar.contains(one) && one.closest("button, input, label, a, p, img, canvas, [role=slider], .ohash-intro"))
          under.add(one.tagName + one.className);
  return [...under];
}"""


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1024, 768)])
def test_the_bar_of_the_class_covers_nothing(lecturer: Any, classroom: Dashboard, width: int, height: int) -> None:
    lecturer.set_viewport_size({"width": width, "height": height})
    lead_from(lecturer, classroom)
    for name in ("Compare", "Data", "Learn", "Live"):
        lecturer.get_by_role("link", name=name, exact=True).first.click()
        lecturer.locator("main [data-testid=stButton], .playground").first.wait_for()
        until(lambda: not lecturer.evaluate(UNDER_THE_BAR), f"the bar covers nothing of {name}", 20)
    lecturer.locator(".ohash-class").get_by_role("button", name="Stop").click()
    until(lambda: place(lecturer) == "", "the class is told of nothing that is under way")


def test_on_a_phone_the_bar_is_in_the_header_wherever_one_scrolls(
    lecturer: Any, student: Any, classroom: Dashboard
) -> None:
    student.set_viewport_size({"width": 390, "height": 844})
    try:
        lead_from(lecturer, classroom)
        student.goto(classroom.url)
        student.get_by_text("You follow the lecturer.").wait_for()
        LivePage(student)
        header, bar = student.locator("[data-testid=stHeader]"), student.locator(".ohash-class")
        inside = lambda: bar.bounding_box()["y"] + bar.bounding_box()["height"] <= header.bounding_box()["height"]  # noqa: E731
        assert inside() and bar.bounding_box()["y"] >= 0 and bar.get_by_role("button", name="Leave").is_visible()
        student.locator("[data-testid=stMain]").evaluate("(one) => one.scrollTo(0, 700)")
        assert inside(), "over no chart"
        lecturer.goto("about:blank")
        student.get_by_text("The lecturer has left.").wait_for(timeout=20_000)
        assert inside(), "its longest sentence, too"
    finally:
        student.set_viewport_size({"width": 1280, "height": 800})


LATE = """() => {
  const ask = window.fetch, now = performance.now.bind(performance), late = new DOMException("late", "TimeoutError");
  window.asked = window.later = 0;
  performance.now = () => now() + window.later;
  window.fetch = (to, ...rest) => (to === "/ohash-class" ? Promise.reject(late, window.asked += 1) : ask(to, ...rest));
  window.answer = () => { window.fetch = ask; };
}"""


def test_a_server_that_compiles_is_called_silent_after_a_minute_only(lecturer: Any, classroom: Dashboard) -> None:
    lead_from(lecturer, classroom)
    lecturer.evaluate(LATE)
    until(lambda: lecturer.evaluate("window.asked") >= 2, "two requests whose answers are late", 20)
    assert lecturer.get_by_text("The class follows you.").is_visible()
    lecturer.evaluate("window.later = 60_000")
    lecturer.get_by_text("The server does not answer; trying again.").wait_for()
    lecturer.evaluate("window.answer()")
    lecturer.get_by_text("The class follows you.").wait_for()


def test_the_bar_of_the_class_is_dark_where_the_page_is(lecturer: Any, classroom: Dashboard) -> None:
    color = "getComputedStyle(document.querySelector('.ohash-class')).backgroundColor"
    try:
        for scheme, expected in (("dark", "rgb(20, 40, 59)"), ("light", "rgb(232, 241, 250)")):
            lecturer.emulate_media(color_scheme=scheme)
            lecturer.goto(f"{classroom.url}/learn?key={KEY}")
            lecturer.get_by_role("button", name="Follow me").wait_for()
            until(lambda expected=expected: lecturer.evaluate(color) == expected, f"the bar is {scheme}", 20)
    finally:
        lecturer.emulate_media(color_scheme=None)


def test_whoever_has_left_has_left_in_windows_that_she_opens_later(
    lecturer: Any, student: Any, classroom: Dashboard
) -> None:
    lead_from(lecturer, classroom)
    follow(student, classroom)
    other = student.context.new_page()
    follow(other, classroom)
    student.get_by_role("button", name="Leave").click()
    student.get_by_role("button", name="Follow the lecturer").wait_for()
    student.get_by_role("link", name="Learn", exact=True).first.click()
    with student.context.expect_page() as opens:
        student.locator(".playground .elsewhere").get_by_role("link", name="Live").click()
    hers = opens.value
    hers.get_by_role("button", name="Follow the lecturer").wait_for()
    hers.wait_for_timeout(3000)
    assert "playground-blobs" in where(hers), "her own points"
    assert other.get_by_text("You follow the lecturer.").is_visible(), "a window keeps to its own choice"
    for page in (student, other, hers):
        page.close()
    back = student.context.new_page()
    back.goto(f"{classroom.url}/data")
    back.get_by_role("button", name="Follow the lecturer").click()
    until(lambda: "r=32" in where(back), "she follows again")
    later = student.context.new_page()
    later.goto(f"{classroom.url}/data")
    until(lambda: "r=32" in where(later), "and so does a window that she opens now")


def enter_board(page: Any, name: str) -> str:
    """Put the run of a page on the board; returns the answer, once all of it is to be seen."""
    live = LivePage(page)
    live.until(lambda: "done" in live.status, what="the end of the run")
    live.press("Share")
    menu = page.locator("[data-testid=stPopoverBody]").filter(visible=True)
    menu.get_by_label("Name on the board").fill(name)
    menu.get_by_label("Name on the board").press("Enter")
    menu.get_by_role("button", name="Enter this run").click()
    answer = menu.get_by_text(re.compile("is on the board with|the board takes at most"))
    answer.wait_for()

    def whole() -> bool:
        box, frame = answer.bounding_box(), menu.bounding_box()
        return bool(frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"])

    until(whole, "the answer is inside the menu, wherever that was scrolled to", 20)
    return str(answer.inner_text())


def test_the_board_ranks_only_what_was_judged_alike(lecturer: Any, student: Any, classroom: Dashboard) -> None:
    small = f"{classroom.url}/?dataset=digits&method=oh&pairs=200"
    student.goto(f"{small}&r=12")
    enter_board(student, "Ada")
    student.get_by_role("cell", name="Ada", exact=True).wait_for()
    lecturer.goto(f"{small}&r=16&key={KEY}")
    enter_board(lecturer, "Bob")
    assert lecturer.get_by_role("cell", name="Ada", exact=True).count() == 1
    for other in ("similar_by=metric", "database=seen"):
        lecturer.goto(f"{small}&r=16&{other}")
        enter_board(lecturer, "Eve")
        assert lecturer.get_by_role("cell", name="Eve", exact=True).count() == 1
        assert lecturer.get_by_role("cell", name="Ada", exact=True).count() == 0, other
    lecturer.goto(f"{small}&r=17&method=mmoh&T=4")
    assert enter_board(lecturer, "Bob") == "This run has 68 bits; the board takes at most 64."


def test_a_student_follows_leaves_and_comes_back(lecturer: Any, student: Any, classroom: Dashboard) -> None:
    lecturer.goto(f"{classroom.url}/?dataset=digits&method=oh&pairs=2000&r=32&key={KEY}")
    LivePage(lecturer)
    student.goto(f"{classroom.url}/data")
    student.get_by_role("link", name="Compare", exact=True).first.wait_for()
    assert student.locator(".ohash-class").is_hidden()
    lecturer.get_by_role("button", name="Follow me").click()
    lecturer.get_by_text("The class follows you.").wait_for()
    until(lambda: "r=32" in where(student), "the student is where the lecturer is")
    assert KEY not in where(student)
    named: list[str] = []
    lecturer.on("request", lambda one: named.append(one.post_data or "") if one.method == "POST" else None)
    for _ in range(8):
        press_beta(lecturer)
        lecturer.wait_for_timeout(500)
    until(lambda: "beta" in where(student), "the student sees the lecturer's beta")
    assert len([one for one in named if "beta" in one]) <= 2, "a class goes there once per sweep, not once per value"
    lecturer.get_by_role("link", name="Learn", exact=True).click()
    until(lambda: where(student).startswith("/learn"), "on another page")
    student.get_by_role("button", name="Leave").click()
    student.get_by_role("button", name="Follow the lecturer").wait_for()
    lecturer.get_by_role("link", name="Live", exact=True).first.click()
    LivePage(lecturer)
    until(lambda: place(lecturer).startswith("/?dataset"), "the class is told")
    lecturer.wait_for_timeout(4500)
    assert where(student).startswith("/learn"), "she has left"
    student.get_by_role("button", name="Follow the lecturer").click()
    until(lambda: where(student).startswith("/?dataset=digits"), "and is back")
    status = (
        "() => fetch('/ohash-class', {method: 'POST', body: '/runs', headers: {'x-ohash': '0'}}).then((a) => a.status)"
    )
    assert student.evaluate(status) == 403, "a student leads nobody"

    live = LivePage(student)
    live.until(lambda: live.pairs > 150, what="a score")
    live.press("Share")
    student.get_by_label("Name on the board").fill("<b>Eve</b>")
    student.get_by_label("Name on the board").press("Enter")
    student.get_by_role("button", name="Enter this run").click()
    student.get_by_text("is on the board with").wait_for()
    LivePage(lecturer).press("Share")
    lecturer.get_by_role("cell", name="<b>Eve</b>").wait_for()
    lecturer.locator(".ohash-class").get_by_role("button", name="Stop").click()  # Streamlit has one, too
    until(lambda: student.locator(".ohash-class").is_hidden(), "nobody leads any more")
