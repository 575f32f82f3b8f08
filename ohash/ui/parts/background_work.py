"""What Compare and Learn or rotate? share: Pause, Run again, and parts that are redrawn while something runs."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from ohash.runtime.background import Background
from ohash.ui.parts.live_chart import RESTING
from ohash.ui.session.session import Session
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.slots import once_per_press

REDUCED_MOTION_SECONDS = 5.0  # between two frames for users who prefer reduced motion


def transport(current: Callable[[], Background], key: str, run_again: Callable[[], None], about: str) -> None:
    """Pause or Play while it is under way, and Run again; to be drawn in a row.

    `current` is asked again at a press: a button on the screen may have been drawn for work that was replaced since.
    """
    runner = current()
    running = runner.state not in RESTING
    if runner.state not in ("done", "error", "stopped"):
        st.button(
            "Pause" if running else "Play", icon=":material/pause:" if running else ":material/play_arrow:",
            type="primary", shortcut="space", on_click=once_per_press(_play_pause), args=(current,), key=key,
        )  # fmt: skip
    st.button(
        "Run again", icon=":material/replay:", key="reset", on_click=once_per_press(run_again), help=f"{about} Key: R"
    )  # fmt: skip


def draw_while_running(
    current: Callable[[Session], Background],
    session: Session,
    key: str,
    draw: Callable[[Session], None],
    every: float,
) -> None:
    """A part of the page that is drawn again every so many seconds until the work rests."""
    interval = max(every, REDUCED_MOTION_SECONDS * session.reduced_motion)
    fragment(partial(draw, session), key=key, every=interval if current(session).state not in RESTING else None)


def _play_pause(current: Callable[[], Background]) -> None:
    runner = current()
    runner.resume() if runner.state == "paused" else runner.pause()  # also one that is about to start
