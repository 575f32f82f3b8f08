"""Below the fold, closed: more charts, theory and health, tables, runs so far, code for this run."""

import streamlit as st

from ohash.experiment.export import code_for
from ohash.experiment.runner import Runner
from ohash.experiment.snapshot import Snapshot
from ohash.plots import live as charts
from ohash.plots.chart import Chart
from ohash.ui import state
from ohash.ui.live import show

MORE = {
    "More charts": (
        "tau_quantiles",
        "update_rate",
        "bits",
        "per_bit",
        "bit_balance",
        "selections",
        "stale_gap",
        "prequential",
        "both_truths",
        "cost",
    ),
    "Theory and health": ("certificate",),
}


def below_the_fold(session: state.Session, runner: Runner) -> None:
    """Expanders that cost nothing while they are closed."""
    now = runner.snapshot()
    if now is None:
        st.caption("More charts, tables and code come with the first pairs.")
        return
    for title, names in MORE.items():
        if st.expander(title, key=f"open_{names[0]}", on_change="rerun").open:
            _charts(now, names)
    if st.expander("Tables: every chart as numbers", key="open_tables", on_change="rerun").open:
        for chart in (charts.quality(now, "map"), charts.hills(now), charts.loss(now), charts.tau(now)):
            st.caption(chart.title)
            st.dataframe(chart.table(), height=200)
    if st.expander("Code for this run", key="open_code", on_change="rerun").open:
        st.code(code_for(now.params), language="python")


def _charts(now: Snapshot, names: tuple[str, ...]) -> None:
    drawn: list[Chart] = [getattr(charts, name)(now) for name in names]
    columns = st.columns(2)
    for at, chart in enumerate(drawn):
        with columns[at % 2]:
            show(chart, f"more_{names[at]}", 240)
