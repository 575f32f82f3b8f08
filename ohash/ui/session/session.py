"""What one browser tab remembers: its experiment, its comparison, its earlier runs and its own data."""

import time
from dataclasses import dataclass, field

from ohash.advice.params import AdviceParams
from ohash.advice.runner import AdviceRunner
from ohash.comparison.params import Comparison
from ohash.comparison.runner import ComparisonRunner
from ohash.engine.export import Files
from ohash.engine.live.pace import Pace
from ohash.engine.live.runner import Runner
from ohash.engine.narrative import title_of
from ohash.engine.params import ExperimentParams
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods
from ohash.plots.live.charts import Ghost, ghost_of
from ohash.streams.dataset import Dataset
from ohash.ui.session.hub import SessionWork

LONGEST_GAP = 2.0  # seconds between two frames that still count as watching
MAX_GHOSTS = 5  # runs drawn behind the live one
MAX_EARLIER_RUNS = 50


@dataclass
class WatchTime:
    """How long a run has been watched while it played."""

    seconds: float = 0.0
    last_frame: float = field(default_factory=time.monotonic)

    def tick(self, *, playing: bool) -> float:
        """Call once per frame; a long gap counts as `LONGEST_GAP`, because the viewer was away."""
        now = time.monotonic()
        self.seconds += min(now - self.last_frame, LONGEST_GAP) * playing
        self.last_frame = now
        return self.seconds


@dataclass(frozen=True)
class RunOrigin:
    """How the live run came to be: by which slider ("" for anything else), after which experiment, and when."""

    slider: str
    before: ExperimentParams
    at: float


@dataclass(frozen=True, eq=False)
class EarlierRun:
    """A run that has finished or was replaced: its name and its last snapshot."""

    key: str
    label: str
    now: Snapshot


def key_of(now: Snapshot) -> str:
    """The name of a run: its experiment, and how far it went."""
    return f"{now.params.key()}-{now.t}"


@dataclass
class Selection:
    """The selection on the Runs page: the list it belongs to, the rows selected at first, the keys selected now."""

    listed: str
    first: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


@dataclass
class Session:
    """One browser tab. `pinned` is the key of an earlier run drawn as the reference."""

    id: str
    params: ExperimentParams
    preset: str = ""
    pace: Pace = "accelerating"
    playing: bool = True
    ghosts: list[Ghost] = field(default_factory=list)
    earlier: list[EarlierRun] = field(default_factory=list)
    pinned: str = ""
    selection: Selection = field(default_factory=lambda: Selection(""))
    deleting: list[str] = field(default_factory=list)  # runs that wait for the answer to "Delete?"
    deleted: tuple[list[str], list[EarlierRun]] | None = None  # the last ones, to be undone
    own: dict[str, Dataset] = field(default_factory=dict)
    files: dict[str, Files] = field(default_factory=dict)  # that the own data were read from
    warnings: list[str] = field(default_factory=list)
    link_problems: tuple[str, ...] = ()  # what was wrong with the link of this session, for one of the warnings
    difference: str = ""
    present: str = ""  # what present mode shows, as the address names it; "" otherwise
    place: str = ""  # the mark of the last address that the lecturer sent this tab to
    five_seeds: bool = False  # four more seeds run in the background
    seed_runners: list[Runner] = field(default_factory=list)
    equal_bits: bool = False  # r changes with T, so that T · r stays as it is
    total_bits: int = 0  # T · r when that was switched on
    query: int = 0  # how often the user asked for the next one
    opening_query: int | None = None  # shown until then
    query_row: int | None = None  # of a gallery item used as the query
    before: bool = False  # the gallery shows the codes from before learning
    watch_time: WatchTime = field(default_factory=WatchTime)
    use_recording: bool = False  # show the recording until the run has caught up with it
    from_link: bool = False  # the experiment was read from the address
    pending: dict[str, float] = field(default_factory=dict)  # live changes the run has not applied yet
    last_change: int = 0  # the number that the run gave the last of them
    awaited_until: float = 0.0  # how long a frame waits for it
    begun: RunOrigin | None = None  # None for the first run
    slider_values: dict[str, float] = field(default_factory=dict)  # of the running model
    resting: int = 0
    interval: float = 0.0  # seconds between two frames, as the timer in the browser has it
    ticking: bool = False  # whether there is such a timer
    redraw: bool = False  # until the whole page is drawn again
    shared_until: Snapshot | None = None  # the last one of a shared run, shown until one's own has caught up
    viewed_dataset: str = ""
    data_part: str = ""  # of the Data page
    narrow: bool = False
    phone_slider: str = ""  # the parameter whose slider a phone keeps in view
    reduced_motion: bool = False
    details_tab: str = ""
    comparison: Comparison | None = None
    comparison_work: SessionWork[ComparisonRunner] = field(default_factory=SessionWork)
    sides: tuple[int, int] = (0, 1)
    pair: int | None = None  # that Step by step takes apart; None for the last one learnt on Live
    opens_step: bool = False  # a curve of Live was clicked
    own_pair: tuple[int, int, int] | None = None  # two items and their similarity, in its place
    what_if: dict[str, float] = field(default_factory=dict)  # values of alpha, beta or C to try on it
    what_if_of: str = ""  # the key of the experiment that they belong to
    stages_shown: int = 1
    step_part: str = ""  # of Step by step, as the address names it: the theory, or "" for the update
    board_answer: str = ""  # what became of an entry on the board of the class
    advice: AdviceParams | None = None
    advice_work: SessionWork[AdviceRunner] = field(default_factory=SessionWork)

    def remember(self, last: Snapshot, *, keep_ghost: bool) -> None:
        """Add a run to the earlier ones and, if wanted, draw it behind the next run."""
        label = f"{methods.find(last.params.method).title} on {title_of(last.params)}"
        self._add(EarlierRun(key_of(last), label, last))
        if keep_ghost:
            self.ghosts = [*self.ghosts, ghost_of(last, label)][-MAX_GHOSTS:]

    def pin(self, now: Snapshot, name: str) -> None:
        """Draw a run on Live as the reference."""
        self._add(EarlierRun(key_of(now), name, now))
        self.pinned = key_of(now)

    def forget(self, keys: set[str]) -> None:
        """Delete earlier runs."""
        self.earlier = [run for run in self.earlier if run.key not in keys]
        if self.pinned in keys:
            self.pinned = ""

    def _add(self, new: EarlierRun) -> None:
        self.earlier = [*(run for run in self.earlier if run.key != new.key), new][-MAX_EARLIER_RUNS:]
