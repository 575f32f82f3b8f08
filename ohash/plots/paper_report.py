"""The reproduction as one HTML file that needs no server and no network: claims, figures as SVG, tables, BibTeX."""

import time
from collections.abc import Sequence
from html import escape

from ohash._version import __version__
from ohash.engine.narrative import duration
from ohash.paper.figures import FIGURES, Figure
from ohash.paper.findings import Finding
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import PROFILES
from ohash.paper.provenance import MAX_LISTED, figure_commits, figure_sources, sources
from ohash.paper.tables import (
    Table,
    bibtex,
    claims_table,
    coverage_text,
    data_table,
    figure_table,
    methods_table,
    not_drawn_text,
    stand_ins,
)
from ohash.paper.verdicts import CORRECTED, Part
from ohash.plots import theme
from ohash.plots.paper import charts
from ohash.plots.renderers.svg import to_svg
from ohash.runtime.environment import environment

SIGNS = {
    "holds": "✓ holds", "does not hold": "✗ does not hold", "cannot tell": "? cannot tell",
    "not run yet": "… not run yet",
}  # fmt: skip


def _colours(*, dark: bool) -> str:
    """The colours of the page as CSS variables; its figures stay on white, to be copied into a paper."""
    ground = theme.ground(dark)
    named = {name: getattr(ground, name) for name in ("background", "ink", "faint", "grid")}
    named |= {"holds": theme.colour("now", dark), "fails": theme.colour("dissimilar", dark)}
    return " ".join(f"--{name}: {colour};" for name, colour in named.items())


STYLE = f"""
:root {{ color-scheme: light dark; {_colours(dark=False)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_colours(dark=True)} }} }}
body {{ font-family: {theme.FONT}; color: var(--ink); background: var(--background); max-width: 72rem;
  margin: 2rem auto; padding: 0 1rem; line-height: 1.45; }}
table {{ border-collapse: collapse; font-size: .85rem; }}
.wide {{ overflow-x: auto; }}
th, td {{ text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid var(--grid); }}
th {{ border-bottom: 1.5px solid var(--faint); }}
td {{ font-variant-numeric: tabular-nums; }}
.verdict {{ font-weight: 600; white-space: nowrap; }}
.holds {{ color: var(--holds); }} .fails {{ color: var(--fails); }} .open {{ color: var(--faint); }}
.figures {{ display: flex; flex-wrap: wrap; gap: 1rem; }}
.figures svg {{ max-width: 100%; height: auto; background: {theme.LIGHT.background}; border-radius: 4px; }}
.beside {{ opacity: .75; font-style: italic; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; font-size: .9rem; }}
dt {{ color: var(--faint); }} dd {{ margin: 0; overflow-wrap: anywhere; }}
pre {{ background: color-mix(in srgb, var(--ink) 5%, transparent); padding: .8rem; overflow-x: auto;
  font-size: .75rem; }}
@media (max-width: 640px) {{
  .claims > tbody > tr, .claims > tbody > tr > td {{ display: block; border: 0; padding-left: 0; }}
  .claims > tbody > tr {{ border-bottom: 1px solid var(--faint); }} .claims > tbody > tr:has(> th) {{ display: none; }}
  .parts td {{ padding: .2rem .4rem .2rem 0; overflow-wrap: anywhere; }}
}}
"""
TOOL_BIBTEX = f"""@software{{ohash,
  title   = {{ohash: an interactive dashboard for Online Hashing}},
  author  = {{{{The ohash maintainers}}}},
  version = {{{__version__}}},
  year    = {{2026}}
}}"""
NOT_DECISIVE = ' class="beside" title="Shown for comparison; it does not count towards the verdict."'
CLASSES = {"holds": "holds", "does not hold": "fails", "cannot tell": "open", "not run yet": "open"}


def report(measured: Measurements, figures: Sequence[Figure], findings: Sequence[Finding]) -> str:
    """The whole page."""
    counts = {verdict: sum(finding.verdict == verdict for finding in findings) for verdict in SIGNS}
    lead = (
        f"Of {len(findings)} claims {counts['holds']} hold here, {counts['does not hold']} do not, and on "
        f"{counts['cannot tell']} the data cannot tell{not_run_text(counts['not run yet'])}. "
        "A claim that fails is a finding: it may depend on the data, "
        "the feature scale, or a choice the paper leaves open."
    )
    made = environment()
    with_what = ", ".join(f"{name} {made[name]}" for name in ("ohash", "numpy", "numba", "python") if made[name])
    where = f"{made['cpu']}, {made['cores']} cores; {with_what}" + (
        f"; commit {made['commit']}" if made["commit"] else ""
    )
    parts = [
        "<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<title>Online Hashing, reproduced</title>", f"<style>{STYLE}</style></head><body>",
        "<h1>Online Hashing, reproduced</h1>",
        "<p>Huang, Yang, Zheng: Online Hashing, IEEE TNNLS 2017. Every number below was measured.</p>",
        f"<dl><dt>profile</dt><dd>{escape(measured.profile.title)} ({escape(measured.profile.describe())})</dd>"
        f"<dt>written</dt><dd>{time.strftime('%Y-%m-%d %H:%M')}</dd><dt>on</dt><dd>{escape(where)}</dd>"
        f"{_recording_row(measured)}</dl>",
        f"<h2>Claims</h2><p>{escape(lead)}</p>", claims_html(findings), "<h2>Protocol</h2>", _protocol(measured),
        "<h2>Data</h2>", _html(data_table(measured, figures)), f"<p>{escape(coverage_text(measured))}</p>",
        "<h2>Figures</h2>",
        *(_figure(measured, figure) for figure in figures), "<h2>Deviations from the published methods</h2>",
        _html(methods_table(figures)), "<h2>How to reproduce this</h2>", f"<pre>{escape(_commands(measured))}</pre>",
        f"<h2>How to cite this</h2><pre>{escape(TOOL_BIBTEX)}</pre>",
        f"<details><summary>BibTeX</summary><pre>{escape(bibtex(measured))}</pre></details>",
        f"<details><summary>The claims in LaTeX</summary><pre>{escape(claims_table(findings).latex())}</pre></details>",
        "</body></html>",
    ]  # fmt: skip
    return "\n".join(parts)


def not_run_text(count: int) -> str:
    """The claims that nothing has been run for, as the end of a sentence; "" if there are none.

    >>> not_run_text(0), not_run_text(1), not_run_text(30)
    ('', '; 1 has not been run yet', '; 30 have not been run yet')
    """
    return "" if not count else f"; {count} {'has' if count == 1 else 'have'} not been run yet"


def _recording_row(measured: Measurements) -> str:
    """A line of the head: when and where the numbers that were not measured here were."""
    text = "" if measured.recording is None else measured.recording.text.removeprefix("recorded on ")
    return f"<dt>recorded on</dt><dd>{escape(text)}, for every number not measured here</dd>" if text else ""


def _protocol(measured: Measurements) -> str:
    """How everything was measured, in a few paragraphs."""
    texts = (
        "Every method sees the same stream of pairs, drawn with the same seeds, after the same warm-up, and is judged "
        "on the same queries: chosen on validation queries, reported on test queries. mAP is exact over ties.",
        "Each method works on the features its authors made it for, and that decides. The same comparison with every "
        "method on OH's RBF map, OH without its kernel, and MMOH at equal total bits, is shown below it in "
        "italics.",
        "A difference of mAP has the wider of a bootstrap interval over queries and the t interval of the seeds' mean; "
        "with fewer than three seeds it is widened by what seeds were seen to change. Several comparisons within one "
        "claim are corrected by Holm's procedure. Times are CPU seconds of the update on one thread.",
    )
    origins = sources(measured)
    provenance = [] if origins is None else [origins.text, *origins.differing[:MAX_LISTED]]
    left_out = "; ".join(map(str, measured.profile.left_out))
    omitted = f"Not run, to save time: {left_out}." if left_out else ""
    missing = not_drawn_text(measured, FIGURES.values())
    return "".join(f"<p>{escape(text)}</p>" for text in (*texts, omitted, missing, *provenance) if text)


def _commands(measured: Measurements) -> str:
    profile = f"--profile {measured.profile.key}"
    usual = PROFILES.get(measured.profile.key, measured.profile)
    if measured.profile.seeds != usual.seeds:
        profile += f" --seeds {measured.profile.seeds}"
    if measured.own is not None:
        profile += " --features FILE"
    return (
        "python3 -m pip install -e .\n"
        f"python3 -m ohash paper {profile} --estimate    # how long it takes here\n"
        f"python3 -m ohash paper {profile} --html report.html"
    )


def claims_html(findings: Sequence[Finding]) -> str:
    """The table of claims: words and place, verdict, test, and on every dataset the effect with its interval."""
    rows = []
    for finding in findings:
        claim = finding.claim
        inside = "".join(
            f"<tr{'' if part.decisive else NOT_DECISIVE}><td>{escape(part.setting)}</td>"
            f"<td>{escape(part.what or part.note)}</td><td>{_effect(part, finding.interval)}</td>"
            f"<td>{_sign(part.verdict)}{f'<br><small>{escape(CORRECTED)}</small>' if part.corrected else ''}</td></tr>"
            for part in finding.parts
        )
        notes = (f"Interval: {finding.interval}." if finding.interval else "", finding.stand_ins)
        more = "<br>".join(escape(text) for text in (finding.held_text, finding.reason) if text)
        rows.append(
            f'<tr id="{escape(claim.key)}"><td>{escape(claim.text)}<br><small>{escape(claim.place)}</small></td>'
            f"<td>{_sign(finding.verdict)}<br><small>{more}</small></td>"
            f'<td><small>{escape(claim.test)}</small><table class="parts">{inside}</table>'
            f"{'<br>'.join(f'<small>{escape(note)}</small>' for note in notes if note)}</td></tr>"
        )
    head = "<tr><th>claim</th><th>verdict</th><th>test, and on each dataset the effect and interval</th></tr>"
    return f'<div class="wide"><table class="claims">{head}{"".join(rows)}</table></div>'


def _figure(measured: Measurements, figure: Figure) -> str:
    done, total = measured.progress(figure)
    drawings = charts(measured, figure)
    drawn = "".join(to_svg(chart, width=112, height=76) for chart in drawings)
    captions = dict.fromkeys(chart.caption for chart in drawings if chart.caption not in ("", figure.ours))
    table = figure_table(measured, figure)
    name = figure.title if not figure.key.isdigit() else f"{figure.place.partition(',')[0]}: {figure.title}"
    origin = figure_sources(measured, figure)
    which = f" ({origin})" if origin else ""
    commits = figure_commits(measured, figure)
    code = f"<dt>recorded</dt><dd>{escape(commits)}</dd>" if commits else ""
    cost = f"{done} of {total} cells{which}, {duration(measured.cost(figure))} of CPU time"
    return (
        f'<section id="figure-{escape(figure.key)}"><h3>{escape(name)}</h3>'
        f"<dl><dt>the paper</dt><dd>{escape(figure.paper)}</dd>"
        f"<dt>here</dt><dd>{escape(figure.ours)} {escape(stand_ins(measured, figure))}</dd>"
        f'<dt>cost</dt><dd>{escape(cost)}</dd>{code}</dl><div class="figures">{drawn}</div>'
        f"<p><small>{escape(' '.join(captions))}</small></p>"
        f"<details><summary>Numbers</summary>{_html(table)}</details>"
        f"<details><summary>LaTeX</summary><pre>{escape(table.latex())}</pre></details></section>"
    )


def _html(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.header)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>'


def _effect(part: Part, common: str) -> str:
    """The effect, and what kind of interval it has unless that is said for all parts together."""
    if part.effect is None:
        return "–"
    kind = f"<br><small>{escape(part.effect.interval)}</small>" if part.effect.interval != common else ""
    return f"{escape(str(part.effect))}{kind}"


def _sign(verdict: str) -> str:
    return f'<span class="verdict {CLASSES[verdict]}">{escape(SIGNS[verdict])}</span>'
