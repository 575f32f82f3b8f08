"""The Runs page and its store: the empty state, the table, what differs, export, pin, open, delete."""

import csv
import io
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.engine.params import Change, experiment
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot, to_frame
from ohash.plots.runs import overlay, parallel_axes, parallel_option, runs_in_boxes
from ohash.runtime.files import HOME
from ohash.store.listing import RunRow, RunStore, changed_settings, differences, make_row, to_csv, to_json
from ohash.store.store import Store
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.saving import save_sweep
from ohash.sweeps.specification import build_sweep
from ohash.ui.runs.actions import link
from ohash.ui.runs.comparison import difference_text
from ohash.ui.session import live_run, run_store
from ohash.ui.session.run_store import AllRuns, SessionRuns, open_store
from ohash.ui.session.session import EarlierRun, Session
from tests.ui.app import open_page, texts


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept yet."""
    monkeypatch.setenv(HOME, str(tmp_path / "home"))


def made(**values: object) -> Snapshot:
    run = Run(experiment(**{"dataset": "blobs2d", "method": "oh", "pairs": 300, "r": 16, **values}))
    while not run.done:
        run.step(100)
    return run.snapshot("done")


@pytest.fixture(scope="module")
def pictures() -> list[Snapshot]:
    return [made(), made(C=1.0), made(seed=5)]


def page(pictures: list[Snapshot], *selected: int, stored: str = "") -> AppTest:
    session = Session(id="a session of the tests of runs", params=experiment("blobs2d"))
    session.earlier = [EarlierRun(f"{now.params.key()}-{now.t}", "OH", now) for now in pictures]
    session.selection.keys = [stored] if stored else [session.earlier[at].key for at in selected]
    return open_page("runs", {}, session, timeout=30)


def named(pictures: list[Snapshot]) -> list[tuple[RunRow, Snapshot]]:
    return [(make_row(str(at), now), now) for at, now in enumerate(pictures)]


def test_nothing_run_yet_is_a_sentence_and_a_way_out() -> None:
    app = page([])
    assert "No runs yet" in app.markdown[0].value
    assert app.button(key="runs_start").label == "Start a run on Live"


@pytest.mark.slow
def test_the_table_lists_every_run_with_start_and_end(pictures: list[Snapshot]) -> None:
    table = page(pictures).dataframe[0].value
    assert list(table["changed from default"]) == [
        "r = 16, seed = 5, n = 300",
        "r = 16, C = 1, n = 300",
        "r = 16, n = 300",
    ]
    assert list(table["pairs"]) == [300] * 3
    assert table["mAP start"].between(0, 1).all()
    assert (table["bits"] == 16).all()


@pytest.mark.slow
def test_selected_runs_are_drawn_and_compared(pictures: list[Snapshot]) -> None:
    app = page(pictures, 0, 1, 2)
    assert any(element.value.startswith("**Labels: mAP ends at") for element in app.markdown)
    compared = app.dataframe[1].value
    assert list(compared["parameter"]) == ["C · aggressiveness", "seed"]


@pytest.mark.slow
def test_one_run_can_be_pinned_opened_and_deleted(pictures: list[Snapshot]) -> None:
    app = page(pictures[:1], 0)
    session = app.session_state["ohash"]
    app.button(key="run_pin").click().run()
    assert session.pinned == session.earlier[0].key
    assert "pinned" in app.dataframe[0].value["state"][0]
    app.button(key="run_open").click().run()
    assert session.params == pictures[0].params
    app.switch_page("pages/runs.py").run()
    live_run.hub().end(session.id)
    app.run()
    app.button(key="run_delete").click().run()
    assert len(session.earlier) == 1, "it asks first"
    app.button(key="delete_yes").click().run()
    assert session.earlier == []
    assert session.pinned == ""
    app.button(key="delete_undo").click().run()
    assert [run.now.params for run in session.earlier] == [pictures[0].params]


def test_what_was_selected_stays_selected_when_it_is_kept(pictures: list[Snapshot]) -> None:
    app = page(pictures, 1)
    session = app.session_state["ohash"]
    key = session.earlier[1].key
    assert session.selection.first == [1] and session.selection.keys == [key]
    app.button(key="run_keep").click().run()
    assert AllRuns(session, open_store()).list()[0].key == key, "it is another row now"
    assert session.selection.first == [2] and session.selection.keys == [key]


@pytest.mark.slow
def test_a_live_run_that_is_over_is_kept_once_and_stays_selected(pictures: list[Snapshot]) -> None:
    app = page(pictures)
    session = app.session_state["ohash"]
    live_run.commit(session, experiment("blobs2d", "oh", r=8, pairs=20))
    live = live_run.runner(session)
    live.pace("unlimited")
    assert live.finished.wait(60)
    listed = AllRuns(session, open_store()).list()
    session.selection.keys = ["live"]
    app.run()
    assert session.selection.keys == ["live"]
    app.button(key="run_keep").click().run()
    again = AllRuns(session, open_store()).list()
    (name,) = session.selection.keys
    assert len(again) == len(listed) and again[0].key == name and app.button(key="run_keep").disabled
    app.button(key="run_pin").click().run()
    assert session.selection.keys == [name] and session.pinned == name


def test_what_is_opened_again_stands_beside_what_was_kept(pictures: list[Snapshot]) -> None:
    app = page(pictures[:1], 0)
    session = app.session_state["ohash"]
    app.button(key="run_open").click().run()
    (pinned,) = (run for run in session.earlier if run.key == session.pinned)
    assert session.params == pictures[0].params and pinned.now is pictures[0]
    assert pinned.label == f"stored, mAP {pictures[0].checkpoints['map'][-1]:.3f}"


def test_a_run_without_curves_can_be_opened_again(pictures: list[Snapshot]) -> None:
    app = page([Snapshot(**{**vars(pictures[0]), "checkpoints": {}})], 0)
    session = app.session_state["ohash"]
    app.button(key="run_open").click().run()
    assert not app.exception and session.params == pictures[0].params and session.pinned == ""


def test_open_again_without_its_data_is_a_message(pictures: list[Snapshot]) -> None:
    lost = Snapshot(**{**vars(pictures[0]), "params": experiment("own", "oh", content="00ff")})
    app = page([lost], 0)
    app.button(key="run_open").click().run()
    assert not app.exception
    assert "00ff" in app.error[0].value


def test_the_session_is_a_run_store(pictures: list[Snapshot]) -> None:
    session = Session(id="a store", params=experiment("blobs2d"))
    session.earlier = [EarlierRun(str(at), "OH", now) for at, now in enumerate(pictures)]
    store: RunStore = SessionRuns(session)
    assert [line.key for line in store.list()] == ["0", "1", "2"]
    assert store.get("1") is pictures[1]
    store.delete(["1", "not there", "live"])
    assert [line.key for line in store.list()] == ["0", "2"]
    with pytest.raises(KeyError):
        store.get("1")


def test_what_differs() -> None:
    changed = experiment(r=32, changes=(Change(500, "beta", 0.4),))
    assert changed_settings(changed) == "r = 32, β = 0.4 at 500"
    lines = differences([changed, experiment(method="mmoh", T=2)])
    assert lines["T · models"] == ["–", "2"]
    assert lines["live changes"] == ["beta = 0.4 at 500", "–"]
    assert differences([changed, changed]) == {}


def test_export_holds_every_checkpoint_and_every_parameter(pictures: list[Snapshot]) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(named(pictures)))))
    assert len(rows) == sum(len(now.checkpoints["pairs"]) for now in pictures)
    assert {row["run"] for row in rows} == {now.params.key() for now in pictures}
    assert float(rows[0]["map"]) == pictures[0].checkpoints["map"][0]
    described = json.loads(to_json(named(pictures)))
    assert [one["params"]["seed"] for one in described] == [0, 0, 5]


def test_the_link_is_the_experiment(pictures: list[Snapshot]) -> None:
    assert link(pictures[2]).endswith("/?dataset=blobs2d&method=oh&r=16&seed=5&pairs=300")


def test_overlay_names_the_best_and_keeps_runs_apart(pictures: list[Snapshot]) -> None:
    chart = overlay([(f"run {at}", now) for at, now in enumerate(pictures)], "map")
    assert chart.title.startswith("Labels: mAP ends at ")
    assert len({(series.role, series.dash) for series in chart.series}) == 3
    other = Snapshot(**{**vars(pictures[0]), "params": experiment("moons")})
    title = overlay([("a", pictures[0]), ("b", other)], "map").title
    assert title.endswith("of 2 runs on different data or truths, which cannot be ranked")
    many = overlay([(str(k), pictures[0]) for k in range(30)], "recall_10")
    assert len({(series.role, series.dash) for series in many.series}) == len(many.series) == 18
    assert overlay([], "map").empty


def test_overlay_ranks_only_what_is_over_and_as_long(pictures: list[Snapshot]) -> None:
    one, other = pictures[0], replace(pictures[0], state="running")
    assert overlay([("a", one), ("b", one)], "map").title.endswith("for the best of 2: a")
    assert overlay([("a", one), ("b", other)], "map").title.endswith(
        "runs that have not all finished, which cannot be ranked"
    )
    short = replace(one, t=12)
    assert overlay([("a", one), ("b", short)], "map").title.endswith("runs of 12 to 300 pairs, which cannot be ranked")
    assert " is " in overlay([("b", other)], "map").title and " ends at " in overlay([("a", one)], "map").title


@pytest.mark.slow
def test_a_kept_run_outlives_the_tab(pictures: list[Snapshot]) -> None:
    app = page(pictures[:1], 0)
    app.button(key="run_keep").click().run()
    assert list(app.dataframe[0].value["state"]) == ["done, saved"]
    assert app.button(key="run_keep").disabled
    (line,) = Store().list()
    assert line.map == pictures[0].numbers["map"]
    another = page([])
    assert list(another.dataframe[0].value["state"]) == ["done, saved"]
    assert another.session_state["ohash"].selection.keys == [] and another.button(key="run_delete").disabled
    another = page([], stored=line.key)
    another.button(key="run_pin").click().run()
    assert another.session_state["ohash"].pinned == line.key == another.session_state["ohash"].earlier[0].key
    another.button(key="run_delete").click().run()
    another.button(key="delete_yes").click().run()
    assert not another.exception and Store().list() == []
    assert any("No runs yet" in one.value for one in another.markdown)
    another.button(key="delete_undo").click().run()
    assert [one.key for one in Store().list()] == [line.key]


def test_a_folder_that_cannot_be_written_is_a_message(
    pictures: list[Snapshot], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(HOME, str(tmp_path / "file" / "home"))
    app = page(pictures[:1], 0)
    assert app.warning[0].value.startswith("Nothing can be saved")
    app.button(key="run_keep").click().run()
    assert not app.exception and "nothing can be saved" in app.error[0].value
    assert len(app.dataframe[0].value) == 1


def test_both_stores_in_one_list(pictures: list[Snapshot]) -> None:
    session = Session(id="a store of both", params=experiment("blobs2d"))
    session.earlier = [EarlierRun(f"{now.params.key()}-{now.t}", "OH", now) for now in pictures[1:]]
    disk = Store()
    for now in pictures[:2]:
        disk.save_snapshot(now)
    both: RunStore = AllRuns(session, disk)
    assert [line.state for line in both.list()] == ["done, saved", "done, saved", "done"]
    keys = [line.key for line in both.list()]
    assert both.get(keys[0]).params == pictures[0].params and both.get(keys[2]) is pictures[2]
    both.delete(keys[1:])
    assert [line.key for line in both.list()] == keys[:1] and session.earlier == []


def test_runs_that_have_gone_since_they_were_listed_are_left_out(pictures: list[Snapshot]) -> None:
    """The live run is over and pinned, or another tab has deleted a run, while the page is being drawn."""
    session = Session(id="a tab whose runs go", params=experiment("blobs2d"))
    disk = Store()
    disk.save_snapshot(pictures[1])
    both = AllRuns(session, disk)
    live_run.commit(session, experiment("blobs2d", "oh", r=8, pairs=20))
    live = live_run.runner(session)
    live.pace("unlimited")
    assert live.finished.wait(60)
    listed = both.list()
    assert [line.key for line, _ in both.read(listed)[0]] == [listed[0].key, "live"]
    live_run.remember_live_run(session)
    disk.delete([listed[0].key])
    assert both.read(listed) == ([], [])


def test_nothing_is_selected_until_somebody_does(pictures: list[Snapshot]) -> None:
    app = page(pictures)
    assert app.session_state["ohash"].selection.keys == []
    assert app.button(key="run_delete").disabled and app.button(key="run_open").disabled
    assert any(one.value == "Select rows to compare their curves." for one in app.markdown)


def test_after_a_delete_nothing_else_slides_under_the_button(pictures: list[Snapshot]) -> None:
    app = page(pictures, 2)
    session = app.session_state["ohash"]
    app.button(key="run_delete").click().run()
    assert any("Delete 1 run? OH, r = 16, seed = 5, n = 300" in one.value for one in app.markdown)
    app.button(key="delete_no").click().run()
    assert len(session.earlier) == 3
    app.button(key="run_delete").click().run()
    app.button(key="delete_yes").click().run()
    assert len(session.earlier) == 2 and session.selection.keys == [] and app.button(key="run_delete").disabled


def test_the_table_is_filtered_by_any_setting(pictures: list[Snapshot]) -> None:
    app = page(pictures)
    app.text_input(key="runs_words").set_value("c = 1").run()
    assert list(app.dataframe[0].value["changed from default"]) == ["r = 16, C = 1, n = 300"]
    app.text_input(key="runs_words").set_value("C = 0.1").run()
    assert len(app.dataframe[0].value) == 2, "the default of C is a value like any other"
    app.text_input(key="runs_words").set_value("r >= 16, seed > 0").run()
    assert list(app.dataframe[0].value["changed from default"]) == ["r = 16, seed = 5, n = 300"]
    app.text_input(key="runs_words").set_value("nothing like it").run()
    assert not app.exception and any(one.value == "No run passes these filters." for one in app.markdown)
    app.text_input(key="runs_words").set_value("").run()
    app.multiselect(key="runs_method").set_value(["OH"]).run()
    assert len(app.dataframe[0].value) == 3


def test_the_table_is_filtered_by_state_and_date(pictures: list[Snapshot], monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Store()
    for now, days in zip(pictures, (0.5, 2.0, 20.0), strict=True):
        then = time.time() - 86_400 * days
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda then=then: then)
            disk.save_snapshot(now)
    failed = to_frame(replace(pictures[0], params=experiment("blobs2d", r=8), state="error", error="no memory"))
    disk.save("f", *failed)
    app = page([])
    assert app.selectbox(key="runs_days").options == ["any time", "last 24 hours", "last 7 days", "last 31 days"]
    for days, count in (("last 24 hours", 2), ("last 7 days", 3), ("last 31 days", 4), ("any time", 4)):
        app.selectbox(key="runs_days").set_value(days).run()
        assert len(app.dataframe[0].value) == count
    app.multiselect(key="runs_state").set_value(["error, saved"]).run()
    assert list(app.dataframe[0].value["state"]) == ["error, saved"]
    assert any(one.value == "Run 4: no memory." for one in page([], stored="f").caption)


def test_a_run_without_its_plugin_is_one_line_and_can_be_deleted(pictures: list[Snapshot]) -> None:
    disk = Store()
    values, arrays = to_frame(pictures[0])
    params = json.loads(values["params"]) | {"method": "gone"}
    disk.save("a", {**values, "params": json.dumps(params)}, arrays)
    app = page([], stored="a")
    assert [one.value for one in app.caption if "gone" in one.value] == [
        "Run 1: gone is not here: give its file with --plugin."
    ]
    assert app.button(key="run_open").disabled and app.button(key="run_pin").disabled
    app.button(key="run_delete").click().run()
    app.button(key="delete_yes").click().run()
    assert not app.exception and disk.list() == []
    app.button(key="delete_undo").click().run()
    assert [line.key for line in disk.list()] == ["a"]


def test_more_runs_than_the_table_holds_are_counted(pictures: list[Snapshot], monkeypatch: pytest.MonkeyPatch) -> None:
    for now in pictures:
        Store().save_snapshot(now)
    monkeypatch.setattr(run_store, "MAX_LISTED", 2)
    assert any("These are the newest of 3; " in one.value for one in page([]).caption)
    monkeypatch.setattr(run_store, "MAX_LISTED", 3)
    assert not any("newest of" in one.value for one in page([]).caption)


def test_seeds_stand_together_with_mean_and_spread(pictures: list[Snapshot]) -> None:
    app = page(pictures)
    app.session_state["runs_grouping"] = "seeds together"
    app.run()
    table = app.dataframe[0].value
    scores = [pictures[at].numbers["map"] for at in (0, 2)]
    assert list(table["seeds"]) == [2, 1] and list(table["changed from default"]) == [
        "r = 16, n = 300", "r = 16, C = 1, n = 300"
    ]  # fmt: skip
    mean, sd = sum(scores) / 2, abs(scores[0] - scores[1]) / 2**0.5
    assert table["mAP end"][0] == f"{mean:.3f} ± {sd:.3f}"
    assert json.loads(app.dataframe[0].proto.columns)["mAP end"]["type_config"]["type"] == "text", "not a bad number"


def test_two_runs_are_told_apart_with_an_interval(pictures: list[Snapshot]) -> None:
    text = difference_text("a", pictures[0], "b", pictures[1])
    a, b = (now.numbers for now in pictures[:2])
    error = (a["map_error"] ** 2 + b["map_error"] ** 2) ** 0.5
    assert f"mAP {a['map'] - b['map']:+.3f} ± {error:.3f}" in text and text.endswith("on validation queries.")
    other = replace(pictures[0], params=experiment("moons"))
    assert "not compared" in difference_text("a", pictures[0], "b", other)


def test_a_saved_run_takes_tags_and_a_note(pictures: list[Snapshot]) -> None:
    disk = Store()
    key = disk.save_snapshot(pictures[0])
    app = page([], stored=key)
    assert not {"tags", "note"} & set(app.dataframe[0].value), "no run has any"
    tags, note = (next(one for one in app.text_input if one.label == label) for label in ("Tags", "Note"))
    tags.set_value("good")
    note.set_value("for the talk")
    next(one for one in app.button if one.label == "Save remarks").click().run()
    assert Store().remarks() == {key: ("good", "for the talk")}
    app.text_input(key="runs_words").set_value("talk").run()
    table = app.dataframe[0].value
    assert list(table["tags"]) == ["good"] and list(table["note"]) == ["for the talk"], "seen without being asked for"


def test_a_filter_leaves_the_numbers_of_the_runs_as_they_are(pictures: list[Snapshot]) -> None:
    app = page(pictures, 1)
    app.text_input(key="runs_words").set_value("C = 1").run()
    assert list(app.dataframe[0].value["run"]) == [2], "as the curve is called"
    (title, *_) = [one.value for one in app.markdown if "mAP ends at" in one.value]
    assert "2 · OH" in title


def test_boxes_on_parallel_coordinates_filter_the_runs(pictures: list[Snapshot]) -> None:
    lines = [make_row(str(at), now) for at, now in enumerate(pictures)]
    axes = parallel_axes(lines)
    assert [axis.label for axis in axes] == ["C", "recall@10", "mAP"], "the seed is no parameter to tune"
    assert {axes[0].places[line.key] for line in lines} == {0.0, 1.0}
    option = parallel_option(lines, axes)
    assert len(option["series"]) == 3 + 1 and option["xAxis"]["data"][0].startswith("C\n")
    upper = {"coord_range": [[0, 0], [0.8, 1.1]]}
    (only,) = runs_in_boxes(lines, axes, [upper])
    assert dict(only.settings)["C"] == max(dict(line.settings)["C"] for line in lines)
    assert runs_in_boxes(lines, axes, []) == lines
    assert runs_in_boxes(lines, axes, [upper, {"coord_range": [[0, 0], [-0.1, 0.2]]}]) == []
    app = page(pictures)
    app.session_state["runs_parallel_open"] = True
    app.run()
    assert not app.exception and any("drag a box over an axis" in one.value for one in app.caption)


def test_runs_of_a_sweep_stand_together_under_its_name() -> None:
    sweep = build_sweep("two C", base={"dataset": "blobs2d", "r": 8, "m": 16, "pairs": 150}, grid={"C": [0.1, 1.0]})
    SweepExecution(sweep, Store(), InlineExecutor()).run()
    save_sweep(Store(), sweep)
    app = page([])
    assert set(app.multiselect(key="runs_from").options) == {"sweep two C"}
    app.session_state["runs_grouping"] = "sweeps together"
    app.run()
    table = app.dataframe[0].value
    assert not app.exception and list(table["from"]) == ["sweep two C"] and list(table["runs"]) == [2]
    assert "±" in table["mAP"][0] and table["best mAP"][0] > 0


def test_runs_on_clicks_are_listed_and_drawn_by_hit_at_10(pictures: list[Snapshot]) -> None:
    on_clicks = [made(dataset="debian", m=20, judged_at="ends", seed=seed) for seed in (0, 1)]
    app = page(on_clicks, 0, 1)
    table = app.dataframe[0].value
    assert "hit@10 end" in table and not [name for name in table if "mAP" in str(name)]
    assert list(table["hit@10 end"]) == [now.numbers["hit_10"] for now in on_clicks[::-1]]
    written = texts(app)
    assert "hit@10 ends at" in written and "hit@10 +" in written.replace("-", "+") and "mAP" not in written
    app = page([*on_clicks, *pictures[:1]], 0, 2)
    table = app.dataframe[0].value
    assert table["mAP end"].notna().tolist() == table["hit@10 end"].isna().tolist() == [True, False, False]
    for grouping, names in (("seeds together", {"mAP end", "hit@10 end"}), ("sweeps together", {"mAP", "best hit@10"})):
        app.session_state["runs_grouping"] = grouping
        app.run()
        assert not app.exception and names < {*app.dataframe[0].value.columns}
    assert "mAP" not in {axis.label for axis in parallel_axes([row for row, _ in named(on_clicks)])}
    both = overlay([("a", on_clicks[0]), ("b", pictures[0])], "map")
    assert [len(line.y) > 0 for line in both.series] == [False, True]


def test_parameters_that_differ_are_columns(pictures: list[Snapshot]) -> None:
    table = page(pictures).dataframe[0].value
    assert {"C", "seed"} <= set(list(table.columns)[: list(table.columns).index("changed from default")])
    newest_first = [dict(make_row(str(at), now).settings) for at, now in enumerate(pictures)][::-1]
    assert list(table["C"]) == [one["C"] for one in newest_first]
    assert "β" not in table.columns, "all runs have the same"
