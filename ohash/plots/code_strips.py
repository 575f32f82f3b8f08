"""Codes as rows of squares: those of one pair, and those of several models in cards side by side."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ohash.core.arrays import Signs
from ohash.plots import theme

MAX_BITS = 128  # drawn in a strip
STRIP_WIDTH, CELL_HEIGHT, GAP, LABEL_WIDTH = 760, 20, 6, 84
NARROW_WIDTH, NARROW_BITS = 424, 16  # for a phone: strips wrap after so many bits
NUMBERS, MIN_NUMBERED_CELL = 18, 20.0  # the line of bit numbers, and the cell from which on every bit has one
MAX_NUMBERED_BITS = 99  # bits of which every one has a number: three digits are wider than a cell
MARGIN = 12  # for half of the last number
CARD_GAP, CARD_PAD, CARD_LABEL, LINE = 12, 10, 24, 24


@dataclass(frozen=True, eq=False)
class Card:
    """One model: its name, what it does, its numbers, its codes with the marked bits, and whether it is chosen."""

    title: str
    state: str
    numbers: str
    rows: dict[str, Signs]
    marked: np.ndarray
    chosen: bool


def code_strips(rows: dict[str, Signs], marked: np.ndarray, *, dark: bool = False, narrow: bool = False) -> str:
    """Codes as rows of squares, full for +1, under the numbers of their bits; marked bits have a frame.

    An SVG that stands by itself, no wider than its bits; a narrow one has them in several lines.
    """
    bits = min(MAX_BITS, len(marked))
    width, per_line = (NARROW_WIDTH, min(bits, NARROW_BITS)) if narrow else (STRIP_WIDTH, bits)
    cell = _cell(per_line, width - MARGIN - LABEL_WIDTH)
    height = len(rows) * (CELL_HEIGHT + GAP) + GAP + NUMBERS
    parts = []
    for first in range(0, bits, per_line):
        top, line = first // per_line * (height + GAP), slice(first, min(first + per_line, bits))
        codes = {name: code[line] for name, code in rows.items()}
        parts += _rows(codes, marked[line], 0, top + GAP + NUMBERS, cell, LABEL_WIDTH, dark)
        for k in range(bits)[line]:
            if (cell >= MIN_NUMBERED_CELL and bits <= MAX_NUMBERED_BITS) or (k + 1) % 8 == 0:
                place = f'x="{LABEL_WIDTH + (k - first + 0.41) * cell:.2f}" y="{top + NUMBERS - 3}"'
                ink = f'fill="{theme.ground(dark).faint}" font-size="16" text-anchor="middle"'
                parts.append(f"<text {place} {ink}>{k + 1}</text>")
    cut = f", the first {bits} of {len(marked)} bits" if bits < len(marked) else ""
    alt = f"Codes {', '.join(rows)}{cut}; {int(marked.sum())} bits marked."
    return _svg(parts, LABEL_WIDTH + per_line * cell + MARGIN, -(-bits // per_line) * (height + GAP) - GAP, alt)


def code_cards(cards: Sequence[Card], *, dark: bool = False, narrow: bool = False) -> str:
    """Models side by side, as many in a row as their codes leave room for; chosen ones have a thick frame."""
    bits = min(MAX_BITS, max(len(card.marked) for card in cards))
    per_row = 1 if narrow else min(len(cards), 4 if bits <= 24 else 2)
    total = NARROW_WIDTH if narrow else STRIP_WIDTH
    width = (total - (per_row + 1) * CARD_GAP) / per_row
    cell = _cell(bits, width - 2 * CARD_PAD - CARD_LABEL)
    height = 2 * LINE + len(cards[0].rows) * (CELL_HEIGHT + GAP) + 2 * CARD_PAD - GAP
    ground, ink = theme.ground(dark), theme.colour("now", dark)
    parts = []
    for at, card in enumerate(cards):
        x, y = CARD_GAP + at % per_row * (width + CARD_GAP), CARD_GAP + at // per_row * (height + CARD_GAP)
        edge, thick = (ink, 4) if card.chosen else (ground.faint, 1)
        parts.append(
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" rx="6" fill="none" stroke="{edge}" '
            f'stroke-width="{thick}"/>'
        )
        lines = ((f"{card.title}: {card.state}", 1, "bold" if card.chosen else "normal"), (card.numbers, 2, "normal"))
        for text, line, weight in lines:
            place = f'x="{x + CARD_PAD:.1f}" y="{y + line * LINE}" fill="{ground.ink}" font-size="16"'
            parts.append(f'<text {place} font-weight="{weight}">{html.escape(text)}</text>')
        top = y + 2 * LINE + CARD_PAD
        parts += _rows(card.rows, card.marked, x + CARD_PAD, top, cell, CARD_LABEL, dark)
    rows = -(-len(cards) // per_row)
    alt = "; ".join(f"{card.title}: {card.numbers}, {card.state}" for card in cards)
    return _svg(parts, total, rows * (height + CARD_GAP) + CARD_GAP, f"Models side by side. {alt}.")


def drawn_width(svg: str) -> float:
    """The width at which strips or cards are drawn, at most STRIP_WIDTH."""
    return float(svg.partition('" width="')[2].partition('"')[0])


def _cell(bits: int, width: float) -> float:
    return min(22.0, width / bits)


def _rows(
    rows: dict[str, Signs], marked: np.ndarray, left: float, top: float, cell: float, label: int, dark: bool
) -> list[str]:
    bits = min(MAX_BITS, len(marked))
    ground, ink, edge = theme.ground(dark), theme.colour("now", dark), theme.colour("dissimilar", dark)
    frame = min(2.5, 0.3 * cell)
    parts = []
    for at, (name, code) in enumerate(rows.items()):
        y = top + at * (CELL_HEIGHT + GAP)
        place = f'x="{left:.1f}" y="{y + 0.72 * CELL_HEIGHT:.1f}" fill="{ground.ink}" font-size="16"'
        parts.append(f"<text {place}>{html.escape(name)}</text>")
        for k in range(bits):
            fill = ink if code[k] > 0 else ground.grid
            stroke = f' stroke="{edge}" stroke-width="{frame:.2f}"' if marked[k] else ""
            parts.append(
                f'<rect x="{left + label + k * cell:.2f}" y="{y}" width="{0.82 * cell:.2f}" height="{CELL_HEIGHT}" '
                f'rx="{min(2.0, 0.2 * cell):.2f}" fill="{fill}"{stroke}/>'
            )
    return parts


def _svg(parts: list[str], width: float, height: float, alt: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" '
        f'role="img" aria-label="{html.escape(alt)}" font-family="sans-serif">{"".join(parts)}</svg>'
    )
