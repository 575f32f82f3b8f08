"""The command line as a user meets it."""

import io
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import ohash
from ohash.cli import lab
from ohash.cli.building import Bar
from ohash.cli.main import commands, main
from ohash.experiment import saved
from ohash.experiment.appraisal import Appraisal
from ohash.experiment.params import experiment
from ohash.experiment.run import Run
from ohash.streams.registry import load


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


def test_interrupted_run_is_saved_and_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "run.npz")
    options = ["run", "--r", "16", "--pairs", "300", "--json"]
    assert main(options) == 0
    straight = json.loads(capsys.readouterr().out)
    learn = Run.step

    def cut(self: Run, limit: int) -> int:
        if self.t >= 150 and not self.evaluating:
            raise KeyboardInterrupt
        return learn(self, limit)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "step", cut)
        assert main([*options, "--save", file]) == 130
    assert "go on with --resume" in capsys.readouterr().err
    assert main(["run", "--resume", file, "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    assert resumed["test"] == straight["test"] and resumed["pairs"] == 300
    assert main(["run", "--resume", file, "--pairs", "400", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == 400
    assert main(["run", "--resume", file, "--r", "32"]) == 2


@pytest.mark.parametrize(("kind", "where"), [(Run, "_teach"), (Appraisal, "_record")])
def test_ctrl_c_waits_for_the_step_under_way(
    kind: type, where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["run", "--r", "16", "--pairs", "600"]
    assert main([*options, "--save", str(tmp_path / "straight.npz"), "--quiet"]) == 0
    inner, calls = getattr(kind, where), []

    def pressed(self: object, *args: object) -> object:
        found = inner(self, *args)
        calls.append(1)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(kind, where, pressed)
        assert main([*options, "--save", str(tmp_path / "cut.npz"), "--quiet"]) == 130
    assert main(["run", "--resume", str(tmp_path / "cut.npz"), "--save", str(tmp_path / "whole.npz"), "--quiet"]) == 0
    straight, whole = saved.load(tmp_path / "straight.npz"), saved.load(tmp_path / "whole.npz")
    assert whole.hasher.pairs == straight.hasher.pairs and np.array_equal(whole.hasher.W, straight.hasher.W)
    assert np.array_equal(whole.appraisal.judged["pairs"], straight.appraisal.judged["pairs"])


def test_exported_model_encodes_raw_vectors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--r", "16", "--pairs", "200", "--out", str(tmp_path), "--quiet"]) == 0
    model = ohash.load(tmp_path / "model.npz")
    codes = model.encode(model.feature_map.transform(load("digits").X[:50]))
    assert codes.shape == (50, 2) and len(np.unique(codes, axis=0)) > 10
    capsys.readouterr()


def test_pairs_may_be_a_file_of_clicks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(300, 6)))
    (tmp_path / "c.csv").write_text("i,j\n" + "\n".join(f"{k},{(k * 7 + 3) % 300}" for k in range(300)))
    assert main(["run", "--features", str(tmp_path / "x.npy"), "--pairs", str(tmp_path / "c.csv"), "--quiet"]) == 0
    assert "agrees with your pairs" in capsys.readouterr().out


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


def test_changes_are_those_of_a_link(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--pairs", "300", "--changes", "100:C:0.01", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert main(["run", "--link", "dataset=digits&method=oh&pairs=300&changes=100:C:0.01", "--json"]) == 0
    linked = json.loads(capsys.readouterr().out)
    assert said["query"]["changes"] == "100:C:0.01" and said["params"] == linked["params"]
    assert said["numbers"]["map"] == linked["numbers"]["map"]
    assert main(["run", "--pairs", "300", "--changes", "100:r:64"]) == 2
    assert "changes may set beta, C" in capsys.readouterr().err


def test_lab_opens_the_checkout_and_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.eye(4))
    options = lab.parser().parse_args([str(file), "--data", str(tmp_path)])
    call, environment = lab.command(options, ["--server.port", "9999"])
    assert call[1:4] == ["-m", "streamlit", "run"] and call[-2:] == ["--server.port", "9999"]
    assert Path(call[4]).name == "app.py" and (Path(call[4]).parent / "pages").is_dir()
    assert environment["OHASH_FILE"] == str(file) and environment["OHASH_DATA"] == str(tmp_path)


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
    for name, rows in (("x", 9), ("few", 3), ("bad", 9)):
        np.save(f"{name}.npy", np.ones((rows, 2)))
    Path("bad.toml").write_text("lables = 'y.npy'")
    for name in ("noise.npy", "noise.doc"):
        Path(name).write_bytes(b"no such thing")
    assert lab.main(arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("silent", [[], ["--quiet"], ["--json"]])
def test_quiet_hides_the_bar_of_features_too(
    silent: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OHASH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OHASH_DATA", "")
    monkeypatch.setattr("ohash.cli.building.PATIENCE", -1)
    records = np.random.default_rng(0).integers(0, 10, (6, 20, 3073), dtype=np.uint8)
    for name, batch in zip([*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"], records, strict=True):
        batch.tofile(tmp_path / f"{name}.bin")
    run = ["--data", str(tmp_path), "run", "--dataset", "cifar10-gist", "--pairs", "20", "--r", "8", "--m", "20"]
    assert main([*run, *silent]) == 0
    error = capsys.readouterr().err
    assert error == "" if silent else "computing, once" in error


@pytest.fixture
def own(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4
    np.save(tmp_path / "x.npy", rng.normal(size=(200, 6)) + 2 * rng.normal(size=(4, 6))[y])
    np.save(tmp_path / "y.npy", y)
    pairs = "\n".join(f"{k},{(k + 4) % 200}" for k in range(200))
    (tmp_path / "clicks.csv").write_text(f"i,j\n{pairs}\n")
    return tmp_path


def test_pairs_is_a_number_or_a_file(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, clicks = str(own / "x.npy"), str(own / "clicks.csv")
    for more in (["--pairs", clicks, "--order", "once"], ["--pairs-file", clicks, "--pairs", "300"]):
        assert main(["run", "--features", x, *more, "--quiet"]) == 0
        assert "agrees with your pairs" in capsys.readouterr().out
    assert main(["run", "--features", x, "--labels", str(own / "y.npy"), "--pairs", "1_00", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "100 pairs" in out and "agrees with labels" in out
    assert main(["data", "--features", x, "--pairs", clicks]) == 0
    assert "similarity: clicks" in capsys.readouterr().out


def test_the_distance_can_be_said(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (["folder:x"], ["--features", str(own / "x.npy")], ["digits"]):
        assert main(["--data", str(own), "data", *name, "--metric", "cosine"]) == 0
        assert "original distance: cosine" in capsys.readouterr().out
    assert (
        main(["--data", str(own), "run", "--dataset", "folder:x", "--metric", "dot", "--pairs", "50", "--quiet"]) == 0
    )
    assert "original distance (dot)" in capsys.readouterr().out


def test_another_distance_is_another_experiment(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run saved on one distance is not resumed on another."""
    run = ["--data", str(own), "run", "--dataset", "folder:x", "--quiet"]
    assert main([*run, "--metric", "cosine", "--pairs", "40", "--save", str(own / "r.npz")]) == 0
    assert main([*run, "--resume", str(own / "r.npz"), "--pairs", "60"]) == 2
    assert "other data" in capsys.readouterr().err
    assert main([*run, "--metric", "cosine", "--resume", str(own / "r.npz"), "--pairs", "60"]) == 0


def test_the_toml_beside_the_vectors_counts_and_options_come_first(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (own / "x.toml").write_text('title = "Mine"\nlabels = "y.npy"\nmetric = "cosine"\nqueries = [7, 9]')
    x, clicks = str(own / "x.npy"), str(own / "clicks.csv")
    assert main(["data", "--features", x]) == 0
    said = capsys.readouterr().out
    assert "Mine: 200 rows" in said and "similarity: label" in said and "distance: cosine" in said
    assert "note: described by x.toml" in said
    assert main(["data", "--features", x, "--pairs", clicks, "--metric", "dot"]) == 0
    said = capsys.readouterr().out
    assert "similarity: clicks" in said and "classes" not in said and "distance: dot" in said
    run = ["run", "--features", x, "--pairs", "60", "--out", str(own / "out"), "--metric", "l2"]
    assert main([*run, "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "note: described by x.toml" in said and "agrees with labels" in said and "on 9 test queries" in said
    exec((own / "out" / "run.py").read_text(), {})
    (own / "x.toml").write_text('labels = "gone.npy"')
    assert main(["data", "--features", x]) == 2
    assert "x.toml must name files" in capsys.readouterr().err


def test_an_index_takes_the_matrix_that_the_toml_names(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = np.load(own / "x.npy")
    np.savez(own / "two.npz", one=X, two=X[:50])
    (own / "two.toml").write_text('variable = "two"')
    trained, two = str(own / "trained"), str(own / "two.npz")
    assert main(["run", "--features", two, "--pairs", "60", "--r", "16", "--out", trained, "--quiet"]) == 0
    assert main(["index", f"{trained}/model.npz", "--features", two, "--out", str(own / "index")]) == 0
    assert len(ohash.HammingIndex.load(own / "index" / "index.npz")) == 50
    capsys.readouterr()


def test_the_list_says_what_every_file_is(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (own / "cut.npy").write_bytes((own / "x.npy").read_bytes()[:-8])
    assert main(["--data", str(own), "data"]) == 0
    lines = capsys.readouterr().out.splitlines()
    state = {line.split()[1]: line for line in lines if line.startswith(("folder", "embedded", "package"))}
    for key, words in {
        "folder:x": "available", "folder:y": "holds labels", "folder:clicks": "holds pairs",
        "folder:cut": "cannot be read", "digits": "available",
    }.items():  # fmt: skip
        assert words in state[key]
    assert "truncated" in lines[lines.index(state["folder:cut"]) + 1]


def test_the_papers_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--pairs", "60", "--json"]
    assert main(["run", "--dataset", "digits", "--paper", *few]) == 0
    found = json.loads(capsys.readouterr().out)["params"]
    assert (found["r"], found["C"], found["beta"], found["sigma"], found["judged_by"]) == (48, 1.0, 0.5, 1.0, "test")
    assert main(["run", "--dataset", "digits", "--paper", "--method", "lsh", "--r", "16", *few]) == 0
    assert "digits is not one of the paper's datasets" in json.loads(capsys.readouterr().out)["notes"][-1]
    assert main(["run", "--dataset", "digits", "--paper", "--pairs", "60", "--quiet"]) == 0
    assert "note: digits is not one of the paper's datasets (cifar10, " in capsys.readouterr().out
    assert main(["run", "--dataset", "cifar10", "--paper"]) == 2
    assert "'cifar10-gist' is not here" in capsys.readouterr().err
    assert main(["run", "--link", "dataset=digits", "--paper"]) == 2
    assert "--dataset" in capsys.readouterr().err


def test_bench_index_prints_the_crossover(monkeypatch, capsys):
    from ohash.cli import bench_index

    monkeypatch.setattr(bench_index, "KINDS", {"uniform": None})
    monkeypatch.setattr(bench_index, "LIMIT", 0.01)
    monkeypatch.setattr(bench_index, "VERDICT_CODES", 20_000)
    assert main(["bench", "index", "--codes", "1e4"]) == 0
    printed = capsys.readouterr().out
    assert "10,000" in printed and "multi-index hashing is faster in" in printed and "cost model" in printed


def test_methods_shows_a_card_by_any_name(capsys):
    assert main(["methods", "product quantization"]) == 0
    printed = capsys.readouterr().out
    assert (
        printed.startswith("pq") and "Differs from the original" in printed and "@article{jegou2011product" in printed
    )
    assert main(["methods", "no such method"]) == 2
    assert "method must be one of" in capsys.readouterr().err


def test_the_bar_shows_only_what_takes_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    bar = Bar(stream)
    for done in range(0, 1001, 100):
        bar(done, 1000)
    assert stream.getvalue() == ""
    for done in range(0, 1001, 100):
        bar(done, 1000)
        now[0] += 1
    assert "300 / 1,000 rows, 7 s left" in stream.getvalue()
    assert stream.getvalue().endswith("1,000 / 1,000 rows, 0 s left \n")


def test_in_a_pipe_the_bar_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    bar = Bar(stream)
    for done in range(0, 31):
        bar(done, 30)
        now[0] += 1
    lines = stream.getvalue().splitlines()
    assert lines[0] == "computing, once: 10 / 30 rows, 20 s left" and len(lines) == 3
    assert lines[-1] == "computing, once: 30 / 30 rows, 0 s left" and "\r" not in stream.getvalue()


def test_a_number_of_pairs_and_a_file_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(80, 6)).astype(np.float32))
    i = rng.integers(0, 79, 300)
    (tmp_path / "clicks.csv").write_text("i,j\n" + "\n".join(f"{a},{a + 1}" for a in i))
    options = ["run", "--features", str(tmp_path / "x.npy"), "--r", "8", "--json"]
    for order in (["clicks.csv", "200"], ["200", "clicks.csv"]):
        said = [str(tmp_path / one) if "." in one else one for one in order]
        assert main([*options, "--pairs", said[0], "--pairs", said[1]]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["pairs"] == 200 and report["similar_by"] == "clicks"
    assert main([*options, "--pairs", "1", "--pairs", "2"]) == 2
    assert "one number and one file" in capsys.readouterr().err


def test_a_drift_a_dataset_cannot_do_is_skipped_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--seeds", "1", "--pairs", "60"]
    assert main(["drift", "--datasets", "moons", "blobs2d", "--kinds", "redefine", *few]) == 0
    said = capsys.readouterr().out
    assert "moons    redefine         skipped: drift='redefine' joins classes in twos and needs 3" in said
    assert "blobs2d  redefine          " in said and "all runs together" in said
    assert main(["drift", "--datasets", "moons", "--kinds", "redefine", *few]) == 2
    assert "every one was skipped" in capsys.readouterr().err


def test_a_drift_is_reported_and_one_that_never_comes_too(capsys: pytest.CaptureFixture[str]) -> None:
    drifting = ["run", "--r", "16", "--drift", "rotate", "--drift-at", "400", "--quiet"]
    assert main([*drifting, "--pairs", "900"]) == 0
    said = capsys.readouterr().out
    assert "drift at pair 400: mAP fell by" in said and "noticed it" in said and "never comes" not in said
    assert main([*drifting, "--pairs", "300"]) == 0
    said = capsys.readouterr().out
    assert "the drift at pair 400 never comes: the run ends at pair 300" in said and "mAP fell" not in said


def test_an_experiment_on_a_dataset_of_ones_own() -> None:
    X = np.random.default_rng(0).normal(size=(90, 5))
    mine = ohash.Dataset.from_arrays(X, labels=np.arange(90) % 3)
    *_, now = ohash.run(experiment(mine, "oh", r=8, pairs=60), mine)
    assert now.params.content == mine.fingerprint() and now.params.features.kernel == "none" and now.t == 60
    assert repr(mine).startswith("Dataset('your data', 90 x 5, similar by label")


def test_another_distance_does_not_change_the_feature_map(capsys: pytest.CaptureFixture[str]) -> None:
    """What learns from nothing works on the vectors themselves, with or without --metric."""
    for more in ([], ["--metric", "cosine"]):
        assert main(["run", "--dataset", "digits", "--method", "sign", "--pairs", "50", "--json", *more]) == 0
        assert json.loads(capsys.readouterr().out)["params"]["kernel"] == "none"
