"""Runs drawn with the live one: earlier ones and a preset's companion on the first chart, the pinned one on all.

Four more seeds run in the background if wanted, and show how much a result owes to luck.
"""

import textwrap
from collections.abc import Callable
from dataclasses import replace

from ohash.engine.live.presets import preset
from ohash.engine.live.runner import Runner
from ohash.engine.live.warm_up import compile_in_worker
from ohash.engine.narrative import amount, settings_that_differ, title_of
from ohash.engine.params import SEED, ExperimentParams
from ohash.engine.snapshot import Snapshot
from ohash.plots.chart import Chart
from ohash.plots.live import charts
from ohash.plots.live.other_runs import side_by_side, with_difference
from ohash.plots.live.scores import BAND_OF_SEEDS
from ohash.ui.session import live_run, own_data
from ohash.ui.session.session import EarlierRun, Session

PINNED = "pinned"

MORE_SEEDS = 4


def quality(session: Session, now: Snapshot, metric: str) -> Chart:
    """A quality measure over pairs, with the reference runs behind it."""
    reference = _reference(session)
    pinned = None if reference is None else _pinned(reference, now)
    ghosts = [*_earlier(session, now, reference), *_companions(session)]
    others = [charts.ghost_of(one, "") for one in seed_snapshots(session)]
    chart = charts.quality(now, metric, ghosts=ghosts, pinned=pinned, seeds=others)
    if reference is None:
        return chart
    band = f" {BAND_OF_SEEDS}" if BAND_OF_SEEDS in chart.caption else ""
    differing = _differences(now, reference)
    return replace(with_difference(chart, PINNED), caption=differing + band if differing else chart.caption)


def with_pinned_run(session: Session, now: Snapshot, draw: Callable[[Snapshot], Chart]) -> Chart:
    """A chart of the live run with the pinned run in its own colour, if that is of the same data."""
    chart, reference = draw(now), _reference(session)
    if reference is None or not _same_data(now, reference.now) or reference.now.params == now.params:
        return chart
    here, there = (len(one.recent["similar"]) - 1 for one in (now, reference.now))
    return side_by_side(chart, draw(reference.now), PINNED, (here, there))


def _reference(session: Session) -> EarlierRun | None:
    return next((run for run in session.earlier if run.key == session.pinned), None)


def _same_data(now: Snapshot, other: Snapshot) -> bool:
    return (now.params.dataset, now.params.content) == (other.params.dataset, other.params.content)


def _differences(now: Snapshot, reference: EarlierRun) -> str:
    """What differs in the parameters of the two runs, each with its own values."""
    other = reference.now.params
    live, pinned = settings_that_differ(other, now.params), settings_that_differ(now.params, other)
    parts = [f"Now: {live}."] if live else []
    parts += [f"Pinned, in green here: {pinned}, {amount(reference.now.t, 'pair')}."] if pinned else []
    return " ".join(parts)


def companion_snapshots(session: Session) -> list[Snapshot]:
    """The newest snapshots of the runs that accompany the live one."""
    companions = [one for one in live_run.hub().lease(session.id).companions if one not in session.seed_runners]
    snapshots = [runner.snapshot() for runner in companions]
    return [snapshot for snapshot in snapshots if snapshot is not None and snapshot.t > 0]


def _earlier(session: Session, now: Snapshot, reference: EarlierRun | None) -> list[charts.Ghost]:
    """Earlier runs except the pinned one, each labelled by its difference from the live run."""
    ghosts = []
    for ghost in session.ghosts:
        pinned = reference is not None and reference.now.params == ghost.params
        if charts.comparable(ghost, now.params) and not pinned:
            label = settings_that_differ(now.params, ghost.params) or "before"
            ghosts.append(replace(ghost, label=textwrap.shorten(label, 26, placeholder="…")))
    return ghosts


def _pinned(run: EarlierRun, now: Snapshot) -> charts.Ghost:
    """The reference the user chose; if it used other data, its label says so."""
    ghost, data = charts.ghost_of(run.now, f"pinned: {run.label}"), title_of(run.now.params)
    if charts.comparable(ghost, now.params):
        return replace(ghost, label=f"pinned: {settings_that_differ(now.params, run.now.params) or run.label}")
    if data in run.label:
        return ghost
    return replace(ghost, label=f"pinned, {data.partition(',')[0]}: {run.label}")


def _companions(session: Session) -> list[charts.Ghost]:
    companion = preset(session.preset).companion if session.preset else None
    label = companion.label if companion is not None else "for comparison"
    return [charts.ghost_of(snapshot, label) for snapshot in companion_snapshots(session)]


def follow_seeds(session: Session) -> None:
    """Start, replace or stop the runs of the other seeds, so that they are of the experiment shown now."""
    lease = live_run.hub().lease(session.id)
    wanted = other_seeds(session.params) if session.five_seeds else []
    running = [runner for runner in lease.companions if runner in session.seed_runners]
    if [runner.params for runner in running] == wanted:
        return
    own = own_data.dataset_of(session, session.params)
    runners = [Runner(params, own, first=compile_in_worker) for params in wanted]
    live_run.hub().replace_companions(session.id, running, runners)
    session.seed_runners = runners


def other_seeds(params: ExperimentParams) -> list[ExperimentParams]:
    """The same experiment with the next seeds."""
    return [replace(params, seed=(params.seed + k) % (int(SEED.hi) + 1)) for k in range(1, MORE_SEEDS + 1)]


def seed_snapshots(session: Session) -> list[Snapshot]:
    """The newest snapshots of the other seeds."""
    snapshots = [runner.snapshot() for runner in session.seed_runners]
    return [snapshot for snapshot in snapshots if snapshot is not None and snapshot.t > 0]
