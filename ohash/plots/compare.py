"""Charts of a comparison: several methods over pairs, CPU time and bits, and the two truths against each other.

Lines are solid for methods that learn from pairs, dotted for labels, dashed for no supervision. Faint lines are single
seeds, the thick one is their mean. The fairness line is the caption of every chart.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ohash import number_formats as formats
from ohash.comparison.equal_bytes import budget, is_significant, leaders
from ohash.comparison.fairness import fairness
from ohash.comparison.gaps import Gap, gap_over_seeds
from ohash.comparison.results import ComparisonSnapshot, MethodResult
from ohash.comparison.sentences import methods_by_supervision, truth_name
from ohash.comparison.verdict import leaders_text
from ohash.core.arrays import Floats, Numbers
from ohash.engine.judge import RERANKED
from ohash.engine.narrative import amount, join_names
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Dash, Kind, Mark, Series
from ohash.plots.live.axes import COARSE, decades, empty_chart, round_up, share_limits
from ohash.plots.live.scores import SCORES

DASHES: dict[str, Dash] = {"pairs": "solid", "labels": "dotted", "none": "dashed"}
FAINT = 0.35
MAX_METHODS_IN_CHART = 8  # methods in one chart of curves, or all named in one of points
MIN_SECONDS = 1e-3
ALIKE = 0.04  # gains that differ by more, and cannot be told apart, are not called alike
# Pair 0 stands at the left end of the logarithmic axis; the first checkpoint after it is at 100.
LEFT = 10
SUPERVISION = {"pairs": "from pairs", "labels": "from labels", "none": "unsupervised"}


def curves(snapshot: ComparisonSnapshot, metric: str = "", *, over: str = "pairs", kind: str = "") -> Chart:
    """A score (by default that of the truth) of every method over the pairs, or over the CPU time it took.

    With a `kind` of supervision only its methods are named; the others are faint behind them, on the same axes.
    """
    metric = metric or snapshot.truth_column
    score = SCORES[metric]
    results = [result for result in snapshot.results if result.judged]
    x = _cpu_axis(results) if over == "cpu" else _pairs_axis(snapshot)
    assert x.hi is not None
    drawn: list[Series] = []
    for at, role in enumerate(roles(snapshot)):
        mine = [result for result in results if result.entry == at]
        ended = [result for result in mine if result.state == "done"] or mine[:1]
        if kind and snapshot.supervision(at) != kind:
            if ended:
                mean_curve = _curve(snapshot, at, ended, metric, over, "reference", x.hi)
                drawn.insert(0, replace(mean_curve, label="", width=theme.THIN, opacity=FAINT))
            continue
        if len(mine) > 1:
            drawn += [_curve(snapshot, at, [one], metric, over, role, x.hi, faint=True) for one in mine]
        if ended:
            drawn.append(_curve(snapshot, at, ended, metric, over, role, x.hi))
    lines = [*_drift_marks(snapshot)] if over == "pairs" else []
    if metric == snapshot.truth_column and math.isfinite(snapshot.floats):
        lines.append(_reference(snapshot.floats))
    levels = np.array([line.at for line in lines if line.axis == "y"])
    lo, hi = limits(*(one.y for one in drawn), levels)
    y = Axis(score.name, lo=lo, hi=hi, format="share")
    if not drawn:
        return empty_chart(f"{score.short} has not been measured yet", x, y)
    title = _ranking(snapshot, metric, kind)
    return Chart(title, x, y, tuple(drawn), tuple(lines), fairness(snapshot), f"{title}. One line per method.")


def truths(snapshot: ComparisonSnapshot) -> Chart:
    """Every method as a point: agrees with the original distance, agrees with the labels or pairs."""
    x = Axis("recall@10: agreement with the original distance", lo=0, hi=1, format="share")
    what = truth_name(snapshot)
    drawn = []
    for at, role in enumerate(roles(snapshot)):
        results = snapshot.results_of(at)
        if len(results) > 1:
            pairs = np.array([[one.last("recall_10"), one.last(snapshot.truth_column)] for one in results])
            drawn.append(points("each seed", pairs[:, 0], pairs[:, 1], role, listed=False, opacity=FAINT))
        if results:
            across, up = (np.array([snapshot.score(at, column)]) for column in ("recall_10", snapshot.truth_column))
            drawn.append(points(snapshot.names[at], across, up, role))
    if drawn and math.isfinite(snapshot.floats):
        one = points("float vectors", np.array([1.0]), np.array([snapshot.floats]), "float")
        drawn.append(one)
    lo, hi = limits(*(one.y for one in drawn))
    y = Axis(f"{SCORES[snapshot.truth_column].short}: agreement with {what}", lo=lo, hi=hi, format="share")
    if not drawn:
        return empty_chart("Neither truth has been measured yet", x, y)
    title = leaders_text(snapshot) or f"Agreement with {what} against agreement with the original distance"
    best = leaders(snapshot)
    named = [snapshot.names[0], "float vectors", *(snapshot.names[code.entry] for code in best or ())]
    drawn, note = name_few(drawn, named)
    return Chart(title, x, y, tuple(drawn), (), f"{note}{fairness(snapshot)}", f"{title}. One point per method.")


def by_bits(snapshot: ComparisonSnapshot) -> Chart:
    """The truth score against the total number of bits, at the end of learning."""
    metric = snapshot.truth_column
    x = Axis("total bits, T · r", "log", lo=8, hi=1000, format="count")
    drawn = []
    for at, role in enumerate(roles(snapshot)):
        mine = sorted((one for one in snapshot.lengths if one.entry == at), key=lambda one: one.bits)
        if not mine:
            continue
        bits = np.array([one.bits for one in mine], float)
        values = np.array([one.truth for one in mine])
        name = snapshot.names[at]
        kind: Kind = "line" if len(mine) > 1 else "points"
        dash = DASHES[snapshot.supervision(at)]
        drawn.append(Series(name, bits, values, kind, role, dash, theme.THICK, listed=False, label=name))
    lines = []
    floats = snapshot.references[0].mean(metric) if snapshot.references else math.nan  # of the first seed, as the rest
    if math.isfinite(floats):
        lines.append(_reference(floats))
    lo, hi = limits(*(one.y for one in drawn), np.array([line.at for line in lines]))
    y = Axis(SCORES[metric].name, lo=lo, hi=hi, format="share")
    if not drawn and not snapshot.comparison.options.sweep:
        return empty_chart("Other code lengths are switched off", x, y, "This comparison is of one code length only.")
    if not drawn:
        return empty_chart("Other code lengths come last", x, y, "Codes of 16 to 256 bits are learnt after the curves.")
    lowest, largest = min(float(one.x[0]) for one in drawn), max(float(one.x[-1]) for one in drawn)
    lo, hi = decades(lowest, largest)
    x = Axis(x.label, "log", lo=lo, hi=hi, format="count")
    title = _more_bits(snapshot) or f"{SCORES[metric].short} against bits"
    return Chart(
        title, x, y, tuple(drawn), tuple(lines), fairness(snapshot, first_seed=True), f"{title}. One line per method."
    )


def _more_bits(snapshot: ComparisonSnapshot) -> str:
    """Whom the longest code gains most over the shortest, by the same queries, as far as methods can be told apart."""
    score, gains, certain = SCORES[snapshot.truth_column].short, dict[str, Floats](), set[str]()
    for at, name in enumerate(snapshot.names):
        mine = sorted((one for one in snapshot.lengths if one.entry == at), key=lambda one: one.bits)
        if len(mine) > 1 and len(mine[0].each) == len(mine[-1].each):
            gains[name] = mine[-1].each - mine[0].each
            if is_significant(_first_seed_gap(snapshot, mine[-1].each, mine[0].each)):
                certain.add(name)
    if not gains:
        return ""
    means = {name: float(np.nanmean(each)) for name, each in gains.items()}
    best = max(means, key=lambda name: means[name])
    if best not in certain or means[best] <= 0:
        return f"No gain in {score} from more bits is beyond chance: at most {formats.change(means[best])}"
    equals = [
        name
        for name in gains
        if name == best or not is_significant(_first_seed_gap(snapshot, gains[best], gains[name]))
    ]
    if len(equals) == 1:
        return (
            f"More bits help {best} {'most' if len(gains) > 1 else ''}".rstrip()
            + f": {score} {formats.change(means[best])}"
        )
    least = min(means[name] for name in equals)
    gained = " to ".join(dict.fromkeys(formats.change(value) for value in (least, means[best])))
    every = len(equals) == len(gains)
    who = "all methods" if every and len(gains) == len(snapshot.names) else join_names(equals)
    if means[best] - least <= ALIKE:
        how = " about equally" if every else " most, and about equally"
    else:
        how = " (in no clear order)" if every else " most (in no clear order)"
    return f"More bits help {who}{how}: {score} {gained}"


def _first_seed_gap(snapshot: ComparisonSnapshot, scores: Floats, other: Floats) -> Gap | None:
    """Codes of other lengths are learnt with the first seed only."""
    first = snapshot.comparison.seeds[0]
    return gap_over_seeds({first: scores}, {first: other}, snapshot.truth_column, {})


def precision_recall(snapshot: ComparisonSnapshot) -> Chart:
    """Precision and recall within every Hamming radius, all queries together; points joined, not interpolated."""
    x, y = Axis("recall", lo=0, hi=1, format="share"), Axis("precision", lo=0, hi=1, format="share")
    drawn = []
    for at, role in enumerate(roles(snapshot)):
        record = snapshot.record(at)
        if record is None:
            continue
        curve = record.curve
        some = curve.recall > 0
        name, dash = snapshot.names[at], DASHES[snapshot.supervision(at)]
        drawn.append(Series(name, curve.recall[some], curve.precision[some], "line", role, dash, theme.NORMAL))
    if not drawn:
        return empty_chart("Precision and recall have not been measured yet", x, y)
    half = {one.name: float(np.interp(0.5, one.x, one.y)) for one in drawn if len(one.x)}
    best = max(half, key=lambda name: half[name])
    title = f"When half of the relevant items are found, {best} is right most often: {formats.percent(half[best])}"
    return Chart(title, x, y, tuple(drawn), (), fairness(snapshot), f"{title}. One line per method.")


def radius(snapshot: ComparisonSnapshot) -> Chart:
    """Precision within Hamming radius 2 against the share of queries that find nothing there."""
    x = Axis("queries that find nothing within radius 2", lo=0, hi=1, format="share")
    y = Axis("precision within radius 2", lo=0, hi=1, format="share")
    records = [(at, snapshot.record(at)) for at in range(len(snapshot.entries))]
    drawn = [
        points(snapshot.names[at], np.array([one.empty_ball]), np.array([one.precision_radius]), role)
        for (at, one), role in zip(records, roles(snapshot), strict=True)
        if one is not None and math.isfinite(one.precision_radius)  # a distance of its own has no radius
    ]
    if not drawn:
        return empty_chart("Nothing has been looked up yet", x, y)
    best = max(drawn, key=lambda one: float(one.y[0]))
    title = (
        f"Bucket search: {best.name} is right {formats.percent(float(best.y[0]))} within radius 2, and finds nothing "
    )
    title += f"for {formats.percent(float(best.x[0]))} of the queries"
    return Chart(title, x, y, tuple(drawn), (), fairness(snapshot), f"{title}. One point per method.")


def reranking(snapshot: ComparisonSnapshot) -> Chart:
    """Recall@10 of exact neighbours if c times as many codes are sorted again by the float vectors."""
    x = Axis("times as many candidates, re-ranked by the floats", "log", lo=0.9, hi=20, format="count")
    y = Axis("recall@10", lo=0, hi=1, format="share")
    drawn = []
    for at, role in enumerate(roles(snapshot)):
        values = np.array([snapshot.reranked(at, c) for c in RERANKED])
        if np.isfinite(values).any():
            name, dash = snapshot.names[at], DASHES[snapshot.supervision(at)]
            line = Series(name, np.array(RERANKED, float), values, "line", role, dash, listed=False, label=name)
            drawn.append(line)
    if not drawn:
        return empty_chart("Re-ranking is measured when the curves end", x, y)
    best = max(drawn, key=lambda one: float(one.y[-2]))
    share = formats.percent(float(best.y[-2]))
    title = f"Re-ranking 4 times as many candidates, {best.name} finds {share} of the exact neighbours"
    return Chart(title, x, y, tuple(drawn), (), fairness(snapshot), f"{title}. One line per method.")


def recomputed_bits(snapshot: ComparisonSnapshot) -> Chart:
    """Bits of the code table computed again so far: what following the stream costs the index."""
    x = _pairs_axis(snapshot)
    drawn = []
    for at, role in enumerate(roles(snapshot)):
        results = snapshot.results_of(at)[:1]
        if results:
            line = _curve(snapshot, at, results, "recomputed", "pairs", role, x.hi or 1)
            drawn.append(line)
    y = Axis("bits recomputed", lo=0, format="count")
    if not drawn:
        return empty_chart("No code has been recomputed yet", x, y)
    busiest = max(drawn, key=lambda one: float(one.y[-1]))
    y = Axis("bits recomputed", lo=0, hi=round_up(max(1.0, float(busiest.y[-1]))), format="count")
    as_many = [one.name for one in drawn if one.y[-1] >= 0.9 * busiest.y[-1]]
    who = join_names(as_many)
    title = f"{who} cause{'s' * (len(as_many) == 1)} {formats.approximate(float(busiest.y[-1]))} bits to be recomputed"
    if busiest.y[-1] == 0:
        title = "No method causes any bit to be recomputed"
    return Chart(
        title, x, y, tuple(drawn), _drift_marks(snapshot), fairness(snapshot), f"{title}. One line per method."
    )


CHARTS = {
    "agreement": curves,
    "recall@10": lambda snapshot: curves(snapshot, "recall_10"),
    "agreement over CPU time": lambda snapshot: curves(snapshot, over="cpu"),
    "two truths": truths,
    "agreement by bits": by_bits,
    "precision-recall": precision_recall,
    "radius 2": radius,
    "re-ranking": reranking,
    "bits recomputed": recomputed_bits,
}


def roles(snapshot: ComparisonSnapshot) -> list[str]:
    """A colour for every method, different from each other."""
    return theme.distinct_roles([entry.method for entry in snapshot.entries])


def _curve(
    snapshot: ComparisonSnapshot,
    at: int,
    results: list[MethodResult],
    column: str,
    over: str,
    role: str,
    end: float,
    faint: bool = False,
) -> Series:
    """The mean over tracks; a hash that never changes is a level line up to where the others are."""
    least = min(len(result.checkpoints["pairs"]) for result in results)
    y = np.mean([result.checkpoints[column][:least] for result in results], axis=0)
    x = np.mean([_x(result, over)[:least] for result in results], axis=0)
    if over == "cpu" and snapshot.entries[at].spec.consumes == "nothing" and len(x):
        x, y = np.append(x, end), np.append(y, y[-1])
    name, dash = snapshot.names[at], DASHES[snapshot.supervision(at)]
    if faint:
        return Series(f"{name}, seed {results[0].seed}", x, y, "line", role, dash, theme.THIN, FAINT, listed=False)
    return Series(name, x, y, "line", role, dash, theme.THICK, listed=False, label=name)


def _x(result: MethodResult, over: str) -> Numbers:
    if over == "cpu":
        return np.maximum(MIN_SECONDS, result.checkpoints["cpu_learn"] + result.checkpoints["cpu_encode"])
    return np.maximum(LEFT, result.checkpoints["pairs"])


def _pairs_axis(snapshot: ComparisonSnapshot) -> Axis:
    pairs = max((result.t for result in snapshot.results), default=0)
    return Axis("pairs", "log", lo=LEFT, hi=round_up(max(100, pairs), COARSE), format="count")


def _cpu_axis(results: list[MethodResult]) -> Axis:
    longest = max((float(_x(result, "cpu")[-1]) for result in results), default=1.0)
    lo, hi = decades(MIN_SECONDS, longest)
    return Axis("CPU time of learning and encoding", "log", unit="s", lo=lo, hi=hi)


def _drift_marks(snapshot: ComparisonSnapshot) -> tuple[Mark, ...]:
    edges = snapshot.comparison.drift.boundaries
    reached = max((result.t for result in snapshot.results), default=0)
    shown = edges[:1] if len(edges) < 2 else (edges[0], edges[-1])
    names = ("drift",) if len(edges) < 2 else ("drift begins", "drift ends")
    drifts = zip(shown, names, strict=False)
    return tuple(Mark(at, name, role="drift", dash="dashed") for at, name in drifts if at <= reached)


def kinds(snapshot: ComparisonSnapshot) -> list[str]:
    """The kinds of supervision that get a chart each: beyond eight methods one chart of all cannot be read."""
    present = [snapshot.supervision(at) for at in range(len(snapshot.entries))]
    several = [kind for kind in SUPERVISION if kind in present]
    return several if len(present) > MAX_METHODS_IN_CHART and len(several) > 1 else [""]


def _ranking(snapshot: ComparisonSnapshot, metric: str, only: str = "") -> str:
    """The leader of each kind of supervision, or of one, of codes no larger than the comparison's length."""
    score = SCORES[metric]
    parts = []
    limit = budget(snapshot)
    for kind, several in methods_by_supervision(snapshot).items():
        if only and kind != only:
            continue
        fitting = [at for at in several if snapshot.results_of(at)[0].bytes <= limit]
        if not fitting:
            continue
        best = max(fitting, key=lambda at: snapshot.score(at, metric))
        value = _share(snapshot.score(best, metric))
        parts.append((snapshot.score(best, metric), f"{snapshot.names[best]} {value} ({SUPERVISION[kind]})"))
    ordered = [text for _, text in sorted(parts, reverse=True)]
    if not ordered:
        return f"{score.short} of every method" if snapshot.judged else f"{score.short} before anything was learnt"
    return f"Best {score.short} at {amount(limit, 'byte')}: {', '.join(ordered)}"


def _share(value: float) -> str:
    """Two decimals; two digits where that says nothing.

    >>> _share(0.664), _share(0.0154)
    ('.66', '.015')
    """
    return formats.share(value) if not 0 < abs(value) < 0.1 else formats.number(value, 2).removeprefix("0")


def limits(*parts: Numbers) -> tuple[float, float]:
    """Tenths around some shares; finer steps where all are small."""
    values = np.concatenate([np.asarray(part, np.float64) for part in parts]) if parts else np.empty(0)
    values = values[np.isfinite(values)]
    if len(values) and 0 <= values.min() and 0 < values.max() < 0.1:
        return 0.0, round_up(1.05 * float(values.max()))
    return share_limits(*parts)


def _reference(level: float) -> Mark:
    """The line of the float vectors."""
    return Mark(level, f"float vectors {_share(level)}", "y")


def name_few(drawn: list[Series], named: Sequence[str]) -> tuple[list[Series], str]:
    """Beyond eight methods only some points are named, so that no name covers another point; and a note about it."""
    if sum(bool(one.label) for one in drawn) <= MAX_METHODS_IN_CHART + 1:  # and the float vectors
        return drawn, ""
    few = [one if one.label in named else replace(one, label="") for one in drawn]
    return few, "The most relevant points are named; point to another to see its name. "


def points(name: str, x: Numbers, y: Numbers, role: str, *, listed: bool = True, opacity: float = 1.0) -> Series:
    """Points with their name beside them; without it if they are not `listed`."""
    return Series(name, x, y, "points", role, opacity=opacity, listed=False, label=name if listed else "")
