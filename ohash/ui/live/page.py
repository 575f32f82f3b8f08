"""The ticking part of the Live page: one fragment that polls the newest snapshot and draws it."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from ohash.engine.gallery import nearest
from ohash.engine.live.presets import preset
from ohash.engine.live.runner import Runner
from ohash.engine.narrative import headline
from ohash.engine.snapshot import Snapshot
from ohash.plots import theme
from ohash.plots.chart import Chart
from ohash.plots.echarts import option
from ohash.plots.live import charts
from ohash.ui import address, state
from ohash.ui import view_state as memory
from ohash.ui.gallery import gallery_html
from ohash.ui.live import reference_runs as behind
from ohash.ui.live.numbers import numbers_html, words_html
from ohash.ui.live.recording import recording_of
from ohash.ui.session import Session
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.messages import plain
from ohash.ui.workarounds.style import dark

RESTING = ("paused", "done", "error", "stopped")
SOME, ALL = 1, 2
PHONE_SECONDS = 0.5
NARROW = 340  # px: a phone, or half a laptop
QUALITY = {"mAP": "map", "recall@10": "recall_10", "pair-AUC": "auc"}


def picture(session: Session, runner: Runner) -> Snapshot | None:
    """What to draw: the live run, or the recording until the live run is as far."""
    now, in_line = runner.snapshot(), state.hub().place_in_line(session.id) > 0
    asked = session.watched.seconds  # so far the run has been told to come
    seconds = session.watched.look(playing=session.playing and not in_line)
    recorded = recording_of(session.params) if session.recorded and (session.playing or seconds) else None
    if recorded is None or in_line or runner.state in ("done", "error", "stopped"):
        return now
    if now is None or now.t < recorded.pairs(asked):
        return recorded.frame(seconds)
    session.recorded = False
    return now


@dataclass(frozen=True, eq=False)
class Ready:
    """A chart that ticks, worked out and not yet sent: ECharts with a stable key."""

    key: str
    spec: dict[str, Any]
    height: int
    alt: str

    def send(self) -> None:
        """To the browser."""
        st.echarts_chart(self.spec, key=self.key, height=self.height, alt=self.alt)


def ready(chart: Chart, key: str, height: int, width: int = 380, size: int = theme.SIZE_COMPACT) -> Ready:
    """`width` is about what it will have, to wrap its title."""
    return Ready(key, option(chart, dark=dark(), height=height, width=width, size=size, title=True), height, chart.alt)


def live_area(session: Session) -> None:
    """Everything that moves; ticks while the run does."""
    ticking = _at_rest(session, state.runner(session)) < ALL
    every = max(state.hub().interval(), PHONE_SECONDS * session.narrow) if ticking else None
    fragment(partial(_draw, session), key="live", every=every)


def _at_rest(session: Session, runner: Runner) -> int:
    """0 while the run moves, SOME when it rests, ALL when those beside it do, too."""
    if runner.state not in RESTING:
        return 0
    if runner.state == "paused" and (runner.run is None or runner.run.evaluating):
        return 0  # it is still being judged
    return ALL if all(other.state in RESTING for other in state.hub().lease(session.id).beside) else SOME


def _draw(session: Session) -> None:
    runner = state.runner(session)
    hub = state.hub()
    hub.poll(session.id)
    hub.tend()
    if state.instead_of_link(session):
        st.rerun()
    now = picture(session, runner)
    if now is not None and now.state != "recording":
        if now.params != session.params:
            session.params, session.wanted = now.params, {}
            address.write(now.params)
        _follow(session, now)
    badge = "recording" if now is not None and now.state == "recording" else runner.state
    words = words_html(_told(session, now, runner.state), now, badge, dark=dark())
    # all is worked out before anything is sent: the browser draws its whole page again at every pause
    pictures = [] if now is None else _stage(session, now) if session.present else _four(session, now)
    numbers = "" if now is None or session.present else numbers_html(now)
    st.html(words)
    if runner.state == "error":
        st.error(f"{plain(runner.error)}. Change a parameter, or choose a preset.", icon=":material/error:")
    elif not pictures:
        st.info(_waiting(session), icon=":material/hourglass_top:")
    if pictures:
        places = st.columns([1.75, 1])
        if numbers:
            places += st.columns([1.2, 1.2, 1])
            places[4].html(numbers)
        for place, one in zip(places, pictures, strict=False):
            with place:
                one.send()
    before, session.resting = session.resting, _at_rest(session, runner)
    if (
        session.resting > before
    ):  # the timer is no longer needed; a run of the whole page may swallow a click, so it is rare
        st.rerun()


def _follow(session: Session, now: Snapshot) -> None:
    """A change that a link brings comes by itself: then the sliders are drawn again."""
    model = now.params.model_at(now.t)
    has = {key: float(getattr(model, key)) for key in session.shown if hasattr(model, key)}
    if has != session.shown and not session.wanted:
        session.shown = has
        st.rerun()


def _four(session: Session, now: Snapshot) -> list[Ready]:
    """A to D."""
    per_pair, log, bound = (bool(memory.view(name)) for name in ("per_pair", "log_loss", "bound"))
    return [
        ready(_quality(session, now), "chart_a", 235, NARROW if session.narrow else 610),
        ready(charts.hills(now), "chart_b", 235, NARROW),
        ready(charts.loss(now, per_pair=per_pair, log=log, bound=bound), "chart_c", 195, NARROW),
        ready(charts.tau(now), "chart_d", 195, NARROW),
    ]


def _stage(session: Session, now: Snapshot) -> list[Ready]:
    """A and B for the back row; on a phone there is none."""
    if session.narrow:
        return _four(session, now)[:2]
    return [
        ready(_quality(session, now), "chart_a", 400, 760, theme.SIZE_STAGE),
        ready(charts.hills(now), "chart_b", 400, 425, theme.SIZE_STAGE),
    ]


def _quality(session: Session, now: Snapshot) -> Chart:
    return behind.quality(session, now, QUALITY[memory.view("quality") or "mAP"])


def gallery_area(session: Session) -> None:
    """F: a query and its ten nearest; slower than the charts, because codes change only at checkpoints."""
    runner = state.runner(session)
    every = 2.0 if runner.state not in RESTING else None
    fragment(partial(_gallery, session), key="gallery", every=every)


def _gallery(session: Session) -> None:
    runner = state.runner(session)
    if runner.run is None:
        if runner.state != "error":
            st.caption("The pictures come with the live run.")
        return
    with runner.between_steps():
        found = nearest(runner.run, session.query, row=session.row, before=session.before)
        dataset = runner.run.world.dataset
    st.html(gallery_html(found, dataset, dark=dark()))


def _told(session: Session, now: Snapshot | None, doing: str) -> str:
    """The sentence above the charts."""
    if now is not None and now.state == "recording":
        if session.wanted:
            return "A recording plays while kernels are compiled; your change acts when the live run takes over."
        if now.t == now.numbers["end"]:
            return "The recording ends here; the live run takes over as soon as its kernels are compiled."
        if not session.playing:
            return headline(replace(now, state="paused"), session.params, doing)
    return _takeaway(session, now) or headline(now, session.params, doing)


def _takeaway(session: Session, now: Snapshot | None) -> str:
    """How a preset's story ends, with the run's own numbers; of what was changed on the way it tells nothing."""
    if not session.preset or now is None or now.state != "done" or now.params.changes:
        return ""
    beside = [other for other in behind.beside(session) if other.state == "done"]
    return preset(session.preset).conclusion(now, beside[0] if beside else None)


def _waiting(session: Session) -> str:
    place = state.hub().place_in_line(session.id)
    if place:
        most = state.hub().most
        runs = f"This server runs {most} experiment{'s' * (most != 1)} at once"
        return f"{runs}; yours is number {place} in line and starts by itself."
    return "Preparing the data and compiling the kernels; the first time on a machine this takes some seconds."
