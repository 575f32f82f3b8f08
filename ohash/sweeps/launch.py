"""Sweeps in separate processes: the dashboard starts them and watches the store; they outlive it."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ohash.runtime.worker import environment_of_child
from ohash.store.store import Store
from ohash.sweeps.saving import SWEEPS, save_sweep
from ohash.sweeps.sweep import Sweep

LAST_LINES = 12
# Processes started here, by name: kept so that they can be polled and do not become zombies.
_started: dict[tuple[str, str], "subprocess.Popen[bytes]"] = {}


def start_sweep(sweep: Sweep, store: Store) -> None:
    """Start a process that runs what is left of a sweep; it outlives this one."""
    save_sweep(store, sweep)
    file = store.folder / SWEEPS / f"{sweep.key}.json"
    _start(store, sweep.key, ["sweep", str(file)])


def start_paper(profile: str, figures: list[str], store: Store, methods: Sequence[str] = ()) -> None:
    """Start a process that runs what is left of the paper's figures, or of these methods in them."""
    store.write(lambda: (store.folder / SWEEPS).mkdir(parents=True, exist_ok=True))
    _start(
        store,
        f"paper-{profile}",
        ["paper", *figures, "--profile", profile, *(["--methods", *methods] if methods else [])],
    )


def is_running(store: Store, name: str) -> bool:
    """Whether this process started it and it is still running."""
    process = _started.get((str(store.folder), name))
    return process is not None and process.poll() is None


def runs_as(store: Store, name: str, owner: str) -> bool:
    """Whether that process is the owner of these leases."""
    return is_running(store, name) and int(owner.split(":")[1]) == _started[str(store.folder), name].pid


def error_output(store: Store, name: str) -> str:
    """The last lines of its log, if it ended with an error."""
    process = _started.get((str(store.folder), name))
    if process is None or process.poll() in (None, 0, 1, 130):
        return ""
    try:
        lines = _log(store, name).read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(lines[-LAST_LINES:])


def _start(store: Store, name: str, arguments: list[str]) -> None:
    if is_running(store, name):
        return
    call = [sys.executable, "-P", "-m", "ohash", *arguments, "--store", str(store.folder)]
    with store.write(lambda: _log(store, name).open("wb")) as log:
        _started[str(store.folder), name] = subprocess.Popen(
            call, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment_of_child(),
            start_new_session=True,
        )  # fmt: skip


def _log(store: Store, name: str) -> Path:
    return store.folder / SWEEPS / f"{name}.log"
