"""ohash-lab: a file named on the command line opens in the browser."""

from pathlib import Path

import numpy as np
import pytest

from ohash.cli import lab
from ohash.ui.session.own_data import load_command_line_data


def test_lab_opens_the_checkout_and_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.eye(4))
    options = lab.parser().parse_args([str(file), "--data", str(tmp_path)])
    call, environment = lab.command(options, ["--server.port", "9999"])
    assert call[1:4] == ["-m", "streamlit", "run"] and call[-2:] == ["--server.port", "9999"]
    assert Path(call[4]).name == "app.py" and (Path(call[4]).parent / "pages").is_dir()
    assert environment["OHASH_FILE"] == str(file) and environment["OHASH_DATA"] == str(tmp_path)


def calls_of_execve(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What the process was to become, each time that it ended for it."""
    called: list[list[str]] = []

    def taken(_program: str, call: list[str], _environment: dict[str, str]) -> None:
        called.append(call)
        raise SystemExit(0)

    monkeypatch.setattr("os.execve", taken)
    return called


def test_the_server_takes_the_place_of_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.name", "posix")
    called = calls_of_execve(monkeypatch)
    monkeypatch.setattr("subprocess.run", pytest.fail)
    with pytest.raises(SystemExit):
        lab.main(["--server.port=9998"])
    assert called[0][1:4] == ["-m", "streamlit", "run"] and called[0][-1] == "--server.port=9998"
    with pytest.raises(SystemExit):
        lab.main(["--classroom", "--server.address", "0.0.0.0", "--server.headless", "true"])
    assert called[1][-2:] == ["--server.address=0.0.0.0", "--server.headless=true"], "as many write it"
    capsys.readouterr()
    with pytest.raises(SystemExit):
        lab.main(["--class"])
    assert called[2][-1] == "--server.address=0.0.0.0"
    assert "Everybody on this network can open this server" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        lab.main(["--class", "--server.address=localhost"])
    assert called[3][-1] == "--server.address=localhost" and "Everybody" not in capsys.readouterr().out


@pytest.mark.parametrize("given", [["--port", "8600"], ["--port=8600"], ["--server.port", "8600"]])
def test_a_port_is_no_file(given: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.name", "posix")
    called = calls_of_execve(monkeypatch)
    with pytest.raises(SystemExit):
        lab.main(given)
    assert called[0][-1] == "--server.port=8600"


def test_an_unknown_option_is_named_and_its_value_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.main(["--theme", "dark"]) == 2
    assert "there is no option --theme" in capsys.readouterr().err


def test_lab_refuses_what_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.main(["/nowhere/x.npy"]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["noise.npy"], "noise.npy must start with a .npy header"),
        (["noise.doc"], "noise.doc must be one of .npy"),
        (["x.npy", "--labels", "noise.doc"], "to hold labels"),
        (["x.npy", "--pairs", "noise.doc"], "to hold pairs"),
        (["few.npy"], "at least 4 rows"),
        (["bad.npy"], "bad.toml must use the keys"),
        (["--data", "x.npy"], "--data must be a folder"),
        (["--labels", "x.npy"], "belong to a FILE"),
    ],
)
def test_lab_says_what_is_wrong_before_a_server_starts(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("subprocess.run", pytest.fail)
    monkeypatch.setattr("os.execve", pytest.fail)
    for name, rows in (("x", 9), ("few", 3), ("bad", 9)):
        np.save(f"{name}.npy", np.ones((rows, 2)))
    Path("bad.toml").write_text("lables = 'y.npy'")
    for name in ("noise.npy", "noise.doc"):
        Path(name).write_bytes(b"no such thing")
    assert lab.main(arguments) == 2
    assert words in capsys.readouterr().err


def test_queries_are_another_file_of_the_same_length(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.eye(6))
    np.save(tmp_path / "q.npy", np.eye(3, 6))
    np.save(tmp_path / "short.npy", np.eye(3, 5))
    given = [str(tmp_path / "d.npy"), "--queries"]
    _, environment = lab.command(lab.parser().parse_args([*given, str(tmp_path / "q.npy")]), [])
    assert environment["OHASH_QUERIES"] == str(tmp_path / "q.npy")
    with pytest.raises(ValueError, match=r"short.npy must have vectors as long as those of d.npy, 6, got 5"):
        lab.command(lab.parser().parse_args([*given, str(tmp_path / "short.npy")]), [])


def test_a_server_opens_documents_and_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "d.npy", np.random.default_rng(0).normal(size=(40, 6)))
    np.save(tmp_path / "q.npy", np.random.default_rng(1).normal(size=(9, 6)))
    monkeypatch.setenv("OHASH_FILE", str(tmp_path / "d.npy"))
    monkeypatch.setenv("OHASH_QUERIES", str(tmp_path / "q.npy"))
    data, problem = load_command_line_data()
    assert (data.n, len(data.documents), problem) == (49, 40, "")
