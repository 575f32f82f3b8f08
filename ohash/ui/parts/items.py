"""Items of a dataset as HTML: pictures with their labels, names, pairs side by side; and plain tables."""

import html
from collections.abc import Iterable, Sequence
from itertools import zip_longest

import streamlit as st

from ohash.plots.gallery import picture_of, shorten
from ohash.plots.theme import colour
from ohash.streams.dataset import Dataset
from ohash.streams.overview import SimilarityExamples, item_kind, item_label, item_name

SIGNS = {"similar": "≈", "dissimilar": "≠"}
CSS = """
<style>
.ohash-items {display: flex; flex-wrap: wrap; gap: .45rem .4rem;}
.ohash-items figure, .ohash-pair figure {margin: 0; width: 68px; text-align: center; font-size: .72rem;
  line-height: 1.2;}
.ohash-items img, .ohash-pair img {width: 56px; height: 56px; object-fit: contain; image-rendering: pixelated;
  border-radius: 4px; display: block; margin: 0 auto .15rem auto; background: #000;}
.ohash-items figcaption, .ohash-pair figcaption {overflow: hidden; text-overflow: ellipsis; white-space: nowrap;}
.ohash-word {min-width: 56px; height: 34px; display: flex; align-items: center; justify-content: center;
  border: 1px solid rgba(128,128,128,.4); border-radius: 4px; padding: 0 .3rem; overflow-wrap: anywhere;
  font-size: .8rem;}
.ohash-items .wide, .ohash-pair .wide {width: 104px;}
.ohash-pairs {display: grid; grid-template-columns: repeat(auto-fit, minmax(255px, 1fr)); gap: .3rem 1.2rem;}
.ohash-pairs h5 {margin: 0 0 .3rem 0; padding: 0; font-size: .9rem;}
.ohash-pair {display: inline-flex; align-items: center; gap: .25rem; border: 2px solid; border-radius: 6px;
  padding: .25rem .2rem; margin: 0 .35rem .35rem 0;}
.ohash-pair b {font-size: 1.15rem;}
.ohash-table {width: 100%; border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums;}
.ohash-table th {text-align: left; font-weight: 600; opacity: .75; font-size: .8rem;}
.ohash-table th, .ohash-table td {padding: .22rem .7rem .22rem 0; border: 0;
  border-bottom: 1px solid rgba(128,128,128,.25); vertical-align: top;}
.ohash-table .n {text-align: right; white-space: nowrap;}
.ohash-list {table-layout: fixed;}
.ohash-list th:nth-child(1) {width: 22%;} .ohash-list th:nth-child(2) {width: 7%;}
.ohash-list th:nth-child(3) {width: 7%;}
.ohash-list th:nth-child(4) {width: 16%;} .ohash-list th:nth-child(5) {width: 16%;}
@media (max-width: 700px) {
  .ohash-stack thead {display: none;}
  .ohash-stack tr {display: block; border-bottom: 1px solid rgba(128,128,128,.25); padding: .35rem 0;}
  .ohash-stack td, .ohash-stack .n {display: block; border: 0; padding: 0; text-align: left; white-space: normal;}
  .ohash-stack td::before {content: attr(data-label) ": "; opacity: .65;}
  .ohash-stack td:first-child {font-weight: 600;} .ohash-stack td:first-child::before {content: "";}
}
.ohash-list tr[data-row] {cursor: pointer;} .ohash-list tr[data-row]:hover {background: rgba(128,128,128,.14);}
.ohash-list [role="link"] {text-decoration: underline; text-underline-offset: .2em;}
.ohash-scroll {overflow-x: auto;}
.ohash-narrow {display: none;}
@media (max-width: 640px) {.ohash-narrow {display: inline;} .ohash-wide {display: none;}}
.ohash-facts {margin: 0; padding-left: 1.1rem; font-size: .92rem; line-height: 1.45;}
</style>
"""


def apply() -> None:
    """Send the style sheet of items and tables."""
    st.html(CSS)


def items_html(dataset: Dataset, rows: Iterable[int]) -> str:
    """Pictures with their labels, or names."""
    shown = [int(row) for row in rows]
    alt = f"{len(shown)} items of {dataset.title}"
    drawn = "".join(_item(dataset, row) for row in shown)
    return f'<div class="ohash-items" role="group" aria-label="{html.escape(alt)}">{drawn}</div>'


def pair_html(dataset: Dataset, i: int, j: int, kind: str, *, dark: bool) -> str:
    """Two items with the sign of "similar" or "dissimilar" between them."""
    edge = colour(kind, dark)
    return (
        f'<div class="ohash-pair" style="border-color:{edge}">{_item(dataset, i)}'
        f'<b style="color:{edge}" aria-label="{kind}">{SIGNS[kind]}</b>{_item(dataset, j)}</div>'
    )


def pairs_html(dataset: Dataset, examples: SimilarityExamples, *, dark: bool) -> str:
    """Similar pairs next to dissimilar ones, distinguished by colour and by sign."""
    parts = []
    for kind, pairs in (("similar", examples.similar), ("dissimilar", examples.dissimilar)):
        edge = colour(kind, dark)
        drawn = [pair_html(dataset, i, j, kind, dark=dark) for i, j in pairs]
        parts.append(f'<div><h5 style="color:{edge}">{SIGNS[kind]} {kind}</h5>{"".join(drawn)}</div>')
    return f'<div class="ohash-pairs">{"".join(parts)}</div>'


def table_html(
    header: list[str],
    rows: list[list[str]],
    *,
    numbers: frozenset[int] = frozenset(),
    kind: str = "",
    opens: Sequence[int | None] = (),
) -> str:
    """A table of texts, escaped here; columns in `numbers` are right-aligned; `kind` is a further CSS class.

    A row with a number in `opens` is clickable: page.js reports the number.
    """
    side = [' class="n"' if at in numbers else "" for at in range(len(header))]
    head = "".join(f'<th scope="col"{side[at]}>{html.escape(text)}</th>' for at, text in enumerate(header))
    body = []
    for row, number in zip_longest(rows, opens[: len(rows)]):
        cells = [html.escape(text) for text in row]
        mark = ""
        if number is not None:
            mark = f' data-row="{number}"'
            cells[0] = f'<span role="link" tabindex="0"{mark}>{cells[0]}</span>'
        named = (f'<td{side[at]} data-label="{html.escape(header[at])}">{cell}</td>' for at, cell in enumerate(cells))
        body.append(f"<tr{mark}>{''.join(named)}</tr>")
    return (
        '<div class="ohash-scroll"><table class="ohash-table ' + f'{kind}">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def facts_html(lines: Iterable[str]) -> str:
    """Sentences as a list."""
    return f'<ul class="ohash-facts">{"".join(f"<li>{html.escape(line)}</li>" for line in lines)}</ul>'


def _item(dataset: Dataset, row: int) -> str:
    name, label = item_name(dataset, row), item_label(dataset, row) or item_kind(dataset, row)
    caption = f'<figcaption title="{html.escape(label)}">{html.escape(label)}</figcaption>' if label else ""
    picture = picture_of(dataset, row)
    if picture:
        return f'<figure><img alt="{html.escape(name)}" src="{picture}">{caption}</figure>'
    shown = name if dataset.ids is not None or dataset.captions else f"row {row:,}"
    word = f'<div class="ohash-word" title="{html.escape(shown)}">{html.escape(shorten(shown))}</div>'
    return f'<figure class="wide">{word}{caption}</figure>'
