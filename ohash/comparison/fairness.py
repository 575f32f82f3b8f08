"""The fairness line under every chart of a comparison: what each method was given, one phrase per topic."""

from collections.abc import Callable, Iterable

from ohash.comparison.results import ComparisonSnapshot
from ohash.engine.fitting import is_large


def fairness(snapshot: ComparisonSnapshot, *, first_seed: bool = False) -> str:
    """Total bits T · r, supervision, features, whether training saw the database, queries, seeds, tuning.

    `first_seed`: what is shown was measured with the first seed alone.
    """
    entries = range(len(snapshot.entries))

    def bits(at: int) -> str:
        return str(snapshot.bits(at) or "–")

    def declared(at: int) -> bool:
        return snapshot.entries[at].spec.features == "kernel" and snapshot.comparison.options.maps == "suits"

    topics = {"total bits": bits, "supervision": snapshot.supervision, "features": snapshot.features_text}
    parts = [f"{topic}: {_group(entries, value, snapshot)}" for topic, value in topics.items()]
    without = [snapshot.names[at] for at in entries if declared(at) and snapshot.comparison.features.kernel == "none"]
    if without:
        parts.append(f"{', '.join(without)} made for an RBF kernel, which the features here lack")
    parts.append(f"database {'seen' if snapshot.setup.database_seen else 'not seen'} in training")
    batch = [snapshot.names[at] for at in entries if snapshot.entries[at].spec.consumes == "batch"]
    if batch:
        to = "all points" if snapshot.comparison.run.fit_to == "all" else "the points so far"
        if to != "all points" and is_large(snapshot.setup.n, snapshot.setup.d):
            to += ", refitted once their number has grown by a fifth"
        parts.append(f"{', '.join(batch)} fitted to {to}")
    parts += _drift(snapshot)
    n = len(snapshot.comparison.seeds)
    seeds = f"the first of {n} seeds" if first_seed and n > 1 else f"{n} seed{'s' * (n > 1)}"
    if not first_seed and 0 < len(snapshot.ended_seeds) < n:
        seeds = f"{len(snapshot.ended_seeds)} of {n} seeds"
    queries = "query" if snapshot.setup.queries == 1 else "queries"
    parts.append(f"{snapshot.setup.queries:,} {snapshot.comparison.run.judged_by} {queries}, {seeds}")
    trials = snapshot.comparison.options.trials
    parts.append(f"{trials} tuning trials per method on validation queries" if trials else "default parameters")
    return " · ".join(parts)


def _drift(snapshot: ComparisonSnapshot) -> list[str]:
    """The drift, or that the stream ends before it."""
    drift = snapshot.comparison.drift
    if drift.drift == "none":
        return []
    if drift.drift_at < snapshot.end:
        return [f"drift ({drift.drift}) at pair {drift.drift_at:,}"]
    return [f"no drift: {drift.drift} is set for pair {drift.drift_at:,}, and the stream ends at {snapshot.end:,}"]


def _group(entries: Iterable[int], value: Callable[[int], str], snapshot: ComparisonSnapshot) -> str:
    """Methods with the same value together, the largest group last as "the rest"."""
    groups: dict[str, list[str]] = {}
    for at in entries:
        groups.setdefault(value(at), []).append(snapshot.names[at])
    if len(groups) == 1:
        return next(iter(groups))
    *smaller, largest = sorted(groups, key=lambda text: len(groups[text]))
    rest = "the rest" if len(groups[largest]) > 2 else ", ".join(groups[largest])
    return ", ".join([*(f"{text} ({', '.join(groups[text])})" for text in smaller), f"{largest} ({rest})"])
