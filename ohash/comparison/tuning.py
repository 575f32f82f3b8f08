"""Equal tuning: for every method as many random draws from its own declared table; the same draws for the same seed."""

from typing import Any

import numpy as np

from ohash.comparison.params import Comparison, Entry
from ohash.core.parameters import Parameter

# What defines the contest, the data or the numerics is not tuned.
FIXED = ("r", "T", "seed", "dtype", "center", "ema", "dims")
REDRAWS = 50
DIGITS = 3


def tunable(entry: Entry) -> dict[str, Parameter]:
    """The rows of a method that are tuned: a slider's range, a choice, a switch; what the user has set stays.

    >>> list(tunable(Entry("oh"))), list(tunable(Entry("sign")))
    (['alpha', 'beta', 'C', 'select', 'rounds'], [])
    """
    given = dict(entry.values)
    return {
        key: row
        for key, row in entry.spec.table.items()
        if key not in FIXED and key not in given and (row.slider or row.choices or row.kind is bool)
    }


def draw_entries(comparison: Comparison, entry: Entry) -> list[Entry]:
    """The method as it is, then with random parameters; no more than it has anything to vary."""
    rows = tunable(entry)
    found = [entry]
    if not rows or comparison.options.trials == 0:
        return found
    words = [int.from_bytes(entry.method.encode()[:8], "little")]
    rng = np.random.default_rng([comparison.seeds[0], 0x7121A1, *words])
    for _ in range(REDRAWS * comparison.options.trials):
        if len(found) == comparison.options.trials:
            break
        values = {key: draw(row, rng) for key, row in rows.items()} | dict(entry.values)
        usual = {key: row.default for key, row in entry.spec.table.items()}
        kept = tuple((key, values[key]) for key in entry.spec.table if key in values and values[key] != usual[key])
        other = Entry(entry.method, kept)
        try:
            comparison.experiment(other)
        except ValueError:  # not sound together
            continue
        if other not in found:
            found.append(other)
    return found


def draw(row: Parameter, rng: np.random.Generator) -> Any:
    """A value within the slider's range, evenly on its scale, of few digits."""
    if row.kind is bool:
        return bool(rng.integers(2))
    if row.choices:
        return row.choices[int(rng.integers(len(row.choices)))]
    assert row.slider is not None
    lo, hi = row.slider
    if row.scale == "log":
        value = float(np.exp(rng.uniform(np.log(max(lo, 1e-12)), np.log(hi))))
    else:
        value = float(rng.uniform(lo, hi))
    value = float(f"{value:.{DIGITS}g}")
    return row.convert(round(value)) if row.kind is int else row.convert(min(max(value, lo), hi))
