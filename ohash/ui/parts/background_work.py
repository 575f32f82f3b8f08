"""What Compare and Learn or rotate? share: Pause, Run again, and parts that are redrawn while something runs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from ohash.runtime.background import Background
from ohash.ui.parts.live_chart import RESTING
from ohash.ui.session.hub import Hub, SessionWork
from ohash.ui.session.session import Session
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.markdown import escape_markdown
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


def show_state(session: Session, hub: Hub[Any], runner: Background, noun: str, remedy: str) -> None:
    """Why the work waits, or what went wrong with it and what to do; nothing otherwise."""
    if waits := hub.why_waiting(session.id, noun):
        st.info(waits)
    if runner.error:
        st.error(f"{escape_markdown(runner.error)}. {remedy}", icon=":material/error:")


def follow_rest(work: SessionWork[Any], runner: Background) -> None:
    """Run the page again when its work comes to rest or goes on: its timers must stop or start."""
    resting = runner.state in RESTING
    if resting != work.resting:
        work.resting = resting
        st.rerun()


def _play_pause(current: Callable[[], Background]) -> None:
    runner = current()
    runner.resume() if runner.state == "paused" else runner.pause()  # also one that is about to start
