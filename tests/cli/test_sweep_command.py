"""The command `sweep`: table, estimate, export; killed and resumed; on a Dask cluster that loses a worker."""

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest

from ohash.cli.main import main
from ohash.cli.sweep import SweepProgress
from ohash.store.store import DATABASE, Store, StoreError
from ohash.sweeps.execution import Progress
from ohash.sweeps.specification import read_sweep
from tests.sweeps.test_sweep import until

SPEC = """
name = "beta"
seeds = {seeds}
[base]
dataset = "blobs"
kernel = "none"
r = 8
pairs = {pairs}
[grid]
beta = [0.25, 0.5, 0.75]
"""
PATIENCE = 240.0


def spec(folder, seeds=1, pairs=200):
    file = folder / "beta.toml"
    file.write_text(SPEC.format(seeds=seeds, pairs=pairs))
    return file


def started(file, store, *more):
    call = [sys.executable, "-m", "ohash", "sweep", str(file), "--store", str(store), *more]
    return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def timeless(file, store):
    """What was measured, by cell, without times."""
    known = Store(store).values(cell.key for cell in read_sweep(file).cells)
    return {
        key: {name: value for name, value in values["numbers"].items() if not name.startswith("cpu_")}
        for key, values in known.items()
    }


@pytest.mark.slow
def test_table_estimate_and_export(tmp_path, capsys):
    file, store = spec(tmp_path), str(tmp_path / "home")
    assert main(["sweep", str(file), "--store", store, "--inline", "--estimate"]) == 0
    assert "3 of 3 cells are left: about" in capsys.readouterr().out
    assert main(["sweep", str(file), "--store", store, "--inline", "--export", str(tmp_path / "beta.csv")]) == 0
    out = capsys.readouterr()
    assert "best on validation queries: beta = " in out.out and "mAP 0." in out.out and "one seed" in out.out
    assert "3 of 3 cells" in out.err
    rows = list(csv.DictReader((tmp_path / "beta.csv").read_text().splitlines()))
    assert [row["beta"] for row in rows] == ["0.25", "0.5", "0.75"] and {row["state"] for row in rows} == {"done"}
    stored = Store(store).values(row["run"] for row in rows)
    for row in rows:
        for part in ("validation", "test"):
            assert float(row[f"map_{part}"]) == stored[row["run"]][f"scores/{part}"]["map"]
    assert "map" not in rows[0], "a score says on which queries it was measured"
    assert main(["sweep", str(file), "--store", store, "--inline", "--estimate"]) == 0
    assert "0 of 3 cells are left" in capsys.readouterr().out


@pytest.mark.slow
def test_on_data_of_ones_own(tmp_path, capsys):
    rng, y = np.random.default_rng(0), np.arange(300) % 3
    np.save(tmp_path / "x.npy", rng.normal(size=(300, 6)) + 3 * rng.normal(size=(3, 6))[y])
    np.save(tmp_path / "y.npy", y)
    file, store = spec(tmp_path), str(tmp_path / "home")
    mine = ["--features", str(tmp_path / "x.npy"), "--labels", str(tmp_path / "y.npy"), "--store", store, "--inline"]
    assert main(["sweep", str(file), *mine, "--estimate"]) == 0 and not (tmp_path / "home" / "data").exists()
    assert "3 of 3 cells are left" in capsys.readouterr().out
    assert main(["sweep", str(file), *mine]) == 0
    printed = capsys.readouterr().out
    (kept,) = (tmp_path / "home" / "sweeps").glob("*.json")
    assert main(["sweep", str(kept), "--store", store, "--inline"]) == 0, "without the files: the store has them"
    assert capsys.readouterr().out == printed and len(Store(store).done()) == 3
    assert main(["sweep", str(file), "--metric", "cosine"]) == 2 and "belongs to --features" in capsys.readouterr().err


def test_progress_in_a_pipe_is_plain_lines_one_a_tenth(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("ohash.cli.progress.time.monotonic", lambda: now[0])
    shown = SweepProgress()
    for done in range(201):
        now[0] = done / 10
        shown(Progress(200, done, here=done, seconds=done / 10))
    err = capsys.readouterr().err
    assert "\r" not in err and 10 <= len(err.splitlines()) <= 12 and err.splitlines()[-1].startswith("200 of 200 cells")


def test_progress_in_a_pipe_when_cells_are_slow(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("ohash.cli.progress.time.monotonic", lambda: now[0])
    shown = SweepProgress()
    for second in range(60):
        now[0] = float(second)
        shown(Progress(1000, second // 12, seconds=float(second)))
    assert 4 <= len(capsys.readouterr().err.splitlines()) <= 6


@pytest.mark.slow
def test_a_disk_that_fills_up_ends_it_with_the_way_on(tmp_path, capsys, monkeypatch):
    file, store, save = spec(tmp_path), str(tmp_path / "home"), Store.save_trace

    def full(self, key, values, arrays, **more):
        if self.done():
            raise StoreError("home could not be written (the disk is full)")
        save(self, key, values, arrays, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "save_trace", full)
        assert main(["sweep", str(file), "--store", store, "--inline"]) == 2
    printed = capsys.readouterr().err.splitlines()[-1]
    assert (
        "the disk is full" in printed and "1 of 3 cells are done" in printed and "the same command resumes" in printed
    )
    assert main(["sweep", str(file), "--store", store, "--inline"]) == 0 and len(Store(store).done()) == 3


def test_mistakes_are_one_line(tmp_path, capsys):
    file = tmp_path / "bad.toml"
    file.write_text("[grid]\nbeta = 3\n")
    assert main(["sweep", str(file)]) == 2
    assert "grid.beta must be a list of values" in capsys.readouterr().err
    assert main(["sweep", str(tmp_path / "none.toml")]) == 2
    capsys.readouterr()
    for text, words in (
        (b"\xff\xfe\x00", "utf-8"),
        (b"[[grid]]\nbeta = [0.5]", "grid must be a table"),
        (b"cases = 3", "cases must be a list"),
        (b"[grid]\nseed = [1, 2]", "seed must not be in grid; use seeds = [1, 2]"),
    ):
        file.write_bytes(text)
        assert main(["sweep", str(file)]) == 2
        err = capsys.readouterr().err
        assert "bad.toml" in err and words in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("name", ["fashon", "own"])
def test_a_dataset_that_is_not_there_is_refused_before_anything_starts(tmp_path, capsys, name):
    file = tmp_path / "bad.toml"
    file.write_text(SPEC.format(seeds=1, pairs=100).replace("blobs", name))
    for more in ([], ["--estimate"]):
        assert main(["sweep", str(file), "--store", str(tmp_path / "home"), "--inline", *more]) == 2
        err = capsys.readouterr().err
        assert "bad.toml" in err and ("digits" in err if name == "fashon" else "--features" in err)
    assert Store(tmp_path / "home").list() == [] and not (tmp_path / "home" / "sweeps").exists()


def test_the_same_error_of_many_cells_is_said_once(tmp_path, capsys, monkeypatch):
    def fail(params, own):
        raise ValueError("the label column is gone")

    monkeypatch.setattr("ohash.sweeps.execution.run", fail)
    assert main(["sweep", str(spec(tmp_path, seeds=2)), "--store", str(tmp_path / "home"), "--inline"]) == 1
    err = capsys.readouterr().err
    assert err.count("the label column is gone") == 1 and "6 cells failed" in err


@pytest.mark.slow
@pytest.mark.parametrize("halving", ["", "[halving]\nfactor = 3\nmin_pairs = 6000\n"], ids=["grid", "halving"])
def test_killed_in_the_middle_and_resumed_the_table_is_that_of_an_undisturbed_run(tmp_path, halving):
    file = spec(tmp_path, seeds=3, pairs=20_000)
    file.write_text(file.read_text() + halving)
    calm = started(file, tmp_path / "calm", "--workers", "2")
    printed, errors = calm.communicate(timeout=PATIENCE)
    assert calm.returncode == 0, errors
    for _ in range(2):
        torn = started(file, tmp_path / "torn", "--workers", "2")
        before = len(Store(tmp_path / "torn").done())
        until(lambda: len(Store(tmp_path / "torn").done()) > before, PATIENCE)  # noqa: B023
        torn.send_signal(signal.SIGKILL)
        torn.communicate()
    assert len(Store(tmp_path / "torn").done()) < (12 if halving else 9)
    last = started(file, tmp_path / "torn", "--workers", "2")
    again, errors = last.communicate(timeout=PATIENCE)
    assert last.returncode == 0, errors
    assert timeless(file, tmp_path / "torn") == timeless(file, tmp_path / "calm")
    assert _without_times(again) == _without_times(printed)
    assert ("stopped early" in again) == bool(halving)


def _without_times(text):
    words = ("best", "halving:")
    return [line if any(word in line for word in words) else " ".join(line.split()[:-1]) for line in text.splitlines()]


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(tmp_path):
    file = spec(tmp_path, seeds=20, pairs=20_000)
    process = started(file, tmp_path / "home", "--workers", "1")
    until(lambda: len(Store(tmp_path / "home").done()) > 0, PATIENCE)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "the same command resumes" in errors and "best on validation" in out
    assert Store(tmp_path / "home").rows("SELECT * FROM claims") == []


IMPATIENT = """
import sys
from ohash.cli import progress
from ohash.cli.main import main
from ohash.store import schema
schema.BUSY_SECONDS, progress.LINE_SECONDS = 1.0, 0.1
sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [False, True])
def test_a_database_that_another_program_holds_stops_nothing_for_good(tmp_path, stopped):
    file, home = spec(tmp_path, seeds=20, pairs=20_000), tmp_path / "home"
    call = [sys.executable, "-c", IMPATIENT, "sweep", str(file), "--store", str(home), "--workers", "1"]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: len(Store(home).done()) > 0, PATIENCE)
    with closing(sqlite3.connect(home / DATABASE, isolation_level=None, timeout=PATIENCE)) as db:
        db.execute("BEGIN EXCLUSIVE")
        kept = Store(home).done()
        time.sleep(3)
        if stopped:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        db.execute("ROLLBACK")
    if stopped:
        assert process.returncode == 2 and "another program holds the database" in errors.splitlines()[-1]
        assert kept <= Store(home).done(), "and what was not listed while it was held"
        process = started(file, home, "--workers", "1")
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and "best on validation" in out, errors
    assert len(Store(home).done()) == 60
    if not stopped:
        assert "waiting, as another program holds the database" in errors


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker(tmp_path):
    file = spec(tmp_path, seeds=4, pairs=20_000)
    described = tmp_path / "scheduler.json"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    dask = [sys.executable, "-m"]
    where = ["--scheduler-file", str(described), "--no-dashboard"]
    scheduler = [*dask, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *where]
    started_here = [subprocess.Popen(scheduler, **quiet)]
    try:
        until(described.exists, PATIENCE)
        until(lambda: described.read_text().strip(), PATIENCE)
        worker = [*dask, "distributed.cli.dask_worker", *where, "--nthreads", "1", "--no-nanny"]
        workers = [subprocess.Popen([*worker, "--local-directory", str(tmp_path)], **quiet) for _ in range(2)]
        started_here += workers
        address = json.loads(described.read_text())["address"]
        process = started(file, tmp_path / "home", "--cluster", address)
        until(lambda: len(Store(tmp_path / "home").done()) > 1 or process.poll() is not None, PATIENCE)
        workers[0].kill()
        left = 12 - len(Store(tmp_path / "home").done())
        out, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        assert left > 1 and len(Store(tmp_path / "home").done()) == 12 and "best on validation" in out
    finally:
        for one in started_here:
            one.kill()
            one.wait()
    here = started(file, tmp_path / "here", "--workers", "2")
    _, errors = here.communicate(timeout=PATIENCE)
    assert here.returncode == 0, errors
    assert timeless(file, tmp_path / "home") == timeless(file, tmp_path / "here"), "the same numbers"


@pytest.mark.slow
def test_no_cluster_there_is_one_line(tmp_path):
    process = started(spec(tmp_path), tmp_path / "home", "--cluster", "tcp://127.0.0.1:1")
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2 and "address of a Dask scheduler" in errors.splitlines()[-1]
