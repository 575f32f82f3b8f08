"""How a data set looks in a notebook: a small card of HTML with pictures, facts and the sizes of its classes."""

import base64
import io
from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt

# Six pictures of at most 32 x 32 pixels in colour take less than 25 kB of HTML, whatever they show.
PICTURES, SIDE = 6, 32
MOST_BARS, LONGEST_NAME = 20, 24
BAR, GAP, HEIGHT = 14, 2, 48


def card_html(
    title: str,
    facts: Sequence[str],
    pictures: npt.NDArray[np.uint8] | None = None,
    class_names: Sequence[str] = (),
    class_sizes: Sequence[int] = (),
) -> str:
    """A card; all texts are escaped.

    >>> card_html("a < b", ["10 x 2"])
    '<div style="font-size:.9em;line-height:1.5"><b>a &lt; b</b><br>10 x 2</div>'
    """
    lines = [f"<b>{escape(title)}</b>", *(escape(fact) for fact in facts if fact)]
    if pictures is not None and len(pictures):
        lines.append(_strip(pictures[:PICTURES]))
    if len(class_sizes):
        lines.append(_bars(class_names, class_sizes))
    return f'<div style="font-size:.9em;line-height:1.5">{"<br>".join(lines)}</div>'


def _strip(pictures: npt.NDArray[np.uint8]) -> str:
    """The pictures side by side in one PNG."""
    from PIL import Image  # noqa: PLC0415

    step = max(1, -(-max(pictures.shape[1:3]) // SIDE))
    small = pictures[:, ::step, ::step]
    strip = np.concatenate(list(small), axis=1)
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(strip)).save(file, "PNG", optimize=True)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return (
        f'<img alt="{len(pictures)} items" src="data:image/png;base64,{data}" '
        f'style="height:48px;image-rendering:pixelated">'
    )


def _bars(names: Sequence[str], sizes: Sequence[int]) -> str:
    """One bar per class, the first ones of many, with name and size as a tooltip."""
    shown, tallest = [int(size) for size in sizes[:MOST_BARS]], max(1, *(int(size) for size in sizes))
    bars = []
    for k, size in enumerate(shown):
        height = round(HEIGHT * size / tallest, 1)
        name = escape(str(names[k])[:LONGEST_NAME] if k < len(names) else str(k))
        bars.append(
            f'<rect x="{k * (BAR + GAP)}" y="{HEIGHT - height:g}" width="{BAR}" height="{height:g}" fill="#4c78a8">'
            f"<title>{name}: {size:,}</title></rect>"
        )
    more = f" the first {len(shown)} of {len(sizes):,} classes" if len(sizes) > len(shown) else ""
    return (
        f'<svg width="{len(shown) * (BAR + GAP)}" height="{HEIGHT}" role="img" aria-label="rows per class">'
        f"{''.join(bars)}</svg>{more}"
    )
