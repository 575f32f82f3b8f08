"""The rail: at most five controls, and an expander with the rest, all from the declared tables."""

from functools import partial
from typing import Any

import streamlit as st

from ohash.core.parameters import Parameter
from ohash.engine.params import OWN, experiment, flat, rows_of
from ohash.models import registry as methods
from ohash.models.base import HasherSpec
from ohash.streams import registry as datasets
from ohash.ui import state
from ohash.ui.controls import control
from ohash.ui.data import catalogue
from ohash.ui.data import own_data as yours
from ohash.ui.session import Session
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.slots import slot, when

VISIBLE = ("beta", "C", "r", "T")
# The rest in the order a reader expects, under their headings.
MORE = {
    "Features": ("kernel", "m", "sigma", "center", "ema", "center_input", "normalize"),
    "Stream": ("similar_share", "noise", "order", "period", "negatives", "top_k", "train"),
    "Drift": ("drift", "drift_at", "drift_size"),
    "Model": ("alpha", "select", "rounds", "dtype"),
    "Run": ("pairs", "stop_when_flat", "reencode", "reencode_every", "database", "judged_by", "seed"),
}


def controls(session: Session) -> None:
    """Data, method, β, C, r, T, and the rest."""
    choose_data(session)
    choose_method(session)
    rows, values = rows_of(session.params), flat(session.params)
    fragment(partial(_live_controls, session), key="live_controls")
    for key in VISIBLE:
        if key in rows and not rows[key].live:
            control(rows[key], values[key], _committer(session))
    with st.expander("Stream & features", key="open_features", on_change="rerun") as more:
        if more.open:  # thirty widgets cost every picture, seen or not
            _rest(session, rows, values)


def _rest(session: Session, rows: dict[str, Parameter], values: dict[str, Any]) -> None:
    for heading, keys in MORE.items():
        here = [rows[key] for key in keys if key in rows]
        if here:
            st.caption(heading)
        for row in here:
            control(row, values[row.key], _committer(session), idle=not row.is_active(values))


def choose_data(session: Session) -> None:
    """The dataset and what makes two of its points similar."""
    params = session.params
    catalogue.choose(session, "dataset", params.dataset, params.content, lambda key: _pick_data(session, key))
    row = rows_of(session.params)["similar_by"]
    try:
        dataset = yours.dataset_of(session, session.params) or datasets.load_by_key(session.params.dataset)
    except ValueError:
        return
    control(row, session.params.stream.similar_by, _committer(session), options=("auto", *dataset.similarities))


def _told(spec: HasherSpec) -> str:
    needs = f" · needs {spec.needs}" if spec.missing else ""
    return f"{spec.title} · learns from {spec.supervision.replace('none', 'nothing')}{needs}"


def choose_method(session: Session) -> None:
    """The method, with its supervision beside its name."""
    specs = methods.hashers()
    order = sorted(specs, key=lambda key: (key not in ("oh", "mmoh"), key))
    method = slot("method", session.params.method, order)
    st.selectbox(
        "Method", order, method.index, key=method.key,
        format_func=lambda key: _told(specs[key]),
        on_change=when(method, partial(_commit, session, "method")),
        help="OH: one model. MMOH: several that share the work.",
    )  # fmt: skip


def _live_controls(session: Session) -> None:
    """β and C act on the running model, or begin another run when it is over; only this is drawn when they move."""
    rows = rows_of(session.params)
    values = flat(state.in_force(session)) | session.wanted
    session.shown = {key: values[key] for key in VISIBLE if key in rows and rows[key].live}

    def change(key: str, value: Any) -> None:
        if state.runner(session).finished.is_set():
            session.playing = session.redraw = True
            _commit(session, key, value)
            return
        try:
            state.set_live(session, key, value)
            session.shown[key] = value
        except ValueError as error:
            session.warnings = [str(error)]  # a toast from a fragment's callback would replace the top of the page
            session.redraw = True
            return
        st.rerun("live")

    if session.redraw:  # what was begun, or is to be said, concerns the whole page
        session.redraw = False
        st.rerun()
    for key in VISIBLE:
        if key in rows and rows[key].live:
            control(rows[key], values[key], change)


def _committer(session: Session) -> Any:
    return lambda key, value: _commit(session, key, value)


def _commit(session: Session, key: str, value: Any) -> None:
    here = state.in_force(session)
    if flat(here).get(key) == value:
        return  # what is chosen already is no choice: a widget that came back says so, too
    try:
        if key == "method":
            usual = flat(experiment(here.dataset, here.method))  # of these the other method has its own
            rows = rows_of(experiment(here.dataset, value))
            kept = {k: v for k, v in flat(here).items() if k in rows and v != usual.get(k)}
            params = experiment(session.params.dataset, value, content=session.params.content, **kept)
        else:
            params = here.with_values(**{key: value})
        state.commit(session, params)
    except ValueError as error:
        session.warnings = [str(error)]


def _pick_data(session: Session, key: str) -> None:
    dataset, _, content = key.partition(":")
    values = {
        k: v for k, v in flat(state.in_force(session)).items() if k in ("r", "T", "alpha", "beta", "C", "seed", "pairs")
    }
    rows = rows_of(experiment("digits", session.params.method))
    if dataset != OWN:
        dataset, content = key, ""
    if (dataset, content) == (session.params.dataset, session.params.content):
        return
    try:
        params = experiment(
            dataset, session.params.method, content=content, **{k: v for k, v in values.items() if k in rows}
        )
        state.commit(session, params)
    except ValueError as error:
        session.warnings = [str(error)]
