"""Share and export: the link, a QR code for the class room, files."""

import html
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from ohash.experiment.export import code_for, summary, to_csv, to_parquet
from ohash.models.storage import save
from ohash.plots import live as charts
from ohash.ui import state

JSON = "application/json"


def buttons(session: state.Session) -> None:
    """Share and Export: what they hold is made when they are opened, for the moment they are opened at."""
    with st.popover("Share", icon=":material/share:", key="open_share", on_change="rerun") as share:
        if share.open:
            _share(session)
    with st.popover("Export", icon=":material/download:", key="open_export", on_change="rerun") as export:
        if export.open:
            _export(session)


def link(session: state.Session) -> str:
    """The whole experiment as an address."""
    base = (st.context.url or "http://localhost:8501/").partition("?")[0]
    return f"{base}?{urlencode(session.params.to_query())}"


def _share(session: state.Session) -> None:
    address = link(session)
    st.markdown("The address is the experiment: dataset, parameters, seed, live changes.")
    st.code(address, language=None, wrap_lines=True)
    st.markdown(
        "**On my network**: the server answers only this machine unless told otherwise. To show it to a class, start "
        "it with `python3 -m streamlit run app.py --server.address 0.0.0.0`, open it under this machine's address, and "
        "let the class scan:"
    )
    st.html(qr(address))


def qr(text: str) -> str:
    import segno  # noqa: PLC0415

    drawn = segno.make(text, error="l").svg_data_uri(scale=3, border=2, light="white")
    return f'<img alt="QR code of the address" src="{html.escape(drawn)}">'  # an inline svg would be washed away


def _export(session: state.Session) -> None:
    from ohash.plots.plotly import to_html  # noqa: PLC0415 (plotly is heavy)
    from ohash.plots.svg import to_svg  # noqa: PLC0415

    now = state.runner(session).snapshot()
    if now is None:
        st.caption("Nothing to export yet.")
        return
    run = state.runner(session).run
    figures = {
        "mAP": charts.quality(now, "map"),
        "recall@10": charts.quality(now, "recall_10"),
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
    offer("Code for this run", lambda: code_for(now.params), f"{name}.py", "text/x-python")
    if run is not None:
        offer("Model (npz)", lambda: _model(session), f"{name}.npz", "application/octet-stream")


def _model(session: state.Session) -> bytes:
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
