"""The charts of a run by name: Snapshot in, Chart out.

Every one works at any moment of any method: before the first pair it says that nothing is measured yet, and for a
method that does not learn from pairs it says what that method has not.
"""

from ohash.plots.live.ghosts import Ghost, comparable, ghost_of
from ohash.plots.live.scores import SCORES, both_truths, prequential, quality, stale_gap
from ohash.plots.live.stream import hills, loss, tau, tau_quantiles, update_rate
from ohash.plots.live.work import bit_balance, bits, certificate, cost, per_bit, selections

# Every chart that needs nothing but a snapshot, in the order of the page.
CHARTS = {
    "quality": quality,
    "hills": hills,
    "loss": loss,
    "tau": tau,
    "tau_quantiles": tau_quantiles,
    "both_truths": both_truths,
    "update_rate": update_rate,
    "bits": bits,
    "per_bit": per_bit,
    "bit_balance": bit_balance,
    "selections": selections,
    "stale_gap": stale_gap,
    "prequential": prequential,
    "cost": cost,
    "certificate": certificate,
}

__all__ = [
    "CHARTS", "SCORES", "Ghost", "bit_balance", "bits", "both_truths", "certificate", "comparable", "cost", "ghost_of",
    "hills", "loss", "per_bit", "prequential", "quality", "selections", "stale_gap", "tau", "tau_quantiles",
    "update_rate",
]  # fmt: skip
