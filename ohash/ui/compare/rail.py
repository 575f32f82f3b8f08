"""The rail of the Compare page: data, up to six methods with what they learn from, bits, pairs, seeds, and the rest."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from ohash.comparison.params import (
    CLICK_METHODS,
    DEFAULT_METHODS,
    MOST_METHODS,
    MOST_SEEDS,
    Comparison,
    Entry,
    parse_entry,
    rows_of,
)
from ohash.engine.params import OWN
from ohash.models import registry as methods
from ohash.streams import registry as datasets
from ohash.ui.compare import comparisons
from ohash.ui.controls import control
from ohash.ui.data import catalogue
from ohash.ui.data import own_data as yours
from ohash.ui.session import Session
from ohash.ui.workarounds.slots import slot, when

# Methods in the order of the list: what users compare with most, first.
FIRST = (
    "oh",
    "mmoh",
    "itq",
    "sign",
    "rotated",
    "rabitq",
    "pq",
    "int8",
    "lsh",
    "click_whitening",
    "sdh",
    "ksh",
    "mihash",
    "hcoh",
)
MORE = {
    "Features": ("maps", "kernel", "m", "sigma"),
    "Stream": ("similar_share", "noise", "order", "period", "negatives", "top_k", "train"),
    "Drift": ("drift", "drift_at", "drift_size"),
    "Run": ("fit_to", "reencode", "reencode_every", "database", "judged_by", "sweep"),
}
NOT_OWN = ("seed", "r", "dtype")


def controls(session: Session, now: Comparison) -> None:
    """Everything that can be chosen; any change starts the comparison again."""
    choose_data(session, now)
    _choose_methods(session, now)
    rows = rows_of(now)
    control(rows["bits"], now.options.bits, _setter(session))
    control(rows["pairs"], now.run.pairs, _setter(session))
    seeds = slot("seeds", len(now.seeds), range(1, MOST_SEEDS + 1))
    st.segmented_control(
        "seeds", seeds.options, default=seeds.initial, key=seeds.key, required=True,
        on_change=when(seeds, lambda some: _change(session, seeds=_seeds(now, some))),
        help="Every seed draws its own split, pairs and first W: thin lines, and their mean.",
    )  # fmt: skip
    control(rows["trials"], now.options.trials, _setter(session))
    with st.expander("Parameters of a method", key="open_parameters", on_change="rerun") as own:
        if own.open:
            _parameters(session, now)
    with st.expander("Stream & features", key="open_features", on_change="rerun") as more:
        if more.open:
            values = {key: _value(now, key) for key in ("similar_by", *(key for keys in MORE.values() for key in keys))}
            for heading, keys in MORE.items():
                st.caption(heading)
                for key in keys:
                    control(rows[key], values[key], _setter(session), idle=not rows[key].is_active(values))


def choose_data(session: Session, now: Comparison) -> None:
    """The dataset and what makes two of its points similar."""
    catalogue.choose(session, "compare_data", now.dataset, now.content, lambda key: _pick_data(session, now, key))
    try:
        dataset = yours.dataset_of(session, now) or datasets.load_by_key(now.dataset)
    except ValueError:
        return
    row = rows_of(now)["similar_by"]
    control(row, now.stream.similar_by, _setter(session), options=("auto", *dataset.similarities))


def _choose_methods(session: Session, now: Comparison) -> None:
    known = methods.hashers()
    texts = [entry.text() for entry in now.entries]
    rest = sorted(known, key=lambda key: (FIRST.index(key) if key in FIRST else len(FIRST), known[key].title))
    names = dict(zip(texts, now.names, strict=True))

    def shown(text: str) -> str:
        spec = parse_entry(text).spec
        needs = f" · needs {spec.needs}" if spec.missing else ""
        return f"{names.get(text, spec.title)} · {spec.supervision.replace('none', 'nothing')}{needs}"

    offered = [*texts, *(key for key in rest if key not in texts)]
    picked = slot("methods", texts, offered)
    st.multiselect(
        "Methods · what they learn from", offered, picked.initial, key=picked.key, format_func=shown,
        max_selections=MOST_METHODS, on_change=when(picked, lambda some: _pick_methods(session, now, some)),
        help=f"Up to {MOST_METHODS}. The first one is the measure of the others.",
    )  # fmt: skip


def _parameters(session: Session, now: Comparison) -> None:
    """One method's own table."""
    names = dict(zip(range(len(now.names)), now.names, strict=True))
    at = st.selectbox(
        "method", list(names), key="view_parameters_of", format_func=lambda k: names.get(k, ""),
        label_visibility="collapsed",
    )  # fmt: skip
    entry = now.entries[at if at in names else 0]
    model = now.experiment(entry).model
    rows = {key: row for key, row in entry.spec.table.items() if key not in NOT_OWN}
    for key, row in rows.items():
        control(replace(row, live=False), getattr(model, key), _own_setter(session, now, entry))
    if not rows:
        st.caption("It has none beside the number of bits.")


def _setter(session: Session) -> Callable[[str, Any], None]:
    return lambda key, value: _change(session, **{key: value})


def _own_setter(session: Session, now: Comparison, entry: Entry) -> Callable[[str, Any], None]:
    def change(key: str, value: Any) -> None:
        row = entry.spec.table[key]
        kept = [f"{name}={entry.spec.table[name].format(old)}" for name, old in entry.values if name != key]
        other = parse_entry(":".join([entry.method, *kept, f"{key}={row.format(value)}"]))
        _change(session, methods=[other if one == entry else one for one in now.entries])

    return change


def _change(session: Session, **values: Any) -> None:
    assert session.comparison is not None
    try:
        comparisons.choose(session, session.comparison.with_values(**values))
    except ValueError as error:
        session.warnings = [str(error)]


def _pick_methods(session: Session, now: Comparison, texts: list[str]) -> None:
    if not texts:
        session.warnings = ["Choose at least one method; the last one stays."]
        return
    _change(session, methods=[parse_entry(text) for text in texts])


def _pick_data(session: Session, now: Comparison, key: str) -> None:
    """Other data keep methods, bits, seeds and pairs; what belongs to the old data goes back to the defaults."""
    dataset, _, content = key.partition(":") if key.startswith(f"{OWN}:") else (key, "", "")
    usual = comparisons.usual(session, dataset, content)
    untouched = now.entries in (tuple(map(Entry, DEFAULT_METHODS)), tuple(map(Entry, CLICK_METHODS)))
    kept = {"bits": now.options.bits, "trials": now.options.trials, "pairs": now.run.pairs, "seeds": now.seeds}
    try:
        comparisons.choose(session, usual.with_values(methods=usual.entries if untouched else now.entries, **kept))
    except ValueError as error:
        session.warnings = [str(error)]


def _seeds(now: Comparison, count: int) -> tuple[int, ...]:
    """So many, those there are first."""
    kept = list(now.seeds[:count])
    while len(kept) < count:
        kept.append(max(kept) + 1)
    return tuple(kept)


def _value(now: Comparison, key: str) -> Any:
    parts = (now.options, now.features, now.stream, now.drift, now.run)
    return next(getattr(part, key) for part in parts if hasattr(part, key))
