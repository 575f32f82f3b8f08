"""The record of the benchmark: its file, the README's table that is made from it, and what a slowdown does."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from ohash.cli.bench import command
from ohash.cli.bench.results import END, START, read_record, summary
from ohash.cli.main import main
from ohash.runtime.environment import environment

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "sample_data" / "bench.json"
SLOWER = 1.2  # times the record: a slowdown
ATTEMPTS = 12


def test_the_table_of_the_readme_is_that_of_the_record() -> None:
    table = (ROOT / "README.md").read_text().partition(START)[2].partition(END)[0]
    assert table.strip() == summary(RECORD), "python3 -m ohash bench --readme sample_data/bench.json"


def test_the_record_has_every_part() -> None:
    parts = {row.part for row in read_record(RECORD)[1]}
    assert parts == {*command.PARTS, "ui", "load"}


def test_results_are_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    assert main(["bench", "learning", "--pairs", "50", "--json", str(file)]) == 0
    machine, rows = read_record(file)
    assert machine == environment()
    assert {row.part for row in rows} == {"learning"} and all(row.value > 0 for row in rows)
    assert [row.target for row in rows if row.name.startswith("OH") and row.target] == ["1.3"]
    printed = capsys.readouterr().out
    assert all(row.name in printed for row in rows)
    earlier = replace(rows[0], part="gist", name="of another day", date="2026-01-01")
    file.write_text(json.dumps({"machine": machine, "results": [asdict(earlier), *map(asdict, rows)]}))
    assert main(["bench", "learning", "--pairs", "50", "--json", str(file)]) == 0
    _, again = read_record(file)
    assert again[0] == earlier and [row.name for row in again[1:]] == [row.name for row in rows], "other parts stay"


def test_what_is_no_record_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in (("empty", ""), ("other", "{}"), ("rows", json.dumps({"results": [{"a": 1}]}))):
        file = tmp_path / name
        file.write_text(content)
        before = (ROOT / "README.md").read_bytes()
        assert main(["bench", "--readme", str(file)]) == 2
        assert "must be a file that `bench --json` wrote" in capsys.readouterr().err
        assert (ROOT / "README.md").read_bytes() == before
        assert main(["bench", "learning", "--json", str(file)]) == 2, "before it measures"
        assert file.read_text() == content
    assert main(["bench", "learning", "--json", str(tmp_path / "nowhere" / "b.json")]) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("T", "name"), [(1, "OH"), (4, "MMOH T=4")])
def test_learning_is_as_close_to_its_floor_as_it_was(T: int, name: str) -> None:
    """CPU time of one thread against the matrix product in turns; other programs can only delay the answer."""
    machine, rows = read_record(RECORD)
    if machine["cpu"] != environment()["cpu"]:
        pytest.skip(f"the record is of {machine['cpu']}, this is {environment()['cpu']}")
    (known,) = [row.value for row in rows if row.name == f"{name} d=512 r=64 float32: time / matrix product"]
    X, i, j, s = command.stream(10_000, 512)
    floor = learn = float("inf")
    with threadpool_limits(limits=1):
        for _ in range(ATTEMPTS):
            some_floor, some_learn = command.measure_learning(X, i, j, s, T, 64)
            floor, learn = min(floor, some_floor), min(learn, some_learn)
            if learn / floor < SLOWER * known:
                break
    assert learn / floor < SLOWER * known
