"""The earlier runs of a tab: remembered, drawn as ghosts, and one of them pinned."""

from ohash.engine.narrative import title_of
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods
from ohash.plots.live.charts import ghost_of
from ohash.ui.session.session import EarlierRun, Session

MAX_GHOSTS = 5
MAX_RUNS = 50


def key_of(now: Snapshot) -> str:
    """The name of a run: its experiment, and how far it went."""
    return f"{now.params.key()}-{now.t}"


def remember(session: Session, last: Snapshot, *, keep_ghost: bool) -> None:
    """Add a run to the earlier ones and, if wanted, draw it behind the next run."""
    label = f"{methods.find(last.params.method).title} on {title_of(last.params)}"
    _add(session, EarlierRun(key_of(last), label, last))
    if keep_ghost:
        session.ghosts = [*session.ghosts, ghost_of(last, label)][-MAX_GHOSTS:]


def pin(session: Session, now: Snapshot, name: str) -> None:
    """Draw a run on Live as the reference."""
    _add(session, EarlierRun(key_of(now), name, now))
    session.pinned = key_of(now)


def forget(session: Session, keys: set[str]) -> None:
    """Delete earlier runs."""
    session.earlier = [run for run in session.earlier if run.key not in keys]
    if session.pinned in keys:
        session.pinned = ""


def _add(session: Session, new: EarlierRun) -> None:
    session.earlier = [*(run for run in session.earlier if run.key != new.key), new][-MAX_RUNS:]
