"""Tables, charts and the report of the paper, and the command that writes them."""

import re
from dataclasses import replace

import numpy as np
import pytest

from ohash.cli.main import main
from ohash.paper import figures
from ohash.paper import settings as data
from ohash.paper.figures import FIGURES
from ohash.paper.findings import judge_claim
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import PROFILES, QUICK
from ohash.paper.tables import bibtex, claims_table, figure_table
from ohash.plots import paper_report, theme
from ohash.plots.paper import charts
from ohash.plots.paper_report import report
from ohash.store.store import Store
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from tests.paper.fake_measurements import claim


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


def test_the_cost_is_told_figure_by_figure(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(figures, "settings", lambda: (data.EMBEDDED[3],))
    tiny = replace(QUICK, key="tiny", title="Tiny", pairs=200)
    monkeypatch.setitem(PROFILES, "quick", tiny)
    assert main(["paper", "2", "4", "--estimate", "--store", str(tmp_path), "--workers", "2"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("Figure 2: 9 of 9 cells are left: about") and "on 2 cores" in printed[0]
    assert printed[1].startswith("Figure 4: 6 of 6"), "β = 0.4 at C = 0.1 is a cell of both"
    assert printed[2].startswith("Tiny: 15 of 15")
    assert Store(tmp_path).done() == set()
