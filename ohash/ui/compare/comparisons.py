"""The comparisons of this server, and that of a session."""

import os

import streamlit as st

from ohash.comparison import params as comparisons
from ohash.comparison.params import Comparison
from ohash.comparison.runner import ComparisonRunner
from ohash.engine.params import OWN
from ohash.ui.data import own_data as yours
from ohash.ui.hub import Hub
from ohash.ui.session import Session

MOST = int(os.environ.get("OHASH_MAX_COMPARISONS", "8"))


@st.cache_resource
def hub() -> Hub[ComparisonRunner]:
    """The server's comparisons."""
    return Hub[ComparisonRunner](MOST).watch()


def of(session: Session) -> ComparisonRunner:
    """The session's comparison under way, begun if there is none; one that is over is kept."""
    if session.comparison is None:
        session.comparison = usual(session, session.params.dataset, session.params.content)
    known = session.comparison_runner
    if known is not None and known.comparison == session.comparison and known.state == "done":
        return known
    lease = hub().lease(session.id)
    if lease.runner is None or lease.runner.comparison != session.comparison:
        own = yours.dataset_of(session, session.comparison)
        session.comparison_runner = ComparisonRunner(session.comparison, own)
        session.compare_resting = False
        hub().run(session.id, session.comparison_runner)
        return session.comparison_runner
    return lease.runner


def choose(session: Session, comparison: Comparison, *, again: bool = False) -> None:
    """Another comparison, or the same from the beginning."""
    if again:
        hub().lease(session.id).stop()
        session.comparison_runner = None
    session.comparison, session.warnings, session.sides = comparison, [], (0, 1)


def usual(session: Session, dataset: str, content: str = "") -> Comparison:
    """What is compared first on some data: with what suits clicks if there are any."""
    own = session.own.get(content) if dataset == OWN else None
    entries = comparisons.CLICK_METHODS if own is not None and own.pairs is not None else comparisons.DEFAULT_METHODS
    return comparisons.build_comparison(dataset, entries, content=content)
