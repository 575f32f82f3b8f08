"""One run, from its parameters to its last snapshot.

`params` is the experiment, `links` reads it from an address; `world` holds what a run depends on and does not learn.
`run` advances a `RunState` pair by pair; `fitting` fits batch methods, `checkpoints` and `judge` evaluate, `observer`
and `history` write columns, `snapshot` is what a viewer gets. `saving` resumes, `export` writes files, `narrative` puts
a run into words, `gallery` shows neighbours, `step_by_step` takes one pair apart; `live` is the run that somebody
watches.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.engine.checkpoints import Checkpoints, checkpoint_pairs
    from ohash.engine.gallery import nearest
    from ohash.engine.history import History
    from ohash.engine.judge import Judge
    from ohash.engine.links import from_query
    from ohash.engine.narrative import headline
    from ohash.engine.params import Change, ExperimentParams, experiment
    from ohash.engine.run import Run
    from ohash.engine.run_health import health
    from ohash.engine.snapshot import Snapshot
    from ohash.engine.state import RunState
    from ohash.engine.world import World

__all__ = [
    "Change", "Checkpoints", "ExperimentParams", "History", "Judge", "Run", "RunState", "Snapshot", "World",
    "checkpoint_pairs", "experiment", "from_query", "headline", "health", "nearest",
]  # fmt: skip

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "checkpoints": ("Checkpoints", "checkpoint_pairs"),
        "gallery": ("nearest",),
        "history": ("History",),
        "judge": ("Judge",),
        "links": ("from_query",),
        "narrative": ("headline",),
        "params": ("Change", "ExperimentParams", "experiment"),
        "run": ("Run",),
        "run_health": ("health",),
        "snapshot": ("Snapshot",),
        "state": ("RunState",),
        "world": ("World",),
    },
)
