"""Data: what there is, how to get the rest, and how to bring your own."""

import streamlit as st

from ohash.ui import address, items, state
from ohash.ui import view_state as memory
from ohash.ui.data import catalogue
from ohash.ui.data import own_data as yours
from ohash.ui.data import page as data
from ohash.ui.data import upload_panel as bring
from ohash.ui.workarounds import messages as notices
from ohash.ui.workarounds import style

PARTS = {"look": "Look at one", "all": "Everything there is", "own": "Bring your own"}

style.apply()
items.apply()
session = state.current()
state.hub().poll(session.id)
part = st.segmented_control(
    "part", list(PARTS), key=memory.part(session), format_func=lambda name: PARTS[name], required=True,
    label_visibility="collapsed",
)  # fmt: skip
session.part = part
notes = st.container()
if part != "look":
    needed = yours.missing(session)
    address.put({**({} if needed is None else needed.to_query()), "view": part})
if part == "own":
    bring.panel(session)
elif part == "all":
    catalogue.everything()
else:
    key = data.choose(session)
    address.put(data.query_of(key))
    dataset = data.load(session, key)
    if dataset is not None:
        data.look(session, key, dataset)
with notes:
    notices.warnings(session)
