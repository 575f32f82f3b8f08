"""Chips above the charts: every parameter that is not at its default, each reset with one click."""

from dataclasses import replace
from functools import partial

import streamlit as st

from ohash.core.parameters import Parameter, Value, format_value
from ohash.engine.params import flat, opening_seed, rows_of
from ohash.models.online.oh_params import OHParams
from ohash.ui.live import rail
from ohash.ui.session import live_run
from ohash.ui.session.session import Session
from ohash.ui.workarounds.fragments import fragment

SYMBOLS = (*rail.VISIBLE, "alpha")  # shown as in the paper; the others by their titles
ORDER = (*rail.VISIBLE, "similar_by", *(key for keys in rail.MORE.values() for key in keys))


def chips(session: Session) -> None:
    """The chips, redrawn alone when β or C changes."""
    fragment(partial(_row, session), key=rail.CHIPS)


def _row(session: Session) -> None:
    changed = _changed(session)
    if not changed:
        return
    with st.container(horizontal=True, key="chips", vertical_alignment="center"):
        st.caption(f"Not default ({len(changed)}):", width="content")
        for row, value in changed:
            at_once = _acts_live(row) and rail.acts_at_once(session, row)
            how = "Acts on the running model." if at_once else "Starts a new run."
            if st.button(
                f"{row.symbol if row.key in SYMBOLS else row.title} {format_value(row, value)}",
                icon=":material/close:", key=f"chip_{row.key}", type="tertiary",
                help=f"{row.title}: back to {format_value(row, row.default)}. {how}",
            ):  # fmt: skip
                _reset(session, row)


def _changed(session: Session) -> list[tuple[Parameter, Value]]:
    """The parameters in force that are not at their defaults and have an effect, with their values."""
    rows, values = rows_of(session.params), flat(live_run.current_params(session)) | session.pending
    rows["seed"] = replace(rows["seed"], default=opening_seed(session.params.dataset))
    if "T" in rows and isinstance(session.params.model, OHParams):
        rows["T"] = replace(rows["T"], default=1)  # one model is OH
    keys = [key for key in (*ORDER, *(key for key in rows if key not in ORDER)) if key in rows]
    return [
        (rows[key], values[key]) for key in keys if values[key] != rows[key].default and rows[key].is_active(values)
    ]


def _acts_live(row: Parameter) -> bool:
    """Whether its default can be set in a running model; a default that the warm-up computes needs a new run."""
    return row.live and not (row.alias and row.default == row.lo)


def _reset(session: Session, row: Parameter) -> None:
    if row.key == "T":
        rail.change_T(session, row.default)
    elif _acts_live(row):
        rail.change(session, row.key, row.default)
    else:
        rail.commit_value(session, row.key, row.default)
    st.rerun()
