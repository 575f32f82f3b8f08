"""Tables, charts and the report of the paper, and the command that writes them."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest

from ohash.cli.main import main
from ohash.engine.judge import Judge
from ohash.engine.run import Run
from ohash.paper import figures
from ohash.paper import settings as data
from ohash.paper.claims import CLAIMS
from ohash.paper.figures import FIGURES
from ohash.paper.findings import judge_claim
from ohash.paper.measurements import Measurements, SeedResult
from ohash.paper.protocol import PROFILES, QUICK
from ohash.paper.recording import read_recording
from ohash.paper.tables import COLUMN_GAP, bibtex, claims_table, coverage_text, data_table, figure_table
from ohash.plots import paper_report, theme
from ohash.plots.paper import charts
from ohash.plots.paper_report import report
from ohash.store.store import Store
from ohash.streams import registry
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from tests.paper.told import Told, claim


@pytest.mark.slow
def test_the_claims_on_data_of_ones_own(monkeypatch, tmp_path, capsys):
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 4
    np.save(tmp_path / "x.npy", (rng.normal(size=(600, 8)) + 2 * rng.normal(size=(4, 8))[labels]).astype(np.float32))
    np.save(tmp_path / "y.npy", labels)
    tiny = replace(QUICK, key="quick", title="Tiny", pairs=200, bits=(8, 16))
    monkeypatch.setitem(PROFILES, "quick", tiny)
    monkeypatch.setitem(figures.BASE, "m", 50)
    monkeypatch.setitem(figures.BASE, "warm", 50)
    own = ["--features", str(tmp_path / "x.npy"), "--labels", str(tmp_path / "y.npy"), "--store", str(tmp_path / "s")]
    figures._sweep.cache_clear()
    page = tmp_path / "report.html"
    assert main(["paper", "3", "7", "arrival", "kernel", "--inline", "--quiet", "--html", str(page), *own]) == 0
    figures._sweep.cache_clear()
    out = capsys.readouterr().out
    assert "x.npy by label" in out and "x.npy by distance" in out and "Digits" not in out
    assert "The RBF kernel helps OH" in out and "Theorem" not in out
    assert "Training time" not in out and "new classes" not in out, "there are no tracks, and too few classes"
    missing = "figure 7 needs tracks; figure arrival needs labels or tracks, 6 of them at least."
    assert f"Not drawn for these data: {missing}" in out
    assert f"Not drawn for these data: figure 5 needs tracks; {missing}" in page.read_text()
    assert "yours, in its place" in page.read_text() and "--features FILE" in page.read_text()
    assert main(["paper", "7", *own]) == 2 and main(["paper", "3", "--recorded", *own]) == 2
    assert main(["paper", "3", "--without", "oh"]) == 2


def test_the_report_follows_the_reader_into_the_dark_and_its_figures_stay_on_white():
    light, _, dark = paper_report.STYLE.partition("prefers-color-scheme: dark")
    assert theme.LIGHT.background in light and theme.DARK.background not in light
    assert theme.DARK.background in dark.partition("}")[0]
    assert f"background: {theme.LIGHT.background}" in dark.partition(".figures svg")[2].partition("}")[0]


@pytest.mark.slow
def test_the_command_says_what_is_known(tmp_path, capsys):
    files = {name: tmp_path / name for name in ("report.html", "tables.tex", "refs.bib", "figures")}
    code = main([
        "paper", "2", "--only-report", "--store", str(tmp_path / "home"), "--html", str(files["report.html"]),
        "--latex", str(files["tables.tex"]), "--bibtex", str(files["refs.bib"]), "--svg", str(files["figures"]),
    ])  # fmt: skip
    out = capsys.readouterr().out
    assert code == 0 and "0 of 36 cells" in out and "NOT RUN YET" in out
    assert all(file.exists() for file in files.values())
    assert main(["paper", "9"]) == 2


@pytest.fixture(scope="module")
def small_paper(tmp_path_factory):
    """A very small profile of two figures, really run on digits."""
    profile = replace(QUICK, key="tiny", bits=(8, 16), timed_bits=(8, 64), pairs=300)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "settings", lambda: (data.EMBEDDED[3],))
        store = Store(tmp_path_factory.mktemp("paper"))
        for key in ("3", "kernel"):
            assert SweepExecution(FIGURES[key].sweep(profile), store, InlineExecutor()).run().failed == 0
        yield Measurements(store, profile)


@pytest.mark.slow
def test_tables_charts_and_report(small_paper):
    three = FIGURES["3"]
    table = figure_table(small_paper, three)
    assert table.header[2:] == ("T = 1", "T = 2", "T = 3", "T = 4") and len(table.rows) == 1
    assert all(0 < float(cell) < 1 for cell in table.rows[0][2:])
    assert small_paper.progress(three) == (4, 4) and small_paper.cost(three) > 0
    (chart,) = charts(small_paper, three)
    assert [float(value) for value in chart.series[0].x] == [1, 2, 3, 4]
    findings = [judge_claim(claim("T-labels"), small_paper, [data.EMBEDDED[3]])]
    assert findings[0].parts[0].effect is not None
    page = report(small_paper, [three, FIGURES["kernel"]], findings)
    assert page.count("one seed, so no band") == 2, "what the charts show is said once a figure"
    assert "standard deviation" not in page
    scores = {x: seed.score(part="test") for x in (1, 2, 3, 4)
              for seed in small_paper.seeds("3", data.EMBEDDED[3], "mmoh", x)}  # fmt: skip
    assert list(chart.series[0].y) == list(scores.values()) and "mAP on test queries" in chart.caption
    assert f"on test queries against T (models): highest at {max(scores, key=scores.get)} (" in chart.title
    assert page.count("<svg") == 2 and "Section VII-B2" in page and "<script" not in page
    assert not re.search(r"(?:src|href)=\"(?:http|//)", page), "nothing is fetched"
    latex = "\n".join([table.latex(), claims_table(findings).latex()])
    assert latex.isascii() and latex.count(r"\toprule") == 2 and latex.count("{") == latex.count("}")
    assert "@article{huang2017online" in bibtex(small_paper).lower() or "huang" in bibtex(small_paper).lower()


def test_every_embedded_data_set_is_in_a_figure_and_the_report_says_which_no_claim_is_judged_on(tmp_path):
    measured = Measurements(Store(tmp_path), QUICK)
    text = coverage_text(measured)
    pictures, _, texts = text.partition("Only in “Every method here on texts")
    drawn = {one.dataset for figure in FIGURES.values() for one in figure.settings()}
    for key, spec in registry.named_datasets().items():
        if spec.group == "embedded":
            assert key in drawn, "a line in ohash/paper/settings.py"
            covered = key in {one.dataset for one in data.EMBEDDED}
            assert spec.title in (pictures if covered else texts), key
            similar = {one.similar_by for one in (*data.EMBEDDED, *data.TEXTS) if one.dataset == key}
            assert spec.similar_by in similar, "judged by the truth that it declares"
    assert "Word vectors" in texts and "Debian packages" in texts and "none of the paper's three" in texts
    assert html.escape(text) in report(measured, [FIGURES["3"]], [])


def test_no_claim_is_judged_on_data_that_stand_for_none_of_the_papers():
    told = Told({("kernel", "oh", kernel): value for kernel, value in (("rbf", 0.6), ("none", 0.5))})
    found = judge_claim(claim("kernel"), told, (*data.EMBEDDED, *data.TEXTS))
    assert {part.setting for part in found.parts} == {one.title for one in data.EMBEDDED}
    assert {one.kind for one in data.TEXTS}.isdisjoint({kind for one in CLAIMS for kind in one.kinds})


def test_clicks_are_judged_by_hits_and_a_table_of_methods_has_both_truths(tmp_path):
    texts = FIGURES["texts"]
    measured = Measurements(Store(tmp_path), QUICK)
    scores = {"map": 0.06, "hit_10": 0.15, "recall_10": 0.29}
    for point in measured.cells(texts):
        measured._results[point] = [SeedResult("", {"scores/test": scores})]
    table = figure_table(measured, texts)
    assert table.header[-2:] == ("Word vectors", "Debian packages")
    assert {row[3:] for row in table.rows} == {
        ("mAP; hit@10 of clicks", "0.060", "0.150"), ("recall@10", "0.290", "0.290"),
    }  # fmt: skip
    assert len(table.rows) == 2 * len(texts.methods) and "hit@10 of clicks, then recall@10" in table.title
    words, debian = charts(measured, texts)
    assert words.caption == debian.caption, "it is shown once"
    assert words.y.label == "mAP" and debian.y.label == "hit@10" and "has the highest hit@10, .15" in debian.title
    assert all(series.y[0] == 0.15 and series.x[0] == 0.29 for series in debian.series)


def test_the_table_of_data_says_how_many_queries_there_are():
    table = data_table(Measurements(Store(), QUICK), list(FIGURES.values()))
    queries = {row[1]: row[5] for row in table.rows}
    (debian,) = (one for one in data.TEXTS if one.kind == "clicks")
    for one in (*data.EMBEDDED, *data.TEXTS):
        points = registry.load_by_key(one.dataset)
        assert (queries[points.title] == "{} + {}".format(*points.queries)) == (one is not debian)
    cell = next(one for one in FIGURES["texts"].sweep(QUICK).cells if one.params.dataset == "debian")
    world = Run(cell.params).world
    asked = [len(Judge(world, 0, part).queries) for part in ("validation", "test")]
    assert queries[registry.load_by_key("debian").title] == "up to {:,} + {:,}, of later clicks".format(*asked)


def test_the_chance_of_a_hit_that_the_figure_of_texts_names():
    cell = next(one for one in FIGURES["texts"].sweep(QUICK).cells if one.params.dataset == "debian")
    chance = Judge(Run(cell.params).world, 0, "test").chance()["hit_10"]
    assert round(chance, 3) == figures.CHANCE_OF_HIT and f"a random order has {chance:.3f}" in FIGURES["texts"].ours


@pytest.mark.parametrize("key", ["methods", "texts"])
def test_a_table_of_methods_fits_on_a_page(key):
    table = figure_table(Measurements(Store(), QUICK, read_recording()), FIGURES[key])
    shares = [float(share) for share in re.findall(r"p{(.*?)\\linewidth}", table._columns())]
    assert sum(shares) + COLUMN_GAP * len(table.header) <= 1.005, "each share is rounded"


def test_the_cost_is_told_figure_by_figure(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(figures, "settings", lambda: (data.EMBEDDED[3],))
    tiny = replace(QUICK, key="tiny", title="Tiny", pairs=200)
    monkeypatch.setitem(PROFILES, "quick", tiny)
    assert main(["paper", "2", "4", "--estimate", "--store", str(tmp_path), "--workers", "2"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("Figure 2: 9 of 9 cells are left: about") and "on 2 cores" in told[0]
    assert told[1].startswith("Figure 4: 6 of 6"), "β = 0.4 at C = 0.1 is a cell of both"
    assert told[2].startswith("Tiny: 15 of 15")
    assert Store(tmp_path).done() == set()
