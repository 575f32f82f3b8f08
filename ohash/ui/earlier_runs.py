"""The runs of this tab that are over or were left: on the shelf, as ghosts, and one of them pinned."""

from ohash.engine.narrative import title_of
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods
from ohash.plots.live.charts import ghost_of
from ohash.ui.session import Past, Session

MOST_GHOSTS = 5
MOST = 50


def remember(session: Session, last: Snapshot, *, keep_ghost: bool) -> None:
    """Put a run on the shelf, by what it was; and behind the next one, if wanted."""
    key = f"{last.params.key()}-{last.t}"
    label = f"{methods.find(last.params.method).title} on {title_of(last.params)}"
    session.past = [*(past for past in session.past if past.key != key), Past(key, label, last)][-MOST:]
    if keep_ghost:
        session.ghosts = [*session.ghosts, ghost_of(last, label)][-MOST_GHOSTS:]


def pin(session: Session, now: Snapshot, name: str) -> None:
    """Draw a run on Live as the reference."""
    key = f"{now.params.key()}-{now.t}"
    session.past = [*(past for past in session.past if past.key != key), Past(key, name, now)][-MOST:]
    session.pinned = key


def forget(session: Session, keys: set[str]) -> None:
    """Delete past runs."""
    session.past = [past for past in session.past if past.key not in keys]
    if session.pinned in keys:
        session.pinned = ""
