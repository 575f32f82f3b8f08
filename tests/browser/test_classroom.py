"""A class with a real lecturer and a real student: follow me, leave, come back; and the board."""

from collections.abc import Iterator
from typing import Any

import pytest

from ohash.cli.browser import Dashboard
from tests.browser.conftest import PATIENCE
from tests.browser.live_page import LivePage
from tests.browser.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
KEY = "a-key-of-the-tests"


@pytest.fixture
def classroom(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    started = Dashboard(OHASH_HOME=str(tmp_path_factory.mktemp("class")), OHASH_KEY=KEY)
    yield started
    started.stop()


def tab(browser: Any) -> Any:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(PATIENCE)
    return page


def where(page: Any) -> str:
    return str(page.evaluate("location.pathname + location.search"))


def test_a_student_follows_leaves_and_comes_back(browser: Any, classroom: Dashboard) -> None:
    lecturer, student = tab(browser), tab(browser)
    lecturer.goto(f"{classroom.url}/?dataset=digits&method=oh&r=32&key={KEY}")
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
    lecturer.locator(".st-key-rail [class*=st-key-w_beta_] input[type=range]").first.focus()
    for _ in range(8):
        lecturer.keyboard.press("ArrowRight")
        lecturer.wait_for_timeout(500)
    until(lambda: "beta" in where(student), "the student sees the lecturer's beta")
    assert len([one for one in named if "beta" in one]) <= 2, "a class goes there once per sweep, not once per value"
    lecturer.get_by_role("link", name="Learn", exact=True).click()
    until(lambda: where(student).startswith("/learn"), "on another page")
    student.get_by_role("button", name="Leave").click()
    student.get_by_role("button", name="Follow the lecturer").wait_for()
    lecturer.get_by_role("link", name="Live", exact=True).first.click()
    LivePage(lecturer)
    lecturer.wait_for_timeout(4500)
    assert where(student).startswith("/learn"), "she has left"
    student.get_by_role("button", name="Follow the lecturer").click()
    until(lambda: where(student).startswith("/?dataset=digits"), "and is back")
    status = (
        "() => fetch('/ohash-class', {method: 'POST', body: '/runs', headers: {'x-ohash': '1'}}).then((a) => a.status)"
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
    lecturer.get_by_role("button", name="Stop").click()
    until(lambda: student.locator(".ohash-class").is_hidden(), "nobody leads any more")
    for page in (lecturer, student):
        page.context.close()
