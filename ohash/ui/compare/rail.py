"""The rail of the Compare page: data, up to twelve methods, bits, pairs, seeds, and the rest."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from ohash.comparison.params import (
    MAX_METHODS,
    MAX_SEEDS,
    Comparison,
    Entry,
    has_default_methods,
    parse_entry,
    rows_of,
)
from ohash.core.parameters import Value
from ohash.models import registry as methods
from ohash.streams import registry as datasets
from ohash.ui.parts import catalogue
from ohash.ui.parts.catalogue import describe_supervision, show_card, with_absent
from ohash.ui.parts.controls import OnCommit, control
from ohash.ui.session import comparisons, own_data
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import on_choice, slot

# Methods in the order of the list: those compared most often first.
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
    "Stream": ("similar_share", "noise", "order", "period", "negatives", "top_k", "later_items", "train"),
    "Drift": ("drift", "drift_at", "drift_size"),
    "Run": ("fit_to", "reencode", "reencode_every", "database", "judged_by", "sweep"),
}
SHARED = ("seed", "r", "dtype")  # the same for all methods


def controls(session: Session, now: Comparison) -> None:
    """All controls; any change restarts the comparison."""
    choose_data(session, now)
    _choose_methods(session, now)
    rows = rows_of(now)
    control(rows["bits"], now.options.bits, _setter(session))
    control(rows["pairs"], now.run.pairs, _setter(session))
    seeds = slot("seeds", len(now.seeds), range(1, MAX_SEEDS + 1))
    st.segmented_control(
        "seeds", seeds.options, default=seeds.initial, key=seeds.key, required=True,
        on_change=on_choice(seeds, lambda count: _change(session, seeds=_seeds(now, count))),
        help="Each seed draws its own split, pairs and initial W. Thin lines are seeds, thick lines their means.",
    )  # fmt: skip
    control(rows["trials"], now.options.trials, _setter(session))
    with st.expander("Parameters of a method", key="open_parameters", on_change="rerun") as parameters:
        if parameters.open:
            _parameters(session, now)
    with st.expander("Stream and features", key="open_features", on_change="rerun") as more:
        if more.open:
            values = {key: _value(now, key) for key in ("similar_by", *(key for keys in MORE.values() for key in keys))}
            for heading, keys in MORE.items():
                st.caption(heading)
                for key in keys:
                    control(rows[key], values[key], _setter(session), idle=not rows[key].is_active(values))


def choose_data(session: Session, now: Comparison) -> None:
    """The dataset, and when two of its points are similar."""
    catalogue.choose(session, "compare_data", now.dataset, now.content, lambda key: _pick_data(session, now, key))
    try:
        dataset = own_data.dataset_of(session, now) or datasets.load_by_key(now.dataset)
    except ValueError:
        return
    row = rows_of(now)["similar_by"]
    control(row, now.stream.similar_by, _setter(session), options=("auto", *dataset.similarities))


def _choose_methods(session: Session, now: Comparison) -> None:
    hashers = methods.hashers()
    texts = [entry.text() for entry in now.entries]
    rest = sorted(hashers, key=lambda key: (FIRST.index(key) if key in FIRST else len(FIRST), hashers[key].title))
    names = dict(zip(texts, now.names, strict=True))

    def describe(text: str) -> str:
        spec = parse_entry(text).spec
        return describe_supervision(names.get(text, spec.title), spec)

    offered = [*texts, *(key for key in rest if key not in texts)]
    picked = slot("methods", texts, offered)
    st.multiselect(
        "Methods", offered, picked.initial, key=picked.key, format_func=describe,
        max_selections=MAX_METHODS, on_change=on_choice(picked, lambda texts: _pick_methods(session, texts)),
        help=with_absent(f"Up to {MAX_METHODS} methods. The others are compared with the first one."),
    )  # fmt: skip


def _parameters(session: Session, now: Comparison) -> None:
    """The parameters of one method."""
    names = dict(zip(range(len(now.names)), now.names, strict=True))
    at = st.selectbox(
        "method", list(names), key="view_parameters_of", format_func=lambda k: names.get(k, ""),
        label_visibility="collapsed",
    )  # fmt: skip
    entry = now.entries[at if at in names else 0]
    model = now.experiment(entry).model
    rows = {key: row for key, row in entry.spec.table.items() if key not in SHARED}
    for key, row in rows.items():
        control(replace(row, live=False), getattr(model, key), _method_setter(session, now, entry))
    if not rows:
        st.caption("The number of bits is its only parameter.")
    show_card(entry.spec)


def _setter(session: Session) -> OnCommit:
    return lambda key, value: _change(session, **{key: value})


def _method_setter(session: Session, now: Comparison, entry: Entry) -> OnCommit:
    def change(key: str, value: Value) -> None:
        row = entry.spec.table[key]
        kept = [f"{name}={entry.spec.table[name].format(old)}" for name, old in entry.values if name != key]
        other = parse_entry(":".join([entry.method, *kept, f"{key}={row.format(value)}"]))
        _change(session, methods=[other if one == entry else one for one in now.entries])

    return change


def _change(session: Session, **values: object) -> None:
    assert session.comparison is not None
    try:
        comparisons.choose(session, session.comparison.with_values(**values))
    except ValueError as error:
        session.warnings = [escape_markdown(error)]


def _pick_methods(session: Session, texts: Sequence[str]) -> None:
    if not texts:
        session.warnings = ["A comparison needs at least one method."]
        return
    _change(session, methods=[parse_entry(text) for text in texts])


def _pick_data(session: Session, now: Comparison, key: str) -> None:
    """Change the data; methods, bits, seeds and pairs stay, the rest goes back to the defaults."""
    default = comparisons.default_comparison(session, *catalogue.split_key(key), bits=now.options.bits)
    untouched = has_default_methods(now)
    kept = {"bits": now.options.bits, "trials": now.options.trials, "pairs": now.run.pairs, "seeds": now.seeds}
    try:
        comparisons.choose(session, default.with_values(methods=default.entries if untouched else now.entries, **kept))
    except ValueError as error:
        session.warnings = [escape_markdown(error)]


def _seeds(now: Comparison, count: int) -> tuple[int, ...]:
    """A number of seeds, the current ones first."""
    kept = list(now.seeds[:count])
    while len(kept) < count:
        kept.append(max(kept) + 1)
    return tuple(kept)


def _value(now: Comparison, key: str) -> Value:
    parts = (now.options, now.features, now.stream, now.drift, now.run)
    value: Value = next(getattr(part, key) for part in parts if hasattr(part, key))
    return value
