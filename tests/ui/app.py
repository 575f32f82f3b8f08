"""Pages as AppTest opens them, and what stands on them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from ohash.runtime.background import Background
from ohash.ui.session.session import Session

APP = str(Path(__file__).parents[2] / "app.py")


def open_page(
    name: str, query: Mapping[str, str], session: Session | None = None, *, timeout: float = 60, **state: object
) -> AppTest:
    """A page of `pages/` by its name, with the query of an address, and `state` that Streamlit keeps for it."""
    app = AppTest.from_file(APP, default_timeout=timeout)
    for key, value in query.items():
        app.query_params[key] = value
    # the router must run once before a page is known; Live is left before its run is begun
    app.session_state["ohash"] = session
    for key, value in state.items():
        app.session_state[key] = value
    app.switch_page(f"pages/{name}.py")
    app.run()
    assert not app.exception
    return app


def finish(app: AppTest, runner: Background) -> AppTest:
    """The page when what it runs in the background has finished."""
    assert runner.finished.wait(60)
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    """All that is written on the page."""
    parts = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info]
    return " ".join(element.value for element in parts) + " ".join(element.proto.body for element in app.get("html"))


def widget(kind: Any, name: str) -> Any:
    """A widget of the rail by the name of its parameter; its key changes with the experiment."""
    return next(one for one in kind if one.key and re.fullmatch(rf"w_{name}_\d+", one.key))
