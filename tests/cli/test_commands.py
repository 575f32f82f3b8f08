"""The command line as a user meets it."""

import json
from pathlib import Path

import numpy as np
import pytest

import ohash
from ohash.cli import lab
from ohash.cli.main import commands, main


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([name, "--help"])
    assert stopped.value.code == 0
    assert len(capsys.readouterr().out) > 100


def test_run_writes_files_that_repeat_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--r", "16", "--pairs", "300", "--seed", "5", "--out", str(tmp_path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["pairs"] == 300 and report["query"] == {
        "dataset": "digits", "method": "oh", "r": "16", "pairs": "300", "seed": "5",
    }  # fmt: skip
    assert {f.name for f in tmp_path.iterdir()} == {
        "history.csv", "history.parquet", "checkpoints.csv", "checkpoints.parquet", "run.json", "run.py", "model.npz",
    }  # fmt: skip
    scope: dict[str, object] = {}
    exec((tmp_path / "run.py").read_text(), scope)
    assert scope["now"].numbers["map"] == report["numbers"]["map"]  # type: ignore[attr-defined]
    assert ohash.load(tmp_path / "model.npz").pairs == 300


def test_run_on_own_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 6)) + 4 * np.eye(6)[y]
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    (tmp_path / "c.csv").write_text("i,j\n" + "\n".join(f"{k},{(k * 7 + 3) % 300}" for k in range(300)))
    for extra in (["--labels", str(tmp_path / "y.npy")], ["--pairs-file", str(tmp_path / "c.csv")], []):
        assert main(["run", "--features", str(tmp_path / "x.npy"), *extra, "--pairs", "200", "--quiet"]) == 0
        assert "agrees with" in capsys.readouterr().out


def test_save_and_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = str(tmp_path / "run.npz")
    assert main(["run", "--pairs", "200", "--quiet", "--save", saved]) == 0
    assert main(["run", "--resume", saved, "--quiet"]) == 0
    assert capsys.readouterr().out.count("200 pairs") == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--beta", "7"], "beta must be a number in (0, 1], got 7"),
        (["run", "--method", "nothing"], "method must be one of"),
        (["run", "--dataset", "nothing"], "dataset must be one of"),
        (["run", "--T", "3"], "oh has no parameter T"),
        (["run", "--labels", "y.npy"], "belong to --features"),
        (["run", "--features", "missing.npy"], "missing.npy"),
        (["--data", "/nowhere", "data"], "--data must be a folder"),
        (["--plugin", "/nowhere.py", "methods"], "plugin"),
        (["data", "nothing"], "dataset must be one of"),
        (["bench", "nothing"], "bench knows"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert words in error and "Traceback" not in error


def test_link_with_mistakes_still_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--link", "http://x/?method=lsh&beta=9&junk=1&r=0", "--pairs", "50", "--quiet"]) == 0
    assert "r must be" in capsys.readouterr().err


def test_lab_opens_the_checkout_and_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.eye(3))
    options = lab.parser().parse_args([str(file), "--data", str(tmp_path)])
    call, environment = lab.command(options, ["--server.port", "9999"])
    assert call[1:4] == ["-m", "streamlit", "run"] and call[-2:] == ["--server.port", "9999"]
    assert Path(call[4]).name == "app.py" and (Path(call[4]).parent / "pages").is_dir()
    assert environment["OHASH_FILE"] == str(file) and environment["OHASH_DATA"] == str(tmp_path)


def test_lab_refuses_what_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.main(["/nowhere/x.npy"]) == 2
    assert "does not exist" in capsys.readouterr().err
