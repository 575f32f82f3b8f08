"""How the pages look where Streamlit's theme has no option: icon, style sheet, and what present mode adds."""

import html
from pathlib import Path

import streamlit as st

# Eight bits of a code. Material icons and emoji would be fetched from the network.
BITS = '<rect width="32" height="32" rx="6" fill="#1f5fa8"/>' + "".join(
    f'<rect x="{4 + 6 * (bit % 4)}" y="{8 + 9 * (bit // 4)}" width="5" height="7" rx="1" '
    f'fill="{"#ffffff" if 0b10110010 >> bit & 1 else "#f28e2b"}"/>'
    for bit in range(8)
)
ICON = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{BITS}</svg>'
# A blue that is legible on white and on black.
LOGO = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="112" height="32" viewBox="0 0 112 32">{BITS}'
    '<text x="40" y="23" font-family="system-ui, sans-serif" font-size="22" font-weight="700" fill="#3d85c9">ohash'
    "</text></svg>"
)

CSS = Path(__file__).with_name("style.css").read_text(encoding="utf-8")


# Rules for what is presented are sent with it: written with :has(), every change anywhere would restyle half
# of the page, several times per picture.
NO_HEADER = """@media (min-width: 641px) {[data-testid="stHeader"] {display: none;}
  .ohash-class.ohash-class {left: auto; right: .2rem; top: auto; bottom: .2rem;}
  .ohash-class.ohash-class.calm {padding: 0;}
  .ohash-class.calm span {position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);}}"""
TWO_CHARTS = """
@media (min-width: 641px) {
  .st-key-presenting.st-key-presenting .st-key-moving {--chart: calc(100vh - 27.3 * var(--type));}}
@media (min-width: 641px) and (max-width: 1199px) {.st-key-presenting.st-key-presenting .ohash-caption {display: none;}}
@media (min-width: 1200px) {.st-key-presenting.st-key-presenting .st-key-moving .ohash-caption {
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden;}}
.st-key-on_loss {visibility: hidden;}
"""
ONE_CHART = """
@media (min-width: 641px) {.st-key-presenting.st-key-presenting .st-key-results {display: none;}}
"""
LARGE_GALLERY = """
@media (min-width: 641px) {
  .st-key-presenting.st-key-presenting .ohash-gallery {display: grid; grid-template-columns: repeat(6, auto);
    justify-content: space-between; --tile: min(14.6vw, 29vh);}
  .st-key-presenting.st-key-presenting .ohash-gallery .query {grid-row: 1 / 3;}
  .st-key-presenting.st-key-presenting .ohash-gallery-row .ohash-gallery {flex: 1 1 100%;}
}
"""


def unseen_heading(title: str, level: int = 1) -> None:
    """A heading for screen readers, where a page says in other ways what a part of it is."""
    with st.container(key=f"unseen_{level}"):
        st.html(f'<h{level} class="ohash-unseen">{html.escape(title)}</h{level}>')


def dark() -> bool:
    """Whether the viewer's theme is dark."""
    return bool(st.context.theme.type == "dark")
