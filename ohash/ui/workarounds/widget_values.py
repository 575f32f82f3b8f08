"""Values that no page sends: of a type that their widget does not have, of no widget, unreadable, or never offered.

Streamlit (1.67) takes from a message whatever it calls the value of a widget, notes its type as that of the widget, and
fails from then on at every run of that session, each time with a traceback of sixty lines in the log. Of a choice among
options it takes any text, which reaches the callback in place of an option.
"""

import json
import logging
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import (
    WidgetMetadata,
    is_element_id,
    unpack_widget_state_value,
)
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX, Serialized, WStates

from ohash.ui.workarounds.log_lines import LimitLines

LOG = logging.getLogger(__name__)
SAME = {"int_value": "double_value"}  # a field for numbers sends either
OF_COMPONENT = f"{STREAMLIT_INTERNAL_KEY_PREFIX}_"  # what happened in one: clicks, the theme
READ_ONCE = ("file_uploader_state_value", "chat_input_value")


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
        and _is_offered(state, widget)
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


def _is_offered(state: WidgetState, widget: "WidgetMetadata[Any] | None") -> bool:
    """Whether everything chosen is among the options of the widget, if it has some, each once and not too many."""
    if widget is None or widget.formatted_options is None:
        return True
    kind: str | None = state.WhichOneof("value")
    if kind == "string_value":
        return state.string_value in widget.formatted_options
    if kind != "string_array_value":
        return True
    chosen = list(state.string_array_value.data)
    few = widget.max_array_length is None or len(chosen) <= widget.max_array_length
    distinct = widget.allow_url_duplicates or len(set(chosen)) == len(chosen)
    return few and distinct and set(chosen) <= set(widget.formatted_options)
