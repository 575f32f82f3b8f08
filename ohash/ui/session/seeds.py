"""Four more seeds of the live experiment, in the background: how much a result owes to luck."""

from dataclasses import replace

from ohash.engine.live.runner import Runner
from ohash.engine.live.warm_up import compile_in_worker
from ohash.engine.params import SEED, ExperimentParams
from ohash.engine.snapshot import Snapshot
from ohash.ui.session import live_run, own_data
from ohash.ui.session.session import Session

MORE_SEEDS = 4


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
