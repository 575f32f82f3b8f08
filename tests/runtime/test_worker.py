"""Work in other processes: the same results, stopped at once, and no death unnoticed."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest

from ohash.engine import fitting, tasks
from ohash.engine.fitting import fit
from ohash.engine.params import experiment
from ohash.models import registry
from ohash.runtime.pool import WorkerPool
from ohash.runtime.worker import TaskError, Worker, WorkerDiedError
from ohash.streams.dataset import dataset_from_frame, dataset_to_frame
from tests.engine.fixtures import load_tiny
from tests.engine.runs import own_data, small

PATIENCE = 120.0
ENDLESS = {"params": experiment("blobs", "oh", r=16, kernel="none", pairs=10**9).to_json()}


@pytest.fixture(scope="module")
def pool():
    with WorkerPool(1) as one:
        yield one


def points():
    rng = np.random.default_rng(5)
    y = np.arange(200) % 4
    return rng.normal(size=(200, 12)) + 2 * rng.normal(size=(4, 12))[y], y


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "took too long"
        time.sleep(0.01)


def start_endless(pool):
    """A job that would run for hours, and has begun."""
    begun = threading.Event()
    job = pool.submit(tasks.run, ENDLESS, on_progress=lambda _: begun.set())
    assert begun.wait(PATIENCE)
    return job


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"


# -- the same results ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["itq", "ksh", "sdh", pytest.param("fasthash", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_fit_elsewhere_is_the_fit_here_bit_for_bit(pool, method):
    X, y = points()
    chosen = {"r": 8, "seed": 3, **({"trees": 3} if method == "fasthash" else {})}
    values = {"method": method, "params": chosen}
    (_, here), (elsewhere_values, elsewhere) = (
        fit(values, {"X": X, "y": y}),
        pool.submit(fit, values, {"X": X, "y": y}).result(PATIENCE),
    )
    assert here.keys() == elsewhere.keys() and here
    for name, array in here.items():
        assert array.dtype == elsewhere[name].dtype and np.array_equal(array, elsewhere[name]), name
    hasher = registry.find(method).restore(
        elsewhere_values["state"], {name.removeprefix("state/"): array for name, array in elsewhere.items()}
    )
    again = registry.find(method).build(registry.find(method).params(**chosen))
    again.fit(X, y)
    assert np.array_equal(hasher.encode(X), again.encode(X))


def test_a_fit_goes_on_from_a_state(pool):
    X, y = points()
    hasher = registry.find("itq").build(registry.find("itq").params(r=6))
    hasher.fit(X[:100], None)
    state, arrays = hasher.state()
    sent = {"X": X, **{f"state/{name}": array.copy() for name, array in arrays.items()}}
    values, received = pool.submit(fit, {"method": "itq", "state": state}, sent).result(PATIENCE)
    hasher.fit(X, y)
    assert values["state"]["version"] == hasher.version == 1
    assert np.array_equal(received["state/moved"], hasher.bit_updates[0]) and np.array_equal(
        received["state/W"], hasher.W
    )


def test_a_run_elsewhere_is_the_run_here_and_tells_how_far_it_is(pool):
    data = {"tiny": dataset_to_frame(load_tiny())}
    params = small(pairs=3000)
    heard = []
    values, arrays = pool.submit(
        tasks.run, {"params": params.to_json(), "data": "tiny"}, data=data, on_progress=heard.append
    ).result(PATIENCE)
    numbers, columns = tasks.run({"params": params.to_json()}, {})
    timeless = {name for name in numbers["numbers"] if not name.startswith("cpu_")}
    assert {name: values["numbers"][name] for name in timeless} == pytest.approx(
        {name: numbers["numbers"][name] for name in timeless}, nan_ok=True
    )
    for name in ("columns/cum_loss", "checkpoints/map", "checkpoints/pairs"):
        assert np.array_equal(arrays[name], columns[name]), name
    assert heard and all(0 <= one["share"] <= 1 and one["end"] == 3000 for one in heard)


@pytest.mark.parametrize("method", ["itq", "ksh", "sdh", pytest.param("fasthash", marks=pytest.mark.slow)])
def test_a_fit_tells_how_far_it_is(monkeypatch, method):
    monkeypatch.setattr(fitting, "REPORT_SECONDS", 0.0)
    X, y = points()
    heard = []
    fit({"method": method, "params": {"r": 2}}, {"X": X, "y": y}, lambda some: heard.append(some["share"]))
    assert heard == sorted(heard) and 0 < heard[0] <= heard[-1] <= 1


@pytest.mark.parametrize("kind", ["labels", "clicks", "pairs", "multi", "metric"])
def test_a_dataset_travels_whole(kind):
    data, _ = own_data(kind)
    restored = dataset_from_frame(*dataset_to_frame(data))
    assert restored.fingerprint() == data.fingerprint() and restored.similarities == data.similarities
    assert (restored.class_names, restored.queries, restored.metric) == (data.class_names, data.queries, data.metric)


@pytest.mark.slow
def test_data_is_sent_once():
    with Worker() as worker:
        values = {"params": small(pairs=50).to_json(), "data": "tiny"}
        worker.call("ohash.engine.tasks:run", values, data={"tiny": dataset_to_frame(load_tiny())})
        assert (
            worker.call("ohash.engine.tasks:run", values, data={"tiny": None})[0]["t"] == 50
        )  # None could not be sent


# -- errors --------------------------------------------------------------------------------------------------------


def test_an_error_comes_back_and_the_worker_lives_on(pool):
    X, _ = points()
    with pytest.raises(ValueError, match="learns from labels"):
        pool.submit(fit, {"method": "sdh"}, {"X": X}).result(PATIENCE)
    with pytest.raises(ValueError, match="batch"):
        pool.submit(fit, {"method": "oh"}, {"X": X}).result(PATIENCE)
    with pytest.raises(TaskError, match="KeyError") as caught:
        pool.submit(fit, {"method": "itq"}, {}).result(PATIENCE)
    assert "fitting.py" in caught.value.trace
    assert pool.submit(fit, {"method": "itq", "params": {"r": 2}}, {"X": X}).result(PATIENCE)


def test_a_worker_runs_tasks_and_nothing_else(pool):
    with pytest.raises(ValueError, match="a worker runs only"):
        pool.submit(os.system, {"command": "true"})


@pytest.mark.slow
def test_what_a_library_prints_does_not_disturb(tmp_path, monkeypatch):
    plugin = tmp_path / "loud.py"
    plugin.write_text("print('hello', flush=True)\nHASHER = ()\n")
    monkeypatch.setenv(registry.PLUGINS, str(plugin))
    X, _ = points()
    with Worker() as worker:
        assert worker.call("ohash.engine.fitting:fit", {"method": "itq", "params": {"r": 2}}, {"X": X})[1]


# -- stopping and dying ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_cancel_stops_a_running_task_and_the_pool_goes_on():
    with WorkerPool(1) as pool:
        job = start_endless(pool)
        waiting = pool.submit(tasks.run, ENDLESS)
        assert waiting.cancel() and job.cancel()
        with pytest.raises(CancelledError):
            job.result(PATIENCE)
        assert waiting.cancelled() and not job.cancel()
        X, _ = points()
        assert pool.submit(fit, {"method": "itq", "params": {"r": 2}}, {"X": X}).result(PATIENCE)


@pytest.mark.slow
def test_shutdown_can_stop_everything():
    pool = WorkerPool(1)
    job = start_endless(pool)
    waiting = pool.submit(tasks.run, ENDLESS)
    pool.shutdown(cancel_futures=True)
    assert job.done() and waiting.cancelled()
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(tasks.run, ENDLESS)


@pytest.mark.slow
def test_the_task_of_a_dead_worker_is_done_by_another_and_a_deadly_task_fails(monkeypatch, capsys):
    workers = []
    start = Worker.__init__

    def remember(self):
        start(self)
        workers.append(self)

    monkeypatch.setattr(Worker, "__init__", remember)
    with WorkerPool(1) as pool:
        heard = []
        job = pool.submit(tasks.run, ENDLESS, on_progress=heard.append)
        for tries in (1, 2):
            until(lambda: len(workers) == tries and heard)  # noqa: B023
            heard.clear()
            os.kill(workers[-1].pid, signal.SIGKILL)
        with pytest.raises(WorkerDiedError, match=r"signal 9 .*doing 'ohash.engine.tasks:run'.* tried 2 times"):
            job.result(PATIENCE)
        X, _ = points()
        assert pool.submit(fit, {"method": "itq", "params": {"r": 2}}, {"X": X}).result(PATIENCE)
        assert len(workers) == 3
    assert pool.deaths == 1, "of one whose task was done again"
    (line,) = capsys.readouterr().err.splitlines()
    assert "signal 9 (out of memory?)" in line and line.endswith("; a new process does it again")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "message"),
    [
        (Worker.kill, "was stopped while"),
        (lambda worker: os.kill(worker.pid, signal.SIGTERM), "died by signal 15 while"),
        (lambda worker: os.kill(worker.pid, signal.SIGKILL), r"died by signal 9 \(out of memory\?\) while"),
    ],
)
def test_memory_is_suspected_only_if_nobody_here_killed_the_worker(end, message):
    with Worker() as worker:
        end(worker)
        with pytest.raises(
            WorkerDiedError, match=f"the worker process {message} it was doing 'ohash.engine.tasks:run'"
        ):
            worker.call("ohash.engine.tasks:run", ENDLESS)


@pytest.mark.slow
def test_a_worker_ends_with_the_process_it_works_for():
    code = (
        "import os, threading\n"
        "from ohash.engine.params import experiment\n"
        "from ohash.runtime.worker import Worker\n"
        "worker = Worker()\n"
        "tell = lambda _: print(worker.pid, flush=True)\n"
        "values = {'params': experiment('blobs', 'oh', r=16, kernel='none', pairs=10**9).to_json()}\n"
        "worker.call('ohash.engine.tasks:run', values, on_progress=tell)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    assert not gone(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    until(lambda: gone(pid))


@pytest.mark.slow
def test_called_by_hand_it_says_what_it_is():
    call = [sys.executable, "-m", "ohash.runtime.worker_process"]
    helped = subprocess.run([*call, "--help"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (
        helped.returncode == 0
        and "python3 -m ohash.runtime.worker_process" in helped.stdout
        and "no options" in helped.stdout
    )
    wrong = subprocess.run([*call, "--cores", "3"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert wrong.returncode == 2 and "no options" in wrong.stderr
