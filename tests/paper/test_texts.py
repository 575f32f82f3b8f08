"""The embedded texts, which stand for none of the paper's data: in a figure of their own, judged by their truths."""

import html
import re

import pytest

from ohash.engine.judge import Judge
from ohash.engine.run import Run
from ohash.models.registry import hashers, own_methods
from ohash.paper import figures
from ohash.paper import settings as data
from ohash.paper.claims import CLAIMS
from ohash.paper.figures import FIGURES
from ohash.paper.findings import judge_claim
from ohash.paper.measurements import FigurePoint, Measurements, SeedResult
from ohash.paper.protocol import FULL, QUICK
from ohash.paper.provenance import sources
from ohash.paper.recorded_results import read_recording
from ohash.paper.tables import COLUMN_GAP, coverage_text, data_table, figure_table
from ohash.plots.paper import charts
from ohash.plots.paper_report import report
from ohash.plots.renderers.plotly import NARROWEST
from ohash.plots.renderers.plotly import figure as figure_of
from ohash.store.store import Store
from ohash.streams import registry
from tests.paper.fake_measurements import FakeMeasurements, claim


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
    measurements = FakeMeasurements(
        {("kernel", "oh", kernel): value for kernel, value in (("rbf", 0.6), ("none", 0.5))}
    )
    finding = judge_claim(claim("kernel"), measurements, (*data.EMBEDDED, *data.TEXTS))
    assert {part.setting for part in finding.parts} == {one.title for one in data.EMBEDDED}
    assert {one.kind for one in data.TEXTS}.isdisjoint({kind for one in CLAIMS for kind in one.kinds})


def test_the_recording_keeps_average_precisions_where_claims_need_them():
    recording = read_recording()
    for key, figure in FIGURES.items():
        recorded = [cell.key for cell in figure.sweep(FULL, only=figure.methods).cells]
        kept = {"ap/test" in recording.arrays(one) for one in recorded if recording.rows([one])}
        assert kept == {key != "texts"}, key


def test_clicks_are_judged_by_hits_and_a_table_of_methods_has_both_truths(tmp_path):
    texts = FIGURES["texts"]
    measured = Measurements(Store(tmp_path), QUICK)
    scores = {"map": 0.06, "hit_10": 0.15, "recall_10": 0.29}
    for point in measured.cells(texts):
        measured._results[point] = [SeedResult("", {"scores/test": scores, "numbers": {"bits": 64}})]
    table = figure_table(measured, texts)
    assert table.header[-2:] == ("Word vectors", "Debian packages")
    assert {row[3:] for row in table.rows} == {
        ("8", "mAP; hit@10 of clicks", "0.060", "0.150"), ("8", "recall@10", "0.290", "0.290"),
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


def test_own_runs_on_clicks_are_compared_with_the_recording_by_the_score_that_is_drawn(tmp_path, monkeypatch):
    recording, clicks = read_recording(), next(one for one in data.TEXTS if one.kind == "clicks")
    point = FigurePoint("texts", clicks.key, "oh", "oh")
    cell = Measurements(Store(tmp_path), FULL, recording).cells(FIGURES["texts"])[point][0]
    values = recording.values([cell.key])[cell.key]
    scores = values["scores/test"]

    def of_own(hit_10):
        own = {cell.key: {**values, "scores/test": {**scores, "hit_10": hit_10}}}
        store = Store(tmp_path)
        monkeypatch.setattr(store, "values", lambda keys: own)
        return sources(Measurements(store, FULL, recording), [FIGURES["texts"]])

    same = of_own(scores["hit_10"])
    assert "agree with the recording: no hit@10 differs by more than 0.01." in same.text and not same.differing
    other = of_own(scores["hit_10"] - 0.1)
    assert "1 of yours differs from the recording by more than 0.01 hit@10, and by more" in other.text
    (line,) = other.differing
    assert re.search(r"OH at oh on debian.*, seed 0: hit@10 0\.0\d+ here, 0\.1\d+ recorded", line)


def test_the_figures_of_all_methods_say_which_codes_are_longer():
    ours = {key for key, spec in hashers().items() if key not in own_methods() and not spec.reference}
    assert ours == {*figures.EVERY, *figures.LONG_AS_VECTORS}, "a method belongs to one of the two"
    for key in ("methods", "texts"):
        assert all(name in FIGURES[key].ours for name in ("sign", "BBQ", "int8", "TurboQuant", "RaBitQ"))
        measured = Measurements(Store(), FULL, read_recording())
        table = figure_table(measured, FIGURES[key])
        sizes = {row[0]: row[3] for row in table.rows}
        longer = {name for name, size in sizes.items() if size != "8"}
        assert longer == {"Sign", "BBQ-style", "int8", "RaBitQ", "TurboQuant"}
        assert (sizes["RaBitQ"], sizes["TurboQuant"]) == ("16", "12"), "two floats, and one"
        widths = [measured.dataset(one).d for one in measured.settings(FIGURES[key])]
        assert sizes["int8"] == "; ".join(f"{d:,}" for d in widths)
        assert sizes["Sign"] == "; ".join(f"{-(-d // 8):,}" for d in widths)


@pytest.mark.parametrize("key", ["methods", "texts"])
def test_codes_as_long_as_the_vectors_are_drawn_with_their_bytes_and_never_called_the_best(key):
    measured = Measurements(Store(), FULL, read_recording())
    for setting, chart in zip(measured.settings(FIGURES[key]), charts(measured, FIGURES[key]), strict=True):
        d = measured.dataset(setting).d
        squares = {one.name: one for one in chart.series if one.marker == "square"}
        bits = -(-d // 8)
        assert set(squares) == {
            f"Sign, {bits:,} bytes", f"BBQ-style, {bits + 8:,} bytes", f"int8, {d:,} bytes",
        }  # fmt: skip
        best = squares[f"int8, {d:,} bytes"]
        assert best.label == best.name and best.x[0] == max(one.x[0] for one in chart.series), "nearly the distance"
        assert not any(name.partition(",")[0] in chart.title for name in squares)
        others = [one for one in chart.series if one.marker != "square"]
        highest = max(others, key=lambda one: one.y[0])
        assert f"{highest.name} has the highest" in chart.title and highest.label == highest.name


def test_the_table_of_the_data_says_whose_neighbours_are_similar(tmp_path):
    measured = Measurements(Store(tmp_path), QUICK)
    for dataset, similar_by in (("words", "topk"), ("fashion", "metric")):
        assert registry.load_by_key(dataset).explain(similar_by).startswith("similar if either is among the other's")
    rows = data_table(measured, [FIGURES["texts"], FIGURES["3"]]).rows
    assert [row[-1] for row in rows if "Word vectors" in row[1]] == ["either is among the other's nearest 10"]
    assert [row[-1] for row in rows if "LabelMe" in row[0]] == ["either is among the other's nearest 5 %"]
    assert [row[3] for row in rows if "GIST1M" in row[0] and "on GIST1M the paper takes each" in row[3]]


@pytest.mark.slow
def test_the_axis_titles_and_names_of_all_methods_fit_on_a_phone(tmp_path):
    measured = Measurements(Store(tmp_path), FULL, read_recording())
    for figure in (FIGURES["methods"], FIGURES["texts"]):
        for chart in charts(measured, figure):
            assert len(chart.x.label) <= 36, "more is cut at 390 px: the plot has 145 of them, and names beside it"
            beside = figure_of(chart).layout.margin.r
            assert 390 - 32 - 56 - beside >= NARROWEST, "a name of 230 px left 40 px to the plot of a phone"
