"""The rail of the page: the data, and how much is measured."""

from typing import Any

import streamlit as st

from ohash.advice.params import AdviceParams, rows
from ohash.ui.parts import catalogue
from ohash.ui.parts.controls import control
from ohash.ui.session import advices
from ohash.ui.session.session import Session


def controls(session: Session, now: AdviceParams) -> None:
    """All controls; any change asks again."""
    choose_data(session, now)
    for key, row in rows().items():
        control(row, getattr(now.options, key), lambda key, value: _change(session, key, value), name=f"advise_{key}")
    st.page_link("pages/data.py", label="Bring your own vectors and clicks", icon=":material/upload:")


def choose_data(session: Session, now: AdviceParams) -> None:
    """The data set."""

    def pick(key: str) -> None:
        dataset, content = catalogue.split_key(key)
        advices.choose(session, AdviceParams(dataset, content, now.options))

    catalogue.choose(session, "advise_data", now.dataset, now.content, pick)


def _change(session: Session, key: str, value: Any) -> None:
    assert session.advice is not None
    try:
        advices.choose(session, session.advice.with_values(**{key: value}))
    except ValueError as error:
        session.warnings = [str(error)]
