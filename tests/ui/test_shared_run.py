"""Two tabs on one link of a busy server: one run, until one of them changes something."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.ui.live import transport
from ohash.ui.live.page import displayed_snapshot
from ohash.ui.session import hub as hubs
from ohash.ui.session import live_run
from ohash.ui.session.session import Session

PARAMS = experiment("digits", "oh", m=50, pairs=10**6)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def tabs(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Session, Session]]:
    monkeypatch.setattr(hubs, "BUSY", 1)
    one, other = Session("one", PARAMS), Session("other", PARAMS)
    yield one, other
    for session in (one, other):
        live_run.hub().end(session.id)


def test_they_share_the_run_and_what_is_drawn_of_it(tabs: tuple[Session, Session]) -> None:
    one, other = tabs
    assert live_run.runner(one) is live_run.runner(other)
    assert live_run.drawings(one) is live_run.drawings(other)
    assert live_run.hub().active == 1


def test_who_pauses_gets_a_run_of_her_own_that_stands_where_the_shared_one_was(tabs: tuple[Session, Session]) -> None:
    one, other = tabs
    shared = live_run.runner(one)
    assert live_run.runner(other) is shared
    shared.pace(2000.0)
    until(lambda: (now := shared.snapshot()) is not None and now.t > 20)
    seen = displayed_snapshot(other, shared)
    transport.play_pause(other, again=False)
    own = live_run.runner(other)
    assert own is not shared and not other.playing and one.playing and shared.state == "running"
    assert other.shared_until is not None and displayed_snapshot(other, own) is other.shared_until
    until(lambda: own.state == "paused" and displayed_snapshot(other, own) is own.snapshot())
    now = shared.snapshot()
    assert seen is not None and now is not None and own.run is not None and seen.t <= own.run.t <= now.t
    transport.play_pause(other, again=False)
    assert live_run.runner(other) is own and live_run.runner(one) is shared


def test_who_changes_something_learns_no_pair_again(
    tabs: tuple[Session, Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tabs
    shared = live_run.runner(one)
    assert live_run.runner(other) is shared
    shared.pace(2000.0)
    until(lambda: (now := shared.snapshot()) is not None and now.t > 500)
    learn, began = Run._learn, {}
    monkeypatch.setattr(Run, "_learn", lambda run, at, stop: (began.setdefault(run, at), learn(run, at, stop)))
    live_run.set_live(other, "beta", 0.7)
    own, start = live_run.runner(other), other.shared_until
    until(lambda: own.run in began)
    assert own.run is not None and start is not None and began[own.run] == start.t > 500
    assert shared.run is not None and not shared.run.params.changes, "the others see no change"


def test_a_reset_starts_a_run_of_her_own(tabs: tuple[Session, Session]) -> None:
    one, other = tabs
    assert live_run.runner(one) is live_run.runner(other)
    live_run.restart(other)
    assert live_run.runner(one) is not live_run.runner(other)


def test_a_run_that_was_changed_is_not_shared(tabs: tuple[Session, Session]) -> None:
    one, other = tabs
    transport.play_pause(one, again=False)
    assert live_run.runner(other) is not live_run.runner(one)


def test_the_link_has_a_change_before_her_own_run_has_caught_up(
    tabs: tuple[Session, Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tabs
    shared = live_run.runner(one)
    assert live_run.runner(other) is shared
    until(lambda: (now := shared.snapshot()) is not None and now.t > 20)
    busy = threading.Event()
    monkeypatch.setattr(live_run, "compile_in_worker", lambda: busy.wait(60))
    live_run.set_live(other, "beta", 0.7)
    live_run.set_live(other, "beta", 0.8)
    own, promised = live_run.runner(other), live_run.address_params(other)
    assert displayed_snapshot(other, own) is other.shared_until is not None
    assert [(change.at, change.value) for change in promised.changes] == [(other.shared_until.t, 0.8)]
    busy.set()
    seen = []

    def caught_up() -> bool:
        now = displayed_snapshot(other, own)
        if now is not None:
            live_run.follow_changes(other, now)
        seen.append(live_run.address_params(other))
        return other.shared_until is None

    until(caught_up)
    assert set(seen) == {promised}, "the link stays as it was, so that a class goes there once"
    assert not other.pending
