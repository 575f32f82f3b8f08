"""One update in stages, in the order of Algorithms 1 to 3: equations with the numbers put in, and pictures."""

import html
from dataclasses import dataclass

import numpy as np

from ohash.core.arrays import Signs
from ohash.core.loss import PairStep, dissimilar_threshold
from ohash.engine.microscope import PairView
from ohash.plots import theme
from ohash.plots.chart import Axis, Chart, Mark, Series

MOST_BITS = 128  # drawn in a strip
STRIP_WIDTH, CELL_HEIGHT, GAP, LABEL_WIDTH = 760, 20, 6, 84


@dataclass(frozen=True, eq=False)
class Stage:
    """A title, what happens in words, equations in TeX, strips of bits as SVG, and a chart."""

    title: str
    text: str
    tex: tuple[str, ...] = ()
    strips: str = ""
    chart: Chart | None = None
    height: int = 220


def stages(view: PairView, model: int, *, dark: bool = False) -> list[Stage]:
    """The stages of this pair for one of the T models; a pair without loss, or of another model, ends early."""
    step, after = view.steps[model], view.after[model]
    first = [_codes(step, dark), _loss(step)]
    if step.R == 0:
        return first
    if not step.updated and not step.degenerate:
        least, name = view.steps[view.model].R, f"Model {view.model + 1}"
        reason = (
            f"{name} has a smaller loss, R = {least:g}, so it learns this pair and this model does not."
            if least > 0
            else f"{name} has no loss, so no model learns this pair."
        )
        return [*first, Stage("No update", reason, (r"\text{Eq. (28)}",))]
    return [*first, _candidates(step), _targets(step, dark), _prediction_loss(step), *_outcome(step, after, dark)]


def tex_number(value: float, digits: int = 4) -> str:
    r"""A number for TeX.

    >>> tex_number(0.25), tex_number(1.5e-7)
    ('0.25', '1.5\\cdot 10^{-7}')
    """
    text = f"{value:.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa


_n = tex_number


def _codes(step: PairStep, dark: bool) -> Stage:
    r = len(step.h_i)
    return Stage(
        "Codes",
        f"Each item has a code of {r} bits: on which side of {r} hyperplanes it lies. They differ in {step.D_h}.",
        (
            r"h_i = \mathrm{sgn}(W^T x_i),\quad h_j = \mathrm{sgn}(W^T x_j)\qquad \text{Eq. (1)}",
            rf"D_h(h_i, h_j) = {step.D_h}",
        ),
        code_strips({"hᵢ": step.h_i, "hⱼ": step.h_j}, step.h_i != step.h_j, dark=dark),
    )


def _loss(step: PairStep) -> Stage:
    r, br = len(step.h_i), dissimilar_threshold(step.beta, len(step.h_i))
    if step.s == 1:
        rule = f"Similar items may differ in α = {step.alpha} bits."
        tex = rf"R = \max(0,\ D_h - \alpha) = \max(0,\ {step.D_h} - {step.alpha}) = {_n(step.R)}"
    else:
        rule = f"Dissimilar items should differ in at least βr = {br:.4g} of the {r} bits."
        tex = rf"R = \max(0,\ \beta r - D_h) = \max(0,\ {_n(step.beta)} \cdot {r} - {step.D_h}) = {_n(step.R)}"
    told = "There is no loss: the model stays as it is." if step.R == 0 else f"The loss is {step.R:.4g}."
    return Stage("Similarity loss", f"{rule} {told}", (tex + r"\qquad \text{Eq. (3)}",))


def _candidates(step: PairStep) -> Stage:
    flips, br = step.flips, dissimilar_threshold(step.beta, len(step.h_i))
    if step.s == 1:
        tex = rf"p_0 = D_h - \alpha = {step.D_h} - {step.alpha} = {step.p0}"
        pool = f"the {len(flips.pool)} bits that differ"
    else:
        tex = rf"p_0 = \lceil \beta r \rceil - D_h = \lceil {_n(br)} \rceil - {step.D_h} = {step.p0}"
        pool = f"the {len(flips.pool)} bits that agree"
    text = f"Of {pool}, {step.p0} must be flipped; the cheapest are those whose hyperplane passes nearest to an item."
    equations = (tex + r"\qquad \text{Eq. (17)}", r"\delta_k = \min(|w_k^T x_i|,\ |w_k^T x_j|)\qquad \text{Eq. (19)}")
    return Stage("Which bits to flip", text, equations, chart=margins(step))


def margins(step: PairStep) -> Chart:
    """The margins of the pool in order, with the chosen ones by the side that is flipped."""
    flips = step.flips
    order = np.argsort(flips.delta, kind="stable")
    ranks = {int(flips.pool[at]): rank for rank, at in enumerate(order, start=1)}
    delta = {int(bit): float(value) for bit, value in zip(flips.pool, flips.delta, strict=True)}
    sides = dict(zip(flips.bits.tolist(), flips.sides, strict=True))
    series = []
    for name, role, side in (
        ("flip xᵢ", "similar", "i"),
        ("flip xⱼ", "dissimilar", "j"),
        ("not flipped", "reference", None),
    ):
        bits = [bit for bit in ranks if sides.get(bit) == side]
        x, y = np.array([ranks[bit] for bit in bits], float), np.array([delta[bit] for bit in bits])
        if bits:
            series.append(Series(name, x, y, kind="bar", role=role))
    n_i = flips.sides.count("i")
    verb = "is" if step.p0 == 1 else "are"
    title = f"{step.p0} of {len(flips.pool)} bits {verb} flipped: {n_i} of xᵢ and {step.p0 - n_i} of xⱼ"
    x_axis = Axis("bits of the pool, by margin", lo=0.5, hi=len(flips.pool) + 0.5, format="count")
    return Chart(title, x_axis, Axis("margin δ", lo=0), tuple(series), (), alt=f"{title}. Bars in order of margin.")


def _targets(step: PairStep, dark: bool) -> Stage:
    names = {"i": "xᵢ", "j": "xⱼ"}
    bits = [f"{bit + 1} of {names[side]}" for bit, side in zip(step.flips.bits[:12], step.flips.sides, strict=False)]
    word, more = "bit" if step.p0 == 1 else "bits", ", …" if step.p0 > 12 else ""
    return Stage(
        "Zero-loss codes",
        f"With these bits flipped, the pair would have no loss: {word} {', '.join(bits)}{more}.",
        (r"R(g_i, g_j) = 0\qquad \text{Algorithms 2 and 3, Eq. (20)}",),
        code_strips(
            {"hᵢ": step.h_i, "gᵢ": step.g_i, "hⱼ": step.h_j, "gⱼ": step.g_j},
            (step.h_i != step.g_i) | (step.h_j != step.g_j), dark=dark,
        ),
    )  # fmt: skip


def _prediction_loss(step: PairStep) -> Stage:
    G = _n(step.G, 6) if step.G >= 0 else f"({_n(step.G, 6)})"
    return Stage(
        "Prediction loss",
        "How much better the present codes fit the hyperplanes than the zero-loss ones, and a margin for the loss.",
        (
            rf"H = h_i^T W^T x_i + h_j^T W^T x_j = {_n(step.H, 6)}\qquad \text{{Eq. (4)}}",
            rf"G = g_i^T W^T x_i + g_j^T W^T x_j = {_n(step.G, 6)}\qquad \text{{Eq. (5)}}",
            rf"\ell = H - G + \sqrt{{R}} = {_n(step.H, 6)} - {G} + \sqrt{{{_n(step.R)}}} = "
            rf"{_n(step.loss)}\qquad \text{{Eq. (6)}}",
        ),
    )


def _outcome(step: PairStep, after: PairStep, dark: bool) -> list[Stage]:
    if step.degenerate:
        return [Stage("No step", "The items to be flipped are zero vectors: no step can move their hyperplanes.")]
    capped = step.ratio > step.C
    size = Stage(
        "Step size",
        "C caps the step: it is shorter than this pair asks for." if capped else
        "The step is as long as this pair asks for, and no longer.",
        (
            rf"\lVert x (g - h)^T \rVert_F^2 = {_n(step.norm2)}",
            rf"\tau = \min\left\{{C,\ \frac{{\ell}}{{\lVert x (g - h)^T \rVert_F^2}}\right\}} = "
            rf"\min\left\{{{_n(step.C)},\ \frac{{{_n(step.loss)}}}{{{_n(step.norm2)}}}\right\}} = {_n(step.tau)}"
            r"\qquad \text{Eq. (16)}",
        ),
        chart=step_size(step), height=150,
    )  # fmt: skip
    told = "The loss of this pair is gone." if after.R == 0 else f"A loss of {after.R:.4g} is left."
    moved = Stage(
        "Update",
        f"Columns of W that move: {len(step.columns)} of {len(step.h_i)}. Then the codes are computed again. {told}",
        (
            r"W \leftarrow W + \tau\, x (g - h)^T\qquad \text{Eq. (10)}",
            rf"D_h = {step.D_h} \to {after.D_h},\qquad R = {_n(step.R)} \to {_n(after.R)}",
        ),
        code_strips(
            {"hᵢ before": step.h_i, "hᵢ after": after.h_i, "hⱼ before": step.h_j, "hⱼ after": after.h_j},
            (step.h_i != after.h_i) | (step.h_j != after.h_j), dark=dark,
        ),
    )  # fmt: skip
    return [size, moved]


def step_size(step: PairStep) -> Chart:
    """Both candidates of Eq. (16) on one axis; the smaller one is the step."""
    capped = step.ratio > step.C
    longest = 1.25 * max(step.C, step.ratio)
    title = f"τ = {step.tau:.3g}: {'C' if capped else 'what the pair asks for'} is the smaller of the two"
    digits = next((n for n in range(3, 7) if f"{step.C:.{n}g}" != f"{step.ratio:.{n}g}"), 7)
    x, y = np.array([0.0, step.tau]), np.array([1.0, 1.0])
    series = Series("τ", x, y, kind="area", role="now", fill=0.3, listed=False)
    marks = (
        Mark(step.C, f"C = {step.C:.{digits}g}", role="cap"),
        Mark(step.ratio, f"ℓ/‖·‖² = {step.ratio:.{digits}g}", role="clipped" if capped else "now", dash="dashed"),
    )
    y_axis = Axis("", lo=0, hi=1, at=(2.0,))
    return Chart(title, Axis("step size τ", lo=0, hi=longest), y_axis, (series,), marks, alt=f"{title}.")


def code_strips(rows: dict[str, Signs], marked: np.ndarray, *, dark: bool = False) -> str:
    """Codes as rows of squares, full for +1; marked bits have a frame. An SVG that stands by itself."""
    bits = min(MOST_BITS, len(marked))
    cell = min(22.0, (STRIP_WIDTH - LABEL_WIDTH) / bits)
    ground, ink, edge = theme.ground(dark), theme.colour("now", dark), theme.colour("dissimilar", dark)
    parts = []
    for at, (name, code) in enumerate(rows.items()):
        y = at * (CELL_HEIGHT + GAP) + GAP
        place = f'x="0" y="{y + 0.72 * CELL_HEIGHT:.1f}" fill="{ground.ink}" font-size="16"'
        parts.append(f"<text {place}>{html.escape(name)}</text>")
        for k in range(bits):
            fill = ink if code[k] > 0 else ground.grid
            stroke = f' stroke="{edge}" stroke-width="2.5"' if marked[k] else ""
            parts.append(
                f'<rect x="{LABEL_WIDTH + k * cell:.2f}" y="{y}" width="{0.82 * cell:.2f}" height="{CELL_HEIGHT}" '
                f'rx="2" fill="{fill}"{stroke}/>'
            )
    height = len(rows) * (CELL_HEIGHT + GAP) + GAP
    cut = f", the first {bits} of {len(marked)} bits" if bits < len(marked) else ""
    alt = f"Codes {', '.join(rows)}{cut}; {int(marked.sum())} bits marked."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {STRIP_WIDTH} {height}" width="{STRIP_WIDTH}" '
        f'role="img" aria-label="{html.escape(alt)}" font-family="sans-serif">{"".join(parts)}</svg>'
    )
