"""The Sweeps page: choose one, watch it fill, cancel, go on, export, share."""

import string
from functools import partial
from typing import Any

import streamlit as st

from ohash.engine.narrative import duration
from ohash.engine.params import OWN
from ohash.store.store import Store
from ohash.sweeps import launch, own_data
from ohash.sweeps.files import delete_sweep, sweeps
from ohash.sweeps.leases import Activity, activity, cancel
from ohash.sweeps.results import Point, best_points, points, to_csv
from ohash.sweeps.sweep import Sweep
from ohash.ui.session import Session
from ohash.ui.sweeps import results as sweep_results
from ohash.ui.sweeps.link import link, shared_sweep
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.messages import plain
from ohash.ui.workarounds.slots import distinct

NEW = "new"
WATCH_SECONDS = 2.0


def choose(store: Store) -> tuple[str, Sweep | None]:
    """Which sweep is shown: that of the address, else one that runs, else the newest; NEW if there is none."""
    known = sweeps(store)
    shared = shared_sweep()
    wanted = st.query_params.get("sweep", "")
    if shared is not None:
        known[shared.key], wanted = shared, shared.key
    if wanted not in known and wanted != NEW:
        if wanted:
            st.warning(
                f"There is no sweep {_plain(wanted[:40])} here; it may have been forgotten.", icon=":material/info:"
            )
        alive = [key for key, now in activity(store).items() if now.alive and key in known]
        wanted = alive[-1] if alive else next(reversed(known), NEW)
    chosen = _picked(known, wanted) if known else NEW
    if (st.query_params.to_dict() != {"sweep": chosen} and shared is None) or chosen != wanted:
        st.query_params.from_dict({"sweep": chosen})
    return chosen, known.get(chosen)


def _picked(known: dict[str, Sweep], wanted: str) -> str:
    """The list of sweeps and, beside it, the way to a new one."""
    order = list(reversed(known))
    words = distinct({key: _title(known[key]) for key in order})
    with st.container(horizontal=True, vertical_alignment="bottom", key="sweep_picker"):
        chosen = st.selectbox(
            "Sweep", order, None if wanted == NEW else order.index(wanted), key=f"sweep_choice_{len(order)}_{wanted}",
            placeholder="Open one that was begun", format_func=lambda key: words[key],
        )  # fmt: skip
        if wanted != NEW and st.button("New sweep", icon=":material/add:", key="sweep_to_new", width="content"):
            st.query_params.from_dict({"sweep": NEW})
            st.rerun()
    return chosen or NEW


def watch(session: Session, store: Store, chosen: Sweep) -> None:
    """Everything about one sweep; drawn again every two seconds while it runs."""
    st.subheader(_plain(chosen.name) or "A sweep", anchor=False)
    alive = _alive(store, chosen)
    every = WATCH_SECONDS if alive else None
    fragment(partial(_watched, session, store, chosen, alive), key="sweep_watch", every=every)


def _watched(session: Session, store: Store, chosen: Sweep, was_alive: bool) -> None:
    alive = _alive(store, chosen)
    if alive != was_alive:  # begun or over: the rhythm changes
        st.rerun()
    found = points(chosen, store)
    _status(store, chosen, found, alive)
    _controls(session, store, chosen, found, alive)
    if any(point.numbers for point in found):
        sweep_results.charts_of(session, store, chosen, found)
        sweep_results.table(session, store, chosen, found)
        sweep_results.verdicts(chosen, best_points(chosen, store, found))
    if any(point.failed for point in found):
        sweep_results.failures(store, chosen)


def _status(store: Store, chosen: Sweep, found: list[Point], alive: bool) -> None:
    done, failed = sum(len(point.numbers) for point in found), sum(point.failed for point in found)
    total = len(chosen.cells)
    now = activity(store).get(chosen.key)
    words = f"**{done} of {total} cells**" + (f", {failed} failed" if failed else "")
    if alive and now is not None and now.alive:
        words += _pace(now)
    elif alive:
        words += ", starting …"
    elif done + failed < total:
        words += ", not running" if now is None else f", {now.state if now.state != 'running' else 'interrupted'}"
    st.progress((done + failed) / max(1, total), text=words)
    problem = launch.error_output(store, chosen.key)
    if problem and not alive:
        st.error("The sweep ended with an error.", icon=":material/error:")
        st.code(problem, language=None)


def _pace(now: Activity) -> str:
    here, seconds = now.progress["here"] + now.progress["failed"], now.progress["seconds"]
    if now.state == "cancelling":
        return ", stopping …"
    if not here or seconds <= 0:
        return ", running"
    left = now.progress["total"] - now.progress["done"] - now.progress["failed"]
    return f", {60 * here / seconds:.1f} a minute, {duration(left * seconds / here)} left"


def _controls(session: Session, store: Store, chosen: Sweep, found: list[Point], alive: bool) -> None:
    left = sum(point.waiting for point in found) + sum(point.failed for point in found)
    with st.container(horizontal=True, key="sweep_controls", vertical_alignment="center"):
        if alive:
            if st.button("Cancel", icon=":material/stop:", key="sweep_cancel", help="Finished cells stay."):
                _do(lambda: cancel(store, chosen.key))
        elif left and st.button(
            "Start" if not any(point.numbers for point in found) else "Go on", icon=":material/play_arrow:",
            type="primary", key="sweep_start", disabled=not store.writable,
            help="As a process of its own: it goes on without this page.",
        ):  # fmt: skip
            start(session, store, chosen)
        st.download_button(
            "CSV", lambda: to_csv(chosen, store), f"{chosen.name}.csv", "text/csv", on_click="ignore", key="sweep_csv",
            icon=":material/download:", help="One row a cell: map_validation, map_test and more.",
        )  # fmt: skip
        st.download_button(
            "Spec", chosen.to_json(), f"{chosen.name}.json", "application/json", on_click="ignore", key="sweep_spec",
            icon=":material/download:", help="For `python3 -m ohash sweep`, here or on a cluster.",
        )  # fmt: skip
        with st.popover("Share", icon=":material/share:"):
            st.markdown("The sweep itself; who opens it can run it.")
            st.code(link(chosen), language=None, wrap_lines=True)
        if not alive and st.button(
            "Forget", icon=":material/delete:", key="sweep_delete", help="Take it off the list. Its cells stay on Runs."
        ):  # fmt: skip
            st.query_params.clear()
            _do(lambda: delete_sweep(store, chosen.key))


def start(session: Session, store: Store, chosen: Sweep) -> None:
    """Begin, or go on, unless another sweep runs."""
    others = [key for key, now in activity(store).items() if now.alive and key != chosen.key]
    if others:
        st.error("Another sweep is running on this machine: wait, or cancel it first.", icon=":material/error:")
        return

    def begin() -> None:
        for content in own_data.own_fingerprints(chosen):
            if content in session.own:
                own_data.save_own_data(store, session.own[content])
            else:
                own_data.load_own_dataset(store, content)  # says so if they are not here
        st.query_params.from_dict({"sweep": chosen.key})
        launch.start_sweep(chosen, store)

    _do(begin)


def _plain(name: str) -> str:
    """A name in which nothing is markup."""
    return "".join(f"\\{one}" if one in string.punctuation else one for one in name)


def _alive(store: Store, chosen: Sweep) -> bool:
    now = activity(store).get(chosen.key)
    return (now is not None and now.alive) or launch.is_running(store, chosen.key)


def _title(chosen: Sweep) -> str:
    cells = len(chosen.cells)
    names = dict.fromkeys(cell.params.dataset for cell in chosen.cells)
    data = ", ".join("your data" if name == OWN else name for name in names)
    return f"{chosen.name} · {data} · {cells} cell{'s' if cells > 1 else ''}"


def _do(work: Any) -> None:
    try:
        work()
    except ValueError as error:  # a store that cannot be written, data that are not here
        st.error(f"{plain(error)}.", icon=":material/error:")
    else:
        st.rerun()
