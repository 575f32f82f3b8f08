"""Two sentences for someone who has never heard of hash codes; once closed, the browser never shows them again."""

import html

import streamlit as st

WHAT = (
    "A hash code is a short row of bits that stands for an item; items with similar bits are found fast. Here codes "
    "learn from pairs, live: similar pairs (blue) draw together, dissimilar ones (orange) move apart."
)
# The first lesson: its title, and the button that begins it.
LESSON = "First lesson", ".st-key-preset_timid button"


def show() -> None:
    """The sentences, the way to the first lesson, and a button that closes them; script.py and style.py do the rest."""
    title, button = LESSON
    with st.container(key="intro"):
        st.html(
            f'<aside class="ohash-intro" aria-label="Introduction"><p>{html.escape(WHAT)}</p>'
            f'<button class="lesson" data-press="{html.escape(button)}">{html.escape(title)}</button>'
            "<button>Got it</button></aside>"
        )
