"""What stands behind the present run in the first chart: earlier runs, the pinned one, and the one a preset brings."""

import textwrap
from dataclasses import replace

from ohash.engine.live.presets import preset
from ohash.engine.narrative import settings_that_differ, title_of
from ohash.engine.snapshot import Snapshot
from ohash.plots.chart import Chart
from ohash.plots.live import charts
from ohash.ui import state
from ohash.ui.session import Past, Session


def quality(session: Session, now: Snapshot, metric: str) -> Chart:
    """Agreement over pairs with all that stands behind it."""
    kept = next((past for past in session.past if past.key == session.pinned), None)
    pinned = None if kept is None else _pinned(kept, now)
    ghosts = [*_told_apart(session, now, kept), *_beside(session)]
    reference = now.numbers.get("map_float") if metric == "map" else None
    return charts.quality(now, metric, ghosts=ghosts, reference=reference, pinned=pinned)


def beside(session: Session) -> list[Snapshot]:
    """The newest pictures of the runs beside the present one."""
    pictures = [one.snapshot() for one in state.hub().lease(session.id).beside]
    return [picture for picture in pictures if picture is not None and picture.t > 0]


def _told_apart(session: Session, now: Snapshot, kept: Past | None) -> list[charts.Ghost]:
    """Earlier runs, each named by what it has otherwise than the present one; without the pinned one."""
    found = []
    for ghost in session.ghosts:
        pinned = kept is not None and kept.now.params == ghost.params
        if charts.comparable(ghost, now.params) and not pinned:
            different = settings_that_differ(now.params, ghost.params) or "before"
            found.append(replace(ghost, label=textwrap.shorten(different, 26, placeholder="…")))
    return found


def _pinned(past: Past, now: Snapshot) -> charts.Ghost:
    """The reference the user chose; of other data, it says so."""
    ghost, data = charts.ghost_of(past.now, f"pinned: {past.label}"), title_of(past.now.params)
    if charts.comparable(ghost, now.params):
        return replace(ghost, label=f"pinned: {settings_that_differ(now.params, past.now.params) or past.label}")
    if data in past.label:
        return ghost
    return replace(ghost, label=f"pinned, {data.partition(',')[0]}: {past.label}")


def _beside(session: Session) -> list[charts.Ghost]:
    story = preset(session.preset).beside if session.preset else None
    label = story.label if story is not None else "for comparison"
    return [charts.ghost_of(picture, label) for picture in beside(session)]
