"""The results of a sweep so far: charts whose points open on Live, a table, the best points, failures."""

import math
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ohash.engine.judge import TRUTH_SCORES
from ohash.engine.params import OWN
from ohash.plots import sweeps as charts
from ohash.plots.chart import Chart, HeatMap
from ohash.plots.layout import text_width
from ohash.plots.renderers.html_legend import legend_html
from ohash.plots.renderers.pdf import to_pdf
from ohash.plots.renderers.plotly import has_long_legend, heat_figure, pickable
from ohash.plots.renderers.svg import heat_to_svg, to_svg
from ohash.plots.theme import SIZE
from ohash.store.store import Store
from ohash.sweeps.halving import OUTCOMES
from ohash.sweeps.report import symbol
from ohash.sweeps.results import BestPoint, Point, bits_differ_from_r, truths_of
from ohash.sweeps.saving import load_own_dataset
from ohash.sweeps.sweep import Sweep
from ohash.ui.parts.notices import show_error
from ohash.ui.parts.sharing import file_stem, pdf_offered
from ohash.ui.parts.static_chart import NO_BUTTONS
from ohash.ui.session import live_run
from ohash.ui.session import own_data as session_data
from ohash.ui.session.session import Session
from ohash.ui.workarounds.downloads import keep_download
from ohash.ui.workarounds.style import dark

SVG, PDF = "image/svg+xml", "application/pdf"
NAMES = {"heat": "heat map", "dots": "dots with spread"}
ROW = 24  # pixels of a row of dots
INTERVAL = (
    "The 95 % interval comes from a bootstrap over the test queries, and is at least the interval of the seeds' mean; "
    "fewer than three seeds have none."
)


def open_on_live(session: Session, store: Store, point: Point) -> None:
    """Run the first finished experiment of a point again on Live, next to its stored curve, or the end of it."""
    done = store.done()
    cell = next(cell for cell in point.cells if cell.key in done)
    try:
        if cell.params.dataset == OWN and cell.params.content not in session.own:
            session_data.add(session, load_own_dataset(store, cell.params.content))
        live_run.run_stored(session, store.get(cell.key), cell.params.with_values(judged_at="curve"))
    except ValueError as error:
        show_error(error)
        return
    st.switch_page("pages/live.py")


def show_charts(session: Session, store: Store, sweep: Sweep, results: list[Point]) -> None:
    """Lines or a heat map; a click opens a point."""
    axes = sweep.axes
    views = charts.views(sweep)
    if not views:
        return
    left, right = st.columns(2)
    measure = left.selectbox(
        "Measure", charts.measures_of(results), key="_".join(("sweep_measure", *truths_of(results))),
        format_func=lambda key: charts.LABELS[key][0],
    )  # fmt: skip
    kinds = "points" if sweep.random else "lines"
    kind, along = right.selectbox(
        "Chart", views, key=f"sweep_view_{sweep.key}",
        format_func=lambda view: NAMES.get(view[0]) or f"{kinds} over {symbol(sweep, view[1])}",
    )  # fmt: skip
    if kind == "heat":
        x, y = axes
        drawn = charts.heat(sweep, results, measure, x, y)
        fig = heat_figure(drawn, dark())
        lookup = {
            (column, row): (axes[x][column], axes[y][row])
            for column in range(len(axes[x]))
            for row in range(len(axes[y]))
        }
    else:
        line = charts.dots(sweep, results, measure) if kind == "dots" else charts.lines(sweep, results, measure, along)
        drawn, fig = line, pickable(line, dark())  # type: ignore[assignment]
    legend_below = kind != "heat" and has_long_legend(line)
    wide = max((text_width(name, SIZE) for name in line.y.names), default=0) if kind == "dots" else 0
    margin = {"l": max(56, wide + 24), "r": max(28, fig.layout.margin.r or 0), "t": 34, "b": 44}
    height = max(380, 80 + ROW * len(line.y.names)) if kind == "dots" else 380
    fig.layout.title, fig.layout.height, fig.layout.margin = None, height, margin
    if legend_below:
        fig.layout.showlegend = False
    st.markdown(f"**{drawn.title}**")
    event = st.plotly_chart(
        fig, key=f"sweep_chart_{kind}_{along}_{measure}", theme=None, config=NO_BUTTONS, alt=drawn.alt,
        on_select="rerun", selection_mode="points",
    )  # fmt: skip
    if legend_below:
        st.html(legend_html(line, dark()))
    st.caption(f"{drawn.caption} Click a point to run its first seed again on Live, next to what is stored of it.")
    weights = charts.importance_text(sweep, results, measure)
    if weights:
        st.caption(weights)
    _offer_figure(drawn, sweep, measure)
    for picked in event["selection"]["points"]:
        if kind == "heat":
            place = lookup[tuple(picked["customdata"])]
            point = next((p for p in results if (dict(p.at).get(x), dict(p.at).get(y)) == place), None)
        elif kind == "dots":
            point = charts.rows_of_dots(results, measure)[round(picked["y"])]
        else:
            point = _point_of(sweep, results, along, picked, fig)
        if point is not None and point.numbers:
            open_on_live(session, store, point)


def _offer_figure(drawn: Chart | HeatMap, sweep: Sweep, measure: str) -> None:
    """The chart as a figure for a paper, in the width of a column."""
    name = file_stem("sweep", sweep.name, measure)
    make = partial(heat_to_svg, drawn) if isinstance(drawn, HeatMap) else partial(to_svg, drawn)
    st.download_button(
        "Figure (SVG, one column)", keep_download(make, f"{name}.svg", SVG), f"{name}.svg", SVG, on_click="ignore",
        key="sweep_figure", icon=":material/download:",
        help="88 mm wide, with real text. As PDF also: `python3 -m ohash sweep SPEC --export figure.pdf`.",
    )  # fmt: skip
    if pdf_offered():
        st.download_button(
            "Figure (PDF, one column)", keep_download(lambda: to_pdf(make()), f"{name}.pdf", PDF), f"{name}.pdf", PDF,
            on_click="ignore", key="sweep_figure_pdf", icon=":material/download:",
        )  # fmt: skip


def _point_of(sweep: Sweep, results: list[Point], along: str, picked: dict[str, Any], fig: go.Figure) -> Point | None:
    """The point of a clicked marker: its line by name, its place by x."""
    name = fig.data[picked["curve_number"]].name
    groups = charts.groups_of(sweep, results, along)
    names = charts.names_of(groups, results)
    for rest, some in groups:
        if len(groups) == 1 or names[rest] == name:
            return min(some, key=lambda point: abs(float(dict(point.at)[along]) - float(picked["x"])))
    return None


def show_table(session: Session, store: Store, sweep: Sweep, results: list[Point]) -> None:
    """The points as numbers; a row can be opened, too."""
    names, truths = list(sweep.axes), truths_of(results)
    scores: dict[str, list[float]] = {}
    for truth in truths:
        title = TRUTH_SCORES[truth]
        scores[title] = [p.mean(truth) for p in results]
        scores["± SD" if len(truths) == 1 else f"{title} ± SD"] = [p.sd(truth) for p in results]
    shown = pd.DataFrame(
        {
            **{symbol(sweep, key): [str(dict(p.at).get(key, "–")) for p in results] for key in names},
            **({"bits": [p.bits for p in results]} if bits_differ_from_r(results) else {}),
            "seeds": [f"{len(p.numbers)} of {len(p.cells)}" for p in results],
            **({"halving": [OUTCOMES[p.outcome] for p in results]} if sweep.halving else {}),
            **scores,
            "recall@10": [p.mean("recall_10") for p in results],
            "CPU (s)": [p.mean("cpu_learn") for p in results],
            "failed": [p.failed for p in results],
        }
    )
    number = st.column_config.NumberColumn(format="%.3f")
    with st.expander("Table of points", expanded=False):
        picked = st.dataframe(
            shown, hide_index=True, key="sweep_table", on_select="rerun", selection_mode="single-row",
            column_config=dict.fromkeys((*scores, "recall@10"), number), alt="The points of the sweep",
        )["selection"]["rows"]  # fmt: skip
        one = results[picked[0]] if picked else None
        if st.button(
            "Open on Live", icon=":material/open_in_new:", disabled=one is None or not one.numbers, key="sweep_open",
            help="Select a row to run its first seed again on Live, next to what is stored of it.",
        ) and one is not None:  # fmt: skip
            open_on_live(session, store, one)


def show_best(sweep: Sweep, best: list[BestPoint], results: list[Point]) -> None:
    """One best point in a sentence, several in a table."""
    if len(best) < 2:
        for one in best:
            _show_one(sweep, one, results)
        return
    titles = [TRUTH_SCORES[truth] for truth in truths_of([one.point for one in best])]
    scores: dict[str, list[float]] = {}
    for title in titles:
        mine = [one if one.score_title == title else None for one in best]
        scores[f"{title}, validation"] = [one.validation if one else math.nan for one in mine]
        scores[f"{title}, test"] = [one.test.difference if one and one.test else math.nan for one in mine]
    shown = pd.DataFrame(
        {
            "among": [one.group for one in best],
            "best on validation queries": [_place(sweep, one, results) for one in best],
            **scores,
            "95 % interval": [one.interval_text.removeprefix("95 % interval ") for one in best],
            "reported on": [one.queries_text if one.test and not one.remedy else one.test_text for one in best],
        }
    )
    number = st.column_config.NumberColumn(format="%.3f")
    st.markdown("**The best point of each group, chosen on the validation queries, reported on the test queries**")
    st.dataframe(
        shown, hide_index=True, key="sweep_bests", column_config=dict.fromkeys(scores, number),
        alt=f"The best points by {' or '.join(titles)} on the validation queries, with the same score on the test "
        "queries",
    )  # fmt: skip
    st.caption(INTERVAL)


def _place(sweep: Sweep, best: BestPoint, results: list[Point]) -> str:
    return charts.name_of(sweep, best.point, results) or sweep.name


def _show_one(sweep: Sweep, best: BestPoint, results: list[Point]) -> None:
    among = f" among {best.group}" if best.group else ""
    st.markdown(
        f"Best on the validation queries{among}: **{_place(sweep, best, results)}**, "
        f"{best.score_title} {best.validation:.3f}; {best.test_text}.",
        help=INTERVAL,
    )


def show_failures(store: Store, sweep: Sweep) -> None:
    """What went wrong, each error once."""
    stored = store.values(cell.key for cell in sweep.cells)
    errors = {values["error"] for values in stored.values() if values["state"] == "error"}
    with st.expander(f"Errors ({len(errors)})"):
        for error in sorted(errors)[:10]:
            st.code(error, language=None, wrap_lines=True)
