"""Patience: what a user does who looks again."""

import time
from collections.abc import Callable
from typing import Any


def until(true: Callable[[], bool], what: str | Callable[[], str], seconds: float = 60) -> None:
    """Ask again until it is so; `what` may be asked in the end for what is still missing."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if true():
                return
        except Exception:
            pass
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s for: {what() if callable(what) else what}")


def place_at_rest(page: Any, part: Any) -> dict[str, float]:
    """Where a part of a page is once the script has ended and nothing above it moves it any more; for a mouse."""
    places: list[dict[str, float] | None] = [None]

    def rests() -> bool:
        over = page.locator("[data-test-script-state=notRunning]").count() == 1
        places.append(part.bounding_box() if over else None)
        return places[-1] is not None and places[-1] == places[-2]

    until(rests, f"{part} is at rest")
    assert places[-1] is not None
    return places[-1]
