"""The address bar: what it named when the tab was opened, and the one place that writes an experiment into it."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

import streamlit as st

from ohash.advice import params as advice_params
from ohash.advice.params import AdviceParams
from ohash.comparison import params as comparisons
from ohash.comparison.params import Comparison
from ohash.engine import links
from ohash.engine.links import Limits
from ohash.engine.live.presets import PRESETS
from ohash.engine.params import FIRST_DATASET, ExperimentParams
from ohash.plots.live.charts import CHARTS
from ohash.ui.session import step_link
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown

LIMITS = Limits(bits=2048, m=2048, pairs=10**8)
PLACE = "place"  # a mark, another one each time that the tab of a class is sent somewhere
KEYS_OF_OTHER_PAGES = (
    "profile", "sweep", "spec", "view", "at", step_link.ITEMS, step_link.WHAT_IF, "stage", "part", "present", "key",
    "follow", PLACE,
)  # fmt: skip
PAGES = ("compare", "data", "learn", "step", "advise", "runs", "sweeps", "paper")  # as app.py names them
THEORY = "theory"  # as `part=` names it
PRESENTED = {"1", "gallery", *CHARTS, *(preset.key for preset in PRESETS)}  # and the lessons
ALL, ALL_STAGES = "all", 99  # what `stage` says for every stage, and more than any update has
PAGE_PRESENTED = ("playground", "step")  # other words for 1, on the pages that they name
IGNORED = "Some parts of the link were ignored"


class Linkable(Protocol):
    """What an address can name."""

    def to_query(self) -> dict[str, str]:
        """Its link."""


@dataclass(frozen=True)
class Link:
    """What an address names, if anything, and what is wrong with it."""

    params: ExperimentParams | None = None
    comparison: Comparison | None = None
    advice: AdviceParams | None = None
    problems: tuple[str, ...] = ()

    @property
    def names_nothing(self) -> bool:
        """Whether it is about no experiment, comparison or advice."""
        return self.params is None and self.comparison is None and self.advice is None

    @property
    def warnings(self) -> list[str]:
        """One message for everything that is wrong with it."""
        return warnings_of(self.problems)


def read() -> Link:
    """What the address names now."""
    query = {key: value for key, value in st.query_params.to_dict().items() if key != PLACE}
    repeated = {key: values for key in query if len(values := st.query_params.get_all(key)) > 1}
    view = view_problems()
    problems = [f"{key} is given {len(values)} times; using the last, {values[-1]}" for key, values in repeated.items()]
    if "methods" in query or _is_of_compare(query):
        comparison, ignored = comparisons.from_query(query, LIMITS)
        return Link(comparison=comparison, problems=(*problems, *ignored, *view))
    if advice_params.MARK in query:
        advice, ignored = advice_params.from_query(query, LIMITS)
        return Link(advice=advice, problems=(*problems, *ignored, *view))
    own_keys = {key: value for key, value in query.items() if key not in KEYS_OF_OTHER_PAGES}
    params, ignored = links.from_query(own_keys, LIMITS)
    problems += ignored
    if not problems and not params.to_query().keys() & own_keys.keys():  # only stray keys, such as utm_source
        return Link(problems=tuple(view))
    return Link(params=params, problems=(*problems, *view))


def _is_of_compare(query: Mapping[str, str]) -> bool:
    """Whether it is a link to Compare that leaves the methods to the page: ``compare?dataset=digits&pairs=2000``."""
    shared = comparisons.rows_of(comparisons.build_comparison(FIRST_DATASET)).keys() | {"seeds"}
    return _page(st.context.url, st.get_option("server.baseUrlPath")) == "compare" and (
        "method" not in query and bool(shared & query.keys())
    )


def view_problems(own_query: bool = False) -> list[str]:
    """What the address says in vain of how to look at an experiment; a page with its own query reads `at` itself."""
    given = st.query_params
    page = page_problem(st.context.url, st.get_option("server.baseUrlPath"))
    problems = [page] if page else []
    if "at" in given and pair() is None and not own_query:
        problems.append(f"at must be the number of a pair, got {given['at'][:40]!r}; left out")
    if "stage" in given and given["stage"] != ALL and not _whole_number(given["stage"]):
        problems.append(f"stage must be a whole number or {ALL}, got {given['stage'][:40]!r}; left out")
    problems += step_link.problems_of(given)
    if given.get("part", THEORY) != THEORY:
        problems.append(f"part must be {THEORY}, got {given['part'][:40]!r}; left out")
    if given.get("present") and not present():
        names = f"1, gallery, playground, step, a chart ({', '.join(CHARTS)}), a preset or a lesson such as lesson-3"
        problems.append(f"present must be {names}, got {given['present'][:40]!r}; left out")
    return problems


def _whole_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12


def page_problem(url: str | None, base: str = "") -> str:
    """What is wrong with the page that an address names, "" if nothing; without one it is Live.

    >>> page_problem("http://localhost:8501/Learn?r=3")
    'there is no page Learn here, so this is Live; did you mean learn?'
    >>> page_problem("http://localhost:8501/lab/learn", "lab"), page_problem("http://localhost:8501")
    ('', '')
    """
    name = _page(url, base)
    if not name or name in PAGES:
        return ""
    near = difflib.get_close_matches(name.lower(), PAGES, 1)
    return f"there is no page {name[:40]} here, so this is Live" + (f"; did you mean {near[0]}?" if near else "")


def _page(url: str | None, base: str) -> str:
    return urlsplit(url or "").path.strip("/").removeprefix(base.strip("/")).strip("/")


def pair() -> int | None:
    """The pair that the address wants taken apart, `at`; None if it names none."""
    text = st.query_params.get("at", "")
    return int(text) if _whole_number(text) else None


def stage() -> int:
    """Up to which stage of its update the address wants it taken apart, `stage`; counted from 1."""
    text = st.query_params.get("stage", "")
    if text == ALL:
        return ALL_STAGES
    return min(max(1, int(text)), ALL_STAGES - 1) if _whole_number(text) else 1


def part() -> str:
    """The part of Step by step that the address wants: THEORY, or "" for the update."""
    return THEORY if st.query_params.get("part") == THEORY else ""


def items() -> step_link.Items | None:
    """The two items that the address wants in place of the pair."""
    return step_link.read_items(st.query_params.get(step_link.ITEMS, ""))


def what_if() -> dict[str, float]:
    """The values of α, β and C that the address wants tried on the pair."""
    text = st.query_params.get(step_link.WHAT_IF, "")
    return (step_link.read_what_if(text) if text else None) or {}


def present() -> str:
    """What the address wants presented, `present`: a chart, a scene, or 1; "" if nothing."""
    text = st.query_params.get("present", "")
    text = "1" if text in PAGE_PRESENTED else text
    return text if text in PRESENTED or re.fullmatch(r"lesson-\d{1,2}", text, re.ASCII) else ""


def place() -> str:
    """The mark of an address that the lecturer's class was sent to; "" if this is none."""
    text = st.query_params.get(PLACE, "")
    return text if re.fullmatch(r"\d{1,20}", text, re.ASCII) else ""


def drop_place() -> None:
    """The address without the mark, which tells the browser that the page has turned to it."""
    if PLACE in st.query_params:
        del st.query_params[PLACE]


def follow_present(session: Session) -> None:
    """On a page with a query of its own: what is presented is in the address, where the browser notes its scene."""
    named = present()
    if session.present and named:
        session.present = named
    elif session.present:
        st.query_params["present"] = session.present
    elif "present" in st.query_params:
        del st.query_params["present"]


def write(shown: Linkable, *, present: str = "", **others: str) -> None:
    """Make the address bar name this experiment or comparison, and present mode, which then survives a reload."""
    write_query(query_of(shown, present=present, **others))


def query_of(shown: Linkable, *, present: str = "", **others: str) -> dict[str, str]:
    """The query that names it."""
    return shown.to_query() | others | ({"present": present} if present else {})


def write_query(query: dict[str, str]) -> None:
    """Set the query of the address, unless it is the same already."""
    if any(len(st.query_params.get_all(key)) > 1 for key in st.query_params) or st.query_params.to_dict() != query:
        st.query_params.from_dict(query)


def warnings_of(problems: Sequence[str]) -> list[str]:
    """One message for everything that is wrong with a link."""
    escaped = [escape_markdown(problem) for problem in problems]
    text = escaped[0] if len(escaped) == 1 else "".join(f"\n- {problem}" for problem in escaped)
    return [f"{IGNORED}: {text}"] if problems else []
