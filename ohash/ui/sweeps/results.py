"""What a sweep has found so far: charts whose points open on Live, a table, the best, what failed."""

import math
from typing import Any

import pandas as pd
import streamlit as st

from ohash.engine.params import OWN
from ohash.plots import sweeps as charts
from ohash.plots.html_legend import legend_html
from ohash.plots.plotly import heat_figure, many, pickable
from ohash.store.store import Store
from ohash.sweeps import own_data
from ohash.sweeps.results import BestPoint, Point
from ohash.sweeps.sweep import Sweep
from ohash.ui import state
from ohash.ui.data import own_data as yours
from ohash.ui.session import Session
from ohash.ui.workarounds.messages import plain
from ohash.ui.workarounds.static_chart import NO_BUTTONS
from ohash.ui.workarounds.style import dark

INTERVAL = "The interval is that of a bootstrap over the test queries, with several seeds at least that of their mean."


def open_on_live(session: Session, store: Store, point: Point) -> None:
    """The first finished cell of a point on Live, beside what was kept of it."""
    done = store.done()
    cell = next(cell for cell in point.cells if cell.key in done)
    try:
        if cell.params.dataset == OWN and cell.params.content not in session.own:
            yours.add(session, own_data.load_own_dataset(store, cell.params.content))
        state.open_kept(session, store.get(cell.key), cell.params.with_values(judged_at="curve"))
    except ValueError as error:
        st.error(f"{plain(error)}.", icon=":material/error:")
        return
    st.switch_page("pages/live.py")


def charts_of(session: Session, store: Store, chosen: Sweep, found: list[Point]) -> None:
    """Lines or a heat map; a click opens a cell."""
    axes = chosen.axes
    numbers = [key for key, values in axes.items() if charts.numeric(values)]
    views = [("lines", key) for key in numbers] + ([("heat", "")] if len(axes) == 2 else [])
    if not views:
        return
    left, right = st.columns(2)
    measure = left.selectbox(
        "Measure", list(charts.MEASURES), key="sweep_measure", format_func=lambda key: charts.MEASURES[key][0]
    )  # fmt: skip
    first = views.index(("heat", "")) if len(numbers) == 2 and len(axes) == 2 else 0
    kind, along = right.selectbox(
        "Drawn", views, first, key=f"sweep_view_{chosen.key}",
        format_func=lambda view: "heat map" if view[0] == "heat" else f"lines over {charts.symbol(chosen, view[1])}",
    )  # fmt: skip
    if kind == "heat":
        x, y = axes
        drawn = charts.heat(chosen, found, measure, x, y)
        fig = heat_figure(drawn, dark())
        lookup = {
            (column, row): (axes[x][column], axes[y][row])
            for column in range(len(axes[x]))
            for row in range(len(axes[y]))
        }
    else:
        line = charts.lines(chosen, found, measure, along)
        drawn, fig = line, pickable(line, dark())  # type: ignore[assignment]
    apart = kind != "heat" and many(line)
    margin = {"l": 56, "r": max(28, fig.layout.margin.r or 0), "t": 34, "b": 44}
    fig.update_layout(title=None, height=380, margin=margin, **({"showlegend": False} if apart else {}))
    st.markdown(f"**{drawn.title}**")
    event = st.plotly_chart(
        fig, key=f"sweep_chart_{kind}_{along}_{measure}", theme=None, config=NO_BUTTONS, alt=drawn.alt,
        on_select="rerun", selection_mode="points",
    )  # fmt: skip
    if apart:
        st.html(legend_html(line, dark()))
    st.caption(f"{drawn.caption} Click a point to open its first seed on Live: it is run again beside what was kept.")
    for picked in event["selection"]["points"]:
        if kind == "heat":
            place = lookup[tuple(picked["customdata"])]
            at = next((p for p in found if (dict(p.at).get(x), dict(p.at).get(y)) == place), None)
        else:
            at = _point_of(chosen, found, along, picked, fig)
        if at is not None and at.numbers:
            open_on_live(session, store, at)


def _point_of(chosen: Sweep, found: list[Point], along: str, picked: dict[str, Any], fig: Any) -> Point | None:
    """The point under a clicked marker: its line by name, its place by x."""
    name = fig.data[picked["curve_number"]].name
    groups = charts.groups_of(chosen, found, along)
    names = charts.names_of(groups)
    for rest, some in groups:
        if len(groups) == 1 or names[rest] == name:
            return min(some, key=lambda point: abs(float(dict(point.at)[along]) - float(picked["x"])))
    return None


def table(session: Session, store: Store, chosen: Sweep, found: list[Point]) -> None:
    """The points as numbers; a row can be opened, too."""
    names = list(chosen.axes)
    shown = pd.DataFrame(
        {
            **{charts.symbol(chosen, key): [str(dict(p.at).get(key, "–")) for p in found] for key in names},
            "seeds": [f"{len(p.numbers)} of {len(p.cells)}" for p in found],
            "mAP": [p.mean() for p in found],
            "± sd": [p.sd() for p in found],
            "recall@10": [p.mean("recall_10") for p in found],
            "CPU s": [p.mean("cpu_learn") for p in found],
            "failed": [p.failed for p in found],
        }
    )
    number = st.column_config.NumberColumn(format="%.3f")
    with st.expander("As a table", expanded=False):
        picked = st.dataframe(
            shown, hide_index=True, key="sweep_table", on_select="rerun", selection_mode="single-row",
            column_config={"mAP": number, "± sd": number, "recall@10": number}, alt="The points of the sweep",
        )["selection"]["rows"]  # fmt: skip
        one = found[picked[0]] if picked else None
        if st.button(
            "Open on Live", icon=":material/open_in_new:", disabled=one is None or not one.numbers, key="sweep_open",
            help="Select a row: its first seed is run again on Live, beside what was kept.",
        ) and one is not None:  # fmt: skip
            open_on_live(session, store, one)


def verdicts(chosen: Sweep, found: list[BestPoint]) -> None:
    """One in a sentence, several in a table."""
    if len(found) < 2:
        for one in found:
            _verdict(chosen, one)
        return
    shown = pd.DataFrame(
        {
            "among": [one.group for one in found],
            "best on validation queries": [_place(chosen, one) for one in found],
            "mAP, validation": [one.validation for one in found],
            "mAP, test": [one.test.difference if one.test else math.nan for one in found],
            "95 % interval": [f"{one.test.low:.3f} to {one.test.high:.3f}" if one.test else "" for one in found],
            "reported once on": [
                one.queries_text if one.test and not one.lost_runs else one.test_text for one in found
            ],
        }
    )
    number = st.column_config.NumberColumn(format="%.3f")
    st.markdown("**The best of each, chosen on validation queries and reported once on test queries**")
    st.dataframe(
        shown, hide_index=True, key="sweep_bests", column_config={"mAP, validation": number, "mAP, test": number},
        alt="The best points by their mAP on validation queries, and what they reach on test queries",
    )  # fmt: skip
    st.caption(INTERVAL)


def _place(chosen: Sweep, found: BestPoint) -> str:
    return charts.title_of([(key, value) for key, value in found.point.at if key in chosen.axes]) or chosen.name


def _verdict(chosen: Sweep, found: BestPoint) -> None:
    place = _place(chosen, found)
    of = f" of {found.group}" if found.group else ""
    st.markdown(
        f"Best on validation queries{of}: **{place}**, mAP {found.validation:.3f}. Reported once: {found.test_text}.",
        help=INTERVAL,
    )


def failures(store: Store, chosen: Sweep) -> None:
    """What went wrong, each kind once."""
    known = store.values(cell.key for cell in chosen.cells)
    failed = {values["error"] for values in known.values() if values["state"] == "error"}
    with st.expander(f"What failed ({len(failed)} kinds)"):
        for error in sorted(failed)[:10]:
            st.code(error, language=None, wrap_lines=True)
