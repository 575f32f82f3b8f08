"""Equal tuning: the same number of random draws from each method's declared parameters, reproducible by seed."""

import numpy as np

from ohash.comparison.params import Comparison, Entry
from ohash.core.parameters import Parameter, draw

# Parameters that define the comparison, the size of a code, the data or the numerics are not tuned; nor is `rotation`,
# which makes OPQ of PQ and takes minutes to learn.
FIXED = ("r", "T", "dim_bits", "query_bits", "rotation", "seed", "dtype", "center", "ema", "dims")
REDRAWS = 50


def tunable(entry: Entry) -> dict[str, Parameter]:
    """The parameters of a method that are tuned: ranges, choices and switches that the user has not set.

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
    """The entry as it is, then with random parameters; the entry alone if nothing can be tuned."""
    rows = tunable(entry)
    entries = [entry]
    if not rows or comparison.options.trials == 0:
        return entries
    method_seed = int.from_bytes(entry.method.encode()[:8], "little")
    rng = np.random.default_rng([comparison.seeds[0], 0x7121A1, method_seed])
    defaults = {key: row.default for key, row in entry.spec.table.items()}
    for _ in range(REDRAWS * comparison.options.trials):
        if len(entries) == comparison.options.trials:
            break
        values = {key: draw(row, rng) for key, row in rows.items()} | dict(entry.values)
        kept = tuple((key, values[key]) for key in entry.spec.table if key in values and values[key] != defaults[key])
        drawn = Entry(entry.method, kept)
        try:
            comparison.experiment(drawn)
        except ValueError:  # the combination is not valid
            continue
        if drawn not in entries:
            entries.append(drawn)
    return entries
