"""Links to the Live page: to controls and back, forged ones, data that are not here."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.engine.live.presets import PRESETS
from ohash.engine.params import experiment
from ohash.ui.parts import present, sharing
from ohash.ui.session import address, live_run
from tests.ui.app import widget
from tests.ui.live_app import APP, SMALL, link_of, opened, session_of, until


def test_a_bare_address_opens_the_first_preset() -> None:
    app = opened()
    assert session_of(app).params == PRESETS[0].params()
    assert link_of(app) == PRESETS[0].params().to_query()
    assert [button.label for button in app.button][:3] == [preset.title for preset in PRESETS[:3]]


def test_link_to_controls_to_link() -> None:
    query = {**SMALL, "beta": "0.4", "C": "0.02", "noise": "0.1", "seed": "7"}
    app = opened(**query)
    assert widget(app.slider, "beta").value == 0.4
    assert widget(app.select_slider, "C").value == 0.02
    assert widget(app.select_slider, "r").value == 16
    app.session_state["open_features"] = True
    app.run()
    assert widget(app.slider, "noise").value == 0.1
    assert any("Compared with Algorithm 1" in caption.value for caption in app.caption)
    assert link_of(app) == query
    widget(app.select_slider, "r").set_value(24).run()
    assert link_of(app) == {**query, "r": "24"}


def test_a_warning_can_be_closed() -> None:
    app = opened(**SMALL, T="x")
    assert ["T is not a parameter of oh; left out" in warning.value for warning in app.warning] == [True]
    app.button(key="close_0").click().run()
    assert not app.warning


def test_a_class_is_given_the_address_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "network_host", lambda: "192.0.2.7")
    assert sharing.on_network("http://localhost:8501/?r=8&C=1") == "http://192.0.2.7:8501/?r=8&C=1"
    assert sharing.on_network("https://lab.example/x?r=8") == "https://lab.example/x?r=8"
    monkeypatch.setattr(sharing, "network_host", lambda: "")
    assert sharing.on_network("http://localhost:8501/") == "http://localhost:8501/"


def test_the_link_of_a_story_brings_the_whole_story() -> None:
    story = next(one for one in PRESETS if one.companion is not None)
    app = opened(**story.params().to_query())
    assert session_of(app).preset == story.key
    assert len(live_run.hub().lease(session_of(app).id).companions) == 1
    assert session_of(opened(**{**story.params().to_query(), "C": "0.5"})).preset == ""


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"method": "<script>"}, "method must be one of"),
        ({"dataset": "../../etc/passwd"}, "dataset must be one of"),
        ({"r": "-5"}, "r must be an integer"),
        ({"beta": "nan"}, "beta must be a number"),
        ({"r": "8192", "method": "mmoh", "T": "64"}, "must be at most 2048 bits on this server"),
        ({"changes": "1:r:5"}, "ignored"),
        ({"changes": "%00%00"}, "ignored"),
    ],
)
@pytest.mark.slow
def test_forged_links_are_warnings_and_defaults(query: dict[str, str], message: str) -> None:
    app = opened(**query)
    assert any(message in warning.value for warning in app.warning), [warning.value for warning in app.warning]
    assert app.button(key="play")


def test_a_link_to_data_of_somebodys_own_says_so_and_offers_others() -> None:
    app = opened(dataset="own", content="abc123")
    assert "abc123" in app.error[0].value and "upload" in app.error[0].value
    widget(app.selectbox, "dataset").set_value("blobs2d").run()
    assert not app.error and session_of(app).params.dataset == "blobs2d"


@pytest.mark.slow
def test_a_run_that_cannot_start_is_a_message_with_a_way_out() -> None:
    app = opened(dataset="words", method="sdh")
    until(app, lambda: bool(app.error))
    assert "labels" in app.error[0].value and "choose a preset" in app.error[0].value
    assert app.button(key="play").label == "Play again"
    assert not [one for one in app.button if one.key == "another"], "no gallery without a run"


@pytest.mark.slow
def test_a_link_that_its_data_cannot_fulfil_is_a_warning_and_defaults() -> None:
    app = opened(dataset="blobs2d", m="2048", C="0.5")
    until(app, lambda: bool(app.warning) and not app.error)
    assert app.warning[0].value.startswith("Some parts of the link were ignored: ")
    assert "m must be at most" in app.warning[0].value and "using m = 300" in app.warning[0].value
    assert session_of(app).params == experiment("blobs2d", "oh", C=0.5) and "m" not in app.query_params


@pytest.mark.slow
def test_one_message_tells_what_the_server_and_the_data_refuse() -> None:
    app = opened(dataset="blobs2d", m="100000", noise="7")
    until(app, lambda: any("using m = 300" in one.value for one in app.warning))
    (warning,) = app.warning
    assert "noise must be" in warning.value and "using 2048" not in warning.value, "m is 300 now"


def test_the_words_of_a_link_are_no_markup() -> None:
    app = opened(**SMALL, beta="[sign in](//evil.example) ![x](http://host/t.png)")
    (warning,) = app.warning
    assert "\\[sign in\\](/\u2060/evil.example)" in warning.value and "http://" not in warning.value


def test_a_key_that_stands_twice_is_named_and_the_address_is_mended() -> None:
    app = AppTest.from_file(APP, default_timeout=60)
    for key, value in {**SMALL, "r": ["16", "24"]}.items():
        app.query_params[key] = value
    app.run()
    assert ["r is given 2 times; using the last, 24" in warning.value for warning in app.warning] == [True]
    assert session_of(app).params.model.r == 24 and app.query_params["r"] == "24"


def test_a_stray_key_names_nothing() -> None:
    app = opened(utm_source="mail")
    assert session_of(app).params == PRESETS[0].params() and not app.warning
    assert session_of(opened(beta="0.3")).params.model.beta == 0.3


def test_present_mode_is_in_the_link_and_survives_a_reload() -> None:
    app = opened(**SMALL, present="1")
    assert app.session_state["ohash"].present and app.query_params["present"] == "1" and not app.warning
    app.button(key="back").click().run()
    assert not app.session_state["ohash"].present and "present" not in app.query_params


def test_only_what_can_be_presented_is_and_the_rest_is_said() -> None:
    assert set(present.VIEWS) <= address.PRESENTED
    app = opened(present="nonsense")
    assert not session_of(app).present and "present" not in app.query_params
    assert "present must be 1, gallery" in app.warning[0].value and "nonsense" in app.warning[0].value
    warning_text = app.warning[0].value.replace("\\", "")  # of Markdown
    assert all(name in warning_text for name in address.CHARTS), "the charts are named"
    assert session_of(app).params == PRESETS[0].params(), "nothing else was named"
    learn = AppTest.from_file(APP, default_timeout=60)
    learn.query_params["present"], learn.query_params["at"] = "nonsense", "abc"
    learn.switch_page("pages/learn.py").run()
    assert [one.value for one in learn.warning if "present must be" in one.value], "on Learn, too"
    assert not any("at must be" in one.value for one in learn.warning), "its playground reads that"


def test_the_pages_are_those_of_the_router() -> None:
    assert set(address.PAGES) == set(re.findall(r'url_path="(\w+)"', Path(APP).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("path", "expected"), [("Learn", "did you mean learn?"), ("learn", ""), ("", ""), ("zzz", "zzz")]
)
def test_a_page_that_is_not_here_is_named(path: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "streamlit.runtime.context.ContextProxy.url"
    monkeypatch.setattr(url, property(lambda _: f"http://localhost:8501/{path}"))
    messages = [one.value for one in opened(**SMALL).warning]
    assert len(messages) == bool(expected) and all(expected in one and "there is no page" in one for one in messages)
