"""A run as an animated GIF for slides: its charts and pictures at each moment, as in the HTML recording."""

import io
import textwrap
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from ohash.engine.gallery import Neighbours
from ohash.engine.narrative import amount, headline
from ohash.engine.snapshot import Snapshot
from ohash.plots import theme
from ohash.plots.chart import Chart
from ohash.plots.gallery import distance_text, relevance_mark
from ohash.plots.live.charts import film
from ohash.plots.renderers.picture import font, to_picture
from ohash.plots.renderers.svg import POINT, to_svg
from ohash.streams.dataset import Dataset

WIDTH, HEIGHT = 1280, 720
HEAD, STRIP = 96, 96  # pixels of the words, and of the gallery
SCALE = 1.5  # pixels per point
TYPE = 11.0  # points
MAX_FRAMES = 40
FRAME_MS, LAST_MS = 300, 4000
COLOURS = 64
ROLES, SWATCH = ("similar", "dissimilar", "labels", "clipped", "right", "wrong"), 120


def recording_gif(
    moments: Sequence[tuple[Snapshot, Neighbours]], dataset: Dataset, title: str, metric: str = ""
) -> bytes:
    """The file; of many moments, some are left out."""
    chosen = np.unique(np.linspace(0, len(moments) - 1, min(len(moments), MAX_FRAMES)).round().astype(int))
    pictures = film([now for now, _ in moments], metric)
    frames = [_frame(moments[at], pictures[at], dataset, title) for at in chosen]
    palette = _palette(frames[-1])
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    file = io.BytesIO()
    times = [FRAME_MS] * (len(drawn) - 1) + [LAST_MS]
    drawn[0].save(file, "GIF", save_all=True, append_images=drawn[1:], duration=times, loop=0, optimize=True)
    return file.getvalue()


def _palette(frame: Image.Image) -> Image.Image:
    """The colours of all frames: those of the last one, and the full ones of the charts, which may be rare in it."""
    whole = Image.new("RGB", (WIDTH, HEIGHT + SWATCH), theme.LIGHT.background)
    whole.paste(frame)
    draw, wide = ImageDraw.Draw(whole), WIDTH // len(ROLES)
    for at, role in enumerate(ROLES):
        draw.rectangle((at * wide, HEIGHT, (at + 1) * wide, HEIGHT + SWATCH), fill=theme.colour(role))
    return whole.quantize(COLOURS)


def _frame(moment: tuple[Snapshot, Neighbours], charts: dict[str, Chart], dataset: Dataset, title: str) -> Image.Image:
    now, result = moment
    frame = Image.new("RGB", (WIDTH, HEIGHT), theme.LIGHT.background)
    draw = ImageDraw.Draw(frame)
    draw.text((16, 10), f"{title} · {amount(now.t, 'pair')}", fill=theme.LIGHT.faint, font=font(20))
    for line, words in enumerate(textwrap.wrap(headline(now, now.params, now.state), 110)[:2]):
        draw.text((16, 36 + 26 * line), words, fill=theme.LIGHT.ink, font=font(23))
    pictured = dataset.thumbnails is not None
    bottom = HEIGHT - (STRIP if pictured else 0)
    upper, wide = HEAD + (bottom - HEAD) * 54 // 100, WIDTH * 60 // 100
    boxes = {
        "score": (0, HEAD, wide, upper), "hills": (wide, HEAD, WIDTH, upper),
        "loss": (0, upper, WIDTH // 2, bottom), "tau": (WIDTH // 2, upper, WIDTH, bottom),
    }  # fmt: skip
    for name, (left, top, right, low) in boxes.items():
        width, height = ((end - start) / SCALE * POINT for start, end in ((left, right), (top, low)))
        svg = to_svg(charts[name], width=width, height=height, size=TYPE)
        frame.paste(to_picture(svg, SCALE), (left, top))
    if pictured:
        _gallery(frame, draw, result, dataset)
    return frame


def _gallery(frame: Image.Image, draw: ImageDraw.ImageDraw, result: Neighbours, dataset: Dataset) -> None:
    """The query and its nearest items in a row."""
    assert dataset.thumbnails is not None
    words = ["query"]
    colours = [theme.LIGHT.grid]
    for distance, relevant in zip(result.distances, result.relevant, strict=True):
        sign, _, role = relevance_mark(result, relevant=bool(relevant))
        words.append(f"{sign} {distance_text(distance)}")
        colours.append(theme.colour(role))
    for at, row in enumerate([result.query, *result.rows.tolist()]):
        x, y = 20 + at * 114 + (14 if at else 0), HEIGHT - STRIP + 2
        tile = Image.fromarray(np.asarray(dataset.thumbnails[row])).convert("RGB")
        frame.paste(tile.resize((62, 62), Image.Resampling.NEAREST), (x, y + 3))
        draw.rectangle((x - 3, y, x + 64, y + 67), outline=colours[at], width=3)
        draw.text((x + 31, y + 88), words[at], fill=theme.LIGHT.ink, font=font(16), anchor="ms")
