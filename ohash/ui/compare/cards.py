"""A comparison in sentences and numbers, as HTML: verdict, results, cost cards, dips after a drift."""

import html
import math

import streamlit as st

from ohash import number_formats as formats
from ohash.comparison.costs import SCANNED_ITEMS, Cost
from ohash.comparison.export import TRUTH_COLUMNS, UNSUPERVISED, result_rows
from ohash.comparison.results import ComparisonSnapshot, dips, supervision_text
from ohash.comparison.runner import LENGTHS
from ohash.comparison.sentences import Sentence
from ohash.comparison.smallest_code import TARGET_RECALL
from ohash.engine.judge import RERANKED
from ohash.plots.compare import roles
from ohash.plots.live.scores import SCORES
from ohash.plots.theme import colour

CSS = """
<style>
.ohash-verdict {border-left: 4px solid rgba(128,128,128,.5); padding: .1rem 0 .1rem .8rem; line-height: 1.4;
  min-height: 4.2rem;}
.ohash-verdict p {margin: .12rem 0; font-size: 1.02rem;}
.ohash-verdict ul {padding-left: 1.2rem; margin-bottom: .5rem;}
.ohash-verdict small {opacity: .75; font-variant-numeric: tabular-nums;}
.ohash-compare {width: 100%; border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums;}
.ohash-compare th {text-align: right; font-weight: 600; opacity: .75; font-size: .78rem; vertical-align: bottom;}
.ohash-compare th, .ohash-compare td {padding: .22rem .6rem .22rem 0; border: 0; text-align: right;
  border-bottom: 1px solid rgba(128,128,128,.25); white-space: nowrap;}
.ohash-compare th {white-space: normal;}
.ohash-compare th:first-child, .ohash-compare td:first-child, .ohash-compare .words {text-align: left;}
@media (max-width: 700px) {
  .ohash-compare th {white-space: nowrap;}
  .ohash-names-stay tr > :first-child:not([colspan]) {position: sticky; left: 0; white-space: normal; min-width: 7.5rem;
    background: light-dark(#fff, #171614); opacity: 1;}
  .ohash-names-stay [colspan] span {position: sticky; left: 0;}
}
.ohash-scroll {overflow-x: auto;}
.ohash-costs {display: grid; grid-template-columns: repeat(auto-fill, minmax(225px, 1fr)); gap: .7rem;}
.ohash-costs article {border: 1px solid rgba(128,128,128,.35); border-radius: 8px; padding: .5rem .7rem;
  font-variant-numeric: tabular-nums;}
.ohash-costs h5 {margin: 0; padding: 0; font-size: .95rem;}
.ohash-costs small {opacity: .75;}
.ohash-costs p {display: flex; justify-content: space-between; gap: .6rem; margin: .12rem 0 0 0; font-size: .82rem;}
.ohash-costs p span:first-child {opacity: .75; white-space: nowrap;}
.ohash-costs p span:last-child {text-align: right;}
.ohash-fair {margin: -.3rem 0 .5rem 0; font-size: .74rem; line-height: 1.3; opacity: .72;}
[data-testid="stMultiSelect"] [role="group"] {max-height: none;}
.ohash-legend {font-size: .82rem; opacity: .75; margin: 0;}
.ohash-legend i {display: inline-block; width: 1.6rem; border-top: 2px; margin: 0 .35rem .25rem .7rem;}
</style>
"""
NO_VERDICT = "No verdict: no query has a relevant item in the database."
VERDICT_COMES = "The verdict appears here with the first numbers."
PHASES = {
    "trials": "tuning parameters on the validation queries",
    "curves": "learning",
    "costs": "measuring the cost of each method on this machine",
    "bits": f"learning codes of {LENGTHS[0]} to {LENGTHS[-1]} bits",
}


def apply() -> None:
    """Send the style sheet."""
    st.html(CSS)


def verdict_html(snapshot: ComparisonSnapshot, sentences: list[Sentence], state: str) -> str:
    """The sentences, what a reader of them must know, and the progress of the comparison."""
    paragraphs = [f"<p><b>{html.escape(one.topic)}:</b> {html.escape(one.text)}</p>" for one in sentences]
    if not paragraphs:
        over = state in ("done", "error", "stopped")
        paragraphs = [f"<p>{NO_VERDICT if over else VERDICT_COMES}</p>"]
    paragraphs += [f"<p><small>note: {html.escape(note)}</small></p>" for note in snapshot.setup.notes]
    return (
        f'<div class="ohash-verdict" role="status" data-state="{state}" data-phase="{snapshot.phase}" '
        f'data-pairs="{snapshot.t}">{"".join(paragraphs)}<small>{html.escape(progress(snapshot, state))}</small></div>'
    )


def progress(snapshot: ComparisonSnapshot, state: str) -> str:
    """The progress of the comparison, in words."""
    seeds = len(snapshot.comparison.seeds)
    done = len(snapshot.ended_seeds)
    which = f", seed {min(done + 1, seeds)} of {seeds}" if seeds > 1 else ""
    if state in ("done", "stopped", "error"):
        number = f"{done} of {seeds}" if done < seeds else str(seeds)
        return f"{state} · {snapshot.end:,} pairs each, {number} seed{'s' * (seeds > 1)}"
    so_far = {
        "trials": f"{len(snapshot.trials)} trials so far",
        "curves": f"slowest method at {snapshot.t:,} of {snapshot.end:,} pairs{which}{_progress_text(snapshot)}",
    }.get(snapshot.phase, "curves finished" if done == seeds else f"curves of {done} of {seeds} seeds finished")
    return f"{'paused while ' if state == 'paused' else ''}{PHASES.get(snapshot.phase, 'starting')} · {so_far}"


def _progress_text(snapshot: ComparisonSnapshot) -> str:
    """Whether other methods are ahead of the slowest, and which are being fitted."""
    active = [result for result in snapshot.results if result.state not in ("done", "error")]
    ahead = ", others ahead" if any(result.t > snapshot.t for result in active) else ""
    fitting = [
        snapshot.names[result.entry] + (f" {100 * result.share:.0f} %" if result.share else "")
        for result in active
        if result.state == "fitting"
    ]
    return ahead + (f" · fitting {', '.join(fitting)}" if fitting else "")


def results_html(snapshot: ComparisonSnapshot, *, dark: bool) -> str:
    """One row per method; differences are from the first method."""
    table_rows = result_rows(snapshot)
    by_method = [colour(role, dark) for role in roles(snapshot)]
    hues = [*by_method, *[colour("reference", dark)] * (len(table_rows) - len(by_method) - 1), colour("float", dark)]
    first, truth = snapshot.names[0], snapshot.truth_column
    name, more = snapshot.truth_label, TRUTH_COLUMNS[truth][1:]
    header = [
        "method", "supervision", "features", "bits", name, f"{name} − {first}", *(SCORES[one].short for one in more),
        "recall@10", "exact search in its features",
        *(f"recall@10, re-ranked {c} ×" for c in RERANKED[1:]), "precision, radius 2", "empty balls, radius 2",
        "CPU (s)",
    ]  # fmt: skip
    rows = []
    for hue, row in zip(hues, table_rows, strict=True):
        spread, half = row[f"{truth}_seed_spread"], row[f"{truth}_minus_first_half"]
        score = _score(row[truth]) + (f" ± {spread:.3f}" if math.isfinite(spread) else "")
        minus = row[f"{truth}_minus_first"]
        difference = f"{minus:+.3f}" if math.isfinite(minus) else "–"
        difference += f" ± {half:.3f}" if math.isfinite(half) else ""
        cells = [
            f'<td><span style="color:{hue}">■</span> {html.escape(row["method"])}</td>',
            f'<td class="words">{row["learns_from"].replace(UNSUPERVISED, "none")}</td>',
            f'<td class="words">{html.escape(row["features"])}</td>',
            _cell(f"{row['bits']:,}" if row["bits"] else "–"),
            _cell(score),
            _cell(difference),
            *(_cell(_score(row[one])) for one in more),
            _cell(_score(row["recall_10"])),
            _cell(_score(row["recall_10_of_features"])),
            *(_cell(_score(row[f"recall_10_reranked_{c}"])) for c in RERANKED[1:]),
            _cell(_score(row["precision_radius_2"])),
            _cell(formats.percent(row["empty_balls"])),
            _cell(formats.number(row["cpu_seconds"], 2)),
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    classes = {"supervision": ' class="words"', "features": ' class="words"'}
    head = "".join(f'<th scope="col"{classes.get(text, "")}>{html.escape(text)}</th>' for text in header)
    table = f'<table class="ohash-compare"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return f'<div class="ohash-scroll">{table}</div>'


def costs_html(snapshot: ComparisonSnapshot, *, dark: bool) -> str:
    """One card per method, and one for the float vectors."""
    cards = []
    for at, (name, role) in enumerate(zip(snapshot.names, roles(snapshot), strict=True)):
        cost = snapshot.costs[at] if snapshot.costs else None
        if cost is None:
            continue
        subtitle = f"{supervision_text(snapshot.supervision(at))}, {cost.bits:,} bits"
        cards.append(_card(name, subtitle, cost, colour(role, dark), _floats_needed(snapshot, at)))
    if snapshot.costs and snapshot.costs[-1] is not None:
        floats = snapshot.costs[-1]
        subtitle = f"exact, {snapshot.setup.d:,} numbers per vector"
        cards.append(_card("Float vectors", subtitle, floats, colour("float", dark), "yes"))
    return f'<div class="ohash-costs">{"".join(cards)}</div>' if cards else ""


def dips_html(snapshot: ComparisonSnapshot) -> str:
    """How the drift affected each method."""
    drops = dips(snapshot)
    if not drops:
        return ""
    rows = "".join(
        f"<tr><td>{html.escape(one.method)}</td>{_cell(_score(one.before))}{_cell(_score(one.depth))}"
        f"{_cell('not yet' if math.isnan(one.recovery) else f'{one.recovery:,.0f} pairs')}</tr>"
        for one in drops
    )
    titles = "method", f"{snapshot.truth_label} before", "drop", "back to 95 % after"
    header = "".join(f'<th scope="col">{text}</th>' for text in titles)
    return f'<table class="ohash-compare"><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>'


def _card(name: str, subtitle: str, cost: Cost, hue: str, floats_needed: str) -> str:
    refresh = "never" if cost.recomputed == 0 else _seconds(cost.reencode)
    lines = [
        ("bytes per vector", formats.number(cost.bytes)),
        ("1M · 100M vectors", f"{_bytes(cost.memory(10**6))} · {_bytes(cost.memory(10**8))}"),
        ("encode, p50 · p99", _pair(cost.encode) if cost.encode[1] else "no encoding"),
        (f"scan {SCANNED_ITEMS // 1000:,}k, p50 · p99", _pair(cost.scan)),
        ("refresh 1M codes", refresh),
        (f"floats needed for {formats.percent(TARGET_RECALL)}", floats_needed),
    ]
    body = "".join(f"<p><span>{html.escape(term)}</span><span>{html.escape(value)}</span></p>" for term, value in lines)
    head = f'<h5><span style="color:{hue}">■</span> {html.escape(name)}</h5><small>{html.escape(subtitle)}</small>'
    return f"<article>{head}{body}</article>"


def _floats_needed(snapshot: ComparisonSnapshot, at: int) -> str:
    """Whether near-exact neighbours need the float vectors in addition to the codes."""
    enough = [c for c in RERANKED if snapshot.reranked(at, c) >= TARGET_RECALL]
    if not enough:
        return f"yes, over {RERANKED[-1]} ×"
    return "no" if enough[0] == 1 else f"yes, {enough[0]} × re-ranked"


def _cell(text: str) -> str:
    return f"<td>{html.escape(text)}</td>"


def _score(value: float) -> str:
    return formats.NONE if not math.isfinite(value) else f"{value:.3f}"


def _pair(seconds: tuple[float, float]) -> str:
    return " · ".join(_seconds(value) for value in seconds)


def _seconds(value: float) -> str:
    """A duration with its unit.

    >>> _seconds(0.00021), _seconds(0.0034), _seconds(75.0)
    ('210 µs', '3.4 ms', '75 s')
    """
    for unit, word in ((1.0, "s"), (1e-3, "ms")):
        if value >= unit:
            return f"{formats.number(value / unit, 2)} {word}"
    return f"{formats.number(value / 1e-6, 2)} µs"


def _bytes(value: float) -> str:
    """A size with its unit.

    >>> _bytes(8e6), _bytes(2.048e11)
    ('8 MB', '205 GB')
    """
    for unit, word in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if value >= unit:
            return f"{formats.number(value / unit)} {word}"
    return f"{formats.number(value / 1e3)} kB"
