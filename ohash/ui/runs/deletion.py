"""Deleting runs: it asks first, and can be undone."""

import streamlit as st

from ohash.store.store import StoreError
from ohash.ui.parts.notices import show_error
from ohash.ui.session.run_store import AllRuns
from ohash.ui.session.session import EarlierRun, Session
from ohash.ui.workarounds.markdown import escape_markdown

MOST_NAMED = 3


def ask(session: Session, store: AllRuns) -> None:
    """The question, while runs wait for its answer; the answer "undo" for those deleted last."""
    if session.deleting:
        _question(session, store)
    elif session.deleted:
        _offer_undo(session, store)


def _question(session: Session, store: AllRuns) -> None:
    names = {line.key: f"{line.name} on {line.data}" for line in store.list()}
    keys = [key for key in session.deleting if key in names]
    some = "; ".join(escape_markdown(names[key]) for key in keys[:MOST_NAMED])
    more = f"; and {len(keys) - MOST_NAMED} more" if len(keys) > MOST_NAMED else ""
    with st.container(border=True, horizontal=True, key="delete_question", vertical_alignment="center"):
        st.markdown(f"Delete {_count(len(keys))}? {some}{more}")
        if st.button(f"Delete {_count(len(keys))}", type="primary", icon=":material/delete:", key="delete_yes"):
            _delete(session, store, keys)
        if st.button("Keep", key="delete_no"):
            session.deleting = []
            st.rerun()


def _delete(session: Session, store: AllRuns, keys: list[str]) -> None:
    remembered = [run for run in session.earlier if run.key in keys]
    try:
        store.delete(keys)
    except StoreError as error:
        show_error(error)
        return
    session.deleted, session.deleting = (keys, remembered), []
    st.rerun()


def _offer_undo(session: Session, store: AllRuns) -> None:
    assert session.deleted is not None
    keys, remembered = session.deleted
    with st.container(border=True, horizontal=True, key="delete_undo_row", vertical_alignment="center"):
        st.markdown(f"{_count(len(keys)).capitalize()} deleted. Saved ones stay in the trash for a month.")
        if st.button("Undo", icon=":material/undo:", key="delete_undo"):
            _undo(session, store, keys, remembered)
        if st.button("Close", icon=":material/close:", key="delete_close"):
            session.deleted = None
            st.rerun()


def _undo(session: Session, store: AllRuns, keys: list[str], remembered: list[EarlierRun]) -> None:
    try:
        store.restore(keys)
    except StoreError as error:
        show_error(error)
        return
    session.earlier = [*remembered, *session.earlier]
    session.deleted = None
    st.rerun()


def _count(n: int) -> str:
    return f"{n} runs" if n != 1 else "1 run"
