"""The retrieval gallery: a query and its nearest items as a row of pictures or names, marked by colour and sign."""

import base64
import html
import io
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats
from ohash.engine.gallery import Neighbours
from ohash.plots.theme import colour
from ohash.streams.dataset import Dataset

MAP_SIZE, MARK, MAP_GREY = 56, 2, 110  # pixels of a map of the plane and of its mark, and the grey of other points
MAP_POINTS = 2_000


def gallery_html(result: Neighbours, dataset: Dataset, *, dark: bool, note: str = "") -> str:
    """One query and its nearest items; the note stands beside them."""
    count = f"<b>{relevant_text(result)}</b>" if len(result.rows) else "&nbsp;"
    parts = [f'<figure class="query">{_item(dataset, result.query, "")}<span>query<br>{count}</span></figure>']
    for row, distance, relevant in zip(result.rows, result.distances, result.relevant, strict=True):
        sign, state, role = relevance_mark(result, relevant=bool(relevant))
        edge = colour(role, dark=dark)
        name, bits = html.escape(item_name(dataset, int(row))), distance_text(distance)
        parts.append(
            f'<figure role="button" tabindex="0" data-row="{row}" title="Use as query" '
            f'aria-label="{name}: {state}, {bits}; use as query">'
            f'{_item(dataset, int(row), edge)}<span style="color:{edge}"><b>{sign}</b></span> '
            f"<span>{bits}</span></figure>"
        )
    row = f'<div class="ohash-gallery" role="group" aria-label="{html.escape(_alt(result))}">{"".join(parts)}</div>'
    return (
        f'<div class="ohash-gallery-row">{row}<p class="ohash-caption">{html.escape(note)}</p></div>' if note else row
    )


def relevance_mark(result: Neighbours, *, relevant: bool) -> tuple[str, str, str]:
    """Sign, words and colour role of an item."""
    if relevant:
        return "✓", "relevant", "right"
    return ("✗", "not relevant", "wrong") if result.judged else ("?", "relevance unknown", "reference")


def relevant_text(result: Neighbours) -> str:
    """How many of those shown are relevant."""
    word = "right" if result.judged else "known"
    return f"{int(result.relevant.sum())} of {len(result.rows)} {word}"


def mean_note(result: Neighbours, precision: Floats, queries: int | None = None) -> str:
    """How the mean of all queries went, from their precision@10 at each checkpoint; "" where it is not known."""
    finite = precision[np.isfinite(precision)]
    if not len(finite) or not result.judged:
        return ""
    start, end = (f"{10 * finite[at]:.1f}" for at in (0, -1))
    every = "all queries" if queries is None else f"all {queries:,} queries"
    population = "for the only query" if queries == 1 else f"mean over {every}"
    return f"Relevant among the ten nearest, {population}: {start} at the start, {end} now."


def ties_note(result: Neighbours, r: int, T: int = 1) -> str:
    """Why several items are at 0 bits; "" where fewer than two are, or a distance is no count of bits."""
    if not np.issubdtype(result.distances.dtype, np.integer) or (equal := int((result.distances == 0).sum())) < 2:
        return ""
    where = " in one of the models" if T > 1 else ""
    shown = (
        f"All {equal} items" if equal == len(result.distances) else f"{equal} of these {len(result.distances)} items"
    )
    return (
        f"{shown} have exactly the query's code{where}: at 0 of {r} bits nothing tells them apart, and they "
        "are listed in the order of the data."
    )


def distance_text(distance: np.generic) -> str:
    """Bits, or the real number of a method that estimates the original distance."""
    if not np.issubdtype(distance.dtype, np.integer):
        return f"{distance:.2f}"
    return f"{distance} bit{'s' if distance != 1 else ''}"


def _item(dataset: Dataset, row: int, edge: str) -> str:
    style = f' style="border-color:{edge}"' if edge else ""
    name, picture = item_name(dataset, row), picture_of(dataset, row)
    if picture:
        return f'<img alt="item {row}" src="{picture}"{style}>'
    return f'<div class="word" title="{html.escape(name)}"{style}>{html.escape(shorten(name))}</div>'


def shorten(name: str, max_length: int = 24) -> str:
    """A name that fits its box.

    >>> shorten("a text that goes on for very long")
    'a text that goes on for…'
    """
    return name if len(name) <= max_length else name[: max_length - 1].rstrip() + "…"


def item_name(dataset: Dataset, row: int) -> str:
    """What an item is called: its caption, its id, its class, or its row."""
    if dataset.captions:
        return dataset.captions[row]
    if dataset.ids is not None:
        return str(dataset.ids[row])
    if dataset.labels is not None and not dataset.multi_label and dataset.class_names:
        return dataset.class_names[int(dataset.labels[row])]
    return f"row {row}"


def picture_of(dataset: Dataset, row: int) -> str:
    """The picture of an item as a data URL; of a point in the plane, its place among others; "" if it has none."""
    if dataset.thumbnails is not None:
        pixels = dataset.thumbnails[row]
    elif dataset.d == 2:
        pixels = _place_in_plane(np.asarray(dataset.X), row)
    else:
        return ""
    return f"data:image/png;base64,{png_base64(pixels)}"


def _place_in_plane(X: Floats, row: int) -> npt.NDArray[np.uint8]:
    """A map of some of the points, with one of them marked; the second coordinate points up."""
    some = X if len(X) <= MAP_POINTS else X[np.random.default_rng(0).integers(len(X), size=MAP_POINTS)]
    low, high = some.min(axis=0), some.max(axis=0)
    inner = MAP_SIZE - 2 * MARK - 1
    at = ((np.vstack([some, X[row]]) - low) / np.where(high > low, high - low, 1)).clip(0, 1) * inner
    x, y = (MARK + at).round().astype(int).T
    pixels = np.zeros((MAP_SIZE, MAP_SIZE), np.uint8)
    pixels[MAP_SIZE - 1 - y[:-1], x[:-1]] = MAP_GREY
    top, left = MAP_SIZE - 1 - y[-1] - MARK, x[-1] - MARK
    pixels[top : top + 2 * MARK + 1, left : left + 2 * MARK + 1] = 255
    return pixels


def png_base64(pixels: npt.NDArray[np.uint8]) -> str:
    """A thumbnail as base64 PNG."""
    return _png(pixels.tobytes(), pixels.shape)


@lru_cache(maxsize=4096)
def _png(pixels: bytes, shape: tuple[int, ...]) -> str:
    from PIL import Image  # noqa: PLC0415

    buffer = io.BytesIO()
    Image.fromarray(np.frombuffer(pixels, np.uint8).reshape(shape)).save(buffer, format="PNG")
    return base64.b64encode(buffer.getvalue()).decode()


def _alt(result: Neighbours) -> str:
    return f"{int(result.relevant.sum())} of the {len(result.rows)} nearest items are relevant to the query"
