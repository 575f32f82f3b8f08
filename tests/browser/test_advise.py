"""Learn or rotate? From two uploaded files to an answer, its table and its link."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ohash.cli.browser import Dashboard
from tests.advice.logs import misleading
from tests.browser.test_upload import bring
from tests.browser.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    data = misleading(n=300, d=12, clicks=2000)
    np.save(tmp_path / "x.npy", data.X)
    assert data.pairs is not None
    rows = "\n".join(f"{i},{j}" for i, j in zip(data.pairs.i, data.pairs.j, strict=True))
    (tmp_path / "clicks.csv").write_text(f"i,j\n{rows}")
    return tmp_path / "x.npy", tmp_path / "clicks.csv"


def test_uploaded_clicks_are_answered(page: Any, server: Dashboard, files: tuple[Path, Path]) -> None:
    bring(page, server, *files)
    page.get_by_role("button", name="Learn or rotate?").click()
    page.wait_for_url("**/advise*")
    answer = page.locator(".ohash-verdict")
    until(lambda: "dataset=own" in page.evaluate("location.search"), "the link says whose data")
    until(lambda: "RaBitQ, 1 bit" in page.locator(".ohash-compare").inner_text(), "contenders as they are measured")
    until(lambda: answer.get_attribute("data-decision") == "learn", "an answer, even if only so far")
    assert "on later clicks" in answer.inner_text() and "recall@10" in answer.inner_text()
    assert page.get_by_text("Traceback").count() == 0
    address = page.url
    page.reload()
    page.locator(".ohash-verdict").wait_for()
    until(lambda: page.url == address, "the same question")
    page.get_by_role("button", name="Share").click()
    page.get_by_text("whoever opens it needs the files, too").wait_for()
