"""The Compare page in a real Chromium: from opening it to a verdict, an export and a reference on Live."""

import csv
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ohash.cli.lab import Dashboard
from tests.browser.conftest import new_page
from tests.browser.wait import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SMALL = "?dataset=digits&methods=oh,itq,sign&bits=32&pairs=3000"


@pytest.fixture(scope="module")
def tab(visitor: Any, server: Dashboard) -> Iterator[Any]:
    """One tab with a small comparison that is over, for all tests of its results."""
    with new_page(visitor) as page:
        page.goto(f"{server.url}/compare{SMALL}")
        page.get_by_text("Costs, measured on this machine").wait_for()
        page.locator(".ohash-verdict[data-state=done]").wait_for()
        yield page


@pytest.fixture
def compared(tab: Any) -> Any:
    """The comparison, with no popover open."""
    tab.keyboard.press("Escape")
    tab.locator("[data-testid=stPopoverBody]").wait_for(state="hidden")  # closing it reruns the page
    tab.wait_for_timeout(500)
    tab.locator("[data-test-script-state=notRunning]").wait_for()
    tab.locator(".ohash-verdict[data-state=done]").wait_for()
    return tab


def test_a_verdict_results_and_costs(compared: Any) -> None:
    until(lambda: "compared with the others" in compared.locator(".ohash-verdict").first.inner_text(), "a verdict")
    until(lambda: "Results" in compared.locator("body").inner_text(), "results")
    until(lambda: "bytes" in compared.locator(".ohash-costs").first.inner_text(), "costs")
    until(lambda: compared.locator("canvas").count() >= 8, "four charts, and quality against cost in four more")
    until(lambda: compared.locator(".ohash-fair").count() >= 4, "a fairness line under every chart")


def test_results_can_be_taken_home(compared: Any) -> None:
    compared.get_by_role("button", name="Export").click()
    with compared.expect_download() as waiting:
        compared.get_by_role("button", name="Results (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text())))
    assert rows[0]["method"] == "OH" and len(rows) == 4, "three methods and the float vectors"
    with compared.expect_download() as waiting:
        compared.get_by_role("button", name="Table (LaTeX)").click()
    assert "\\toprule" in Path(waiting.value.path()).read_text()
    with compared.expect_download() as waiting:
        compared.get_by_role("button", name="This comparison as a page (HTML)").click()
    assert Path(waiting.value.path()).read_text().count('<figure role="img"') >= 8, "with the figures of costs"
    with compared.expect_download() as waiting:
        compared.get_by_role("button", name="Code for this comparison").click()
    assert "ohash.compare('digits', ['oh', 'itq', 'sign']" in Path(waiting.value.path()).read_text()


def test_an_encoder_can_be_taken_home(compared: Any) -> None:
    with compared.expect_download() as waiting:
        compared.get_by_role("button", name="Download this encoder").click()
    assert {"model.npz", "codes.npy", "index.npz", "encoder.py"} <= set(
        zipfile.ZipFile(waiting.value.path()).namelist()
    )


@pytest.mark.nightly
def test_an_encoder_can_be_taken_while_other_seeds_learn(visitor: Any, server: Dashboard) -> None:
    with new_page(visitor) as page:
        page.goto(f"{server.url}/compare?dataset=digits&methods=oh,mlh&bits=32&pairs=100000&seeds=5")
        take = page.locator(".st-key-compare_take button").first
        until(take.is_enabled, "the curve of the first seed has ended")
        for _ in range(4):  # a press on a button that is drawn anew would be lost
            with page.expect_download() as waiting:
                take.click()
            assert "model.npz" in zipfile.ZipFile(waiting.value.path()).namelist()
            page.wait_for_timeout(1300)
        assert page.get_by_text("Failed to generate").count() == 0
        assert page.locator(".ohash-verdict[data-state=done]").count() == 0, "it was still learning"


def test_more_charts_open_inside_their_place(compared: Any) -> None:
    place = compared.locator(".st-key-open_more, [data-testid=stExpander]").filter(has_text="Precision-recall").first
    place.get_by_text("Precision-recall").first.click()
    until(lambda: place.locator("canvas").count() >= 4, "four charts inside the expander")


def test_a_method_becomes_the_reference_on_live(compared: Any) -> None:
    compared.get_by_role("button", name="Pin as reference").click()
    compared.get_by_text("is now the reference").first.wait_for()
    compared.get_by_role("link", name="Live").first.click()
    compared.wait_for_selector(".ohash-status")
    compared.get_by_role("link", name="Compare").first.click()
    compared.get_by_text("Costs, measured on this machine").wait_for()


def test_forged_links_are_messages(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/compare?methods=oh,nonsense,itq:r=-3&bits=x&seeds=%00")
    page.locator("[data-testid=stAlert]").first.wait_for()
    assert page.get_by_text("Traceback").count() == 0
