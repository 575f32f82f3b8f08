"""A new sweep: what varies, from the same parameter table as everything else, and how long it will take."""

import os

import numpy as np
import streamlit as st

from ohash.core.parameters import Parameter, Settings, Value
from ohash.engine.narrative import amount, duration
from ohash.engine.params import OWN, experiment, flat, rows_of
from ohash.models import registry as methods
from ohash.store.store import Store
from ohash.streams.dataset import Dataset
from ohash.sweeps.estimate import CellTimer, CostEstimate, estimate_cost
from ohash.sweeps.halving import planned_cells
from ohash.sweeps.saving import with_own_data
from ohash.sweeps.specification import build_sweep
from ohash.sweeps.sweep import Cell, Sweep
from ohash.ui.parts import catalogue
from ohash.ui.parts.controls import label_of
from ohash.ui.parts.notices import show_error
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown

MAX_CELLS = 2000
# In the order a reader expects; the others follow.
FIRST = ("beta", "C", "r", "T", "m", "sigma", "kernel", "similar_share", "noise", "alpha")
SUGGESTED: dict[str, tuple[float, ...]] = {
    "beta": (0.1, 0.3, 0.5, 0.7, 0.9), "C": (1e-4, 1e-3, 1e-2, 0.1, 1), "r": (16, 32, 64, 128), "T": (1, 2, 3, 4),
    "m": (50, 100, 200, 300), "sigma": (0.25, 0.5, 1, 2), "similar_share": (0.1, 0.3, 0.5, 0.7),
    "noise": (0, 0.1, 0.2, 0.3, 0.4), "alpha": (0, 1, 2, 4),
}  # fmt: skip
GRID, RANDOM = "grid", "random"
SEARCHES = {GRID: "every combination", RANDOM: "drawn at random"}
DRAWS_HELP = "Each is run with every method and seed. If you draw more later, these come first and are not run again."
HALVING_HELP = (
    "Every setting begins with few pairs, and only the best go on with more: many settings in little time. A setting "
    "that is stopped early might have caught up, so it is not ranked against those that ran all pairs."
)
FACTOR_HELP = "After each round this share of the settings goes on, with as many times the pairs."
# A sweep has its own fields for these, or they do not affect quality.
NOT_VARIED = ("seed", "judged_by", "judged_at", "stop_when_flat", "dtype")


def build(session: Session) -> Sweep | None:
    """The sweep the widgets describe, or None after a message about what is wrong."""
    titles = catalogue.titles(session)
    live_key = catalogue.key_of(session.params.dataset, session.params.content)
    left, right = st.columns(2)
    key = left.selectbox(
        "Data", list(titles), list(titles).index(live_key if live_key in titles else "fashion"),
        key=f"sweep_data_{len(titles)}", format_func=lambda key: titles[key],
    )  # fmt: skip
    loaded = catalogue.load(session, key)
    if loaded is None:
        return None
    own = loaded if key.startswith(f"{OWN}:") else None
    dataset = key if own is None else OWN
    hashers = methods.hashers()
    chosen = right.multiselect(
        "Methods", sorted(hashers, key=lambda key: (key not in ("oh", "mmoh"), key)), [session.params.method],
        key="sweep_methods", format_func=lambda key: hashers[key].title, max_selections=6,
    )  # fmt: skip
    if not chosen:
        st.caption("Choose at least one method.")
        return None
    rows = _common_rows(dataset, chosen)
    base = _base(session, dataset, chosen, rows, own)
    varied = st.multiselect(
        "Parameters to vary", list(rows), [key for key in FIRST[:1] if key in rows], key="sweep_varied",
        max_selections=3, format_func=lambda key: label_of(rows[key]),
        help="Up to three parameters that all chosen methods have.",
    )  # fmt: skip
    how = st.segmented_control(
        "Values", list(SEARCHES), default=GRID, key="sweep_search", required=True, format_func=SEARCHES.__getitem__
    )
    at_random = how == RANDOM
    grid, problems = _grid(rows, varied, at_random=at_random)
    random: Settings = {}
    if at_random and grid:
        draws = st.number_input("Settings to draw", 2, 500, 20, key="sweep_draws", help=DRAWS_HELP)
        random, grid = {"draws": int(draws), **grid}, {}
    left, middle, right = st.columns([1, 1, 1])
    pairs = left.number_input("Pairs per experiment", 100, 10_000_000, 20_000, 1_000, key="sweep_pairs")
    seeds = middle.number_input(
        "Seeds", 1, 20, 2, key="sweep_seeds", help="The number of runs per point. Their spread shows how much is noise."
    )  # fmt: skip
    titles_chosen = ", ".join(hashers[key].title for key in chosen)
    suggested = (" × ".join(varied) or (titles_chosen if len(chosen) > 1 else "one point"))[:60]
    name = right.text_input("Name", key="sweep_name", placeholder=suggested, max_chars=60).strip() or suggested
    halving = _halving(int(pairs)) if varied else {}
    for problem in problems:
        show_error(problem)
    if problems:
        return None
    try:
        sweep = build_sweep(
            name, base={**base, "dataset": dataset, "pairs": int(pairs), "judged_at": "ends"}, grid=grid,
            cases=[{"method": method} for method in chosen], seeds=int(seeds), random=random,
            halving=halving,
        )  # fmt: skip
        sweep = sweep if own is None else with_own_data(sweep, own)
    except ValueError as error:
        show_error(error)
        return None
    count = len(planned_cells(sweep))
    if count > MAX_CELLS:
        st.error(
            f"A sweep started here can have up to {MAX_CELLS:,} experiments; this one has {count:,}. Use "
            "fewer values, or `python3 -m ohash sweep`.", icon=":material/error:",
        )  # fmt: skip
        return None
    _show_base(base)
    if own is not None:
        st.caption(
            f"A copy of {escape_markdown(own.title)} ({own.X.nbytes / 1e6:,.1f} MB) is stored on this machine until "
            "the sweep is deleted, so that the sweep can continue when this tab is closed."
        )
    return sweep


def show_cost(session: Session, sweep: Sweep, store: Store) -> None:
    """The number of experiments, and an estimate of the time from a measured one."""
    cores = os.cpu_count() or 1
    planned = planned_cells(sweep, store.values(cell.key for cell in sweep.cells))
    cost = _cost(sweep.key, len(store.done()), planned, store, session.own)
    if not cost.cells:
        st.markdown(f"**{amount(len(planned), 'experiment')}**, all done already.")
        return
    st.markdown(
        f"**{amount(cost.cells, 'experiment')}** of {cost.seconds / cost.cells:.1f} s{' each' * (cost.cells > 1)}, "
        f"measured on this machine: about **{duration(cost.on(cores))}** on {amount(cores, 'core')}."
        + (f" {len(planned) - cost.cells} more are done already." if cost.cells < len(planned) else "")
    )


@st.cache_data(show_spinner="Timing one experiment …", max_entries=64)
def _cost(key: str, done: int, _cells: list[Cell], _store: Store, _own: dict[str, Dataset]) -> CostEstimate:
    return estimate_cost(_cells, _store, CellTimer(_own, max_cells=4))


def _halving(pairs: int) -> dict[str, int]:
    """The rounds of successive halving, if it is chosen."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="sweep_halving_row"):
        if not st.toggle("Successive halving", key="sweep_halving", help=HALVING_HELP):
            return {}
        factor = st.number_input("Keep one of", 2, 10, 3, key="sweep_factor", help=FACTOR_HELP, width=160)
        least = st.number_input(
            "Pairs of the first round, at least", 1, max(1, pairs // int(factor)),
            max(1, pairs // int(factor) ** 2), key=f"sweep_min_pairs_{pairs}_{factor}", width=260,
        )  # fmt: skip
    return {"factor": int(factor), "min_pairs": int(least)}


def _common_rows(dataset: str, chosen: list[str]) -> dict[str, Parameter]:
    """Parameters that all chosen methods have."""
    tables = [rows_of(experiment(dataset, method)) for method in chosen]
    keys = [key for key in tables[0] if all(key in table for table in tables) and key not in NOT_VARIED]
    keys.sort(key=lambda key: FIRST.index(key) if key in FIRST else len(FIRST))
    return {key: tables[0][key] for key in keys}


def _base(
    session: Session, dataset: str, chosen: list[str], rows: dict[str, Parameter], own: Dataset | None
) -> Settings:
    """What was changed on Live applies here too, if the data and the method are the same."""
    same = session.params.dataset == dataset and session.params.content == ("" if own is None else own.fingerprint())
    if not same or session.params.method not in chosen:
        return {}
    live, default = flat(session.params), flat(experiment(own or dataset, session.params.method))
    return {key: live[key] for key in rows if live[key] != default[key] and key != "pairs"}


def _show_base(base: Settings) -> None:
    values = ", ".join(
        f"{key} = {value:g}" if isinstance(value, float) else f"{key} = {escape_markdown(value)}"
        for key, value in base.items()
    )
    st.caption(f"Everything else is as on Live: {values}." if values else "Everything else is at its default.")


def _grid(
    rows: dict[str, Parameter], varied: list[str], *, at_random: bool
) -> tuple[dict[str, list[Value]], list[str]]:
    """The values of each parameter, as typed, and what is wrong with them."""
    grid: dict[str, list[Value]] = {}
    problems = []
    for key, column in zip(varied, st.columns(max(1, len(varied))), strict=False):
        row, suggested = rows[key], suggested_values(rows[key])
        ends = at_random and row.kind in (int, float)
        text = column.text_input(
            f"{'Range' if ends else 'Values'} of {row.symbol or row.title}",
            ", ".join(row.format(value) for value in (suggested[:1] + suggested[-1:] if ends else suggested)),
            key=f"sweep_{'range' if ends else 'values'}_{key}",
            help=f"{row.title}: {row.allowed}. "
            + ("The two ends, separated by a comma." if ends else "Separate the values with commas."),
        )  # fmt: skip
        try:
            grid[key] = list(dict.fromkeys(row.parse(one.strip()) for one in text.split(",") if one.strip()))
            if not grid[key]:
                raise ValueError(f"{key} needs at least one value")
        except ValueError as error:
            problems.append(str(error))
    return grid, problems


def suggested_values(row: Parameter) -> list[Value]:
    """Values worth trying: all choices, or five across the slider.

    >>> from ohash.engine.params import experiment, rows_of
    >>> suggested_values(rows_of(experiment())["beta"])
    [0.1, 0.3, 0.5, 0.7, 0.9]
    """
    if row.key in SUGGESTED:
        return [row.convert(value) for value in SUGGESTED[row.key]]
    if row.kind is bool:
        return [False, True]
    if row.choices:
        return list(row.choices)
    lo, hi = row.slider or (row.lo, row.hi)
    if not (np.isfinite(lo) and np.isfinite(hi)):
        return [row.default]
    if row.scale == "log" and hi > 0:
        lo = max(lo, hi / 1e6)
        return list(dict.fromkeys(row.convert(_round(row, value)) for value in np.geomspace(lo, hi, 5)))
    return list(dict.fromkeys(row.convert(_round(row, value)) for value in np.linspace(lo, hi, 7)[1:-1]))


def _round(row: Parameter, value: float) -> float:
    rounded = float(f"{value:.1g}")
    rounded = float(round(rounded)) if row.kind is int else rounded
    return min(max(rounded, row.lo), row.hi) if not row.lo_open or rounded > row.lo else value
