"""Any experiment that a method and its parameters allow, for hypothesis."""

import math

from hypothesis import strategies as st

from ohash.core.parameters import parameter_table
from ohash.engine.params import (
    MAX_CHANGES,
    Change,
    experiment,
    rows_of,
)
from ohash.models.registry import hashers

METHODS = sorted(hashers())


def values_of(row):
    """Any value a row allows."""
    if row.kind is bool:
        return st.booleans()
    if row.choices:
        return st.sampled_from(row.choices)
    if row.kind is int:
        return st.integers(math.ceil(row.lo), math.floor(row.hi))
    return st.floats(1e-6 if row.lo_open else row.lo, row.hi)  # a smaller beta times r is no bit at all


def numbers_of(row):
    """Values that may be set during a run: not "auto"."""
    return values_of(row).filter(lambda value: not row.alias or value != row.lo)


@st.composite
def experiments(draw, method=None):
    method = method or draw(st.sampled_from(METHODS))
    base = experiment("digits", method)
    rows = {key: row for key, row in rows_of(base).items() if key not in ("alpha", "r")}
    keys = draw(st.lists(st.sampled_from(sorted(rows)), unique=True, max_size=8))
    values = {key: draw(values_of(rows[key])) for key in keys}
    if -1 < values.get("similar_share", 0) < 0:
        values["similar_share"] = -1.0
    if values.get("order") == "class":
        values.pop("similar_by", None)
    if values.get("database") == "seen":
        values.pop("train", None)
    live = [row for key, row in parameter_table(base.model).items() if row.live]
    changes = ()
    if live:
        changes = draw(
            st.lists(
                st.sampled_from(live).flatmap(
                    lambda row: st.builds(Change, st.integers(0, 10**9), st.just(row.key), numbers_of(row))
                ),
                max_size=MAX_CHANGES,
            )
        )
    dataset = draw(st.sampled_from(["digits", "blobs", "blobs2d"]))
    return experiment(dataset, method, changes=changes, **values)
