"""What the Live page says: each thing once, no more than is sure; and what an export says about its run."""

import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ohash.cli.run_report import report_text
from ohash.engine import narrative
from ohash.engine.export import facts
from ohash.engine.judge import truth_column
from ohash.engine.live.presets import preset
from ohash.engine.narrative import change_since_start
from ohash.engine.params import experiment
from ohash.engine.run import run
from ohash.engine.snapshot import Snapshot
from ohash.models import registry
from ohash.plots.live import charts
from ohash.plots.live.scores import NOT_OVER_SEEDS, SCORES
from ohash.plots.renderers.plotly import to_html
from ohash.streams.dataset import Dataset
from ohash.ui.live import chart_switches, headline, sharing
from ohash.ui.live.details import how_to_read
from ohash.ui.live.numbers import headline_html, numbers_html
from ohash.ui.parts import sharing as addresses
from ohash.ui.parts.sharing import run_file_stem
from ohash.ui.session import access, live_run
from ohash.ui.session.broadcast import ChartSwitches
from ohash.ui.session.classroom import Classroom
from ohash.ui.session.session import Session
from tests.ui.app import texts
from tests.ui.live_app import opened, session_of, until


@pytest.fixture(scope="module")
def now() -> Snapshot:
    *_, last = run(experiment("digits", "oh", pairs=1000, r=16, seed=3))
    return last


def headline_text(now: Snapshot, **numbers: float) -> str:
    changed = replace(now, state="running", numbers={**now.numbers, **numbers})
    return headline.sentence(Session("s", now.params), changed, "running")


@pytest.mark.parametrize(("similar_by", "score"), [("label", "mAP"), ("clicks", "hit@10")])
def test_who_stopped_says_which_score_was_flat(now: Snapshot, similar_by: str, score: str) -> None:
    params, numbers = now.params.with_values(stop_when_flat=True), {**now.numbers, "end": 2 * now.t}
    stopped = replace(now, params=params, numbers=numbers, state="done", similar_by=similar_by)
    for sentence in (headline.situation(params, stopped, "done"), narrative.headline(stopped, params, "done")):
        assert sentence.endswith(f"; {score} is flat, so it stopped.")


def test_methods_and_measures_have_their_cards(now: Snapshot) -> None:
    top = headline_html(headline_text(now), now, "running", dark=False)
    carded = re.compile(r'<abbr class="ohash-term"[^>]*aria-description="[^"]+">([^<]+)</abbr>')
    assert carded.findall(top) == ["OH"] and "&lt;b&gt;" in headline_html("on <b>", None, "", dark=False)
    assert {"mAP", "recall@10", "pair AUC"} <= set(carded.findall(numbers_html(now)))


def test_the_page_counts_changes_as_they_are_made_not_as_they_are_kept(now: Snapshot) -> None:
    twice = replace(now, params=now.params.with_changes(now.t, beta=0.4), extra={"ack": 2})
    assert len(twice.params.changes) == 1, "of two changes at one pair, while it is evaluated, the second counts"
    assert 'data-changes="2"' in headline_html("", twice, "running", dark=False)


def test_the_headline_has_words_and_the_charts_have_numbers(now: Snapshot) -> None:
    sentence = headline_text(now)
    assert sentence.startswith("OH is learning from pairs of ") and "compared with the start" in sentence
    assert not any(letter.isdigit() for letter in sentence.partition(":")[2]), sentence
    assert any(letter.isdigit() for letter in charts.quality(now).title)


@pytest.mark.parametrize(
    ("end", "error", "words"), [(0.7, 0.05, "better"), (0.3, 0.05, "worse"), (0.53, 0.05, "about as well")]
)
def test_a_change_within_its_error_is_none(now: Snapshot, end: float, error: float, words: str) -> None:
    assert f"agree {words} with labels" in headline_text(now, map_start=0.5, map=end, map_change_error=error)


def test_of_clicks_hit_at_10_is_told_and_drawn(now: Snapshot) -> None:
    """As on Debian's packages after 3,862 pairs: hit@10 rises beyond its interval and mAP, which is tiny, does not."""
    clicks = replace(now, similar_by="pairs")
    hit = {"hit_10_start": 0.1075, "hit_10": 0.1278, "hit_10_change_error": 0.02}
    distance = {"recall_10_start": 0.2345, "recall_10": 0.2598, "recall_10_change_error": 0.0139}
    sentence = headline_text(clicks, **hit, **distance, map_start=0.0485, map=0.0574, map_change_error=0.0111)
    assert sentence.endswith("agree better with the given pairs and with the original distance.")
    assert charts.quality(clicks, ChartSwitches().score(clicks.similar_by)).y.label == "hit@10"
    both = charts.both_truths(clicks)
    assert "hit@10" in both.title and "mAP" not in both.title


def test_the_first_preset_ends_without_the_numbers_of_the_chart_below_it(now: Snapshot) -> None:
    scores = {"map_start": 0.487, "map": 0.69, "map_change_error": 0.04, "recall_10_start": 0.244, "recall_10": 0.263}
    ended = replace(now, state="done", numbers={**now.numbers, **scores, "recall_10_change_error": 0.044})
    page_facts = preset("start").conclusion(ended)
    assert "agree better with labels and about as well with the original distance (recall@10 0.24 → 0.26)" in page_facts
    assert "mAP" not in page_facts and "0.69" not in page_facts and "mAP" in charts.quality(ended).title


def test_a_caption_says_how_many_items_its_score_looks_at(now: Snapshot) -> None:
    for score in SCORES:
        caption = charts.quality(now, score).caption
        assert caption == "" or not re.search(r"\bk\b", caption), caption
    assert "among the first 10," in charts.quality(now, "hit_10").caption


def test_the_switch_of_the_first_chart_names_the_score_of_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before there is a picture, too: the switch is drawn once, the chart five times a second."""
    drawn: list[list[str]] = []

    def record(_label: str, options: list[str], *, format_func: Callable[[str], str], **_more: object) -> None:
        drawn.append([format_func(one) for one in options])

    monkeypatch.setattr(chart_switches.st, "segmented_control", record)
    for dataset in ("debian", "digits"):
        chart_switches.show(Session("one", params=experiment(dataset, "oh")))
    assert drawn == [["hit@10", "recall@10", "pair AUC"], ["mAP", "recall@10", "pair AUC"]]


def test_the_pair_auc_says_why_it_has_no_seeds(now: Snapshot) -> None:
    other = charts.ghost_of(now, "")
    assert NOT_OVER_SEEDS in charts.quality(now, "auc", seeds=[other]).caption
    assert NOT_OVER_SEEDS not in charts.quality(now, "auc").caption + charts.quality(now, "map", seeds=[other]).caption


def test_a_rise_within_its_error_is_no_rise_on_the_chart_of_two_truths(now: Snapshot) -> None:
    scores = {**now.checkpoints, "map": now.checkpoints["map"].copy()}
    scores["map"][[0, -1]] = 0.3, 0.4
    unsure = {**now.numbers, "map_change_error": 0.2}
    title = charts.both_truths(replace(now, checkpoints=scores, numbers=unsure)).title
    assert "mAP goes from .30 to .40, within error; " in title


def test_of_a_kept_run_without_the_error_of_its_change_that_of_its_score_is_taken() -> None:
    scores = {"map_start": 0.5, "map": 0.54, "map_error": 0.05}
    assert change_since_start(scores, "map") == "about as well"
    assert change_since_start({**scores, "map_change_error": 0.03}, "map") == "better"
    assert change_since_start({**scores, "map_change_error": float("nan")}, "map") == "about as well"


@pytest.mark.parametrize("method", sorted(registry.hashers()))
def test_how_to_read_speaks_only_of_what_a_method_has(method: str) -> None:
    params = experiment("digits", method)
    words = how_to_read(params)
    assert "{" not in words and words.count("\n- ") >= 4
    if method in {"oh", "mmoh"}:
        assert all(part in words for part in ("α", "β·r", "C caps", "what learning has saved", "Step by step"))
    else:
        assert not any(part in words for part in ("α", "β", "C caps", "saved", "Step by step"))
        assert f"as {registry.hashers()[method].title} reports none" in words.replace("\\", "")


def test_how_to_read_names_what_this_run_is_judged_by() -> None:
    params = experiment("words", "oh")
    assert "agree with near neighbours (mAP)" in how_to_read(params, "near neighbours")
    assert "labels" not in how_to_read(params, "near neighbours"), "word vectors have none"
    assert "agree with labels (mAP)" in how_to_read(experiment("digits"))
    assert "agree with the given pairs (hit@10)" in how_to_read(params, "the given pairs", "hit@10")


def test_the_loss_of_a_method_that_learns_from_items_is_not_called_that_of_the_first_codes() -> None:
    *_, last = run(experiment("digits", "hcoh", pairs=200, r=8))
    title = charts.loss(last).title
    assert title.startswith("HCOH does not learn from pairs and reports no loss; the cumulative") and "its" not in title


def test_an_exported_page_states_how_to_repeat_it(now: Snapshot) -> None:
    page_facts = sharing._facts(Session("s", now.params), now, "http://localhost:8501/")
    page = to_html(charts.loss(now), title=page_facts["run"], facts=page_facts)
    assert {"data set", "parameters", "seed", "link", "version"} <= page_facts.keys()
    assert "<dd>3</dd>" in page and "r = 16" in page and "ohash 0." in page
    assert 'href="http' in page and "dataset=digits" in page
    assert f"σ = auto → {now.numbers['sigma']:.3g}, " in page_facts["parameters"]
    for words in ("warm-up points = 300", "wrong labels = 0", "unit length = on", "share of similar pairs = natural"):
        assert words in page_facts["parameters"], "words, and no symbols that only the code has"


def test_an_exported_page_says_what_a_reader_of_its_numbers_must_know(now: Snapshot) -> None:
    assert "notes" not in facts(now, "digits", "")
    few = Dataset.from_arrays(np.random.default_rng(0).normal(size=(20, 6)))
    *_, last = run(experiment(few, "oh", pairs=100, r=8), few)
    assert "m = 300" in facts(last, "few", "")["parameters"]
    assert facts(last, "few", "")["notes"].startswith("18 anchors instead of 300, because")
    assert "note: 18 anchors instead of 300, because" in numbers_html(last)
    assert "note:" not in numbers_html(replace(now, notes=("of data that ship",)))
    forged = replace(last, notes=("<b>",))
    assert "note: &lt;b&gt;" in numbers_html(forged), "a note may come from a file"


def test_a_file_is_named_for_what_it_holds(now: Snapshot) -> None:
    assert run_file_stem(now.params) == "ohash-digits-oh-r16-seed3"
    several = experiment("digits", "mmoh", T=4, r=24)
    assert run_file_stem(several) == "ohash-digits-mmoh-t4-r24-seed0"
    tuned = several.with_values(beta=0.7, noise=0.3).with_changes(50, C=0.01)
    assert run_file_stem(tuned) == "ohash-digits-mmoh-t4-r24-seed0-beta0-7-noise0-3-1changes"
    wide = tuned.with_values(
        order="class", similar_share=0.25, alpha=2, center="running", sigma=0.5, m=50, normalize=False
    )
    assert len(run_file_stem(wide)) <= 100 and run_file_stem(wide) != run_file_stem(wide.with_values(m=60))


@pytest.mark.parametrize("path", ["", "/", "/compare"])
def test_a_shared_address_has_a_path_before_its_query(monkeypatch, path):
    monkeypatch.setattr(
        addresses, "st", SimpleNamespace(context=SimpleNamespace(url=f"http://lab.local:8501{path}?r=8"))
    )
    assert addresses.page_address() == f"http://lab.local:8501{path or '/'}"


@pytest.mark.parametrize(("dataset", "score"), [("blobs2d", "mAP"), ("debian", "hit@10")])
def test_the_board_ranks_by_the_score_of_the_data(monkeypatch: pytest.MonkeyPatch, dataset: str, score: str) -> None:
    monkeypatch.setattr(access, "is_class", lambda: True)
    room = Classroom()
    monkeypatch.setattr(sharing, "classroom", lambda: room)
    app = opened(dataset=dataset, method="oh", r="8", m="20", pairs="100", judged_at="ends")
    until(app, lambda: live_run.runner(session_of(app)).state == "done")
    app.session_state["open_share"] = True
    app.run()
    app.text_input(key="view_board_name").set_value("Ada").run()
    app.button(key="board_enter").click().run()
    now = live_run.latest_snapshot(session_of(app))
    assert now is not None and f"**Board**: best {score} on " in texts(app) and f">{score}<" in texts(app)
    assert f"Ada is on the board with {now.numbers[truth_column(now.similar_by)]:.3f}." in texts(app)


def test_one_query_is_no_queries(now: Snapshot) -> None:
    few = replace(now, numbers={**now.numbers, "queries": 1.0, "test_map": 0.5, "test_queries": 1.0})
    written = numbers_html(few)
    assert " on 1 test query<" in written and "over the 1 validation query" in written
    scores = dict.fromkeys(("map", "recall_10", *(f"recall_10_x{factor}" for factor in (2, 4, 16))), 0.5)
    assert "0.500 on 1 test query\n" in report_text(few, {**scores, "queries": 1}, "cosine", {})
