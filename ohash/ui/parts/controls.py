"""Widgets from the declared parameter tables: slider, select box or toggle, with tooltip and equation."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from ohash.core.parameters import Parameter, Value, format_value
from ohash.ui.workarounds.slots import Slot, on_choice, slot

OnCommit = Callable[[str, Any], None]

MANTISSAS = (1.0, 2.0, 5.0)
HALVES = (1.0, 1.5)


def control(
    row: Parameter,
    value: Value,
    on_commit: OnCommit,
    *,
    options: tuple[str, ...] | None = None,
    idle: bool = False,
    name: str = "",
    label: bool = True,
) -> None:
    """One widget for one declared parameter; `on_commit(key, value)` is called when the user has changed it.

    An `idle` parameter has no effect with the current values of the others: its widget is disabled. A second widget
    of the same parameter has its own `name`; without `label` only screen readers are told what it is.
    """
    shown: Slot[Any] = slot(name or row.key, value, _options(row, value, options))  # of the type of its row
    on_change = on_choice(shown, partial(on_commit, row.key))
    common: dict[str, Any] = {"key": shown.key, "on_change": on_change, "disabled": idle}
    common |= {"help": help_of(row)} if label else {"label_visibility": "collapsed"}
    text = label_of(row)
    if row.kind is bool:
        st.toggle(text, shown.initial, **common)
    elif row.choices:
        st.selectbox(text, shown.options, shown.index, format_func=lambda choice: choice.replace("_", " "), **common)
    elif row.slider is None:
        lo, hi = (row.kind(bound) if math.isfinite(bound) else None for bound in (row.lo, row.hi))
        st.number_input(text, lo, hi, shown.initial, step=1 if row.kind is int else None, **common)
    elif row.scale == "log" or row.alias:
        st.select_slider(text, shown.options, shown.initial, format_func=lambda v: format_value(row, v), **common)
    else:
        lo, hi = shown.options
        step = row.kind(row.step or (1 if row.kind is int else (hi - lo) / 100))
        st.slider(text, lo, hi, shown.initial, step=step, **common)


def _options(row: Parameter, value: Value, options: tuple[str, ...] | None) -> tuple[Value, ...]:
    """Options of a select box or a log slider, the ends of a linear slider; the value is always among them."""
    if row.choices:
        choices = options or row.choices
        return choices if value in choices else (*choices, value)
    if row.slider is None or row.kind is bool:
        return ()
    if row.scale == "log":
        return tuple(log_options(row, value))
    lo, hi = (row.kind(bound) for bound in row.slider)
    if row.alias:
        steps = np.arange(lo, hi + row.step / 2, row.step) if row.step else np.linspace(lo, hi, 20)
        return tuple(sorted({row.kind(row.lo), value, *(row.kind(f"{step:.6g}") for step in steps)}))
    return min(lo, value), max(hi, value)


def label_of(row: Parameter) -> str:
    """Symbol and plain name.

    >>> label_of(Parameter("beta", float, 0.5, "β", "dissimilar threshold", ""))
    'β · dissimilar threshold'
    """
    return f"{row.symbol} · {row.title}" if row.symbol else row.title


def help_of(row: Parameter) -> str:
    """Tooltip: what the parameter does, what is allowed, where it is in the paper."""
    parts = [row.help, f"Allowed: {row.allowed}. Default: {format_value(row, row.default)}."]
    if row.active_if:
        parts.append(f"Only with {row.active_if[0].replace('_', ' ')} {' or '.join(row.active_if[1:])}.")
    parts.append("A change acts on the running model." if row.live else "A change starts a new run.")
    if row.eq:
        parts.append(f"In the paper: {row.eq}" + (":" if row.tex else "."))
    return " ".join(parts) + (f"\n\n$${row.tex}$$" if row.tex else "")


def log_options(row: Parameter, value: Value) -> list[Value]:
    """Round numbers on a logarithmic scale, with the current value among them.

    >>> log_options(Parameter("r", int, 48, "r", "", "", slider=(8, 64), scale="log"), 50)
    [8, 12, 16, 24, 32, 48, 50, 64]
    """
    assert row.slider is not None
    hi = row.slider[1]
    lo = row.slider[0] or hi / 10_000  # a logarithmic scale has no 0
    options: set[Value] = {value}
    if row.kind is int and hi <= 4096:
        power = 2 ** math.floor(math.log2(max(lo, 1)))
        while power <= hi:
            options |= {int(power * half) for half in HALVES if lo <= power * half <= hi}
            power *= 2
    else:
        decade = math.floor(math.log10(lo))
        while 10.0**decade <= hi:
            options |= {row.kind(float(f"{m}e{decade}")) for m in MANTISSAS if lo <= m * 10.0**decade <= hi * 1.0001}
            decade += 1
    return sorted(options)
