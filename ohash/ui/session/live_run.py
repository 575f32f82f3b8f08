"""The live run of a tab: started, replaced, restarted, and changed while it runs.

While the first one starts, the recording of the default run is shown.
"""

import time
from weakref import WeakKeyDictionary

import streamlit as st

from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.live.landing_recording import Recording
from ohash.engine.live.presets import PRESETS, Preset
from ohash.engine.live.runner import Runner
from ohash.engine.live.warm_up import compile_in_worker
from ohash.engine.narrative import difference
from ohash.engine.params import ExperimentParams, experiment, flat
from ohash.engine.snapshot import Snapshot
from ohash.runtime.lazy import once_per_process
from ohash.runtime.threads import use_one_blas_thread
from ohash.streams.samples import sample_folder
from ohash.ui.session import own_data
from ohash.ui.session.address import IGNORED, warnings_of
from ohash.ui.session.broadcast import Drawings
from ohash.ui.session.hub import Hub
from ohash.ui.session.session import RunOrigin, Session, WatchTime

AWAIT_SECONDS = 2.0  # for a live change at most
GESTURE_SECONDS = 1.5  # presses of one slider that follow each other as fast are one change

_drawings: WeakKeyDictionary[Runner, Drawings] = WeakKeyDictionary()


@once_per_process
def hub() -> Hub[Runner]:
    """The server's live runs; they share the cores by taking turns, with one BLAS thread each."""
    use_one_blas_thread()
    return Hub[Runner]().watch()


def runner(session: Session) -> Runner:
    """The live run of the session's experiment, started if there is none."""
    lease = hub().lease(session.id)
    if lease.runner is None:
        _start(session, share=True)
        lease = hub().lease(session.id)
    assert lease.runner is not None
    return lease.runner


def own_runner(session: Session) -> Runner:
    """The live run for whoever is about to change it: a run of her own from here on, if others watch this one.

    It goes on from a copy of what the shared one has learnt. Where there is none yet, it starts from the beginning and
    catches up.
    """
    shared = runner(session)
    if not hub().withdraw(session.id):
        return shared
    paused = not session.playing
    copied = shared.copy(pace=session.pace, paused=paused, first=compile_in_worker)
    if copied is not None:
        own, session.shared_until = copied  # shown until her own has a picture
    else:
        now = session.shared_until = shared.snapshot()
        goal = 0 if now is None else now.t
        own = Runner(session.params, pace=session.pace, paused=paused, first=compile_in_worker, head_start=lambda: goal)
    _drawings[own] = Drawings(drawings(session).axis_ranges)
    hub().run(session.id, own)
    return own


def drawings(session: Session) -> Drawings:
    """What is drawn of the live run, for all who watch it."""
    return _drawings.setdefault(runner(session), Drawings())


def latest_snapshot(session: Session) -> Snapshot | None:
    """The newest snapshot of the live run; None before its first one. Starts nothing."""
    running = hub().lease(session.id).runner
    return None if running is None else running.snapshot()


def commit(
    session: Session,
    params: ExperimentParams,
    *,
    preset: str = "",
    keep_ghost: bool = True,
    share: bool = False,
    slider: str = "",
) -> None:
    """Start another experiment; the old run stays as a ghost. With `share`, one that others watch will do.

    If the `slider` has begun the old run a moment ago, that is forgotten: both presses were one change.
    """
    last = latest_snapshot(session)
    begun = session.begun if slider and has_just_begun(session, slider) else None
    session.difference = ""
    if begun is not None:
        session.difference = difference(begun.before, params.with_current_values())
    elif last is not None and last.t > 0:
        session.remember(last, keep_ghost=keep_ghost)
        # with the same changes, those still due will happen again: compare with all of them applied
        until = None if params.changes == session.params.changes else last.t
        session.difference = (
            difference(session.params.with_current_values(until), params.with_current_values()) if keep_ghost else ""
        )
    if (session.params.dataset, session.params.content) != (params.dataset, params.content):
        session.query_row = None
    if _queries(session.params) != _queries(params):
        session.opening_query = None
    before = session.params.with_current_values() if begun is None else begun.before
    session.begun = RunOrigin(slider, before, time.monotonic())
    session.params, session.preset, session.warnings, session.pending = params, preset, [], {}
    session.from_link = False
    _start(session, share=share)


def has_just_begun(session: Session, slider: str) -> bool:
    """Whether the live run is the answer to a press of this slider a moment ago, or has learnt nothing yet."""
    begun, now = session.begun, latest_snapshot(session)
    if begun is None or begun.slider != slider:
        return False
    return now is None or now.t == 0 or time.monotonic() - begun.at < GESTURE_SECONDS


def _queries(params: ExperimentParams) -> tuple[object, ...]:
    """What decides which queries a run is judged by."""
    return params.dataset, params.content, params.run.judged_by, params.seed


def restart(session: Session) -> None:
    """The same experiment from the beginning, without its live changes."""
    values = {key: value for key, value in vars(session.params).items() if key != "changes"}
    commit(session, ExperimentParams(**values), preset=session.preset, keep_ghost=False)


def start_preset(session: Session, preset: Preset) -> None:
    """A preset: its experiment and, if it has one, the run to compare it with."""
    session.ghosts = []
    session.playing = True
    commit(session, preset.params(), preset=preset.key, keep_ghost=False, share=True)
    session.difference = ""


def set_live(session: Session, name: str, value: float) -> None:
    """Change beta or C of the running model."""
    session.last_change = own_runner(session).set(**{name: value})
    session.pending[name] = value
    session.awaited_until = time.monotonic() + AWAIT_SECONDS


def await_change(session: Session) -> None:
    """Wait a moment until the run has applied the last change, so that the next frame shows it."""
    live = hub().lease(session.id).runner
    if live is None or live.run is None:
        return  # it is still being made
    while has_pending_change(session, live.snapshot()) and time.monotonic() < session.awaited_until:
        time.sleep(0.005)


def can_fetch(session: Session, runner: Runner) -> bool:
    """Whether a browser may fetch pictures: the run moves, and they are for this session alone, and of this moment."""
    special_view = session.present or session.narrow or session.shared_until is not None or session.use_recording
    return runner.state == "running" and not special_view and not hub().is_shared(session.id)


def has_pending_change(session: Session, now: Snapshot | None) -> bool:
    """Whether a live change has been asked for that is not part of this snapshot."""
    return bool(session.pending) and (now is None or now.extra.get("ack", 0) < session.last_change)


def follow_changes(session: Session, now: Snapshot) -> None:
    """Take over the live changes that a snapshot shows."""
    session.params = now.params
    if not has_pending_change(session, now):
        session.pending = {}


def start_for_late_change(session: Session) -> bool:
    """If a run ended before it applied a change, start another with it, as after the end; returns whether it did."""
    over = runner(session)
    if not over.finished.is_set() or over.state != "done" or not has_pending_change(session, over.snapshot()):
        return False
    session.playing = True
    commit(session, current_params(session))
    return True


def address_params(session: Session) -> ExperimentParams:
    """The experiment as the address names it.

    What is changed while one's own run catches up with a shared one will happen where that one was: it is known before
    it has happened, and on a busy server a class need not wait for it.
    """
    shown = session.shared_until
    return session.params if shown is None else session.params.with_changes(shown.t, **session.pending)


def replace_bad_link(session: Session) -> bool:
    """If the link's experiment cannot start on its data, start one with defaults and warn; returns whether it did."""
    failed, linked = runner(session), session.params
    if not session.from_link or failed.state != "error" or failed.run is not None:
        return False
    defaults = experiment(linked.dataset, linked.method, content=linked.content)
    culprit = failed.error.partition(" ")[0]
    default = flat(defaults).get(culprit)
    only_one = default is not None and flat(linked)[culprit] != default
    instead = linked.with_values(**{culprit: default}) if only_one else defaults
    if instead == linked:
        return False
    used = f"{culprit} = {default}" if only_one else "the defaults of all parameters"
    others = [one for one in session.warnings if not one.startswith(IGNORED)]
    earlier = [one for one in session.link_problems if not one.startswith(f"{culprit} ")]  # it has another value now
    session.link_problems = (*earlier, f"{failed.error}; using {used}")
    commit(session, instead)
    session.warnings = [*warnings_of(session.link_problems), *others]
    session.from_link = only_one  # the rest of the link may be wrong, too
    return True


def current_params(session: Session) -> ExperimentParams:
    """The experiment that starts with the values the model has now, or is about to have."""
    now = latest_snapshot(session)
    return session.params.with_current_values(0 if now is None else now.t).with_values(**session.pending)


def next_query(session: Session) -> None:
    """Show the next query in the gallery."""
    session.query, session.query_row = session.query + 1, None
    if session.query == session.opening_query:  # it has been seen
        session.query += 1


def run_stored(session: Session, now: Snapshot, params: ExperimentParams) -> None:
    """Run a stored experiment again on Live, next to the curve that was stored."""
    commit(session, params)
    truth = truth_column(now.similar_by)
    scores = now.checkpoints.get(truth)
    if scores is not None and len(scores):  # a run that failed, or whose file is damaged, has none
        session.pin(now, f"stored, {TRUTH_SCORES[truth]} {scores[-1]:.3f}")


def remember_live_run(session: Session) -> str:
    """Add the live run, as it is now, to the earlier runs; returns its key, or "" if it has not learned yet."""
    last = latest_snapshot(session)
    if last is None or last.t == 0:
        return ""
    session.remember(last, keep_ghost=False)
    return session.earlier[-1].key


def _start(session: Session, *, share: bool) -> None:
    session.watch_time = watch_time = WatchTime()
    session.shared_until = None
    companions: list[Runner] = []
    preset = next((one for one in PRESETS if one.key == session.preset), None)
    other = preset.companion_params(session.params.seed) if preset is not None else None
    if other is not None:
        companions.append(Runner(other, pace=session.pace, paused=not session.playing, first=compile_in_worker))
    own = own_data.dataset_of(session, session.params)
    recording = recording_of(session.params) if session.pace == "accelerating" else None
    session.use_recording = recording is not None
    shareable = own is None and other is None and session.playing and session.pace == "accelerating"

    def head_start() -> int:
        return recording.pairs(watch_time.seconds) if recording is not None and session.use_recording else 0

    def make() -> Runner:
        paused = not session.playing
        return Runner(
            session.params, own, pace=session.pace, paused=paused, first=compile_in_worker, head_start=head_start
        )

    if share and shareable:
        hub().join_or_run(session.id, session.params, make)
    else:
        hub().run(session.id, make(), companions)


@st.cache_resource(show_spinner=False)
def recording() -> Recording | None:
    """None if its file is missing or no longer belongs to the default preset."""
    file = sample_folder() / "recording.npz"
    if not file.is_file():
        return None
    loaded = Recording(file)
    return loaded if loaded.params == PRESETS[0].params() else None


def recording_of(params: ExperimentParams) -> Recording | None:
    """The recording, if it is of this experiment."""
    loaded = recording()
    return loaded if loaded is not None and loaded.params == params else None
