"""One's own vectors, labels, pairs and distance, from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

import ohash
from ohash.cli.main import main
from ohash.engine.params import experiment


def test_run_on_own_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 6)) + 4 * np.eye(6)[y]
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    (tmp_path / "c.csv").write_text("i,j\n" + "\n".join(f"{k},{(k * 7 + 3) % 300}" for k in range(300)))
    for extra in (["--labels", str(tmp_path / "y.npy")], ["--pairs-file", str(tmp_path / "c.csv")], []):
        assert main(["run", "--features", str(tmp_path / "x.npy"), *extra, "--pairs", "200", "--quiet"]) == 0
        assert "agreement with" in capsys.readouterr().out


@pytest.mark.slow
def test_pairs_may_be_a_file_of_clicks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(300, 6)))
    (tmp_path / "c.csv").write_text("i,j\n" + "\n".join(f"{k},{(k * 7 + 3) % 300}" for k in range(300)))
    assert main(["run", "--features", str(tmp_path / "x.npy"), "--pairs", str(tmp_path / "c.csv"), "--quiet"]) == 0
    assert "agreement with your pairs" in capsys.readouterr().out


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
        assert "agreement with your pairs" in capsys.readouterr().out
    assert main(["run", "--features", x, "--labels", str(own / "y.npy"), "--pairs", "1_00", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "100 pairs" in out and "agreement with labels" in out
    assert main(["data", "--features", x, "--pairs", clicks]) == 0
    assert "similarity: clicks" in capsys.readouterr().out


def test_a_file_in_the_place_of_a_name_is_answered_with_the_option(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", str(own / "x.npy")]) == 2
    assert f"describe it with: --features {own / 'x.npy'}" in capsys.readouterr().err
    (own / "x.npz").write_bytes(b"")
    assert main(["--data", str(own), "data", "folder:x.npy"]) == 0  # a name that ends like a file


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
    printed = capsys.readouterr().out
    assert "Mine: 200 rows" in printed and "similarity: label" in printed and "distance: cosine" in printed
    assert "note: described by x.toml" in printed
    assert main(["data", "--features", x, "--pairs", clicks, "--metric", "dot"]) == 0
    printed = capsys.readouterr().out
    assert "similarity: clicks" in printed and "classes" not in printed and "distance: dot" in printed
    run = ["run", "--features", x, "--pairs", "60", "--out", str(own / "out"), "--metric", "l2"]
    assert main([*run, "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert (
        "note: described by x.toml" in printed and "agreement with labels" in printed and "on 9 test queries" in printed
    )
    exec((own / "out" / "run.py").read_text(), {})
    (own / "x.toml").write_text('labels = "gone.npy"')
    assert main(["data", "--features", x]) == 2
    assert "x.toml must name files" in capsys.readouterr().err


@pytest.mark.slow
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


def test_a_number_of_pairs_and_a_file_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(80, 6)).astype(np.float32))
    i = rng.integers(0, 79, 300)
    (tmp_path / "clicks.csv").write_text("i,j\n" + "\n".join(f"{a},{a + 1}" for a in i))
    options = ["run", "--features", str(tmp_path / "x.npy"), "--r", "8", "--json"]
    for order in (["clicks.csv", "200"], ["200", "clicks.csv"]):
        printed = [str(tmp_path / one) if "." in one else one for one in order]
        assert main([*options, "--pairs", printed[0], "--pairs", printed[1]]) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["pairs"] == 200 and report["similar_by"] == "clicks"
    assert main([*options, "--pairs", "1", "--pairs", "2"]) == 2
    assert "one number and one file" in capsys.readouterr().err


def test_an_experiment_on_a_dataset_of_ones_own() -> None:
    X = np.random.default_rng(0).normal(size=(90, 5))
    mine = ohash.Dataset.from_arrays(X, labels=np.arange(90) % 3)
    *_, now = ohash.run(experiment(mine, "oh", r=8, pairs=60), mine)
    assert now.params.content == mine.fingerprint() and now.params.features.kernel == "rbf" and now.t == 60
    assert repr(mine).startswith("Dataset('your data', 90 x 5, similar by label")
