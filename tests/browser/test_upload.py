"""Data of one's own, from the file dialog to a run that learns from them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ohash.cli.lab import Dashboard
from tests.browser.live_page import LivePage
from tests.browser.wait import place_at_rest, until
from tests.streams.test_picture_files import png, zipped

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ROWS, COLUMNS = 600, 12


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 6, ROWS)
    np.save(tmp_path / "x.npy", rng.normal(size=(ROWS, COLUMNS)) + 4 * rng.normal(size=(6, COLUMNS))[group])
    clicks = [(a, b) for a in range(ROWS) for b in np.flatnonzero(group == group[a])[:2] if a != b]
    (tmp_path / "clicks.csv").write_text("i,j\n" + "\n".join(f"{a},{b}" for a, b in clicks))
    return tmp_path


def bring(page: Any, server: Dashboard, *files: Path, places: tuple[int, ...] = (0, 2)) -> None:
    """The Data page, its part for data of one's own, and the files one after the other into its places."""
    page.goto(f"{server.url}/data")
    page.get_by_text("Upload your own").first.click()
    uploaders = page.locator("[data-testid=stFileUploader]")
    for place, file in zip(places, files, strict=False):
        uploaders.nth(place).locator("input[type=file]").set_input_files(str(file))
        page.get_by_text(file.name).first.wait_for()
        place_at_rest(page, uploaders.nth(place))  # a file that has been read may move the places of others


def test_a_bare_matrix_is_enough(page: Any, server: Dashboard, vectors: Path) -> None:
    bring(page, server, vectors / "x.npy")
    page.get_by_text(f"{ROWS:,} rows").first.wait_for()
    page.get_by_role("button", name="Watch OH learn this").click()
    live = LivePage(page)
    live.until(lambda: live.pairs > 0, what="it learns")
    live.until(lambda: "dataset=own" in live.query, what="the link says whose data")


def test_clicks_make_the_pairs(page: Any, server: Dashboard, vectors: Path) -> None:
    bring(page, server, vectors / "x.npy", vectors / "clicks.csv")
    page.get_by_text("clicks", exact=False).first.wait_for()
    page.get_by_role("button", name="Compare methods on this").click()
    page.wait_for_url("**/compare*")
    until(lambda: "dataset=own" in page.evaluate("location.search"), "the link says whose data")
    until(lambda: page.locator("canvas").count() >= 2, "curves")
    assert page.get_by_text("Traceback").count() == 0


def test_documents_queries_and_judgements_become_a_run(page: Any, server: Dashboard, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    centres = 3 * rng.normal(size=(6, COLUMNS))
    np.save(tmp_path / "d.npy", rng.normal(size=(ROWS, COLUMNS)) + centres[np.arange(ROWS) % 6])
    np.save(tmp_path / "q.npy", rng.normal(size=(90, COLUMNS)) + centres[np.arange(90) % 6])
    judged = [(q, (q + 6 * k) % ROWS, 1) for q in range(90) for k in range(8)]
    (tmp_path / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{s}\n" for q, d, s in judged)
    )
    bring(page, server, *(tmp_path / name for name in ("d.npy", "q.npy", "qrels.tsv")), places=(0, 1, 2))
    page.get_by_text(f"{ROWS} documents to search and 90 queries").first.wait_for()
    page.get_by_role("button", name="Watch OH learn this").click()
    live = LivePage(page)
    live.until(lambda: live.pairs > 0, what="it learns")
    assert page.get_by_text("Traceback").count() == 0


def test_a_pickle_is_refused_with_words(page: Any, server: Dashboard, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    bring(page, server, tmp_path / "x.npy")
    message = page.locator("[data-testid=stAlert]").first
    message.wait_for()
    assert "x.npy" in message.inner_text() and "pickle" in message.inner_text()
    assert page.get_by_text("Traceback").count() == 0


def test_a_reload_finds_the_file_and_a_stranger_is_asked_for_it(
    page: Any, browser: Any, server: Dashboard, vectors: Path
) -> None:
    bring(page, server, vectors / "x.npy")
    page.get_by_role("button", name="Watch OH learn this").click()
    live = LivePage(page)
    live.until(lambda: "dataset=own" in live.query and live.pairs > 0, what="it learns")
    page.reload()
    again = LivePage(page)
    again.until(lambda: again.pairs > 0, what="it learns again")
    stranger = browser.new_context().new_page()
    stranger.goto(f"{server.url}/{live.query}")
    stranger.locator("[data-testid=stAlert]").filter(has_text="x.npy").wait_for(timeout=60_000)
    stranger.context.close()


def test_a_zip_of_pictures_is_described_and_shown(page: Any, server: Dashboard, tmp_path: Path) -> None:
    (tmp_path / "pets.zip").write_bytes(zipped(**{f"{at % 2}/{at}.png": png(at) for at in range(300)}))
    page.goto(f"{server.url}/data?view=own")
    page.locator("[data-testid=stFileUploader] input[type=file]").nth(4).set_input_files(str(tmp_path / "pets.zip"))
    page.get_by_text("300 rows").first.wait_for()
    page.get_by_role("button", name="Watch OH learn this").click()
    page.locator(".ohash-gallery [data-row] img").first.wait_for()


def test_a_folder_of_pictures_has_its_folders_for_labels(page: Any, server: Dashboard, tmp_path: Path) -> None:
    for at in range(20):
        (tmp_path / "pets" / str(at % 2)).mkdir(parents=True, exist_ok=True)
        (tmp_path / "pets" / str(at % 2) / f"{at}.png").write_bytes(png(at))
    (tmp_path / "pets" / "notes.txt").write_text("no picture")
    page.goto(f"{server.url}/data?view=own")
    page.locator("[data-testid=stFileUploader] input[type=file]").nth(5).set_input_files(str(tmp_path / "pets"))
    page.get_by_text("pets: 20 rows").first.wait_for()
    page.get_by_text("classes: 2, the smallest has 10 rows").wait_for()


def test_a_row_of_the_list_opens_the_data_set(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/data?view=all")
    page.locator(".ohash-list [role=link]").filter(has_text="Digits").first.click()
    page.get_by_text("What “similar” means here").wait_for()
    until(lambda: "dataset=digits" in page.evaluate("location.search"), "its own address")
