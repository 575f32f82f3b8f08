"""Learn or rotate? From two uploaded files to an answer, its table and its link."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ohash.cli.lab import Dashboard
from tests.advice.click_logs import misleading
from tests.browser.test_upload import bring
from tests.browser.wait import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    data = misleading(n=300, d=12, clicks=2000)
    np.save(tmp_path / "x.npy", data.X)
    assert data.pairs is not None
    rows = "\n".join(f"{i},{j}" for i, j in zip(data.pairs.i, data.pairs.j, strict=True))
    (tmp_path / "clicks.csv").write_text(f"i,j\n{rows}")
    return tmp_path / "x.npy", tmp_path / "clicks.csv"


@pytest.mark.nightly
def test_uploaded_clicks_are_answered(page: Any, server: Dashboard, files: tuple[Path, Path]) -> None:
    bring(page, server, *files)
    page.get_by_role("button", name="Learn or rotate?").click()
    page.wait_for_url("**/advise*")
    answer = page.locator(".ohash-verdict")
    until(lambda: "dataset=own" in page.evaluate("location.search"), "the link says whose data")
    until(lambda: "RaBitQ, 1 bit" in page.locator(".ohash-compare").inner_text(), "contenders as they are measured")
    until(lambda: answer.get_attribute("data-decision") == "learn", "an answer, even if only so far")
    until(lambda: all(words in answer.inner_text() for words in ("on later clicks", "recall@10")), "both measures")
    assert page.get_by_text("Traceback").count() == 0
    address = page.url
    page.reload()
    page.locator(".ohash-verdict").wait_for()
    until(lambda: page.url == address, "the same question")
    page.get_by_role("button", name="Share").click()
    page.get_by_text("whoever opens it needs the files, too").wait_for()


@pytest.fixture
def two_sides(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Documents, queries about another mean, and a click log in order of time."""
    rng = np.random.default_rng(0)
    topics = rng.normal(size=(30, 16))
    documents, queries = rng.integers(0, 30, 400), rng.integers(0, 30, 150)
    np.save(tmp_path / "d.npy", topics[documents] + 0.4 * rng.normal(size=(400, 16)))
    np.save(tmp_path / "q.npy", topics[queries] + 3 + 0.4 * rng.normal(size=(150, 16)))
    asked = rng.integers(0, 150, 2500)
    clicked = [int(rng.choice(np.flatnonzero(documents == queries[one]))) for one in asked]
    rows = "".join(f"{q},{d},1,{at}\n" for at, (q, d) in enumerate(zip(asked, clicked, strict=True)))
    (tmp_path / "c.csv").write_text(f"query,item,label,time\n{rows}")
    return tmp_path / "d.npy", tmp_path / "q.npy", tmp_path / "c.csv"


def test_documents_queries_and_a_click_log_are_answered(
    page: Any, server: Dashboard, two_sides: tuple[Path, Path, Path]
) -> None:
    bring(page, server, *two_sides, places=(0, 1, 2))
    page.get_by_text("400 documents to search and 150 queries").first.wait_for()
    page.get_by_role("button", name="Learn or rotate?").click()
    page.wait_for_url("**/advise*")
    answer = page.locator(".ohash-verdict")
    until(lambda: answer.get_attribute("data-decision") in ("learn", "rotate", "tie"), "an answer, even if only so far")
    answer_text = answer.inner_text()
    assert "400 documents x 16" in answer_text and "clicks in order of time" in answer_text
    assert "none of their clicks is learnt in a split where they ask; documents may be learnt from" in answer_text
    until(lambda: "adapter + RaBitQ, 1 bit" in page.locator(".ohash-compare").inner_text(), "contenders")
    assert page.get_by_text("Traceback").count() == 0
