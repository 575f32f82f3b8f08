"""The command `runs`: list, filter, show, export, delete."""

import csv
import io
import json

import pytest

from ohash.cli.main import main
from ohash.engine.export import checkpoint_columns
from ohash.engine.params import experiment
from ohash.engine.run import run
from ohash.engine.snapshot import to_frame
from ohash.store.store import Store
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.specification import build_sweep


@pytest.fixture(scope="module")
def pictures():
    *_, one = run(experiment("blobs", "oh", r=8, kernel="none", pairs=150))
    *_, other = run(experiment("blobs", "lsh", r=8, kernel="none", pairs=150))
    return one, other


@pytest.fixture
def folder(tmp_path, pictures):
    store = Store(tmp_path / "home")
    for now in pictures:
        store.save_snapshot(now)
    return str(store.folder)


def run_command(capsys, *arguments):
    code = main(["runs", *arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_list_and_filter(folder, capsys, pictures):
    code, out, _ = run_command(capsys, "--store", folder)
    assert code == 0 and "2 runs in" in out and f"{pictures[0].numbers['map']:.3f}" in out
    assert "1 run in" in run_command(capsys, "list", "--store", folder, "--method", "lsh")[1]
    assert "no such runs" in run_command(capsys, "--store", folder, "--kind", "cell")[1]


def test_a_run_on_clicks_is_listed_and_exported_by_hit_at_10(tmp_path, capsys, pictures):
    *_, now = run(experiment("debian", "oh", r=8, m=20, pairs=100, judged_at="ends"))
    store = Store(tmp_path / "home")
    store.save_snapshot(now)
    header, line, _ = run_command(capsys, "--store", str(store.folder))[1].splitlines()
    assert header.split()[-2:] == ["hit@10", "recall"] and f" {now.numbers['hit_10']:.3f} " in line
    store.save_snapshot(pictures[0])
    header, of_labels, of_clicks, _ = run_command(capsys, "--store", str(store.folder))[1].splitlines()
    assert header.split()[-3:] == ["mAP", "hit@10", "recall"]
    assert f" {now.numbers['hit_10']:.3f} " in of_clicks and of_clicks.count(" – ") == of_labels.count(" – ") == 1
    run_command(capsys, "export", "--store", str(store.folder), "--out", str(tmp_path / "runs.csv"))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "runs.csv").read_text())))
    assert list(rows[0])[5:8] == ["pairs", "hit_10", "mrr"]
    assert {float(row["hit_10"]) for row in rows if row["dataset"] == "debian"} == {*now.checkpoints["hit_10"]}
    assert [*checkpoint_columns(now)][:5] == ["pairs", "hit_10", "mrr", "ndcg_10", "auc_later"]
    assert checkpoint_columns(now).keys() == now.checkpoints.keys()
    assert [*checkpoint_columns(pictures[0])] == [*pictures[0].checkpoints], "those of labels stay as they are"


def test_what_failed_says_why(tmp_path, capsys, pictures):
    values, arrays = to_frame(pictures[0])
    Store(tmp_path / "home").save("broken", {**values, "state": "error", "error": "m must be at most 30"}, arrays)
    assert main(["runs", "--store", str(tmp_path / "home"), "--state", "error"]) == 0
    assert "m must be at most 30" in capsys.readouterr().out


def test_the_newest_come_first(folder, capsys, pictures):
    _, out, _ = run_command(capsys, "--store", folder)
    assert [line.split()[0][:6] for line in out.splitlines()[1:3]] == [now.params.key()[:6] for now in pictures[::-1]]


@pytest.mark.parametrize("damage", ["cut", "garbage", "gone"])
def test_lost_curves_are_said_by_list_show_and_export(folder, capsys, pictures, tmp_path, damage):
    store, key = Store(folder), f"{pictures[0].params.key()}-{pictures[0].t}"
    whole = store.trace(key).read_bytes()
    if damage == "gone":
        store.trace(key).unlink()
    else:
        store.trace(key).write_bytes(whole[: len(whole) // 2] if damage == "cut" else b"PAR1" + b"?" * 100)
    code, out, err = run_command(capsys, "--store", folder)
    marked = [line for line in out.splitlines() if "curves lost" in line]
    assert code == 0 and len(marked) == 1 and marked[0].startswith(key[:12]) and "note: 1 of them" in err
    code, out, err = run_command(capsys, "show", key, "--store", folder)
    assert code == 0 and "curves are lost" in json.loads(out)["notes"][-1] and "no curves" in err
    assert "no curves" in run_command(capsys, "export", "--store", folder, "--out", str(tmp_path / "runs.csv"))[2]
    code, _, err = run_command(capsys, "show", pictures[1].params.key(), "--store", folder)
    assert code == 0 and not err, "the other one is whole"


def test_show_by_the_beginning_of_a_key(folder, capsys, pictures):
    key = pictures[1].params.key()
    code, out, _ = run_command(capsys, "show", key[:10], "--store", folder)
    shown = json.loads(out)
    assert code == 0 and shown["params"]["method"] == "lsh" and shown["environment"]["python"]
    code, _, err = run_command(capsys, "show", "zz", "--store", folder)
    assert code == 2 and "matches 0 runs" in err


def test_export(folder, capsys, pictures, tmp_path):
    assert run_command(capsys, "export", "--store", folder, "--out", str(tmp_path / "runs.csv"))[0] == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "runs.csv").read_text())))
    assert len(rows) == sum(len(now.checkpoints["pairs"]) for now in pictures)
    assert run_command(capsys, "export", "--store", folder, "--out", str(tmp_path / "runs.json"))[0] == 0
    assert len(json.loads((tmp_path / "runs.json").read_text())) == 2
    assert {row["queries"] for row in rows} == {"validation"}
    code, _, err = run_command(capsys, "export", "--store", folder, "--out", "runs.txt")
    assert code == 2 and ".csv or .json" in err


def test_the_export_of_a_cell_has_its_scores_on_both_kinds_of_queries(tmp_path, capsys):
    chosen = build_sweep(base={"dataset": "blobs", "r": 8, "pairs": 100})
    store = Store(tmp_path / "home")
    assert SweepExecution(chosen, store, InlineExecutor()).run().done == 1
    assert run_command(capsys, "export", "--store", str(store.folder), "--out", str(tmp_path / "all.json"))[0] == 0
    (one,) = json.loads((tmp_path / "all.json").read_text())
    (values,) = store.values([chosen.cells[0].key]).values()
    assert set(one["scores"]) == {"validation", "test"}
    for part, scores in one["scores"].items():
        assert scores["map"] == values[f"scores/{part}"]["map"]


def test_a_filter_that_fits_nothing_names_what_there_is(folder, capsys):
    code, _, err = run_command(capsys, "--store", folder, "--state", "foo")
    assert code == 2 and "--state must be one of done, error, got 'foo'" in err
    code, _, err = run_command(capsys, "--store", folder, "--method", "nosuch")
    assert code == 2 and "--method must be one of" in err and "mmoh" in err
    assert "no such runs" in run_command(capsys, "--store", folder, "--method", "mmoh")[1], "known, and none is kept"
    assert run_command(capsys, "--store", folder, "--dataset", "nosuch")[0] == 2
    assert "no such runs" in run_command(capsys, "--store", folder, "--state", "error")[1]


def test_delete_asks_first(folder, capsys, monkeypatch):
    code, _, err = run_command(capsys, "delete", "--store", folder)
    assert code == 2 and "needs keys" in err
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert "nothing was deleted" in run_command(capsys, "delete", "--store", folder, "--method", "lsh")[1]
    printed = run_command(capsys, "delete", "--store", folder, "--method", "lsh", "--yes")[1]
    assert "deleted 1" in printed and "runs restore " in printed
    key = printed.split()[-1]
    assert key[:12] in run_command(capsys, "restore", "--store", folder)[1]
    assert "restored 1 run" in run_command(capsys, "restore", key, "--store", folder)[1]
    assert "KEY must begin one key of the trash" in run_command(capsys, "restore", key, "--store", folder)[2]
    run_command(capsys, "delete", "--store", folder, "--method", "lsh", "--yes")
    assert [line.method for line in Store(folder).list()] == ["OH"]


def test_a_store_that_cannot_be_written_is_said(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    code, out, err = run_command(capsys, "--store", str(tmp_path / "file" / "home"))
    assert code == 0 and "no such runs" in out and "nothing can be saved" in err
