"""Step by step: one pair of the experiment, taken apart in the order of Algorithms 1 to 3."""

from ohash.ui import step_by_step
from ohash.ui.parts import items, notices, present
from ohash.ui.session import live_run, tab

items.apply()
session = tab.current_session()
live_run.hub().poll(session.id)
notices.show_warnings(session)
with present.page_container(session):
    step_by_step.show(session)
