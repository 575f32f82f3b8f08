"""A tab that the lecturer sends to another address: the session turns to it, and keeps what it names already."""

from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.ui.session import live_run
from tests.ui.app import widget
from tests.ui.live_app import SMALL, link_of, moving, opened, session_of, until


def send(app: AppTest, mark: int, page: str = "", **query: str) -> AppTest:
    """What the browser of a follower does: another address with a mark, and the page is run again."""
    app.query_params.clear()
    for key, value in {**query, "place": str(mark)}.items():
        app.query_params[key] = value
    if page:
        app.switch_page(page)
    app.run()
    assert not app.exception
    return app


def test_live_turns_to_the_experiment_and_ends_the_one_before():
    app = opened(**SMALL)
    before, first = session_of(app), live_run.runner(session_of(app))
    until(app, lambda: moving(app))
    send(app, 1, **{**SMALL, "r": "24"})
    session = session_of(app)
    assert session.id == before.id and session.params.model.r == 24
    assert widget(app.select_slider, "r").value == 24 and "place" not in link_of(app) and link_of(app)["r"] == "24"
    assert live_run.runner(session) is not first and first.finished.wait(10)
    assert not session.earlier and not session.ghosts, "a class that follows is drawn for as one"


def test_a_tab_is_sent_to_an_address_once_and_may_change_it_then():
    app = send(opened(**SMALL), 1, **{**SMALL, "r": "24"})
    widget(app.select_slider, "r").set_value(12).run()
    app.query_params["place"] = "1"  # as a message carries it that was sent before the browser knew better
    app.run()
    assert session_of(app).params.model.r == 12 and "place" not in link_of(app)
    send(app, 2, **{**SMALL, "r": "24"})
    assert session_of(app).params.model.r == 24, "she has left, changed it, and come back to the same place"


def test_the_same_experiment_goes_on_when_it_is_presented():
    app = opened(**SMALL)
    running = live_run.runner(session_of(app))
    send(app, 1, **SMALL, present="loss")
    assert session_of(app).present == "loss" and live_run.runner(session_of(app)) is running
    send(app, 2, **SMALL)
    assert not session_of(app).present and live_run.runner(session_of(app)) is running


def test_other_pages_turn_to_their_address():
    app = opened(**SMALL)
    send(app, 1, "pages/step.py", **SMALL, at="7")
    assert session_of(app).pair == 7
    session_of(app).stages_shown = 3
    send(app, 2, "pages/step.py", **SMALL, at="9")
    assert session_of(app).pair == 9 and session_of(app).stages_shown == 1 and link_of(app)["at"] == "9"
    send(app, 3, "pages/data.py", view="all")
    assert app.segmented_control(key="view_part").value == "all"
    send(app, 4, "pages/data.py", dataset="moons")
    assert app.segmented_control(key="view_part").value == "look" and link_of(app) == {"dataset": "moons"}
    send(app, 5, "pages/compare.py", dataset="blobs2d", methods="oh,lsh", r="8", pairs="300")
    comparison = session_of(app).comparison
    assert comparison is not None and [one.method for one in comparison.entries] == ["oh", "lsh"]
    send(app, 6, "pages/compare.py", dataset="blobs2d", methods="oh,itq", r="8", pairs="300")
    assert widget(app.multiselect, "methods").value == ["oh", "itq"]
    send(app, 7, "pages/learn.py", present="1")
    assert session_of(app).present == "1" and link_of(app) == {"present": "1"}
    send(app, 8, "pages/learn.py", r="3")
    assert not session_of(app).present and link_of(app) == {"r": "3"}
    assert session_of(app).params.dataset == "moons", "what the playground is set to is no experiment of Live"
