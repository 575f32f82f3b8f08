"""E: the numbers of a run, and the status line, as small HTML with tabular figures."""

import html
import math

from ohash.experiment.snapshot import Snapshot
from ohash.plots.theme import colour


def numbers_html(now: Snapshot) -> str:
    """Both truths with their gain, storage, speed."""
    n = now.numbers
    cells = [
        _cell("mAP · agrees with labels or pairs", n.get("map"), n.get("map_start")),
        _cell("recall@10 · agrees with the distance", n.get("recall_10"), n.get("recall_10_start")),
        _plain("pair-AUC · recent pairs", _number(n.get("auc"))),
        _plain("bits in all · bytes an item", f"{n['bits']:.0f} · {n['bytes']:.0f}"),
        _plain("pairs a second", f"{now.extra.get('pairs_per_second', 0):,.0f}" if now.extra else "–"),
        _plain("database trained on", "yes" if now.database_seen else "no"),
    ]
    return f'<div class="ohash-numbers">{"".join(cells)}</div>'


def headline_html(sentence: str) -> str:
    """What is happening; a title may be the name of somebody's file."""
    return f'<p class="ohash-headline">{html.escape(sentence)}</p>'


def status_html(now: Snapshot, badge: str, health: str, *, dark: bool) -> str:
    """Pairs, share updated, health, state."""
    dot = colour({"healthy": "similar", "look": "dissimilar", "ill": "wrong"}[health], dark=dark)
    words = {"healthy": "healthy", "look": "worth a look", "ill": "not healthy"}[health]
    return (
        f'<div class="ohash-status" data-seq="{now.seq}" data-pairs="{now.t}" '
        f'data-changes="{len(now.params.changes)}"><b>{now.t:,}</b> pairs · {_updated(now)}'
        f'<span style="color:{dot}">●</span> {words} · {badge}</div>'
    )


def _updated(now: Snapshot) -> str:
    """The share of recent pairs that moved the model, of a method that learns from pairs."""
    return f"{now.numbers['update_rate']:.0%} updated · " if "update_rate" in now.columns else ""


def _cell(title: str, value: float | None, start: float | None) -> str:
    gain = "" if value is None or start is None or not math.isfinite(value) else f"<i>{value - start:+.3f}</i>"
    return _plain(title, _number(value) + gain)


def _plain(title: str, text: str) -> str:
    return f"<div><small>{title}</small><b>{text}</b></div>"


def _number(value: float | None) -> str:
    return "–" if value is None or not math.isfinite(value) else f"{value:.3f}"
