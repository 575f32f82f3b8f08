"""Widgets that show the experiment's value and never throw a user's newer choice back. Touches session_state.

Streamlit offers two ways to give a widget a value, and both race with a user who moves it while a page is drawn: set in
session_state at every run, an older picture pushes the slider back; set once, a run that is interrupted leaves it at
its minimum, which then arrives as if somebody had chosen it. So a value is given as the default only, under a key that
changes whenever the experiment, and not the user, has changed it.

A press of a button counts once.

A pressed button stays pressed in the browser until its own message has gone. If the timer of a fragment fires in
between, the fragment's message carries the press too, and Streamlit (1.67) runs the callback for each: Play and Pause
cancel each other, Step learns two pairs. The button's own message always follows and runs the whole page, so a press
that comes with a fragment is not counted. Only for buttons that stand outside the fragments.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ParamSpec

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

STORE = "ohash_slots"


@dataclass(frozen=True)
class Slot:
    """A widget by `key` with its default `initial`; `shown` is what it shows now as far as anybody knows."""

    name: str
    generation: int
    initial: Any
    shown: Any
    options: tuple[Any, ...]

    @property
    def key(self) -> str:
        """The widget's key."""
        return f"w_{self.name}_{self.generation}"

    @property
    def index(self) -> int:
        """Where the default stands among the options."""
        return self.options.index(self.initial)


def slot(name: str, value: Any, options: Sequence[Any] = ()) -> Slot:
    """The widget called `name`, which should show `value`; another one if it would show something else.

    With other options, or after another page, it is a new widget to Streamlit, which has forgotten its value.
    """
    known: dict[str, Slot] = st.session_state.setdefault(STORE, {})
    found, offered = known.get(name), tuple(options)
    if found is None or found.shown != value or found.options != offered or found.key not in st.session_state:
        generation = 0 if found is None else found.generation + 1
        known[name] = Slot(name, generation, value, value, offered)
    return known[name]


def distinct(words: Mapping[str, str]) -> dict[str, str]:
    """Words for options, each once: a select box knows its options by what it shows, and two of one name swap.

    >>> distinct({"a": "digits", "b": "words", "c": "digits"})
    {'a': 'digits', 'b': 'words', 'c': 'digits (2)'}
    """
    seen: Counter[str] = Counter()
    found = {}
    for key, text in words.items():
        seen[text] += 1
        found[key] = text if seen[text] == 1 else f"{text} ({seen[text]})"
    return found


def when(one: Slot, act: Callable[[Any], None]) -> Callable[[], None]:
    """A callback: `act` on what the user chose.

    A message that left the browser before it knew of a newer widget carries the older one, whose state the server has
    dropped by then: Streamlit takes its value for a new choice. A preset would be undone by the slider it has moved.
    """

    def changed() -> None:
        known: dict[str, Slot] = st.session_state.setdefault(STORE, {})
        now = known.get(one.name, one)
        if now.key == one.key:
            value = st.session_state[one.key]
            known[one.name] = replace(now, shown=value)
            act(value)

    return changed


P = ParamSpec("P")


def once(callback: Callable[P, None]) -> Callable[P, None]:
    """The callback of a button outside the fragments, run once a press."""

    @wraps(callback)
    def pressed(*args: P.args, **kwargs: P.kwargs) -> None:
        context = get_script_run_ctx()
        if context is None or not context.fragment_ids_this_run:
            callback(*args, **kwargs)

    return pressed
