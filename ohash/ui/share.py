"""Share and export: the link, a QR code for the class room, files."""

import json
from urllib.parse import urlencode

import streamlit as st

from ohash.experiment.export import code_for, summary, to_csv, to_parquet
from ohash.plots import live as charts
from ohash.plots.plotly import to_html
from ohash.plots.svg import to_svg
from ohash.ui import state


def footer(session: state.Session) -> None:
    """Share and Export."""
    with st.container(horizontal=True, key="footer"):
        with st.popover("Share", icon=":material/share:"):
            _share(session)
        with st.popover("Export", icon=":material/download:"):
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
        "**On my network**: the server answers only this machine unless told otherwise. To show it to a class, start it "
        "with `python3 -m streamlit run app.py --server.address 0.0.0.0`, open it under this machine's address, and let "
        "the class scan:"
    )
    st.html(_qr(address))


def _qr(text: str) -> str:
    import segno  # noqa: PLC0415

    return str(segno.make(text, error="l").svg_inline(scale=3, border=2, light="white"))


def _export(session: state.Session) -> None:
    now = state.runner(session).snapshot()
    if now is None:
        st.caption("Nothing to export yet.")
        return
    run = state.runner(session).run
    drawn = [charts.quality(now, "map"), charts.quality(now, "recall_10"), charts.hills(now), charts.loss(now), charts.tau(now)]
    name = f"ohash-{now.params.key()}"
    _file("History (CSV)", lambda: to_csv(now.columns), f"{name}-history.csv", "text/csv")
    _file("Checkpoints (CSV)", lambda: to_csv(now.checkpoints), f"{name}-checkpoints.csv", "text/csv")
    _file("History (Parquet)", lambda: to_parquet(now.columns), f"{name}-history.parquet", "application/octet-stream")
    _file("Parameters and numbers (JSON)", lambda: json.dumps(summary(now), indent=2), f"{name}.json", "application/json")
    _file("Figures (HTML)", lambda: to_html(drawn), f"{name}.html", "text/html")
    for at, title in enumerate(("mAP", "recall@10", "hills", "loss", "tau")):
        _file(f"Figure {title} (SVG)", lambda at=at: to_svg(drawn[at]), f"{name}-{title}.svg", "image/svg+xml")
    _file("Code for this run", lambda: code_for(now.params), f"{name}.py", "text/x-python")
    if run is not None:
        _file("Model (npz)", lambda: _model(session), f"{name}.npz", "application/octet-stream")


def _model(session: state.Session) -> bytes:
    import tempfile  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    runner = state.runner(session)
    with tempfile.TemporaryDirectory() as folder, runner.between_steps():
        assert runner.run is not None
        file = Path(folder) / "model.npz"
        runner.run.hasher.save(file)
        return file.read_bytes()


def _file(label: str, data: object, name: str, mime: str) -> None:
    st.download_button(label, data, file_name=name, mime=mime, on_click="ignore", key=f"export_{label}", width="stretch")  # type: ignore[arg-type]
