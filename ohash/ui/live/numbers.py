"""The numbers of a run, and its status line, as HTML with tabular figures."""

import html
import math

from ohash.engine.judge import CLICKS
from ohash.engine.narrative import pairs_in_words
from ohash.engine.run_health import findings, health
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods
from ohash.plots.theme import colour

HEALTH = {
    "early": ("too early to tell", "reference"), "healthy": ("healthy", "similar"),
    "look": ("worth a look", "dissimilar"), "ill": ("not healthy", "wrong"),
}  # fmt: skip


def numbers_html(now: Snapshot) -> str:
    """Both quality measures with their gain, storage, speed."""
    n = now.numbers
    entries = [
        _score("hit@10 · by your pairs", n.get("hit_10"), n.get("hit_10_start"))
        if now.similar_by in CLICKS
        else _score("mAP · by labels or pairs", n.get("map"), n.get("map_start")),
        _score("recall@10 · by distance", n.get("recall_10"), n.get("recall_10_start")),
        _entry("pair-AUC · recent pairs", _number(n.get("auc"))),
        _entry("total bits · bytes per item", f"{n['bits']:.0f} · {n['bytes']:.0f}"),
        _entry("pairs per CPU second", _speed(now)),
        _entry("trained on the database", _trained_on_database(now)),
    ]
    return f'<div class="ohash-numbers">{"".join(entries)}</div>'


def headline_html(sentence: str, now: Snapshot | None, badge: str, *, dark: bool) -> str:
    """What is happening, with the status next to it; the sentence may hold the name of an uploaded file."""
    status = "" if now is None else _status(now, badge, dark=dark)
    return f'<div class="ohash-words"><p class="ohash-headline">{html.escape(sentence)}</p>{status}</div>'


def health_markdown(now: Snapshot) -> str:
    """The findings behind the health dot."""
    parts = []
    for finding in findings(now):
        advice = f" — {finding.advice}" if finding.advice else ""
        parts.append(f"{'✓' if finding.fine else '!'} **{finding.title}**: {finding.value}{advice}")
    return "\n\n".join(parts)


def _status(now: Snapshot, badge: str, *, dark: bool) -> str:
    """Pairs, recent update rate, health, state."""
    text, role = HEALTH[health(now)]
    count, pairs = pairs_in_words(now.t).split()
    return (
        f'<div class="ohash-status" data-seq="{now.seq}" data-pairs="{now.t}" '
        f'data-changes="{len(now.params.changes)}"><b>{count}</b> {pairs} · {_update_rate(now)}'
        f'<span style="color:{colour(role, dark=dark)}">●</span> {text} · {badge}</div>'
    )


def _update_rate(now: Snapshot) -> str:
    """The share of recent pairs that changed the model, for methods that learn from pairs."""
    return f"recent update rate {now.numbers['update_rate']:.0%} · " if "update_rate" in now.columns else ""


def _speed(now: Snapshot) -> str:
    """Pairs per CPU second, whatever the pace of the run."""
    pairs, seconds = now.checkpoints["pairs"], now.checkpoints["cpu_learn"]
    return f"{pairs[-1] / seconds[-1]:,.0f}" if len(seconds) and seconds[-1] > 0 else "–"


def _score(title: str, value: float | None, start: float | None) -> str:
    if value is None or start is None or not math.isfinite(value):
        return _entry(title, _number(value))
    return _entry(title, f"{_number(value)}<i>{round(value - start, 3) + 0.0:+.3f}</i>")


def _trained_on_database(now: Snapshot) -> str:
    if methods.find(now.params.method).consumes == "nothing":
        return "no training"
    return "yes" if now.database_seen else "no"


def _entry(title: str, text: str) -> str:
    return f"<div><small>{title}</small><b>{text}</b></div>"


def _number(value: float | None) -> str:
    return "–" if value is None or not math.isfinite(value) else f"{value:.3f}"
