"""A sweep for a paper: a LaTeX table, the sources, the best points, and how much each parameter matters."""

import math
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from ohash import table_files
from ohash.core.parameters import parameter_table
from ohash.engine.judge import TRUTH_SCORES
from ohash.engine.narrative import amount
from ohash.engine.params import OWN, RunParams, experiment, rows_of
from ohash.models.registry import find
from ohash.streams import registry as datasets
from ohash.sweeps.halving import group_of, planned_cells
from ohash.sweeps.results import METRIC, Point, bits_differ_from_r, truths_of
from ohash.sweeps.sweep import Sweep
from ohash.table_files import bibliography, escape_latex

MAX_ROWS = 45  # of a table that fits on a page
MIN_POINTS = 4  # for shares of a variance
BINS = 4  # of a parameter drawn at random
LOWER_IS_BETTER = ("cum_R", "cpu_learn", "seconds")
NEITHER_IS_BETTER = ("update_rate",)


def best_of(points: Sequence[Point], measure: str = METRIC) -> list[Point]:
    """The best of each data set, truth and supervision, of the points with the most seeds; equals are all best.

    Nothing is best by a measure that is neither good nor bad, and nothing that successive halving stopped early.
    """
    if measure in NEITHER_IS_BETTER:
        return []
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(group_of(point.cells[0].params), []).append(point)
    best = []
    for group in groups.values():
        rivals = [point for point in group if math.isfinite(point.mean(measure))]
        full = [point for point in rivals if point.outcome == "full"]
        seeds = max((len(point.numbers) for point in full), default=0)
        ranked = [point for point in full if len(point.numbers) == seeds]
        sign = -1 if measure in LOWER_IS_BETTER else 1
        if ranked and len(ranked) + len(rivals) - len(full) > 1:
            highest = max(sign * point.mean(measure) for point in ranked)
            best += [point for point in ranked if sign * point.mean(measure) == highest]
    return best


def importance(sweep: Sweep, points: Sequence[Point], measure: str = METRIC) -> dict[str, float]:
    """The share of the variance of a measure over the points that each parameter explains alone.

    It is the variance of the means at each value, over the variance of all points: the main effects of an analysis of
    variance. On a whole grid they and their interactions add up to 1. A parameter drawn at random has too many values
    for that: its values are put in four bins, and what bins explain by chance is subtracted. Empty for too few points.
    Of successive halving it is the first round: only there all settings took part, with the same number of pairs.
    """
    scored = [point for point in points if math.isfinite(point.mean(measure))]
    if sweep.halving:
        scored = [point for point in scored if dict(point.at)["pairs"] == sweep.budgets[0]]
    axes = [key for key in sweep.axes if key != "pairs" or not sweep.halving]
    y = np.array([point.mean(measure) for point in scored])
    if len(scored) < MIN_POINTS or len(axes) < 2 or not y.std() > 0:
        return {}
    drawn = dict(sweep.random)
    shares: dict[str, float] = {}
    seen: set[tuple[int, ...]] = set()
    for key in axes:
        values = [dict(point.at).get(key) for point in scored]
        groups = _bins(values) if key in drawn and len(set(values)) > BINS else [repr(value) for value in values]
        parts = tuple(groups.index(name) for name in groups)
        if parts not in seen:  # what always changes with another parameter, such as T with the method, is that one
            shares[key] = _explained_share(y, groups, by_chance=key in drawn)
        seen.add(parts)
    return shares if len(shares) > 1 else {}


def _bins(values: Sequence[object]) -> list[str]:
    ranks = np.argsort(np.argsort(np.array(values, np.float64), kind="stable"))
    return [str(rank * BINS // len(values)) for rank in ranks]


def _explained_share(y: npt.NDArray[np.float64], groups: list[str], *, by_chance: bool) -> float:
    """The sum of squares between groups over the total, without what is expected by chance if so asked.

    >>> _explained_share(np.array([1.0, 1.0, 3.0, 3.0]), ["a", "a", "b", "b"], by_chance=False)
    1.0
    """
    labels = np.array(groups)
    parts = [y[labels == name] for name in dict.fromkeys(groups)]
    total = float(((y - y.mean()) ** 2).sum())
    between = sum(len(part) * float(part.mean() - y.mean()) ** 2 for part in parts)
    within = (total - between) / (len(y) - len(parts)) if len(y) > len(parts) else 0.0
    return max(0.0, between - (len(parts) - 1) * within * by_chance) / total


def to_latex(sweep: Sweep, points: Sequence[Point]) -> str:
    """A booktabs table, one row per point, mean ± sd over seeds on validation queries; the best of a group is bold.

    Of successive halving a row is a setting with the most pairs it ran.
    """
    candidates = [point for point in points if (point.numbers or point.failed) and point.outcome != "continued"]
    best = {id(point) for point in best_of(candidates)}
    if sweep.halving:
        candidates = sorted(candidates, key=lambda point: -dict(point.at)["pairs"])
    shown = candidates
    if len(candidates) > MAX_ROWS:
        shown = sorted(candidates, key=lambda point: (not point.numbers, point.outcome != "full", -point.mean()))
        shown = shown[:MAX_ROWS]
    keys = list(sweep.axes)
    bits = ["bits"] if bits_differ_from_r(candidates) else []
    truths = truths_of(candidates)
    rows = []
    for point in shown:
        scores = [_mean_sd(point, name) for name in (*truths, "recall_10")]
        if id(point) in best:
            at = truths.index(point.truth)
            scores[at] = rf"\textbf{{{scores[at]}}}"
        if not point.numbers:
            scores[0] = "failed"
        place = [_cell(key, dict(point.at).get(key)) for key in keys] + [str(point.bits or "--") for _ in bits]
        rows.append([*place, str(len(point.numbers)), *scores])
    titles = [*(TRUTH_SCORES[truth] for truth in truths), "recall@10"]
    header = [*(escape_latex(symbol(sweep, key)) for key in keys), *bits, "seeds", *titles]
    cells = [cell.params for cell in sweep.cells]
    data = ", ".join(dict.fromkeys("own data" if one.dataset == OWN else one.dataset for one in cells))
    few = f" The best {len(shown)} of {len(candidates)} points." if len(shown) < len(candidates) else ""
    if sweep.halving:
        few += (
            f" Successive halving: rows with fewer than {sweep.budgets[-1]:,} pairs were stopped early and are not "
            "ranked; bold is the best of the others."
        )
    pairs = ", ".join(dict.fromkeys(f"{one.run.pairs:,} pairs" for one in cells))
    caption = (
        f"{sweep.name} ({', '.join([data, pairs, *_fixed_values(sweep)])}): mean ± standard deviation over seeds, "
        f"validation queries.{_why_bold(shown, best)}{few}{_progress(sweep, points)}"
    )
    return "% \\usepackage{booktabs}\n" + table_files.to_latex(
        header, [rows], caption=escape_latex(caption), align="l" * len(keys) + "r" * (1 + len(titles) + len(bits))
    )


def _fixed_values(sweep: Sweep) -> list[str]:
    """What all cells share and a reader of the table must know: the method, r, and what the spec sets besides."""
    models = {cell.params.method: cell.params.model for cell in sweep.cells}
    fixed = [find(next(iter(models))).title] if len(models) == 1 else []
    lengths = {getattr(cell.params.model, "r", 0) for cell in sweep.cells}
    fixed += [f"r = {lengths.pop()}"] if len(lengths) == 1 and "r" not in sweep.axes else []
    elsewhere = {*parameter_table(RunParams), "dataset", "method", "content", "r", *sweep.axes}
    return fixed + [f"{symbol(sweep, key)} = {_value_text(value)}" for key, value in sweep.base if key not in elsewhere]


def _why_bold(points: Sequence[Point], best: Collection[int]) -> str:
    """Why more than one row is bold."""
    groups = {group_of(point.cells[0].params) for point in points if id(point) in best}
    if len(groups) < 2:
        return ""
    data = {point.cells[0].params.dataset for point in points}
    return (
        f" Bold: the best of each supervision{' and data set' if len(data) > 1 else ''}, which are ranked separately."
    )


def _progress(sweep: Sweep, points: Sequence[Point]) -> str:
    """How many experiments have ended, and which failed; "" if all are done."""
    done, total = sum(len(point.numbers) for point in points), len(planned_cells(sweep))
    failed = sum(point.failed for point in points)
    if done == total:
        return ""
    if not failed:
        return f" {done} of {amount(total, 'experiment')} {'has' if done == 1 else 'have'} ended."
    titles = dict.fromkeys(find(point.cells[0].params.method).title for point in points if point.failed)
    waiting = "" if done + failed >= total else f", {total - done - failed} have not ended"
    return f" {failed} of {amount(total, 'experiment')} failed ({', '.join(titles)}){waiting}."


def to_bibtex(sweep: Sweep) -> str:
    """The sources of every method and data set, each once."""
    cells = [cell.params for cell in sweep.cells]
    methods = [find(method).bibtex for method in dict.fromkeys(one.method for one in cells)]
    data = [datasets.lookup(key) for key in dict.fromkeys(one.dataset for one in cells)]
    return bibliography([*methods, *(spec.bibtex for spec in data if spec is not None)])


def symbol(sweep: Sweep, key: str) -> str:
    """A parameter as the paper writes it; its n, the number of pairs, in words."""
    rows = rows_of(sweep.cells[0].params) | rows_of(experiment())
    row = rows.get(key)
    return key if row is None or key == "pairs" else row.symbol or row.title


def _cell(key: str, value: object) -> str:
    if key == "method":
        return escape_latex(find(str(value)).title)
    return "--" if value is None else escape_latex(_value_text(value))


def _value_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _mean_sd(point: Point, name: str) -> str:
    mean, sd = point.mean(name), point.sd(name)
    if not math.isfinite(mean):
        return "--"
    return f"{mean:.3f}" + (rf" $\pm$ {sd:.3f}" if math.isfinite(sd) else "")
