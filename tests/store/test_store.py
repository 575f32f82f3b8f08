"""The store gives back what it was given."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from ohash.engine.snapshot import to_frame
from ohash.store import trash
from ohash.store.listing import RunStore, make_row
from ohash.store.store import CELL, Store
from tests.store.other_process import assert_same_picture, numbered


def test_a_run_comes_back_as_it_was(store, picture):
    key = store.save_snapshot(picture)
    assert_same_picture(Store(store.folder).get(key), picture)
    (line,) = store.list()
    assert replace(line, created=0.0, origin="this tab") == make_row(key, picture)
    (values,) = store.values([key, "unknown"]).values()
    assert values["environment"]["numpy"] == np.__version__ and values["environment"]["cpu"] and values["created"] > 0


def test_it_is_a_run_store(store, picture):
    kept: RunStore = store
    keys = [numbered(store, picture, at) for at in range(3)]
    assert sorted(line.key for line in kept.list()) == keys
    kept.delete([keys[1], "not there"])
    assert sorted(line.key for line in kept.list()) == [keys[0], keys[2]]
    assert not store.trace(keys[1]).exists()
    with pytest.raises(KeyError):
        kept.get(keys[1])


def test_lists_can_be_filtered(store, picture):
    store.save_snapshot(picture)
    numbered(store, picture, 1)
    assert len(store.list(kind=CELL)) == len(store.list(kind="live")) == 1
    assert len(store.list(dataset="tiny", method="oh", state="done")) == 2
    assert store.list(method="mmoh") == [] == store.list(dataset="tiny' OR '1'='1")


def test_the_curves_are_a_table_any_tool_reads(store, picture):
    import pandas as pd

    table = pd.read_parquet(store.trace(store.save_snapshot(picture)))
    judged = table[table["kind"] == "checkpoint"]
    assert np.array_equal(judged["map"], picture.checkpoints["map"])
    assert np.array_equal(table.loc[table["kind"] == "pairs", "cum_loss"], picture.columns["cum_loss"])


def test_what_ended_well_is_not_replaced_and_what_failed_is(store, picture):
    values, arrays = to_frame(picture)
    store.save("a", {**values, "state": "error", "error": "no memory"}, {})
    assert store.done() == set() and store.get("a").error == "no memory" and store.list()[0].state == "error"
    store.save("a", values, arrays)
    store.save("a", {**values, "numbers": {}, "t": 7}, {})
    store.save("a", {**values, "state": "error", "error": "later"}, {})
    assert store.done() == {"a"} and len(store.list()) == 1
    assert_same_picture(store.get("a"), picture)


def test_a_run_of_a_method_that_is_gone_is_listed_with_the_reason(store, picture):
    values, arrays = to_frame(picture)
    params = json.loads(values["params"]) | {"method": "gone"}
    store.save("a", {**values, "params": json.dumps(params)}, arrays)
    (line,) = store.list()
    assert (line.method, line.pairs) == (
        "gone",
        400,
    ) and "gone is not here: give its file with --plugin" in line.changed_settings


def test_a_deleted_run_can_be_restored_whole(store, picture):
    keys = [numbered(store, picture, at) for at in range(2)]
    store.delete(keys)
    assert store.list() == [] and store.done() == set() and [row.key for row in store.list_trash()] == keys
    again = Store(store.folder)
    again.restore([keys[0], "not there"])
    assert [row.key for row in again.list()] == [keys[0]] and [row.key for row in again.list_trash()] == [keys[1]]
    assert_same_picture(again.get(keys[0]), picture)


def test_the_trash_forgets_after_a_month(store, picture, monkeypatch):
    key = numbered(store, picture, 0)
    store.delete([key])
    file = store.folder / trash.FOLDER / f"{key}.parquet"
    assert file.exists() and Store(store.folder).list_trash()
    monkeypatch.setattr(time, "time", lambda real=time.time: real() + 31 * trash.DAY)
    assert Store(store.folder).list_trash() and file.exists(), "once may be a mistake of the clock"
    monkeypatch.setattr(time, "time", lambda real=time.time: real() + 1.1 * trash.DAY)
    assert not Store(store.folder).list_trash() and not file.exists()


def test_a_clock_that_is_months_ahead_for_an_hour_does_not_empty_the_trash(store, picture, monkeypatch):
    key = numbered(store, picture, 0)
    store.delete([key])
    for ahead in (100, 0, 99, 40.5, 0):
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda real=time.time, days=ahead: real() + days * trash.DAY)
            again = Store(store.folder)
    again.restore([key])
    assert_same_picture(again.get(key), picture)


def test_a_clock_that_was_months_ahead_does_not_keep_the_trash_for_months(store, picture, monkeypatch):
    store.delete([numbered(store, picture, 0)])
    for ahead in (100, 31, 32.5):
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda real=time.time, days=ahead: real() + days * trash.DAY)
            again = Store(store.folder)
    assert not again.list_trash()


def test_a_kill_between_list_and_file_neither_loses_nor_revives_a_run(store, picture, monkeypatch):
    key = numbered(store, picture, 0)
    monkeypatch.setattr(trash, "move_files", lambda *_: None)
    store.delete([key])
    monkeypatch.undo()
    again = Store(store.folder)
    assert again.list() == [] and not again.trace(key).exists()
    again.restore([key])
    assert_same_picture(again.get(key), picture)


def test_a_run_made_again_leaves_the_trash(store, picture):
    key = numbered(store, picture, 0)
    store.delete([key])
    numbered(store, picture, 0)
    assert [row.key for row in store.list()] == [key] and not store.list_trash()
    assert not (store.folder / trash.FOLDER / f"{key}.parquet").exists()


def test_tags_and_notes_stay_with_their_run(store, picture):
    key = numbered(store, picture, 0)
    store.remark(key, tags=" good,  good, to show ", note="  with a larger C ")
    assert Store(store.folder).remarks() == {key: ("good, to show", "with a larger C")}
    store.delete([key])
    store.restore([key])
    assert key in store.remarks()
