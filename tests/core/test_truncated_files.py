"""A data file that shrinks while it is mapped: an error in one line, where a read would kill the process."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ohash.core.rows import RowView, gather
from ohash.streams.readers import own_data
from ohash.streams.readers.source import Source
from ohash.streams.readers.table import Table

ROWS, COLUMNS = 40_000, 16


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "x.npy"
    np.save(file, np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS))
    return file


@pytest.mark.parametrize("rows", [slice(ROWS - 10, ROWS), np.array([ROWS - 1, 3]), np.arange(ROWS - 1000, ROWS)])
def test_its_missing_rows_are_an_error(file: Path, rows: np.ndarray | slice) -> None:
    X = np.load(file, mmap_mode="r")
    view = X[:, 2:8][5:]  # the file is what is checked, whatever part of it is looked at
    before = gather(X, rows)
    np.testing.assert_array_equal(before, np.load(file)[rows])
    with file.open("r+b") as stream:
        stream.truncate(10_000)
    for look in (lambda: gather(X, rows), lambda: gather(view, np.array([0])), lambda: RowView(X).check_finite()):
        with pytest.raises(ValueError, match=r"x\.npy must keep its 2,560,128 bytes .* has 10,000 now"):
            look()


def test_a_file_that_grows_is_read_as_it_was(file: Path) -> None:
    X = np.load(file, mmap_mode="r")
    with file.open("ab") as stream:
        stream.write(b"more")
    assert gather(X, np.array([ROWS - 1]))[0, 0] == (ROWS - 1) * COLUMNS


def test_without_the_check_the_process_would_be_killed(file: Path) -> None:
    """What the check is for; if this no longer happens, the check can go."""
    code = (
        "import sys, numpy as np; X = np.load(sys.argv[1], mmap_mode='r'); "
        "open(sys.argv[1], 'r+b').truncate(10_000); print(X[-1])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGBUS


def test_vectors_that_are_joined_with_their_queries(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("x.npy", np.load(file, mmap_mode="r"), extra={"test": np.zeros((2, COLUMNS))})
    monkeypatch.setenv("OHASH_HOME", str(file.parent))
    monkeypatch.setattr(own_data, "JOINED_IN_MEMORY", 0)
    with file.open("r+b") as stream:
        stream.truncate(10_000)
    with pytest.raises(ValueError, match=r"x\.npy must keep its"):
        own_data._with_test_queries(Source.file(file), table)


CUT_MEANWHILE = """
import os, sys
import numpy as np
from ohash.core import map_copies, rows

if sys.argv[2] != "call":
    map_copies._call_of_linux = lambda: None
map_copies.SMALL = 0
X, check = np.load(sys.argv[1], mmap_mode="r"), rows._check_length
size = os.path.getsize(sys.argv[1])

def check_and_cut(X, mapped):
    check(X, mapped)
    os.truncate(sys.argv[1], 10_001)

rows._check_length = check_and_cut
for some in (slice(0, 40_000), np.arange(100, 30_000), np.array([39_999, 3]), slice(0, 200)):
    try:
        rows.gather(X, some)
    except ValueError as error:
        print("has 10,001 now" in str(error), flush=True)
    os.truncate(sys.argv[1], size)
"""


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("way", ["call", "pipe"] if sys.platform.startswith("linux") else ["pipe"])
def test_a_file_that_is_cut_while_its_rows_are_copied(file: Path, way: str, order: str) -> None:
    """Between the look at its length and the copy, in a process of its own, which a read would kill."""
    np.save(file, np.asarray(np.load(file), order=order))
    call = [sys.executable, "-c", CUT_MEANWHILE, str(file), way]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["True"] * 4), done.stderr[-500:]


LOOKS = """
import sys
from pathlib import Path
import numpy as np
from ohash.comparison.costs import measure_cost, measure_float_cost
from ohash.engine.export import encoder_archive
from ohash.engine.gallery import _nearest_vectors
from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.streams.dataset import Dataset
from ohash.streams.similarity.metric import _version
from ohash.streams.summary import summarize

X = np.load(sys.argv[1], mmap_mode="r")
mine = Dataset.from_arrays(X, labels=np.arange(len(X)) % 10)
run = Run(experiment(mine, "oh", r=8, pairs=100, kernel="none", C=0.1), mine)
judge, rows = run.checkpoints.judge, run.world.warm_rows
looks = {
    "neighbours": lambda: list(judge._neighbours(judge.database, judge.own)),
    "floats": lambda: list(judge.float_scores()),
    "nearest": lambda: _nearest_vectors(judge),
    "cost": lambda: list(measure_cost(run)),
    "float cost": lambda: measure_float_cost(run),
    "archive": lambda: encoder_archive(run),
    "version": lambda: _version(mine, judge.database, 3),
    "summary": lambda: summarize(mine),
    "warm-up": lambda: run.world.feature_map.warm_up_rows(mine.X, rows, rows),
    "fit": lambda: run.world.feature_map.fit_stream(mine.X, rows, rows),
}
with Path(sys.argv[1]).open("r+b") as stream:
    stream.truncate(200)
for name, look in looks.items():
    try:
        look()
    except ValueError as error:
        print(name, "must keep its" in str(error), flush=True)
"""


def test_whatever_reads_its_vectors_is_told_so(file: Path) -> None:
    """In a process of its own, which a read that is not checked would kill."""
    done = subprocess.run([sys.executable, "-c", LOOKS, str(file)], capture_output=True, text=True, check=False)
    lines = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (lines[-1:], done.stderr[-500:])
    assert len(lines) == 10 and all(known == "True" for _, known in lines), lines
