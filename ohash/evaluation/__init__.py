"""Arrays in, numbers out: how good codes are, and what they cost.

Label agreement is `ranking` (Hamming distances) and `distance_ranking` (real ones), distance agreement is `neighbours`;
`relevance` says what counts as a right answer, `significance` whether a difference is more than chance. `code_table`
keeps a database encoded while the hash learns, `diagnostics` looks at the codes alone,
`drift_detectors` and `drift_metrics` at drift. `metric_descriptions` says how each number is shown.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.evaluation.code_table import CodeTable, Refresh
    from ohash.evaluation.diagnostics import CodeDiagnostics, code_diagnostics
    from ohash.evaluation.drift_detectors import ADWIN, DriftMonitor, PageHinkley
    from ohash.evaluation.metric_descriptions import METRICS, Metric
    from ohash.evaluation.neighbour_recall import recall_at_k, recall_with_reranking
    from ohash.evaluation.neighbours import exact_neighbours
    from ohash.evaluation.packed_codes import search
    from ohash.evaluation.ranking import PRCurve, Retrieval, iter_retrieval, mean_ap, retrieval
    from ohash.evaluation.significance import Difference, difference_over_seeds, paired_bootstrap

__all__ = [
    "ADWIN", "METRICS", "CodeDiagnostics", "CodeTable", "Difference", "DriftMonitor", "Metric", "PRCurve",
    "PageHinkley", "Refresh", "Retrieval", "code_diagnostics",
    "difference_over_seeds", "exact_neighbours", "iter_retrieval", "mean_ap", "paired_bootstrap", "recall_at_k",
    "recall_with_reranking", "retrieval", "search",
]  # fmt: skip

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "code_table": ("CodeTable", "Refresh"),
        "diagnostics": ("CodeDiagnostics", "code_diagnostics"),
        "drift_detectors": ("ADWIN", "DriftMonitor", "PageHinkley"),
        "metric_descriptions": ("METRICS", "Metric"),
        "neighbour_recall": ("recall_at_k", "recall_with_reranking"),
        "neighbours": ("exact_neighbours",),
        "packed_codes": ("search",),
        "ranking": ("PRCurve", "Retrieval", "iter_retrieval", "mean_ap", "retrieval"),
        "significance": ("Difference", "difference_over_seeds", "paired_bootstrap"),
    },
)
