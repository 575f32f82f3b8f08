"""Data: the data sets available here, how to get the others, and how to upload your own."""

import streamlit as st

from ohash.ui.data import all_datasets, page, upload
from ohash.ui.parts import catalogue, items, notices
from ohash.ui.session import address, live_run, own_data, tab, view_state

PARTS = {"look": "Explore", "all": "All data sets", "own": "Upload your own"}

items.apply()
session = tab.current_session()
live_run.hub().poll(session.id)
part = st.segmented_control(
    "part", list(PARTS), key=view_state.data_part(session), format_func=lambda name: PARTS[name], required=True,
    label_visibility="collapsed",
)  # fmt: skip
session.data_part = part = part or "look"
notes = st.container()
if part != "look":
    needed = own_data.missing(session)
    address.write_query({**({} if needed is None else needed.to_query()), "view": part})
if part == "own":
    upload.panel(session)
elif part == "all":
    all_datasets.show_all(session)
else:
    key = page.choose(session)
    address.write_query(page.query_of(key))
    dataset = catalogue.load(session, key)
    if dataset is not None:
        page.show_dataset(session, key, dataset)
with notes:
    notices.show_warnings(session)
