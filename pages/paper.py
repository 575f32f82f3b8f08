"""Paper: its figures on the data that are here, and whether its claims hold."""

import streamlit as st

from ohash.ui import items, paper, runs, state
from ohash.ui.workarounds import style

style.apply()
items.apply()
session = state.current()
state.hub().poll(session.id)
store = runs.kept()
if store.problem:
    st.warning(f"{store.problem[0].upper()}{store.problem[1:]}.", icon=":material/info:")
st.markdown("#### The paper, reproduced")
st.caption(
    "Huang, Yang, Zheng: Online Hashing, IEEE TNNLS 2017. Every number and every verdict is computed from runs on this "
    "machine; nothing is typed in. The same from a shell: `python3 -m ohash paper --html report.html`."
)
profile = paper.choose()
paper.progress(store, profile)
shown = paper.known(store, profile)
part = st.segmented_control(
    "part", list(paper.PARTS), default="claims", key="paper_part", format_func=lambda name: paper.PARTS[name],
    required=True, label_visibility="collapsed",
)  # fmt: skip
if part == "figures":
    paper.figures(shown)
elif part == "symbols":
    paper.symbols()
else:
    paper.claims(shown)
paper.take_away(shown)
