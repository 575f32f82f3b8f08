"""The address bar: what it names when a tab is opened, and the one place that writes an experiment into it."""

from dataclasses import dataclass
from typing import Protocol

import streamlit as st

from ohash.comparison import params as comparisons
from ohash.comparison.params import Comparison
from ohash.engine import links
from ohash.engine.links import Limits
from ohash.engine.params import ExperimentParams
from ohash.ui.workarounds.messages import plain

LIMITS = Limits(bits=2048, m=2048, pairs=10**8)
OF_OTHER_PAGES = ("profile", "sweep", "spec", "view")


class Linked(Protocol):
    """What an address can name."""

    def to_query(self) -> dict[str, str]:
        """Its link."""


@dataclass(frozen=True)
class Named:
    """The experiment or the comparison that an address names, if any, and what is wrong with it, in words."""

    params: ExperimentParams | None = None
    comparison: Comparison | None = None
    warnings: tuple[str, ...] = ()


def read() -> Named:
    """What the address names now."""
    query = st.query_params.to_dict()
    several = {key: values for key in query if len(values := st.query_params.get_all(key)) > 1}
    problems = [f"{key} stands there {len(some)} times; the last counts, {some[-1]}" for key, some in several.items()]
    if "methods" in query:
        comparison, found = comparisons.from_query(query, LIMITS)
        return Named(comparison=comparison, warnings=_told(problems + found))
    mine = {key: value for key, value in query.items() if key not in OF_OTHER_PAGES}
    params, found = links.from_query(mine, LIMITS)
    if (
        not problems + found and not params.to_query().keys() & mine.keys()
    ):  # a stray key, utm_source say, names nothing
        return Named()
    return Named(params=params, warnings=_told(problems + found))


def write(shown: Linked) -> None:
    """The address bar is the experiment, or the comparison."""
    put(shown.to_query())


def put(query: dict[str, str]) -> None:
    """Write an address that is not there already."""
    if any(len(st.query_params.get_all(key)) > 1 for key in st.query_params) or st.query_params.to_dict() != query:
        st.query_params.from_dict(query)


def _told(problems: list[str]) -> tuple[str, ...]:
    """One message for all that is wrong with a link."""
    told = plain(problems[0]) if len(problems) == 1 else "".join(f"\n- {plain(problem)}" for problem in problems)
    return (f"The link was not quite right: {told}",) if problems else ()
