"""The ticking part of the Live page: one fragment that polls the newest snapshot and draws it."""

from functools import partial

import numpy as np
import streamlit as st

from ohash.engine.gallery import Neighbours, nearest
from ohash.engine.live.runner import Runner
from ohash.engine.observer import WINDOW
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.engine.typical_query import typical_query
from ohash.plots import theme
from ohash.plots.chart import Chart
from ohash.plots.gallery import gallery_html, mean_note, ties_note
from ohash.plots.live import charts
from ohash.ui.live import headline, reference_runs
from ohash.ui.live.numbers import headline_html, numbers_html
from ohash.ui.live.reference_runs import beside_pinned
from ohash.ui.parts.live_chart import NARROW, RESTING, LiveChart, live_chart
from ohash.ui.session import address, live_run, seeds, view_state
from ohash.ui.session.recording import recording_of
from ohash.ui.session.session import Session
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.style import dark

RUN_RESTS, ALL_REST = 1, 2
PHONE_SECONDS = 0.5
WIDE = 610, 270  # pixels of the first chart, and what its switch takes from its title
QUALITY = {"mAP": "map", "recall@10": "recall_10", "pair-AUC": "auc"}


def displayed_snapshot(session: Session, runner: Runner) -> Snapshot | None:
    """What to draw: the live run, or the recording until the live run has caught up."""
    now, in_line = runner.snapshot(), live_run.hub().place_in_line(session.id) > 0
    head_start = session.watch_time.seconds  # the run was asked to catch up to this moment of the recording
    seconds = session.watch_time.tick(playing=session.playing and not in_line)
    recording = recording_of(session.params) if session.use_recording and (session.playing or seconds) else None
    if recording is None or in_line or runner.state in ("done", "error", "stopped"):
        return now
    if now is None or now.t < recording.pairs(head_start):
        return recording.frame(seconds)
    session.use_recording = False
    return now


def live_area(session: Session) -> None:
    """Everything that moves; ticks while the run does."""
    ticking = _rest_level(session, live_run.runner(session)) < ALL_REST
    every = max(live_run.hub().interval(), PHONE_SECONDS * session.narrow) if ticking else None
    fragment(partial(_draw, session), key="live", every=every)


def _rest_level(session: Session, runner: Runner) -> int:
    """0 while the run moves, RUN_RESTS when it rests, ALL_REST when its companions do, too."""
    if runner.state not in RESTING or (session.playing and runner.state == "paused"):
        return 0  # Play was pressed, and its thread has not woken up yet
    if runner.state == "paused" and (runner.run is None or runner.run.evaluating):
        return 0  # it is still being evaluated
    companions = live_run.hub().lease(session.id).companions
    return ALL_REST if all(other.state in RESTING for other in companions) else RUN_RESTS


def _draw(session: Session) -> None:
    runner = live_run.runner(session)
    hub = live_run.hub()
    hub.poll(session.id)
    hub.tend()
    seeds.follow_seeds(session)
    if live_run.replace_bad_link(session):
        st.rerun()
    now = displayed_snapshot(session, runner)
    if now is not None and now.state != "recording":
        if now.params != session.params:
            session.params, session.pending = now.params, {}
            address.write(now.params, present=session.present)
        _update_sliders(session, now)
    badge = "recording" if now is not None and now.state == "recording" else runner.state
    top = headline_html(headline.sentence(session, now, runner.state), now, badge, dark=dark())
    # compute everything before sending anything: the browser redraws its whole page at every gap
    drawings = [] if now is None else _stage_charts(session, now) if session.present else _charts(session, now)
    numbers = "" if now is None or session.present else numbers_html(now)
    st.html(top)
    if runner.state == "error":
        st.error(f"{escape_markdown(runner.error)}. Change a parameter, or choose a preset.", icon=":material/error:")
    elif not drawings:
        st.info(_waiting(session), icon=":material/hourglass_top:")
    if drawings:
        places = st.columns([1.75, 1])
        if numbers:
            places += st.columns([1.2, 1.2, 1])
            places[4].html(numbers)
        for place, drawing in zip(places, drawings, strict=False):
            with place:
                drawing.send()
    before, session.resting = session.resting, _rest_level(session, runner)
    if session.resting > before:  # the timer can stop; rarely done, because a rerun of the page may swallow a click
        st.rerun()


def _update_sliders(session: Session, now: Snapshot) -> None:
    """Redraw the page when a change scheduled in the link has moved a value that a slider shows."""
    model = now.model_at(now.t)
    values = {key: float(getattr(model, key)) for key in session.slider_values if hasattr(model, key)}
    if values != session.slider_values and not session.pending:
        session.slider_values = values
        st.rerun()


def _charts(session: Session, now: Snapshot) -> list[LiveChart]:
    """A to D."""
    per_pair, log, bound = (bool(view_state.view(name)) for name in ("per_pair", "log_loss", "bound"))
    loss = partial(charts.loss, per_pair=per_pair, log=log, bound=bound)
    return [
        _chart(session, now, _quality(session, now), "chart_a", 212, *((NARROW, 0) if session.narrow else WIDE)),
        _chart(session, now, beside_pinned(session, now, charts.hills), "chart_b", 212),
        _chart(session, now, beside_pinned(session, now, loss), "chart_c", 178),
        _chart(session, now, beside_pinned(session, now, charts.tau), "chart_d", 178),
    ]


def _chart(
    session: Session, now: Snapshot, chart: Chart, key: str, height: int, width: int = NARROW, beside_title: int = 0
) -> LiveChart:
    """With its caption, on axes that only grow."""
    steady = session.axis_ranges.widen(key, chart, remember=now.t >= WINDOW)
    return live_chart(steady, key, height, width, beside_title=beside_title, caption=True)


def _stage_charts(session: Session, now: Snapshot) -> list[LiveChart]:
    """A and B, large enough for the back row; at the usual size on a phone."""
    if session.narrow:
        return _charts(session, now)[:2]
    return [
        live_chart(_quality(session, now), "chart_a", 400, 760, theme.SIZE_STAGE, caption=True),
        live_chart(charts.hills(now), "chart_b", 400, 425, theme.SIZE_STAGE, caption=True),
    ]


def _quality(session: Session, now: Snapshot) -> Chart:
    return reference_runs.quality(session, now, QUALITY[view_state.view("quality") or "mAP"])


def gallery_area(session: Session) -> None:
    """A query and its ten nearest items; slower than the charts, because codes only change at checkpoints."""
    runner = live_run.runner(session)
    every = 2.0 if runner.state not in RESTING else None
    fragment(partial(_gallery, session), key="gallery", every=every)


def _gallery(session: Session) -> None:
    runner = live_run.runner(session)
    if runner.run is None:
        if runner.state != "error":
            st.caption("The gallery appears when the live run starts.")
        return
    with runner.between_steps():
        if session.opening_query is None:
            kept = runner.moments.query
            session.opening_query = typical_query(runner.run) if kept is None else kept
        number = session.opening_query if session.query == 0 else session.query
        result = nearest(runner.run, number, row=session.query_row, before=session.before)
        dataset = runner.run.world.dataset
        note = _gallery_note(runner.run, result)
    st.html(gallery_html(result, dataset, dark=dark(), note=note))


def _gallery_note(run: Run, result: Neighbours) -> str:
    """How the mean of all queries went, and why some items share a distance."""
    precision = run.checkpoints.scores.snapshot().get("precision_10", np.empty(0))
    mean = mean_note(result, precision, len(run.checkpoints.judge.queries))
    return f"{mean} {ties_note(result, int(run.hasher.r), int(getattr(run.hasher, 'T', 1)))}".strip()


def _waiting(session: Session) -> str:
    place = live_run.hub().place_in_line(session.id)
    if place:
        limit = live_run.hub().limit
        runs = f"This server runs {limit} experiment{'s' * (limit != 1)} at a time"
        return f"{runs}; yours is number {place} in line and starts automatically."
    return "Preparing the data and compiling the kernels; this takes a few seconds the first time on a machine."
