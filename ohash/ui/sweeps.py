"""The Sweeps page: choose one, watch it fill, cancel, go on, open a cell on Live, export, share."""

import base64
import json
import string
import zlib
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from ohash.experiment import launch, own_data
from ohash.experiment.params import OWN
from ohash.experiment.results import Best, Point, bests, points, to_csv
from ohash.experiment.store import Store
from ohash.experiment.sweep import Sweep, check_datasets, from_values
from ohash.experiment.sweep_files import delete_sweep, sweeps
from ohash.experiment.words import duration
from ohash.experiment.workshare import Activity, activity, cancel
from ohash.plots import sweeps as charts
from ohash.plots.html_legend import legend_html
from ohash.plots.plotly import heat_figure, many, pickable
from ohash.ui import state
from ohash.ui.fragments import fragment
from ohash.ui.slots import distinct
from ohash.ui.still import NO_BUTTONS
from ohash.ui.style import dark

NEW = "new"
WATCH_SECONDS = 2.0
LONGEST_SPEC = 100_000


def choose(store: Store) -> tuple[str, Sweep | None]:
    """Which sweep is shown: that of the address, else one that runs, else the newest; NEW if there is none."""
    known = sweeps(store)
    shared = shared_sweep()
    wanted = st.query_params.get("sweep", "")
    if shared is not None:
        known[shared.key], wanted = shared, shared.key
    if wanted not in known and wanted != NEW:
        alive = [key for key, now in activity(store).items() if now.alive and key in known]
        wanted = alive[-1] if alive else next(reversed(known), NEW)
    chosen = _picked(known, wanted) if known else NEW
    if (st.query_params.to_dict() != {"sweep": chosen} and shared is None) or chosen != wanted:
        st.query_params.from_dict({"sweep": chosen})
    return chosen, known.get(chosen)


def _picked(known: dict[str, Sweep], wanted: str) -> str:
    """The list of sweeps and, beside it, the way to a new one."""
    order = list(reversed(known))
    words = distinct({key: _title(known[key]) for key in order})
    with st.container(horizontal=True, vertical_alignment="bottom", key="sweep_picker"):
        chosen = st.selectbox(
            "Sweep", order, None if wanted == NEW else order.index(wanted), key=f"sweep_choice_{len(order)}_{wanted}",
            placeholder="Open one that was begun", format_func=lambda key: words[key],
        )  # fmt: skip
        if wanted != NEW and st.button("New sweep", icon=":material/add:", key="sweep_to_new", width="content"):
            st.query_params.from_dict({"sweep": NEW})
            st.rerun()
    return chosen or NEW


def shared_sweep() -> Sweep | None:
    """The sweep that a link carries; a bad one is a warning."""
    text = st.query_params.get("spec", "")
    if not text:
        return None
    try:
        return decoded(text)
    except ValueError as error:
        st.warning(f"The link was not quite right: {error}.", icon=":material/info:")
        return None


def encoded(chosen: Sweep) -> str:
    """A sweep as a part of a link."""
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(json.loads(chosen.to_json())).encode(), 9)).decode()


def decoded(text: str) -> Sweep:
    """The inverse of `encoded`; anything else is a ValueError."""
    try:
        squeezed = base64.urlsafe_b64decode(text.encode())
        said = json.loads(zlib.decompressobj().decompress(squeezed, LONGEST_SPEC))
    except Exception as error:
        raise ValueError("it holds no sweep") from error
    found = from_values(said)
    check_datasets(found)
    return found


def watch(session: state.Session, store: Store, chosen: Sweep) -> None:
    """Everything about one sweep; drawn again every two seconds while it runs."""
    st.subheader(_plain(chosen.name) or "A sweep", anchor=False)
    alive = _alive(store, chosen)
    every = WATCH_SECONDS if alive else None
    fragment(partial(_watched, session, store, chosen, alive), key="sweep_watch", every=every)


def _watched(session: state.Session, store: Store, chosen: Sweep, was_alive: bool) -> None:
    alive = _alive(store, chosen)
    if alive != was_alive:  # begun or over: the rhythm changes
        st.rerun()
    found = points(chosen, store)
    _status(store, chosen, found, alive)
    _controls(session, store, chosen, found, alive)
    if any(point.numbers for point in found):
        _charts(session, store, chosen, found)
        _table(session, store, chosen, found)
        _verdicts(chosen, bests(chosen, store, found))
    for point in found:
        if point.failed:
            _failures(store, chosen)
            break


def _status(store: Store, chosen: Sweep, found: list[Point], alive: bool) -> None:
    done, failed = sum(len(point.numbers) for point in found), sum(point.failed for point in found)
    total = len(chosen.cells)
    now = activity(store).get(chosen.key)
    words = f"**{done} of {total} cells**" + (f", {failed} failed" if failed else "")
    if alive and now is not None and now.alive:
        words += _pace(now)
    elif alive:
        words += ", starting …"
    elif done + failed < total:
        words += ", not running" if now is None else f", {now.state if now.state != 'running' else 'interrupted'}"
    st.progress((done + failed) / max(1, total), text=words)
    problem = launch.last_words(store, chosen.key)
    if problem and not alive:
        st.error("The sweep ended with an error.", icon=":material/error:")
        st.code(problem, language=None)


def _pace(now: Activity) -> str:
    here, seconds = now.progress["here"] + now.progress["failed"], now.progress["seconds"]
    if now.state == "cancelling":
        return ", stopping …"
    if not here or seconds <= 0:
        return ", running"
    left = now.progress["total"] - now.progress["done"] - now.progress["failed"]
    return f", {60 * here / seconds:.1f} a minute, {duration(left * seconds / here)} left"


def _controls(session: state.Session, store: Store, chosen: Sweep, found: list[Point], alive: bool) -> None:
    left = sum(point.waiting for point in found) + sum(point.failed for point in found)
    with st.container(horizontal=True, key="sweep_controls", vertical_alignment="center"):
        if alive:
            if st.button("Cancel", icon=":material/stop:", key="sweep_cancel", help="Finished cells stay."):
                _do(lambda: cancel(store, chosen.key))
        elif left and st.button(
            "Start" if not any(point.numbers for point in found) else "Go on", icon=":material/play_arrow:",
            type="primary", key="sweep_start", disabled=not store.writable,
            help="As a process of its own: it goes on without this page.",
        ):  # fmt: skip
            start(session, store, chosen)
        st.download_button(
            "CSV", lambda: to_csv(chosen, store), f"{chosen.name}.csv", "text/csv", on_click="ignore", key="sweep_csv",
            icon=":material/download:", help="One row a cell: map_validation, map_test and more.",
        )  # fmt: skip
        st.download_button(
            "Spec", chosen.to_json(), f"{chosen.name}.json", "application/json", on_click="ignore", key="sweep_spec",
            icon=":material/download:", help="For `python3 -m ohash sweep`, here or on a cluster.",
        )  # fmt: skip
        with st.popover("Share", icon=":material/share:"):
            st.markdown("The sweep itself; who opens it can run it.")
            st.code(link(chosen), language=None, wrap_lines=True)
        if not alive and st.button(
            "Forget", icon=":material/delete:", key="sweep_delete", help="Take it off the list. Its cells stay on Runs."
        ):  # fmt: skip
            st.query_params.clear()
            _do(lambda: delete_sweep(store, chosen.key))


def start(session: state.Session, store: Store, chosen: Sweep) -> None:
    """Begin, or go on, unless another sweep runs."""
    others = [key for key, now in activity(store).items() if now.alive and key != chosen.key]
    if others:
        st.error("Another sweep is running on this machine: wait, or cancel it first.", icon=":material/error:")
        return

    def begin() -> None:
        for content in own_data.contents(chosen):
            if content in session.own:
                own_data.keep(store, session.own[content])
            else:
                own_data.load(store, content)  # says so if they are not here
        st.query_params.from_dict({"sweep": chosen.key})
        launch.start_sweep(chosen, store)

    _do(begin)


def link(chosen: Sweep) -> str:
    """The sweep as an address."""
    base = (st.context.url or "http://localhost:8501/sweeps").partition("?")[0]
    return f"{base}?{urlencode({'spec': encoded(chosen)})}"


def open_on_live(session: state.Session, store: Store, point: Point) -> None:
    """The first cell of a point as the experiment on Live, with its whole curve."""
    params = point.cells[0].params.with_values(judged_at="curve")
    try:
        if params.dataset == OWN and params.content not in session.own:
            state.add_own(session, own_data.load(store, params.content))
        state.commit(session, params)
    except ValueError as error:
        st.error(f"{error}.", icon=":material/error:")
        return
    st.switch_page("pages/live.py")


def _charts(session: state.Session, store: Store, chosen: Sweep, found: list[Point]) -> None:
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
    st.caption(f"{drawn.caption} Click a point to open its first seed on Live.")
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


def _table(session: state.Session, store: Store, chosen: Sweep, found: list[Point]) -> None:
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
            help="Select a row: its first seed is run again on Live.",
        ) and one is not None:  # fmt: skip
            open_on_live(session, store, one)


def _verdicts(chosen: Sweep, found: list[Best]) -> None:
    """One in a sentence, several in a table."""
    if len(found) < 2:
        for one in found:
            _verdict(chosen, one)
        return
    shown = pd.DataFrame(
        {
            "among": [one.among for one in found],
            "best on validation queries": [_place(chosen, one) for one in found],
            "mAP, validation": [one.validation for one in found],
            "mAP, test": [one.test.difference for one in found],
            "95 % interval": [f"{one.test.low:.3f} to {one.test.high:.3f}" for one in found],
            "reported once on": [one.asked for one in found],
        }
    )
    number = st.column_config.NumberColumn(format="%.3f")
    st.markdown("**The best of each, chosen on validation queries and reported once on test queries**")
    st.dataframe(
        shown, hide_index=True, key="sweep_bests", column_config={"mAP, validation": number, "mAP, test": number},
        alt="The best points by their mAP on validation queries, and what they reach on test queries",
    )  # fmt: skip
    st.caption("The interval is that of a bootstrap over the test queries.")


def _place(chosen: Sweep, found: Best) -> str:
    return charts.title_of([(key, value) for key, value in found.point.at if key in chosen.axes]) or chosen.name


def _verdict(chosen: Sweep, found: Best) -> None:
    place = _place(chosen, found)
    of = f" of {found.among}" if found.among else ""
    st.markdown(
        f"Best on validation queries{of}: **{place}**, mAP {found.validation:.3f}. Reported once on {found.asked}: "
        f"**mAP {found.test.difference:.3f}**, 95 % interval {found.test.low:.3f} to {found.test.high:.3f}."
    )


def _failures(store: Store, chosen: Sweep) -> None:
    known = store.values(cell.key for cell in chosen.cells)
    failed = {values["error"] for values in known.values() if values["state"] == "error"}
    with st.expander(f"What failed ({len(failed)} kinds)"):
        for error in sorted(failed)[:10]:
            st.code(error, language=None, wrap_lines=True)


def _plain(name: str) -> str:
    """A name in which nothing is markup."""
    return "".join(f"\\{one}" if one in string.punctuation else one for one in name)


def _alive(store: Store, chosen: Sweep) -> bool:
    now = activity(store).get(chosen.key)
    return (now is not None and now.alive) or launch.running(store, chosen.key)


def _title(chosen: Sweep) -> str:
    cells = len(chosen.cells)
    names = dict.fromkeys(cell.params.dataset for cell in chosen.cells)
    data = ", ".join("your data" if name == OWN else name for name in names)
    return f"{chosen.name} · {data} · {cells} cell{'s' if cells > 1 else ''}"


def _do(work: Any) -> None:
    try:
        work()
    except ValueError as error:  # a store that cannot be written, data that are not here
        st.error(f"{error}.", icon=":material/error:")
    else:
        st.rerun()
