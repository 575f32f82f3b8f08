"""Widgets that show the experiment's value and never undo a user's newer choice. Touches session_state.

Streamlit offers two ways to give a widget a value, and both race with a user who moves it while a page is drawn: set in
session_state at every run, an older frame pushes the slider back; set once, an interrupted run leaves it at its
minimum, which then arrives as if the user had chosen it. So a value is only given as the default, under a key that
changes whenever the experiment, and not the user, has changed it.

A press of a button counts once: a pressed button stays pressed in the browser until its own message has been sent. If
the timer of a fragment fires in between, the fragment's message carries the press too, and Streamlit (1.67) runs the
callback for each: Play and Pause cancel each other, Step learns two pairs. The button's own message always follows and
runs the whole page, so a press that arrives with a fragment is not counted. Only for buttons outside the fragments.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Generic, ParamSpec, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

STORE = "ohash_slots"


T = TypeVar("T")


@dataclass(frozen=True)
class Slot(Generic[T]):
    """A widget by `key` with its default `initial`; `shown` is what it shows now, as far as the server knows."""

    name: str
    generation: int
    initial: T
    shown: T
    options: tuple[T, ...]

    @property
    def key(self) -> str:
        """The widget's key."""
        return f"w_{self.name}_{self.generation}"

    @property
    def index(self) -> int:
        """The place of the default among the options."""
        return self.options.index(self.initial)


def slot(name: str, value: T, options: Sequence[T] = ()) -> Slot[T]:
    """The widget called `name`, which should show `value`; a new one if it would show something else.

    With other options, or after a visit to another page, Streamlit has forgotten its value: it is new, too.
    """
    slots: dict[str, Slot[T]] = st.session_state.setdefault(STORE, {})
    last, offered = slots.get(name), tuple(options)
    if last is None or last.shown != value or last.options != offered or last.key not in st.session_state:
        generation = 0 if last is None else last.generation + 1
        slots[name] = Slot(name, generation, value, value, offered)
    return slots[name]


def distinct(titles: Mapping[str, str]) -> dict[str, str]:
    """Titles of options, each once: a select box identifies options by their titles, and two equal ones swap.

    >>> distinct({"a": "digits", "b": "words", "c": "digits"})
    {'a': 'digits', 'b': 'words', 'c': 'digits (2)'}
    """
    seen: Counter[str] = Counter()
    unique = {}
    for key, title in titles.items():
        seen[title] += 1
        unique[key] = title if seen[title] == 1 else f"{title} ({seen[title]})"
    return unique


def on_choice(widget: Slot[T], act: Callable[[T], None]) -> Callable[[], None]:
    """A callback that calls `act` with what the user chose.

    A message sent before the browser knew of a newer widget carries the older one, whose state the server has dropped
    by then: Streamlit takes its value for a new choice. A preset would be undone by the slider it has moved.
    """

    def change() -> None:
        slots: dict[str, Slot[T]] = st.session_state.setdefault(STORE, {})
        current = slots.get(widget.name, widget)
        if current.key == widget.key:
            value = st.session_state[widget.key]
            slots[widget.name] = replace(current, shown=value)
            act(value)

    return change


def component_value(component: str, name: str) -> Any:
    """What a custom component has reported under `name`; for callbacks."""
    return st.session_state[component].get(name)


P = ParamSpec("P")


def once_per_press(callback: Callable[P, None]) -> Callable[P, None]:
    """The callback of a button outside the fragments, run once per press."""

    @wraps(callback)
    def press(*args: P.args, **kwargs: P.kwargs) -> None:
        context = get_script_run_ctx()
        if context is None or not context.fragment_ids_this_run:
            callback(*args, **kwargs)

    return press
