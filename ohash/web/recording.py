"""A run as one HTML page that plays without a server: its charts and a gallery at each moment, and a slider.

The moments are data in the page. Lines of SVG that several pictures share, such as an axis, are written once.
"""

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ohash.core.loss import dissimilar_threshold
from ohash.engine.gallery import Neighbours
from ohash.engine.narrative import amount, headline
from ohash.engine.snapshot import Snapshot
from ohash.plots import theme
from ohash.plots.chart import Chart
from ohash.plots.gallery import (
    distance_text,
    item_name,
    mean_note,
    picture_of,
    relevance_mark,
    relevant_text,
    ties_note,
)
from ohash.plots.live.charts import film
from ohash.plots.renderers.svg import to_svg
from ohash.repr_html import facts_html
from ohash.runtime.frames import JsonObject
from ohash.streams.dataset import Dataset
from ohash.web.bundle import read_part

SIZES = {"score": (150.0, 62.0), "hills": (110.0, 62.0), "loss": (130.0, 54.0), "tau": (130.0, 54.0)}  # millimetres
ON_A_PHONE = 82.0, 62.0  # millimetres
LONG, ABOVE = 300, 1.0  # letters of a line that is a curve; points by which the clipping is higher than the plot
PLOT, POINTS = "<clipPath", r' d="[^"]*"'
TYPE = 9.0  # points
RECORDING, SCRIPTS = "recording.js", ("step.js", "measure.js", "continuation.js", "take_over.js")
MAX_NAME_LENGTH = 24  # of a name that stands for an item without a picture
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: recording</title>
<style>
{style}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p class="says" role="status"></p>
<div class="bar" role="group" aria-label="Transport">
<button type="button" class="play main">Play</button>
<input type="range" class="scrub" min="0" max="{last}" value="{last}" step="1" aria-label="Moment of the run">
<output class="pairs"></output>
<button type="button" class="look">Dark</button>
</div>
<noscript>The charts need JavaScript, which this browser has switched off. Nothing is loaded from a network.</noscript>
{take_over}
<div class="charts">
{figures}
</div>
<section aria-labelledby="gallery-title">
<h2 id="gallery-title">One query and its nearest items <span class="right"></span></h2>
<ol class="gallery"></ol>
<p class="note"></p>
</section>
<section aria-labelledby="facts-title">
<h2 id="facts-title">What was run</h2>
<dl>
{facts}
</dl>
<p class="keys">Space plays and pauses, the arrows go one moment back or on, Home and End to the first and the last.
{about}</p>
</section>
</main>
<script type="application/json" class="recording">{data}</script>
{continuation}<script>
"use strict";
{script}
</script>
</body>
</html>
"""
TAKE_OVER = """<section aria-labelledby="over-title">
<h2 id="over-title">Take over from here</h2>
<div class="knobs">
<label>β <input type="range" class="beta" min="{least}" max="1" step="0.01"><output></output></label>
<label>C <input type="range" class="C" min="-5" max="1" step="0.05"><output></output></label>
<button type="button" class="over">Take over</button>
<button type="button" class="back" hidden>Back to the recording</button>
</div>
<p class="over-says" role="status"></p>
<div class="over-charts" hidden>
<figure><figcaption>Cumulative similarity loss R</figcaption><div data-over="loss"></div></figure>
<figure><figcaption>mAP</figcaption><div data-over="score"></div></figure>
<p class="legend"><b class="recorded">Recorded</b>, and <b class="mine">taken over</b>: computed in this page, in
float64, on the pairs of the run.{rounding}</p>
</div>
</section>"""
FLOAT32 = " The run computed in float32, so that the two differ a little even with the same β and C."
CONTINUATION = '<script type="application/json" class="continuation">{data}</script>\n'
FIGURE = '<figure data-chart="{name}"><figcaption></figcaption><div class="picture"></div><p></p></figure>'


def recording_page(
    moments: Sequence[tuple[Snapshot, Neighbours]],
    dataset: Dataset,
    facts: Mapping[str, str],
    metric: str = "",
    more: JsonObject | str = "",
) -> str:
    """The page: every moment of a run with the gallery of one query then; `facts["run"]` is its title.

    `more` is the run's `continuation`, with which the page can take it over, or why it cannot.
    """
    texts = Texts()
    pictures = film([now for now, _ in moments], metric)
    frames = [
        {
            "pairs": now.t,
            "says": headline(now, now.params, now.state),
            "charts": {name: _drawing(name, chart, texts) for name, chart in charts.items()},
            "gallery": _gallery(now, result, dataset),
        }
        for (now, result), charts in zip(moments, pictures, strict=True)
    ]
    rows = sorted({row for _, result in moments for row in (result.query, *result.rows.tolist())})
    data = {"texts": texts.lines, "items": {row: _item(dataset, row) for row in rows}, "frames": frames}
    return PAGE.format(
        title=html.escape(facts["run"]),
        style=_style(),
        last=len(frames) - 1,
        about=_about([now for now, _ in moments]),
        figures="\n".join(FIGURE.format(name=name) for name in SIZES),
        facts=facts_html({name: text for name, text in facts.items() if name != "run"}),
        data=_json(data),
        take_over=_take_over(more),
        continuation="" if isinstance(more, str) else CONTINUATION.format(data=_json(more)),
        script="\n".join(
            read_part(name) for name in ((RECORDING,) if isinstance(more, str) else (*SCRIPTS, RECORDING))
        ),
    )


def _take_over(more: JsonObject | str) -> str:
    """The controls, or why there are none."""
    if isinstance(more, str):
        return more and f'<p class="legend">The run cannot be taken over in this file: {html.escape(more)}</p>'
    r = more["weights"][0]["W"]["shape"][1]
    least = next(share for share in range(5, 101) if dissimilar_threshold(share / 100, r) > more["alpha"])
    rounding = FLOAT32 if more["weights"][0]["W"]["dtype"] == "float32" else ""
    return TAKE_OVER.format(least=least / 100, rounding=rounding)


def _json(data: JsonObject) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


class Texts:
    """Lines of text, each kept once."""

    def __init__(self) -> None:
        """None yet."""
        self._places: dict[str, int] = {}

    @property
    def lines(self) -> list[str]:
        """All of them, in the order of their numbers."""
        return list(self._places)

    def numbers(self, lines: Iterable[str]) -> list[int]:
        """The number of each line."""
        return [self._places.setdefault(line, len(self._places)) for line in lines]


def _drawing(name: str, chart: Chart, texts: Texts) -> JsonObject:
    caption = "" if chart.empty else chart.caption  # which an empty chart has in its middle
    wide, narrow = (_picture(chart, *size) for size in (SIZES[name], ON_A_PHONE))
    numbers = texts.numbers(wide)
    return {
        "title": chart.title,
        "caption": texts.numbers([caption])[0],
        "wide": numbers,
        "narrow": _narrow_lines(wide, numbers, narrow, texts),
    }


def _picture(chart: Chart, width: float, height: float) -> list[str]:
    """The lines of an SVG, in colours that follow the page."""
    svg = to_svg(chart, width=width, height=height, size=TYPE, heading=False)
    return re.sub(r'"#([0-9a-f]{6})"', r'"var(--c\1)"', svg).split("\n")


def _narrow_lines(wide: list[str], numbers: list[int], narrow: list[str], texts: Texts) -> list[object]:
    """The number of each line; a curve is that of the wide picture, with what its x and y are multiplied by and moved.

    Both pictures have the same axes and points, so that only the frame of the plot differs. Curves are most of a file.
    """
    if not any(line.startswith(PLOT) for line in wide):  # an empty chart has no plot
        return list(texts.numbers(narrow))
    first, second = (next(at for at, line in enumerate(lines) if line.startswith(PLOT)) for lines in (wide, narrow))
    (x, y, w, h), (left, top, width, height) = (
        [float(value) for value in re.findall(r'(?:x|y|width|height)="([\d.]+)"', line)]
        for line in (wide[first], narrow[second])
    )
    across, up = width / w, (height - ABOVE) / (h - ABOVE)
    move = [round(v, 4) for v in (across, left - across * x, up, top + ABOVE - up * (y + ABOVE))]
    drawn: list[object] = []
    for at, line in enumerate(narrow):
        same = at - second + first
        if at > second and len(line) > LONG and re.sub(POINTS, "", line) == re.sub(POINTS, "", wide[same]):
            drawn.append([numbers[same], *move])
        else:
            drawn += texts.numbers([line])
    return drawn


def _gallery(now: Snapshot, result: Neighbours, dataset: Dataset) -> JsonObject:
    items = [
        [int(row), distance_text(distance), *relevance_mark(result, relevant=bool(relevant))]
        for row, distance, relevant in zip(result.rows, result.distances, result.relevant, strict=True)
    ]
    r, T = (int(getattr(now.params.model, name, 1)) for name in ("r", "T"))
    notes = mean_note(result, now.checkpoints.get("precision_10", np.empty(0))), ties_note(result, r, T)
    note = " ".join(notes).strip()
    return {"query": int(result.query), "right": relevant_text(result) if items else "", "items": items, "note": note}


def _about(moments: Sequence[Snapshot]) -> str:
    """Which moments there are."""
    first, last = moments[0], moments[-1]
    text = f"{amount(len(moments), 'moment')} of the run: its checkpoints, at which the codes are judged"
    text += "" if last.t in last.checkpoints["pairs"] else f", and pair {last.t:,}, at which it was exported"
    return text + (f"; moments before pair {first.t:,} were not kept." if first.t else ".")


def _item(dataset: Dataset, row: int) -> dict[str, str]:
    name = item_name(dataset, row)
    picture = picture_of(dataset, row)
    return {"name": name, "picture": picture} if picture else {"name": name[:MAX_NAME_LENGTH]}


def _style() -> str:
    """The style sheet, with every colour of the charts as a variable that follows the page's light or dark look."""
    both = theme.light_to_dark().items()
    colours = "".join(f"--c{light[1:]}: light-dark({light}, {dark}); " for light, dark in both)
    named = {name: vars(theme.LIGHT)[name] for name in ("background", "ink", "faint", "grid")}
    named |= {role: theme.colour(role) for role in ("right", "wrong", "reference", "now")}
    names = "".join(f"--{name}: var(--c{light[1:]}); " for name, light in named.items())
    return f":root {{color-scheme: light dark; {colours}{names}--font: {theme.FONT};}}\n{read_part('recording.css')}"
