"""Step by step: the pair of a link, its stages one press at a time, what if, own items, and what is wrong said."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.engine.params import experiment
from ohash.engine.step_by_step import PairViewer
from ohash.streams.data_folder import DATA
from tests.ui.app import APP

SMALL = {"dataset": "blobs2d", "method": "oh", "r": "8", "kernel": "none", "pairs": "400", "C": "0.1"}


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for key, value in {**SMALL, **query}.items():
        app.query_params[key] = value
    app.switch_page("pages/step.py").run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    return "\n".join(element.value for element in (*app.markdown, *app.caption, *app.latex, *app.info))


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def turn_to_theory(app: AppTest) -> None:
    next(one for one in app.segmented_control if one.label == "part").set_value("The theory").run()
    assert not app.exception


@pytest.fixture(scope="module")
def update() -> int:
    at = PairViewer(experiment("blobs2d", "oh", r=8, kernel="none", pairs=400, C=0.1)).find("update", 21)
    assert at is not None
    return at


def test_the_stages_of_a_pair_come_one_press_at_a_time(update: int) -> None:
    app = opened(at=str(update))
    assert f"pair {update} of 400" in shown(app) and "1 · Codes" in shown(app)
    assert "2 · Similarity loss" not in shown(app)
    press(app, "stage_next")
    assert "2 · Similarity loss" in shown(app) and "3 · Which bits to flip" not in shown(app)
    press(app, "stage_all")
    assert "7 · Update" in shown(app) and r"\tau = \min" in shown(app)
    cards = "".join(one.body for one in app.get("html") if "Symbols:" in one.body)
    assert cards.count("Symbols:") == 7 and all(f">{symbol}</abbr>" in cards for symbol in ("τ", "C", "ℓ", "W", "δ"))
    assert app.button(key="stage_next").disabled
    press(app, "stage_again")
    press(app, "stage_next")
    press(app, "pair_forward")
    assert app.query_params["at"] == str(update + 1) and "2 · Similarity loss" not in shown(app)
    assert f"pair {update} of 400" in shown(press(app, "pair_back"))


@pytest.mark.slow
def test_all_stages_are_shown_of_every_pair_until_one_asks_for_less(update: int) -> None:
    app = opened(at=str(update))
    press(app, "stage_all")
    for button in ("pair_update", "pair_loss left", "pair_forward", "pair_back"):
        at = app.query_params["at"]
        press(app, button)
        assert app.query_params["at"] != at and "2 · Similarity loss" in shown(app), button
    press(app, "pair_update")
    assert "7 · Update" in shown(app)
    again = opened(**dict(app.query_params))
    assert not again.warning and "7 · Update" in shown(again)
    press(again, "pair_update")
    assert "7 · Update" in shown(again), "also after a reload"
    press(again, "stage_before")
    assert "6 · Step size" in shown(again) and "7 · Update" not in shown(again)
    press(again, "pair_update")
    assert "2 · Similarity loss" not in shown(again), "she asked for less"


def test_the_next_update_is_found_and_what_if_leaves_the_experiment_alone(update: int) -> None:
    app = opened(at="20")
    press(app, "pair_update")
    press(app, "stage_all")
    assert app.query_params["at"] == str(update)
    before = dict(app.query_params)
    next(one for one in app.number_input if one.label == "C").set_value(1e-4).run()
    assert "What if C = 0.0001" in shown(app) and r"= 0.0001\qquad" in shown(app)
    assert dict(app.query_params) == before | {"what_if": "C:0.0001"}
    again = opened(**dict(app.query_params))
    assert "What if C = 0.0001" in shown(again) and r"= 0.0001\qquad" in shown(again), "a link keeps it"
    next(one for one in again.number_input if one.label == "C").set_value(0.1).run()
    assert "What if" not in shown(again) and dict(again.query_params) == before


def test_two_items_of_ones_own() -> None:
    app = opened(at="5")
    app.number_input(key="own_i").set_value(7).run()
    app.number_input(key="own_j").set_value(7).run()
    press(app, "own_use")
    assert "A similar pair that you chose: xᵢ is row 7, xⱼ is row 7." in shown(app)
    press(app, "stage_all")
    assert "There is no loss" in shown(app)
    link = dict(app.query_params)
    assert link["items"] == "7,7,similar"
    again = opened(**link)
    assert "rows 7 and 7, a similar pair that you chose, in place of pair 5 of 400" in shown(again)
    assert "There is no loss" in shown(again) and not again.warning and dict(again.query_params) == link
    press(again, "own_end")
    assert "items" not in again.query_params and "that you chose" not in shown(again)


def test_mmoh_says_which_models_learn() -> None:
    app = opened(method="mmoh", T="2", at="3")
    assert any("pair updates" in one.label for one in app.segmented_control)
    assert "1 · Models" in shown(app) and "in all 2 models" in shown(app)


def test_the_counter_example_has_a_c_to_move(update: int) -> None:
    app = opened(at=str(update))
    turn_to_theory(app)
    press(app, "stage_all")
    slider = next(one for one in app.slider if one.label == "C of the counter-example")
    assert "and so false" not in shown(app)
    slider.set_value(slider.max).run()
    assert "and so false" in shown(app) and f"At C = {slider.max:.3g}" in shown(app)


def test_the_part_and_the_stage_survive_a_reload(update: int) -> None:
    app = opened(at=str(update), present="1")
    turn_to_theory(app)
    press(app, "stage_next")
    link = dict(app.query_params)
    assert link["part"] == "theory" and link["stage"] == "2" and "2 · Theorem 2" in shown(app)
    again = opened(**link)
    assert "2 · Theorem 2" in shown(again) and "1 · Lemma 1" not in shown(again), "one fills the screen"
    assert dict(again.query_params) == link and not again.warning
    press(again, "back")
    assert "1 · Lemma 1" in shown(again) and "2 · Theorem 2" in shown(again)
    press(again, "pair_forward")
    assert "stage" not in again.query_params and again.query_params["part"] == "theory"


@pytest.mark.parametrize("name", ["1", "step"])
def test_the_page_is_presented_by_its_name(name: str) -> None:
    app = opened(at="5", present=name)
    assert not app.warning and app.button(key="back") and app.query_params["present"] == "1"


@pytest.mark.parametrize(("at", "pair"), [("1000000", 399), ("-3", 0), ("x", 0), ("9" * 40, 0)])
def test_a_forged_pair_is_the_nearest_there_is(at: str, pair: int) -> None:
    app = opened(at=at)
    assert f"pair {pair} of 400" in shown(app)
    notices = [one.value for one in app.warning] + [one.value for one in app.info]
    assert any("at must be the number of a pair" in one or "has 400 pairs" in one for one in notices)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("present", "nonsense", "present must be 1, gallery"),
        ("stage", "two", "stage must be a whole number"),
        ("part", "x", "part must be theory"),
        ("items", "7,x,similar", "items must be two rows"),
        ("items", "7,999999,similar", "items must be rows up to"),
        ("what_if", "gamma:1", "must be values of alpha, beta or C"),
        ("what_if", "alpha:9", "alpha must be at most r = 8, got"),
    ],
)
def test_what_is_ignored_is_said(key: str, value: str, words: str) -> None:
    app = opened(at="5", **{key: value})
    given = value.removeprefix("alpha:")
    assert len(app.warning) == 1 and words in app.warning[0].value and given in app.warning[0].value
    assert "1 · Codes" in shown(app) and key not in app.query_params


def test_a_method_without_such_an_update_is_a_message() -> None:
    app = opened(method="lsh")
    assert "method must be oh or mmoh" in app.error[0].value


def test_the_name_of_a_file_is_no_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "*b* $x$ [l](evil).npy", np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32))
    monkeypatch.setenv(DATA, str(tmp_path))
    app = opened(dataset="folder:*b* $x$ [l](evil)", pairs="100")
    assert any(r"OH on \*b\* \$x\$ \[l\](evil).npy: pair 0 of 100" in one.value for one in app.caption)
