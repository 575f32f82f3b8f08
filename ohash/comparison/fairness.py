"""The fairness line under every chart of a comparison: what each method was given, in one sentence a topic."""

from collections.abc import Callable, Iterable

from ohash.comparison.results import ComparisonSnapshot


def fairness(snapshot: ComparisonSnapshot, *, first_seed: bool = False) -> str:
    """Total bits T · r, supervision, kernel, whether the database was trained on, queries, seeds, tuning.

    `first_seed`: what is shown was measured with that alone.
    """
    every = range(len(snapshot.entries))
    anchors = snapshot.comparison.features.m

    def bits(at: int) -> str:
        return str(snapshot.bits(at) or "–")

    def features(at: int) -> str:
        return f"RBF, {anchors} anchors" if _kernel(snapshot, at) else "raw vectors"

    asked = {"bits in all": bits, "learns from": snapshot.supervision, "features": features}
    parts = [f"{topic}: {_grouped(every, value, snapshot)}" for topic, value in asked.items()]
    parts.append(f"database {'trained on' if snapshot.setup.database_seen else 'not trained on'}")
    batch = [snapshot.names[at] for at in every if snapshot.entries[at].spec.consumes == "batch"]
    if batch:
        everything = snapshot.comparison.run.fit_to == "all"
        parts.append(f"{', '.join(batch)} fitted to {'everything at once' if everything else 'what has arrived'}")
    parts += _drift(snapshot)
    seeds = len(snapshot.comparison.seeds)
    told = f"{seeds} seed{'s' * (seeds > 1)}" if seeds == 1 or not first_seed else f"the first of {seeds} seeds"
    parts.append(f"{snapshot.setup.queries:,} {snapshot.comparison.run.judged_by} queries, {told}")
    trials = snapshot.comparison.options.trials
    parts.append(f"{trials} tuning trials each on validation" if trials else "default parameters")
    return " · ".join(parts)


def _drift(snapshot: ComparisonSnapshot) -> list[str]:
    """That the world changes, or that it was to and the stream ends before."""
    drift = snapshot.comparison.drift
    if drift.drift == "none":
        return []
    comes = drift.drift_at < snapshot.end
    never = f"the drift ({drift.drift}) at pair {drift.drift_at:,} never comes: the stream ends at {snapshot.end:,}"
    return [f"drift ({drift.drift}) at pair {drift.drift_at:,}" if comes else never]


def _kernel(snapshot: ComparisonSnapshot, at: int) -> bool:
    return snapshot.comparison.on_kernel(snapshot.entries[at])


def _grouped(every: Iterable[int], value: Callable[[int], str], snapshot: ComparisonSnapshot) -> str:
    """Methods with the same value together, the largest group last as "the rest"."""
    groups: dict[str, list[str]] = {}
    for at in every:
        groups.setdefault(value(at), []).append(snapshot.names[at])
    if len(groups) == 1:
        return next(iter(groups))
    *few, most = sorted(groups, key=lambda text: len(groups[text]))
    rest = "the rest" if len(groups[most]) > 2 else ", ".join(groups[most])
    return ", ".join([*(f"{text} ({', '.join(groups[text])})" for text in few), f"{most} ({rest})"])
