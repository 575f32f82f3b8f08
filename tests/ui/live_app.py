"""The Live page as AppTest opens it, and how to find things on it."""

import time
from collections.abc import Callable

from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.ui.session import live_run
from ohash.ui.session.session import Session
from tests.ui.app import APP

SMALL = {"dataset": "blobs2d", "method": "oh", "r": "16", "pairs": "100000000"}


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def more(app: AppTest) -> AppTest:
    """With the list of presets open."""
    app.session_state["open_presets"] = True
    return app.run()


def session_of(app: AppTest) -> Session:
    session: Session = app.session_state["ohash"]
    return session


def until(app: AppTest, true: Callable[[], bool]) -> None:
    """Redraw as the timer would, which AppTest has not."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
        app.run()
        assert not app.exception


def link_of(app: AppTest) -> dict[str, str]:
    return {key: value if isinstance(value, str) else value[0] for key, value in app.query_params.items()}


def moving(app: AppTest) -> bool:
    now = live_run.runner(session_of(app)).snapshot()
    return now is not None and now.t > 0
