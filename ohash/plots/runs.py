"""Several runs in one chart: a score over the pairs, one line per run."""

from collections.abc import Sequence

import numpy as np

from ohash.engine.snapshot import Snapshot
from ohash.plots import formats, theme
from ohash.plots.chart import Axis, Chart, Dash, Series
from ohash.plots.live.axes import last, pairs_axis, share_limits, x_of
from ohash.plots.live.scores import SCORES, TRUTHS, truth
from ohash.store.listing import ENDED

# A colour and a dash: runs stay apart without colour too.
ROLES = ("now", "dissimilar", "distance", "bound", "threshold", "reference")
DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")
MAX_RUNS = len(ROLES) * len(DASHES)
# Runs whose pair counts differ by more than this factor are not ranked.
ALIKE = 1.1


def overlay(runs: Sequence[tuple[str, Snapshot]], metric: str) -> Chart:
    """The runs (name, last picture), at most 18, over a logarithmic pair axis."""
    score = SCORES[metric]
    curves = []
    for at, (name, now) in enumerate(runs[:MAX_RUNS]):
        y = now.checkpoints.get(metric, np.empty(0))
        x = x_of(now.checkpoints) if len(y) else np.empty(0)
        dash = DASHES[at // len(ROLES) if len(runs) > len(ROLES) else at % len(DASHES)]
        curves.append(Series(name, x, y, role=ROLES[at % len(ROLES)], dash=dash, width=theme.THICK))
    longest = max((now for _, now in runs), key=lambda now: now.t, default=None)
    lo, hi = share_limits(*(series.y for series in curves))
    axis = Axis("pairs", "log", lo=1, hi=100, format="count") if longest is None else pairs_axis(longest)
    ends = {series.name: last(series.y) for series in curves if np.isfinite(series.y).any()}
    named = {truth(now, score) for _, now in runs}
    of = named.pop() if len(named) == 1 else TRUTHS[score.metric.truth]
    title = f"{of}: {score.short} has not been measured yet"
    unlike = _unlike([now for _, now in runs[:MAX_RUNS]])
    if ends and len(curves) > 1 and unlike:
        title = f"{of}: {score.short} of {len(curves)} runs {unlike}, which cannot be ranked"
    elif ends:
        best = max(ends, key=lambda name: ends[name])
        title = f"{of}: {score.short} {'is' if unlike else 'ends at'} {formats.share(ends[best])}"
        title += f" for the best of {len(curves)}: {best}" if len(curves) > 1 else f" for {best}"
    alt = f"{title}. Line chart over pairs, one line per run."
    return Chart(title, axis, Axis(score.name, lo=lo, hi=hi, format="share"), tuple(curves), (), score.metric.help, alt)


def _unlike(runs: Sequence[Snapshot]) -> str:
    """Why the last scores of these runs say nothing about which is best; empty if they do."""
    if len({(now.params.dataset, now.params.content, now.similar_by) for now in runs}) > 1:
        return "on different data or truths"
    pairs = [now.t for now in runs]
    if pairs and max(pairs) > ALIKE * min(pairs):
        return f"of {formats.count(min(pairs))} to {formats.count(max(pairs))} pairs"
    return "" if all(now.state in ENDED for now in runs) else "that have not all finished"
