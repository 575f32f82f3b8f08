"""What a session remembers: one browser tab with its experiment, its comparison, its past runs and its own data."""

import time
from dataclasses import dataclass, field

from ohash.comparison.params import Comparison
from ohash.comparison.runner import ComparisonRunner
from ohash.engine.export import Files
from ohash.engine.live.pace import Pace
from ohash.engine.params import ExperimentParams
from ohash.engine.snapshot import Snapshot
from ohash.plots.live.charts import Ghost
from ohash.streams.dataset import Dataset

LONG = 2.0  # seconds without a picture


@dataclass
class Watched:
    """How long a run has been watched while it played."""

    seconds: float = 0.0
    looked_at: float = field(default_factory=time.monotonic)

    def look(self, *, playing: bool) -> float:
        """Once a picture; who looks away for long has not watched."""
        now = time.monotonic()
        self.seconds += min(now - self.looked_at, LONG) * playing
        self.looked_at = now
        return self.seconds


@dataclass(frozen=True, eq=False)
class Past:
    """A run that is over (or was left): its parameters and its last picture."""

    key: str
    label: str
    now: Snapshot


@dataclass
class Selection:
    """On the Runs page: which list it is of, the rows selected at first, and the keys of what is selected now."""

    listed: str
    first: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


@dataclass
class Session:
    """One browser tab. `pinned` is the key of a past run drawn as the reference."""

    id: str
    params: ExperimentParams
    preset: str = ""
    pace: Pace = "accelerating"
    playing: bool = True
    ghosts: list[Ghost] = field(default_factory=list)
    past: list[Past] = field(default_factory=list)
    pinned: str = ""
    selection: Selection = field(default_factory=lambda: Selection(""))
    own: dict[str, Dataset] = field(default_factory=dict)
    files: dict[str, Files] = field(default_factory=dict)  # what the own data came from
    warnings: list[str] = field(default_factory=list)
    difference: str = ""
    present: bool = False
    query: int = 0
    row: int | None = None  # of an item that asks instead of the query
    before: bool = False
    watched: Watched = field(default_factory=Watched)
    recorded: bool = False  # a recording may stand in for the run until that is as far
    linked: bool = False  # the experiment is what an address said
    wanted: dict[str, float] = field(default_factory=dict)
    shown: dict[str, float] = field(default_factory=dict)  # what the sliders of the running model say
    resting: int = 0
    redraw: bool = False
    looking: str = ""
    part: str = ""  # of the Data page
    narrow: bool = False
    still: bool = False
    reading: bool = False
    comparison: Comparison | None = None
    comparison_runner: ComparisonRunner | None = None
    sides: tuple[int, int] = (0, 1)
    compare_resting: bool = False
