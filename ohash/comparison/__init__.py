"""Several methods on the same data, stream and seeds: run side by side, judged, costed and summed up in a verdict.

`params` describes a comparison and its link, `runner` executes it, `results` is its state at one moment; `tuning`
draws equal trials, `costs` measures time and storage, `fairness` and `verdict` put the numbers into words, `export`
writes files.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.comparison.params import Comparison, Entry, build_comparison
    from ohash.comparison.results import ComparisonSnapshot
    from ohash.comparison.runner import ComparisonRunner, compare

__all__ = ["Comparison", "ComparisonRunner", "ComparisonSnapshot", "Entry", "build_comparison", "compare"]

# `fairness` and `verdict` are not among them: they are modules, each with a function of its name.
__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "params": ("Comparison", "Entry", "build_comparison"),
        "results": ("ComparisonSnapshot",),
        "runner": ("ComparisonRunner", "compare"),
    },
)
