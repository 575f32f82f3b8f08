"""The command line as a user meets it."""

import json
import os
import re
import signal
from pathlib import Path

import numpy as np
import pytest

import ohash
from ohash.cli.main import commands, main
from ohash.engine import saving
from ohash.engine.checkpoints import Checkpoints
from ohash.engine.run import Run
from ohash.models import hashers
from ohash.models.registry import ABSENT
from ohash.paper.settings import EMBEDDED, LABELLED
from ohash.runtime.files import HOME
from ohash.runtime.worker import WorkerDiedError
from ohash.streams.registry import load_by_key


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


def test_a_run_whose_files_cannot_be_written_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.json").mkdir()  # a file cannot take its place, whoever writes it
    assert main(["run", "--dataset", "blobs2d", "--pairs", "200", "--out", str(out)]) == 2
    printed = capsys.readouterr()
    assert "mAP" in printed.out, "what it measured is said"
    assert "out/run.json: Is a directory; the run is kept: " in printed.err
    kept = re.search(r"python3 -m ohash run --resume (\S+) --out DIR", printed.err)
    assert kept is not None
    assert main(["run", "--resume", kept[1], "--out", str(tmp_path / "again"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == 200 and (tmp_path / "again" / "run.json").is_file()


def test_a_worker_that_is_killed_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> int:
        raise WorkerDiedError("the worker process died by signal 9 (out of memory?); it was tried 2 times")

    monkeypatch.setattr("ohash.cli.methods.run", killed)
    assert main(["methods"]) == 2
    assert capsys.readouterr().err == (
        "ohash methods: the worker process died by signal 9 (out of memory?); it was tried 2 times\n"
    )


@pytest.mark.slow
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
    assert "resume with --resume" in capsys.readouterr().err
    assert main(["run", "--resume", file, "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    assert resumed["test"] == straight["test"] and resumed["pairs"] == 300
    assert main(["run", "--resume", file, "--pairs", "400", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == 400
    assert main(["run", "--resume", file, "--r", "32"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "where"), [(Run, "_teach"), (Checkpoints, "_record")])
def test_ctrl_c_waits_for_the_step_under_way(
    kind: type, where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["run", "--r", "16", "--pairs", "600"]
    assert main([*options, "--save", str(tmp_path / "straight.npz"), "--quiet"]) == 0
    inner, calls = getattr(kind, where), []

    def pressed(self: object, *args: object) -> object:
        result = inner(self, *args)
        calls.append(1)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return result

    with monkeypatch.context() as patch:
        patch.setattr(kind, where, pressed)
        assert main([*options, "--save", str(tmp_path / "cut.npz"), "--quiet"]) == 130
    assert main(["run", "--resume", str(tmp_path / "cut.npz"), "--save", str(tmp_path / "whole.npz"), "--quiet"]) == 0
    straight, whole = saving.load(tmp_path / "straight.npz"), saving.load(tmp_path / "whole.npz")
    assert whole.hasher.pairs == straight.hasher.pairs and np.array_equal(whole.hasher.W, straight.hasher.W)
    assert np.array_equal(whole.checkpoints.scores["pairs"], straight.checkpoints.scores["pairs"])


def test_exported_model_encodes_raw_vectors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--r", "16", "--pairs", "200", "--out", str(tmp_path), "--quiet"]) == 0
    model = ohash.load(tmp_path / "model.npz")
    codes = model.encode(model.feature_map.transform(load_by_key("digits").X[:50]))
    assert codes.shape == (50, 2) and len(np.unique(codes, axis=0)) > 10
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--beta", "7"], "beta must be a number in (0, 1], got 7"),
        (["run", "--method", "nothing"], "method must be one of"),
        (["run", "--dataset", "nothing"], "dataset must be one of"),
        (["run", "--T", "3"], "oh has no parameter 'T'"),
        (["run", "--labels", "y.npy"], "belong to --features"),
        (["run", "--features", "missing.npy"], "missing.npy"),
        (["run", "--resume", "missing.npz"], "ohash run: missing.npz: No such file or directory\n"),
        (["--data", "/nowhere", "data"], "--data must be a folder"),
        (["--plugin", "/nowhere.py", "methods"], "plugin"),
        (["data", "nothing"], "dataset must be one of"),
        (["bench", "nothing"], "the parts of bench are"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert words in error and "Traceback" not in error


@pytest.mark.slow
def test_link_with_mistakes_still_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--link", "http://x/?method=lsh&beta=9&junk=1&r=0", "--pairs", "50", "--quiet"]) == 0
    assert "r must be" in capsys.readouterr().err


@pytest.mark.slow
def test_changes_are_those_of_a_link(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--pairs", "300", "--changes", "100:C:0.01", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert main(["run", "--link", "dataset=digits&method=oh&pairs=300&changes=100:C:0.01", "--json"]) == 0
    linked = json.loads(capsys.readouterr().out)
    assert printed["query"]["changes"] == "100:C:0.01" and printed["params"] == linked["params"]
    assert printed["numbers"]["map"] == linked["numbers"]["map"]
    assert main(["run", "--pairs", "300", "--changes", "100:r:64"]) == 2
    assert "changes may set beta, C" in capsys.readouterr().err


def test_options_that_methods_share_are_explained_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "default 5000; fasthash)" in text and "default 1000; ksh)" in text
    assert "weight of dissimilar pairs" in text and "default 0.01; adapthash)" in text and "default 0.6; bsodh)" in text


@pytest.mark.slow
def test_the_papers_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--pairs", "60", "--json"]
    assert main(["run", "--dataset", "digits", "--paper", *few]) == 0
    params = json.loads(capsys.readouterr().out)["params"]
    assert (params["r"], params["C"], params["beta"], params["sigma"], params["judged_by"]) == (
        64,
        0.1,
        0.4,
        1.0,
        "test",
    )
    for setting in EMBEDDED:
        data = [
            "--dataset",
            setting.dataset,
            *([] if setting.kind in LABELLED else ["--similar-by", setting.similar_by]),
        ]
        assert main(["run", *data, "--paper", *few]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed["params"]["beta"] == setting.beta, "as `ohash paper` runs it"
        assert f"beta = {setting.beta:g} as for {setting.paper}, in" in printed["notes"][-1]
    assert main(["run", "--dataset", "digits", "--paper", "--beta", "0.6", *few]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["params"]["beta"] == 0.6 and "beta" not in printed["notes"][-1]
    assert main(["run", "--dataset", "digits", "--paper", "--method", "lsh", "--r", "16", *few]) == 0
    assert "digits is not one of the paper's data sets" in json.loads(capsys.readouterr().out)["notes"][-1]
    assert main(["run", "--dataset", "digits", "--paper", "--pairs", "60", "--quiet"]) == 0
    assert "note: digits is not one of the paper's data sets (cifar10, " in capsys.readouterr().out
    assert main(["run", "--dataset", "cifar10", "--paper"]) == 2
    assert "'cifar10-gist' is not here" in capsys.readouterr().err
    assert main(["run", "--link", "dataset=digits", "--paper"]) == 2
    assert "--dataset" in capsys.readouterr().err


@pytest.mark.slow
def test_bench_index_prints_the_crossover(monkeypatch, capsys):
    from ohash.cli.bench import index as bench_index

    monkeypatch.setattr(bench_index, "KINDS", {"uniform": None})
    monkeypatch.setattr(bench_index, "LIMIT", 0.01)
    monkeypatch.setattr(bench_index, "VERDICT_CODES", 20_000)
    assert main(["bench", "index", "--codes", "1e4"]) == 0
    printed = capsys.readouterr().out
    assert "10,000" in printed and "multi-index hashing is faster in" in printed and "cost model" in printed


def test_methods_that_are_not_here_are_listed_with_the_reason(capsys):
    assert main(["methods"]) == 0
    listed = " ".join(capsys.readouterr().out.split())
    for absent in ABSENT:
        assert str(absent) in listed and absent.title.lower() not in hashers()
        assert main(["methods", absent.aliases[0]]) == 2
        assert f"{absent.title} (" in (error := capsys.readouterr().err) and "is not here, because" in error


def test_methods_lists_features_and_what_each_was_checked_against(capsys):
    assert main(["methods"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for spec in hashers().values():
        assert f"Made for {spec.features_text}." in out and spec.checked_text in out
        if spec.features_source:
            assert spec.features_place, "where that stands, or that it is not known"


def test_methods_shows_a_card_by_any_name(capsys):
    assert main(["methods", "product quantization"]) == 0
    printed = capsys.readouterr().out
    assert (
        printed.startswith("pq") and "Differs from the original" in printed and "@article{jegou2011product" in printed
    )
    assert "Compared with" not in printed, "its card states no check"
    assert main(["methods", "ksh"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"{hashers()['ksh'].checked} @inproceedings" in printed and "W agrees to 1e-11" in printed
    assert main(["methods", "no such method"]) == 2
    assert "method must be one of" in capsys.readouterr().err


def test_another_distance_does_not_change_the_feature_map(capsys: pytest.CaptureFixture[str]) -> None:
    """Binary quantisation works on the vectors as given, with or without --metric."""
    for more in ([], ["--metric", "cosine"]):
        assert main(["run", "--dataset", "digits", "--method", "sign", "--pairs", "50", "--json", *more]) == 0
        assert json.loads(capsys.readouterr().out)["params"]["kernel"] == "given"


@pytest.mark.parametrize("silent", [[], ["--quiet"], ["--json"]])
def test_an_alias_is_explained_and_the_report_names_the_method(
    silent: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "--pairs", "20", "--r", "8", "--m", "20", "--judged-at", "ends"]
    assert main([*run, "--method", "OSH", *silent]) == 0
    printed = capsys.readouterr()
    assert (
        printed.err == "" if silent else printed.err.startswith("OSH is sketch_hash (OSH: SketchHash, online sketching")
    )
    assert "--json" in silent or printed.out.startswith("OSH: 20 pairs, 8 bits")
    assert main([*run, "--method", "sketch_hash", *silent]) == 0
    assert " is sketch_hash" not in capsys.readouterr().err


def test_a_fit_that_takes_long_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ohash.cli.progress.ProgressBar._line_due", lambda *_: True)
    run = ["run", "--pairs", "40", "--r", "8", "--judged-at", "ends"]
    assert main([*run, "--method", "itq"]) == 0
    first, *lines = capsys.readouterr().err.splitlines()
    assert first == "fitting ITQ to the first 100 rows"
    fits = [line for line in lines if re.search(r"^40 / 40 pairs  fitting ITQ to 1[0-9]{2} rows, [0-9]+ %", line)]
    assert len(fits) > 1 and "fitting" not in lines[-1]  # told before it, and while it goes on
    assert main([*run, "--method", "lsh"]) == 0
    assert "fitting" not in capsys.readouterr().err
    np.save(tmp_path / "few.npy", np.random.default_rng(0).normal(size=(20, 8)))
    assert main([*run, "--method", "itq", "--features", str(tmp_path / "few.npy")]) == 0
    assert capsys.readouterr().err.startswith("fitting ITQ to the first 18 rows\n")


def test_want_of_memory_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object) -> None:
        raise MemoryError("Unable to allocate 293. MiB")

    monkeypatch.setattr(Run, "_learn", greedy)
    assert main(["run", "--pairs", "50", "--quiet"]) == 2
    printed = capsys.readouterr().err
    assert "more memory than the process may have (Unable to allocate 293. MiB)" in printed and printed.count("\n") == 1
