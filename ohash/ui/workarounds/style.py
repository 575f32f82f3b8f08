"""The CSS that Streamlit's theme has no option for: a tight top, tabular figures, the gallery, present mode."""

import streamlit as st

from ohash.ui.workarounds import script

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

CSS = """
<style>
[data-testid="stMainBlockContainer"] {padding: 3.4rem 1.2rem 2rem 1.2rem; max-width: 1800px;}
[data-testid="stMain"] {font-variant-numeric: tabular-nums;}
.st-key-rail {gap: .3rem;}
.st-key-rail [data-testid="stSliderTickBar"] {transform: translateY(-.5rem);}
.st-key-rail [data-testid="stSliderTickBar"] p {font-size: .72rem;}
.st-key-rail [data-testid="stVerticalBlock"] {gap: .3rem;}
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] {gap: .45rem;}
[data-testid="stColumn"] > [data-testid="stVerticalBlock"] {gap: .45rem;}
.st-key-top, .st-key-transport {gap: .5rem;}
.st-key-top [data-testid="stCaptionContainer"] {margin: 0; padding: 0;}
.st-key-top [data-testid="stCaptionContainer"] p {margin: 0;}
.ohash-headline {margin: 0; line-height: 1.3;}
.ohash-words {display: flex; gap: .2rem 1.2rem; align-items: baseline; justify-content: space-between;
  min-height: 2.6rem;}
.st-key-play button {min-width: 9.7rem;}
.st-key-play button::after {content: "Space"; opacity: .6; font-size: .9rem; margin-left: .5rem;}
.st-key-moving {min-height: 20rem;}
:is(.st-key-desk, .st-key-stage) .st-key-moving {min-height: 31rem;}
.st-key-results {min-height: 9.6rem;}
.ohash-status {font-variant-numeric: tabular-nums; opacity: .9; font-size: .9rem; white-space: nowrap;}
.ohash-numbers {display: grid; grid-template-columns: 1fr 1fr; gap: .1rem .8rem; font-variant-numeric: tabular-nums;}
.ohash-numbers div {line-height: 1.15; padding: .22rem 0;}
.ohash-numbers small {opacity: .72; display: block; font-size: .74rem;}
.ohash-numbers b {font-size: 1.25rem; font-weight: 600;}
.ohash-numbers em {display: block; font-style: normal; font-size: .74rem;}
.ohash-numbers i {font-style: normal; font-size: .8rem; opacity: .85; margin-left: .3rem;}
.ohash-gallery {display: flex; gap: .5rem; align-items: flex-start; overflow-x: auto; padding: .1rem 0 .3rem 0;}
.ohash-gallery figure {margin: 0; text-align: center; flex: 0 0 auto; font-size: .74rem; line-height: 1.25;}
.ohash-gallery [data-row] {cursor: pointer;}
.ohash-gallery [data-row]:hover {opacity: .75;}
.ohash-gallery img {width: 56px; height: 56px; image-rendering: pixelated; border-radius: 4px; display: block;
  border: 3px solid transparent;}
.ohash-gallery .word {width: 76px; height: 56px; display: flex; align-items: center; justify-content: center;
  border: 2px solid transparent; border-radius: 4px; overflow: hidden; text-overflow: ellipsis;}
.ohash-gallery .query {padding-right: .5rem; border-right: 1px solid rgba(128,128,128,.4); margin-right: .2rem;}
.st-key-desk, .st-key-stage {gap: .45rem;}
.st-key-stage :is(.st-key-top, .st-key-details, .st-key-more, [data-testid="stColumn"]:has(.st-key-rail)),
  .st-key-desk .st-key-back {display: none;}
.st-key-stage .st-key-back {margin-left: auto;}
.st-key-stage [data-testid="stColumn"]:has(.st-key-moving) {flex: 1 1 100%; width: 100%; min-width: 100%;}
.st-key-more {gap: .5rem;}
.st-key-stage .ohash-headline {font-size: 1.5rem;}
.st-key-stage :is(.ohash-status, button p, [data-testid="stMarkdownContainer"]) {font-size: 1.2rem;}
.st-key-stage .ohash-gallery {font-size: 1.2rem; gap: 1rem;}
.st-key-stage .ohash-gallery figure {font-size: 1.1rem;}
.st-key-stage .ohash-gallery img {width: 84px; height: 84px;}
.st-key-stage .ohash-gallery:has(.word) {gap: .6rem;}
.st-key-stage .ohash-gallery .word {width: clamp(60px, 6.8vw, 110px); height: 84px;}
@media (max-width: 640px) {
  [data-testid="stLayoutWrapper"]:has(> [data-testid="stHorizontalBlock"] > [data-testid="stColumn"] .st-key-rail),
  [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"] .st-key-rail),
  [data-testid="stColumn"]:has(.st-key-moving),
  [data-testid="stColumn"]:has(.st-key-moving) > [data-testid="stVerticalBlock"] {display: contents;}
  [data-testid="stColumn"]:has(.st-key-rail) {order: 2; width: 100%;}
  [data-testid="stLayoutWrapper"]:has(> :is(.st-key-results, .st-key-details)) {order: 3;}
  .ohash-words {display: block;}
  :is(.st-key-top, .st-key-transport, .st-key-more) {flex-wrap: nowrap;}
  :is(.st-key-top, .st-key-transport, .st-key-more) > * {flex: 0 0 auto;}
  :is(.st-key-top, .st-key-transport):not(.st-key-top *) {overflow-x: auto; scrollbar-width: none;
    mask-image: linear-gradient(to right, #000 calc(100% - 2.5rem), transparent);}
  :is(.st-key-top, .st-key-transport):not(.st-key-top *)::after {content: ""; flex: 0 0 2rem;}
  :is(.st-key-top, .st-key-transport) :is(
    .st-key-transport, .st-key-more, :has(> .st-key-transport), :has(> .st-key-more)) {
    width: max-content; max-width: none;}
  .st-key-top > [data-testid="stElementContainer"]:has([data-testid="stCaptionContainer"]) {display: none;}
}
@media (max-width: 640px) {
  .st-key-stage .st-key-back {order: -1; margin-left: 0;}
  .modebar-container {display: none;}
  .st-key-moving, :is(.st-key-desk, .st-key-stage) .st-key-moving {min-height: 0;}
  .ohash-status {white-space: normal;}
  .st-key-stage .ohash-headline {font-size: 1.15rem;}
}
@media (hover: none), (max-width: 640px) {
  [data-testid="stButton"] kbd, .st-key-play button::after {display: none;}
}
</style>
"""


def apply() -> None:
    """Send the style sheet and the script."""
    st.html(CSS)
    script.send()


def dark() -> bool:
    """Whether the viewer's theme is dark."""
    return bool(st.context.theme.type == "dark")
