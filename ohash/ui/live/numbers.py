"""E: the numbers of a run, and the status line, as small HTML with tabular figures."""

import html
import math

from ohash.engine.narrative import findings, health, pairs_in_words
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods
from ohash.plots.theme import colour


def numbers_html(now: Snapshot) -> str:
    """Both truths with their gain, storage, speed."""
    n = now.numbers
    cells = [
        _cell("mAP · agrees with labels or pairs", n.get("map"), n.get("map_start")),
        _cell("recall@10 · agrees with the distance", n.get("recall_10"), n.get("recall_10_start")),
        _plain("pair-AUC · recent pairs", _number(n.get("auc"))),
        _plain("bits in all · bytes an item", f"{n['bits']:.0f} · {n['bytes']:.0f}"),
        _plain("pairs a second of learning", _speed(now)),
        _plain("database trained on", _trained_on(now)),
    ]
    return f'<div class="ohash-numbers">{"".join(cells)}</div>'


def words_html(sentence: str, now: Snapshot | None, badge: str, *, dark: bool) -> str:
    """What is happening, and the status beside it; a title may be the name of somebody's file."""
    status = "" if now is None else _status(now, badge, dark=dark)
    return f'<div class="ohash-words"><p class="ohash-headline">{html.escape(sentence)}</p>{status}</div>'


def health_markdown(now: Snapshot) -> str:
    """Everything the health dot stands for."""
    parts = []
    for finding in findings(now):
        advice = f" — {finding.advice}" if finding.advice else ""
        parts.append(f"{'✓' if finding.fine else '!'} **{finding.title}**: {finding.value}{advice}")
    return "\n\n".join(parts)


def _status(now: Snapshot, badge: str, *, dark: bool) -> str:
    """Pairs, share updated, health, state."""
    found = health(now)
    dot = colour({"healthy": "similar", "look": "dissimilar", "ill": "wrong"}[found], dark=dark)
    words = {"healthy": "healthy", "look": "worth a look", "ill": "not healthy"}[found]
    count, pairs = pairs_in_words(now.t).split()
    return (
        f'<div class="ohash-status" data-seq="{now.seq}" data-pairs="{now.t}" '
        f'data-changes="{len(now.params.changes)}"><b>{count}</b> {pairs} · {_updated(now)}'
        f'<span style="color:{dot}">●</span> {words} · {badge}</div>'
    )


def _updated(now: Snapshot) -> str:
    """The share of recent pairs that moved the model, of a method that learns from pairs."""
    return f"{now.numbers['update_rate']:.0%} updated lately · " if "update_rate" in now.columns else ""


def _speed(now: Snapshot) -> str:
    """Pairs a CPU second, whatever the pace of the run."""
    pairs, seconds = now.checkpoints["pairs"], now.checkpoints["cpu_learn"]
    return f"{pairs[-1] / seconds[-1]:,.0f}" if len(seconds) and seconds[-1] > 0 else "–"


def _cell(title: str, value: float | None, start: float | None) -> str:
    gain = (
        ""
        if value is None or start is None or not math.isfinite(value)
        else f"<i>{round(value - start, 3) + 0.0:+.3f}</i>"
    )
    return _plain(title, _number(value) + gain)


def _trained_on(now: Snapshot) -> str:
    if methods.find(now.params.method).consumes == "nothing":
        return "learns nothing"
    return "yes" if now.database_seen else "no"


def _plain(title: str, text: str) -> str:
    return f"<div><small>{title}</small><b>{text}</b></div>"


def _number(value: float | None) -> str:
    return "–" if value is None or not math.isfinite(value) else f"{value:.3f}"
