"""The Sweeps page: choose a sweep, watch its progress, cancel, resume, export, share."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from ohash.engine.narrative import amount, duration
from ohash.engine.params import OWN
from ohash.store.store import Store
from ohash.sweeps import launch
from ohash.sweeps.halving import planned_cells
from ohash.sweeps.leases import Activity, activity, cancel
from ohash.sweeps.report import to_bibtex, to_latex
from ohash.sweeps.results import (
    Point,
    best_points,
    collect_points,
    count_cells,
    halving_text,
    older_version_text,
    to_csv,
    truths_of,
)
from ohash.sweeps.saving import delete_sweep, list_sweeps, load_own_dataset, own_fingerprints, save_own_data
from ohash.sweeps.sweep import Sweep, code_for
from ohash.ui.parts.notices import try_action
from ohash.ui.parts.sharing import file_stem
from ohash.ui.session import own_data as session_data
from ohash.ui.session.session import Session
from ohash.ui.sweeps import results_view
from ohash.ui.sweeps.sharing import link_to, shared_sweep
from ohash.ui.workarounds.downloads import keep_download
from ohash.ui.workarounds.fragments import fragment
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import distinct

NEW = "new"
WATCH_SECONDS = 2.0


def choose(store: Store) -> Sweep | None:
    """The sweep to show: the one in the address, else a running one, else the newest; None for a new one."""
    sweeps = list_sweeps(store)
    shared = shared_sweep()
    wanted = st.query_params.get("sweep", "")
    if shared is not None:
        sweeps[shared.key], wanted = shared, shared.key
    if wanted not in sweeps and wanted != NEW:
        if wanted:
            st.warning(
                f"There is no sweep {escape_markdown(wanted[:40])} here; it may have been deleted.",
                icon=":material/info:",
            )
        alive = [key for key, now in activity(store).items() if now.alive and key in sweeps]
        wanted = alive[-1] if alive else next(reversed(sweeps), NEW)
    chosen = _pick(sweeps, wanted) if sweeps else NEW
    if (st.query_params.to_dict() != {"sweep": chosen} and shared is None) or chosen != wanted:
        st.query_params.from_dict({"sweep": chosen})
    return sweeps.get(chosen)


def _pick(sweeps: dict[str, Sweep], wanted: str) -> str:
    """The list of sweeps, and a button for a new one."""
    order = list(reversed(sweeps))
    titles = distinct({key: _title(sweeps[key]) for key in order})
    with st.container(horizontal=True, vertical_alignment="bottom", key="sweep_picker"):
        chosen = st.selectbox(
            "Sweep", order, None if wanted == NEW else order.index(wanted), key=f"sweep_choice_{len(order)}_{wanted}",
            placeholder="Open an existing sweep", format_func=lambda key: titles[key],
        )  # fmt: skip
        if wanted != NEW and st.button("New sweep", icon=":material/add:", key="sweep_to_new", width="content"):
            st.query_params.from_dict({"sweep": NEW})
            st.rerun()
    return chosen or NEW


def watch(session: Session, store: Store, sweep: Sweep) -> None:
    """Progress and results of one sweep; redrawn every two seconds while it runs."""
    st.subheader(escape_markdown(sweep.name) or "Sweep", anchor=False)
    alive = _alive(store, sweep)
    every = WATCH_SECONDS if alive else None
    fragment(partial(_draw, session, store, sweep, alive), key="sweep_watch", every=every)


def _draw(session: Session, store: Store, sweep: Sweep, was_alive: bool) -> None:
    alive = _alive(store, sweep)
    if alive != was_alive:  # started or ended: the timer changes
        st.rerun()
    results = collect_points(sweep, store)
    _status(store, sweep, results, alive)
    _controls(session, store, sweep, results, alive)
    if sweep.halving:
        st.caption(halving_text(sweep, store))
    if any(point.numbers for point in results):
        results_view.show_charts(session, store, sweep, results)
        results_view.show_table(session, store, sweep, results)
        results_view.show_best(sweep, best_points(sweep, store, results), results)
    if any(point.failed for point in results):
        results_view.show_failures(store, sweep)


def _status(store: Store, sweep: Sweep, results: list[Point], alive: bool) -> None:
    done, failed = sum(len(point.numbers) for point in results), sum(point.failed for point in results)
    total = count_cells(sweep, store)
    now = activity(store).get(sweep.key)
    text = f"**{done} of {amount(total, 'experiment')}**" + (f", {failed} failed" if failed else "")
    if alive and now is not None and now.alive:
        text += _pace(now)
    elif alive and done + failed < total:
        silent = now is not None and now.state == "running" and launch.runs_as(store, sweep.key, now.owner)
        text += ", silent for a minute (does another program hold the database?)" if silent else ", starting …"
    elif done + failed < total:
        text += ", not running" if now is None else f", {now.state if now.state != 'running' else 'interrupted'}"
    st.progress((done + failed) / max(1, total), text=text)
    deaths = 0 if now is None else now.progress.get("deaths", 0)
    if deaths:
        died = "A worker process died" if deaths == 1 else f"{deaths} worker processes died"
        st.caption(f"{died} (out of memory?); another one repeats the work, and nothing is lost.")
    older = older_version_text(sweep, store)
    if older:
        st.caption(f"{older[0].upper()}{older[1:]}.")
    problem = launch.error_output(store, sweep.key)
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
    return f", {60 * here / seconds:.1f} per minute, {duration(left * seconds / here)} left"


def _controls(session: Session, store: Store, sweep: Sweep, results: list[Point], alive: bool) -> None:
    left = sum(point.waiting + point.failed for point in results) or any(point.outcome == "open" for point in results)
    with st.container(horizontal=True, key="sweep_controls", vertical_alignment="center"):
        if alive:
            if st.button("Cancel", icon=":material/stop:", key="sweep_cancel", help="Finished experiments are kept."):
                try_action(lambda: cancel(store, sweep.key))
        elif left and st.button(
            "Resume" if any(point.numbers for point in results) else "Start", icon=":material/play_arrow:",
            type="primary", key="sweep_start", disabled=not store.writable,
            help="Runs in a separate process, which continues when this page is closed.",
        ):  # fmt: skip
            start(session, store, sweep)
        stem, truth = file_stem("sweep", sweep.name), truths_of(results)[0]
        st.download_button(
            "CSV", *_file(lambda: to_csv(sweep, store), f"{stem}.csv", "text/csv"), on_click="ignore",
            key="sweep_csv", icon=":material/download:",
            help=f"One row per experiment, with {truth}_validation, {truth}_test and more.",
        )  # fmt: skip
        st.download_button(
            "LaTeX", *_file(lambda: to_latex(sweep, collect_points(sweep, store)), f"{stem}.tex", "text/x-tex"),
            on_click="ignore", key="sweep_latex", icon=":material/download:",
            help="A booktabs table: mean ± standard deviation over seeds, the best in bold.",
        )  # fmt: skip
        st.download_button(
            "BibTeX", *_file(lambda: to_bibtex(sweep), f"{stem}.bib", "text/x-bibtex"), on_click="ignore",
            key="sweep_bibtex", icon=":material/download:", help="The sources of the methods and data.",
        )  # fmt: skip
        st.download_button(
            "Spec", sweep.to_json(), f"{stem}.json", "application/json", on_click="ignore", key="sweep_spec",
            icon=":material/download:", help="The input of `python3 -m ohash sweep`, here or on a cluster.",
        )  # fmt: skip
        files = session_data.files_of(session, dict(sweep.base).get("content", ""))
        st.download_button(
            "Code for this sweep", *_file(lambda: code_for(sweep, files), f"{stem}.py", "text/x-python"),
            on_click="ignore", key="sweep_code", icon=":material/download:",
            help="Python that repeats this sweep and prints its points.",
        )  # fmt: skip
        with st.popover("Share", icon=":material/share:"):
            st.markdown("This link holds the whole sweep: whoever opens it can run it.")
            st.code(link_to(sweep), language=None, wrap_lines=True)
        if not alive and st.button(
            "Delete", icon=":material/delete:", key="sweep_delete",
            help="Remove the sweep from the list. Its finished experiments stay on the Runs page.",
        ):  # fmt: skip
            st.query_params.clear()
            try_action(lambda: delete_sweep(store, sweep.key))


def start(session: Session, store: Store, sweep: Sweep) -> None:
    """Start or resume, unless another sweep is running."""
    others = [key for key, now in activity(store).items() if now.alive and key != sweep.key]
    if others:
        st.error("Another sweep is running on this machine: wait for it, or cancel it first.", icon=":material/error:")
        return

    def launch_sweep() -> None:
        for content in own_fingerprints(sweep):
            if content in session.own:
                save_own_data(store, session.own[content])
            else:
                load_own_dataset(store, content)  # raises if the data are not here
        st.query_params.from_dict({"sweep": sweep.key})
        launch.start_sweep(sweep, store)

    try_action(launch_sweep)


def _alive(store: Store, sweep: Sweep) -> bool:
    now = activity(store).get(sweep.key)
    return (now is not None and now.alive) or launch.is_running(store, sweep.key)


def _title(sweep: Sweep) -> str:
    count = len(planned_cells(sweep))
    names = dict.fromkeys(cell.params.dataset for cell in sweep.cells)
    data = ", ".join("your data" if name == OWN else name for name in names)
    return f"{sweep.name} · {data} · {count} experiment{'s' if count > 1 else ''}"


def _file(make: Callable[[], str], name: str, mime: str) -> tuple[Callable[[], bytes], str, str]:
    """What a download button takes; the page ticks while a sweep runs."""
    return keep_download(make, name, mime), name, mime
