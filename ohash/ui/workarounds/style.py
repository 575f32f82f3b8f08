"""The CSS that Streamlit's theme has no option for: a tight top, tabular figures, the gallery, present mode."""

import html

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

CSS = """
<style>
[data-testid="stMainBlockContainer"] {padding: 3.9rem 1.2rem 2rem 1.2rem; max-width: 1800px; width: 100%;}
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
.ohash-headline {margin: 0; padding: 0; line-height: 1.2; font-size: .97rem; font-weight: 400; letter-spacing: 0;}
.ohash-term {text-decoration: underline dotted; text-underline-offset: .2em; cursor: help;}
.ohash-symbols {margin: 0; font-size: .82rem; opacity: .85;} .ohash-symbols .ohash-term {padding: 0 .15em;}
.ohash-caption {margin: 0; font-size: .76rem; line-height: 1.2; min-height: 2.4em; opacity: .8;}
.st-key-play button {min-width: 9.7rem;}
.st-key-play button::after {content: "Space"; opacity: .9; font-size: .9rem; margin-left: .5rem;}
.st-key-moving {min-height: 20rem;}
:is(.st-key-desk, .st-key-stage) .st-key-moving {min-height: 33.3rem; position: relative;}
.st-key-desk .st-key-moving [data-testid="stVerticalBlock"], :is(.st-key-results, .st-key-advice) {gap: .55rem;}
.st-key-moving [class*="st-key-charts_"][data-testid="stVerticalBlock"] {gap: 0 1rem;}
[class*="st-key-charts_"] > :last-child, [class*="st-key-charts_"] > :last-child > [data-testid="stHtml"],
  .ohash-notes {display: contents;}
[class*="st-key-charts_"] [data-testid="stSkeleton"] {display: none;}
.ohash-notes > * {width: 100%;} .ohash-notes .ohash-numbers {align-content: start;}
@media (min-width: 641px) {
  :is(.st-key-charts_2, .st-key-charts_4) {display: grid; align-items: start;}
  .st-key-charts_2 {grid-template: "a b" "caption-a caption-b" / minmax(0, 1.75fr) minmax(0, 1fr);}
  .st-key-charts_4 {grid-template:
    "a a b b" "caption-a caption-a caption-b caption-b" "c d d numbers" "caption-c caption-d caption-d numbers" /
    minmax(0, 1.2fr) minmax(0, .943fr) minmax(0, .2fr) minmax(0, 1fr);}
  .st-key-charts_4 :is(.of-chart_a, .of-chart_b) {padding-bottom: .55rem;}
  .st-key-chart_a {grid-area: a;} .of-chart_a {grid-area: caption-a;}
  .st-key-chart_b {grid-area: b;} .of-chart_b {grid-area: caption-b;}
  .st-key-chart_c {grid-area: c;} .of-chart_c {grid-area: caption-c;}
  .st-key-chart_d {grid-area: d;} .of-chart_d {grid-area: caption-d;}
  .ohash-notes .ohash-numbers {grid-area: numbers;}
}
@media (max-width: 640px) {
  .st-key-chart_a {order: 1;} .of-chart_a {order: 2;} .st-key-chart_b {order: 3;} .of-chart_b {order: 4;}
  .st-key-chart_c {order: 5;} .of-chart_c {order: 6;} .st-key-chart_d {order: 7;} .of-chart_d {order: 8;}
  .ohash-notes .ohash-numbers {order: 9;}
  [class*="st-key-charts_"] > :is(.st-key-chart_b, .st-key-chart_c, .st-key-chart_d), .ohash-notes .ohash-numbers {
    margin-top: 1rem;}
}
:is(.st-key-top, .st-key-transport) button:not([data-testid="stWidgetLabel"] *) {
  min-height: 2.1rem; padding-block: .1rem;}
:is(.st-key-ohash_client, .st-key-ohash_theme) {position: absolute; max-width: 1px;}
.st-key-desk :is(.st-key-chart_a, .st-key-chart_b) {min-height: 212px;}
/* The tools of the first charts, under their titles and switches: above them they would cover the headline. */
.st-key-desk :is(.st-key-chart_a, .st-key-chart_b) [data-testid="stElementToolbar"] {top: 1.5rem;}
.st-key-desk :is(.st-key-chart_c, .st-key-chart_d) {min-height: 178px;}
/* Those of the lower charts, small, beside the second line of the title: above it they would cover captions. */
.st-key-desk :is(.st-key-chart_c, .st-key-chart_d) [data-testid="stElementToolbar"] {top: .9rem; padding: 0;}
.st-key-desk :is(.st-key-chart_c, .st-key-chart_d) [data-testid="stElementToolbarButtonContainer"],
.st-key-desk :is(.st-key-chart_c, .st-key-chart_d) [data-testid="stElementToolbarButton"] button {padding: 1px;}
.st-key-rail [class*="st-key-w_"]:not([data-testid="stExpander"] *, .st-key-bits *) {min-height: 4.27rem;}
.st-key-bits {flex-wrap: wrap; gap: 0 .5rem;}
.st-key-bits [data-testid="stCaptionContainer"], .st-key-bits p {margin: 0;}
:is(.st-key-results, .st-key-advice) {min-height: 9.6rem;}
.ohash-status {font-variant-numeric: tabular-nums; opacity: .9; font-size: .9rem; white-space: nowrap;
  text-align: right;}
.st-key-chips {height: 1.65rem; gap: 0 .7rem; flex-wrap: nowrap; overflow-x: auto; overflow-y: hidden;
  scrollbar-width: none; mask-image: linear-gradient(to right, #000 calc(100% - 2rem), transparent);}
.st-key-chips > * {flex: 0 0 auto;}
.st-key-chips button {min-height: 1.65rem; height: 1.65rem; padding: 0; gap: .1rem;}
.st-key-chips button :is(p, span) {font-size: .82rem;}
.st-key-chips [data-testid="stSkeleton"] {height: 1.65rem;}
.st-key-chips [data-testid="stCaptionContainer"], .st-key-chips [data-testid="stCaptionContainer"] p,
.st-key-gallery_bar [data-testid="stMarkdownContainer"], .st-key-gallery_bar p {margin: 0;}
[data-testid="stCaptionContainer"] {color: inherit; opacity: .8;}
/* Text of at least 4.5 : 1 on its ground, light and dark. */
[data-testid="stBaseButton-primary"], [data-testid="stMultiSelect"] [data-tag] {
  background-color: #1f6fb4; border-color: #1f6fb4; color: #fff;}
[data-testid="stBaseButton-primary"] kbd {color: #fff; opacity: 1;}
[data-testid="stCode"] :is(.token.string, .token.boolean) {color: light-dark(#0b6b2d, #4fd97c);}
[data-testid="stCode"] .token.comment {color: light-dark(#5b6270, #a4a8b5);}
[data-testid="stCode"] :is(.token.keyword, .token.builtin) {color: light-dark(#0b57a4, #7cc0ff);}
[data-testid="stCode"] :is(.token.number, .token.constant) {color: light-dark(#9c3d0c, #ffb27a);}
[data-testid="stCode"] :is(.token.function, .token.class-name, .token.decorator) {color: light-dark(#6b2fa0, #d3adf7);}
[data-testid="stCode"] :is(.token.operator, .token.punctuation) {color: inherit;}
.ohash-unseen {position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); margin: 0;
  white-space: nowrap;}
[data-testid="stLayoutWrapper"]:has(> :is(.st-key-unseen_1, .st-key-unseen_2)) {position: absolute; width: 1px;
  overflow: hidden;}
:is(.st-key-unseen_1, .st-key-unseen_2) [data-testid="stSkeleton"] {display: none;}
.ohash-heading {font-size: 1rem; font-weight: 400; margin: 0; padding: 0; line-height: 1.3;}
.st-key-top [data-testid="stElementContainer"]:has([data-testid="stCaptionContainer"]) {flex: 1 1 0; min-width: 0;}
.st-key-top [data-testid="stCaptionContainer"] p {font-size: .82rem; line-height: 1.2; display: -webkit-box;
  -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden;}
.st-key-gallery_bar {flex-wrap: nowrap;}
.st-key-gallery_bar > :first-child {flex: 0 1 auto; min-width: 0;}
.st-key-gallery_bar button {min-height: 1.9rem; padding-block: .05rem;}
:is(.st-key-on_quality, .st-key-on_loss) {gap: .2rem; min-height: 1.5rem;}
:is(.st-key-on_quality, .st-key-on_loss) button {min-height: 1.5rem; height: 1.5rem; padding: 0 .4rem;}
:is(.st-key-on_quality, .st-key-on_loss) button :is(p, span) {font-size: .76rem;}
@supports (anchor-name: --a) {
  .st-key-chart_a {anchor-name: --quality;}
  .st-key-chart_c {anchor-name: --loss;}
  [data-testid="stLayoutWrapper"]:has(> :is(.st-key-on_quality, .st-key-on_loss)) {position: absolute; width: auto;
    top: anchor(top, -300vh); right: anchor(right, 0); z-index: 1;}
  [data-testid="stLayoutWrapper"]:has(> .st-key-on_quality) {position-anchor: --quality;}
  [data-testid="stLayoutWrapper"]:has(> .st-key-on_loss) {position-anchor: --loss; top: auto;
    bottom: anchor(bottom, 300vh);}
}
@media (min-width: 641px) {
  /* Streamlit draws a container when it has an element, and a grey box where an element is still to come: the room of
     whatever stands above the charts is reserved, so that nothing moves while a page fills. */
  :is(.st-key-top, .st-key-transport) {flex-wrap: nowrap;}
  .st-key-preset_start, .st-key-reset {min-width: 5.2rem;}
  .st-key-preset_timid {min-width: 3.4rem;} .st-key-preset_drift {min-width: 6.8rem;}
  .st-key-open_presets {min-width: 5.5rem;} .st-key-play {min-width: 9.7rem;} .st-key-step {min-width: 5.7rem;}
  .st-key-new_seed {min-width: 6.6rem;} [class*="st-key-w_five_seeds"] {min-width: 7.6rem;}
  :is(.st-key-present, .st-key-open_share, .st-key-open_export, .st-key-health) {min-width: 5.9rem;}
  .st-key-gallery_bar {height: 2rem;}
  .st-key-gallery_bar [data-testid="stSkeleton"] {height: 1.9rem;}
  .st-key-another {min-width: 7rem;} .st-key-gallery_bar [class*="st-key-w_codes"] {min-width: 8rem;}
  .st-key-desk {position: relative; padding-top: 5.3rem;}
  .st-key-desk > [data-testid="stLayoutWrapper"]:has(> .st-key-top),
  .st-key-desk > [data-testid="stLayoutWrapper"]:has(> * > * > .st-key-transport) {
    position: absolute; left: 0; right: 0; height: 2.5rem; top: 0;}
  .st-key-desk > [data-testid="stLayoutWrapper"]:has(> * > * > .st-key-transport) {top: 2.65rem;}
  .st-key-desk > * > [data-testid="stHorizontalBlock"] > [data-testid="stColumn"]:last-child >
    [data-testid="stVerticalBlock"] {position: relative; padding-top: 1.65rem;}
  /* Chips take the reserved row, with the status to their right; those that do not fit unfold over the words below. */
  .st-key-desk > * > [data-testid="stHorizontalBlock"] > [data-testid="stColumn"]:last-child >
    [data-testid="stVerticalBlock"] > [data-testid="stLayoutWrapper"]:has(> .st-key-chips_row) {
    margin-bottom: -.45rem; padding-right: 23.5rem; max-height: 1.65rem;}
  .st-key-chips:is(:hover, :focus-within) {position: relative; z-index: 3; height: auto; flex-wrap: wrap;
    overflow: visible; mask-image: none; background: light-dark(#fff, #171614);}
  .st-key-desk .st-key-chips {margin-top: -1.65rem;}
  .st-key-desk .ohash-words {position: relative;}
  .st-key-desk .ohash-status {position: absolute; right: 0; bottom: calc(100% + .12rem);}
  .st-key-moving [data-testid="stSkeleton"] {height: var(--words);}
  .st-key-moving :is(.st-key-on_quality, .st-key-on_loss) [data-testid="stSkeleton"] {display: none;}
  .ohash-words {min-height: var(--words);}
  .st-key-moving {--words: 2.35rem;}
  .st-key-stage .st-key-moving {--words: calc(4.2 * var(--type));}
  /* A message stands where the first row of charts was, whose second row goes a moment later. */
  .st-key-desk .st-key-moving [data-testid="stElementContainer"]:has([data-testid="stAlert"]) {min-height: 15.96rem;}
  .st-key-desk [data-testid="stColumn"]:has(> * > * > .st-key-rail) {
    position: sticky; top: 3.9rem; align-self: flex-start;
    max-height: calc(100vh - 10rem); overflow-y: auto; scrollbar-width: thin; padding-right: .4rem;}
}
.ohash-numbers {display: grid; grid-template-columns: 1fr 1fr; gap: .1rem .8rem; font-variant-numeric: tabular-nums;}
.ohash-numbers div {line-height: 1.15; padding: .22rem 0;}
.ohash-numbers small {opacity: .72; display: block; font-size: .74rem;}
.ohash-numbers b {font-size: 1.25rem; font-weight: 600;}
.ohash-numbers em {display: block; font-style: normal; font-size: .74rem;}
.ohash-numbers i {font-style: normal; font-size: .8rem; opacity: .85; margin-left: .3rem;}
.ohash-numbers p {grid-column: 1 / -1; margin: 0; font-size: .74rem; line-height: 1.15; opacity: .8;}
.ohash-gallery {display: flex; gap: .5rem; align-items: flex-start; overflow-x: auto; padding: .1rem 0 .3rem 0;}
.ohash-gallery-row {display: flex; flex-wrap: wrap; gap: 0 1rem;}
.ohash-gallery-row .ohash-gallery {flex: 0 1 auto; min-width: 0; max-width: 100%;}
.ohash-gallery-row .ohash-caption {flex: 1 1 13rem; min-height: 0; align-self: center;}
.ohash-gallery .query span {white-space: nowrap;}
.ohash-gallery figure {margin: 0; text-align: center; flex: 0 0 auto; font-size: .74rem; line-height: 1.25;}
.ohash-gallery [data-row] {cursor: pointer;}
.ohash-gallery [data-row]:hover {opacity: .75;}
.ohash-gallery img {width: 56px; height: 56px; image-rendering: pixelated; border-radius: 4px; display: block;
  border: 3px solid transparent;}
.ohash-gallery .word {width: 76px; height: 56px; display: flex; align-items: center; justify-content: center;
  border: 2px solid transparent; border-radius: 4px; overflow: hidden; text-overflow: ellipsis;}
.ohash-gallery .query {padding-right: .5rem; border-right: 1px solid rgba(128,128,128,.4); margin-right: .2rem;}
.st-key-desk, .st-key-stage {gap: .45rem;}
/* Learn: the lessons stand beside the playground and scroll by themselves; where there is no room for their list, it is
   a row of tabs above the playground, and the open one stands beside it, or on a narrow screen above it. */
.st-key-learn_body {flex-wrap: wrap; align-items: start; gap: 1rem; --ohash-header: 3.75rem;}
.st-key-learn_body > :has(> .st-key-learn_playground) {flex: 1 1 55rem; min-width: min(55rem, 100%);}
.st-key-learn_body > :has(> .st-key-lessons) {flex: 1 1 20rem; min-width: min(20rem, 100%);}
.st-key-lessons {gap: .5rem;}
.st-key-lessons :is(p, li, label) {font-size: .875rem;}
/* One lesson is one screen: while it is open, the others are short tabs above it. */
.st-key-lessons:has(details[open]) {flex-direction: row; flex-wrap: wrap; gap: .3rem;}
.st-key-lessons:has(details[open]) > * {flex: 0 0 auto; width: auto;}
.st-key-lessons:has(details[open]) > :not(:has(details)) {display: none;}
.st-key-lessons:has(details[open]) > :has(details:not([open])) {max-width: 4.35rem; overflow: hidden;}
.st-key-lessons:has(details[open]) > :has(details[open]) {order: 1; flex: 0 0 100%;}
.st-key-lessons:has(details[open]) summary {min-height: 0; padding: .2rem .4rem;}
.st-key-lessons:has(details[open]) details:not([open]) summary span > span {display: none;}
.st-key-lessons:has(details[open]) details:not([open]) summary p {white-space: nowrap;}
.st-key-lessons:has(details[open]) > :has(details:not([open])):not(:last-child) summary p {max-width: 3.65em;
  overflow: hidden;} /* "Lesson 2", without the dot after it */
.st-key-lessons [data-testid="stExpanderDetails"] {padding: .2rem .5rem .5rem .5rem;}
.st-key-lessons details[open] [data-testid="stVerticalBlock"] {gap: .3rem;}
.st-key-lessons details[open] :is(p, li) {line-height: 1.32; margin-bottom: .25rem;}
.st-key-lessons details[open] :is([data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"]) {
  margin-bottom: 0;}
.st-key-lessons details[open] .ohash-caption {min-height: 0;}
.st-key-lessons [class*="st-key-lesson_top_"] {flex-wrap: nowrap; gap: .5rem; align-items: start;}
.st-key-lessons [class*="st-key-handout_"] button {min-height: 0; padding: 0; line-height: 1.32;}
@media (min-width: 1270px) {
  .st-key-learn_body > :has(> .st-key-lessons) {max-width: 26vw; position: sticky; top: 3.75rem;}
  .st-key-lessons {max-height: calc(100vh - 8rem); overflow-y: auto; padding-right: .3rem;}
}
@media (max-width: 1269px) {
  .st-key-learn_body {gap: .4rem .8rem;}
  .st-key-learn_body > :has(> .st-key-lessons) {order: -1; flex: 1 1 100%;}
  .st-key-lessons:not(:has(details[open])) {flex-flow: row wrap; align-items: center; gap: .3rem;}
  .st-key-lessons:not(:has(details[open])) > * {flex: 0 0 auto; width: auto;}
  .st-key-lessons > :has([data-testid="stCaptionContainer"]):not(:has(details)) {display: none;}
  .st-key-lessons summary {min-height: 0; padding: .15rem .45rem;}
  .st-key-lessons summary span > span {display: none;}
  .st-key-lessons summary p {white-space: nowrap;}
  .st-key-lessons :is(h4, [data-testid="stHeading"] *) {font-size: .95rem; padding: 0; margin: 0; line-height: 1.2;}
  .st-key-learn_playground {--ohash-headroom: 320px;}
}
@media (min-width: 960px) and (max-width: 1269px) {
  .st-key-learn_body:has(> * > .st-key-lessons details[open]) {flex-wrap: nowrap;}
  .st-key-learn_body:has(> * > .st-key-lessons details[open]) > :has(> .st-key-learn_playground) {
    flex: 1 1 0; min-width: 0;}
  .st-key-learn_body:has(> * > .st-key-lessons details[open]) .st-key-learn_playground {--ohash-headroom: 345px;}
  .st-key-learn_body > :has(> .st-key-lessons details[open]) {order: 0; flex: 0 0 18.5rem; min-width: 0;
    position: sticky; top: 3.75rem;}
  .st-key-lessons:has(details[open]) {max-height: calc(100vh - 7.6rem); overflow-y: auto; padding-right: .2rem;}
}
@media (max-width: 640px) {
  .st-key-lessons > :not(:has(details)) {display: none;}
  .st-key-lessons:not(:has(details[open])) {flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none;
    mask-image: linear-gradient(to right, #000 calc(100% - 2.5rem), transparent);}
}
:is(.st-key-step_top, .st-key-learn_top) [data-testid="stCaptionContainer"] p {margin: 0;}
:is(.st-key-step_top, .st-key-learn_top) {flex-wrap: nowrap;}
.st-key-stage :is(.st-key-top, .st-key-details, .st-key-more, .st-key-chips),
  .st-key-desk .st-key-stage_bar {display: none;}
.st-key-stage_bar {gap: .5rem;}
.st-key-stage [data-testid="stLayoutWrapper"]:has(> .st-key-stage_bar) {margin-left: auto; width: auto;}
.st-key-more {gap: .5rem;}
/* Present mode: the stage is as high as the screen, and lengths that belong to type grow with it. */
.st-key-stage {--type: max(17px, 1.06vw); --ohash-type: max(14px, 1.06vw);}
.st-key-stage :is(.ohash-status, .ohash-caption, .ohash-symbols, .ohash-heading, .ohash-gallery figure, button p,
  label p, [data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"] p, [data-testid="stPageLink"] p,
  [data-testid="stSelectbox"] *) {
  font-size: var(--type);}
.st-key-stage [data-testid="stSliderTickBar"] p {font-size: var(--type); line-height: 1;}
.st-key-stage .ohash-headline {font-size: calc(1.3 * var(--type));}
.st-key-stage .ohash-gallery {gap: calc(.7 * var(--type)); --tile: max(64px, 7.8vh);}
.st-key-stage .ohash-gallery img {width: var(--tile); height: var(--tile);}
.st-key-stage .ohash-gallery .word {width: clamp(60px, 6.8vw, 150px); height: var(--tile);}
.st-key-scenes, .ohash-scenes {display: flex; flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; gap: .2rem;}
.st-key-scenes > * {flex: 0 0 auto;}
.st-key-scenes button {min-height: 1.9em; padding: 0 .4em;}
.st-key-stage .st-key-scenes button p {font-size: max(12.5px, 1.06vw);}
.ohash-scenes {flex-wrap: wrap;}
.ohash-scenes a {flex: 0 0 auto; padding: .2em .5em; border-radius: .4rem; color: inherit; text-decoration: none;
  font-size: max(12.5px, 1.06vw);}
.ohash-scenes a[aria-current] {background: #1f6fb4; color: #fff;}
.ohash-question {margin: 0; font-size: calc(1.15 * var(--type)); line-height: 1.25;}
@media (min-width: 641px) {
  [data-testid="stMainBlockContainer"]:has(.st-key-stage) {padding: .5rem 1.2rem 0 1.2rem; max-width: none;}
  .st-key-stage {height: calc(100vh - .6rem); overflow: hidden; gap: .3rem;}
  .st-key-stage > [data-testid="stLayoutWrapper"]:has(> .st-key-scenes) {order: -1;}
  .st-key-stage > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]:has(> * .st-key-rail) {
    flex-direction: column-reverse; flex-wrap: nowrap; gap: .3rem;}
  .st-key-stage [data-testid="stColumn"]:has(> * > * > :is(.st-key-rail, .st-key-moving)) {
    flex: 0 0 auto; width: 100%; min-width: 100%;}
  .st-key-stage .st-key-moving {min-height: 0; --chart: calc(100vh - 18.6 * var(--type));}
  .st-key-stage .st-key-moving :is([class*="st-key-chart_"], [class*="st-key-chart_"] div:not(
    [data-testid="stEChartsChart"] *, [data-testid="stElementToolbar"], [data-testid="stElementToolbar"] *)) {
    height: var(--chart); min-height: 0; flex: 0 0 var(--chart);}
  .st-key-stage .st-key-step_body {--zoom: 1.25; zoom: var(--zoom); --type: 14px;}
  .st-key-stage .st-key-large_stage {min-height: calc((100vh - 11.3rem) / var(--zoom)); justify-content: space-evenly;}
  .st-key-stage :is(.st-key-step_body .ohash-pair figcaption, [data-testid="stNumberInput"] input) {
    font-size: var(--type);}
  .st-key-large_stage {--type: 17px;}
  .st-key-large_stage .katex {font-size: .98em;}
  .st-key-large_stage .katex-display {margin: .45em 0;}
  .st-key-stage:has(.st-key-streams) .st-key-large_stage {--type: 13.5px; gap: .2rem; padding: .4rem .8rem;}
  .st-key-large_stage img {object-fit: contain;}
  .st-key-large_stage img {max-height: calc(34vh / var(--zoom));}
  .st-key-stage .st-key-step_body .ohash-pair :is(figure, img) {width: clamp(60px, 5vw, 96px); height: auto;}
  .st-key-stage :is(.st-key-step_svg, .st-key-own_items) {display: none;}
  /* The sliders of the rail, in a row at the bottom. */
  .st-key-stage .st-key-rail {flex-direction: row; gap: 0 2.5vw; padding: 0 .4rem;}
  .st-key-stage .st-key-rail :is([data-testid="stLayoutWrapper"], [data-testid="stVerticalBlock"], .st-key-bits) {
    display: contents;}
  .st-key-stage .st-key-rail :is([data-testid="stElementContainer"]:not([class*="st-key-w_beta_"],
    [class*="st-key-w_C_"], [class*="st-key-w_r_"], [class*="st-key-w_T_"]), [data-testid="stExpander"]) {
    display: none;}
  .st-key-stage .st-key-rail [data-testid="stElementContainer"] {flex: 1 1 0; min-width: 0;}
}
@media (max-width: 640px) {
  [data-testid="stLayoutWrapper"]:has(> [data-testid="stHorizontalBlock"] > [data-testid="stColumn"] .st-key-rail),
  [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"] .st-key-rail),
  [data-testid="stColumn"]:has(.st-key-moving),
  [data-testid="stColumn"]:has(.st-key-moving) > [data-testid="stVerticalBlock"] {display: contents;}
  [data-testid="stColumn"]:has(.st-key-rail) {order: 2; width: 100%;}
  [data-testid="stLayoutWrapper"]:has(> :is(.st-key-results, .st-key-details)),
  [data-testid="stColumn"]:has(.st-key-advice) {order: 3; width: 100%;}
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
  .st-key-stage [data-testid="stLayoutWrapper"]:has(> .st-key-stage_bar) {order: -1; margin-left: 0;}
  .st-key-stage [data-testid="stColumn"]:has(.st-key-rail) {display: none;}
  .modebar-container {display: none;}
  .st-key-moving, .st-key-stage .st-key-moving {min-height: 0;}
  .st-key-desk .st-key-moving {min-height: 81rem;}
  .st-key-desk .ohash-words {min-height: 5.1rem;}
  .ohash-status {white-space: normal;}
  .st-key-desk .ohash-status {font-size: .8rem;}
  .st-key-stage .ohash-headline {font-size: 1.15rem;}
  .st-key-stage :is(.st-key-learn_top, .st-key-step_top) {flex-wrap: wrap;}
  .ohash-scenes {flex-wrap: nowrap;}
  .st-key-stage .ohash-question {font-size: 1.05rem;}
}
.ohash-qr {border: 0; padding: 0; background: none; cursor: zoom-in; font: inherit; font-size: .85rem; color: inherit;}
.ohash-qr-screen {position: fixed; inset: 0; z-index: 9999999; background: #fff; display: flex; align-items: center;
  flex-direction: column; justify-content: center; cursor: zoom-out; color: #000; text-align: center;
  overflow-wrap: anywhere; font: 600 max(20px, min(6vh, 4vw))/1.2 monospace;}
.ohash-qr-screen img {width: min(96vw, 86vh); height: min(96vw, 86vh); image-rendering: pixelated;}
.ohash-intro {position: fixed; z-index: 999991; top: .45rem; left: 31.5rem; right: 7rem; min-height: 2.8rem;
  max-height: 2.9rem; overflow: auto; padding: .15rem .6rem; border-radius: .5rem; font-size: .78rem; line-height: 1.2;
  display: flex; gap: .6rem; align-items: center; background: light-dark(#e8f1fa, #14283b);}
.ohash-intro p {margin: 0; flex: 1 1 auto; font-size: inherit; line-height: inherit;}
.ohash-intro :is(button, a) {flex: 0 0 auto; font: inherit; text-decoration: none; color: inherit;
  background: none; cursor: pointer; border: 1px solid rgba(128,128,128,.5);
  border-radius: .4rem; padding: .15rem .5rem;}
.ohash-intro .lesson {background: #1f6fb4; color: #fff; border-color: #1f6fb4;}
:root[data-intro="seen"] .ohash-intro, .st-key-stage .ohash-intro {display: none;}
.st-key-intro [data-testid="stSkeleton"] {display: none;}
@media (min-width: 641px) and (max-width: 1199px) {
  .st-key-desk .st-key-moving {min-height: 34rem;}
  .st-key-desk .ohash-numbers div {padding: .1rem 0;}
  .ohash-numbers :is(small, em), .ohash-numbers p {font-size: .69rem;}
  .st-key-take_apart button [data-testid="stMarkdownContainer"] {
    position: absolute; width: 1px; overflow: hidden; clip-path: inset(50%);}
  .ohash-intro {font-size: .7rem; right: 3.6rem; left: 30.5rem; padding: .1rem .5rem;}
}
@media (min-width: 1500px) {
  .st-key-stage .st-key-step_body {--zoom: 1.8;}
  .st-key-large_stage .katex {font-size: 1.33em;}
}
@media (min-width: 641px) {
  [data-testid="stLayoutWrapper"]:has(> .st-key-intro) {position: absolute; width: 0;}
}
@media (max-width: 640px) {
  .ohash-intro {position: static; max-height: none; flex-wrap: wrap; font-size: .85rem; padding: .5rem .7rem;}
  .st-key-desk {position: relative; --intro: 7.6rem; padding-top: calc(var(--intro) + 5.3rem);}
  :root[data-intro="seen"] .st-key-desk {--intro: 0rem;}
  .st-key-desk > [data-testid="stLayoutWrapper"]:is(:has(> .st-key-intro), :has(> .st-key-top), :has(
    > * > * > .st-key-transport)) {position: absolute; left: 0; right: 0; top: 0;}
  .st-key-desk > [data-testid="stLayoutWrapper"]:has(> .st-key-top) {top: var(--intro);}
  .st-key-desk > [data-testid="stLayoutWrapper"]:has(> * > * > .st-key-transport) {top: calc(var(--intro) + 2.65rem);}
}
.st-key-dock {display: none;}
@media (max-width: 640px) {
  /* An equation that is wider than a phone breaks at its relations. */
  .katex-display > .katex.katex {white-space: normal; font-size: 1.02em;}
  .katex-display .katex-html > .base {margin-block: .15em;}
  [data-testid="stLayoutWrapper"]:has(> .st-key-dock) {position: fixed; left: 0; right: 0; bottom: 0; z-index: 99;
    background: light-dark(#fff, #171614); border-top: 1px solid rgba(128,128,128,.4); padding: .3rem .8rem;}
  :is(.st-key-desk, .st-key-stage) .st-key-chart_a {margin-top: 1.8rem;}
  [data-testid="stLayoutWrapper"]:has(> .st-key-on_quality) {top: auto; bottom: anchor(top);}
  .st-key-dock {display: flex; flex-wrap: nowrap; gap: .6rem;}
  .st-key-dock > :last-child {flex: 1 1 auto; width: auto; min-width: 0;}
  [data-testid="stMainBlockContainer"]:has(.st-key-dock) {padding-bottom: 5rem;}
}
@media (hover: none), (max-width: 640px) {
  [data-testid="stButton"] kbd, .st-key-play button::after {display: none;}
}
</style>
"""


# Rules for what is presented are sent with it: written with :has(), every change anywhere would restyle half
# of the page, several times per picture.
NO_HEADER = """@media (min-width: 641px) {[data-testid="stHeader"] {display: none;}
  .ohash-class.ohash-class {left: auto; right: .2rem; bottom: .2rem;} .ohash-class.ohash-class.calm {padding: 0;}
  .ohash-class.calm span {position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);}}"""
TWO_CHARTS = """
@media (min-width: 641px) {.st-key-stage.st-key-stage .st-key-moving {--chart: calc(100vh - 27.3 * var(--type));}}
@media (min-width: 641px) and (max-width: 1199px) {.st-key-stage.st-key-stage .ohash-caption {display: none;}}
@media (min-width: 1200px) {.st-key-stage.st-key-stage .st-key-moving .ohash-caption {
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden;}}
.st-key-on_loss {visibility: hidden;}
"""
ONE_CHART = """
@media (min-width: 641px) {.st-key-stage.st-key-stage .st-key-results {display: none;}}
"""
LARGE_GALLERY = """
@media (min-width: 641px) {
  .st-key-stage.st-key-stage .ohash-gallery {display: grid; grid-template-columns: repeat(6, auto);
    justify-content: space-between; --tile: min(14.6vw, 29vh);}
  .st-key-stage.st-key-stage .ohash-gallery .query {grid-row: 1 / 3;}
  .st-key-stage.st-key-stage .ohash-gallery-row .ohash-gallery {flex: 1 1 100%;}
}
"""


def unseen_heading(title: str, level: int = 1) -> None:
    """A heading for screen readers, where a page says in other ways what a part of it is."""
    with st.container(key=f"unseen_{level}"):
        st.html(f'<h{level} class="ohash-unseen">{html.escape(title)}</h{level}>')


def dark() -> bool:
    """Whether the viewer's theme is dark."""
    return bool(st.context.theme.type == "dark")
