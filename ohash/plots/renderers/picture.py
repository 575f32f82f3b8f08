"""A figure of svg.py as a picture of pixels, drawn by Pillow: for frames of an animation, where no browser is at hand.

It understands what svg.py writes and nothing more: rectangles, circles, paths of straight lines, text, one clip.
"""

import importlib.util
import math
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

from PIL import Image, ImageColor, ImageDraw, ImageFont

FINER = 2  # times as many pixels along each side while drawing: Pillow does not smooth edges
INK = "#1f2430"
NUMBER = re.compile(r"-?[\d.]+")
Style = Mapping[str, str]
Points = list[tuple[float, float]]


def to_picture(svg: str, scale: float) -> Image.Image:
    """The figure, `scale` pixels per point."""
    root = ElementTree.fromstring(svg)
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    fine = scale * FINER
    image = Image.new("RGB", (round(width * fine), round(height * fine)), "white")
    _draw(image, root, dict(root.attrib), fine)
    return image.resize((round(width * scale), round(height * scale)), Image.Resampling.LANCZOS)


@cache
def font(size: int, weight: int = 400) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The typeface of the pages, which Streamlit brings along; Pillow's own, without Greek letters, where it is not."""
    spec = importlib.util.find_spec("streamlit")
    folder = Path(spec.origin).parent / "static" if spec is not None and spec.origin else Path()
    for file in sorted(folder.rglob("SourceSansVF-Upright*.woff2")):
        try:
            face = ImageFont.truetype(str(file), size)
            face.set_variation_by_axes([weight])
        except OSError:  # a FreeType without WOFF2
            continue
        return face
    return ImageFont.load_default(size)


def _draw(image: Image.Image, parent: ElementTree.Element, style: Style, scale: float) -> None:
    for element in parent:
        tag, own = element.tag.rpartition("}")[2], {**style, **element.attrib}
        if tag == "g" and "clip-path" in element.attrib:
            name = element.attrib["clip-path"][5:-1]
            box = next(one[0].attrib for one in parent if one.attrib.get("id") == name)
            left, top, wide, high = (scale * float(box[key]) for key in ("x", "y", "width", "height"))
            inside = image.copy()
            _draw(inside, element, own, scale)
            corner = round(left), round(top)
            image.paste(inside.crop((*corner, round(left + wide), round(top + high))), corner)
        elif tag == "g":
            _draw(image, element, own, scale)
        elif tag == "text":
            _write(image, element.text or "", own, scale)
        elif tag in ("path", "rect", "circle"):
            _shape(image, tag, own, scale)


def _shape(image: Image.Image, tag: str, style: Style, scale: float) -> None:
    for points in _outlines(tag, style, scale):
        if style.get("fill", "none") != "none" and len(points) > 2:
            left, top, right, bottom = _box(points, image.size)
            layer = Image.new("L", (right - left, bottom - top), 0)
            inside = [(x - left, y - top) for x, y in points]
            ImageDraw.Draw(layer).polygon(inside, fill=round(255 * float(style.get("fill-opacity", 1))))
            image.paste(ImageColor.getrgb(style["fill"]), (left, top), layer)
        if tag == "path" and "stroke" in style:
            colour = _fade(style["stroke"], float(style.get("stroke-opacity", 1)))
            width = max(1, round(scale * float(style.get("stroke-width", 1))))
            dash = [scale * float(part) for part in style.get("stroke-dasharray", "").split()]
            for part in _dashes(points, dash) if dash else [points]:
                ImageDraw.Draw(image).line(part, fill=colour, width=width, joint="curve")


def _box(points: Points, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of the pixels of a shape, as far as they are in the picture: a layer may be small."""
    low = [max(0, math.floor(min(along)) - 1) for along in zip(*points, strict=True)]
    high = [min(most, math.ceil(max(along)) + 2) for along, most in zip(zip(*points, strict=True), size, strict=True)]
    return low[0], low[1], max(low[0], high[0]), max(low[1], high[1])


def _fade(colour: str, opacity: float) -> tuple[int, ...]:
    return tuple(round(255 - opacity * (255 - part)) for part in ImageColor.getrgb(colour))


def _outlines(tag: str, style: Style, scale: float) -> list[Points]:
    if tag == "rect":
        x, y, wide, high = (scale * float(style.get(key, 0)) for key in ("x", "y", "width", "height"))
        return [[(x, y), (x + wide, y), (x + wide, y + high), (x, y + high)]]
    if tag == "circle":
        x, y, r = (scale * float(style[key]) for key in ("cx", "cy", "r"))
        return [[(x, y - r), (x + 0.7 * r, y - 0.7 * r), (x + r, y), (x + 0.7 * r, y + 0.7 * r), (x, y + r),
                 (x - 0.7 * r, y + 0.7 * r), (x - r, y), (x - 0.7 * r, y - 0.7 * r)]]  # fmt: skip
    outlines = []
    for part in style["d"].split("M")[1:]:
        values = [scale * float(text) for text in NUMBER.findall(part)]
        outlines.append(list(zip(values[::2], values[1::2], strict=True)))
    return outlines


def _dashes(points: Points, dash: list[float]) -> list[Points]:
    """The pieces of a line that are drawn; a dash ends at a corner."""
    pieces: list[Points] = []
    at, left = 0, dash[0]
    for (x, y), (end_x, end_y) in pairwise(points):
        length = ((end_x - x) ** 2 + (end_y - y) ** 2) ** 0.5
        gone = 0.0
        while gone < length:
            go = min(left, length - gone)
            if at % 2 == 0:
                shares = gone / length, (gone + go) / length
                pieces.append([(x + share * (end_x - x), y + share * (end_y - y)) for share in shares])
            gone, left = gone + go, left - go
            if left <= 1e-9:
                at += 1
                left = dash[at % len(dash)]
    return pieces


def _write(image: Image.Image, text: str, style: Style, scale: float) -> None:
    face = font(round(scale * float(style["font-size"])), int(style.get("font-weight", 400)))
    x, y = scale * float(style["x"]), scale * float(style["y"])
    anchor = {"start": "ls", "middle": "ms", "end": "rs"}[style.get("text-anchor", "start")]
    colour = style.get("fill", INK)
    if "transform" not in style:
        ImageDraw.Draw(image).text((x, y), text, fill=colour, font=face, anchor=anchor)
        return
    left, top, right, bottom = (round(v) for v in face.getbbox(text, anchor="ls"))
    layer = Image.new("L", (right - left + 2, bottom - top + 2), 0)
    ImageDraw.Draw(layer).text((-left, -top), text, fill=255, font=face, anchor="ls")
    turned = layer.rotate(90, expand=True)
    image.paste(ImageColor.getrgb(colour), (round(x + top), round(y - turned.height / 2)), turned)
