"""Share and export: the link, a QR code for the class room, files."""

import html
import json
import socket
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import streamlit as st

from ohash.engine.export import code_for, summary, to_parquet
from ohash.models.storage import save
from ohash.plots.live import charts
from ohash.tables import to_csv
from ohash.ui import state
from ohash.ui.data import own_data as yours
from ohash.ui.live import reference_runs as behind
from ohash.ui.session import Session

JSON = "application/json"
HERE = ("localhost", "127.0.0.1", "::1")


def buttons(session: Session) -> None:
    """Share and Export: what they hold is made when they are opened, for the moment they are opened at."""
    with st.popover("Share", icon=":material/share:", key="open_share", on_change="rerun") as share:
        if share.open:
            _share(session)
    with st.popover("Export", icon=":material/download:", key="open_export", on_change="rerun") as export:
        if export.open:
            _export(session)


def link(session: Session) -> str:
    """The whole experiment as an address."""
    base = (st.context.url or "http://localhost:8501/").partition("?")[0]
    return f"{base}?{urlencode(session.params.to_query())}"


def _share(session: Session) -> None:
    address = link(session)
    st.markdown("The address is the experiment: dataset, parameters, seed, live changes.")
    st.code(address, language=None, wrap_lines=True)
    abroad = for_a_class(address)
    if st.get_option("server.address") in HERE:
        st.markdown(
            "**On my network**: this server answers only this machine. To show it to a class, start it with "
            f"`python3 -m streamlit run app.py --server.address 0.0.0.0 --server.port {st.get_option('server.port')}`; "
            "then the class can scan:"
        )
    else:
        st.markdown("**On my network**: let the class scan:")
    st.html(qr(abroad))
    st.caption(urlsplit(abroad)._replace(query="").geturl())


def for_a_class(address: str) -> str:
    """The same address as others on the network see it; as it is if there is no network."""
    parts = urlsplit(address)
    host = network_address() if parts.hostname in HERE else ""
    port = f":{parts.port}" if parts.port else ""
    return parts._replace(netloc=f"{host}{port}").geturl() if host else address


def network_address() -> str:
    """The machine's address on its network, as the system would choose it; nothing is sent. "" without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address reserved for documentation
        except OSError:
            return ""
        host = str(probe.getsockname()[0])
    return "" if host in HERE else host


def qr(text: str) -> str:
    import segno  # noqa: PLC0415

    drawn = segno.make(text, error="l").svg_data_uri(scale=3, border=2, light="white")
    return f'<img alt="QR code of the address" src="{html.escape(drawn)}">'  # an inline svg would be washed away


def _export(session: Session) -> None:
    from ohash.plots.plotly import to_html  # noqa: PLC0415 (plotly is heavy)
    from ohash.plots.svg import to_svg  # noqa: PLC0415

    now = state.runner(session).snapshot()
    if now is None:
        st.caption("Nothing to export yet.")
        return
    run = state.runner(session).run
    figures = {
        "mAP": behind.quality(session, now, "map"),
        "recall@10": behind.quality(session, now, "recall_10"),
        "hills": charts.hills(now),
        "loss": charts.loss(now),
        "tau": charts.tau(now),
    }
    name = f"ohash-{now.params.key()}"
    offer("History (CSV)", lambda: to_csv(now.columns), f"{name}-history.csv", "text/csv")
    offer("Checkpoints (CSV)", lambda: to_csv(now.checkpoints), f"{name}-checkpoints.csv", "text/csv")
    offer("History (Parquet)", lambda: to_parquet(now.columns), f"{name}-history.parquet", "application/octet-stream")
    offer("Parameters and numbers (JSON)", lambda: json.dumps(summary(now), indent=2), f"{name}.json", JSON)
    offer("Figures (HTML)", lambda: to_html(list(figures.values())), f"{name}.html", "text/html")
    for title, chart in figures.items():
        offer(f"Figure {title} (SVG)", partial(to_svg, chart), f"{name}-{title}.svg", "image/svg+xml")
    files = yours.files_of(session, now.params.content)
    offer("Code for this run", lambda: code_for(now.params, files), f"{name}.py", "text/x-python")
    if run is not None:
        offer("Model (npz)", lambda: _model(session), f"{name}.npz", "application/octet-stream")


def _model(session: Session) -> bytes:
    runner = state.runner(session)
    with tempfile.TemporaryDirectory() as folder, runner.between_steps():
        assert runner.run is not None
        file = Path(folder) / "model.npz"
        save(runner.run.model(), file)
        return file.read_bytes()


def offer(label: str, data: Callable[[], str | bytes], name: str, mime: str) -> None:
    """A button whose file is made only when it is pressed."""
    st.download_button(
        label, data, file_name=name, mime=mime, on_click="ignore", key=f"export_{label}", width="stretch"
    )
