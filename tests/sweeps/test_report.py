"""A sweep for a paper: table, sources, figure, importance; and settings drawn at random, which resume like a grid."""

import re

import numpy as np
import pytest

from ohash.cli.main import main
from ohash.engine.params import unchecked_experiment
from ohash.plots import sweeps as charts
from ohash.plots.live.charts import ghost_of, quality
from ohash.plots.renderers.pdf import executable
from ohash.plots.renderers.plotly import heat_figure, pickable
from ohash.plots.renderers.svg import heat_to_svg, to_svg
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.report import best_of, importance, to_bibtex, to_latex
from ohash.sweeps.results import Point, collect_points
from ohash.sweeps.specification import build_sweep, from_values
from tests.sweeps.sweeps import BASE, tiny_sweep

GRID = {"beta": [0.25, 0.5], "C": [0.1, 1.0]}


def made_up(sweep, score):
    """Points of a sweep with made-up scores, one seed after another a hundredth apart."""
    points = []
    for at, cells in sweep.by_point():
        values = [{"map": score(**dict(at)) + 0.01 * seed, "recall_10": 0.3} for seed in range(len(cells))]
        points.append(Point(at, tuple(cells), tuple(values)))
    return points


def test_the_table_has_mean_and_spread_and_the_best_in_bold():
    sweep = tiny_sweep(grid=GRID)
    points = made_up(sweep, lambda beta, C: 0.4 + 0.2 * beta + 0.01 * C)
    text = to_latex(sweep, points)
    assert r"$\beta$ & C & seeds & mAP & recall@10 \\" in text and text.count(r" \\") == 5
    assert r"0.5 & 1 & 2 & \textbf{0.515 $\pm$ 0.007} & 0.300 $\pm$ 0.000 \\" in text and text.count("textbf") == 1
    assert "standard deviation over seeds, validation queries." in text and "have ended" not in text
    assert "huang2017online" in to_bibtex(sweep) and to_bibtex(sweep).count("@article") == 1
    half = [Point(one.at, one.cells, one.numbers[:1]) for one in points]
    assert "4 of 8 experiments have ended." in to_latex(sweep, half) and "0.500 $" not in to_latex(sweep, half)


def test_the_best_is_marked_and_the_pointer_shows_spread_and_seeds():
    sweep = tiny_sweep(grid=GRID)
    points = made_up(sweep, lambda beta, C: 0.4 + 0.2 * beta + 0.01 * C)
    assert charts.views(sweep)[0] == ("heat", "")
    heat = charts.draw(sweep, points, "map", ("heat", ""))
    assert heat.best == ((1, 1),) and "framed" in heat.caption and heat.notes[3] == "0.515 ± 0.00707 (2 seeds)"
    assert len(heat_figure(heat).layout.shapes) == 1 and heat_figure(heat).data[1].text[3] == heat.notes[3]
    assert heat_to_svg(heat).count('stroke-width="1.2"') == 1 and 'width="88mm"' in heat_to_svg(heat)
    lines = charts.draw(sweep, points, "map", ("lines", "beta"))
    (best,) = [one for one in lines.series if one.marker == "star" and one.role == "best"]
    assert best.x.tolist() == [0.5] and best.notes == ("0.515 ± 0.00707 (2 seeds)",) and "star is" in lines.caption
    assert any(trace.hovertemplate == "%{text}" for trace in pickable(lines).data) and to_svg(lines).startswith("<svg")
    (cheapest,) = best_of(points, "cum_R") or [None]
    assert cheapest is None, "nobody measured it"


def test_a_star_is_the_best_of_what_it_can_be_compared_with():
    sweep = tiny_sweep(grid={"method": ["oh", "itq"], "r": [8, 16]})
    scores = {("oh", 8): 0.4, ("oh", 16): 0.5, ("itq", 8): 0.6, ("itq", 16): 0.7}
    numbers = [(point, cells, scores[dict(point)["method"], dict(point)["r"]]) for point, cells in sweep.by_point()]
    points = [Point(at, tuple(cells), tuple({"map": score} for _ in cells)) for at, cells, score in numbers]
    view = ("lines", "r")
    assert "The stars are the best of each supervision and data set." in charts.draw(sweep, points, "map", view).caption
    running = [*points[:3], Point(points[3].at, points[3].cells, ())]
    assert dict(points[3].at) == {"method": "itq", "r": 16}
    caption = charts.draw(sweep, running, "map", view).caption
    assert "The star is the best of its supervision and data set." in caption, "ITQ has no rival, and is above it"
    fewer = [points[0], *(Point(one.at, one.cells, one.numbers[:1]) for one in points[1:2])]
    caption = charts.draw(sweep, [*fewer, *points[2:]], "map", view).caption
    assert caption.startswith("Mean over up to 2 seeds") and "of the points with the most seeds so far." in caption


def test_importance_is_the_share_of_the_variance_that_a_parameter_explains_alone():
    sweep = tiny_sweep(grid=GRID)
    assert importance(sweep, made_up(sweep, lambda beta, C: beta)) == pytest.approx({"beta": 1.0, "C": 0.0})
    both = importance(sweep, made_up(sweep, lambda beta, C: beta * 4 + C / 0.9))
    assert both == pytest.approx({"beta": 0.5, "C": 0.5})
    only_together = importance(sweep, made_up(sweep, lambda beta, C: float((beta > 0.3) == (C > 0.5))))
    assert only_together == pytest.approx({"beta": 0.0, "C": 0.0})
    text = charts.importance_text(sweep, made_up(sweep, lambda beta, C: beta), "map")
    assert "β 100 %, C 0 %; 0 % is due to their combinations" in text
    assert importance(tiny_sweep(), made_up(tiny_sweep(), lambda beta: beta)) == {}, "one parameter explains all"


def test_settings_drawn_at_random_follow_from_the_spec_and_grow():
    ranges = {"beta": [0.2, 0.8], "C": [1e-4, 1], "select": ["smallest", "largest"]}
    few, more = (build_sweep(base=BASE, random={"draws": n, **ranges}, seeds=2) for n in (5, 8))
    assert len(few.cells) == 10 and [cell.key for cell in few.cells] == [cell.key for cell in more.cells][:10]
    assert from_values({"name": few.name, "seeds": 2, "base": BASE, "random": {"draws": 5, **ranges}}) == few
    assert "random" not in tiny_sweep().to_json(), "the keys of earlier sweeps stay"
    C = np.array([cell.params.model.C for cell in build_sweep(base=BASE, random={"draws": 200, "C": [1e-4, 1]}).cells])
    assert (C >= 1e-4).all() and (C <= 1).all() and 0.3 < (C < 1e-2).mean() < 0.7, "by the scale of its slider"
    many = build_sweep(base=BASE, random={"draws": 60, "beta": [0.2, 0.8], "C": [0.01, 1]})
    shares = importance(many, made_up(many, lambda beta, C: beta))
    assert shares["beta"] > 0.8 and shares["C"] < 0.2, "as many values as points explain nothing by themselves"
    assert [view[0] for view in charts.views(many)] == ["lines", "lines"]
    (chart,) = [charts.draw(many, made_up(many, lambda beta, C: beta), "map", ("lines", "beta"))]
    assert all(one.kind == "points" for one in chart.series) and "drawn at random, too" in chart.caption


@pytest.mark.parametrize(
    ("random", "words"),
    [
        ({"beta": [0.1, 0.9]}, "random.draws must be the number of settings"),
        ({"draws": 3}, "must name the parameters"),
        ({"draws": 3, "beta": [0.9, 0.1]}, "random.beta must be the two ends of a range"),
        ({"draws": 3, "beta": [0.1, 7]}, "beta must be a number in"),
        ({"draws": 3, "betta": [0.1, 0.9]}, r"random has no parameter 'betta' \(did you mean 'beta'\?\)"),
        ({"draws": 3, "seed": [0, 9]}, "seed must not be in random; use seeds"),
    ],
)
def test_what_is_wrong_with_a_random_search_is_said(random, words):
    with pytest.raises(ValueError, match=words):
        build_sweep(base=BASE, random=random)


def test_a_random_search_resumes_where_it_was_and_is_exported(store, tmp_path, capsys):
    spec = tmp_path / "drawn.toml"
    base = "".join(f"{key} = {value!r}\n" for key, value in (BASE | {"dataset": "blobs2d"}).items())
    for draws, run_now in ((3, 3), (5, 2)):
        spec.write_text(f"[base]\n{base}[random]\ndraws = {draws}\nbeta = [0.2, 0.8]\nC = [0.01, 1]\n")
        before = len(store.done())
        files = [word for name in ("a.csv", "a.tex", "a.bib", "a.svg") for word in ("--export", str(tmp_path / name))]
        assert main(["sweep", str(spec), "--inline", "--store", str(store.folder), "--quiet", *files]) == 0
        assert len(store.done()) - before == run_now, "draws that are done are never run again"
    assert "Share of the variance of mAP over the points" in capsys.readouterr().out
    assert (tmp_path / "a.csv").read_text().count("\n") == 6 and "<svg" in (tmp_path / "a.svg").read_text()
    assert r"$\beta$ & C & seeds" in (tmp_path / "a.tex").read_text() and "@article" in (tmp_path / "a.bib").read_text()
    assert main(["sweep", str(spec), "--export", "a.docx"]) == 2 and "must end in .csv" in capsys.readouterr().err


@pytest.mark.slow
def test_a_figure_is_a_pdf_of_its_own_size(store, tmp_path):
    if executable() is None:
        pytest.skip("chromium makes the PDF, and is not on the PATH")
    spec, pdf = tmp_path / "two.toml", tmp_path / "two.pdf"
    base = "".join(f"{key} = {value!r}\n" for key, value in (BASE | {"dataset": "blobs2d"}).items())
    spec.write_text(f"[base]\n{base}[grid]\nbeta = [0.25, 0.5]\n")
    arguments = ["sweep", str(spec), "--inline", "--store", str(store.folder), "--quiet", "--export", str(pdf)]
    assert main(arguments) == 0 and pdf.read_bytes().startswith(b"%PDF")
    page = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf.read_bytes())
    assert [float(side) * 25.4 / 72 for side in page.groups()] == pytest.approx([88, 66], abs=0.5)


def test_a_cell_judged_at_its_ends_is_a_point_on_live(store):
    sweep = tiny_sweep(seeds=1)
    SweepExecution(sweep, store, InlineExecutor()).run()
    (first, *_) = collect_points(sweep, store)
    now = store.get(first.cells[0].key)
    assert now.params.run.judged_at == "ends" and len(now.checkpoints["map"]) == 2
    (pinned,) = [one for one in quality(now, pinned=ghost_of(now, "stored")).series if one.name == "stored"]
    assert pinned.kind == "points" and pinned.x.tolist() == [now.t] and pinned.y[0] == pytest.approx(first.mean())
    assert unchecked_experiment(**BASE).run.judged_at == "ends"


def test_nothing_is_best_by_a_measure_that_is_neither_good_nor_bad():
    sweep = tiny_sweep(grid=GRID)
    points = [
        Point(one.at, one.cells, tuple(numbers | {"update_rate": numbers["map"]} for numbers in one.numbers))
        for one in made_up(sweep, lambda beta, C: beta + C)
    ]
    assert best_of(points, "map") and best_of(points, "update_rate") == []
    lines = charts.draw(sweep, points, "update_rate", ("lines", "beta"))
    assert "star" not in lines.caption and not any(one.role == "best" for one in lines.series)


def test_what_always_changes_together_is_counted_once_and_overlaps_are_said():
    cases = [{"method": "oh"}, {"method": "mmoh", "T": 2}]
    sweep = build_sweep(base=BASE, grid={"beta": [0.25, 0.5]}, cases=cases)
    points = made_up(sweep, lambda method, beta, T=None: beta + (method == "oh"))
    assert list(importance(sweep, points)) == ["method", "beta"], "T is that of the method"
    nested = build_sweep(base=BASE, cases=[*cases, {"method": "mmoh", "T": 3}, {"method": "mmoh", "T": 4}])
    points = made_up(nested, lambda method, T=None: float(method == "oh"))
    assert charts.importance_text(nested, points, "map").endswith(
        "they overlap, because the parameters do not vary independently."
    )


@pytest.mark.slow
def test_methods_alone_are_dots_with_spread_and_total_bits_are_told(store, tmp_path, capsys):
    spec = tmp_path / "methods.toml"
    base = "".join(f"{key} = {value!r}\n" for key, value in (BASE | {"dataset": "blobs2d", "r": 8}).items())
    spec.write_text(f"seeds = 2\n[base]\n{base}[grid]\nmethod = ['oh', 'mmoh', 'itq']\n")
    files = [word for name in ("a.tex", "a.svg") for word in ("--export", str(tmp_path / name))]
    assert main(["sweep", str(spec), "--inline", "--store", str(store.folder), "--quiet", *files]) == 0
    out, tex, svg = capsys.readouterr().out, (tmp_path / "a.tex").read_text(), (tmp_path / "a.svg").read_text()
    bits = 8 * unchecked_experiment("blobs2d", "mmoh").model.T
    assert [line.split()[:2] for line in out.splitlines()[:4]] == [
        ["method", "bits"], ["oh", "8"], ["mmoh", str(bits)], ["itq", "8"],
    ]  # fmt: skip
    assert ", 8 bits (mAP" in out or f", {bits} bits (mAP" in out
    assert "method & bits & seeds & mAP" in tex and f"MMOH & {bits} & 2" in tex and "r = 8, m = 16" in tex
    assert "Bold: the best" not in tex, "ITQ alone has no rival"
    assert f"MMOH, {bits} bits" in svg and "mAP of 3 methods" in svg


def test_dots_stand_in_the_order_of_the_score():
    sweep = from_values({"base": BASE | {"dataset": "blobs2d"}, "grid": {"method": ["oh", "mmoh", "lsh", "itq"]}})
    points = made_up(sweep, lambda method: {"oh": 0.5, "mmoh": 0.4, "lsh": 0.2, "itq": 0.3}[method])
    assert charts.views(sweep) == [("dots", "")]
    chart = charts.draw(sweep, points, "map", ("dots", ""))
    assert chart.y.names == ("LSH", "ITQ", "MMOH", "OH") and "of each supervision" in chart.caption
    assert pickable(chart).layout.yaxis.ticktext == chart.y.names
    assert "Bold: the best of each supervision, which are ranked separately." in to_latex(sweep, points)


def test_failed_experiments_are_named():
    sweep = build_sweep(base=BASE, grid={"method": ["oh", "lsh"]}, seeds=2)
    first, second = made_up(sweep, lambda method: 0.5)
    text = to_latex(sweep, [first, Point(second.at, second.cells, (), failed=2)])
    assert "2 of 4 experiments failed (LSH)." in text and "have ended" not in text and "LSH & 0 & failed & --" in text


def test_a_sweep_on_clicks_is_drawn_by_hit_at_10_and_has_no_map():
    sweep = build_sweep(base={"dataset": "debian"}, grid={"beta": [0.25, 0.5], "C": [0.1, 0.9]}, seeds=1)
    numbers = [{"map": 0.9 - dict(at)["beta"], "hit_10": dict(at)["C"]} for at, _ in sweep.by_point()]
    cells = sweep.by_point()
    points = [Point(at, tuple(some), (one,), truth="hit_10") for (at, some), one in zip(cells, numbers, strict=True)]
    assert charts.measures_of(points)[:3] == ["hit_10", "mrr", "ndcg_10"] and "map" not in charts.measures_of(points)
    assert charts.draw(sweep, points, "hit_10", ("lines", "C")).title == "hit@10 against C"
    assert charts.importance_text(sweep, points, "hit_10").startswith(
        "Share of the variance of hit@10 over the points that each parameter explains alone: C 100 %"
    )
    of_labels = [Point(one.at, one.cells, one.numbers) for one in points]
    assert charts.measures_of(of_labels) == list(charts.MEASURES)
    assert charts.measures_of([points[0], *of_labels[1:]])[:2] == ["map", "hit_10"]


def test_one_cell_is_no_cells(store):
    one = tiny_sweep(grid={"beta": [0.5]}, seeds=1)
    assert charts.ended_text(one, collect_points(one, store)) == " (0 of 1 cell)"
    two = tiny_sweep(grid={"beta": [0.5]})
    assert " 1 of 2 experiments has ended." in to_latex(two, [Point((("beta", 0.5),), two.cells, ({"map": 0.5},))])
