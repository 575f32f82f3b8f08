"""A press of a button counts once.

A pressed button stays pressed in the browser until its own message has gone. If the timer of a fragment fires in
between, the fragment's message carries the press too, and Streamlit (1.67) runs the callback for each: Play and Pause
cancel each other, Step learns two pairs. The button's own message always follows and runs the whole page, so a press
that comes with a fragment is not counted. Only for buttons that stand outside the fragments.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from streamlit.runtime.scriptrunner import get_script_run_ctx

P = ParamSpec("P")


def once(callback: Callable[P, None]) -> Callable[P, None]:
    """The callback of a button outside the fragments, run once a press."""

    @wraps(callback)
    def pressed(*args: P.args, **kwargs: P.kwargs) -> None:
        context = get_script_run_ctx()
        if context is None or not context.fragment_ids_this_run:
            callback(*args, **kwargs)

    return pressed
