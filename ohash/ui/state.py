"""The experiment of a tab: its session, opened from the address bar, and its live run."""

import secrets
import time

import streamlit as st

from ohash.engine.live.presets import PRESETS, Preset
from ohash.engine.live.runner import Runner
from ohash.engine.live.warm_up import compile_elsewhere
from ohash.engine.narrative import difference
from ohash.engine.params import ExperimentParams, experiment, flat
from ohash.engine.snapshot import Snapshot
from ohash.runtime.threads import one_blas_thread_for_ever
from ohash.ui import address
from ohash.ui import earlier_runs as shelf
from ohash.ui.compare import comparisons
from ohash.ui.data import own_data as yours
from ohash.ui.hub import Hub
from ohash.ui.live.recording import recording_of
from ohash.ui.session import Session, Watched
from ohash.ui.workarounds import router
from ohash.ui.workarounds.messages import plain


@st.cache_resource
def hub() -> Hub[Runner]:
    """The server's live runs; they share the cores by taking turns, not by threads of each product."""
    one_blas_thread_for_ever()
    return Hub[Runner]().watch()


def _detach(session: str) -> None:
    hub().detach(session)
    comparisons.hub().detach(session)


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
        yours.open_named(session, first=linked == address.Named())
    _token(session.id)
    hub().lease(session.id)
    hub().attach(session.id)
    comparisons.hub().attach(session.id)
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
        shelf.remember(session, last, keep_ghost=keep_ghost)
        came = None if params.changes == session.params.changes else last.t  # those still to come, come again
        session.difference = difference(session.params.in_force(came), params.in_force()) if keep_ghost else ""
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


def instead_of_link(session: Session) -> bool:
    """If what a link asks for cannot be made on its data, the defaults begin, with a warning; whether they do."""
    failed, mine = runner(session), session.params
    if not session.linked or failed.state != "error" or failed.run is not None:
        return False
    usual = experiment(mine.dataset, mine.method, content=mine.content)
    guilty = failed.error.partition(" ")[0]
    default = flat(usual).get(guilty)
    alone = default is not None and flat(mine)[guilty] != default
    instead = mine.with_values(**{guilty: default}) if alone else usual
    if instead == mine:
        return False
    told = f"{guilty} = {default}" if alone else "the defaults of all parameters"
    warnings = [*session.warnings, f"The link was not quite right: {plain(failed.error)}; using {told}."]
    commit(session, instead)
    session.warnings, session.linked = warnings, alone  # what is left of the link may be wrong, too
    return True


def in_force(session: Session) -> ExperimentParams:
    """The experiment that begins with the values its model has now."""
    running = hub().lease(session.id).runner
    now = None if running is None else running.snapshot()
    return session.params.in_force(0 if now is None else now.t)


def another_query(session: Session) -> None:
    """The next query asks."""
    session.query, session.row = session.query + 1, None


def open_kept(session: Session, now: Snapshot, params: ExperimentParams) -> None:
    """Run a kept experiment again on Live, beside what was kept."""
    commit(session, params)
    scores = now.checkpoints.get("map")
    if scores is not None and len(scores):  # of a run that failed, or whose file is damaged, there are none
        shelf.pin(session, now, f"as kept, mAP {scores[-1]:.3f}")


def keep_live(session: Session) -> str:
    """Put the live run, as it is now, among the past ones too; returns its key, or "" if nothing was learnt yet."""
    running = hub().lease(session.id).runner
    last = None if running is None else running.snapshot()
    if last is None or last.t == 0:
        return ""
    shelf.remember(session, last, keep_ghost=False)
    return session.past[-1].key


def _preset_of(params: ExperimentParams) -> str:
    """The preset that has this experiment, with whatever seed, or ""."""
    return next((one.key for one in PRESETS if one.params().with_values(seed=params.seed) == params), "")


def _begin(session: Session) -> None:
    session.watched = watched = Watched()
    beside: list[Runner] = []
    story = next((one for one in PRESETS if one.key == session.preset), None)
    other = story.beside_params(session.params.seed) if story is not None else None
    if other is not None:
        beside.append(Runner(other, pace=session.pace, paused=not session.playing, first=compile_elsewhere))
    own = yours.dataset_of(session, session.params)
    recorded = recording_of(session.params) if session.pace == "accelerating" else None
    session.recorded = recorded is not None
    run = Runner(
        session.params, own, pace=session.pace, paused=not session.playing, first=compile_elsewhere,
        head_start=lambda: recorded.pairs(watched.seconds) if recorded is not None and session.recorded else 0,
    )  # fmt: skip
    hub().run(session.id, run, beside)
