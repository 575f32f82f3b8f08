"""What a link or a control got wrong, with a way out.

Words of somebody else in a message: Streamlit takes every text for Markdown, and a link's own words for a link.
"""

import re

import streamlit as st

from ohash.ui.session import Session
from ohash.ui.workarounds.slots import once

MARKUP = re.compile(r"([\\`*_\[\]<>$~|])")
JOINER = "\u2060"  # no space, no width; an address with one in it is not clicked


def plain(words: object) -> str:
    r"""The text as it is, whatever it says.

    >>> plain("[sign in](//evil.example)"), plain("beta must be in (0, 1], got **x**")
    ('\\[sign in\\](/\u2060/evil.example)', 'beta must be in (0, 1\\], got \\*\\*x\\*\\*')
    """
    text = MARKUP.sub(r"\\\1", " ".join(str(words).split()))
    return text.replace("//", f"/{JOINER}/").replace("www.", f"www{JOINER}.").replace("@", f"@{JOINER}")


def warnings(session: Session) -> None:
    """What was not quite right and was left out; in a place of their own, so that nothing below moves by one."""
    with st.container():
        for at, warning in enumerate(session.warnings):
            with st.container(horizontal=True, vertical_alignment="top"):
                st.warning(warning, icon=":material/info:")
                st.button(
                    "Close", icon=":material/close:", on_click=once(_close), args=(session, at), key=f"close_{at}"
                )


def missing(problem: ValueError) -> None:
    """Data that are not here."""
    st.error(f"{plain(problem)}.", icon=":material/link_off:")
    st.page_link("pages/data.py", label="Open the Data page", icon=":material/upload:")


def _close(session: Session, at: int) -> None:
    del session.warnings[at : at + 1]
