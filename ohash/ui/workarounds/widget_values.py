"""Values that no page sends: of a type that their widget does not have, of no widget, or none that it can read.

Streamlit (1.67) takes from a message whatever it calls the value of a widget, notes its type as that of the widget, and
fails from then on at every run of that session, each time with a traceback of sixty lines in the log.
"""

import json
import logging
import time
from collections.abc import Callable
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import (
    WidgetMetadata,
    is_element_id,
    unpack_widget_state_value,
)
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX, Serialized, WStates

LOG = logging.getLogger(__name__)
LINES_A_MINUTE = 10
SAME = {"int_value": "double_value"}  # a field for numbers sends either
OF_COMPONENT = f"{STREAMLIT_INTERNAL_KEY_PREFIX}_"  # what happened in one: clicks, the theme
READ_ONCE = ("file_uploader_state_value", "chat_input_value")


class LimitLines(logging.Filter):
    """A few lines a minute and how many were left out, so that no visitor fills the disk of a server with them."""

    def __init__(self, most: int = LINES_A_MINUTE, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` is replaced in tests."""
        super().__init__()
        self.most, self._clock = most, clock
        self._minute, self._lines = -1, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written; the first of a minute says how many were not before."""
        minute = int(self._clock() // 60)
        left_out = self._lines - self.most
        if minute != self._minute:
            self._minute, self._lines = minute, 0
            if left_out > 0:
                record.msg = f"{record.msg} ({left_out:,} more lines like this were left out)"
        self._lines += 1
        return self._lines <= self.most


LOG.addFilter(LimitLines())


def drop_foreign_values() -> None:
    """From now on they are dropped, with one line in the log."""
    take, learn = WStates.set_widget_from_proto, WStates.set_widget_metadata

    def set_widget_from_proto(self: WStates, widget_state: WidgetState) -> None:
        if fits(widget_state, self.widget_metadata.get(widget_state.id)):
            take(self, widget_state)

    def set_widget_metadata(self: WStates, widget_meta: "WidgetMetadata[Any]") -> None:
        state = self.states.get(widget_meta.id)  # it may have come before the widget was drawn
        if isinstance(state, Serialized) and not fits(state.value, widget_meta):
            del self.states[widget_meta.id]
        learn(self, widget_meta)

    WStates.set_widget_from_proto = set_widget_from_proto  # type: ignore[method-assign]
    WStates.set_widget_metadata = set_widget_metadata  # type: ignore[method-assign]


def fits(state: WidgetState, widget: "WidgetMetadata[Any] | None") -> bool:
    """Whether it is the value of a widget, and one that this widget, if it is known, can have; or no value."""
    got: str | None = state.WhichOneof("value")
    declared = got if got is None or widget is None else widget.value_type
    if (
        (is_element_id(state.id) or state.id.startswith(OF_COMPONENT))
        and (got == declared or SAME.get(str(got)) == declared)
        and _can_be_read(state, widget)
    ):
        return True
    LOG.warning("a browser sent a %s that no widget of its page can have: dropped", got)
    return False


def _can_be_read(state: WidgetState, widget: "WidgetMetadata[Any] | None") -> bool:
    """Whether the widget makes something of it; and whether JSON of a component is an object, or a list of events."""
    kind: str | None = state.WhichOneof("value")
    try:
        if kind in ("json_value", "json_trigger_value"):
            value = json.loads(getattr(state, kind))
            several = kind == "json_trigger_value" and isinstance(value, list)
            return all(isinstance(one, dict) for one in (value if several else [value]))
        if widget is not None and kind not in (None, *READ_ONCE):
            widget.deserializer(unpack_widget_state_value(state))
    except Exception:  # whatever a widget fails with, it would fail with it in the middle of a page
        return False
    return True
