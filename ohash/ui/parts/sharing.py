"""What every Share and Export menu needs: links, a QR code, downloads made on demand, and figures for a paper."""

import html
import re
import socket
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from urllib.parse import urlencode, urlsplit

import streamlit as st

from ohash.engine.links import DEFAULT_ADDRESS
from ohash.engine.params import ExperimentParams, flat, rows_of
from ohash.plots.chart import Chart, HeatMap
from ohash.plots.renderers import pdf
from ohash.plots.renderers.svg import heat_to_svg, to_svg
from ohash.ui.session.access import is_owner
from ohash.ui.workarounds.downloads import keep_download
from ohash.ui.workarounds.hosts import LOCAL_HOSTS

JSON = "application/json"
LONGEST_NAME = 100  # of a file, without its ending
LONGEST_PART = 80  # of its parts: the key of painted points lists them all

COLUMN, WIDER = (88, 58), (120, 80)  # millimetres: one column of a journal, and a figure across half a page
SIZES = {"120 mm": WIDER, "one column, 88 mm": COLUMN}


def link_here(query: dict[str, str]) -> str:
    """A link to this page with another query."""
    return f"{page_address()}?{urlencode(query)}"


def what_a_link_holds(whole: str, content: str) -> str:
    """In words; `content` is the fingerprint of the user's own data, which no link holds.

    >>> what_a_link_holds("experiment: data set and seed", "0f8c")
    'This link holds the whole experiment: data set and seed. Of your own data it has only the fingerprint: whoever \
opens it needs the files, too.'
    """
    own = " Of your own data it has only the fingerprint: whoever opens it needs the files, too." if content else ""
    return f"This link holds the whole {whole}.{own}"


def link_to_live(query: dict[str, str], page: str) -> str:
    """A link from `page` to the Live page."""
    return f"{page_address().rstrip('/').removesuffix(f'/{page}')}/?{urlencode(query)}"


def page_address() -> str:
    """The address of this page without its query."""
    address = (st.context.url or DEFAULT_ADDRESS).partition("?")[0]
    return address if urlsplit(address).path else f"{address}/"


def file_stem(dataset: str, *parts: str) -> str:
    """The beginning of the name of every file about some data, as a person reads it in a folder.

    >>> file_stem("fashion", "oh", "r48", "seed 0"), file_stem("own", "My vectors.npy", "oh")
    ('ohash-fashion-oh-r48-seed-0', 'ohash-own-my-vectors-npy-oh')
    """
    text = " ".join(part[:LONGEST_PART] for part in (dataset, *parts))
    words = re.sub(r"[^a-z0-9.=@+]+", "-", text.lower()).replace(".", "-")
    return f"ohash-{words.strip('-')}"


@lru_cache(maxsize=64)
def run_file_stem(params: ExperimentParams) -> str:
    """The beginning of the name of every file about a run: data set, method, bits, seed, and what is no default."""
    model, values, rows = params.model, flat(params), rows_of(params)
    T = [f"T{values['T']}"] if values.get("T", 1) > 1 else []
    data = f"{params.dataset}-{params.content[:6]}" if params.content else params.dataset
    others = [key for key, row in rows.items() if key not in ("r", "T", "seed", "pairs") and values[key] != row.default]
    changed = [f"{key}{values[key]:g}" if isinstance(values[key], float) else f"{key}-{values[key]}" for key in others]
    live = [f"{len(params.changes)}changes"] if params.changes else []
    stem = file_stem(data, params.method, *T, f"r{getattr(model, 'r', '')}", f"seed{params.seed}", *changed, *live)
    return stem if len(stem) <= LONGEST_NAME else f"{stem[: LONGEST_NAME - 9]}-{params.key()[:8]}"


def qr_html(text: str) -> str:
    """A QR code as an image; a click shows it as large as the screen (page.js), above the address to type."""
    import segno  # noqa: PLC0415

    image = segno.make(text, error="l").svg_data_uri(scale=3, border=2, light="white")
    picture = f'<img alt="QR code of the link" src="{html.escape(image)}">'  # Streamlit would remove an inline svg
    typed = html.escape(urlsplit(text)._replace(query="").geturl())
    return (
        f'<button class="ohash-qr" data-address="{typed}" title="Show it on the whole screen">{picture}<br>'
        "Fill the screen</button>"
    )


def on_network(address: str) -> str:
    """The same address as others on the network see it; unchanged if there is no network."""
    parts = urlsplit(address)
    host = network_host() if parts.hostname in LOCAL_HOSTS else ""
    port = f":{parts.port}" if parts.port else ""
    return parts._replace(netloc=f"{host}{port}").geturl() if host else address


def network_host() -> str:
    """The machine's address on its network, as the system would choose it; nothing is sent. "" without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address reserved for documentation
        except OSError:
            return ""
        host = str(probe.getsockname()[0])
    return "" if host in LOCAL_HOSTS else host


def offer_file(label: str, data: Callable[[], str | bytes], name: str, mime: str) -> None:
    """A button whose file is only made when it is pressed."""
    st.download_button(
        label,
        keep_download(data, name, mime),
        file_name=name,
        mime=mime,
        on_click="ignore",
        key=f"export_{label}",
        width="stretch",
    )


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
