"""A change of beta counts, whenever it is made: before the last one is applied, or while a run is about to end."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest

from ohash.engine.params import experiment
from ohash.ui.live import page, rail
from ohash.ui.session import address, feed, live_run
from ohash.ui.session.session import Session
from ohash.ui.workarounds import fragments
from tests.ui.app import widget
from tests.ui.live_app import SMALL, link_of, moving, opened, session_of, until


@pytest.fixture
def session() -> Iterator[Session]:
    opened = Session("late", experiment("blobs2d", "oh", r=8, pairs=300), pace="unlimited", playing=False)
    yield opened
    live_run.hub().end(opened.id)


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
def test_a_change_that_comes_while_the_run_ends_starts_another_with_it(session: Session) -> None:
    runner = live_run.runner(session)
    wait(lambda: runner.snapshot() is not None)
    assert runner.run is not None
    ending, release, judge = threading.Event(), threading.Event(), runner.run.checkpoints.evaluate_test

    def slow() -> None:
        ending.set()
        release.wait(60)
        judge()

    runner.run.checkpoints.evaluate_test = slow  # type: ignore[method-assign]
    runner.resume()
    assert ending.wait(60)
    assert not live_run.start_for_late_change(session)
    live_run.set_live(session, "beta", 0.8)
    release.set()
    assert runner.finished.wait(60)
    assert live_run.start_for_late_change(session)
    assert live_run.runner(session) is not runner
    assert session.params.model.beta == 0.8 and session.playing and not session.pending
    assert not live_run.start_for_late_change(session)


def test_a_new_run_keeps_a_change_that_the_last_one_had_not_applied_yet(session: Session) -> None:
    runner = live_run.runner(session)
    wait(lambda: runner.snapshot() is not None)
    with runner.between_steps():
        live_run.set_live(session, "beta", 0.8)
        rail.change(session, "r", 16)
    assert (session.params.model.r, session.params.model.beta) == (16, 0.8) and not session.pending


def test_an_older_picture_does_not_undo_a_newer_press(session: Session) -> None:
    runner = live_run.runner(session)
    wait(lambda: runner.snapshot() is not None)
    live_run.set_live(session, "beta", 0.7)
    live_run.set_live(session, "beta", 0.8)
    live_run.await_change(session)
    now = runner.snapshot()
    assert now is not None
    live_run.follow_changes(session, replace(now, extra={"ack": session.last_change - 1}))
    assert session.pending == {"beta": 0.8}
    live_run.follow_changes(session, now)
    assert session.pending == {} and session.params.with_current_values().model.beta == 0.8


def test_presses_that_follow_each_other_after_the_end_are_one_change(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_run, "GESTURE_SECONDS", 60)
    first = live_run.runner(session)
    first.resume()
    assert first.finished.wait(60)
    started = session.params.model.beta
    for value in (0.6, 0.7, 0.8):
        rail.change(session, "beta", value)
        wait(lambda: (now := live_run.runner(session).snapshot()) is not None and now.t > 0)
    assert session.params.model.beta == 0.8 and session.params.changes == ()
    assert [one.now.params.model.beta for one in session.earlier] == [started], "those on the way are forgotten"
    assert "0.8" in session.difference and str(started) in session.difference
    assert live_run.has_just_begun(session, "beta") and not live_run.has_just_begun(session, "C")
    monkeypatch.setattr(live_run, "GESTURE_SECONDS", 0)
    assert not live_run.has_just_begun(session, "beta"), "a later press acts on the run"


class RerunError(Exception):
    """The whole page is asked for."""


def test_a_frame_without_a_timer_asks_for_the_page_if_the_run_moves(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rerun() -> None:
        raise RerunError

    monkeypatch.setattr(page.st, "rerun", rerun)
    monkeypatch.setattr(page, "_draw_for_one", lambda *_: None)
    monkeypatch.setattr(address, "place", lambda: "")
    monkeypatch.setattr(address, "write_query", lambda _: None)
    first = live_run.runner(session)
    wait(lambda: page._rest_level(session, first) == page.ALL_AT_REST)
    session.resting, session.interval = page.ALL_AT_REST, page._interval(session)
    page._draw(session)

    session.redraw = True
    with pytest.raises(RerunError):
        page._draw(session)
    session.redraw = False
    session.playing = True
    live_run.commit(session, session.params.with_values(pairs=10**7))  # by a press whose run of the page was lost
    with pytest.raises(RerunError):
        page._draw(session)


@pytest.mark.slow
def test_an_address_that_was_not_written_is_written_by_the_next_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(**SMALL)
    until(app, lambda: moving(app))
    write_query, lost = address.write_query, []
    monkeypatch.setattr(address, "write", lambda *_, **__: None)  # only frames write
    monkeypatch.setattr(address, "write_query", lost.append)
    widget(app.slider, "beta").set_value(0.8).run()
    until(app, lambda: any("changes" in query for query in lost))
    assert "changes" not in link_of(app)
    assert not session_of(app).pending
    monkeypatch.setattr(address, "write_query", write_query)
    app.run()
    assert ":beta:0.8" in link_of(app)["changes"]


def test_streamlit_draws_seldom_only_while_the_browser_fetches_pictures(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.playing = True
    live_run.commit(session, session.params.with_values(pairs=10**8))
    runner = live_run.runner(session)
    wait(lambda: runner.state == "running")
    usual = page._interval(session)
    assert usual < page.FED_SECONDS and not page._feed(session, runner).fetched
    monkeypatch.setattr(feed.Feed, "fetched", True)
    assert page._interval(session) == page.FED_SECONDS
    session.present = "1"
    assert page._interval(session) == usual, "the stage is not fetched"
    session.present = ""
    runner.pause()
    wait(lambda: runner.state == "paused")
    assert page._interval(session) == usual, "nor a run at rest, whose last picture must not be late"


def test_a_fetched_picture_waits_for_the_change_of_a_slider(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.playing = True
    live_run.commit(session, session.params.with_values(pairs=10**8))
    runner = live_run.runner(session)
    wait(lambda: runner.state == "running" and runner.snapshot() is not None)
    page._await_changes(runner, 0)
    monkeypatch.setattr(page, "SLIDER_SECONDS", 60)
    threading.Timer(0.02, partial(runner.set, beta=0.8)).start()  # the slider's own message comes later
    page._await_changes(runner, 1)
    shown = runner.snapshot()
    assert shown is not None
    assert [(change.name, change.value) for change in shown.params.changes] == [("beta", 0.8)]


def test_a_slider_whose_message_is_lost_holds_no_picture_up(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.playing = True
    live_run.commit(session, session.params.with_values(pairs=10**8))
    runner = live_run.runner(session)
    wait(lambda: runner.snapshot() is not None)
    asleep: list[float] = []
    clock = SimpleNamespace(sleep=asleep.append, monotonic=lambda: 10 + sum(asleep))
    monkeypatch.setattr(page, "time", clock)
    page._await_changes(runner, 1)
    assert page.SLIDER_SECONDS <= sum(asleep) < 2 * page.SLIDER_SECONDS


def test_a_moved_slider_draws_the_charts_unless_the_browser_fetches_them(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[list[str]] = []
    context = SimpleNamespace(fragment_ids_this_run=["rail"])
    monkeypatch.setattr(fragments, "get_script_run_ctx", lambda: context)
    monkeypatch.setattr(fragments.st, "rerun", drawn.append)
    session.playing = True
    live_run.commit(session, session.params.with_values(pairs=10**8))
    runner = live_run.runner(session)
    wait(lambda: runner.state == "running" and runner.snapshot() is not None)
    page._feed(session, runner)
    session.begun = None  # not a moment ago, or a slider would start another run

    def move(value: float) -> list[str]:
        rail._change_in_fragment(session, "beta", value)
        return drawn[-1]

    assert move(0.6) == ["live", rail.CHIPS]
    monkeypatch.setattr(feed.Feed, "fetched", True)
    assert move(0.61) == [rail.CHIPS]
    session.present = "1"
    assert move(0.62) == ["live", rail.CHIPS], "the stage is not fetched"
    session.present = ""
    runner.pause()
    wait(lambda: runner.state == "paused")
    assert move(0.63) == ["live", rail.CHIPS], "nor a run at rest, though it was a moment ago"
    drawn.append([])
    context.fragment_ids_this_run = []
    assert move(0.64) == [], "the whole page is drawn: parts in its place would leave it without timers"
