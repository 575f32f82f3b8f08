"""Progress of what takes a while."""

import io
from pathlib import Path

import numpy as np
import pytest

from ohash.cli.main import main
from ohash.cli.progress import ProgressBar, RowProgress
from tests.selection import first


@pytest.mark.parametrize("silent", first([[], ["--quiet"], ["--json"]], 2))
def test_quiet_hides_the_bar_of_features_too(
    silent: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OHASH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OHASH_DATA", "")
    monkeypatch.setattr("ohash.cli.progress.PATIENCE", -1)
    records = np.random.default_rng(0).integers(0, 10, (6, 20, 3073), dtype=np.uint8)
    for name, batch in zip([*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"], records, strict=True):
        batch.tofile(tmp_path / f"{name}.bin")
    run = ["--data", str(tmp_path), "run", "--dataset", "cifar10-gist", "--pairs", "20", "--r", "8", "--m", "20"]
    assert main([*run, *silent]) == 0
    error = capsys.readouterr().err
    assert error == "" if silent else "computing, once" in error


def test_the_bar_shows_only_what_takes_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    bar = RowProgress(stream)
    for done in range(0, 1001, 100):
        bar(done, 1000)
    assert stream.getvalue() == ""
    for done in range(0, 1001, 100):
        bar(done, 1000)
        now[0] += 1
    assert "300 / 1,000 rows, 7 s left" in stream.getvalue()
    assert stream.getvalue().rstrip(" \n").endswith("1,000 / 1,000 rows, 0 s left") and stream.getvalue()[-1] == "\n"


def test_in_a_pipe_the_bar_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    bar = RowProgress(stream)
    for done in range(0, 31):
        bar(done, 30)
        now[0] += 1
    lines = stream.getvalue().splitlines()
    assert lines[0] == "computing, once: 1 / 30 rows, 29 s left" and 3 < len(lines) < 12
    assert lines[-1] == "computing, once: 30 / 30 rows, 0 s left" and "\r" not in stream.getvalue()


def test_the_end_is_shown_once_and_ends_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    bar = ProgressBar(stream)
    for finished in (False, True, True):
        bar.show(1.0, "3 of 3", finished=finished)
    assert stream.getvalue().count("3 of 3") == 2 and stream.getvalue().count("\n") == 1


def test_a_bar_on_a_terminal_is_redrawn_in_place_a_few_times_per_second(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    now = [0.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    bar = ProgressBar(stream)
    for done in range(1001):
        now[0] = done / 1000
        bar.show(done / 1000, f"{done} of 1000", finished=done == 1000)
    pictures = [picture for picture in stream.getvalue().split("\r") if picture.strip()]
    assert 4 <= len(pictures) <= 8 and stream.getvalue().count("\n") == 1
    assert pictures[0].strip().endswith("0 of 1000") and pictures[-1].strip().endswith(" 1000 of 1000")
    assert pictures[0].count("#") == 0 < pictures[-1].count("#")


def test_progress_may_stand_still_and_its_text_is_still_redrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    now = [0.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    bar = ProgressBar(stream)
    for second in range(3):
        now[0] = float(second)
        bar.show(0.5, f"fitting, {second} s", finished=False)
    assert all(f"fitting, {second} s" in stream.getvalue() for second in range(3))
