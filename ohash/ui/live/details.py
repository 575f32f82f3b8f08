"""Below the charts, in tabs: how to read them, more charts, theory, tables, runs so far, code."""

from functools import partial
from typing import TypeGuard

import streamlit as st

from ohash.engine.export import code_for
from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.narrative import amount, settings_that_differ, truth_of
from ohash.engine.params import ExperimentParams
from ohash.engine.snapshot import Snapshot
from ohash.models import registry
from ohash.plots.chart import Chart
from ohash.plots.live import charts
from ohash.ui.parts.live_chart import RESTING, live_chart
from ohash.ui.parts.run_table import COLUMNS, run_frame
from ohash.ui.session import live_run, own_data, view_state
from ohash.ui.session.run_store import SessionRuns
from ohash.ui.session.session import EarlierRun, Session
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import distinct, on_choice, slot

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
    "Theory": ("certificate",),
}
READING, TABLES, RUNS, CODE = "How to read this", "Tables", "Runs so far", "Code for this run"
TABS = [READING, *MORE, TABLES, RUNS, CODE]
MOVING = {*MORE, TABLES, RUNS}
KEY = "view_details"
SCORE = """**Score** (first chart): how well the codes agree with {truth} ({score}) or with the original distance
(recall@10), measured on queries that are never learnt. The dashed line is where it started."""
HILLS = "**Hills** (second): how many bits the recent similar pairs (blue) and dissimilar pairs (orange) differ in. "
THRESHOLDS = "Learning draws the similar pairs to α or below, and the dissimilar ones to β·r or above."
GOOD_CODES = "The better the codes, the further the blue hill lies to the left of the orange one."
LOSS = """**Loss** (third): every pair is scored before it is learnt. The gap to the dashed line, the same pairs scored
by the first hash, is what learning has saved."""
FROZEN = "**Loss** (third): only that of the first hash, as {method} reports none of its own."
STEP = "**Step size** (fourth): the step each pair would take without a cap. C caps those to its right."
NO_STEP = "**Step size** (fourth): empty, as {method} reports none."
CLICK = "**A click** on a curve over the pairs opens Step by step at that pair."
GALLERY = """**Gallery**: one query and the ten items whose codes differ least from its own; ✓ marks those that are
relevant."""


def how_to_read(params: ExperimentParams, truth: str = "labels", score: str = "mAP") -> str:
    """What each chart on Live shows of this method, as far as it has α, β, C, a loss and steps.

    `truth` is what codes should agree with, as the headline calls it, and `score` the measure of that.
    """
    spec = registry.hashers()[params.method]
    has_thresholds = hasattr(params.model, "alpha") and hasattr(params.model, "beta")
    reports = hasattr(spec.hasher, "certificates")
    hills = HILLS + (THRESHOLDS if has_thresholds else GOOD_CODES)
    parts = [SCORE, hills, *((LOSS, STEP) if reports else (FROZEN, NO_STEP))]
    if spec.key in {"oh", "mmoh"}:
        parts.append(CLICK)
    names = {"method": escape_markdown(spec.title), "truth": truth, "score": score}
    return "\n".join(f"- {part}" for part in (*parts, GALLERY)).format(**names)


def details_area(session: Session) -> None:
    """Tabs: only the open one is computed, and follows the run if it shows what moves."""
    session.details_tab = _open_tab()
    every = 1.0 if session.details_tab in MOVING and live_run.runner(session).state not in RESTING else None
    fragment(partial(_draw, session), key="details", every=every)


def _draw(session: Session) -> None:
    now = live_run.runner(session).snapshot()
    tabs = dict(zip(TABS, st.tabs(TABS, key=KEY, on_change="rerun"), strict=True))
    with tabs[READING] as tab:
        if tab.open:
            judged_by = () if now is None else (truth_of(now), TRUTH_SCORES[truth_column(now.similar_by)])
            st.markdown(how_to_read(session.params, *judged_by))
    for title, names in MORE.items():
        with tabs[title] as tab:
            if tab.open and _is_ready(now):
                _charts(now, names)
    with tabs[TABLES] as tab:
        if tab.open and _is_ready(now):
            st.caption("The data behind every chart.")
            for name, draw in charts.CHARTS.items():
                chart: Chart = draw(now)
                if not chart.empty:
                    st.caption(chart.title)
                    st.dataframe(chart.table(), height=200, key=f"table_{name}", hide_index=True, alt=chart.alt)
    with tabs[RUNS] as tab:
        if tab.open:
            lines = SessionRuns(session).list()
            st.dataframe(
                run_frame(session, lines), key="runs_so_far", hide_index=True, column_config=COLUMNS,
                alt="The runs of this tab with their scores",
            )  # fmt: skip
            _choose_reference(session)
            st.page_link("pages/runs.py", label="Compare, save and export them on the Runs page")
    with tabs[CODE] as tab:
        if tab.open:
            code = code_for(session.params, own_data.files_of(session, session.params.content))
            st.code(own_data.hide_folders()(code), language="python")
    if _open_tab() != session.details_tab or session.redraw:  # the timer must start or stop, or a run was pinned
        st.rerun()


def _choose_reference(session: Session) -> None:
    """Pin one of the earlier runs in chart A."""
    if not session.earlier:
        return
    names = distinct({"": "none", **{run.key: _name(session, run) for run in session.earlier[::-1]}})
    pinned = slot("pinned", session.pinned if session.pinned in names else "", tuple(names))
    st.selectbox(
        "Reference run in the first chart", pinned.options, pinned.index, key=pinned.key,
        format_func=names.__getitem__, on_change=on_choice(pinned, partial(_pin, session)),
    )  # fmt: skip


def _name(session: Session, run: EarlierRun) -> str:
    """With its difference from the live run."""
    difference = settings_that_differ(session.params, run.now.params)
    return ", ".join(text for text in (run.label, difference, amount(run.now.t, "pair")) if text)


def _pin(session: Session, key: str) -> None:
    session.pinned = key
    session.redraw = True


def _open_tab() -> str:
    return str(view_state.view("details") or READING)


def _is_ready(now: Snapshot | None) -> TypeGuard[Snapshot]:
    if now is None:
        st.caption("This appears with the first pairs.")
    return now is not None


def _charts(now: Snapshot, names: tuple[str, ...]) -> None:
    several = len(now.selections) > 1
    wanted = [name for name in names if several or name != "selections"]
    drawings = [live_chart(getattr(charts, name)(now), f"more_{name}", 240) for name in wanted]
    columns = st.columns(2)
    for at, drawing in enumerate(drawings):
        with columns[at % 2]:
            drawing.send()
