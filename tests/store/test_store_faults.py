"""The store loses nothing and doubles nothing: damage, no room, no right, two writers, death; killed for real."""

import errno
import json
import os
import random
import shutil
import signal
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from ohash.engine.snapshot import to_frame
from ohash.store import schema
from ohash.store.store import CELL, DATABASE, Store, StoreError
from ohash.store.traces import write_trace
from ohash.sweeps.leases import CellLeases
from tests.store.other_process import assert_same_picture, child, numbered


@pytest.mark.parametrize("damage", ["garbage", "cut", "page", "empty"])
def test_a_damaged_database_is_made_again_from_the_files(store, picture, damage):
    keys = {numbered(store, picture, at) for at in range(4)}
    database = store.folder / DATABASE
    with closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = database.read_bytes()
    database.write_bytes(
        {
            "garbage": b"not a database at all" * 500,
            "cut": data[: len(data) // 2],
            "page": data[:4096] + b"\x5a" * (len(data) - 4096),
            "empty": b"",
        }[damage]
    )
    again = Store(store.folder)
    assert again.done() == keys and again.writable
    assert_same_picture(again.get(min(keys)), picture)
    if damage != "empty":  # an empty file is a new database
        assert "set aside" in again.problem and "Failed runs have no file" in again.problem
        assert list(store.folder.glob(f"{DATABASE}.damaged-*"))


def test_damage_while_it_is_open(store, picture):
    key = numbered(store, picture, 1)
    with closing(sqlite3.connect(store.folder / DATABASE)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (store.folder / DATABASE).write_bytes(b"\x00" * 5000)
    assert store.done() == {key}


def test_a_damaged_trace_costs_only_its_curves(store, picture):
    keys = [numbered(store, picture, at) for at in range(2)]
    store.trace(keys[0]).write_bytes(b"PAR1" + b"?" * 100)
    store.trace("stray").write_bytes(b"nothing")
    again = Store(store.folder)
    assert again.done() == set(keys) and "was skipped" in again.problem
    lost = again.get(keys[0])
    assert lost.numbers == pytest.approx(picture.numbers, nan_ok=True) and len(lost.checkpoints["pairs"]) == 0
    assert "curves are lost" in lost.notes[-1]
    again.trace(keys[0]).unlink()
    for note in (lost.notes[-1], again.get(keys[0]).notes[-1]):
        assert again.trace(keys[0]).name in note and str(store.folder) not in note, "notes are shown and exported"
    assert_same_picture(again.get(keys[1]), picture)


def test_a_store_opens_while_another_program_holds_its_database(store, picture, monkeypatch):
    """The files that are not listed wait for the next who opens it, and only one of them is tried."""
    monkeypatch.setattr(schema, "BUSY_SECONDS", 0.05)
    listed = numbered(store, picture, 0)
    for key in ("a", "b", "c"):
        store.save_trace(key, *to_frame(picture))
    tried = []
    monkeypatch.setattr(Store, "transact", lambda *given, real=Store.transact: (tried.append(1), real(*given))[1])
    with closing(sqlite3.connect(store.folder / DATABASE, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        held = Store(store.folder)
        assert held.done() == {listed} and "another program holds the database" in held.problem
        assert held.writable and len(tried) == 1
        db.execute("ROLLBACK")
    again = Store(store.folder)
    assert again.done() == {listed, "a", "b", "c"} and not again.problem


def test_an_older_schema_is_brought_up_to_date(tmp_path, picture):
    folder = tmp_path / "old"
    (folder / "traces").mkdir(parents=True)
    values, arrays = to_frame(picture)
    values |= {"created": 1.0, "kind": CELL}
    write_trace(folder / "traces" / "a.parquet", values, arrays)
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        for statement in schema.MIGRATIONS[0].split(";"):
            db.execute(statement)
        db.execute("INSERT INTO runs VALUES ('a', 'cell', 'tiny', 'oh', 0, 'done', 400, 1.0, ?)", (json.dumps(values),))
        db.execute("PRAGMA user_version = 1")
        db.commit()
    store = Store(folder)
    assert store.done() == {"a"} and not store.problem
    assert_same_picture(store.get("a"), picture)
    numbered(store, picture, 5)
    assert len(Store(folder).done()) == 2
    assert (folder / "runs-v1.sqlite3").exists()


def test_a_newer_schema_is_left_alone(store, picture):
    numbered(store, picture, 1)
    with closing(sqlite3.connect(store.folder / DATABASE)) as db:
        db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
        db.commit()
    newer = Store(store.folder)
    assert "newer ohash" in newer.problem and newer.list() == []
    with pytest.raises(StoreError, match="newer ohash"):
        newer.save_snapshot(picture)


def test_a_folder_that_cannot_be_made(tmp_path, picture):
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "home")
    assert not store.writable and "OHASH_HOME" in store.problem and store.list() == []
    with pytest.raises(StoreError, match="nothing can be saved"):
        store.save_snapshot(picture)


# Root may write anywhere.
BECOME_NOBODY = "if os.geteuid() == 0: os.setuid(65534)"


@pytest.fixture
def picture_file(tmp_path, picture):
    write_trace(tmp_path / "picture.parquet", *to_frame(picture))
    return tmp_path / "picture.parquet"


@pytest.fixture
def open_folder():
    """A folder that somebody else can look into; pytest's own are closed."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.slow
def test_a_read_only_folder_can_be_looked_at(open_folder, picture, picture_file):
    store = Store(open_folder / "home")
    key = numbered(store, picture, 1)
    folders = [store.folder, store.folder / "traces"]
    for folder in folders:
        folder.chmod(0o555)
    code = (
        f"assert store.done() == {{'{key}'}} and not store.writable, store.problem\n"
        f"assert len(store.get('{key}').checkpoints['map']) > 2\n"
        "print(store.problem)\n"
        "try: store.save('new', *whole)\n"
        "except StoreError as error: print(error)\n"
    )
    process = child(code, store.folder, picture_file, BECOME_NOBODY)
    out, errors = process.communicate(timeout=120)
    for folder in folders:
        folder.chmod(0o755)
    assert process.returncode == 0, errors
    assert out.count("nothing can be saved in") == 2 and "make it writable" in out


def test_a_full_disk_is_called_so_whatever_sqlite_says(store, picture, monkeypatch, tmp_path):
    def broken(*_):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("ohash.store.store.shutil.disk_usage", lambda folder: shutil._ntuple_diskusage(9, 9, 0))
    monkeypatch.setattr("ohash.store.store._insert", broken)
    with pytest.raises(StoreError, match=r"the disk is full: disk I/O error\); runs saved before are still there"):
        store.save_snapshot(picture)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/home/traces/key.parquet")

    monkeypatch.setattr("ohash.store.store._insert", full)
    message = r"home could not be written \(the disk is full: No space left on device\); runs saved"
    with pytest.raises(StoreError, match=message):
        store.save_snapshot(picture)
    monkeypatch.setattr("ohash.store.store.prepare", broken)
    assert (
        "the disk is full" in Store(tmp_path / "other").problem
        and "free some space" in Store(tmp_path / "other").problem
    )


@pytest.mark.slow
def test_a_full_disk_is_said_and_nothing_kept_is_lost(store, picture, picture_file):
    keys = {numbered(store, picture, at) for at in range(2)}
    code = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))\n"  # no file may grow beyond 2 kB
        "try: store.save('full', *to_frame(picture))\n"
        "except StoreError as error: print(error)\n"
        "print(sorted(store.done()))\n"
    )
    process = child(code, store.folder, picture_file)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "is the disk full" in out and str(sorted(keys)) in out
    again = Store(store.folder)
    assert again.done() == keys and not list(again.folder.rglob("*.tmp")) and not again.problem
    numbered(again, picture, 9)
    assert len(again.done()) == 3


WRITE = """
for at in range(int(sys.argv[3]) if len(sys.argv) > 3 else 0, 10**6):
    print(numbered(store, picture, at), flush=True)
"""


def finished(process):
    out, errors = process.communicate(timeout=120)
    return out.split(), errors


@pytest.mark.slow
def test_killed_at_any_point_nothing_is_lost_or_doubled(tmp_path, picture, picture_file):
    rng = random.Random(4)
    folder, printed_keys = tmp_path / "home", set()
    for _ in range(6):
        start = max((int(key, 16) for key in printed_keys), default=-1) + 1
        process = child(WRITE.replace("int(sys.argv[3]) if len(sys.argv) > 3 else 0", str(start)), folder, picture_file)
        first = process.stdout.readline().strip()
        time.sleep(rng.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        keys, errors = finished(process)
        assert first, errors
        printed_keys |= {first, *(key for key in keys if len(key) == 16)}
        store = Store(folder)
        assert not store.problem
        kept = [line.key for line in store.list()]
        assert len(kept) == len(set(kept)) and printed_keys <= set(kept)
        assert len(kept) <= len(printed_keys) + 6  # what was kept and not yet said
        printed_keys |= set(kept)
        for key in rng.sample(kept, min(3, len(kept))):
            assert_same_picture(store.get(key), picture)


@pytest.mark.slow
def test_two_writers_at_once(tmp_path, picture, picture_file):
    folder = tmp_path / "home"
    code = WRITE.replace("10**6", "40").replace("int(sys.argv[3]) if len(sys.argv) > 3 else 0", "0")
    both = [child(code, folder, picture_file) for _ in range(2)]
    for process in both:
        keys, errors = finished(process)
        assert process.returncode == 0, errors
        assert len(keys) == 40
    store = Store(folder)
    assert len(store.list()) == len(store.done()) == len(list((folder / "traces").iterdir())) == 40
    assert_same_picture(store.get(f"{39:016x}"), picture)


def test_a_database_held_by_another_program_is_said_and_nothing_is_lost(store, picture, monkeypatch):
    """A run that could not be listed has its file; it is listed again when the database is free."""
    kept = numbered(store, picture, 1)
    monkeypatch.setattr(schema, "BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(store.folder / DATABASE, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="another program holds the database; close it"):
            numbered(store, picture, 2)
        assert store.done() == {kept}, "it can be read meanwhile"
    assert numbered(store, picture, 3) in store.done()
    assert Store(store.folder).done() == {f"{at:016x}" for at in (1, 2, 3)}


def test_a_clock_that_is_set_back_blocks_no_cell(store, monkeypatch):
    """The leases of a process on another machine that died, as it seems, tomorrow."""
    dead = CellLeases(store)
    dead.owner = "elsewhere:1:ab"
    monkeypatch.setattr(time, "time", lambda real=time.time: real() + 86_400)
    assert dead.take(["a"], 1) == ["a"]
    monkeypatch.undo()
    assert CellLeases(store).take(["a"], 1) == ["a"]
    assert CellLeases(store).take(["a"], 1) == [], "this process is alive"
