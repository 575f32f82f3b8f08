"""Learn: see hash codes form, on points in the plane."""

from ohash.ui.learn import lessons, playground
from ohash.ui.parts import items
from ohash.ui.session import live_run, tab

items.apply()
live_run.hub().poll(tab.current_session(own_query=True).id)
playground.show()
lessons.show_lessons()
lessons.show_glossary()
