"""Values of a type that no widget of that kind has are dropped, whenever they come."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState  # noqa: TID251
from streamlit.runtime.state.common import WidgetMetadata  # noqa: TID251
from streamlit.runtime.state.session_state import WStates  # noqa: TID251

from ohash.ui.workarounds import browser
from ohash.ui.workarounds.log_lines import LINES_PER_MINUTE, LimitLines, limit_log_lines
from ohash.ui.workarounds.widget_values import LOG, drop_foreign_values

ID = "$$ID-0123-beta"


@pytest.fixture(autouse=True)
def guarded() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("set_widget_from_proto", "set_widget_metadata"):
            patch.setattr(WStates, name, getattr(WStates, name))  # as it was, after the test
        drop_foreign_values()
        yield


def number_field(states: WStates) -> None:
    states.set_widget_metadata(WidgetMetadata(ID, lambda value: value, lambda value: value, "double_value"))


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ({"double_value": 0.5}, 0.5),
        ({"int_value": 3}, 3),
        ({}, None),
        ({"string_value": "0.5"}, "nothing"),
        ({"trigger_value": True}, "nothing"),
        ({"json_value": "{"}, "nothing"),
        ({"double_value": 0.5, "id": "ohash_owner"}, "nothing"),
    ],
)
@pytest.mark.parametrize("drawn", ["before", "after"])
def test_only_values_that_its_widget_may_have_are_kept(sent: dict[str, Any], kept: object, drawn: str) -> None:
    states = WStates()
    if drawn == "before":
        number_field(states)
    states.set_widget_from_proto(WidgetState(**{"id": ID, **sent}))
    if drawn == "after":
        number_field(states)
    assert states.get(ID, "nothing") == kept and set(states) <= {ID}
    assert states.as_widget_states() is not None, "with a foreign value this failed at every run"


@pytest.mark.parametrize(
    ("kind", "text", "kept"),
    [
        ("json_value", '{"client": {"narrow": true}}', True),
        ("json_value", "[{}]", False),
        ("json_trigger_value", '[{"event": "row", "value": 3}]', True),
        ("json_trigger_value", '["row"]', False),
        *(
            (kind, text, False)
            for kind in ("json_value", "json_trigger_value")
            for text in ("{", '"x"', "", "[" * 9999)
        ),
    ],
)
def test_a_component_says_an_object(kind: Any, text: str, kept: bool) -> None:
    states = WStates()
    states.set_widget_metadata(WidgetMetadata(ID, lambda value: value, lambda value: value, kind))
    states.set_widget_from_proto(WidgetState(**{"id": ID, kind: text}))
    assert (ID in states) is kept


def test_what_a_widget_cannot_read_is_dropped() -> None:
    """As a whole number that is none, or the selection of a table that is no JSON."""
    states = WStates()
    states.set_widget_metadata(WidgetMetadata(ID, int, lambda value: value, "double_value"))
    states.set_widget_from_proto(WidgetState(id=ID, double_value=float("nan")))
    assert ID not in states
    states.set_widget_from_proto(WidgetState(id=ID, double_value=3.0))
    assert states[ID] == 3


@pytest.mark.parametrize(
    ("sent", "kept"),
    [(["a"], True), (["b", "a"], True), ([], True), (["c"], False), (["a", "a"], False), (["a", "b", "c"], False)],
)
def test_what_a_list_does_not_offer_is_dropped(sent: list[str], kept: bool) -> None:
    """Streamlit would hand the text to the callback in place of an option."""
    states = WStates()
    offered = WidgetMetadata(ID, list, list, "string_array_value", formatted_options=["a", "b"], max_array_length=2)
    states.set_widget_metadata(offered)
    state = WidgetState(id=ID)
    state.string_array_value.data.extend(sent)
    states.set_widget_from_proto(state)
    assert (ID in states) is kept


@pytest.mark.parametrize(("sent", "kept"), [("a", True), ("0", False), ("", False)])
def test_what_a_select_box_does_not_offer_is_dropped(sent: str, kept: bool) -> None:
    states = WStates()
    states.set_widget_metadata(WidgetMetadata(ID, str, str, "string_value", formatted_options=["a"]))
    states.set_widget_from_proto(WidgetState(id=ID, string_value=sent))
    assert (ID in states) is kept


@pytest.mark.parametrize("reported", [None, 5, "narrow", [1], {"narrow": 1}])
def test_a_browser_that_reports_something_else_reports_nothing(
    reported: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    callbacks: dict[str, Callable[[], None]] = {}
    monkeypatch.setattr(browser, "_component", lambda: lambda **given: callbacks.update(given))
    monkeypatch.setattr(browser, "component_value", lambda *_: reported)
    reports: list[browser.BrowserReport] = []
    browser.listen(reports.append, lambda _: None)
    callbacks["on_client_change"]()
    assert reports == [browser.BrowserReport(narrow=isinstance(reported, dict), reduced_motion=False)]


def test_what_happens_in_a_component_is_kept() -> None:
    """Its events have an id of their own, as browsers send them for a click on a curve."""
    events = f"$$STREAMLIT_INTERNAL_KEY_{ID}__events"
    for drawn in (False, True):
        states = WStates()
        if drawn:
            states.set_widget_metadata(WidgetMetadata(events, lambda v: v, lambda v: v, "json_trigger_value"))
        states.set_widget_from_proto(WidgetState(id=events, json_trigger_value='[{"event":"pair","value":631}]'))
        assert events in states.states


def test_what_was_there_stays() -> None:
    states = WStates()
    number_field(states)
    states.set_widget_from_proto(WidgetState(id=ID, double_value=0.5))
    states.set_widget_from_proto(WidgetState(id=ID, string_value="x"))
    assert states[ID] == 0.5


def test_forged_values_do_not_fill_the_log() -> None:
    assert any(isinstance(one, LimitLines) for one in LOG.filters)
    now, written = 0.0, []
    limit = LimitLines(3, clock=lambda: now)

    def write(lines: int) -> None:
        for at in range(lines):
            record = logging.LogRecord("x", logging.WARNING, "", 0, "line %s", (at,), None)
            if limit.filter(record):
                written.append(record.getMessage())

    write(500)
    assert written == ["line 0", "line 1", "line 2"]
    now, written = 61.0, []
    write(2)
    now = 122.0
    write(1)
    assert written == ["line 0 (497 more lines like this were left out)", "line 1", "line 0"]


@pytest.mark.parametrize(
    "name",
    [
        "asyncio",
        "python_multipart.multipart",
        "streamlit.runtime.app_session",
        "streamlit.runtime.scriptrunner.script_runner",
        "streamlit.web.server.starlette.starlette_websocket",
        "uvicorn.error",
        "websockets.server",
    ],
)
@pytest.mark.parametrize("later", [False, True])
def test_damaged_messages_and_uploads_do_not_fill_the_log(
    name: str, later: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether their module is loaded before the lines are limited or later, as the one that reads uploads is."""
    written: list[str] = []
    monkeypatch.setattr(logging.root.manager, "loggerDict", {**logging.root.manager.loggerDict})
    name = f"{name}.of_this_test"

    class Log(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(record.getMessage())

    before = [(one, list(one.filters)) for one in map(logging.getLogger, list(logging.root.manager.loggerDict))]
    made = logging.getLoggerClass()
    if not later:
        logging.getLogger(name)
    try:
        for _ in range(2):
            limit_log_lines()
        logger, other = logging.getLogger(name), logging.getLogger("of_this_test")
        logger.addHandler(Log())
        for at in range(100):
            logger.error("Error deserializing message %d", at)
        assert len(logger.filters) == 1 and not other.filters
    finally:
        logging.setLoggerClass(made)
        for one, filters in before:
            one.filters[:] = filters
    assert LINES_PER_MINUTE <= len(written) <= 2 * LINES_PER_MINUTE, "a minute may have ended in between"
