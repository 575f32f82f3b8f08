"""Names of methods in select boxes, with what they learn from; and the card of a method."""

import streamlit as st

from ohash.comparison.results import supervision_text
from ohash.models.base import HasherSpec
from ohash.models.registry import ABSENT
from ohash.ui.workarounds.markdown import escape_markdown


def describe_supervision(title: str, spec: HasherSpec) -> str:
    """A method's title, what it learns from, and the package it needs if that is missing."""
    needs = f" · needs {spec.needs}" if spec.missing else ""
    return f"{title} · {supervision_text(spec.supervision)}{needs}"


def with_absent(text: str) -> str:
    """The help of a list of methods: `text`, and which methods are not in the list and why."""
    return "\n\n".join([text, *(escape_markdown(str(absent)) for absent in ABSENT)])


def show_card(spec: HasherSpec) -> None:
    """Where a method comes from, what it was made for, how it differs from the original, what it was compared with."""
    differs = f"Differs from the original: {spec.differs}" if spec.differs else ""
    for text in (f"{spec.cite}." if spec.cite else "", f"Made for {spec.features_text}.", differs, spec.checked_text):
        if text:
            st.caption(escape_markdown(text))
