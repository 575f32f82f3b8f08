"""The ticking part of the Live page: one fragment that polls the newest snapshot and draws it."""

import threading
import time
import weakref
from functools import lru_cache, partial
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from ohash.engine.gallery import Neighbours, nearest, typical_query
from ohash.engine.live.runner import Runner
from ohash.engine.observer import WINDOW
from ohash.engine.params import ExperimentParams
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods
from ohash.plots.gallery import gallery_html, mean_note, ties_note
from ohash.plots.live import charts
from ohash.plots.live.axes import AxisRanges
from ohash.ui.live import crowd, headline, reference_runs
from ohash.ui.live.drawings import chart_switches, drawings_of, frame_of, notes_html, stream_charts
from ohash.ui.live.numbers import headline_html, numbers_html
from ohash.ui.parts.live_chart import CHART_KEYS, RESTING
from ohash.ui.session import address, feed, live_run
from ohash.ui.session.broadcast import Broadcast, ChartSwitches
from ohash.ui.session.feed import FASTEST_SECONDS, Feed, Frame
from ohash.ui.session.live_run import recording_of
from ohash.ui.session.session import Session
from ohash.ui.workarounds.fetched_charts import fetch_changes
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.style import dark

PREPARING = "Preparing the data and compiling the kernels; this takes a few seconds the first time on a machine."
RUN_AT_REST, ALL_AT_REST = 1, 2
PHONE_SECONDS = 0.5
SLIDER_SECONDS = 0.2  # a moved slider is on its way at most so long
FED_SECONDS = 2.0  # between two frames of Streamlit, where the browser fetches others in between
CROWD_SECONDS = 3.0  # the pictures of a crowd come by themselves; this is how soon its end is noticed
DRAWING = threading.Lock()


def displayed_snapshot(session: Session, runner: Runner) -> Snapshot | None:
    """What to draw: the live run, or the recording until the live run has caught up."""
    now = _newest(session, runner)
    shared = session.shared_until
    if shared is not None and (now is None or now.t < shared.t or live_run.has_pending_change(session, now)):
        return shared
    session.shared_until = None
    head_start = session.watch_time.seconds  # the run was asked to catch up to this moment of the recording
    # once there is a run, the recording waits for it: on a busy machine the run might never be as far as it is
    seconds = session.watch_time.tick(playing=session.playing and now is None)
    recording = recording_of(session.params) if session.use_recording and (session.playing or seconds) else None
    if recording is None or runner.state in ("done", "error", "stopped"):
        return now
    if now is None or now.t < recording.pairs(head_start):
        return recording.frame(seconds)
    session.use_recording = False
    return now


def _newest(session: Session, runner: Runner) -> Snapshot | None:
    """The newest snapshot; where many watch one run, the one that was drawn for another of them a moment ago."""
    now = runner.snapshot()
    if now is None or runner.state in RESTING or not live_run.hub().is_shared(session.id):
        return now
    return live_run.drawings(session).recent(now, 0.8 * session.interval)


def live_area(session: Session) -> None:
    """Everything that moves; ticks while the run does."""
    session.redraw = False
    reference_runs.follow_seeds(session)
    session.ticking = _rest_level(session, live_run.runner(session)) < ALL_AT_REST
    session.interval = _interval(session)
    fragment(partial(_draw_measured, session), key="live", every=session.interval if session.ticking else None)


def _interval(session: Session) -> float:
    runner = live_run.runner(session)
    crowded = crowd.is_crowded(session) and runner.state == "running"
    fed = live_run.can_fetch(session, runner) and feed.is_fetched(runner)
    slowest = max(PHONE_SECONDS * session.narrow, FED_SECONDS * fed)
    return CROWD_SECONDS if crowded else max(live_run.hub().interval(), slowest)


def _rest_level(session: Session, runner: Runner) -> int:
    """0 while the run moves, RUN_RESTS when it rests, ALL_REST when its companions do, too."""
    if runner.state not in RESTING or (session.playing and runner.state == "paused"):
        return 0  # Play was pressed, and its thread has not woken up yet
    if runner.state == "paused" and (runner.run is None or runner.run.evaluating or not _shows_pause(runner)):
        return 0  # it is still being evaluated, or its last picture is on its way
    companions = live_run.hub().lease(session.id).companions
    return ALL_AT_REST if all(other.state in RESTING for other in companions) else RUN_AT_REST


def _shows_pause(runner: Runner) -> bool:
    now = runner.snapshot()
    return now is not None and now.state == "paused"


def _badge(now: Snapshot | None, state: str) -> str:
    """The state next to the number of pairs: of a run that has just paused, the last picture may still be to come."""
    if now is not None and (now.state == "recording" or (now.state, state) == ("running", "paused")):
        return now.state
    return state


def _draw_measured(session: Session) -> None:
    """One session at a time: threads that all want Python's lock slow each other down, and the server's sending."""
    live_run.await_change(session)
    with DRAWING:
        start = time.thread_time()
        try:
            _draw(session)
        finally:
            live_run.hub().measure_frame(time.thread_time() - start)


def _draw(session: Session) -> None:
    runner = live_run.runner(session)
    live_run.hub().poll(session.id)
    reference_runs.follow_seeds(session)
    if live_run.replace_bad_link(session) or live_run.start_for_late_change(session):
        st.rerun()
    now = displayed_snapshot(session, runner)
    if now is not None and now.state != "recording":
        live_run.follow_changes(session, now)
        _update_sliders(session, now)
    if address.place() not in ("", session.place):  # the class was sent elsewhere: the page turns there
        st.rerun()
    # in every frame, compared with what the browser has: a message can be cut off by a press
    address.write_query(_query(live_run.address_params(session), session.present))
    if now is not None and runner.state == "running" and crowd.is_crowded(session):
        _draw_for_crowd(session, runner)
    else:
        _draw_for_one(session, now, runner)
    before, session.resting = session.resting, _rest_level(session, runner)
    slower = _interval(session) / session.interval  # because of other viewers, who come and go
    # the timer can stop, or needs another pace; rarely done, because a rerun of the page may swallow a click
    if session.resting > before or not 0.5 < slower < 2:
        st.rerun()
    # a run of the whole page was asked for, and a press that came with it has taken its place: nothing would move
    if session.redraw or (session.resting < ALL_AT_REST and not session.ticking):
        st.rerun()


@lru_cache(maxsize=64)
def _query(params: ExperimentParams, present: str) -> dict[str, str]:
    return address.query_of(params, present=present)


def _draw_for_crowd(session: Session, runner: Runner) -> None:
    """One picture for all who look at the run in the same way."""
    drawings = live_run.drawings(session)
    if drawings.broadcast is None:
        drawings.broadcast = _broadcast(runner, drawings.axis_ranges)
    drawings.broadcast.viewers = live_run.hub().watchers(session.id)
    crowd.watch(drawings.broadcast, chart_switches(session))


def _broadcast(runner: Runner, axis_ranges: AxisRanges) -> Broadcast:
    """The broadcast of a run: it knows no session, as viewers come and go, and does not keep the run alive."""
    run = weakref.ref(runner)

    def newest() -> Snapshot | None:
        running = run()
        return None if running is None else running.snapshot()

    def draw(now: Snapshot, switches: ChartSwitches) -> str:
        with DRAWING:
            top = headline_html(headline.situation(now.params, now, now.state), now, now.state, dark=switches.dark)
            drawn = (
                charts.quality(now, switches.score(now.similar_by)),
                *(draw(now) for draw in stream_charts(switches)),
            )
            figures = zip(CHART_KEYS, drawn, strict=True)
            steady = [axis_ranges.widen(key, chart, remember=now.t >= WINDOW) for key, chart in figures]
            return crowd.picture(top, steady, numbers_html(now), dark=switches.dark, narrow=switches.narrow)

    return Broadcast(newest, draw)


def _draw_for_one(session: Session, now: Snapshot | None, runner: Runner) -> None:
    in_line = live_run.hub().why_waiting(session.id, "experiment")
    switches = chart_switches(session)
    sentence = in_line if in_line and now is not None else headline.sentence(session, now, runner.state)
    # compute everything before sending anything: the browser redraws its whole page at every gap
    top = headline_html(sentence, now, _badge(now, runner.state), dark=switches.dark)
    drawings = [] if now is None else drawings_of(session, now, switches)
    notes = notes_html(session, now, drawings)
    st.html(top)
    if runner.state == "error":
        st.error(f"{escape_markdown(runner.error)}. {_remedy(session)}", icon=":material/error:")
    elif now is None:
        st.info(in_line or PREPARING, icon=":material/hourglass_top:")
    if drawings:
        # One grid, and all words in one element, which the style lays out: each column and each caption of its own
        # would cost the server and the browser as much as a small chart, in every frame.
        with st.container(key=f"charts_{len(drawings)}"):
            for drawing in drawings:
                drawing.send()
            st.html(notes)
    if now is not None and now.state == "running" and live_run.can_fetch(session, runner):
        fed = _feed(session, runner)
        fed.send(frame_of(now, top, drawings, notes), switches)
        fetch_changes(f"{feed.PATH}/{fed.key}?{urlencode(switches.query())}", [drawing.key for drawing in drawings])


def _feed(session: Session, runner: Runner) -> Feed:
    """The pictures that the browser fetches of a run, made once; it keeps neither run nor session alive."""
    if runner in feed.FEEDS:
        return feed.FEEDS[runner]
    run, viewer, hub = weakref.ref(runner), weakref.ref(session), live_run.hub()

    def draw(shown: int, switches: ChartSwitches, awaited: int) -> Frame | None:
        running, watching = run(), viewer()
        if running is None or watching is None or not live_run.can_fetch(watching, running):
            return None
        _await_changes(running, awaited)
        now = running.snapshot()
        if now is None or now.seq == shown or now.state != "running":
            return None
        with DRAWING:
            start = time.thread_time()
            top = headline_html(headline.sentence(watching, now, now.state), now, now.state, dark=switches.dark)
            drawings = drawings_of(watching, now, switches)
            hub.measure_frame(time.thread_time() - start)
        return frame_of(now, top, drawings, notes_html(watching, now, drawings))

    return feed.FEEDS.setdefault(runner, Feed(draw, lambda: hub.interval(FASTEST_SECONDS)))


def _await_changes(runner: Runner, number: int) -> None:
    """Wait a moment until a slider that was moved in the browser has arrived, and the run has learnt with its value."""
    deadline = time.monotonic() + SLIDER_SECONDS
    while time.monotonic() < deadline:
        now = runner.snapshot()
        if now is None or now.extra.get("ack", 0) >= number:
            return
        time.sleep(0.002)


def _remedy(session: Session) -> str:
    version = methods.plugin_version(session.params.method)
    return "Change a parameter, or choose a preset." if version is None else f"Fix {version.name}, and start again."


def _update_sliders(session: Session, now: Snapshot) -> None:
    """Redraw the page when a change scheduled in the link has moved a value that a slider shows."""
    model = now.model_at(now.t)
    values = {key: float(getattr(model, key)) for key in session.slider_values if hasattr(model, key)}
    if values != session.slider_values and not session.pending:
        session.slider_values = values
        st.rerun()


def gallery_area(session: Session) -> None:
    """A query and its ten nearest items; slower than the charts, because codes only change at checkpoints."""
    runner = live_run.runner(session)
    every = max(2.0, 10 * live_run.hub().interval()) if runner.state not in RESTING else None
    fragment(partial(_gallery, session), key="gallery", every=every)


def _gallery(session: Session) -> None:
    runner = live_run.runner(session)
    if runner.run is None:
        if runner.state != "error":
            st.caption("The gallery appears when the live run starts.")
        return
    if session.opening_query is None:
        kept = runner.moments.query
        with runner.between_steps():
            session.opening_query = typical_query(runner.run) if kept is None else kept
    number = session.opening_query if session.query == 0 else session.query
    how = number, session.query_row, session.before, dark()
    draw = partial(_gallery_html, runner, runner.run, *how)
    checkpoints = runner.run.checkpoints
    version = len(checkpoints.scores), id(checkpoints.codes), runner.run.stage
    st.html(live_run.drawings(session).gallery.get(version, how, draw))


def _gallery_html(runner: Runner, run: Run, number: int, row: int | None, before: bool, dark: bool) -> str:
    with runner.between_steps():
        result = nearest(run, number, row=row, before=before)
        return gallery_html(result, run.world.dataset, dark=dark, note=_gallery_note(run, result))


def _gallery_note(run: Run, result: Neighbours) -> str:
    """How the mean of all queries went, and why some items share a distance."""
    precision = run.checkpoints.scores.snapshot().get("precision_10", np.empty(0))
    mean = mean_note(result, precision, len(run.checkpoints.judge.queries))
    return f"{mean} {ties_note(result, int(run.hasher.r), int(getattr(run.hasher, 'T', 1)))}".strip()
