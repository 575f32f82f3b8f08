"""The findings behind the health dot, each with a button that applies its remedy."""

import streamlit as st

from ohash.core.parameters import Parameter
from ohash.engine.params import rows_of
from ohash.engine.run_health import Finding, Remedy, findings
from ohash.engine.snapshot import Snapshot
from ohash.ui.live.rail import change
from ohash.ui.parts.controls import format_value
from ohash.ui.session.session import Session
from ohash.ui.workarounds.slots import once


def health_area(session: Session, now: Snapshot) -> None:
    """One line per finding, those that ask for something first."""
    rows = rows_of(session.params)
    for finding in sorted(findings(now), key=lambda finding: finding.fine):
        st.markdown(_line(finding))
        if finding.remedy is not None and finding.remedy.key in rows:
            _button(session, rows[finding.remedy.key], finding.remedy)


def _line(finding: Finding) -> str:
    advice = f" — {finding.advice}" if finding.advice else ""
    return f"{'✓' if finding.fine else '!'} **{finding.title}**: {finding.value}{advice}"


def _button(session: Session, row: Parameter, remedy: Remedy) -> None:
    how = "Acts on the running model, and is recorded in the link." if row.live else "Starts a new run."
    label = f"Set {row.symbol or row.title} to {format_value(row, remedy.value)}"
    st.button(
        label, key=f"remedy_{remedy.key}_{remedy.value}",
        on_click=once(change), args=(session, remedy.key, remedy.value), help=how,
    )  # fmt: skip
