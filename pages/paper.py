"""Paper: its figures on the data that are available here, and whether its claims hold."""

import streamlit as st

from ohash.ui import paper
from ohash.ui.parts import items, notices
from ohash.ui.session import live_run, run_store, tab

items.apply()
session = tab.current_session()
live_run.hub().poll(session.id)
store = run_store.open_store()
notices.show_store_problem(store.problem)
st.markdown("#### The paper, reproduced")
st.caption(
    "Huang, Yang, Zheng: Online Hashing, IEEE TNNLS 2017. Every number and every verdict is computed from runs of "
    "ohash; none is copied from the paper. From a shell: `python3 -m ohash paper --html report.html`."
)
profile = paper.choose()
paper.progress(store, profile)
results = paper.load_results(store, profile)
paper.source(results)
paper.data(results)
part = st.segmented_control(
    "part", list(paper.PARTS), default="claims", key="paper_part", format_func=lambda name: paper.PARTS[name],
    required=True, label_visibility="collapsed",
)  # fmt: skip
if part == "figures":
    paper.figures(results)
elif part == "symbols":
    paper.symbols()
else:
    paper.claims(results)
paper.downloads(results)
