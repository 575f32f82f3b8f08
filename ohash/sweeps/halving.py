"""Successive halving (Jamieson, Talwalkar 2016): many settings with few pairs, the best of them with more.

Round k runs its settings with `sweep.budgets[k]` pairs. When all its cells have ended, the best 1 / factor by mean
validation mAP (hit@10 for clicks) enter the next round, separately for each data set, truth and supervision, across
which scores are not comparable. A setting that goes on runs again from its first pair, as an experiment of its own. Who
takes part follows from the stored runs alone, so that a sweep resumes, and several processes share it, as without
halving.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ohash.core.parameters import FrozenSettings
from ohash.engine.judge import truth_column
from ohash.engine.params import OWN, ExperimentParams
from ohash.models.registry import find
from ohash.streams.registry import lookup
from ohash.sweeps.sweep import Cell, Sweep

# Of a setting in its round: it ran all pairs, or entered the next round, or was stopped, or the round is not over.
Outcome = Literal["full", "continued", "stopped", "open"]
OUTCOMES: dict[str, str] = {
    "full": "all pairs",
    "continued": "continued",
    "stopped": "stopped early",
    "open": "round not finished",
}
Setting = tuple[FrozenSettings, list[Cell]]


@dataclass(frozen=True)
class Round:
    """One round: its pairs, and the settings that take part; `finished` if each of their cells has ended."""

    pairs: int
    settings: tuple[Setting, ...]
    finished: bool

    @property
    def cells(self) -> list[Cell]:
        """The cells of its settings."""
        return [cell for _, cells in self.settings for cell in cells]


def group_of(params: ExperimentParams) -> str:
    """The data set, truth and supervision of an experiment: mAP is not comparable across them."""
    truth = "" if params.stream.similar_by == "auto" else f" by {params.stream.similar_by}"
    data = "your data" if params.dataset == OWN else params.dataset
    supervision = find(params.method).supervision_by(_declared_truth(params))
    return f"{data}{truth}, {'unsupervised' if supervision == 'none' else f'learning from {supervision}'}"


def truth_of(cells: Sequence[Cell], results: Mapping[str, dict[str, Any]]) -> str:
    """The score that the cells of a setting are chosen by: mAP, or hit@10 of clicks."""
    stored = (results[cell.key] for cell in cells if cell.key in results)
    done = (values["similar_by"] for values in stored if values["state"] == "done")
    return truth_column(next(done, "") or _declared_truth(cells[0].params))


def _declared_truth(params: ExperimentParams) -> str:
    """What decides which pairs are similar, as far as it is known without the data."""
    spec = lookup(params.dataset)
    return params.stream.similar_by if params.stream.similar_by != "auto" or spec is None else spec.similar_by


def open_rounds(sweep: Sweep, results: Mapping[str, dict[str, Any]], failed: Set[str] | None = None) -> list[Round]:
    """The rounds up to the first that is not over; all cells in one round without halving.

    `known` are the stored values by key. A cell has ended if it is done or among `failed` (default: stored as failed).
    """
    settings = list(sweep.by_point())
    if not sweep.halving:
        return [Round(0, tuple(settings), finished=False)]
    ended = {key for key, values in results.items() if values["state"] == "done"}
    ended |= {key for key, values in results.items() if values["state"] == "error"} if failed is None else failed
    taking_part = {_without_pairs(at) for at, _ in settings}
    rounds: list[Round] = []
    for pairs in sweep.budgets:
        entered = [one for one in settings if dict(one[0])["pairs"] == pairs and _without_pairs(one[0]) in taking_part]
        finished = all(cell.key in ended for _, cells in entered for cell in cells)
        rounds.append(Round(pairs, tuple(entered), finished))
        if not finished:
            break
        taking_part = {_without_pairs(at) for at, _ in _best(entered, results, int(dict(sweep.halving)["factor"]))}
    return rounds


def outcomes(sweep: Sweep, rounds: list[Round]) -> dict[FrozenSettings, Outcome]:
    """What became of each setting in each round it took part in."""
    result: dict[FrozenSettings, Outcome] = {}
    for number, one in enumerate(rounds):
        later = {_without_pairs(at) for at, _ in rounds[number + 1].settings} if number + 1 < len(rounds) else set()
        for at, _ in one.settings:
            if not sweep.halving or one.pairs == sweep.budgets[-1]:
                result[at] = "full"
            elif not one.finished:
                result[at] = "open"
            else:
                result[at] = "continued" if _without_pairs(at) in later else "stopped"
    return result


def planned_cells(sweep: Sweep, results: Mapping[str, dict[str, Any]] | None = None) -> list[Cell]:
    """The cells that run: of open rounds those that take part, of later ones as many; the first stand for the best."""
    rounds = open_rounds(sweep, results or {})
    cells = [cell for one in rounds for cell in one.cells]
    entered, everyone = list(rounds[-1].settings), dict(sweep.by_point())
    for pairs in sweep.budgets[len(rounds) :]:
        factor = int(dict(sweep.halving)["factor"])
        entered = [(at, everyone[at]) for at in (_with_pairs(at, pairs) for at, _ in _best(entered, {}, factor))]
        cells += [cell for _, of_setting in entered for cell in of_setting]
    return cells


def summary(sweep: Sweep, rounds: list[Round]) -> str:
    """The rounds as a sentence, and what may not be compared; "" without halving."""
    if not sweep.halving:
        return ""
    parts = [
        f"{len(one.settings)} {'setting' if len(one.settings) == 1 else 'settings'} with {one.pairs:,} pairs"
        + ("" if one.finished else " (not finished)")
        for one in rounds
    ]
    later = len(sweep.budgets) - len(rounds)
    if later:
        parts.append(f"{later} {'round' if later == 1 else 'rounds'} to come")
    return (
        f"Successive halving: {', then '.join(parts)}. A setting stopped early is not ranked against those that ran "
        f"all {sweep.budgets[-1]:,} pairs: with more pairs it might have overtaken them."
    )


def _best(settings: list[Setting], results: Mapping[str, dict[str, Any]], factor: int) -> list[Setting]:
    """The best 1 / factor of each group, at least one, in the order of the sweep; equals by that order, too.

    A setting with a failed cell has no mean of all its seeds, and does not go on. Nothing known: as many, the first.
    """
    groups: dict[str, list[Setting]] = {}
    for setting in settings:
        groups.setdefault(group_of(setting[1][0].params), []).append(setting)
    best = []
    for group in groups.values():
        ranked = sorted(group, key=lambda setting: -_mean(setting[1], results))[: max(1, len(group) // factor)]
        best += [setting for setting in ranked if not results or np.isfinite(_mean(setting[1], results))]
    return [setting for setting in settings if any(setting is one for one in best)]


def _mean(cells: list[Cell], results: Mapping[str, dict[str, Any]]) -> float:
    truth = truth_of(cells, results)
    scores = [results.get(cell.key, {}).get("scores/validation", {}).get(truth, np.nan) for cell in cells]
    mean = float(np.mean(scores))
    return mean if np.isfinite(mean) else -np.inf


def _without_pairs(at: FrozenSettings) -> FrozenSettings:
    return tuple((key, value) for key, value in at if key != "pairs")


def _with_pairs(at: FrozenSettings, pairs: int) -> FrozenSettings:
    return tuple((key, pairs if key == "pairs" else value) for key, value in at)
