"""What sits on the charts: which score the first one shows, the pin, and the views of the loss.

Outside the ticking fragment, which would send them five times a second; the style puts them on their charts.
"""

import streamlit as st

from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.ui.session import live_run, own_data
from ohash.ui.session.broadcast import QUALITY
from ohash.ui.session.session import Session
from ohash.ui.workarounds.slots import once_per_press


def show(session: Session) -> None:
    """The score and the pin on the first chart, the views on the loss."""
    with st.container(horizontal=True, key="on_quality", width="content"):
        truth_score = TRUTH_SCORES[truth_column(own_data.similar_by(session))]
        st.segmented_control(
            "score", list(QUALITY), default="mAP", format_func=lambda name: truth_score if name == "mAP" else name,
            key="view_quality", label_visibility="collapsed", required=True,
        )  # fmt: skip
        pinned = bool(session.pinned)
        st.button(
            "Unpin" if pinned else "Pin", icon=":material/keep_off:" if pinned else ":material/keep:", key="pin",
            type="tertiary", on_click=once_per_press(_toggle_pin), args=(session,),
            help="Remove the pinned run." if pinned else "Keep this run, as it is now, as the reference of later ones.",
        )  # fmt: skip
    with st.container(horizontal=True, key="on_loss", width="content"), st.popover("Views", type="tertiary"):
        st.toggle("Average per pair", key="view_per_pair")
        st.toggle("Logarithmic axes", key="view_log_loss")
        st.toggle("Bound of the certificate", key="view_bound")


def _toggle_pin(session: Session) -> None:
    session.pinned = "" if session.pinned else live_run.remember_live_run(session)
