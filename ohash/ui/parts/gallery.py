"""The retrieval gallery: a query and its nearest items as a row of pictures or names, marked by colour and sign."""

import base64
import html
import io
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ohash.engine.gallery import Neighbours
from ohash.plots.theme import colour
from ohash.streams.dataset import Dataset


def gallery_html(result: Neighbours, dataset: Dataset, *, dark: bool) -> str:
    """One query and its nearest items."""
    parts = [f'<figure class="query">{_item(dataset, result.query, "")}<span>query<br>&nbsp;</span></figure>']
    for row, distance, relevant in zip(result.rows, result.distances, result.relevant, strict=True):
        edge = colour("right" if relevant else "wrong" if result.judged else "reference", dark=dark)
        sign = "✓" if relevant else "✗" if result.judged else "?"
        state = "relevant" if relevant else "not relevant" if result.judged else "relevance unknown"
        parts.append(
            f'<figure role="button" tabindex="0" data-row="{row}" title="Use as query" '
            f'aria-label="item {row}: {state}; use as query">'
            f'{_item(dataset, int(row), edge)}<span style="color:{edge}"><b>{sign}</b></span> '
            f"<span>{_distance(distance)}</span></figure>"
        )
    return f'<div class="ohash-gallery" role="group" aria-label="{html.escape(_alt(result))}">{"".join(parts)}</div>'


def _distance(distance: np.generic) -> str:
    """Bits, or the real number of a method that estimates the original distance."""
    if not np.issubdtype(distance.dtype, np.integer):
        return f"{distance:.2f}"
    return f"{distance} bit{'s' if distance != 1 else ''}"


def _item(dataset: Dataset, row: int, edge: str) -> str:
    style = f' style="border-color:{edge}"' if edge else ""
    if dataset.thumbnails is not None:
        return f'<img alt="item {row}" src="data:image/png;base64,{png_base64(dataset.thumbnails[row])}"{style}>'
    name = str(dataset.ids[row]) if dataset.ids is not None else f"row {row}"
    if dataset.ids is None and dataset.labels is not None and not dataset.multi_label and dataset.class_names:
        name = dataset.class_names[int(dataset.labels[row])]
    return f'<div class="word"{style}>{html.escape(name[:24])}</div>'


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
