"""What can be done with a data set: watch a run on it, compare methods on it, or ask whether to learn from clicks."""

import streamlit as st

from ohash.advice.params import AdviceParams
from ohash.engine.params import OWN, experiment
from ohash.ui.parts.catalogue import split_key
from ohash.ui.session import advice_run, comparisons, live_run
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown


def watch(session: Session, key: str, **values: object) -> None:
    """Start a run on this dataset and go to Live; on data that a link needs, the run of that link."""
    dataset, content = split_key(key)
    try:
        linked = dataset == OWN and session.params.content == content and not values
        params = session.params if linked else experiment(dataset, "oh", content=content, **values)
        session.playing = True
        live_run.commit(session, params)
    except ValueError as error:
        st.error(f"The run could not start: {escape_markdown(error)}.", icon=":material/error:")
        return
    st.switch_page("pages/live.py")


def compare(session: Session, key: str) -> None:
    """Start a comparison on this dataset and go to Compare; on data that a link needs, the comparison of that link."""
    dataset, content = split_key(key)
    linked = session.comparison
    if linked is not None and not (dataset == OWN and linked.content == content):
        linked = None
    try:
        comparisons.choose(session, linked or comparisons.default_comparison(session, dataset, content))
    except ValueError as error:
        st.error(f"The comparison could not start: {escape_markdown(error)}.", icon=":material/error:")
        return
    st.switch_page("pages/compare.py")


def advise(session: Session, key: str) -> None:
    """Ask whether to learn from the clicks or labels of this dataset; the linked question if it is about these data."""
    dataset, content = split_key(key)
    linked = session.advice
    if linked is None or (linked.dataset, linked.content) != (dataset, content):
        linked = AdviceParams(dataset, content)
    advice_run.choose(session, linked)
    st.switch_page("pages/advise.py")
