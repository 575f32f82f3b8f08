"""Below the fold, closed: more charts, theory and health, tables, runs so far, code for this run."""

from functools import partial
from typing import TypeGuard

import streamlit as st

from ohash.engine.export import code_for
from ohash.engine.narrative import pairs_in_words, settings_that_differ
from ohash.engine.snapshot import Snapshot
from ohash.plots.chart import Chart
from ohash.plots.live import charts
from ohash.ui import state
from ohash.ui import view_state as memory
from ohash.ui.data import own_data as yours
from ohash.ui.live.numbers import health_markdown
from ohash.ui.live.page import RESTING, ready
from ohash.ui.runs import COLUMNS, SessionRuns, frame
from ohash.ui.session import Past, Session
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.slots import distinct, slot, when

MORE = {
    "More charts": (
        "tau_quantiles",
        "update_rate",
        "bits",
        "per_bit",
        "bit_balance",
        "selections",
        "stale_gap",
        "prequential",
        "both_truths",
        "cost",
    ),
    "Theory and health": ("certificate",),
}


def below_the_fold(session: Session) -> None:
    """Expanders that cost next to nothing while they are closed, and follow the run while they are open."""
    session.reading = _reading()
    every = 1.0 if session.reading and state.runner(session).state not in RESTING else None
    fragment(partial(_below, session), key="below", every=every)


def _below(session: Session) -> None:
    now = state.runner(session).snapshot()
    for title, names in MORE.items():
        with st.expander(title, key=f"open_{names[0]}", on_change="rerun") as more:
            if more.open and _there(now):
                if "certificate" in names:
                    st.markdown(health_markdown(now))
                _charts(now, names)
    with st.expander("Tables: every chart as numbers", key="open_tables", on_change="rerun") as tables:
        if tables.open and _there(now):
            for name, draw in charts.CHARTS.items():
                chart: Chart = draw(now)
                if not chart.empty:
                    st.caption(chart.title)
                    st.dataframe(chart.table(), height=200, key=f"table_{name}", hide_index=True, alt=chart.alt)
    with st.expander("Runs so far", key="open_runs", on_change="rerun") as so_far:
        if so_far.open:
            lines = SessionRuns(session).list()
            st.dataframe(
                frame(session, lines), key="runs_so_far", hide_index=True, column_config=COLUMNS,
                alt="The runs of this tab with their scores",
            )  # fmt: skip
            _choose_reference(session)
            st.page_link("pages/runs.py", label="Overlay, compare, keep and export them on the Runs page")
    with st.expander("Code for this run", key="open_code", on_change="rerun") as code:
        if code.open:
            st.code(code_for(session.params, yours.files_of(session, session.params.content)), language="python")
    if _reading() != session.reading or session.redraw:  # the timer is needed from now on, or no longer; or a pin
        session.redraw = False
        st.rerun()


def _choose_reference(session: Session) -> None:
    """Pin one of the past runs in chart A."""
    if not session.past:
        return
    names = {past.key: _told_apart(session, past) for past in session.past[::-1]}
    names = distinct({"": "none", **names})
    pinned = slot("pinned", session.pinned if session.pinned in names else "", tuple(names))
    st.selectbox(
        "Pinned in the first chart as the reference", pinned.options, pinned.index, key=pinned.key,
        format_func=names.__getitem__, on_change=when(pinned, partial(_pin, session)),
    )  # fmt: skip


def _told_apart(session: Session, past: Past) -> str:
    """By what it has otherwise than the present run."""
    different = settings_that_differ(session.params, past.now.params)
    return ", ".join(text for text in (past.label, different, pairs_in_words(past.now.t)) if text)


def _pin(session: Session, key: str) -> None:
    session.pinned = key
    session.redraw = True


def _reading() -> bool:
    return memory.any_open(*(f"open_{names[0]}" for names in MORE.values()), "open_tables", "open_runs")


def _there(now: Snapshot | None) -> TypeGuard[Snapshot]:
    if now is None:
        st.caption("This comes with the first pairs.")
    return now is not None


def _charts(now: Snapshot, names: tuple[str, ...]) -> None:
    several = len(now.selections) > 1  # models to choose from
    wanted = [name for name in names if several or name != "selections"]
    drawn = [ready(getattr(charts, name)(now), f"more_{name}", 240) for name in wanted]
    columns = st.columns(2)
    for at, one in enumerate(drawn):
        with columns[at % 2]:
            one.send()
