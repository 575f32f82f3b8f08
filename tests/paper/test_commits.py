"""The first commit that holds each recorded result is found in the history of the file, and every number stays."""

import json
import subprocess

import pyarrow
import pyarrow.parquet
import pytest

from ohash.cli.main import main
from ohash.paper.recorded_results import read_recording
from tests.test_project import ROOT

LOST = "0123456789ab"


def git(folder, *arguments):
    call = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()


def write(path, values, commits, listed):
    made = {"commit": listed, "cpu": "one", "cores": "2", "ohash": "1", "date": "today"}
    columns = {"key": list(values), "values": list(values.values()), "commit": [commits.get(key) for key in values]}
    table = pyarrow.table(columns, pyarrow.schema(dict.fromkeys(columns, pyarrow.string()), {"made": json.dumps(made)}))
    pyarrow.parquet.write_table(table, path)


@pytest.fixture
def checkout(tmp_path):
    """A file of three versions, renamed before the last; b was run again, c is of a lost commit, d of the first."""
    git(tmp_path, "init", "-q")
    path, names = tmp_path / "old.parquet", []

    def commit():
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", "Record")
        names.append(git(tmp_path, "rev-parse", "HEAD")[:12])

    write(path, {"a": "1", "b": "2"}, {}, "unknown")
    commit()
    write(path, {"a": "1", "b": "3"}, {}, "unknown")
    commit()
    path = path.rename(tmp_path / "now.parquet")
    commit()
    write(path, {"a": "1", "b": "3", "c": "4", "d": "5"}, {"c": LOST, "d": names[0]}, f"unknown; {LOST}; {names[0]}")
    commit()
    return path, names


@pytest.mark.slow
def test_each_result_is_of_the_first_commit_that_holds_it_or_older(checkout, capsys):
    path, names = checkout
    before = pyarrow.parquet.read_table(path)
    assert main(["paper", "--trace", str(path)]) == 0
    assert "is known for 4 cells" in capsys.readouterr().out
    traced = read_recording(path)
    assert [traced.origin(key) for key in "abcd"] == [
        f"at commit {names[0]} or before", f"at commit {names[1]} or before", f"at commit {names[3]} or before",
        f"at commit {names[0]}",
    ]  # fmt: skip
    assert "1 of 4 name the one they ran at, the others the first that has their results)" in traced.text
    assert f"{LOST} was rewritten later" in traced.text
    assert pyarrow.parquet.read_table(path).select(before.column_names).equals(before)


@pytest.mark.slow
def test_a_result_that_is_not_committed_and_a_file_without_history_are_told(checkout, tmp_path, capsys):
    path, _ = checkout
    write(path, {"a": "1", "b": "another"}, {}, "unknown")
    assert main(["paper", "--trace", str(path)]) == 0
    assert "is known for 1 cell; 1 is in no commit yet" in capsys.readouterr().out
    assert read_recording(path).origin("b") == ""
    assert main(["paper", "--trace", str(tmp_path / "none.parquet")]) == 2
    assert "there is no recording" in capsys.readouterr().err


def test_what_ships_names_only_commits_of_its_history():
    recording = read_recording()
    origins = set(map(recording.origin, recording.keys()))
    assert "" not in origins
    try:
        shallow = git(ROOT, "rev-parse", "--is-shallow-repository") == "true"
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no checkout")
    if shallow:
        pytest.skip("a checkout without its history")
    commits = {one[:12] for one in git(ROOT, "rev-list", "HEAD").split()}
    assert {origin.removeprefix("at commit ").removesuffix(" or before") for origin in origins} <= commits
