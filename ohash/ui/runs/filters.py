"""Which runs the table lists, which columns it has, and whether seeds stand together."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from ohash.plots.runs import MAX_LINES, parallel_axes, parallel_option, runs_in_boxes
from ohash.store.listing import RunRow, matches
from ohash.ui.parts.run_table import number_runs
from ohash.ui.workarounds.style import dark

REMARKS = ("tags", "note")
Grouping = Literal["single runs", "seeds together", "sweeps together"]


@dataclass(frozen=True)
class View:
    """The rows that pass the filters, the numbers and remarks of all runs, and how they are shown."""

    lines: list[RunRow]
    numbers: dict[str, int]
    remarks: tuple[str, ...]
    grouping: Grouping


def choose_view(lines: list[RunRow]) -> View:
    """A row of filters; each offers only what occurs."""
    with st.container(horizontal=True, key="run_filters", vertical_alignment="bottom"):
        words = st.text_input(
            "Search", key="runs_words", placeholder="C = 1, or a tag or note", width=190,
            help="A condition on any parameter (C = 0.1, r >= 32, kernel != rbf), or text that the settings changed "
            "from the default, the tags, note, key, method or data contain; all of several, between commas.",
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
            help="Seeds together: one row per experiment, with the mean and standard deviation over its seeds. Sweeps "
            "together: one row per sweep.",
        )  # fmt: skip
    chosen = [
        line
        for line in lines
        if matches(line, words)
        and (not data or line.data in data)
        and (not method or line.method in method)
        and (not state or line.state in state)
        and (not origin or line.origin in origin)
        and line.is_younger_than(DAYS[days])
    ]
    chosen = _brush(chosen)
    remarks = tuple(name for name in REMARKS if any(getattr(line, name) for line in lines))
    return View(chosen, number_runs(lines), remarks, grouping)


def _brush(lines: list[RunRow]) -> list[RunRow]:
    """Parallel coordinates; boxes drawn on them filter the runs."""
    with st.expander("Parallel coordinates", key="runs_parallel_open", on_change="rerun") as opened:
        if not opened.open:
            return lines
        some = [line for line in lines if line.settings][-MAX_LINES:]
        axes = parallel_axes(some)
        if len(axes) < 2:
            st.caption("The listed runs do not differ in any parameter or score that can be drawn.")
            return lines
        names = ", ".join(axis.label for axis in axes)
        event = st.echarts_chart(
            parallel_option(some, axes, dark=dark()), height=300, on_select="rerun",
            key=f"runs_parallel_{zlib.crc32(names.encode())}",  # boxes belong to these axes
            alt=f"Parallel coordinates of {len(some)} runs: {names}. One line per run.",
        )  # fmt: skip
        areas = list(event["selection"]["areas"])
        passing = runs_in_boxes(some, axes, areas)
        few = f" The newest {len(some)} of {len(lines)} are drawn." if len(some) < len(lines) else ""
        st.caption(
            f"{len(passing)} of {len(some)} runs pass through the boxes, and are listed below. Double-click to clear."
            if areas
            else f"One line per run, stronger for a higher {axes[-1].label}. Press the square and drag a box over an "
            f"axis: only runs that pass through it are listed below.{few}"
        )
    return passing if areas else lines


GROUPINGS: tuple[Grouping, ...] = ("single runs", "seeds together", "sweeps together")
DAYS: dict[str, float | None] = {"any time": None, "last 24 hours": 1, "last 7 days": 7, "last 31 days": 31}


def _choice(title: str, values: Iterable[str]) -> list[str]:
    return st.multiselect(title, sorted(set(values)), key=f"runs_{title.lower()}", placeholder="all", width=145)
