"""The recording that stands in for the live run on landing, and how the run takes over."""

import time
from dataclasses import replace
from typing import Any

import pytest

from ohash.engine.live.presets import PRESETS
from ohash.ui.live import headline, page
from ohash.ui.session import live_run
from ohash.ui.session.live_run import recording_of
from ohash.ui.session.session import Session, WatchTime
from tests.ui.live_app import SMALL, opened, session_of


def test_a_recording_plays_from_its_beginning_whenever_the_run_begins() -> None:
    app = opened(**SMALL)
    before = session_of(app).watch_time
    before.seconds = 100.0
    app.button(key="preset_start").click().run()
    assert session_of(app).watch_time is not before and session_of(app).watch_time.seconds < 100


class Late:
    """A live run that is being made, and then catches up."""

    state, now = "starting", None

    def snapshot(self) -> Any:
        return self.now


def test_the_recording_stays_until_the_live_run_is_as_far() -> None:
    recorded = recording_of(PRESETS[0].params())
    assert recorded is not None
    watch_time = WatchTime(seconds=10)
    session = Session("s", PRESETS[0].params(), watch_time=watch_time, use_recording=True)
    late: Any = Late()
    session.playing, late.state = False, "paused"
    assert page.displayed_snapshot(session, late).t == page.displayed_snapshot(session, late).t > 0, (
        "who pauses it sees it stand"
    )
    assert page.displayed_snapshot(replace(session, watch_time=WatchTime()), late) is None, (
        "and who waits for Play sees none"
    )
    assert " has seen " in headline.sentence(session, page.displayed_snapshot(session, late), "paused")
    session.playing, late.state = True, "starting"
    first = page.displayed_snapshot(session, late)
    assert first is not None and first.state == "recording" and 2500 < first.t < 3200
    late.state, late.now = "running", replace(first, state="running", t=first.t // 2)
    assert page.displayed_snapshot(session, late).state == "recording"  # never back to an earlier pair
    watch_time.last_frame -= 5
    assert page.displayed_snapshot(session, late).t == first.t, "it waits for the run, which would never catch up else"
    late.now = replace(first, state="running", t=2 * first.t)
    assert page.displayed_snapshot(session, late) is late.now
    late.now = replace(first, state="running", t=7)
    assert page.displayed_snapshot(session, late) is late.now, "and from then on it is the live run"
    assert recorded.pairs(1e9) == recorded.frame(1e9).t == recorded.stops[-1], "it stands at its end"


def test_who_waits_in_line_sees_the_recording_and_her_place(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(
        "s", PRESETS[0].params(), watch_time=WatchTime(last_frame=time.monotonic() - 1), use_recording=True
    )
    late: Any = Late()
    assert live_run.hub().why_waiting("s", "experiment") == ""
    monkeypatch.setattr(live_run.hub(), "place_in_line", lambda _: 2)
    assert page.displayed_snapshot(session, late).state == "recording"
    assert "number 2 in line" in live_run.hub().why_waiting("s", "experiment")


def test_a_run_at_a_pace_of_its_own_is_no_recording() -> None:
    app = opened(**SMALL)
    session = session_of(app)
    session.pace = 10.0
    live_run.start_preset(session, PRESETS[0])
    assert not session.use_recording
    session.pace = "accelerating"
    live_run.start_preset(session, PRESETS[0])
    assert session.use_recording
