"""The answers that this server is working on, and the one of a session."""

from ohash.advice.params import FIRST_DATASET, AdviceParams
from ohash.advice.runner import AdviceRunner
from ohash.engine.params import OWN
from ohash.runtime.lazy import once_per_process
from ohash.ui.session import own_data
from ohash.ui.session.hub import Hub
from ohash.ui.session.limits import MAX_COMPARISONS
from ohash.ui.session.session import Session


@once_per_process
def hub() -> Hub[AdviceRunner]:
    """The server's answers; as many at a time as comparisons."""
    return Hub[AdviceRunner](MAX_COMPARISONS, limit_of_visitor=1).watch()


def runner(session: Session) -> AdviceRunner:
    """The runner of the session's question, started if there is none; a finished one is kept."""
    if session.advice is None:
        session.advice = default_question(session)
    asked = session.advice
    return hub().run_unless(
        session.id, session.advice_work, lambda one: one.params == asked,
        lambda: AdviceRunner(asked, own_data.dataset_of(session, asked)),
    )  # fmt: skip


def choose(session: Session, params: AdviceParams, *, restart: bool = False) -> None:
    """Ask something else, or the same again from the beginning."""
    if restart:
        hub().end(session.id)
        session.advice_work.runner = None
    session.advice, session.warnings = params, []


def default_question(session: Session) -> AdviceParams:
    """The session's own data if they have clicks or labels, else a data set that is always here."""
    content = session.params.content if session.params.dataset == OWN else ""
    for key in (content, *reversed(session.own)):
        own = session.own.get(key)
        if own is not None and (own.pairs is not None or own.labels is not None):
            return AdviceParams(OWN, key)
    return AdviceParams(FIRST_DATASET)
