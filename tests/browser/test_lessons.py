"""What the lessons say of a run is what the playground shows."""

import re
from pathlib import Path
from typing import Any

import pytest

from ohash.web.files import standalone
from ohash.web.lessons import lessons
from tests.browser.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

READINGS = {"agreement": r"Label agreement \(mAP\)\s+[\d.]+ → ([\d.]+)", "loss": r"dashed\s+([\d,.]+);"}


def test_every_claim_of_the_lessons(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "play.html"
    file.write_text(standalone(), encoding="utf-8")
    wrong, seen = [], 0
    for lesson in lessons():
        for link, what, sign, bound in lesson.checks:
            at = dict(part.split("=") for part in link.split("&")).get("at", "0")
            page.goto("about:blank")
            page.goto(f"{file.as_uri()}#{link}" + ("" if "at=" in link else "&at=1"))
            pairs = f"{int(at) or 1:,} pair"
            until(lambda pairs=pairs: pairs in page.inner_text("body"), f"{pairs}s of {link}")
            value = float(re.search(READINGS[what], page.inner_text("body"))[1].replace(",", ""))
            seen += 1
            if not (value < bound if sign == "<" else value > bound):
                wrong.append(f"{lesson.title}: {link}: {what} is {value}, not {sign} {bound}")
    assert seen >= 15 and not wrong, "\n".join(wrong)
