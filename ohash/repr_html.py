"""How things look in a notebook: a small card of HTML with facts and pictures, for every `_repr_html_`."""

import base64
import io
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats

# Six pictures of at most 32 x 32 pixels in colour take less than 25 kB of HTML, whatever they show.
PICTURES, SIDE = 6, 32
LONGEST_NAME = 24
WIDTH, HEIGHT = 320, 48
RIGHT, FOOT = 14, 14  # beside and below curves, for the ends of their axes
HUES = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d", "#72b7b2")


def card_html(title: str, facts: Sequence[str], *pictures: str) -> str:
    """A card; title and facts are escaped, pictures are HTML.

    >>> card_html("a < b", ["10 x 2"])
    '<div style="font-size:.9em;line-height:1.5"><b>a &lt; b</b><br/>10 x 2</div>'
    """
    lines = [f"<b>{escape(title)}</b>", *(escape(fact) for fact in facts if fact), *(one for one in pictures if one)]
    return f'<div style="font-size:.9em;line-height:1.5">{"<br/>".join(lines)}</div>'


def facts_html(facts: Mapping[str, str]) -> str:
    """The terms and descriptions of a definition list; an address becomes a link.

    >>> facts_html({"link": "http://x/?a&b", "C": "1"})
    '<dt>link</dt><dd><a href="http://x/?a&amp;b">http://x/?a&amp;b</a></dd><dt>C</dt><dd>1</dd>'
    """
    return "".join(f"<dt>{escape(name)}</dt><dd>{_linked(text)}</dd>" for name, text in facts.items())


def _linked(text: str) -> str:
    shown = escape(text)
    return f'<a href="{shown}">{shown}</a>' if text.startswith(("http://", "https://")) else shown


def thumbnails_html(pictures: npt.NDArray[np.uint8]) -> str:
    """A few pictures side by side in one PNG."""
    from PIL import Image  # noqa: PLC0415

    pictures = pictures[:PICTURES]
    step = max(1, -(-max(pictures.shape[1:3]) // SIDE))
    strip = np.concatenate(list(pictures[:, ::step, ::step]), axis=1)
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(strip)).save(file, "PNG", optimize=True)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return (
        f'<img alt="{len(pictures)} items" src="data:image/png;base64,{data}" '
        f'style="height:48px;image-rendering:pixelated"/>'
    )


def bars_html(caption: str, values: Sequence[float] | Floats, names: Sequence[str] = (), max_bars: int = 20) -> str:
    """One bar per value, the first ones of many, with name and value as a tooltip."""
    if not len(values):
        return ""
    shown, top = [float(value) for value in values[:max_bars]], float(np.max(values)) or 1.0
    step = max(2, min(16, WIDTH // len(shown)))
    bars = []
    for k, value in enumerate(shown):
        height = round(HEIGHT * value / top, 1)
        name = escape(str(names[k])[:LONGEST_NAME] if k < len(names) else str(k))
        bars.append(
            f'<rect x="{k * step}" y="{HEIGHT - height:g}" width="{step - 1}" height="{height:g}" fill="{HUES[0]}">'
            f"<title>{name}: {value:,.4g}</title></rect>"
        )
    more = f", the first {len(shown)} of {len(values):,}" if len(values) > len(shown) else ""
    return _svg(f"{caption}{more}", step * len(shown), "".join(bars))


def curves_html(caption: str, curves: Mapping[str, tuple[Floats, Floats]]) -> str:
    """Curves of scores over the pairs, each with a name; the ends of both axes are told, and y runs from 0 to 1."""
    drawn = {name: (x, y) for name, (x, y) in curves.items() if np.isfinite(y).sum() > 1}
    if not drawn:
        return ""
    end = max(float(x[-1]) for x, _ in drawn.values()) or 1.0
    lines, words = [], []
    for hue, (name, (x, y)) in zip(HUES * len(drawn), drawn.items(), strict=False):
        finite = np.isfinite(y)
        places = zip(WIDTH * x[finite] / end, HEIGHT * (1 - np.clip(y[finite], 0, 1)), strict=True)
        points = " ".join(f"{u:.1f},{v:.1f}" for u, v in places)
        lines.append(f'<polyline points="{points}" fill="none" stroke="{hue}" stroke-width="1.5"/>')
        words.append(f'<span style="color:{hue}">{escape(name)}</span>')
    drawing = _axes(f"{end:,.0f} pairs") + "".join(lines)
    return _svg(caption, WIDTH + RIGHT, drawing, HEIGHT + FOOT) + "<br/>" + " · ".join(words)


def _axes(end: str) -> str:
    """Lines at 0 and 1 with their numbers on the right, and the ends of the x axis below."""
    levels = "".join(f'<path d="M0 {y}H{WIDTH}" stroke="#888" stroke-width=".5"/>' for y in (0.5, HEIGHT))
    ends = ((WIDTH + 4, 9, "start", "1"), (WIDTH + 4, HEIGHT, "start", "0"))
    feet = ((0, HEIGHT + FOOT - 2, "start", "0"), (WIDTH, HEIGHT + FOOT - 2, "end", end))
    words = (f'<text x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>' for x, y, anchor, text in (*ends, *feet))
    return f'{levels}<g font-size="10" fill="currentColor">{"".join(words)}</g>'


def _svg(caption: str, width: int, drawing: str, height: int = HEIGHT) -> str:
    text = escape(caption)
    return (
        f'<svg width="{width}" height="{height}" role="img" aria-label="{text}"><title>{text}</title>{drawing}</svg>'
        f"<br/><small>{text}</small>"
    )
