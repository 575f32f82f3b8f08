"""The words above the charts: two sentences for someone new to hash codes, and what is happening in this run."""

import html
import math
from dataclasses import replace

import streamlit as st

from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.live.presets import preset
from ohash.engine.narrative import change_since_start, headline, learning_phrase, title_of, truth_of
from ohash.engine.params import ExperimentParams
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods
from ohash.plots.glossary import with_cards
from ohash.ui.live import reference_runs
from ohash.ui.session.session import Session

WHAT = (
    "A hash code is a short row of bits that stands for an item; items with similar bits are found fast. Here codes "
    "learn from pairs, live: similar pairs (blue) draw together, dissimilar ones (orange) move apart."
)
# Where one learns what a code is: the words, the page, and its entry in the menu, which keeps the session.
LESSON = "See codes form", "learn", 'header a[href$="/learn"]'


def show_introduction() -> None:
    """What a hash code is, the way to the Learn page, and a button that closes it; page.js does the rest."""
    title, path, entry = LESSON
    with st.container(key="intro"):
        st.html(
            f'<aside class="ohash-intro" aria-label="Introduction"><p>{with_cards(WHAT)}</p>'
            f'<a class="lesson" href="{path}" target="_self" data-press="{html.escape(entry)}">{html.escape(title)}</a>'
            "<button>Got it</button></aside>"
        )


def sentence(session: Session, now: Snapshot | None, state: str) -> str:
    """What is happening, or what a preset has shown."""
    if now is not None and now.state == "recording":
        if session.pending:
            return "A recording plays while kernels compile; your change takes effect when the live run takes over."
        if now.t == now.numbers["end"]:
            return "The recording ends here; the live run takes over as soon as its kernels are compiled."
        if not session.playing:
            now = replace(now, state="paused")
    return conclusion(session, now) or situation(session.params, now, state)


def situation(params: ExperimentParams, now: Snapshot | None, state: str) -> str:
    """What the method does, and whether its codes agree better than at the start."""
    if now is None or now.t == 0 or state == "error":
        return headline(now, params, state)
    spec = methods.find(now.params.method)
    begin = f"{spec.title} {learning_phrase(spec, now.state)} pairs of {title_of(params)}"
    column = truth_column(now.similar_by)
    pairs, numbers = now.checkpoints["pairs"], now.numbers
    if len(pairs) < 2:  # before the first pair
        return f"{begin}; not evaluated since the start."
    if spec.consumes == "nothing" or not math.isfinite(numbers.get(column, math.nan)):
        return f"{begin}."
    labels, distance = (change_since_start(numbers, name) for name in (column, "recall_10"))
    both = f"{labels} with {truth_of(now)} and {distance} with the original distance"
    if labels == distance:
        both = f"{labels} with {truth_of(now)} and with the original distance"
    flat = now.state == "done" and now.params.run.stop_when_flat and now.t < numbers.get("end", 0)
    stopped = f"; {TRUTH_SCORES[column]} is flat, so it stopped" if flat else ""
    return f"{begin}: compared with the start, its codes agree {both}{stopped}."


def conclusion(session: Session, now: Snapshot | None) -> str:
    """The conclusion of a preset in the run's own numbers; none if parameters were changed on the way."""
    if not session.preset or now is None or now.state != "done" or now.params.changes:
        return ""
    finished = [other for other in reference_runs.companion_snapshots(session) if other.state == "done"]
    return preset(session.preset).conclusion(now, finished[0] if finished else None)
