"""The page "Learn or rotate?": it begins by itself, shows what is known so far, and its link is the whole question."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.advice import contenders, runner
from ohash.advice.params import AdviceOptions, AdviceParams, from_query
from ohash.advice.runner import AdviceRunner
from ohash.ui.session import advice_run, own_data
from tests.advice.click_logs import misleading
from tests.advice.conftest import KEPT
from tests.ui.app import finish, open_page, texts, widget

SMALL = {"dataset": "digits", "advise": "1", "queries": "30", "pairs": "300"}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of the machine's owner, and few contenders."""
    for variable in (*own_data.FILES, "OHASH_DATA"):
        monkeypatch.delenv(variable, raising=False)
    every = contenders.contenders
    monkeypatch.setattr(runner, "contenders", lambda log: [one for one in every(log) if one.key in KEPT])


def page(**query: str) -> AppTest:
    return open_page("advise", query or SMALL)


def running(app: AppTest) -> AdviceRunner:
    current: AdviceRunner = advice_run.runner(app.session_state["ohash"])
    return current


def over(app: AppTest) -> AppTest:
    return finish(app, running(app))


@pytest.mark.slow
def test_a_link_is_opened_answered_and_written_back() -> None:
    app = over(page())
    assert running(app).params == AdviceParams("digits", options=AdviceOptions(queries=30, pairs=300))
    assert dict(app.query_params) == SMALL
    page_text = texts(app)
    assert 'data-state="done"' in page_text and "precision@10" in page_text and "recall@10" in page_text
    assert "What would change the answer" in page_text and "rescored by the float vectors" in page_text


@pytest.mark.slow
def test_another_setting_asks_again() -> None:
    app = over(page())
    before = running(app)
    widget(app.slider, "advise_splits").set_value(2)
    app.run()
    assert running(app) is not before and running(app).params.options.splits == 2
    assert app.query_params["splits"] == ["2"] or app.query_params["splits"] == "2"
    assert "fewer than 3 splits" in texts(over(app))


def test_data_without_clicks_and_labels_say_so() -> None:
    app = over(page(dataset="words", advise="1"))
    assert "advice needs clicks" in texts(app)


def test_bad_values_of_a_link_are_named() -> None:
    params, problems = from_query({"dataset": "nosuch", "advise": "1", "queries": "-3", "splits": "2"})
    assert params.options.splits == 2 and params.options.queries == 200 and len(problems) == 2


@pytest.mark.slow
def test_own_clicks_are_the_question() -> None:
    app = page()
    session = app.session_state["ohash"]
    content = own_data.add(session, misleading(n=300))
    advice_run.choose(session, AdviceParams("own", content, AdviceOptions(queries=40, pairs=300)))
    app = over(app.run())
    assert "on later clicks" in texts(app) and 'data-decision="learn"' in texts(app)


def test_a_link_to_somebody_elses_data_asks_for_them() -> None:
    app = page(dataset="own", advise="1", content="0123456789abcdef")
    assert "needs an uploaded file" in texts(app)


@pytest.mark.slow
def test_what_is_known_so_far_is_shown() -> None:
    app = page()
    known = over(app) and running(app).snapshot()
    early = tuple(one for one in known.measured if one.split == 0)
    assert len(early) == len({one.key for one in known.measured})
    assert np.isfinite(known.mean("rabitq_1", "truth"))
