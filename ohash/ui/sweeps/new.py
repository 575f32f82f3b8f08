"""A new sweep: what varies, from the same parameter table as everything else, and what it will cost."""

import os
from typing import Any

import numpy as np
import streamlit as st

from ohash.core.parameters import Parameter
from ohash.engine.narrative import duration
from ohash.engine.params import OWN, experiment, flat, rows_of
from ohash.models import registry as methods
from ohash.store.store import Store
from ohash.streams.dataset import Dataset
from ohash.sweeps.estimate import CellTimer, CostEstimate, estimate_cost
from ohash.sweeps.own_data import with_own_data
from ohash.sweeps.sweep import Sweep, build_sweep
from ohash.ui.data import catalogue
from ohash.ui.data import page as data
from ohash.ui.session import Session
from ohash.ui.workarounds.messages import plain

MOST_CELLS = 2000
# In the order a reader expects; the others follow.
FIRST = ("beta", "C", "r", "T", "m", "sigma", "kernel", "similar_share", "noise", "alpha")
OFFERED: dict[str, tuple[float, ...]] = {
    "beta": (0.1, 0.3, 0.5, 0.7, 0.9), "C": (1e-4, 1e-3, 1e-2, 0.1, 1), "r": (16, 32, 64, 128), "T": (1, 2, 3, 4),
    "m": (50, 100, 200, 300), "sigma": (0.25, 0.5, 1, 2), "similar_share": (0.1, 0.3, 0.5, 0.7),
    "noise": (0, 0.1, 0.2, 0.3, 0.4), "alpha": (0, 1, 2, 4),
}  # fmt: skip
# What a sweep has fields of its own for, or what is no question of quality.
NOT_VARIED = ("seed", "judged_by", "judged_at", "stop_when_flat", "dtype")


def build(session: Session) -> Sweep | None:
    """The sweep the widgets describe, or None with what is wrong said."""
    titles = catalogue.titles(session)
    here = session.params.dataset if session.params.dataset != OWN else f"{OWN}:{session.params.content}"
    left, right = st.columns(2)
    picked = left.selectbox(
        "Data", list(titles), list(titles).index(here if here in titles else "fashion"),
        key=f"sweep_data_{len(titles)}", format_func=lambda key: titles[key],
    )  # fmt: skip
    loaded = data.load(session, picked)
    if loaded is None:
        return None
    own = loaded if picked.startswith(f"{OWN}:") else None
    dataset = picked if own is None else OWN
    known = methods.hashers()
    chosen = right.multiselect(
        "Methods", sorted(known, key=lambda key: (key not in ("oh", "mmoh"), key)), [session.params.method],
        key="sweep_methods", format_func=lambda key: known[key].title, max_selections=6,
    )  # fmt: skip
    if not chosen:
        st.caption("Choose a method.")
        return None
    rows = _common_rows(dataset, chosen)
    base = _base(session, dataset, chosen, rows, own)
    varied = st.multiselect(
        "What varies", list(rows), [key for key in FIRST[:1] if key in rows], key="sweep_varied", max_selections=3,
        format_func=lambda key: _name(rows[key]), help="Every combination of the values is run. At most three.",
    )  # fmt: skip
    grid, problems = _grid(rows, varied)
    left, middle, right = st.columns([1, 1, 1])
    pairs = left.number_input("Pairs of a cell", 100, 10_000_000, 20_000, 1_000, key="sweep_pairs")
    seeds = middle.number_input(
        "Seeds", 1, 20, 2, key="sweep_seeds", help="Each point is run so often; the spread tells noise from effect."
    )  # fmt: skip
    name = right.text_input("Name", " × ".join(varied) or "one point", key="sweep_name", max_chars=60)
    for problem in problems:
        st.error(plain(problem), icon=":material/error:")
    if problems:
        return None
    try:
        found = build_sweep(
            name, base={**base, "dataset": dataset, "pairs": int(pairs), "judged_at": "ends"}, grid=grid,
            cases=[{"method": method} for method in chosen], seeds=int(seeds),
        )  # fmt: skip
        found = found if own is None else with_own_data(found, own)
    except ValueError as error:
        st.error(f"{plain(error)}.", icon=":material/error:")
        return None
    if len(found.cells) > MOST_CELLS:
        st.error(
            f"From here a sweep may have {MOST_CELLS:,} cells, this one has {len(found.cells):,}; use fewer values, or "
            "`python3 -m ohash sweep`.", icon=":material/error:",
        )  # fmt: skip
        return None
    _say_base(base)
    if own is not None:
        st.caption(
            f"The sweep keeps a copy of {own.title} ({own.X.nbytes / 1e6:,.1f} MB) in the store of this machine until "
            "it is forgotten: it goes on when this tab is closed."
        )
    return found


def cost_of(session: Session, chosen: Sweep, store: Store) -> None:
    """Cells and time, measured."""
    cores = os.cpu_count() or 1
    cost = _cost(chosen.key, len(store.done()), chosen, store, session.own)
    if not cost.cells:
        st.markdown(f"**{len(chosen.cells)} cells**, all of them done already.")
        return
    st.markdown(
        f"**{cost.cells} cells** × {cost.seconds / cost.cells:.1f} s measured here: about "
        f"**{duration(cost.on(cores))}** on {cores} cores."
        + (f" {len(chosen.cells) - cost.cells} more are done already." if cost.cells < len(chosen.cells) else "")
    )


@st.cache_data(show_spinner="Measuring one cell …", max_entries=64)
def _cost(key: str, done: int, _chosen: Sweep, _store: Store, _own: dict[str, Dataset]) -> CostEstimate:
    return estimate_cost(_chosen.cells, _store, CellTimer(_own, most=4))


def _common_rows(dataset: str, chosen: list[str]) -> dict[str, Parameter]:
    """Parameters that all chosen methods have."""
    tables = [rows_of(experiment(dataset, method)) for method in chosen]
    keys = [key for key in tables[0] if all(key in table for table in tables) and key not in NOT_VARIED]
    keys.sort(key=lambda key: FIRST.index(key) if key in FIRST else len(FIRST))
    return {key: tables[0][key] for key in keys}


def _base(
    session: Session, dataset: str, chosen: list[str], rows: dict[str, Parameter], own: Dataset | None
) -> dict[str, Any]:
    """What was changed on Live stays as it is there, if the data and the method are the same."""
    same = session.params.dataset == dataset and session.params.content == ("" if own is None else own.fingerprint())
    if not same or session.params.method not in chosen:
        return {}
    here, default = flat(session.params), flat(experiment(own or dataset, session.params.method))
    return {key: here[key] for key in rows if here[key] != default[key] and key != "pairs"}


def _say_base(base: dict[str, Any]) -> None:
    said = ", ".join(
        f"{key} = {value:g}" if isinstance(value, float) else f"{key} = {value}" for key, value in base.items()
    )
    st.caption(f"Everything else as on Live: {said}." if said else "Everything else at its default.")


def _grid(rows: dict[str, Parameter], varied: list[str]) -> tuple[dict[str, list[Any]], list[str]]:
    """The values of each, as typed."""
    grid: dict[str, list[Any]] = {}
    problems = []
    for key, column in zip(varied, st.columns(max(1, len(varied))), strict=False):
        row = rows[key]
        text = column.text_input(
            f"Values of {row.symbol or row.title}", ", ".join(row.format(value) for value in offered(row)),
            key=f"sweep_values_{key}", help=f"{row.title}: {row.allowed}. Separated by commas.",
        )  # fmt: skip
        try:
            grid[key] = list(dict.fromkeys(row.parse(one.strip()) for one in text.split(",") if one.strip()))
            if not grid[key]:
                raise ValueError(f"{key} needs at least one value")
        except ValueError as error:
            problems.append(f"{error}.")
    return grid, problems


def offered(row: Parameter) -> list[Any]:
    """Values that are worth a try: all choices, or five over the slider.

    >>> from ohash.engine.params import experiment, rows_of
    >>> offered(rows_of(experiment())["beta"])
    [0.1, 0.3, 0.5, 0.7, 0.9]
    """
    if row.key in OFFERED:
        return [row.convert(value) for value in OFFERED[row.key]]
    if row.kind is bool:
        return [False, True]
    if row.choices:
        return list(row.choices)
    lo, hi = row.slider or (row.lo, row.hi)
    if not (np.isfinite(lo) and np.isfinite(hi)):
        return [row.default]
    if row.scale == "log" and hi > 0:
        lo = max(lo, hi / 1e6)
        return list(dict.fromkeys(row.convert(_tidy(row, value)) for value in np.geomspace(lo, hi, 5)))
    return list(dict.fromkeys(row.convert(_tidy(row, value)) for value in np.linspace(lo, hi, 7)[1:-1]))


def _tidy(row: Parameter, value: float) -> float:
    found = float(f"{value:.1g}")
    found = float(round(found)) if row.kind is int else found
    return min(max(found, row.lo), row.hi) if not row.lo_open or found > row.lo else value


def _name(row: Parameter) -> str:
    return f"{row.symbol} · {row.title}" if row.symbol else row.title
