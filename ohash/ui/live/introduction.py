"""Two sentences for someone who has never heard of hash codes; once closed, the browser never shows them again."""

import html

import streamlit as st

from ohash.plots.glossary import with_cards

WHAT = (
    "A hash code is a short row of bits that stands for an item; items with similar bits are found fast. Here codes "
    "learn from pairs, live: similar pairs (blue) draw together, dissimilar ones (orange) move apart."
)
# Where one learns what a code is: the words, the page, and its entry in the menu, which keeps the session.
LESSON = "See codes form", "learn", 'header a[href$="/learn"]'


def show() -> None:
    """The sentences, the way to the Learn page, and a button that closes them; page.js and style.css do the rest."""
    title, path, entry = LESSON
    with st.container(key="intro"):
        st.html(
            f'<aside class="ohash-intro" aria-label="Introduction"><p>{with_cards(WHAT)}</p>'
            f'<a class="lesson" href="{path}" target="_self" data-press="{html.escape(entry)}">{html.escape(title)}</a>'
            "<button>Got it</button></aside>"
        )
