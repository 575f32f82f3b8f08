"""Presets, play and pause, step, reset, seed, pace, the views of the charts, and the gallery's buttons."""

import secrets
from functools import partial

import streamlit as st

from ohash.engine.live.pace import Pace
from ohash.engine.live.presets import PRESETS, Preset, preset
from ohash.engine.live.runner import Runner
from ohash.models.registry import find
from ohash.plots.live.ghosts import comparable
from ohash.ui import state
from ohash.ui import view_state as memory
from ohash.ui.live import page as live
from ohash.ui.live.numbers import health_markdown
from ohash.ui.session import Session
from ohash.ui.workarounds.slots import once, slot, when

PACES: dict[str, Pace] = {
    "accelerating": "accelerating", "10/s": 10.0, "100/s": 100.0, "1,000/s": 1000.0, "10,000/s": 10_000.0,
    "unlimited": "unlimited",
}  # fmt: skip
STEPS = (1, 10, 100, 1000)
SHOWN = 3


def presets(session: Session) -> None:
    """The stories: the first ones as buttons, the rest behind "more"."""
    for one in PRESETS[:SHOWN]:
        _preset_button(session, one.key)
    with st.popover("More presets", type="tertiary", key="open_presets", on_change="rerun") as more:
        if more.open:
            for one in PRESETS[SHOWN:]:
                _preset_button(session, one.key)
    told = _story(session)
    if session.difference:
        told = f"New run: {session.difference}."
        kept = any(comparable(ghost, session.params) for ghost in session.ghosts[-1:])
        told += " The old one stays as a thin line." if kept else ""
    st.caption(told, width="stretch")
    st.button("Present", icon=":material/slideshow:", on_click=once(_present), args=(session, True), key="present")


def _story(session: Session) -> str:
    """Of a preset behind "more" the name, too, as no button shows it."""
    if not session.preset:
        return ""
    chosen = preset(session.preset)
    if session.params.changes:
        return f"{chosen.title}, changed on the way."
    return chosen.story if chosen in PRESETS[:SHOWN] else f"{chosen.title}: {chosen.story}"


def bar(session: Session, runner: Runner) -> None:
    """Transport; on the stage only what a lecturer needs."""
    over = runner.state in ("done", "error", "stopped")
    going = session.playing and not over
    with st.container(horizontal=True, key="transport", vertical_alignment="center"):
        st.button(
            "Pause" if going else "Play again" if over else "Play", type="primary",
            icon=":material/pause:" if going else ":material/play_arrow:",
            on_click=once(_play_pause), args=(session, runner), key="play",
            help="The same from the first pair, with every change made on the way." if over else None,
        )  # fmt: skip
        st.button(
            "Step", icon=":material/skip_next:", shortcut="right", on_click=once(_step), args=(session, runner),
            key="step", disabled=over,
        )  # fmt: skip
        st.selectbox(
            "pairs a step", STEPS, key="view_step", label_visibility="collapsed", width=92,
            format_func=lambda n: f"{n:,}",
        )  # fmt: skip
        st.button(
            "Reset",
            icon=":material/replay:",
            on_click=once(state.restart),
            args=(session,),
            key="reset",
            help="From the first pair, without the changes made on the way. Key: R",
        )
        with st.container(horizontal=True, key="more", width="content", vertical_alignment="center"):
            _more(session, runner)
        st.button("Back", icon=":material/close:", on_click=once(_present), args=(session, False), key="back")


def _more(session: Session, runner: Runner) -> None:
    """Seed, pace, what chart A shows, views, health."""
    st.button("New seed", icon=":material/casino:", on_click=once(_new_seed), args=(session,), key="new_seed")
    pace = slot("pace", _pace_name(session.pace), tuple(PACES))
    st.selectbox(
        "pace", pace.options, pace.index, key=pace.key, label_visibility="collapsed", width=150,
        on_change=when(pace, partial(_set_pace, session)),
    )  # fmt: skip
    st.segmented_control(
        "quality", list(live.QUALITY), default="mAP", key="view_quality", label_visibility="collapsed", required=True
    )
    with st.popover("Views", icon=":material/tune:"):
        st.toggle("loss: average per pair", key="view_per_pair")
        st.toggle("loss: logarithmic axes", key="view_log_loss")
        st.toggle("loss: the certificate's bound", key="view_bound")
    with st.popover("Health", icon=":material/monitor_heart:", key="health", on_change="rerun") as opened:
        now = runner.snapshot() if opened.open else None
        if now is not None:
            st.markdown(health_markdown(now))


def gallery_bar(session: Session) -> None:
    """Which query, and before or now."""
    with st.container(horizontal=True, key="gallery_bar", vertical_alignment="center"):
        own = session.own.get(session.params.content)
        signs = "✓ relevant, ✗ not" if own is None or own.pairs is None else "✓ said to be similar, ? not said"
        unit = "the method's own distance" if find(session.params.method).asymmetric else "Hamming distance in bits"
        st.markdown(f"**A query and its ten nearest** · {signs}, {unit}")
        st.button(
            "Another query",
            icon=":material/shuffle:",
            on_click=once(state.another_query),
            args=(session,),
            key="another",
        )
        codes = slot("codes", "before" if session.before else "now", ("now", "before"))
        st.segmented_control(
            "codes", codes.options, default=codes.initial, key=codes.key, label_visibility="collapsed", required=True,
            on_change=when(codes, partial(_before, session)),
        )  # fmt: skip


def _preset_button(session: Session, key: str) -> None:
    one = preset(key)
    st.button(
        one.title, key=f"preset_{key}", on_click=once(_start), args=(session, one), help=one.story,
        type="primary" if session.preset == key else "tertiary",
    )  # fmt: skip


def _start(session: Session, one: Preset) -> None:
    state.start_preset(session, one)
    memory.close("open_presets")


def _play_pause(session: Session, runner: Runner) -> None:
    if runner.state in ("done", "error", "stopped"):
        session.playing = True
        state.commit(session, session.params, preset=session.preset, keep_ghost=False)
        return
    session.playing = not session.playing
    for one in state.hub().lease(session.id).runners():
        one.resume() if session.playing else one.pause()


def _step(session: Session, runner: Runner) -> None:
    session.playing = False
    steps = int(memory.view("step") or 1)
    for one in state.hub().lease(session.id).runners():
        one.step(steps)
    runner.wait_for_step()


def _new_seed(session: Session) -> None:
    state.commit(session, session.params.with_values(seed=secrets.randbelow(10_000)), preset=session.preset)


def _set_pace(session: Session, name: str) -> None:
    session.pace = PACES[name]
    for one in state.hub().lease(session.id).runners():
        one.pace(session.pace)


def _pace_name(pace: Pace) -> str:
    return next(name for name, value in PACES.items() if value == pace)


def _before(session: Session, codes: str) -> None:
    session.before = codes == "before"


def _present(session: Session, wanted: bool) -> None:
    session.present = wanted
