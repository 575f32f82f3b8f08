"""A chart as a figure for a paper: SVG, or PDF where the server can print one, one column wide or wider."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from ohash.plots import pdf
from ohash.plots.chart import Chart, HeatMap
from ohash.plots.svg import heat_to_svg, to_svg
from ohash.ui.parts.sharing import offer_file
from ohash.ui.session.access import is_owner

COLUMN, WIDER = (88, 58), (120, 80)  # millimetres: one column of a journal, and a figure across half a page
SIZES = {"120 mm": WIDER, "one column, 88 mm": COLUMN}


def pdf_offered() -> bool:
    """Whether the server has a browser to print with, and this is not a visitor of a class."""
    return pdf.available() and is_owner()


def offer_figures(figures: Mapping[str, Chart | HeatMap], stem: Callable[[str], str], key: str) -> None:
    """One size and format for all, and a button per figure; a visitor of a class gets SVG."""
    formats = ["SVG", "PDF"] if pdf_offered() else ["SVG"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = st.selectbox("Figures", list(SIZES), key=f"{key}_size", width=190)
        kind = st.segmented_control("Format", formats, default="SVG", key=f"{key}_format", required=True)
    for title, chart in figures.items():
        name, make = stem(title), partial(_svg if kind == "SVG" else _pdf, chart, *SIZES[size])
        mime = "image/svg+xml" if kind == "SVG" else "application/pdf"
        offer_file(f"Figure {title} ({kind})", make, f"{name}.{kind.lower()}", mime)


def _pdf(chart: Chart | HeatMap, width: float, height: float) -> bytes:
    return pdf.to_pdf(_svg(chart, width, height))


def _svg(chart: Chart | HeatMap, width: float, height: float) -> str:
    make: Callable[..., str] = heat_to_svg if isinstance(chart, HeatMap) else to_svg
    return make(chart, width=width, height=height)
