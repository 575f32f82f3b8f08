"""A finished run as plain values and arrays, the form in which it travels between processes and is stored.

Values hold the parameters, the final numbers, and what they were made with; arrays hold the curves ("columns/...",
"checkpoints/..."), the histograms ("recent/...", "totals/...") and what else a picture of the run needs.
"""

from typing import Any

import numpy as np

from ohash.core.frames import Arrays, Frame
from ohash.experiment.environment import environment
from ohash.experiment.params import from_json
from ohash.experiment.snapshot import Snapshot

GROUPS = ("columns", "checkpoints", "recent", "totals")
SINGLE = ("bit_updates", "selections", "class_map")
PLAIN = ("t", "state", "similar_by", "database_seen", "error")


def to_frame(now: Snapshot, more: dict[str, Any] | None = None, arrays: Arrays | None = None) -> Frame:
    """A picture as values and arrays; `more` values and arrays go with it."""
    values: dict[str, Any] = {name: getattr(now, name) for name in PLAIN}
    values |= {
        "params": now.params.to_json(),
        "numbers": {name: float(value) for name, value in now.numbers.items()},
        "notes": list(now.notes),
        "alarms": {name: list(found) for name, found in now.alarms.items()},
        "environment": environment(),
        **(more or {}),
    }
    found: Arrays = {f"{group}/{name}": column for group in GROUPS for name, column in getattr(now, group).items()}
    found |= {name: getattr(now, name) for name in SINGLE}
    return values, found | (arrays or {})


def to_snapshot(values: dict[str, Any], arrays: Arrays) -> Snapshot:
    """The inverse of `to_frame`; what is not there is empty."""
    groups: dict[str, Any] = {group: {} for group in GROUPS}
    for name, array in arrays.items():
        group, _, key = name.partition("/")
        if group in groups:
            groups[group][key] = array
    empty = {"bit_updates": (1, 0), "selections": (0,), "class_map": (0, 0)}
    single: dict[str, Any] = {name: arrays.get(name, np.zeros(shape, np.int64)) for name, shape in empty.items()}
    for group in ("columns", "checkpoints"):
        groups[group].setdefault("pairs", np.empty(0))
    return Snapshot(
        params=from_json(values["params"]),
        numbers=dict(values["numbers"]),
        notes=tuple(values["notes"]),
        alarms={name: tuple(found) for name, found in values.get("alarms", {}).items()},
        **{name: values[name] for name in PLAIN},
        **groups,
        **single,
    )
