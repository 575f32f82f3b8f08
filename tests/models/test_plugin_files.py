"""Plugin files: an edit makes other runs, an error names its line, and a plugin that is not loaded is said so."""

import json
import os

import pytest

import ohash
from ohash.cli import lab
from ohash.cli.main import main
from ohash.cli.new_method import template
from ohash.models import registry
from ohash.store.store import Store
from ohash.sweeps.files import list_sweeps
from tests.plugin_registry import forget_plugins

SPEC = """
seeds = 2
[base]
dataset = "blobs2d"
r = 8
pairs = 200
judged_at = "ends"
[grid]
method = ["mine", "oh"]
"""
RIGHT = template("mine")


@pytest.fixture
def own(tmp_path, monkeypatch, no_plugins):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cmp.toml").write_text(SPEC)
    (tmp_path / "mine.py").write_text(RIGHT)
    return tmp_path / "mine.py"


def sweep(*options):
    os.environ[registry.PLUGINS] = ""
    forget_plugins()
    return main(["sweep", "cmp.toml", "--store", "runs", "--inline", "--quiet", *options])


def test_an_edit_of_the_file_sets_its_stored_cells_aside_and_no_others(own, capsys):
    assert sweep("--plugin", "mine.py") == 0
    first = Store("runs").done()
    assert len(first) == 4 and "set aside" not in capsys.readouterr().err
    assert sweep("--plugin", "mine.py") == 0
    assert Store("runs").done() == first and "set aside" not in capsys.readouterr().err
    own.write_text(RIGHT.replace("step = np.where", "step = -np.where"))
    assert sweep("--plugin", "mine.py") == 0
    err = capsys.readouterr().err
    assert err == "note: 2 stored cells are of another version of mine.py, and set aside: the present file runs\n"
    both = Store("runs")
    assert len(both.done()) == 6, "those of OH are not run again"
    rows = {row.key: row for row in both.list()}
    older = [row for row in rows.values() if "by an older version of mine.py" in row.changed_settings]
    assert len(older) == 2 and {row.key for row in older} <= first
    capsys.readouterr()
    assert main(["runs", "show", older[0].key, "--store", "runs"]) == 0
    shown = json.loads(capsys.readouterr().out)["plugin"]
    assert shown["file"] == str(own) and shown["fingerprint"] != registry.plugin_version("mine").fingerprint
    assert registry.plugin_version("oh") is None


def test_methods_of_ohash_keep_their_keys():
    assert ohash.experiment("digits", "oh", r=32).key() == "998c72f5052ecd73"


@pytest.mark.parametrize("kind", ["ValueError", "TypeError", "NotImplementedError"])
def test_an_error_names_method_function_file_and_line(own, capsys, kind):
    lines = RIGHT.replace("D_h[t] = differ.sum()", f"raise {kind}('my bug in learn')").splitlines()
    own.write_text("\n".join(lines) + "\n")
    line = next(at for at, text in enumerate(lines, 1) if "my bug" in text)
    sentence = f"Mine failed in _learn_pair_block, mine.py line {line}: {kind}: my bug in learn"
    command = ["run", "--plugin", "mine.py", "--method", "mine", "--dataset", "blobs2d", "--pairs", "100"]
    assert main(command) == 2
    assert capsys.readouterr().err.strip().splitlines()[-1] == f"ohash run: {sentence}"
    assert sweep("--plugin", "mine.py") == 1
    captured = capsys.readouterr()
    assert sentence in captured.err
    failed = next(row for row in Store("runs").list() if row.state == "error")
    assert main(["runs", "show", failed.key, "--store", "runs"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] == sentence


def test_a_comparison_names_the_line_beside_the_method_and_goes_on(own):
    own.write_text(RIGHT.replace("D_h[t] = differ.sum()", "raise KeyError('my bug')"))
    registry.add_plugin(own)
    now = ohash.compare("blobs2d", ["oh", "mine"], bits=8, pairs=200, sweep=False)
    assert list(now.errors) == ["Mine"] and now.score(0, "map") > 0
    assert now.errors["Mine"].startswith("Mine failed in _learn_pair_block, mine.py line ")
    assert now.errors["Mine"].endswith("KeyError: 'my bug'")


def test_what_was_stored_without_its_plugin_says_what_to_load(own, capsys):
    assert sweep("--plugin", "mine.py") == 0
    os.environ[registry.PLUGINS] = ""
    forget_plugins()
    store = Store("runs")
    assert list_sweeps(store) == {}
    assert store.problem.endswith("cmp: its method 'mine' is not here: load its plugin (--plugin FILE)")
    key = next(row.key for row in store.list() if row.method == "mine")
    capsys.readouterr()
    assert main(["runs", "show", key, "--store", "runs"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["key"] == key and captured.err == ""


def test_two_files_with_one_key_are_one_sentence(own, tmp_path, capsys):
    (tmp_path / "other.py").write_text(RIGHT)
    assert lab.main(["--plugin", "mine.py", "--plugin", "other.py"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["methods", "--plugin", "mine.py", "--plugin", "other.py"]) == 2
    err = capsys.readouterr().err
    assert err.endswith(": HASHER key 'mine' of other.py is taken already by mine.py; choose another\n")
    assert err.count("\n") == 1
