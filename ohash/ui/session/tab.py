"""The session of this browser tab, opened from the address bar. Touches session_state."""

import secrets
from typing import Any

import streamlit as st

from ohash.engine.live.presets import PRESETS
from ohash.engine.params import ExperimentParams
from ohash.ui.session import access, address, advices, comparisons, live_run, own_data
from ohash.ui.session.hub import Hub
from ohash.ui.session.session import Session
from ohash.ui.workarounds import router


def current_session(own_query: bool = False) -> Session:
    """The session of this tab; a new one is opened from the address bar, unless the page has a query of its own."""
    session: Session | None = st.session_state.get("ohash")
    if session is None:
        router.require_router()
        session = Session(id=secrets.token_hex(8), params=PRESETS[0].params(), preset=PRESETS[0].key)
        st.session_state["ohash"] = session
        link = address.Link() if own_query else address.read()
        session.link_problems, session.warnings = link.problems, link.warnings
        if link.params is not None:
            session.params, session.preset, session.from_link = link.params, _preset_of(link.params), True
        session.present = address.present()
        scene = next((one for one in PRESETS if one.key == session.present), None)
        if scene is not None and link.params is None:
            session.params, session.preset = scene.params(), scene.key
        session.comparison, session.advice = link.comparison, link.advice
        own_data.restore(session)
        own_data.add_command_line_data(session, first=link == address.Link())
    _connection(session.id)
    for hub in _hubs():
        hub.assign(session.id, access.visitor())
        hub.attach(session.id)
    return session


def _detach(session: str) -> None:
    for hub in _hubs():
        hub.detach(session)


def _hubs() -> tuple[Hub[Any], ...]:
    """Of everything that runs for a session."""
    return live_run.hub(), comparisons.hub(), advices.hub()


@st.cache_resource(scope="session", on_release=_detach, show_spinner=False)
def _connection(session: str) -> str:
    """Lives as long as the connection: when it is released, the hubs learn that the session is gone."""
    return session


def _preset_of(params: ExperimentParams) -> str:
    """The preset that has this experiment, with whatever seed, or ""."""
    return next((one.key for one in PRESETS if one.params().with_values(seed=params.seed) == params), "")
