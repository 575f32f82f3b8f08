"""What a session remembers: experiment, comparison, live run, own data. Only this and slots.py touch session_state."""

import os
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from ohash.core.threads import one_blas_thread_for_ever
from ohash.experiment import comparison as comparisons
from ohash.experiment.comparison import Comparison
from ohash.experiment.contest import Contest
from ohash.experiment.export import YOURS, Files
from ohash.experiment.pace import Pace
from ohash.experiment.params import OWN, ExperimentParams, experiment
from ohash.experiment.presets import PRESETS, Preset
from ohash.experiment.runner import Runner
from ohash.experiment.snapshot import Snapshot
from ohash.experiment.story import difference, title_of
from ohash.experiment.warming import compile_elsewhere
from ohash.models import registry as methods
from ohash.plots.live import Ghost, ghost_of
from ohash.streams.base import Dataset
from ohash.ui import address, router
from ohash.ui.hub import Hub
from ohash.ui.plain import plain
from ohash.ui.recorded import recording_of
from ohash.ui.upload import named_on_the_command_line, of_command_line

MOST_GHOSTS = 5
MOST_RUNS_KEPT = 50
MOST_OWN = 4
LONG = 2.0  # seconds without a picture
MOST_CONTESTS = int(os.environ.get("OHASH_MAX_COMPARISONS", "8"))


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
    resting: int = 0
    redraw: bool = False
    looking: str = ""
    narrow: bool = False
    still: bool = False
    reading: bool = False
    comparison: Comparison | None = None
    contest: Contest | None = None
    sides: tuple[int, int] = (0, 1)
    compare_resting: bool = False


@st.cache_resource
def hub() -> Hub[Runner]:
    """The server's live runs; they share the cores by taking turns, not by threads of each product."""
    one_blas_thread_for_ever()
    return Hub[Runner]().watch()


@st.cache_resource
def contests() -> Hub[Contest]:
    """The server's comparisons."""
    return Hub[Contest](MOST_CONTESTS).watch()


def _detach(session: str) -> None:
    hub().detach(session)
    contests().detach(session)


@st.cache_resource(scope="session", on_release=_detach, show_spinner=False)
def _token(session: str) -> str:
    """Lives as long as the connection: its release tells the hub that the session has gone."""
    return session


def current() -> Session:
    """The session of this tab; a new one is opened from the address bar."""
    session: Session | None = st.session_state.get("ohash")
    if session is None:
        router.ensure()
        session = Session(id=secrets.token_hex(8), params=PRESETS[0].params(), preset=PRESETS[0].key)
        st.session_state["ohash"] = session
        linked = address.read()
        session.warnings = [*linked.warnings]
        if linked.params is not None:
            session.params, session.preset, session.linked = linked.params, _preset_of(linked.params), True
        session.comparison = linked.comparison
        _open_own(session, first=linked == address.Named())
    _token(session.id)
    hub().lease(session.id)
    return session


def runner(session: Session) -> Runner:
    """The live run of the session's experiment, begun if there is none."""
    lease = hub().lease(session.id)
    if lease.runner is None:
        _begin(session)
        lease = hub().lease(session.id)
    assert lease.runner is not None
    return lease.runner


def commit(session: Session, params: ExperimentParams, *, preset: str = "", keep_ghost: bool = True) -> None:
    """Another experiment: the old run stays as a ghost, the new one begins."""
    lease = hub().lease(session.id)
    last = None if lease.runner is None else lease.runner.snapshot()
    session.difference = ""
    if last is not None and last.t > 0:
        _remember(session, last, keep_ghost=keep_ghost)
        session.difference = difference(session.params.in_force(), params) if keep_ghost else ""
    if (session.params.dataset, session.params.content) != (params.dataset, params.content):
        session.row = None
    session.params, session.preset, session.warnings, session.wanted = params, preset, [], {}
    session.linked = False
    _begin(session)


def restart(session: Session) -> None:
    """The same experiment from the beginning, without its live changes."""
    values = {key: value for key, value in vars(session.params).items() if key != "changes"}
    commit(session, ExperimentParams(**values), preset=session.preset, keep_ghost=False)


def start_preset(session: Session, preset: Preset) -> None:
    """A story: its experiment, and the one to compare it with beside it."""
    session.ghosts = []
    session.playing = True
    commit(session, preset.params(), preset=preset.key, keep_ghost=False)
    session.difference = ""


def set_live(session: Session, name: str, value: float) -> None:
    """Change beta or C of the running model, and wait a moment until it has obeyed."""
    live = runner(session)
    command = live.set(**{name: value})
    session.wanted[name] = value
    if live.run is None:
        return  # it is still being made
    deadline = time.monotonic() + 2.0
    while time.monotonic() < deadline:
        now = live.snapshot()
        if now is not None and now.extra.get("ack", 0) >= command:
            return
        time.sleep(0.01)


def contest(session: Session) -> Contest:
    """The session's comparison under way, begun if there is none; one that is over is kept."""
    if session.comparison is None:
        session.comparison = usual_comparison(session, session.params.dataset, session.params.content)
    known = session.contest
    if known is not None and known.comparison == session.comparison and known.state == "done":
        return known
    lease = contests().lease(session.id)
    if lease.runner is None or lease.runner.comparison != session.comparison:
        own = dataset_of(session, session.comparison)
        session.contest = Contest(session.comparison, own)
        session.compare_resting = False
        contests().run(session.id, session.contest)
        return session.contest
    return lease.runner


def compare(session: Session, comparison: Comparison, *, again: bool = False) -> None:
    """Another comparison, or the same from the beginning."""
    if again:
        contests().lease(session.id).stop()
        session.contest = None
    session.comparison, session.warnings, session.sides = comparison, [], (0, 1)


def instead_of_link(session: Session) -> bool:
    """If what a link asks for cannot be made on its data, the defaults begin, with a warning; whether they do."""
    failed = runner(session)
    mine = session.params
    usual = experiment(mine.dataset, mine.method, content=mine.content)
    if not session.linked or failed.state != "error" or failed.run is not None or usual == mine:
        return False
    commit(session, usual)
    session.warnings = [f"The link was not quite right: {plain(failed.error)}; using the defaults of all parameters."]
    return True


def another_query(session: Session) -> None:
    """The next query asks."""
    session.query, session.row = session.query + 1, None


def usual_comparison(session: Session, dataset: str, content: str = "") -> Comparison:
    """What is compared first on some data: with what suits clicks if there are any."""
    own = session.own.get(content) if dataset == OWN else None
    usual = comparisons.FOR_CLICKS if own is not None and own.pairs is not None else comparisons.DEFAULT
    return comparisons.compare(dataset, usual, content=content)


def pin(session: Session, now: Snapshot, name: str) -> None:
    """Draw a run on Live as the reference."""
    key = f"{now.params.key()}-{now.t}"
    session.past = [*(past for past in session.past if past.key != key), Past(key, name, now)][-MOST_RUNS_KEPT:]
    session.pinned = key


def open_kept(session: Session, now: Snapshot, params: ExperimentParams) -> None:
    """Run a kept experiment again on Live, beside what was kept."""
    commit(session, params)
    scores = now.checkpoints.get("map")
    if scores is not None and len(scores):  # of a run that failed, or whose file is damaged, there are none
        pin(session, now, f"as kept, mAP {scores[-1]:.3f}")


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


def files_of(session: Session, content: str) -> Files:
    """What code needs to open data of one's own again."""
    return session.files.get(content, YOURS)


def add_own(session: Session, dataset: Dataset, files: Files = YOURS) -> str:
    """Keep uploaded data for this session; returns its fingerprint."""
    key = dataset.fingerprint()
    session.files[key] = files
    used = {key, session.params.content, session.comparison.content if session.comparison else ""}
    others = [one for one in session.own if one not in used]
    for old in others[: max(0, len(session.own) + 1 - MOST_OWN)]:
        del session.own[old], session.files[old]
    session.own[key] = dataset
    return key


def keep_live(session: Session) -> str:
    """Put the live run, as it is now, among the past ones too; returns its key, or "" if nothing was learnt yet."""
    running = hub().lease(session.id).runner
    last = None if running is None else running.snapshot()
    if last is None or last.t == 0:
        return ""
    _remember(session, last, keep_ghost=False)
    return session.past[-1].key


def forget(session: Session, keys: set[str]) -> None:
    """Delete past runs."""
    session.past = [past for past in session.past if past.key not in keys]
    if session.pinned in keys:
        session.pinned = ""


def said_by(component: str) -> Any:
    """What a component reported; for callbacks."""
    return st.session_state[component]


def part(session: Session) -> str:
    """The widget key of the Data page's part: "look", "all" or "own"; first what the link needs, or says."""
    missing = session.params.dataset == OWN and session.params.content not in session.own
    said = st.query_params.get("view", "look")
    st.session_state.setdefault("view_part", "own" if missing else said if said in ("all", "own") else "look")
    return "view_part"


def show_part(name: str) -> None:
    """Turn to a part of the Data page; for callbacks."""
    st.session_state["view_part"] = name


def any_open(*keys: str) -> bool:
    """Whether any of these expanders is open."""
    return any(st.session_state.get(key) for key in keys)


def close(key: str) -> None:
    """Close a popover; for callbacks."""
    st.session_state[key] = False


def view(name: str) -> Any:
    """What a widget says that only changes the view; None if it is not there."""
    return st.session_state.get(f"view_{name}")


def _preset_of(params: ExperimentParams) -> str:
    """The preset that has this experiment, or ""."""
    return next((one.key for one in PRESETS if one.params() == params), "")


def _open_own(session: Session, *, first: bool) -> None:
    """The file the server was started with: at hand in every session, and the first experiment of a bare address."""
    own, problem = of_command_line()
    if own is not None:
        content = add_own(session, own, named_on_the_command_line())
        if first:
            session.params, session.preset = experiment(OWN, content=content), ""
    elif problem:
        session.warnings.append(problem)


def _begin(session: Session) -> None:
    session.watched = watched = Watched()
    beside: list[Runner] = []
    story = next((one for one in PRESETS if one.key == session.preset), None)
    other = story.beside_params() if story is not None else None
    if other is not None:
        beside.append(Runner(other, pace=session.pace, paused=not session.playing, first=compile_elsewhere))
    own = dataset_of(session, session.params)
    recorded = recording_of(session.params) if session.pace == "accelerating" else None
    session.recorded = recorded is not None
    run = Runner(
        session.params, own, pace=session.pace, paused=not session.playing, first=compile_elsewhere,
        head_start=lambda: recorded.pairs(watched.seconds) if recorded is not None and session.recorded else 0,
    )  # fmt: skip
    hub().run(session.id, run, beside)


def _remember(session: Session, last: Snapshot, *, keep_ghost: bool) -> None:
    key = f"{last.params.key()}-{last.t}"
    label = f"{methods.find(last.params.method).title} on {title_of(last.params)}"
    session.past = [*(past for past in session.past if past.key != key), Past(key, label, last)][-MOST_RUNS_KEPT:]
    if keep_ghost:
        session.ghosts = [*session.ghosts, ghost_of(last, label)][-MOST_GHOSTS:]
