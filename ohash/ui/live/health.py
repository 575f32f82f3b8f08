"""The findings behind the health dot, each with a button that applies its remedy."""

from functools import partial

import streamlit as st

from ohash.core.parameters import Parameter, format_value
from ohash.engine.params import flat, rows_of
from ohash.engine.remedies import Remedy
from ohash.engine.run_health import MIN_PAIRS, Finding, findings, health
from ohash.engine.run_signs import HAD_TIME
from ohash.ui.live.chips import SYMBOLS
from ohash.ui.live.rail import acts_at_once, change
from ohash.ui.parts.live_chart import RESTING
from ohash.ui.session import live_run
from ohash.ui.session.session import Session
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.markdown import escape_markdown

SECONDS = 1.0
NOTHING_WRONG = {
    "early": f"Nothing yet: judging takes {MIN_PAIRS:,} pairs, or {HAD_TIME:,} where the score has not risen.",
    "short": f"Too short to judge: that takes {MIN_PAIRS:,} pairs, or {HAD_TIME:,} where the score has not risen.",
    "healthy": "No problems found.",
}


def health_area(session: Session) -> None:
    """The findings, which follow the run."""
    moving = live_run.runner(session).state not in RESTING
    fragment(partial(_draw, session), key="findings", every=SECONDS if moving else None)


def _draw(session: Session) -> None:
    """What asks for something, and the rest behind "What is checked"."""
    now = live_run.runner(session).snapshot()
    if now is None:
        st.markdown("The run is being prepared.")
        return
    if now.state == "error":
        st.markdown(f"! **failed**: {escape_markdown(now.error)}")
        return
    rows, signs = rows_of(session.params), findings(now)
    wrong = [finding for finding in signs if not finding.fine]
    with st.container():  # one element, so that the expander keeps its place, and stays open
        for finding in wrong:
            st.markdown(_line(finding))
            if finding.remedy is not None and finding.remedy.key in rows:
                _button(session, rows[finding.remedy.key], finding.remedy)
        if not wrong:
            st.markdown(NOTHING_WRONG[health(now, wrong)])
    with st.expander("What is checked"):
        for finding in signs:
            if finding.fine:
                st.markdown(_line(finding))


def _line(finding: Finding) -> str:
    advice = f" — {finding.advice}" if finding.advice else ""
    sign = "!" if not finding.fine else "✓" if finding.judged else "·"
    return f"{sign} **{finding.title}**: {finding.value}{advice}"


def _button(session: Session, row: Parameter, remedy: Remedy) -> None:
    at_once = acts_at_once(session, row)
    how = "Acts on the running model, and is recorded in the link." if at_once else "Starts a new run."
    name = row.symbol if row.key in (*SYMBOLS, "sigma") else row.title
    label = f"Set {name} to {format_value(row, remedy.value)}"
    if st.button(label, key=f"remedy_{remedy.key}", help=how):
        current = flat(live_run.current_params(session)) | session.pending
        if current[remedy.key] != remedy.value:  # the timer may have carried the same press already
            change(session, remedy.key, remedy.value)
        st.rerun()
