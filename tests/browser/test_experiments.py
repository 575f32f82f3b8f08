"""Sweeps and Paper in a real Chromium: a sweep from its form to a cell on Live, and the paper's claims and report."""

import re
from pathlib import Path
from typing import Any

import pytest

from ohash.cli.lab import Dashboard
from tests.browser.wait import place_at_rest, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def fill(page: Any, key: str, text: str) -> None:
    """Type into a field and leave it."""
    field = page.locator(f".st-key-{key} input").first
    field.fill(text)
    field.press("Enter")


@pytest.mark.nightly
def test_a_sweep_from_its_form_to_a_cell_on_live(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/?dataset=digits&method=oh&r=16")
    page.wait_for_selector(".ohash-status")
    page.goto(f"{server.url}/sweeps")
    fill(page, "sweep_values_beta", "0.3, 0.5")
    fill(page, "sweep_pairs", "300")
    page.get_by_text("4 experiments").first.wait_for()
    page.get_by_role("button", name="Start").click()
    until(lambda: "sweep=" in page.evaluate("location.search"), "the sweep has an address")
    page.get_by_text("Best on the validation queries").wait_for(timeout=180_000)
    page.reload()
    page.get_by_text("4 of 4 experiments").wait_for()
    marks = page.locator(".js-plotly-plot .points path")
    until(lambda: marks.count() >= 2, "a point for each value")
    box = place_at_rest(page, marks.first)
    page.mouse.move(box["x"] - 30, box["y"])
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    page.locator(".hoverlayer .hovertext").first.wait_for()
    page.mouse.down()
    page.mouse.up()
    page.wait_for_selector(".ohash-status")
    until(lambda: "beta=0.3" in page.evaluate("location.search"), "the cell's own link")


@pytest.mark.nightly
def test_settings_drawn_at_random_are_halved_and_exported(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/?dataset=digits&method=oh&r=16")
    page.wait_for_selector(".ohash-status")
    page.goto(f"{server.url}/sweeps?sweep=new")
    page.get_by_text("drawn at random").click()
    fill(page, "sweep_range_beta", "0.2, 0.8")
    fill(page, "sweep_draws", "6")
    fill(page, "sweep_pairs", "360")
    fill(page, "sweep_seeds", "1")
    halving = page.locator(".st-key-sweep_halving label")
    until(lambda: halving.count() == 1, "one switch")  # a stale copy fades out after a rerun
    halving.click()
    page.get_by_text("9 experiments").first.wait_for()
    page.get_by_role("button", name="Start").click()
    page.get_by_text("Best on the validation queries").wait_for(timeout=180_000)
    page.get_by_text("6 settings with 40 pairs, then 2 settings with 120 pairs, then 1 setting").wait_for()
    page.get_by_text("The star is the best of those that ran all 360 pairs").wait_for()
    page.get_by_role("button", name="Delete").wait_for()  # the sweep is over, and the page no longer drawn again
    page.wait_for_timeout(500)
    page.locator("[data-test-script-state=notRunning]").wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="LaTeX").click()
    assert waiting.value.suggested_filename == "ohash-sweep-beta.tex", "no blanks, for TeX"
    assert "stopped early and are not ranked" in Path(waiting.value.path()).read_text()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Figure (SVG, one column)").click()
    assert 'width="88mm"' in Path(waiting.value.path()).read_text()


def test_the_paper_shows_claims_figures_and_a_report(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/paper")
    page.locator(".claims tr").nth(15).wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="HTML report").click()
    assert "Online Hashing" in Path(waiting.value.path()).read_text()
    page.get_by_text("Figures", exact=True).first.click()
    page.get_by_text("The paper").first.wait_for()
    assert page.get_by_text("Traceback").count() == 0


def finish_two_runs(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/?dataset=blobs2d&method=oh&r=8&pairs=300")
    status = page.locator(".ohash-status:has-text('done')")
    status.wait_for()
    first = status.get_attribute("data-file")
    page.get_by_role("button", name="New seed").click()
    until(lambda: status.get_attribute("data-file") != first, "the run of another seed is over, too")


@pytest.mark.nightly
def test_on_a_phone_in_the_dark_runs_are_filtered_by_state_deleted_and_brought_back(
    page: Any, server: Dashboard
) -> None:
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    finish_two_runs(page, server)
    page.evaluate("document.querySelector('a[href$=\"/runs\"]')?.click()")  # the menu is folded away
    heading = page.get_by_text(re.compile(r"^\d+ runs$")).first
    heading.wait_for()
    there = int(heading.inner_text().split()[0])
    page.locator(".st-key-runs_state input").click()
    page.get_by_role("option", name="done", exact=True).click()  # those of this tab, which are not saved
    grid = page.locator("[data-testid=stDataFrame] [role=grid]").first
    until(lambda: grid.get_attribute("aria-rowcount") == "3", "a heading and two runs")
    page.keyboard.press("Escape")
    page.locator("[data-testid=stDataFrame]").first.scroll_into_view_if_needed()
    table = place_at_rest(page, page.locator("[data-testid=stDataFrame]").first)
    page.mouse.click(table["x"] + 18, table["y"] + 87)
    delete = page.locator(".st-key-run_delete button:visible").first
    until(delete.is_enabled, "one run is selected")
    delete.click()
    page.locator(".st-key-delete_yes button:visible").first.click()
    page.get_by_text(f"{there - 1} run{'s' * (there > 2)}", exact=True).wait_for()
    undo = page.locator(".st-key-delete_undo button:visible").first
    undo.scroll_into_view_if_needed()
    place = place_at_rest(page, undo)
    assert 0 <= place["x"] and place["x"] + place["width"] <= 390, "within reach of a thumb"
    undo.click()
    page.get_by_text(f"{there} runs", exact=True).wait_for()


def test_deleting_a_run_asks_first_touches_only_what_was_chosen_and_is_undone(page: Any, server: Dashboard) -> None:
    finish_two_runs(page, server)
    page.get_by_text("Experiments").first.click()
    page.get_by_text("Runs", exact=True).first.click()
    heading = page.get_by_text(re.compile(r"^\d+ runs$")).first
    heading.wait_for()
    there = int(heading.inner_text().split()[0])  # those of the sweep are there, too
    delete = page.locator(".st-key-run_delete button").first  # a stale copy fades out after a rerun
    assert delete.is_disabled(), "nothing is selected at first"
    table = place_at_rest(page, page.locator("[data-testid=stDataFrame]").first)
    page.mouse.click(table["x"] + 18, table["y"] + 87)  # the second row; the first is the live run
    until(delete.is_enabled, "one run is selected")
    delete.click()
    page.get_by_text("Delete 1 run?").wait_for()
    page.locator(".st-key-delete_yes button").first.click()
    page.get_by_text(f"{there - 1} run{'s' * (there > 2)}", exact=True).wait_for()
    until(delete.is_disabled, "no other run has slid under the button, which is drawn after the count")
    page.locator(".st-key-delete_undo button").first.click()
    page.get_by_text(f"{there} runs", exact=True).wait_for()
    page.locator(".st-key-runs_words input").fill("no such setting")
    page.keyboard.press("Enter")
    page.get_by_text("No run passes these filters.").wait_for()
    page.locator(".st-key-runs_words input").fill("")
    page.keyboard.press("Enter")
    columns = page.locator("[data-testid=stDataFrame] [role=grid]").first
    single = columns.get_attribute("aria-colcount")
    page.get_by_text("seeds together").first.click()
    until(lambda: columns.get_attribute("aria-colcount") != single, "one row per experiment")
    page.get_by_text("single runs").first.click()
    until(lambda: columns.get_attribute("aria-colcount") == single, "one row per run")
    page.get_by_text("Select rows to compare their curves.").wait_for()
    until(lambda: page.locator("[data-testid=stDataFrame]").count() == 1, "the table of groups has gone")
    table = place_at_rest(page, page.locator("[data-testid=stDataFrame]"))
    page.mouse.click(table["x"] + 18, table["y"] + 87)
    until(delete.is_enabled, "one run is selected")
    page.mouse.click(table["x"] + 18, table["y"] + 52)
    page.get_by_text(re.compile(r"minus .*mAP [+-].* on validation queries")).wait_for()
    page.get_by_text("Parameters that differ").wait_for()
    page.get_by_text("Parallel coordinates").click()
    canvas = page.locator("[class*=st-key-runs_parallel_] canvas").first
    canvas.wait_for()
    page.get_by_text("drag a box over an axis").wait_for()
    box = place_at_rest(page, canvas)
    page.mouse.click(box["x"] + box["width"] - 55, box["y"] + 23)  # the square in the corner
    middle = box["x"] + box["width"] / 2  # over every axis, where only the foot is
    page.mouse.move(middle - 0.45 * box["width"], box["y"] + 45)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + 60, steps=5)
    page.mouse.move(middle + 0.45 * box["width"], box["y"] + 75, steps=5)
    page.mouse.up()
    page.get_by_text(re.compile(rf"^[0-9]+ of {there} runs pass through the boxes")).wait_for()
    assert not page.get_by_text(f"{there} of {there} runs pass").count(), "a box leaves some out"
