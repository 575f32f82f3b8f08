"""Widgets from declared parameter tables: slider, choice or switch, tooltip and equation, by what the row says."""

import math
from collections.abc import Callable
from typing import Any

import streamlit as st

from ohash.core.parameters import Parameter
from ohash.ui import state

Committed = Callable[[str, Any], None]

MANTISSAS = (1.0, 2.0, 5.0)
HALVES = (1.0, 1.5)


def control(row: Parameter, value: Any, on_commit: Committed, *, options: tuple[str, ...] | None = None) -> None:
    """One widget for one declared parameter; `on_commit(key, value)` is called when the user has moved it."""
    key = row.key if row.slider or row.choices or row.kind is bool else f"{row.key}_{value}"

    def changed() -> None:
        on_commit(row.key, state.chosen(key))

    label = label_of(row)
    if row.kind is bool:
        st.toggle(label, key=state.widget(row.key, value), help=help_of(row), on_change=changed)
    elif row.choices:
        choices = list(options or row.choices)
        choices += [] if value in choices else [value]
        st.selectbox(
            label, choices, key=state.widget(row.key, value, choices),
            help=help_of(row), on_change=changed, format_func=lambda choice: choice.replace("_", " "),
        )  # fmt: skip
    elif row.slider is None:
        # a key of its own for every value: the old number must not come back as if the user had typed it
        st.number_input(label, key=state.widget(key, value), step=1, min_value=int(row.lo), max_value=int(row.hi),
                        help=help_of(row), on_change=changed)  # fmt: skip
    elif row.scale == "log":
        steps = log_options(row, value)
        st.select_slider(
            label, steps, key=state.widget(row.key, value, steps), format_func=lambda v: f"{v:,g}", help=help_of(row),
            on_change=changed,
        )  # fmt: skip
    else:
        lo, hi = (row.kind(bound) for bound in row.slider)
        lo, hi = min(lo, value), max(hi, value)
        st.slider(
            label, lo, hi, step=row.kind(row.step or 1), key=state.widget(row.key, value, (lo, hi)), help=help_of(row),
            on_change=changed,
        )  # fmt: skip


def label_of(row: Parameter) -> str:
    """Symbol and plain name.

    >>> label_of(Parameter("beta", float, 0.5, "β", "dissimilar beyond", ""))
    'β · dissimilar beyond'
    """
    return f"{row.symbol} · {row.title}" if row.symbol else row.title


def help_of(row: Parameter) -> str:
    """Tooltip: what it does, what is allowed, where it stands in the paper."""
    parts = [row.help, f"Allowed: {row.allowed}. Default: {row.default!r}."]
    if row.eq:
        parts.append(f"In the paper: {row.eq}.")
    parts.append("Acts on the running model." if row.live else "Starts a new run.")
    return " ".join(parts)


def log_options(row: Parameter, value: Any) -> list[Any]:
    """Round numbers on a logarithmic scale, with the current value among them.

    >>> log_options(Parameter("r", int, 48, "r", "", "", slider=(8, 64), scale="log"), 50)
    [8, 12, 16, 24, 32, 48, 50, 64]
    """
    assert row.slider is not None
    lo, hi = row.slider
    found: set[Any] = {value}
    if row.kind is int and hi <= 4096:
        power = 2 ** math.floor(math.log2(max(lo, 1)))
        while power <= hi:
            found |= {int(power * half) for half in HALVES if lo <= power * half <= hi}
            power *= 2
    else:
        decade = math.floor(math.log10(lo))
        while 10.0**decade <= hi:
            found |= {row.kind(float(f"{m}e{decade}")) for m in MANTISSAS if lo <= m * 10.0**decade <= hi * 1.0001}
            decade += 1
    return sorted(found)
