"""The best of a sweep: chosen on validation queries, reported once on test queries."""

import csv
from dataclasses import replace

import numpy as np

from ohash.cli.sweep import table
from ohash.evaluation.significance import Difference, difference_over_seeds, paired_bootstrap
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.report import to_latex
from ohash.sweeps.results import BestPoint, Point, SweepResults, best_points, collect_points
from ohash.sweeps.saving import save_own_data, with_own_data
from ohash.sweeps.specification import build_sweep
from ohash.sweeps.sweep import code_for
from tests.engine.runs import own_data
from tests.sweeps.sweeps import BASE, tiny_sweep


def test_the_best_is_chosen_on_validation_and_reported_on_test(store):
    chosen = tiny_sweep()
    SweepExecution(chosen, store, InlineExecutor()).run()
    (best,) = best_points(chosen, store)
    assert best.validation == max(point.mean() for point in collect_points(chosen, store))
    each = [store.frame(cell.key)[1]["ap/test"] for cell in best.point.cells]
    ap = np.concatenate(each)
    assert best.test == difference_over_seeds(each, [0 * one for one in each])
    assert best.test.low <= paired_bootstrap(ap, 0 * ap).low < best.test.difference < best.test.high
    assert best_points(tiny_sweep(seeds=[77]), store) == []


def test_the_best_on_clicks_is_chosen_and_reported_by_hit_at_10(store):
    chosen = build_sweep(base={"dataset": "debian", "pairs": 100, "m": 20}, grid={"r": [8, 32]}, seeds=1)
    SweepExecution(chosen, store, InlineExecutor()).run()
    results = SweepResults(chosen, store)
    (best,) = results.best()
    hits = [store.values([cell.key])[cell.key]["scores/validation"]["hit_10"] for cell in chosen.cells]
    assert best.validation == max(hits)
    (cell,) = best.point.cells
    values, arrays = store.frame(cell.key)
    assert best.test.difference == np.nanmean(arrays["hits/test"]) == values["scores/test"]["hit_10"]
    rows = list(csv.DictReader(results.to_csv().splitlines()))
    assert [float(row["hit_10_validation"]) for row in rows] == hits and "map_test" not in rows[0]
    for text in (best.test_text, table(chosen, results.points), to_latex(chosen, results.points)):
        assert "hit@10" in text and "mAP" not in text
    assert results.points[0].score_title == "hit@10" and "mAP" not in code_for(chosen)


def test_the_test_queries_are_asked_once_when_every_cell_has_ended(store):
    chosen = tiny_sweep()
    SweepExecution(tiny_sweep(seeds=1), store, InlineExecutor()).run()
    (best,) = best_points(chosen, store)
    left = len(chosen.cells) // 2
    assert best.test is None and best.waiting == left and f"when the {left} remaining cells have" in best.test_text
    SweepExecution(chosen, store, InlineExecutor()).run()
    (best,) = best_points(chosen, store)
    assert best.test is not None and "two seeds" in best.test_text


def test_damaged_runs_of_the_best_are_named_and_not_counted(store):
    chosen = tiny_sweep()
    SweepExecution(chosen, store, InlineExecutor()).run()
    (whole,) = best_points(chosen, store)
    first, second = (cell.key for cell in whole.point.cells)
    store.trace(first).write_bytes(store.trace(first).read_bytes()[:300])
    (best,) = best_points(chosen, store)
    ap = store.frame(second)[1]["ap/test"]
    assert best.test == difference_over_seeds([ap], [0 * ap]) and (best.seeds, best.queries) == (1, whole.queries)
    assert f"the curves of {first} are lost: `python3 -m ohash runs delete {first}`" in best.test_text
    store.trace(second).unlink()
    (best,) = best_points(chosen, store)
    assert best.test is None and best.test_text.startswith("its result on the test queries is lost")
    store.delete([first, second])
    SweepExecution(chosen, store, InlineExecutor()).run()
    (again,) = best_points(chosen, store)
    assert again.test_text == whole.test_text and not again.lost_runs


def test_there_is_a_best_of_each_truth_and_supervision(store):
    """A mAP by label and one by distance, or of methods of different supervision, are not the same thing."""
    grid = {"method": ["oh", "lsh"], "similar_by": ["label", "metric"]}
    chosen = tiny_sweep(grid=grid)
    SweepExecution(chosen, store, InlineExecutor()).run()
    best = best_points(chosen, store)
    supervision = {"oh": "learning from pairs", "lsh": "unsupervised"}
    assert {one.group for one in best} == {
        f"{BASE['dataset']} by {truth}, {kind}" for truth in ("label", "metric") for kind in supervision.values()
    }
    assert all(one.seeds == 2 and one.queries_text.endswith("test queries of each of 2 seeds") for one in best)


def test_a_sweep_shows_itself_in_a_notebook(store):
    chosen = tiny_sweep(seeds=1)
    results = SweepResults(chosen, store)
    assert f"0 of {len(chosen.cells)} cells done" in results._repr_html_() and "<polyline" not in results._repr_html_()
    SweepExecution(chosen, store, InlineExecutor()).run()
    html = results._repr_html_()
    (best,) = results.best()
    assert f"{len(chosen.cells)} of {len(chosen.cells)} cells done" in html and "<polyline" in html
    assert f"validation mAP {best.validation:.3f}; on " in html


def test_no_interval_of_a_score_leaves_0_to_1(tiny, store):
    (point, *_) = collect_points(tiny_sweep(), store)
    best = BestPoint(point, 0.85, Difference(0.852, 0.695, 1.008), seeds=3)
    assert best.interval_text == "95 % interval 0.695 to 1.000"


def test_more_seeds_on_declared_test_queries_are_no_more_queries(store):
    """A bootstrap that takes them for different queries is too narrow by the root of the number of seeds."""
    mine = replace(own_data("labels")[0], fixed_test=np.arange(240, 300), queries=(60, 60))
    grid = {"base": {"r": 8, "pairs": 150, "kernel": "none", "judged_at": "ends"}, "seeds": 3}
    chosen = with_own_data(build_sweep("mine", **grid), mine)
    save_own_data(store, mine)
    SweepExecution(chosen, store, InlineExecutor()).run()
    (best,) = best_points(chosen, store)
    frames = [store.frame(cell.key)[1] for cell in best.point.cells]
    assert all(frame["queries/test"].tolist() == list(range(240, 300)) for frame in frames)
    aps = [frame["ap/test"] for frame in frames]
    assert best.test == difference_over_seeds(aps, [0 * ap for ap in aps], same_queries=True)
    narrow = difference_over_seeds(aps, [0 * ap for ap in aps])
    assert best.test.high - best.test.low > narrow.high - narrow.low
    assert "on the same 60 test queries for all 3 seeds mAP" in best.test_text


def test_labels_and_clicks_each_have_a_column_of_their_own(store):
    base = {"dataset": "debian", "pairs": 100, "m": 20, "judged_at": "ends"}
    chosen = build_sweep(base=base, grid={"similar_by": ["clicks", "metric"], "r": [8, 32]}, seeds=1)
    SweepExecution(chosen, store, InlineExecutor()).run()
    points = collect_points(chosen, store)
    header, *rows = (line.split() for line in table(chosen, points).splitlines())
    assert header[-5:-3] == ["mAP", "hit@10"]
    assert [(row[0], row[-4] == "–", row[-3] == "–") for row in rows] == [
        ("clicks", True, False), ("clicks", True, False), ("metric", False, True), ("metric", False, True)
    ]  # fmt: skip
    latex = to_latex(chosen, points)
    assert r"mAP & hit@10 & recall@10" in latex and latex.count(r"\textbf") == 2
    html = SweepResults(chosen, store)._repr_html_()
    assert "mean mAP and hit@10 of each point" in html


def test_cells_on_clicks_of_an_older_version_are_not_called_lost(store):
    base = {"dataset": "debian", "pairs": 100, "m": 20, "r": 8, "judged_at": "ends"}
    chosen = build_sweep(base=base, grid={"C": [0.1]}, seeds=2)
    SweepExecution(chosen, store, InlineExecutor()).run()
    keys = [cell.key for cell in chosen.cells]
    without = []
    for key in keys:
        values, arrays = store.frame(key)
        without.append((key, values, {name: array for name, array in arrays.items() if name != "hits/test"}))
    for stored, count, were in ((without[:1], 1, "was"), (without, 2, "were")):
        store.delete([key for key, *_ in stored])
        for key, values, arrays in stored:
            store.save(key, values, arrays)
        (best,) = best_points(chosen, store)
        older = " ".join(keys[:count])
        assert best.test_text.endswith(
            f"; {older} {were} stored by an older version, without hit@10 of the test queries: "
            f"`python3 -m ohash runs delete {older}`, then run the sweep again"
        )
        assert "lost" not in best.test_text and bool(best.test) == (count == 1)


def test_one_test_query_is_no_queries():
    one = BestPoint(Point((), (), ()), 0.5, Difference(0.5, 0.4, 0.6), queries=1, seeds=1)
    assert one.queries_text == "1 test query"
    several = BestPoint(Point((), (), ()), 0.5, Difference(0.5, 0.4, 0.6), queries=1, seeds=2, same_queries=True)
    assert several.queries_text == "the same 1 test query for all 2 seeds"
