"""The findings behind the health dot, each with a button that applies its remedy."""

import streamlit as st

from ohash.core.parameters import Parameter, format_value
from ohash.engine.params import rows_of
from ohash.engine.run_health import MIN_PAIRS, Finding, Remedy, findings
from ohash.engine.snapshot import Snapshot
from ohash.ui.live.rail import change
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import once


def health_area(session: Session, now: Snapshot) -> None:
    """What asks for something, and the rest behind "What is checked"."""
    if now.state == "error":
        st.markdown(f"! **failed**: {escape_markdown(now.error)}")
        return
    rows, signs = rows_of(session.params), findings(now)
    wrong = [finding for finding in signs if not finding.fine]
    for finding in wrong:
        st.markdown(_line(finding))
        if finding.remedy is not None and finding.remedy.key in rows:
            _button(session, rows[finding.remedy.key], finding.remedy)
    if not wrong:
        st.markdown("Nothing to mend." if now.t >= MIN_PAIRS else f"Nothing yet; judged from {MIN_PAIRS:,} pairs on.")
    with st.expander("What is checked"):
        for finding in signs:
            if finding.fine:
                st.markdown(_line(finding))


def _line(finding: Finding) -> str:
    advice = f" — {finding.advice}" if finding.advice else ""
    sign = "!" if not finding.fine else "✓" if finding.judged else "·"
    return f"{sign} **{finding.title}**: {finding.value}{advice}"


def _button(session: Session, row: Parameter, remedy: Remedy) -> None:
    how = "Acts on the running model, and is recorded in the link." if row.live else "Starts a new run."
    label = f"Set {row.title if row.kind is bool else row.symbol or row.title} to {format_value(row, remedy.value)}"
    st.button(
        label, key=f"remedy_{remedy.key}_{remedy.value}",
        on_click=once(change), args=(session, remedy.key, remedy.value), help=how,
    )  # fmt: skip
