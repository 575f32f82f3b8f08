"""The session of this browser tab, opened from the address bar; and what its browser reports. Touches session_state."""

import secrets
from dataclasses import replace
from functools import cache

import streamlit as st

from ohash.advice.runner import AdviceRunner
from ohash.comparison.runner import ComparisonRunner
from ohash.engine.live.presets import PRESETS
from ohash.engine.live.runner import Runner
from ohash.engine.params import ExperimentParams
from ohash.models.registry import find
from ohash.ui.session import access, address, advice_run, comparisons, live_run, own_data, view_state
from ohash.ui.session.hub import Hub
from ohash.ui.session.session import Session
from ohash.ui.workarounds import router
from ohash.ui.workarounds.browser import BrowserReport, listen

# of a session whose tab turns to another experiment
KEPT = ("earlier", "narrow", "reduced_motion", "comparison", "comparison_work", "advice", "advice_work")


def current_session(own_query: bool = False) -> Session:
    """The session of this tab; a new one is opened from the address bar, unless the page has a query of its own.

    The tab of a class that follows the lecturer has a session already, and turns to an address that is new to it.
    """
    session: Session | None = st.session_state.get("ohash")
    place = address.place()
    if session is None:
        router.require_router()
        session = st.session_state["ohash"] = _open(secrets.token_hex(8), own_query)
        session.place = place
    elif place not in ("", session.place):
        session = st.session_state["ohash"] = _follow_address(session, own_query)
        session.place = place  # before the mark is dropped: the page may be interrupted in between, and run again
    address.drop_place()
    _connection(session.id)
    for hub in _hubs():
        hub.assign(session.id, access.visitor(), teaches=access.is_class() and access.is_owner())
        hub.attach(session.id)
    return session


def _open(name: str, own_query: bool) -> Session:
    """What a tab is opened with: what the address names."""
    session = Session(id=name, params=PRESETS[0].params(), preset=PRESETS[0].key)
    link = address.Link(problems=tuple(address.view_problems(own_query))) if own_query else address.read()
    session.link_problems, session.warnings = link.problems, link.warnings
    if link.params is not None:
        session.params, session.preset, session.from_link = link.params, _preset_of(link.params), True
    session.present = address.present()
    scene = next((one for one in PRESETS if one.key == session.present), None)
    if scene is not None and link.params is None:
        session.params, session.preset = scene.params(), scene.key
    session.comparison, session.advice = link.comparison, link.advice
    own_data.restore(session)
    own_data.add_command_line_data(session, first=link.names_nothing)
    return session


def _follow_address(session: Session, own_query: bool) -> Session:
    """The session of a tab that follows the lecturer: its experiment goes on if the address names the same one."""
    opened = _open(session.id, own_query)
    if opened.from_link and opened.params != session.params:
        live_run.hub().end(session.id)  # and not remembered: a viewer with earlier runs gets pictures of her own
        kept = {name: getattr(session, name) for name in KEPT}
        own, files = session.own | opened.own, session.files | opened.files
        session = replace(opened, own=own, files=files, playing=not session.reduced_motion, **kept)
    if opened.comparison is not None:
        comparisons.choose(session, opened.comparison)
    if opened.advice is not None:
        advice_run.choose(session, opened.advice)
    session.own_pair, session.what_if = address.items(), address.what_if()
    session.pair, session.stages_shown, session.step_part = address.pair(), address.stage(), address.part()
    session.present, session.link_problems, session.warnings = opened.present, opened.link_problems, opened.warnings
    session.viewed_dataset = session.data_part = ""
    view_state.forget_data_part()
    return session


def _detach(session: str) -> None:
    for hub in _hubs():
        hub.detach(session)


def _hubs() -> tuple[Hub[Runner], Hub[ComparisonRunner], Hub[AdviceRunner]]:
    """The hubs of everything that runs for a session."""
    return live_run.hub(), comparisons.hub(), advice_run.hub()


@st.cache_resource(scope="session", on_release=_detach, show_spinner=False)
def _connection(session: str) -> str:
    """Lives as long as the connection: when it is released, the hubs learn that the session is gone."""
    return session


def _preset_of(params: ExperimentParams) -> str:
    """The preset that has this experiment, with whatever seed, or ""."""
    experiment = params.with_values(seed=0)
    return next((key for key, preset in _with_seed_0().items() if preset == experiment), "")


@cache
def _with_seed_0() -> dict[str, ExperimentParams]:
    """Every preset, made once for all sessions."""
    return {one.key: one.params().with_values(seed=0) for one in PRESETS}


def follow_browser(session: Session) -> None:
    """Note what the browser reports; with reduced motion a run waits for Play, and a comparison is redrawn rarely."""

    def report(browser: BrowserReport) -> None:
        session.narrow, session.reduced_motion = browser.narrow, browser.reduced_motion
        if session.reduced_motion and session.playing:  # restart what began when the page was opened
            session.playing = False
            live_run.commit(session, session.params, preset=session.preset, keep_ghost=False)

    def choose_query(row: int | None) -> None:
        session.query_row = row

    def choose_pair(pair: int) -> None:
        if find(session.params.method).key in ("oh", "mmoh"):
            session.pair, session.own_pair, session.stages_shown = pair, None, 1
            session.opens_step = True

    listen(report, choose_query, choose_pair)
