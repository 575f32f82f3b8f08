"""The numbers of a run, and its status line, as HTML with tabular figures."""

import html
import math

from ohash.engine.judge import CLICKS
from ohash.engine.narrative import amount, change_text, truth_of
from ohash.engine.params import OWN
from ohash.engine.run_health import complaints, health
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods
from ohash.number_formats import percent
from ohash.plots.glossary import with_cards
from ohash.plots.theme import colour
from ohash.ui.parts.sharing import run_file_stem

HEALTH = {
    "early": ("too early to tell", "reference"), "short": ("too short to judge", "reference"),
    "healthy": ("healthy", "similar"), "look": ("worth a look", "dissimilar"), "ill": ("not healthy", "wrong"),
    "failed": ("failed", "wrong"),
}  # fmt: skip


def numbers_html(now: Snapshot) -> str:
    """Both quality measures with their gain, storage, speed."""
    n, queries = now.numbers, f"{now.params.run.judged_by} queries"
    entries = [
        _score(f"hit@10 · by {truth_of(now)}, {queries}", now, "hit_10")
        if now.similar_by in CLICKS
        else _score(f"mAP · by {truth_of(now)}, {queries}", now, "map"),
        _score(f"recall@10 · by distance, {queries}", now, "recall_10"),
        _entry("pair AUC · recent pairs", _number(n.get("auc"))),
        _entry("total bits · bytes per item", f"{n['bits']:.0f} · {n['bytes']:.0f}"),
        _entry("pairs per CPU second", _speed(now)),
        _entry("trained on the database", _trained_on_database(now)),
    ]
    return f'<div class="ohash-numbers">{"".join(entries)}{_interval(now)}{_notes(now)}</div>'


def headline_html(sentence: str, now: Snapshot | None, badge: str, *, dark: bool) -> str:
    """What is happening, with the status next to it; the sentence may hold the name of an uploaded file."""
    status = "" if now is None else _status(now, badge, dark=dark)
    return f'<div class="ohash-words">{status}<h2 class="ohash-headline">{with_cards(sentence)}</h2></div>'


def _status(now: Snapshot, badge: str, *, dark: bool) -> str:
    """Pairs, recent update rate, health, state."""
    wrong = complaints(now)
    text, role = HEALTH[health(now, wrong)]
    reasons = "; ".join(f"{finding.title}: {finding.value}" for finding in wrong)
    dot = f'<span title="{html.escape(reasons)}"><span style="color:{colour(role, dark=dark)}">●</span> {text}</span>'
    count, pairs = amount(now.t, "pair").split()
    made = now.extra.get("ack", 0)
    return (
        f'<div class="ohash-status" data-seq="{now.seq}" data-pairs="{now.t}" '
        f'data-file="{html.escape(run_file_stem(now.params))}" '
        f'data-changes="{made}"><b>{count}</b> {pairs} · {_update_rate(now)}'
        f"{dot}{'' if now.state == 'error' else f' · {badge}'}</div>"
    )


def _update_rate(now: Snapshot) -> str:
    """The share of recent pairs that changed the model, for methods that learn from pairs."""
    return f"recent update rate {percent(now.numbers['update_rate'])} · " if "update_rate" in now.columns else ""


def _speed(now: Snapshot) -> str:
    """Pairs per CPU second, whatever the pace of the run."""
    pairs, seconds = now.checkpoints["pairs"], now.checkpoints["cpu_learn"]
    return f"{pairs[-1] / seconds[-1]:,.0f}" if len(seconds) and seconds[-1] > 0 else "–"


def _score(title: str, now: Snapshot, column: str) -> str:
    """A score with its 95 % interval, and its gain since the start."""
    n = now.numbers
    value, start, error = n.get(column), n.get(f"{column}_start"), n.get(f"{column}_error", math.nan)
    if value is None or start is None or not math.isfinite(value):
        return _entry(title, _number(value))
    sure = f"<i>{_interval_text(value, error)}</i>" if math.isfinite(error) else ""
    change, _, plus_minus = change_text(n, column).partition(" ")
    has_error = now.t and math.isfinite(n.get(f"{column}_change_error", math.nan))
    gain = f"<em>{change}{f' {plus_minus}' if has_error else ''} since the start</em>"
    return _entry(title, f"{_number(value)}{sure}", gain + _test(n, column))


def _interval_text(value: float, error: float) -> str:
    """The 95 % interval of a score: its half width, or its ends if it would leave 0 to 1.

    >>> _interval_text(0.69, 0.058), _interval_text(1.0, 0.265), _interval_text(0.018, 0.036)
    ('± 0.058', '(0.735 to 1)', '(0 to 0.054)')
    """
    if 0 <= value - error and value + error <= 1:
        return f"± {error:.3f}"
    ends = (f"{end:.3f}" if 0 < end < 1 else f"{end:.0f}" for end in (max(0.0, value - error), min(1.0, value + error)))
    return f"({' to '.join(ends)})"


def _notes(now: Snapshot) -> str:
    """What must be known of numbers of one's own data; of the others, Data tells it."""
    notes = now.notes if now.params.dataset == OWN else ()
    return "".join(f"<p>note: {html.escape(note)}</p>" for note in notes)


def _interval(now: Snapshot) -> str:
    """What ±, a range and the band around the curve mean, where there are any."""
    n = now.numbers
    shown = "hit_10" if now.similar_by in CLICKS else "map", "recall_10"
    scores = ((n.get(column, math.nan), n.get(f"{column}_error", math.nan)) for column in shown)
    intervals = [(value, error) for value, error in scores if math.isfinite(error)]
    if not intervals:
        return ""
    ranges = "Ranges, " if any(_interval_text(value, error).startswith("(") for value, error in intervals) else ""
    test = "; of test scores, over the test queries" if any(_test(n, column) for column in shown) else ""
    judged_by = now.params.run.judged_by
    queries = amount(n["queries"], f"{judged_by} query") if "queries" in n else f"{judged_by} queries"
    return f"<p>{ranges}±, and the band on the curve: 95 % over the {queries}{test}</p>"


def _test(n: dict[str, float], column: str) -> str:
    """The score of a finished run on the test queries."""
    value, error = n.get(f"test_{column}", math.nan), n.get(f"test_{column}_error", math.nan)
    if not math.isfinite(value):
        return ""
    sure = f" {_interval_text(value, error)}" if math.isfinite(error) else ""
    return f"<em>{_number(value)}{sure} on {amount(n['test_queries'], 'test query')}</em>"


def _trained_on_database(now: Snapshot) -> str:
    if methods.find(now.params.method).consumes == "nothing":
        return "no training"
    return "yes" if now.database_seen else "no"


def _entry(title: str, text: str, more: str = "") -> str:
    return f"<div><small>{with_cards(title)}</small><b>{text}</b>{more}</div>"


def _number(value: float | None) -> str:
    """Three digits, and like the charts never rounded up to 1.

    >>> _number(0.69), _number(0.99999), _number(1.0)
    ('0.690', '&gt; 0.999', '1.000')
    """
    if value is None or not math.isfinite(value):
        return "–"
    return "&gt; 0.999" if 0.9994 < value < 1 else f"{value:.3f}"
