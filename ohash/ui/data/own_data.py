"""Data of the user's own in a session: uploads, and what the server was started with."""

from ohash.comparison.params import Comparison
from ohash.engine.export import YOURS, Files
from ohash.engine.params import OWN, ExperimentParams, experiment
from ohash.streams.dataset import Dataset
from ohash.ui.data.upload import named_on_the_command_line, of_command_line
from ohash.ui.session import Session

MOST = 4


def dataset_of(session: Session, params: ExperimentParams | Comparison) -> Dataset | None:
    """The session's own data if the experiment is about them."""
    if params.dataset != OWN:
        return None
    if params.content not in session.own:
        raise ValueError(
            f"This link needs data of somebody's own (fingerprint {params.content or 'missing'}); upload that file on "
            "the Data page, or pick another data set"
        )
    return session.own[params.content]


def wanted(session: Session) -> ExperimentParams | Comparison | None:
    """What an opened link is about, if that is data of one's own."""
    for named in (session.comparison, session.params):
        if named is not None and named.dataset == OWN and named.content:
            return named
    return None


def missing(session: Session) -> ExperimentParams | Comparison | None:
    """The same if the data are not here yet."""
    named = wanted(session)
    return None if named is None or named.content in session.own else named


def files_of(session: Session, content: str) -> Files:
    """What code needs to open data of one's own again."""
    return session.files.get(content, YOURS)


def add(session: Session, dataset: Dataset, files: Files = YOURS) -> str:
    """Keep uploaded data for this session; returns its fingerprint."""
    key = dataset.fingerprint()
    session.files[key] = files
    used = {key, session.params.content, session.comparison.content if session.comparison else ""}
    others = [one for one in session.own if one not in used]
    for old in others[: max(0, len(session.own) + 1 - MOST)]:
        del session.own[old]
        session.files.pop(old, None)
    session.own[key] = dataset
    return key


def open_named(session: Session, *, first: bool) -> None:
    """The file the server was started with: at hand in every session, and the first experiment of a bare address."""
    own, problem = of_command_line()
    if own is not None:
        content = add(session, own, named_on_the_command_line())
        if first:
            session.params, session.preset = experiment(OWN, content=content), ""
    elif problem:
        session.warnings.append(problem)
