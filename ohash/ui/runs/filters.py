"""Which runs the table lists, which columns it has, and whether seeds stand together."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from ohash.store.listing import RunRow

Grouping = Literal["single runs", "seeds together"]


@dataclass(frozen=True)
class View:
    """The rows that pass the filters, and how they are shown."""

    lines: list[RunRow]
    grouped: bool
    filtered: bool


def choose_view(lines: list[RunRow]) -> View:
    """A row of filters; each offers only what occurs."""
    with st.container(horizontal=True, key="run_filters", vertical_alignment="bottom"):
        words = st.text_input(
            "Search", key="runs_words", placeholder="C = 1, or a tag or note", width=190,
            help="Runs whose settings, tags, note or key contain this.",
        )  # fmt: skip
        data = _choice("Data", (line.data for line in lines))
        method = _choice("Method", (line.method for line in lines))
        state = _choice("State", (line.state for line in lines))
        origin = _choice("From", (line.origin for line in lines))
        days = st.selectbox(
            "Saved", list(DAYS), key="runs_days", width=125, help="Runs that are not saved are always listed."
        )
        grouping = st.segmented_control(
            "Rows", list(GROUPINGS), default=GROUPINGS[0], key="runs_grouping", required=True,
            help="Seeds together: one row per experiment, with the mean and standard deviation over its seeds.",
        )  # fmt: skip
    chosen = [
        line
        for line in lines
        if _contains(line, words)
        and (not data or line.data in data)
        and (not method or line.method in method)
        and (not state or line.state in state)
        and (not origin or line.origin in origin)
        and line.is_younger_than(DAYS[days])
    ]
    return View(chosen, grouping == GROUPINGS[1], len(chosen) < len(lines))


GROUPINGS: tuple[Grouping, ...] = ("single runs", "seeds together")
DAYS: dict[str, float | None] = {"any time": None, "today": 1, "this week": 7, "this month": 31}


def _choice(title: str, values: Iterable[str]) -> list[str]:
    return st.multiselect(title, sorted(set(values)), key=f"runs_{title.lower()}", placeholder="all", width=145)


def _contains(line: RunRow, words: str) -> bool:
    text = " ".join((line.changed_settings, line.tags, line.note, line.key, line.method, line.data)).lower()
    return all(part.strip().lower() in text for part in words.split(","))
