"""The Live page through the eyes of a user: named things, not selectors."""

import re
import time
from collections.abc import Callable
from typing import Any


class LivePage:
    """One browser tab on the Live page."""

    def __init__(self, page: Any, url: str, query: str = "") -> None:
        self.page = page
        page.goto(f"{url}/{query}")
        page.wait_for_selector(".ohash-status")

    @property
    def status(self) -> str:
        return str(self.page.locator(".ohash-status").first.inner_text())

    @property
    def pairs(self) -> int:
        found = re.match(r"([\d,]+) pairs", self.status)
        assert found, self.status
        return int(found[1].replace(",", ""))

    @property
    def query(self) -> str:
        return str(self.page.evaluate("location.search"))  # page.url stands still while nothing is asked of the page

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=re.compile(f"^{name}")).first.click()

    def slider(self, number: int, key: str, times: int = 1) -> None:
        """Move the slider of the rail with the keyboard; 0 is β, 1 is C, 2 is r."""
        self.page.locator(".st-key-rail [data-testid=stSlider] input[type=range]").nth(number).focus()
        for _ in range(times):
            self.page.keyboard.press(key)

    def until(self, true: Callable[[], bool], seconds: float = 60, what: str = "") -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if true():
                    return
            except Exception:
                pass
            time.sleep(0.1)
        raise AssertionError(f"waited {seconds} s for: {what or true}; status {self.status!r}, url {self.page.url}")

    def paused(self) -> None:
        """Pause and wait until it stands still."""
        if "paused" not in self.status:
            self.press("Pause")
        self.until(lambda: "paused" in self.status, what="paused")
