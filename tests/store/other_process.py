"""A picture of a run in a store, by this process and by others."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ohash.engine.snapshot import to_frame

CHILD = """
import os, sys
from pathlib import Path
from ohash.engine.snapshot import to_frame, to_snapshot
from ohash.store.store import Store, StoreError
from ohash.store.traces import read_trace
from tests.store.other_process import numbered, registry_tiny
registry_tiny()
picture = to_snapshot(*read_trace(Path(sys.argv[2])))
whole = to_frame(picture)  # everything is imported now
BEFORE
store = Store(sys.argv[1])
"""


def numbered(store, picture, at):
    """A run that is kept under another key."""
    values, arrays = to_frame(picture)
    store.save(f"{at:016x}", values, arrays)
    return f"{at:016x}"


def assert_same_picture(one, other):
    assert one.params == other.params
    for name in ("t", "state", "similar_by", "database_seen", "notes", "alarms", "error"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.numbers == pytest.approx(other.numbers, nan_ok=True, rel=0, abs=0)
    for group in ("columns", "checkpoints", "recent", "totals"):
        mine, theirs = getattr(one, group), getattr(other, group)
        assert mine.keys() == theirs.keys()
        for name, column in mine.items():
            assert np.array_equal(column, theirs[name], equal_nan=True) and column.dtype == theirs[name].dtype, name
    for name in ("bit_updates", "selections", "class_map"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name


def registry_tiny():
    from ohash.streams import registry
    from tests.engine.fixtures import TINY

    registry.named_datasets()["tiny"] = TINY


def child(code, folder, picture_file, before=""):
    """Run code in another process, with `store` and `picture` at hand."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = CHILD.replace("BEFORE", before) + code
    return subprocess.Popen(
        [sys.executable, "-c", script, str(folder), str(picture_file)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
