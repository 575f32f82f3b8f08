"""What a run prints: its progress, and the report at its end."""

from collections.abc import Mapping

import numpy as np

from ohash.engine.checkpoints import NAMES
from ohash.engine.judge import CLICKS, RERANKED, TRUTH_SCORES, truth_column
from ohash.engine.narrative import amount, truth_of
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.evaluation.drift_metrics import detection, dip, most_forgotten, recovery, stale_gap
from ohash.evaluation.metric_descriptions import METRICS as METRIC_TABLE
from ohash.models.registry import hashers
from ohash.number_formats import percent


def progress_text(current: Run, elapsed: float, fitted: float = 0.0) -> str:
    """Pairs, speed and the last scores; `fitted` is the progress of a running fit."""
    pairs, scores, judged = f"{current.t:,} / {current.end:,} pairs", "", current.checkpoints.scores
    if len(judged):
        column = truth_column(current.checkpoints.judge.name)
        scores = f"  {TRUTH_SCORES[column]} {judged[column][-1]:.3f}  recall@10 {judged['recall_10'][-1]:.3f}"
    if current.spec.consumes == "batch" and current.evaluating and current.training_set.is_worth_a_fit():
        rows = len(current.training_set.rows)
        return f"{pairs}  fitting {current.spec.title} to {rows:,} rows, {100 * fitted:.0f} %{scores}"
    return f"{pairs}  {current.t / max(elapsed, 1e-9):,.0f}/s{scores}"


def report_text(now: Snapshot, test: dict[str, float], metric: str, chance: Mapping[str, float]) -> str:
    """What was learnt, how well the codes agree with both truths, and what the drift did."""
    n, judged, title = now.numbers, now.params.run.judged_by, hashers()[now.params.method].title
    column = truth_column(now.similar_by)
    lines = [
        f"{title}: {amount(now.t, 'pair')}, {n['bits']:.0f} bits ({amount(n['bytes'], 'byte')} per item), "
        f"{_update_rate(now)}pair AUC {n['auc']:.3f}",
        f"agreement with {truth_of(now)}: {TRUTH_SCORES[column]} {n[f'{column}_start']:.3f} -> {n[column]:.3f} "
        f"({judged}), {test[column]:.3f} on {amount(test['queries'], 'test query')}",
        *_click_lines(n, test, now.similar_by, chance),
        f"agreement with the original distance ({metric}): recall@10 {n['recall_10_start']:.3f} -> "
        f"{n['recall_10']:.3f} ({judged}), {test['recall_10']:.3f} on test",
        "re-ranked by the float vectors: recall@10 on test "
        + ", ".join(f"{test[f'recall_10_x{factor}']:.3f} with {10 * factor} candidates" for factor in RERANKED[1:]),
        *_code_lines(n),
        *_drift_lines(now),
        _training_line(now),
    ]
    return "\n".join(lines)


def _update_rate(now: Snapshot) -> str:
    """The share of recent updates, if the method learns from pairs."""
    return (
        f"{percent(now.numbers['update_rate'])} of recent pairs caused an update, "
        if "update_rate" in now.columns
        else ""
    )


def _click_lines(
    n: dict[str, float], test: dict[str, float], similar_by: str, chance: Mapping[str, float]
) -> list[str]:
    """Where clicks are the truth: whether the clicked item is among the first results."""
    if similar_by not in CLICKS or not {"hit_10", "mrr"} <= test.keys():
        return []
    names = {"hit_10": "hit@10", "mrr": "MRR", "ndcg_10": "nDCG@10", "auc_later": "AUC"}
    scores = ", ".join(f"{name} {n[key]:.3f} (on test {test[key]:.3f})" for key, name in names.items() if key in test)
    by_chance = ", ".join(f"{name} {chance[key]:.3f}" for key, name in names.items())
    return [f"later pairs: {scores}; a random order has {by_chance}"]


def _code_lines(n: dict[str, float]) -> list[str]:
    """Code diagnostics, if the codes are bits."""
    if "balance" not in n:
        return []
    labels = {name: METRIC_TABLE[name].label for name in NAMES}
    return ["codes: " + ", ".join(f"{label} {n[name]:.3f}" for name, label in labels.items())]


def _drift_lines(now: Snapshot) -> list[str]:
    """What the drift did to the truth score, and when it was detected."""
    edges = now.params.drift.boundaries
    if not edges or edges[0] >= now.t:
        return []
    at, pairs = edges[0], now.checkpoints["pairs"]
    truth = truth_column(now.similar_by)
    scores = now.checkpoints[truth]
    back = recovery(pairs, scores, at)
    text = f"drift at pair {at:,}: {TRUTH_SCORES[truth]} fell by {dip(pairs, scores, at):.3f}, "
    text += f"back to 95 % after {back:,.0f} pairs" if not np.isnan(back) else "not back to 95 % by the end"
    if now.class_map.size:
        text += f"; most forgotten class {most_forgotten(now.class_map):.3f}"
    fresh = now.checkpoints.get(f"{truth}_fresh")
    if fresh is not None:  # a run on clicks that an older version saved has no such scores
        text += f"; stale codes cost {stale_gap(fresh, scores)[-1]:.3f}"
    for name, places in now.alarms.items():
        alarm = detection(places, at, now.t)
        detected = "did not detect it" if np.isnan(alarm.delay) else f"detected it after {alarm.delay:,.0f} pairs"
        text += f"; {name} {detected}, {alarm.false_alarms} false alarms"
    return [text]


def _training_line(now: Snapshot) -> str:
    spec = hashers()[now.params.method]
    if spec.consumes == "nothing":
        return f"{spec.title} does not learn, so it was not trained on the database"
    return "the database was " + ("seen in training, as in the paper" if now.database_seen else "not seen in training")
