"""Present mode: one thing fills the screen, in type for the back row, with scenes on the keys 1 to 9.

The key of the container around a page says whether it presents; style.css does the rest, and page.js the keys.
"""

import html
from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ohash.engine.live.presets import PRESETS
from ohash.plots.glossary import with_cards
from ohash.ui.session import live_run
from ohash.ui.session.session import Session
from ohash.ui.workarounds import style
from ohash.ui.workarounds.slots import on_choice, once_per_press, slot

TWO, GALLERY = "1", "gallery"  # as `present=` names them
VIEWS = {
    TWO: "Two charts",
    "quality": "Score", "hills": "Hills", "loss": "Loss", "tau": "Step size", GALLERY: "Gallery",
    "tau_quantiles": "Step size over time", "both_truths": "Two truths", "update_rate": "Update rate",
    "bits": "Bits recomputed", "per_bit": "Updates per bit", "bit_balance": "Balance per bit",
    "selections": "Models updated", "stale_gap": "Stale codes", "prequential": "Before it is learnt",
    "cost": "Cost", "certificate": "Certificate",
}  # fmt: skip
PAGES = {"pages/live.py": "Live", "pages/learn.py": "Playground", "pages/step.py": "Step by step"}


def page_container(session: Session, key: str = "plain") -> DeltaGenerator:
    """The container of a page; `key` is that of a page that does not present."""
    if session.present:
        st.html(f"<style>{style.NO_HEADER}{_rules(view(session) if key == 'live_page' else GALLERY)}</style>")
    return st.container(key="presenting" if session.present else key)


def _rules(shown: str) -> str:
    """What the style of a page that presents depends on: the switches stay with the charts that they belong to."""
    if shown == TWO:
        return style.TWO_CHARTS
    both = ":is(.st-key-on_quality, .st-key-on_loss)"
    hidden = {"quality": ".st-key-on_loss", "loss": ".st-key-on_quality"}.get(shown, both)
    return (style.LARGE_GALLERY if shown == GALLERY else style.ONE_CHART) + f"{hidden} {{visibility: hidden;}}"


def view(session: Session) -> str:
    """What Live presents: one of VIEWS, or "" while it does not."""
    if not session.present:
        return ""
    return session.present if session.present in VIEWS else TWO


def enter_button(session: Session) -> None:
    """Present."""
    st.button(
        "Present", icon=":material/slideshow:", on_click=once_per_press(set_view), args=(session, TWO), key="present"
    )


def back_button(session: Session) -> None:
    """Leave present mode; Escape presses it."""
    st.button("Back", icon=":material/close:", on_click=once_per_press(set_view), args=(session, ""), key="back")


def set_view(session: Session, name: str) -> None:
    """Present this, or nothing."""
    session.present = name


def bar(session: Session, current: str) -> None:
    """The other pages and Back in present mode, else Present; for a page with nothing to choose."""
    if not session.present:
        enter_button(session)
        return
    with st.container(horizontal=True, key="present_bar", width="content", vertical_alignment="center"):
        other_pages(current)
        back_button(session)


def choose_view(session: Session) -> None:
    """What Live presents."""
    shown = slot("present_view", view(session) or TWO, tuple(VIEWS))
    st.selectbox(
        "fill the screen with", shown.options, shown.index, key=shown.key, label_visibility="collapsed", width=190,
        format_func=VIEWS.__getitem__, on_change=on_choice(shown, partial(_choose, session)),
    )  # fmt: skip


def _choose(session: Session, name: str) -> None:
    if session.present:
        session.present = name


def other_pages(current: str) -> None:
    """Links to the other pages that can be presented; the menu is hidden."""
    for page, title in PAGES.items():
        if page != current:
            st.page_link(page, label=title)


def preset_scenes(session: Session) -> None:
    """The presets as numbered buttons, which the keys 1 to 9 press."""
    if not session.present:
        return
    with st.container(horizontal=True, key="scenes"):
        for number, one in enumerate(PRESETS[:9], start=1):
            chosen = session.preset == one.key
            st.button(
                f"{number} {one.title}", key=f"scene_{number}", type="primary" if chosen else "tertiary",
                on_click=once_per_press(live_run.start_preset), args=(session, one),
            )  # fmt: skip


def link_scenes(scenes: Sequence[tuple[str, str, str, str]], current: str) -> str:
    """Scenes as numbered links with a name, a title, an address and a sentence that is shown with the current one."""
    links, words = [], ""
    for number, (name, title, link, sentence) in enumerate(scenes[:9], start=1):
        chosen = ' aria-current="true"' if name == current else ""
        words = sentence if name == current else words
        links.append(
            f'<a class="ohash-scene" id="scene_{number}" data-scene="{html.escape(name)}" href="#{html.escape(link)}" '
            f'data-says="{html.escape(sentence)}"{chosen}>{number} {html.escape(title)}</a>'
        )
    listed = f'<nav class="ohash-scenes" aria-label="Scenes">{"".join(links)}</nav>'
    return f'{listed}<p class="ohash-question">{with_cards(words)}</p>'
