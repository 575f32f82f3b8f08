"""Patience: what a user does who looks again."""

import time
from collections.abc import Callable


def until(true: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Ask again until it is so."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if true():
                return
        except Exception:
            pass
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s for: {what}")
