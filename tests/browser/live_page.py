"""The Live page through the eyes of a user: named things, not selectors."""

import re
from collections.abc import Callable
from typing import Any

from tests.browser.conftest import PATIENCE
from tests.browser.wait import until


class LivePage:
    """One browser tab on the Live page; without `url` it is there already."""

    def __init__(self, page: Any, url: str = "", query: str = "") -> None:
        self.page = page
        page.set_default_timeout(PATIENCE)
        if url:
            page.goto(f"{url}/{query}")
        page.wait_for_selector(".ohash-status")

    @property
    def status(self) -> str:
        return str(self.page.locator(".ohash-status").first.inner_text())

    @property
    def pairs(self) -> int:
        match = re.match(r"([\d,]+) pairs?", self.status)
        assert match, self.status
        return int(match[1].replace(",", ""))

    @property
    def query(self) -> str:
        return str(self.page.evaluate("location.search"))  # page.url stands still while nothing is asked of the page

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=re.compile(f"^{name}")).first.click()

    def slider(self, name: str, key: str, times: int = 1) -> None:
        """Move the slider of beta, C, r or T in the rail with the keyboard, once its last place is the only one."""
        slider = self.page.locator(f".st-key-rail [class*=st-key-w_{name}_] input[type=range]")
        self.until(lambda: slider.count() == 1, what=f"the slider of {name}")
        for _ in range(times):
            slider.press(key)  # focused anew: a slider that is drawn again has lost the focus

    def until(self, true: Callable[[], bool], what: str, seconds: float = 60) -> None:
        """Ask again until it is so; what stands on the page is part of the complaint."""
        try:
            until(true, what, seconds)
        except AssertionError as late:
            raise AssertionError(f"{late}; status {self.status!r}, address {self.query}") from None

    def paused(self) -> None:
        """Pause and wait until it stands still."""
        if "paused" not in self.status:
            self.press("Pause")
        self.until(lambda: "paused" in self.status, what="paused")
