"""On a phone: a strip at the bottom of the screen with Play and one slider, beside whatever chart is in view."""

from functools import partial

import streamlit as st

from ohash.engine.live.runner import Runner
from ohash.engine.params import rows_of
from ohash.ui.live import rail, transport
from ohash.ui.parts.controls import control
from ohash.ui.session.session import Session
from ohash.ui.workarounds.slots import on_choice, once, slot


def strip(session: Session, runner: Runner) -> None:
    """Play or pause, which parameter, and its slider; nothing on a wide screen, where the rail is in view."""
    rows = rows_of(session.params)
    names = [key for key in rail.VISIBLE if key in rows]
    if not session.narrow or not names:
        return
    session.docked = session.docked if session.docked in names else names[0]
    with st.container(key="dock", horizontal=True, vertical_alignment="center"):
        playing, over = transport.is_playing(session, runner), runner.state in transport.OVER
        st.button(
            "Pause" if playing else "Play", icon=":material/pause:" if playing else ":material/play_arrow:",
            type="primary", key="dock_play", on_click=once(transport.play_pause), args=(session, over),
        )  # fmt: skip
        chosen = slot("docked", session.docked, names)
        st.selectbox(
            "parameter", chosen.options, chosen.index, key=chosen.key, label_visibility="collapsed", width=64,
            format_func=lambda key: rows[key].symbol, on_change=on_choice(chosen, partial(_choose, session)),
        )  # fmt: skip
        row = rows[session.docked]
        control(
            row,
            rail.current_values(session)[row.key],
            partial(rail.change, session),
            name=f"dock_{row.key}",
            label=False,
        )


def _choose(session: Session, key: str) -> None:
    session.docked = key
