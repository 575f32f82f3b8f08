"""The Compare page: it begins by itself, every choice begins it again, errors are messages, links are whole."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.comparison import runner as runner_module
from ohash.comparison.params import CLICK_METHODS, build_comparison, from_query
from ohash.comparison.runner import ComparisonRunner, compare
from ohash.engine.params import experiment
from ohash.streams.dataset import Dataset
from ohash.ui.compare import cards
from ohash.ui.compare.sharing import _facts
from ohash.ui.parts.sharing import link_here
from ohash.ui.session import address, comparisons, own_data
from tests.comparison.snapshots import snapshot
from tests.ui.app import APP, finish, open_page, texts, widget
from tests.ui.data_files import clicks, npy, vectors

SMALL = {"dataset": "blobs2d", "methods": "oh,itq,lsh", "bits": "8", "pairs": "300", "kernel": "none", "sweep": "0"}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of the machine's owner, and no worker processes."""
    for variable in (*own_data.FILES, "OHASH_DATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(runner_module, "WorkerFitter", lambda room: None)


def page(**query: str) -> AppTest:
    return open_page("compare", query or SMALL)


def runner(app: AppTest) -> ComparisonRunner:
    current: ComparisonRunner = comparisons.runner(app.session_state["ohash"])
    return current


def unfolded(app: AppTest) -> AppTest:
    """With the rail's expanders open."""
    for key in ("open_parameters", "open_features"):
        app.session_state[key] = True
    return app.run()


def over(app: AppTest) -> AppTest:
    return finish(app, runner(app))


def test_a_link_is_opened_and_written_back() -> None:
    app = page()
    assert runner(app).comparison == from_query(SMALL)[0]
    assert dict(app.query_params) == runner(app).comparison.to_query()
    assert widget(app.multiselect, "methods").value == ["oh", "itq", "lsh"]
    assert widget(app.select_slider, "bits").value == 8


def test_the_card_of_a_method_is_under_its_parameters() -> None:
    app = unfolded(page())
    assert "β r is taken as a whole number" in texts(app) and "Compared with Algorithm 1" in texts(app)
    app.selectbox(key="view_parameters_of").set_value(1).run()
    assert "The paper needs r \\<= d" in texts(app) and "Compared with" not in texts(app)


@pytest.mark.slow
def test_without_a_link_it_begins_with_what_users_ask() -> None:
    app = AppTest.from_file(APP, default_timeout=60)
    app.session_state["ohash"] = None
    app.switch_page("pages/compare.py")
    app.run()
    assert not app.exception
    assert runner(app).comparison == build_comparison("fashion")
    assert runner(app).state in ("starting", "running")


@pytest.mark.slow
def test_verdict_results_costs_and_fairness_when_it_is_over() -> None:
    shown = texts(over(page()))
    assert "To follow your labels:" in shown
    assert "OH compared with the others:" in shown
    assert 'data-state="done"' in shown
    assert "float vectors (reference)" in shown
    assert "1M · 100M vectors" in shown
    assert shown.count("supervision: pairs (OH), none (ITQ, LSH)") >= 3  # under every chart


def test_other_methods_begin_again() -> None:
    app = page()
    first = runner(app)
    widget(app.multiselect, "methods").set_value(["lsh", "oh", "hcoh"]).run()
    assert not app.exception
    assert runner(app).comparison.names == ("LSH", "OH", "HCOH")
    assert runner(app) is not first
    assert first.finished.wait(60)
    assert app.query_params["methods"] == "lsh,oh,hcoh"


def test_no_method_at_all_is_a_message() -> None:
    app = page()
    widget(app.multiselect, "methods").set_value([]).run()
    assert "at least one method" in texts(app)
    assert runner(app).comparison == from_query(SMALL)[0]


@pytest.mark.slow
def test_bits_seeds_and_a_methods_own_parameter() -> None:
    app = unfolded(page())
    widget(app.select_slider, "bits").set_value(16).run()
    widget(app.segmented_control, "seeds").set_value(3).run()
    widget(app.select_slider, "C").set_value(1.0).run()
    assert not app.exception
    comparison = runner(app).comparison
    assert (comparison.options.bits, comparison.seeds, comparison.entries[0].text()) == (16, (0, 1, 2), "oh:C=1")
    assert from_query(comparison.to_query()) == (comparison, [])


@pytest.mark.slow
def test_what_does_not_go_together_is_a_message_and_changes_nothing() -> None:
    app = unfolded(page())
    before = runner(app).comparison
    widget(app.selectbox, "database").set_value("seen").run()
    widget(app.selectbox, "train").set_value("disjoint").run()
    over(app)
    assert "database='seen' needs train='database'" in texts(app)  # beside every method, and nothing breaks
    assert before.run.database == "full"


def test_pause_and_again() -> None:
    app = page(**{**SMALL, "pairs": "10000000"})
    app.button(key="compare_play").click().run()
    deadline = time.monotonic() + 20
    while runner(app).state != "paused" and time.monotonic() < deadline:
        time.sleep(0.02)
    app.run()
    assert app.button(key="compare_play").label == "Play"
    first = runner(app)
    assert app.button(key="reset").label == "Run again"
    app.button(key="reset").click().run()
    assert not app.exception
    assert runner(app) is not first
    assert runner(app).comparison == first.comparison


def test_a_pause_pressed_before_a_new_comparison_is_drawn_pauses_that_one() -> None:
    app = page(**{**SMALL, "pairs": "10000000"})
    first, session = runner(app), app.session_state["ohash"]
    session.comparison = replace(first.comparison, seeds=(1,))  # the button is still that of the comparison before
    new = comparisons.runner(session)
    app.button(key="compare_play").click().run()
    deadline = time.monotonic() + 20
    while new.state != "paused" and time.monotonic() < deadline:
        time.sleep(0.02)
    assert new is not first and new.state == "paused"


def test_a_link_may_leave_the_methods_to_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "_page", lambda *_: "compare")
    now = runner(page(dataset="blobs2d", pairs="300", bits="16", seeds="2")).comparison
    assert (now.dataset, now.run.pairs, now.options.bits, now.seeds) == ("blobs2d", 300, 16, (0, 1))
    assert now.entries == build_comparison("blobs2d", bits=16).entries


def test_a_bad_link_is_named() -> None:
    app = page(dataset="blobs2d", methods="oh,<script>,itq", bits="99999", seeds="x", pairs="300")
    shown = texts(app)
    assert "method must be one of" in shown
    assert "bits must be" in shown
    assert "seed must be" in shown


def test_data_that_are_not_here_are_a_message_with_a_way_out() -> None:
    app = page(dataset="own", methods="oh", content="00ff")
    assert "00ff" in texts(app)
    widget(app.selectbox, "compare_data").set_value("blobs2d").run()
    assert not app.exception
    assert runner(app).comparison.dataset == "blobs2d"


def test_other_data_are_opened_with_what_has_codes_of_the_chosen_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "_page", lambda *_: "compare")
    app = page(dataset="blobs2d", bits="16", pairs="300", sweep="0")
    assert "pq" in [entry.method for entry in runner(app).comparison.entries], "8 bits for each of two columns"
    widget(app.selectbox, "compare_data").set_value("rings").run()
    assert "pq" in [entry.method for entry in runner(app).comparison.entries]
    app = page(dataset="digits", bits="64", pairs="300", sweep="0")
    widget(app.selectbox, "compare_data").set_value("blobs2d").run()
    assert not app.exception and "pq" not in [entry.method for entry in runner(app).comparison.entries]


def test_own_data_are_compared_on_three_splits_unless_they_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    session = page().session_state["ohash"]
    X, labels = vectors()
    content = own_data.add(session, Dataset.from_arrays(X, labels=labels))
    assert comparisons.default_comparison(session, "own", content).seeds == (0, 1, 2)
    monkeypatch.setattr("ohash.comparison.params.SMALL", X.size - 1)
    assert comparisons.default_comparison(session, "own", content).seeds == (0,)
    assert comparisons.default_comparison(session, "digits").seeds == (0,)


def test_data_of_ones_own_folder_are_compared_as_those_that_were_uploaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, labels = vectors(d=8)
    np.save(tmp_path / "mine.npy", X)
    np.save(tmp_path / "clicked.npy", X)
    (tmp_path / "mine.toml").write_text('labels = "y.npy"')
    np.save(tmp_path / "y.npy", labels)
    (tmp_path / "clicked.toml").write_text('pairs = "clicks.csv"')
    (tmp_path / "clicks.csv").write_text("i,j\n" + "".join(f"{row},{row + 1}\n" for row in range(100)))
    monkeypatch.setenv("OHASH_DATA", str(tmp_path))
    session = page().session_state["ohash"]
    with monkeypatch.context() as patch:
        patch.setattr("ohash.streams.data_folder.dataset_from_sidecar", lambda *_, **__: pytest.fail("loaded"))
        mine, clicked = (comparisons.default_comparison(session, f"folder:{name}") for name in ("mine", "clicked"))
    assert mine.seeds == clicked.seeds == (0, 1, 2)
    assert [one.method for one in clicked.entries] == list(CLICK_METHODS)
    snapshot = compare("folder:mine", ["lsh"], pairs=100, bits=8, sweep=False)
    assert snapshot.comparison.seeds == (0, 1, 2)
    (tmp_path / "mine.npy").write_bytes(b"no vectors")
    assert comparisons.default_comparison(session, "folder:mine").seeds == (0,), "the page says what is wrong"


def test_a_method_that_cannot_learn_here_is_a_message() -> None:
    X, _ = vectors()
    i = np.random.default_rng(0).integers(0, 100, 300)
    own = Dataset.from_arrays(X, pairs=(i, i + 3 * np.random.default_rng(1).integers(1, 6, 300)))
    app = page()
    session = app.session_state["ohash"]
    content = own_data.add(session, own)
    comparisons.choose(
        session, build_comparison("own", ("oh", "hcoh"), content=content, pairs=200, bits=8, sweep=False)
    )
    shown = texts(over(app.run()))
    assert "HCOH: HCOH learns from labels" in shown
    assert "To follow your clicks:" in shown


def test_uploaded_vectors_and_clicks_are_compared_with_what_suits_them() -> None:
    app = page()
    app.session_state["view_part"] = "own"
    app.switch_page("pages/data.py").run()
    vectors_file, clicks_file = npy(vectors()[0]), clicks()
    app.file_uploader(key="upload_vectors").set_value((vectors_file.name, vectors_file.data, ""))
    app.file_uploader(key="upload_pairs").set_value((clicks_file.name, clicks_file.data, ""))
    app.run()
    app.button(key="compare_upload").click().run()
    assert not app.exception
    comparison = runner(app).comparison
    assert comparison.dataset == "own" and comparison.content in app.session_state["ohash"].own
    assert comparison.names[:2] == ("OH", "Click whitening")


@pytest.mark.slow
def test_any_method_can_be_pinned_on_live() -> None:
    app = over(page())
    app.selectbox(key="view_to_live").set_value(1).run()
    app.button(key="compare_pin").click().run()
    assert not app.exception
    session = app.session_state["ohash"]
    assert session.pinned == session.earlier[-1].key
    assert session.earlier[-1].now.params.method == "itq"
    assert "ITQ" in session.earlier[-1].label


@pytest.mark.slow
def test_a_method_can_be_watched_on_live() -> None:
    app = over(page())
    app.button(key="compare_watch").click().run()
    assert not app.exception
    assert app.session_state["ohash"].params == runner(app).comparison.experiment(runner(app).entries[0])


@pytest.mark.slow
def test_what_is_over_stays_when_the_page_is_left() -> None:
    app = over(page())
    first = runner(app)
    comparisons.hub().end(app.session_state["ohash"].id)
    app.switch_page("pages/data.py").run()
    app.switch_page("pages/compare.py").run()
    assert runner(app) is first


@pytest.mark.slow
def test_more_charts_and_tables() -> None:
    app = over(page())
    for key in ("open_more", "open_tables"):
        app.session_state[key] = True
    app.run()
    assert not app.exception


def test_the_link_is_the_comparison() -> None:
    one = build_comparison("digits", ("oh:C=1", "itq"), (1, 2))
    assert link_here(one.to_query()).endswith("?dataset=digits&methods=oh%3AC%3D1%2Citq&seeds=1%2C2")


def test_links_of_live_are_not_taken_for_comparisons() -> None:
    app = page(dataset="digits", method="lsh")
    assert app.session_state["ohash"].params == experiment("digits", "lsh")
    assert runner(app).comparison == build_comparison("digits")


def test_names_of_files_are_text_and_not_html() -> None:
    now = snapshot({"oh": 0.7, "itq": 0.5})
    shown = cards.results_html(now, dark=False) + cards.costs_html(now, dark=True) + cards.verdict_html(now, [], "done")
    assert "<script" not in shown
    assert shown.count("<article>") == 3


def test_the_verdict_is_shown_with_what_its_reader_must_know() -> None:
    own = Dataset.from_arrays(np.random.default_rng(0).normal(size=(20, 6)))
    now = compare(own, ["oh", "lsh"], pairs=100, bits=8, sweep=False, seeds=(0,))
    assert "note: 18 anchors instead of 300, because the stream" in cards.verdict_html(now, [], "done")
    notes = _facts(now.comparison, now)["notes"]
    assert notes == "18 anchors instead of 300, because the stream brings so few different points"
    few = replace(now, setup=replace(now.setup, notes=("<b>",)))
    assert "note: &lt;b&gt;" in cards.verdict_html(few, [], "done"), "a note may come from a file"


@pytest.mark.slow
def test_the_encoder_is_taken_and_trials_are_settings() -> None:
    app = over(page(**SMALL, trials="3"))
    app.session_state["open_trials"] = True
    app.session_state["open_export"] = True
    app.run()
    assert not app.exception
    buttons = {one.label: one for one in app.get("download_button")}
    assert not buttons["Download this encoder"].proto.disabled and "This comparison as a page (HTML)" in buttons
    (trials,) = [one.value for one in app.dataframe if "settings" in one.value]
    assert trials["settings"][0] == "the defaults" and any("β = " in text for text in trials["settings"])
    assert "measured in this comparison" in texts(app)
