"""Presets, play and pause, step, reset, seed, pace, and the buttons of the gallery.

On a phone also a strip at the bottom of the screen with Play and one slider, beside whatever chart is in view.
"""

import secrets
from functools import partial

import streamlit as st

from ohash.engine.live.pace import Pace
from ohash.engine.live.presets import PRESETS, Preset, preset
from ohash.engine.live.runner import Runner
from ohash.engine.params import rows_of
from ohash.models.registry import find
from ohash.plots.live.other_runs import comparable
from ohash.ui.live import rail
from ohash.ui.live.health import health_area
from ohash.ui.parts import present
from ohash.ui.parts.controls import control
from ohash.ui.session import live_run, view_state
from ohash.ui.session.session import Session
from ohash.ui.workarounds.slots import on_choice, once_per_press, slot

PACES: dict[str, Pace] = {
    "accelerating": "accelerating", "10/s": 10.0, "100/s": 100.0, "1,000/s": 1000.0, "10,000/s": 10_000.0,
    "unlimited": "unlimited",
}  # fmt: skip
STEPS = (1, 10, 100, 1000)
BUTTONS = 3  # presets shown as buttons
OVER = ("done", "error", "stopped")


def presets(session: Session) -> None:
    """The presets: the first ones as buttons, the rest behind "More presets"."""
    for one in PRESETS[:BUTTONS]:
        _preset_button(session, one.key)
    with st.popover("More presets", type="tertiary", key="open_presets", on_change="rerun") as more:
        if more.open:
            for one in PRESETS[BUTTONS:]:
                _preset_button(session, one.key)
    caption = _story(session)
    if session.difference:
        has_ghost = any(comparable(ghost, session.params) for ghost in session.ghosts[-1:])
        thin_line = " The previous run stays as a thin line." if has_ghost else ""
        caption = f"New run: {session.difference}.{thin_line}"
    st.caption(caption, width="stretch")
    present.enter_button(session)


def _story(session: Session) -> str:
    """The story of the chosen preset, with its title if no button shows it."""
    if not session.preset:
        return ""
    chosen = preset(session.preset)
    if session.params.changes:
        return f"{chosen.title}, with changes made during the run."
    return chosen.story if chosen in PRESETS[:BUTTONS] else f"{chosen.title}: {chosen.story}"


def bar(session: Session, runner: Runner) -> None:
    """Play, step, reset and the rest; present mode hides all but what a lecturer needs."""
    over = runner.state in OVER
    playing = is_playing(session, runner)
    with st.container(horizontal=True, key="transport", vertical_alignment="center"):
        st.button(
            "Pause" if playing else "Play again" if over else "Play", type="primary",
            icon=":material/pause:" if playing else ":material/play_arrow:",
            on_click=once_per_press(play_pause), args=(session, over), key="play",
            help="Run it again from the first pair, with every change made during the run." if over else None,
        )  # fmt: skip
        st.button(
            "Step", icon=":material/skip_next:", shortcut="right", on_click=once_per_press(_step), args=(session,),
            key="step", disabled=over,
        )  # fmt: skip
        st.selectbox(
            "pairs per step", STEPS, key="view_step", label_visibility="collapsed", width=92,
            format_func=lambda n: f"{n:,}",
        )  # fmt: skip
        st.button(
            "Reset",
            icon=":material/replay:",
            on_click=once_per_press(live_run.restart),
            args=(session,),
            key="reset",
            help="Restart from the first pair, without the changes made during the run. Key: R",
        )
        with st.container(horizontal=True, key="more", width="content", vertical_alignment="center"):
            _more(session)
        with st.container(horizontal=True, key="present_bar", width="content", vertical_alignment="center"):
            present.choose_view(session)
            present.other_pages("pages/live.py")
            present.back_button(session)


def _more(session: Session) -> None:
    """Seed, the last pair, pace, health."""
    st.button("New seed", icon=":material/casino:", on_click=once_per_press(_new_seed), args=(session,), key="new_seed")
    if find(session.params.method).key in ("oh", "mmoh") and st.button(
        "Take apart", icon=":material/biotech:", key="take_apart", help="The last pair learnt, step by step."
    ):
        session.pair, session.own_pair, session.stages_shown = None, None, 1
        st.switch_page("pages/step.py")
    five = slot("five_seeds", session.five_seeds)
    st.toggle(
        "Five seeds", five.initial, key=five.key, on_change=on_choice(five, partial(_five_seeds, session)),
        help="Run four more seeds in the background: the first chart then shows their median and spread.",
    )  # fmt: skip
    pace = slot("pace", _pace_name(session.pace), tuple(PACES))
    st.selectbox(
        "pace", pace.options, pace.index, key=pace.key, label_visibility="collapsed", width=150,
        on_change=on_choice(pace, partial(_set_pace, session)),
    )  # fmt: skip
    with st.popover("Health", icon=":material/monitor_heart:", key="health", on_change="rerun") as popover:
        if popover.open:
            health_area(session)


def _five_seeds(session: Session, value: bool) -> None:
    session.five_seeds = value


def gallery_bar(session: Session) -> None:
    """Which query, and whether by the codes of before or now."""
    with st.container(horizontal=True, key="gallery_bar", vertical_alignment="center"):
        own = session.own.get(session.params.content)
        signs = "✓ relevant, ✗ not relevant" if own is None or own.pairs is None else "✓ known to be similar, ? unknown"
        unit = "estimated distance" if find(session.params.method).asymmetric else "distance in bits"
        title = "<b>A query and its ten nearest items</b>"
        st.html(f'<h2 class="ohash-heading">{title} · {signs} · {unit}</h2>', width="content")
        st.button(
            "Next query",
            icon=":material/shuffle:",
            on_click=once_per_press(live_run.next_query),
            args=(session,),
            key="another",
        )
        codes = slot("codes", "before" if session.before else "now", ("now", "before"))
        st.segmented_control(
            "codes", codes.options, default=codes.initial, key=codes.key, label_visibility="collapsed", required=True,
            on_change=on_choice(codes, partial(_set_codes, session)),
        )  # fmt: skip


def _preset_button(session: Session, key: str) -> None:
    one = preset(key)
    st.button(
        one.title, key=f"preset_{key}", on_click=once_per_press(_start), args=(session, one), help=one.story,
        type="primary" if session.preset == key else "tertiary",
    )  # fmt: skip


def _start(session: Session, preset: Preset) -> None:
    live_run.start_preset(session, preset)
    view_state.close("open_presets")


def is_playing(session: Session, runner: Runner) -> bool:
    """Whether the run goes on."""
    return session.playing and runner.state not in OVER


def play_pause(session: Session, again: bool) -> None:
    """Pause or go on; with `again` a run that is over begins again.

    The button may have been drawn for an earlier run, or when this one was not over yet: `again` is what it said, and
    whoever presses Pause restarts nothing.
    """
    over = live_run.runner(session).state in OVER
    if over and again:
        session.playing = True
        live_run.commit(session, session.params, preset=session.preset, keep_ghost=False)
    if over:
        return
    live_run.own_runner(session)
    session.playing = again or not session.playing
    for one in live_run.hub().lease(session.id).runners():
        one.resume() if session.playing else one.pause()


def _step(session: Session) -> None:
    runner, session.playing = live_run.own_runner(session), False
    steps = int(view_state.view("step") or 1)
    for one in live_run.hub().lease(session.id).runners():
        one.step(steps)
    runner.wait_for_step()


def _new_seed(session: Session) -> None:
    live_run.commit(session, session.params.with_values(seed=secrets.randbelow(10_000)), preset=session.preset)


def _set_pace(session: Session, name: str) -> None:
    live_run.own_runner(session)
    session.pace = PACES[name]
    for one in live_run.hub().lease(session.id).runners():
        one.pace(session.pace)


def _pace_name(pace: Pace) -> str:
    return next(name for name, value in PACES.items() if value == pace)


def _set_codes(session: Session, codes: str) -> None:
    session.before = codes == "before"


def dock(session: Session, runner: Runner) -> None:
    """Play or pause, which parameter, and its slider; nothing on a wide screen, where the rail is in view."""
    rows = rows_of(session.params)
    names = [key for key in rail.VISIBLE if key in rows]
    if not session.narrow or not names:
        return
    session.phone_slider = session.phone_slider if session.phone_slider in names else names[0]
    with st.container(key="dock", horizontal=True, vertical_alignment="center"):
        playing, over = is_playing(session, runner), runner.state in OVER
        st.button(
            "Pause" if playing else "Play", icon=":material/pause:" if playing else ":material/play_arrow:",
            type="primary", key="dock_play", on_click=once_per_press(play_pause), args=(session, over),
        )  # fmt: skip
        chosen = slot("docked", session.phone_slider, names)
        st.selectbox(
            "parameter", chosen.options, chosen.index, key=chosen.key, label_visibility="collapsed", width=64,
            format_func=lambda key: rows[key].symbol, on_change=on_choice(chosen, partial(_set_phone_slider, session)),
        )  # fmt: skip
        row = rows[session.phone_slider]
        control(
            row,
            rail.current_values(session)[row.key],
            partial(rail.change, session),
            name=f"dock_{row.key}",
            label=False,
        )


def _set_phone_slider(session: Session, key: str) -> None:
    session.phone_slider = key
