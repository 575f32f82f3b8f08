"""The Sweeps page: a grid from the parameter table, its cost, its results, cancel, go on, open, share."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.cli.new_method import template
from ohash.engine.params import experiment
from ohash.models import registry
from ohash.plots import sweeps as charts
from ohash.plots.renderers.plotly import figure, heat_figure
from ohash.runtime.files import HOME
from ohash.store.store import Store, StoreError
from ohash.sweeps import launch, leases
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.leases import CellLeases, activity
from ohash.sweeps.results import best_points, collect_points
from ohash.sweeps.saving import list_sweeps, with_own_data
from ohash.sweeps.specification import build_sweep
from ohash.sweeps.sweep import Sweep
from ohash.ui.session import own_data as session_data
from ohash.ui.session.session import Session
from ohash.ui.sweeps.sharing import compress, decode, encode, link_to
from tests.engine.runs import own_data
from tests.ui.app import APP, open_page

BASE = {"dataset": "blobs2d", "r": 8, "m": 16, "pairs": 150, "judged_at": "ends"}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store of its own."""
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    return Store()


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would have been started."""
    calls: list[str] = []

    def start(sweep_: Sweep, store: Store) -> None:
        launch.save_sweep(store, sweep_)
        calls.append(sweep_.key)

    monkeypatch.setattr(launch, "start_sweep", start)
    return calls


def one_axis(**more: Any) -> Sweep:
    return build_sweep("beta", **{"base": BASE, "grid": {"beta": [0.25, 0.5]}, "seeds": 2, **more})


def page(**query: str) -> AppTest:
    session = Session(id="a session of the tests of sweeps", params=experiment("blobs2d"))
    return open_page("sweeps", query, session)


def box(app: AppTest) -> Any:
    return next(one for one in app.selectbox if str(one.key).startswith("sweep_data"))


@pytest.mark.slow
def test_data_of_the_session_are_kept_for_the_sweep_and_found_again(launched: list[str], alone: Store) -> None:
    mine, _ = own_data("labels")
    with_them = Session(id="a session of the tests of sweeps", params=experiment("blobs2d"))
    session_data.add(with_them, mine)
    with_them.params = experiment(mine)
    app = AppTest.from_file(APP, default_timeout=60)
    app.session_state["ohash"] = with_them
    app.switch_page("pages/sweeps.py").run()
    assert not app.exception and box(app).value == f"own:{mine.fingerprint()}"
    assert any("A copy of" in one.value for one in app.caption)
    app.number_input(key="sweep_pairs").set_value(200).run()
    app.text_input(key="sweep_values_beta").set_value("0.25, 0.5").run()
    app.button(key="sweep_new").click().run()
    assert not app.exception and len(launched) == 1
    (started,) = list_sweeps(alone).values()
    assert SweepExecution(started, alone, InlineExecutor()).run().failed == 0
    app = page(sweep=started.key)  # another tab, without the data
    app.selectbox[0].run()
    assert any("your data" in option for option in app.selectbox[0].options)
    app.button(key="sweep_delete").click().run()
    assert not list((alone.folder / "data").glob("*")), "deleted with the last sweep that needs them"


def test_a_shared_sweep_on_data_that_are_not_here_says_so(launched: list[str]) -> None:
    mine, _ = own_data("labels")
    app = page(spec=encode(with_own_data(build_sweep("mine", base={"pairs": 150, "r": 8}), mine)))
    app.button(key="sweep_start").click().run()
    assert not launched and mine.fingerprint() in app.error[0].value and "--features" in app.error[0].value


def test_a_new_sweep_shows_its_cost_and_starts(launched: list[str], alone: Store) -> None:
    app = page()
    assert "New sweep" in app.markdown[0].value
    box(app).set_value("blobs2d").run()
    app.number_input(key="sweep_pairs").set_value(200).run()
    app.text_input(key="sweep_values_beta").set_value("0.25, 0.5").run()
    assert any("4 experiments" in one.value and "measured on this machine" in one.value for one in app.markdown)
    app.button(key="sweep_new").click().run()
    assert not app.exception and len(launched) == 1
    (started,) = list_sweeps(alone).values()
    assert started.key == launched[0] and started.axes == {"beta": [0.25, 0.5]} and len(started.cells) == 4
    assert app.query_params["sweep"] == started.key


@pytest.mark.slow
def test_successive_halving_from_the_form_to_its_rounds(launched: list[str], alone: Store) -> None:
    app = page()
    box(app).set_value("blobs2d").run()
    app.number_input(key="sweep_pairs").set_value(180).run()
    app.number_input(key="sweep_seeds").set_value(1).run()
    app.text_input(key="sweep_values_beta").set_value("0.2, 0.3, 0.4, 0.5").run()
    app.toggle(key="sweep_halving").set_value(True).run()
    app.number_input(key="sweep_factor").set_value(2).run()
    assert any("7 experiments" in one.value for one in app.markdown), "four with 45 pairs, two with 90, one with 180"
    app.button(key="sweep_new").click().run()
    assert not app.exception and len(launched) == 1
    (started,) = list_sweeps(alone).values()
    assert started.budgets == (45, 90, 180)
    SweepExecution(started, alone, InlineExecutor()).run()
    app = page(sweep=started.key)
    assert any("4 settings with 45 pairs, then 2 settings with 90 pairs, then" in one.value for one in app.caption)
    assert sorted(app.dataframe[0].value["halving"]) == ["all pairs"] + ["continued"] * 3 + ["stopped early"] * 3
    assert any("Best on the validation queries" in one.value and "180 pairs" in one.value for one in app.markdown)
    assert not [one for one in app.button if one.key == "sweep_start"], "nothing is left to do"


def test_what_is_wrong_with_a_grid_is_said(launched: list[str]) -> None:
    app = page()
    app.text_input(key="sweep_values_beta").set_value("0.5, 7").run()
    assert not app.exception and "beta must be" in app.error[0].value and "7" in app.error[0].value
    app.text_input(key="sweep_values_beta").set_value(" , ").run()
    assert "at least one value" in app.error[0].value
    app.text_input(key="sweep_values_beta").set_value("0.5").run()
    app.multiselect(key="sweep_methods").set_value([]).run()
    assert not app.exception and not launched


def test_a_finished_sweep_is_drawn_judged_and_opened(alone: Store) -> None:
    chosen = one_axis()
    SweepExecution(chosen, alone, InlineExecutor()).run()
    app = page(sweep=chosen.key)
    table = app.dataframe[0].value
    assert list(table["β"]) == ["0.25", "0.5"] and list(table["seeds"]) == ["2 of 2"] * 2
    assert list(table["mAP"]) == pytest.approx([point.mean() for point in collect_points(chosen, alone)])
    assert any("Best on the validation queries" in one.value and "two seeds" in one.value for one in app.markdown)
    assert any(one.value.startswith("**mAP against β") for one in app.markdown)
    assert not [one for one in app.button if one.key == "sweep_start"], "nothing is left to do"
    assert any(one.label == "Code for this sweep" for one in app.get("download_button"))


@pytest.mark.slow
def test_several_bests_are_a_table_and_a_new_sweep_is_one_click_away(alone: Store) -> None:
    several = build_sweep("by data", base={key: value for key, value in BASE.items() if key != "dataset"},
                    grid={"beta": [0.25, 0.5]}, cases=[{"dataset": name} for name in ("blobs2d", "moons")])  # fmt: skip
    SweepExecution(several, alone, InlineExecutor()).run()
    app = page(sweep=several.key)
    assert app.subheader[0].value == "by data" and app.selectbox[0].label == "Sweep"
    (table,) = (one.value for one in app.dataframe if "mAP, test" in one.value)
    assert len(table) == 2 and not any("Best on the validation queries" in one.value for one in app.markdown)
    for row, best in zip(table.itertuples(index=False), best_points(several, alone), strict=True):
        assert row[2:4] == pytest.approx((best.validation, best.test.difference))
    assert set(table["95 % interval"]) == {"one seed"}
    assert any("fewer than three seeds have none" in one.value for one in app.caption)
    app.button(key="sweep_to_new").click().run()
    assert not app.exception and any("New sweep" in one.value for one in app.markdown)
    assert app.selectbox[0].value is None, "nothing is chosen, and the old ones are still offered"
    assert any("by data" in option for option in app.selectbox[0].options)


def test_an_address_of_a_sweep_that_is_not_here_says_so(alone: Store) -> None:
    SweepExecution(one_axis(seeds=1), alone, InlineExecutor()).run()
    app = page(sweep="0123456789abcdef")
    assert "no sweep 0123456789abcdef here" in app.warning[0].value


def test_half_a_sweep_goes_on(alone: Store, launched: list[str]) -> None:
    SweepExecution(one_axis(seeds=1), alone, InlineExecutor()).run()
    wide = one_axis()
    launch.save_sweep(alone, wide)
    app = page(sweep=wide.key)
    assert list(app.dataframe[0].value["seeds"]) == ["1 of 2"] * 2
    app.button(key="sweep_start").click().run()
    assert launched == [wide.key]
    app.button(key="sweep_delete").click().run()
    assert wide.key not in list_sweeps(alone) and len(alone.done()) == 2


def test_a_running_sweep_can_be_cancelled_and_no_second_started(alone: Store, launched: list[str]) -> None:
    chosen, other = one_axis(), one_axis(seeds=3)
    launch.save_sweep(alone, chosen)
    launch.save_sweep(alone, other)
    claims = CellLeases(alone)
    claims.beat(chosen.key, "running", 0.0, {"done": 0, "failed": 0, "total": 4, "here": 0, "seconds": 1.0})
    app = page(sweep=other.key)
    app.button(key="sweep_start").click().run()
    assert not launched and "Another sweep is running" in app.error[0].value
    app = page(sweep=chosen.key)
    app.button(key="sweep_cancel").click().run()
    assert activity(alone)[chosen.key].state == "cancelling"
    assert claims.beat(chosen.key, "running", 0.0, {"done": 0, "failed": 0, "total": 4, "here": 0, "seconds": 1.0})


def test_a_sweep_whose_process_is_about_to_end_is_not_starting(alone: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = one_axis(seeds=1)
    monkeypatch.setattr(launch, "is_running", lambda store, name: True)
    launch.save_sweep(alone, chosen)
    assert page(sweep=chosen.key).get("progress")[0].proto.text.endswith("starting …")
    SweepExecution(chosen, alone, InlineExecutor()).run()
    assert page(sweep=chosen.key).get("progress")[0].proto.text == "**2 of 2 experiments**"


def test_a_sweep_that_cannot_report_is_not_starting(alone: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, claims = one_axis(seeds=1), CellLeases(alone)
    launch.save_sweep(alone, chosen)
    claims.beat(chosen.key, "running", 0.0, {"done": 0, "failed": 0, "total": 2, "here": 0, "seconds": 1.0})
    monkeypatch.setattr(leases, "STALE_SECONDS", -1.0)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        monkeypatch.setitem(launch._started, (str(alone.folder), chosen.key), process)
        for pid, text in ((process.pid + 1, "starting …"), (process.pid, "hold the database?)")):
            owner = f"{socket.gethostname()}:{pid}:0"
            alone.transact(lambda db, owner=owner: db.execute("UPDATE activity SET owner = ?", (owner,)))
            assert page(sweep=chosen.key).get("progress")[0].proto.text.endswith(text)
        process.communicate(b"\n")
    assert page(sweep=chosen.key).get("progress")[0].proto.text.endswith(", interrupted")


@pytest.mark.slow
@pytest.mark.parametrize(("deaths", "message"), [(1, "A worker process died"), (2, "2 worker processes died")])
def test_workers_that_died_are_told_of_and_that_nothing_is_lost(alone: Store, deaths: int, message: str) -> None:
    chosen = one_axis()
    launch.save_sweep(alone, chosen)
    progress = {"done": 1, "failed": 0, "total": 4, "here": 1, "seconds": 1.0}
    claims = CellLeases(alone)
    claims.beat(chosen.key, "running", 0.0, progress)
    assert not any("died" in one.value for one in page(sweep=chosen.key).caption), "nor by older versions"
    claims.beat(chosen.key, "running", 0.0, {**progress, "deaths": deaths})
    (caption,) = [one.value for one in page(sweep=chosen.key).caption if "died" in one.value]
    assert caption.startswith(message) and "repeats the work" in caption and "nothing is lost" in caption


def test_failures_are_listed(alone: Store) -> None:
    bad = one_axis(grid={"m": [16, 9000]}, seeds=1)
    SweepExecution(bad, alone, InlineExecutor()).run()
    app = page(sweep=bad.key)
    assert list(app.dataframe[0].value["failed"]) == [0, 1]
    assert any("m must be at most" in one.value for one in app.code)


def test_a_link_is_the_sweep_and_a_bad_one_a_warning() -> None:
    chosen = one_axis()
    assert decode(encode(chosen)) == chosen and link_to(chosen).count("spec=") == 1
    app = page(spec=encode(chosen))
    assert app.button(key="sweep_start").label == "Start"
    for bad in ("%%%", "AAAA", encode(chosen)[:40]):
        with pytest.raises(ValueError, match="no sweep"):
            decode(bad)
    for values, words in (
        ({"grid": [1, 2]}, "grid must be a table"),
        ({"cases": 3}, "cases must be a list"),
        ({"base": {"seed": 3}}, "seed must not be in base"),
        ({"grid": {"beta": [k / 1000 for k in range(1, 101)], "C": [k / 1000 for k in range(1, 101)]}}, "2,000 cells"),
    ):
        with pytest.raises(ValueError, match=words):
            decode(compress(json.dumps(values)))
    app = page(spec=encode(one_axis(base={**BASE, "dataset": "fashon"})))
    assert "dataset must be one of" in app.warning[0].value and "'fashon'" in app.warning[0].value


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(HOME, str(tmp_path / "file" / "home"))
    app = page()
    assert "Nothing can be saved" in app.warning[0].value and app.button(key="sweep_new").disabled


@pytest.mark.parametrize("taken", [launch.SWEEPS, f"{launch.SWEEPS}/{{}}.log"])
def test_a_log_that_cannot_be_written_is_said(alone: Store, taken: str) -> None:
    chosen = one_axis()
    for name, start in (
        (chosen.key, lambda: launch.start_sweep(chosen, alone)),
        ("paper-quick", lambda: launch.start_paper("quick", [], alone)),
    ):
        way = alone.folder / taken.format(name)
        if taken == launch.SWEEPS:
            way.unlink(missing_ok=True)
            way.write_text("no folder")
        else:
            way.mkdir(parents=True)
        with pytest.raises(StoreError, match="could not be written"):
            start()


@pytest.mark.slow
def test_two_numbers_make_a_heat_map_and_methods_lines(alone: Store) -> None:
    two = one_axis(grid={"beta": [0.25, 0.5], "C": [0.1, 1.0]}, seeds=1)
    SweepExecution(two, alone, InlineExecutor()).run()
    points = collect_points(two, alone)
    drawn = charts.heat(two, points, "map", "beta", "C")
    assert drawn.z.shape == (2, 2) and drawn.z[1, 0] == points[1].mean() and not drawn.empty
    assert len(heat_figure(drawn).data[1].customdata) == 4
    assert drawn.table().shape == (2, 3)
    several = build_sweep("methods", base=BASE, grid={"r": [8, 16]}, cases=[{"method": "oh"}, {"method": "lsh"}])
    SweepExecution(several, alone, InlineExecutor()).run()
    chart = charts.lines(several, collect_points(several, alone), "map", "r")
    assert [series.label for series in chart.series if series.label] == ["OH", "LSH"], "named beside their ends"
    assert len(figure(chart).data) == 6, "two lines, their points, and the best of each supervision"
    app = page(sweep=two.key)
    assert app.selectbox(key=f"sweep_view_{two.key}").value == ("heat", "")


@pytest.mark.slow
def test_a_method_of_ones_own_can_be_chosen_and_its_parameters_varied(tmp_path: Path, no_plugins: None) -> None:
    (tmp_path / "mine.py").write_text(template("mine"))
    registry.add_plugin(tmp_path / "mine.py")
    app = page()
    app.multiselect(key="sweep_methods").set_value(["mine"]).run()
    app.multiselect(key="sweep_varied").set_value(["eta"]).run()
    assert not app.exception and app.text_input(key="sweep_values_eta").label == "Values of η"


@pytest.mark.slow
def test_a_sweep_is_named_after_what_it_varies_unless_somebody_names_it(launched: list[str], alone: Store) -> None:
    def names(app: AppTest) -> list[str]:
        app.button(key="sweep_new").click().run()
        return [one.name for one in list_sweeps(alone).values()]

    app = page(sweep="new")
    assert app.text_input(key="sweep_name").placeholder == "beta"
    app.multiselect(key="sweep_methods").set_value(["oh", "lsh"]).run()
    assert app.text_input(key="sweep_name").placeholder == "OH, LSH", "LSH has no beta"
    app.number_input(key="sweep_pairs").set_value(100).run()
    assert names(app) == ["OH, LSH"]
    other = page(sweep="new")
    other.number_input(key="sweep_pairs").set_value(100).run()
    other.text_input(key="sweep_name").set_value("for the talk").run()
    assert sorted(names(other)) == ["OH, LSH", "for the talk"]


@pytest.mark.slow
def test_settings_can_be_drawn_at_random_and_a_sweep_leaves_as_figure_table_and_sources(
    launched: list[str], alone: Store
) -> None:
    app = page()
    box(app).set_value("blobs2d").run()
    app.segmented_control(key="sweep_search").set_value("random").run()
    app.number_input(key="sweep_pairs").set_value(200).run()
    app.text_input(key="sweep_range_beta").set_value("0.2").run()
    assert "random.beta must be the two ends of a range" in app.error[0].value
    app.text_input(key="sweep_range_beta").set_value("0.2, 0.8").run()
    app.number_input(key="sweep_draws").set_value(3).run()
    app.number_input(key="sweep_seeds").set_value(1).run()
    app.button(key="sweep_new").click().run()
    (started,) = list_sweeps(alone).values()
    assert not app.exception and len(launched) == 1 and started.random == (("draws", 3), ("beta", (0.2, 0.8)))
    SweepExecution(started, alone, InlineExecutor()).run()
    app = page(sweep=started.key)
    assert {"LaTeX", "BibTeX", "Figure (SVG, one column)"} <= {one.label for one in app.get("download_button")}
    assert any("The star is the best" in one.value for one in app.caption)
    assert app.selectbox(key=f"sweep_view_{started.key}").value == ("lines", "beta")


def test_a_sweep_on_labels_and_clicks_shows_the_score_of_each(alone: Store) -> None:
    base = {"dataset": "debian", "pairs": 100, "m": 20, "judged_at": "ends"}
    on_clicks = build_sweep("clicks", base=base, grid={"r": [8, 32]}, seeds=1)
    mixed = build_sweep("mixed", base=base, grid={"similar_by": ["clicks", "metric"], "r": [8, 32]}, seeds=1)
    for chosen in (on_clicks, mixed):
        launch.save_sweep(alone, chosen)
        SweepExecution(chosen, alone, InlineExecutor()).run()
    app = page(sweep=on_clicks.key)
    measure = next(one for one in app.selectbox if one.label == "Measure")
    assert measure.value == "hit_10" and "mAP" not in measure.options
    (table,) = app.dataframe
    assert {"hit@10", "± SD"} < {*table.value.columns} and "mAP" not in table.value.columns
    points, bests = page(sweep=mixed.key).dataframe
    assert points.value["mAP"].notna().tolist() == points.value["hit@10"].isna().tolist() == [False, False, True, True]
    assert bests.value["hit@10, test"].notna().tolist() == bests.value["mAP, test"].isna().tolist() == [True, False]
