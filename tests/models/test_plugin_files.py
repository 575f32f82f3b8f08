"""Plugin files: an edit makes other runs, an error names its line, and a plugin that is not loaded is said so."""

import json
import os
import socket
import subprocess
import sys

import numpy as np
import pytest

import ohash
from ohash.cli import lab
from ohash.cli.main import main
from ohash.cli.new_method import template
from ohash.models import registry
from ohash.store.store import Store
from ohash.sweeps.saving import (
    delete_sweep,
    list_sweeps,
    own_data_file,
    save_own_data,
    save_sweep,
    with_own_data,
)
from ohash.sweeps.specification import build_sweep
from tests.plugin_registry import forget_plugins
from tests.selection import first

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


@pytest.mark.slow
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


@pytest.mark.parametrize("kind", first(["ValueError", "TypeError", "NotImplementedError"]))
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


def test_an_edit_of_a_file_that_the_plugin_imports_is_another_version(own, tmp_path, monkeypatch):
    alone = version_of("mine.py")
    (tmp_path / "steps_of_mine.py").write_text("import scale_of_mine\nSTEP = scale_of_mine.SCALE\n")
    (tmp_path / "scale_of_mine.py").write_text("SCALE = 1.0\n")
    (tmp_path / "unrelated.py").write_text("SCALE = 1.0\n")
    assert version_of("mine.py") == alone, "files that it does not import are none of its business"
    own.write_text(f"{RIGHT}\nfrom steps_of_mine import STEP\n")
    monkeypatch.chdir("/")  # a plugin finds its neighbours from everywhere, as a script does
    first, (plugin,) = version_of(own), registry.plugin_modules()
    assert plugin.STEP == 1.0 and registry.edited_plugins() == []
    (tmp_path / "scale_of_mine.py").write_text("SCALE = 2.0\n")
    assert registry.edited_plugins() == ["mine.py"] and version_of(own) not in (first, alone)


def version_of(file):
    os.environ[registry.PLUGINS] = ""
    registry.add_plugin(file)
    forget_plugins()
    return registry.plugin_version("mine").fingerprint


DATA = """
import numpy as np
from ohash.streams.dataset import Dataset, DatasetSpec

def load():
    X = np.random.default_rng(SEED).normal(size=(300, 4)).astype("float32")
    return Dataset(key="heap", title="Heap", X=X, labels=np.arange(300) % 3)

DATASET = DatasetSpec(key="heap", title="Heap", task="same", n=300, d=4, licence="", cite="", load=load)
"""


def test_an_edit_of_a_data_set_makes_other_runs(own, tmp_path, capsys):
    spec = SPEC.replace("blobs2d", "heap").replace('"mine", ', "").replace("r = 8", 'r = 8\nkernel = "none"')
    (tmp_path / "cmp.toml").write_text(spec)
    for seed, cells in (("0", 2), ("1", 4)):
        (tmp_path / "heap.py").write_text(DATA.replace("SEED", seed))
        assert sweep("--plugin", "heap.py") == 0 and len(Store("runs").done()) == cells
    assert "2 stored cells are of another version of heap.py" in capsys.readouterr().err
    older = [row for row in Store("runs").list() if "by an older version of heap.py" in row.changed_settings]
    assert len(older) == 2


def test_own_data_outlive_the_plugin_of_their_sweep(own):
    registry.add_plugin(own)
    forget_plugins()
    mine = ohash.Dataset.from_arrays(np.random.default_rng(0).normal(size=(200, 4)), labels=np.arange(200) % 2)
    store, base = Store("runs"), {"r": 8, "pairs": 150}
    kept = save_own_data(store, mine)
    for name, method in (("one", "mine"), ("other", "oh")):
        save_sweep(store, with_own_data(build_sweep(name, base=base | {"method": method}), mine))
    os.environ[registry.PLUGINS] = ""
    forget_plugins()
    (other,) = list_sweeps(store)
    delete_sweep(store, other)
    assert own_data_file(store, kept).exists(), "the sweep of the plugin needs them when it is loaded again"


@pytest.mark.slow
def test_a_key_that_is_taken_stops_the_server_with_one_line(own):
    own.write_text(RIGHT.replace('key = "mine"', 'key = "oh"'))
    command = [sys.executable, "-m", "streamlit", "run", str(lab.app_file()), "--server.headless", "true"]
    port = ["--server.port", str(free_port())]
    ended = subprocess.run([*command, *port], env=os.environ | {registry.PLUGINS: str(own)}, timeout=120, check=False,
                           capture_output=True, text=True, cwd=lab.app_file().parent)  # fmt: skip
    assert ended.returncode == 1 and "Traceback" not in ended.stderr
    assert "ohash: HASHER key 'oh' of mine.py is taken already by ohash.models.online.oh" in ended.stderr


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
