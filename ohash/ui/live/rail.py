"""The rail of the Live page: data, method, the four main parameters, and an expander with the rest."""

import math
from dataclasses import replace
from functools import partial
from typing import Any, cast

import streamlit as st

from ohash.core.parameters import Parameter, Settings, Value, parameter_table
from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.params import ExperimentParams, experiment, flat, opening_seed, rows_of, unchecked_experiment
from ohash.models import registry as methods
from ohash.models.online.mmoh import MMOHParams
from ohash.models.online.oh_params import USUAL_C, OHParams
from ohash.streams import registry as datasets
from ohash.ui.parts import catalogue
from ohash.ui.parts.catalogue import describe_supervision, show_card, with_absent
from ohash.ui.parts.controls import OnCommit, control
from ohash.ui.session import feed, live_run, own_data
from ohash.ui.session.session import Session
from ohash.ui.workarounds.fragments import draw_instead, fragment
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import on_choice, once_per_press, slot
from ohash.ui.workarounds.style import unseen_heading

AUTOMATIC = 0.0  # of C
CHIPS = "chips_fragment"  # redrawn with β and C
VISIBLE = ("beta", "C", "r", "T")
AUTO_C = "twice the median uncapped step of the warm-up pairs, so that most steps are not capped at first."
KEPT_ON_OTHER_DATA = ("r", "T", "alpha", "beta", "C", "seed", "pairs")
# The rest in the order a reader expects, under their headings.
MORE = {
    "Features": ("kernel", "m", "sigma", "center", "ema", "center_input", "normalize"),
    "Stream": ("similar_share", "noise", "order", "period", "negatives", "top_k", "later_items", "train"),
    "Drift": ("drift", "drift_at", "drift_size"),
    "Model": ("alpha", "select", "rounds", "dtype"),
    "Run": ("pairs", "stop_when_flat", "reencode", "reencode_every", "database", "judged_by", "seed"),
}


def controls(session: Session) -> None:
    """Data, method, β, C, r, T, and the rest."""
    unseen_heading("Settings", 2)
    choose_data(session)
    choose_method(session)
    rows, values = rows_of(session.params), flat(session.params)
    fragment(partial(_live_controls, session), key="live_controls")
    for chosen in _chosen_C(session).values():
        st.caption(f"C = {chosen:g}: {AUTO_C}")
        st.button(
            f"Use the paper's {USUAL_C:g}", key="usual_C", on_click=once_per_press(change), args=(session, "C", USUAL_C)
        )
    if "C" in rows and rows["C"].default == AUTOMATIC != values["C"]:
        st.button(
            "Choose C from the data", key="auto_C", on_click=once_per_press(commit_value),
            args=(session, "C", AUTOMATIC), help=f"{AUTO_C.capitalize()} Starts a new run.",
        )  # fmt: skip
    several = isinstance(session.params.model, OHParams)
    for key in VISIBLE:
        if key in rows and not rows[key].live and not (key == "T" and several):
            control(rows[key], values[key], _committer(session))
    if several:
        _number_of_models(session)
    with st.expander("Stream and features", key="open_features", on_change="rerun") as more:
        if more.open:  # thirty widgets would slow down every frame
            _more_settings(session, rows, values)


def _number_of_models(session: Session) -> None:
    """T, always in sight: one model is OH, several are MMOH, which equals OH bit for bit at T = 1."""
    model = cast(OHParams, session.params.model)
    T = getattr(model, "T", 1)
    row = replace(parameter_table(MMOHParams)["T"], default=1)  # one model is OH
    control(row, T, lambda _, value: change_T(session, value))
    with st.container(horizontal=True, key="bits", vertical_alignment="center"):
        st.caption(
            f"{T} × {model.r} = **{T * model.r} bits in total**" if T > 1 else f"**{model.r} bits in total**",
            width="stretch",
        )
        equal = slot("equal_bits", session.equal_bits)
        st.toggle(
            "equal bits", equal.initial, key=equal.key, on_change=on_choice(equal, partial(_keep_bits, session)),
            help="Change r along with T, so that the storage T · r stays the same or just below: a fair comparison.",
        )  # fmt: skip


def _keep_bits(session: Session, value: bool) -> None:
    model = cast(OHParams, live_run.current_params(session).model)
    session.equal_bits, session.total_bits = value, getattr(model, "T", 1) * model.r


def change_T(session: Session, T: int) -> None:
    """Another number of models: OH with one, MMOH with several, with the other settings as they are."""
    current = live_run.current_params(session)
    model = cast(OHParams, current.model)
    before, r = getattr(model, "T", 1), model.r
    if before == T:
        return
    method = "oh" if T == 1 else "mmoh"
    values = _own_settings(current, method)
    if r != max(1, session.total_bits // before):  # r was changed since
        session.total_bits = before * r
    values["r"] = max(1, session.total_bits // T) if session.equal_bits else r
    if method == "mmoh":
        values["T"] = T
    _start(session, current, method, values)


def _own_settings(current: ExperimentParams, method: str) -> Settings:
    """The settings another method takes over: those it has and that are not at their defaults, as it has its own."""
    defaults = flat(unchecked_experiment(current.dataset, current.method))
    rows = rows_of(unchecked_experiment(current.dataset, method))
    return {key: value for key, value in flat(current).items() if key in rows and value != defaults.get(key)}


def _start(session: Session, current: ExperimentParams, method: str, values: Settings) -> None:
    try:
        live_run.commit(session, experiment(current.dataset, method, content=current.content, **values))
    except ValueError as error:
        session.warnings = [escape_markdown(error)]


def _more_settings(session: Session, rows: dict[str, Parameter], values: Settings) -> None:
    elsewhere = {*VISIBLE, *(key for keys in MORE.values() for key in keys)}
    own = tuple(key for key in parameter_table(session.params.model) if key not in elsewhere)
    score = TRUTH_SCORES[truth_column(own_data.similar_by(session))]
    rows = rows | {"stop_when_flat": replace(rows["stop_when_flat"], title=f"stop when {score} is flat")}
    for heading, keys in MORE.items():
        group = [rows[key] for key in (*keys, *(own if heading == "Model" else ())) if key in rows]
        if group:
            st.caption(heading)
        for row in group:
            on_commit = partial(change, session) if row.live else _committer(session)
            control(row, values[row.key], on_commit, idle=not row.is_active(values))
            if row.key == "sigma" and values["sigma"] == row.lo and row.is_active(values):
                _chosen_sigma(session)
    st.caption("Method")
    show_card(methods.find(session.params.method))


def _chosen_sigma(session: Session) -> None:
    now = live_run.latest_snapshot(session)
    if now is not None and math.isfinite(now.numbers.get("sigma", math.nan)):
        st.caption(f"σ auto → {now.numbers['sigma']:.3g}, half the median distance of the warm-up")


def choose_data(session: Session) -> None:
    """The dataset, and when two of its points are similar."""
    params = session.params
    catalogue.choose(session, "dataset", params.dataset, params.content, lambda key: _pick_data(session, key))
    row = rows_of(session.params)["similar_by"]
    try:
        dataset = own_data.dataset_of(session, session.params) or datasets.load_by_key(session.params.dataset)
    except ValueError:
        return
    control(row, session.params.stream.similar_by, _committer(session), options=("auto", *dataset.similarities))


def choose_method(session: Session) -> None:
    """The method, with what it learns from."""
    specs = methods.hashers()
    order = sorted(specs, key=lambda key: (key not in ("oh", "mmoh"), key))
    method = slot("method", session.params.method, order)
    st.selectbox(
        "Method", order, method.index, key=method.key,
        format_func=lambda key: describe_supervision(specs[key].title, specs[key]),
        on_change=on_choice(method, partial(commit_value, session, "method")),
        help=with_absent("OH learns one model. MMOH learns several, and each pair updates one of them."),
    )  # fmt: skip


def _live_controls(session: Session) -> None:
    """β and C act on the running model, or start a new run if it has finished; only they are redrawn then."""
    rows = rows_of(session.params)
    values = current_values(session)
    session.slider_values = {key: values[key] for key in VISIBLE if key in rows and rows[key].live}

    if session.redraw:  # a new run or a warning concerns the whole page
        st.rerun()
    for key in VISIBLE:
        if key in rows and rows[key].live:
            control(rows[key], values[key], partial(_change_in_fragment, session))


def current_values(session: Session) -> Settings:
    """Every parameter as the sliders show it: with live changes, and C as the warm-up chose it."""
    return flat(live_run.current_params(session)) | _chosen_C(session) | session.pending


def acts_at_once(session: Session, row: Parameter) -> bool:
    """Whether a change of it acts on the running model; once a run has ended, every change starts a new one."""
    return row.live and not live_run.runner(session).finished.is_set()


def change(session: Session, key: str, value: Any) -> None:
    """A setting was changed: β and C act on the running model, whatever else starts a new run."""
    if _restarts(session, key):
        session.playing = True
        commit_value(session, key, value)
        return
    try:
        live_run.set_live(session, key, value)
        session.slider_values[key] = value
    except ValueError as error:
        # a toast from a fragment's callback would replace the top of the page
        session.warnings = [escape_markdown(error)]


def _restarts(session: Session, key: str) -> bool:
    """Whether a change of it starts a new run; once it has, the presses that follow at once do, too."""
    return not acts_at_once(session, rows_of(session.params)[key]) or live_run.has_just_begun(session, key)


def _change_in_fragment(session: Session, key: str, value: Value) -> None:
    """A slider that is redrawn by itself was moved; a new run and a warning concern the whole page."""
    restarts = _restarts(session, key)
    change(session, key, value)
    if restarts or session.warnings:
        session.redraw = True
    else:
        runner = live_run.runner(session)
        # a browser that fetches pictures of a moving run has asked for this one by itself, see fetched_charts.js
        fetched = live_run.can_fetch(session, runner) and feed.is_fetched(runner)
        draw_instead(*([CHIPS] if fetched else ["live", CHIPS]))


def _chosen_C(session: Session) -> dict[str, float]:
    """C as the warm-up of the live run chose it; nothing if it is set."""
    now = live_run.latest_snapshot(session)
    if now is None or getattr(now.params.model_at(now.t), "C", True):
        return {}
    return {"C": now.numbers["auto_C"]} if "auto_C" in now.numbers else {}


def _committer(session: Session) -> OnCommit:
    return lambda key, value: commit_value(session, key, value)


def commit_value(session: Session, key: str, value: Any) -> None:
    """Start a new run with another value, unless it has it already."""
    current = live_run.current_params(session)
    if flat(current).get(key) == value:
        return  # nothing changed: a widget that reappears reports its value, too
    if key == "method":
        _start(session, current, value, _own_settings(current, value))
        return
    try:
        live_run.commit(session, current.with_values(**{key: value}), slider=key if rows_of(current)[key].live else "")
    except ValueError as error:
        session.warnings = [escape_markdown(error)]


def _pick_data(session: Session, key: str) -> None:
    dataset, content = catalogue.split_key(key)
    rows = rows_of(experiment("digits", session.params.method))
    defaults = flat(unchecked_experiment(session.params.dataset, session.params.method))
    defaults["seed"] = opening_seed(session.params.dataset)
    values = {"seed": opening_seed(dataset)} | {
        k: v
        for k, v in flat(live_run.current_params(session)).items()
        if k in KEPT_ON_OTHER_DATA and k in rows and v != defaults[k]
    }
    if (dataset, content) == (session.params.dataset, session.params.content):
        return
    try:
        live_run.commit(session, experiment(dataset, session.params.method, content=content, **values))
    except ValueError as error:
        session.warnings = [escape_markdown(error)]
