"""One update in stages, in the order of Algorithms 1 to 3: equations with the numbers put in, and pictures."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Signs
from ohash.core.loss import Matrix, PairStep, dissimilar_threshold
from ohash.engine.step_by_step import PairView
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.code_strips import Card, code_cards, code_strips

MAX_MODELS = 16  # drawn side by side
MAX_NAMED = 24  # bits under their bars
RULES = {
    1: "A similar pair updates only the model with the smallest loss, and none if that is 0.",
    -1: "A dissimilar pair updates every model with a loss.",
}


@dataclass(frozen=True, eq=False)
class Stage:
    """A title, what happens in words, equations in TeX, strips of bits as SVG, also for a phone, and a chart."""

    title: str
    text: str
    tex: tuple[str, ...] = ()
    strips: str = ""
    narrow_strips: str = ""
    chart: Chart | None = None
    height: int = 220


def stages(view: PairView, model: int, *, dark: bool = False) -> list[Stage]:
    """The stages of this pair for one of the T models; a pair without loss, or of another model, ends early."""
    step = view.steps[model]
    first = [*_models(view, dark), _codes(step, dark), _loss(step)]
    if step.R == 0:
        return first
    if not step.updated and not step.degenerate:
        least, name = view.steps[view.model].R, f"Model {view.model + 1}"
        reason = f"{name} has no loss, so no model learns this pair."
        if least > 0:
            why = "a smaller loss" if least < step.R else "the same loss and comes first"
            reason = f"{name} has {why}, R = {least:g}, so it learns this pair and this model does not."
        return [*first, Stage("No update", reason, (r"\text{Eq. (28)}",))]
    return [*first, _candidates(step), _targets(step, dark), _prediction_loss(step), *_outcome(view, model, dark)]


def tex_number(value: float, digits: int = 4) -> str:
    r"""A number for TeX.

    >>> tex_number(0.25), tex_number(1.5e-7)
    ('0.25', '1.5\\cdot 10^{-7}')
    """
    text = f"{value:.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa


_n = tex_number


def _entries(values: npt.ArrayLike, count: int = 3, digits: int = 3) -> str:
    r"""A vector for TeX by its first entries.

    >>> _entries([0.25, -1.0, 3.0, 4.0])
    '(0.25,\\ -1,\\ 3,\\ \\ldots)'
    """
    numbers = np.asarray(values, np.float64)
    shown = [_n(float(value), digits) for value in numbers[:count]] + [r"\ldots"] * (len(numbers) > count)
    return "(" + r",\ ".join(shown) + ")"


def in_brackets(value: float, digits: int) -> str:
    """A number for TeX, in brackets if it is negative."""
    return _n(value, digits) if value >= 0 else f"({_n(value, digits)})"


def _models(view: PairView, dark: bool) -> list[Stage]:
    """All models of an MMOH side by side, and which of them learn this pair."""
    if len(view.steps) == 1:
        return []
    T = len(view.steps)
    learning = [m for m, step in enumerate(view.steps) if step.updated]
    losses = r",\ ".join([_n(step.R) for step in view.steps[:MAX_MODELS]] + [r"\ldots"] * (T > MAX_MODELS))
    if view.s == 1:
        level = sum(step.R == view.steps[view.model].R for step in view.steps)
        first = f", the first of {level} with this loss" if level > 1 else ""
        chosen = f"Model {view.model + 1} is chosen{first}{'.' if learning else '; its loss is 0, so none learns.'}"
        tex = rf"\operatorname{{argmin}}_m R_m = \operatorname{{argmin}} \{{{losses}\}} = {view.model + 1}"
    else:
        chosen = f"Here {len(learning)} of {T}."
        names = r",\ ".join(str(m + 1) for m in learning)
        tex = rf"R_m = {losses}\quad\Rightarrow\quad \{{m : R_m > 0\}} = \{{{names}\}}"
    shown = sorted({*range(min(T, MAX_MODELS)), view.model})
    cards = [_card(view, m) for m in shown]
    drawn = code_cards(cards, dark=dark), code_cards(cards, dark=dark, narrow=True)
    text = f"The same pair in all {T} models. {RULES[view.s]} {chosen}"
    return [Stage("Models", text, (tex + r"\qquad \text{Eq. (28)}",), *drawn)]


def _strips(rows: dict[str, Signs], marked: np.ndarray, dark: bool) -> tuple[str, str]:
    return code_strips(rows, marked, dark=dark), code_strips(rows, marked, dark=dark, narrow=True)


def _card(view: PairView, m: int) -> Card:
    step = view.steps[m]
    chosen = step.updated or (view.s == 1 and m == view.model)
    why = "cannot move" if step.degenerate else "not chosen"
    state = "learns" if step.updated else "no loss" if step.R == 0 else why
    rows = {"hᵢ": step.h_i, "hⱼ": step.h_j}
    return Card(f"Model {m + 1}", state, f"Dₕ = {step.D_h}, R = {step.R:.4g}", rows, step.h_i != step.h_j, chosen)


def _codes(step: PairStep, dark: bool) -> Stage:
    r = len(step.h_i)
    return Stage(
        "Codes",
        f"Each item has a code of {r} bits: on which side of {r} hyperplanes it lies. They differ in {step.D_h}.",
        (
            rf"h_i = \mathrm{{sgn}}(W^T x_i) = \mathrm{{sgn}}{_entries(step.p_i)} = {_entries(step.h_i)}"
            r"\qquad \text{Eq. (1)}",
            rf"h_j = \mathrm{{sgn}}(W^T x_j) = \mathrm{{sgn}}{_entries(step.p_j)} = {_entries(step.h_j)}",
            rf"D_h(h_i, h_j) = {step.D_h}",
        ),
        *_strips({"hᵢ": step.h_i, "hⱼ": step.h_j}, step.h_i != step.h_j, dark),
    )


def _loss(step: PairStep) -> Stage:
    r, br = len(step.h_i), dissimilar_threshold(step.beta, len(step.h_i))
    if step.s == 1:
        rule = f"Similar items may differ in α = {step.alpha} bits."
        tex = rf"R = \max(0,\ D_h - \alpha) = \max(0,\ {step.D_h} - {step.alpha}) = {_n(step.R)}"
    else:
        rule = f"Dissimilar items should differ in at least βr = {br:.4g} of the {r} bits."
        tex = rf"R = \max(0,\ \beta r - D_h) = \max(0,\ {_n(step.beta)} \cdot {r} - {step.D_h}) = {_n(step.R)}"
    sentence = "There is no loss: the model stays as it is." if step.R == 0 else f"The loss is {step.R:.4g}."
    return Stage(
        "Similarity loss", f"{rule} {sentence}", (tex + r"\qquad \text{Eq. (3)}",), chart=loss_by_distance(step)
    )


def loss_by_distance(step: PairStep) -> Chart:
    """Eq. (3): R for every distance that two codes can have, and this pair."""
    r = len(step.h_i)
    limit = float(step.alpha) if step.s == 1 else dissimilar_threshold(step.beta, r)
    D = np.unique([*np.arange(r + 1.0), limit])
    R = np.maximum(0, D - limit if step.s == 1 else limit - D)
    title = f"R = {step.R:.4g} where {step.D_h} of {r} bits differ"
    series = (
        Series("R", D, R, role="reference"),
        Series("this pair", np.array([float(step.D_h)]), np.array([float(step.R)]), kind="points", role="now"),
    )
    mark = Mark(limit, f"α = {step.alpha}" if step.s == 1 else f"βr = {limit:.4g}", role="cap")
    x_axis = Axis("bits that differ, Dₕ", lo=0, hi=r, format="count")
    return Chart(title, x_axis, Axis("loss R", lo=0), series, (mark,), alt=f"{title}. A line over the distance.")


def _candidates(step: PairStep) -> Stage:
    flips, br = step.flips, dissimilar_threshold(step.beta, len(step.h_i))
    if step.s == 1:
        tex = rf"p_0 = D_h - \alpha = {step.D_h} - {step.alpha} = {step.p0}"
        kind = "differ"
    else:
        tex = rf"p_0 = \lceil \beta r \rceil - D_h = \lceil {_n(br)} \rceil - {step.D_h} = {step.p0}"
        kind = "agree"
    pool = f"the {len(flips.pool)} bits that {kind}" if len(flips.pool) > 1 else f"the one bit that {kind}s"
    rule = "the cheapest have the smallest margin δ, whichever item it belongs to"
    if step.largest:
        rule = "the paper flips the cheapest, with the smallest margin δ, and this experiment those with the largest"
    text = f"Of {pool}, {step.p0} must be flipped; {rule}."
    equations = (
        tex + r"\qquad \text{Eq. (17)}",
        r"\delta_k = \min(|w_k^T x_i|,\ |w_k^T x_j|)\qquad \text{Eq. (19)}",
        *_margins_of_chosen(step),
    )
    return Stage("Which bits to flip", text, equations, chart=margins(step))


def _margins_of_chosen(step: PairStep) -> list[str]:
    """Eq. (19) for the chosen bits, smallest margin first."""
    delta = dict(zip(step.flips.pool.tolist(), step.flips.delta.tolist(), strict=True))
    bits = sorted(step.flips.bits.tolist(), key=delta.__getitem__)
    lines = [
        rf"\delta_{{{k + 1}}} = \min({_n(abs(float(step.p_i[k])), 3)},\ {_n(abs(float(step.p_j[k])), 3)}) = "
        rf"{_n(delta[k], 3)}"
        for k in bits[:2]
    ]
    return [r",\quad ".join(lines) + (r",\ \ldots" if len(bits) > 2 else "")]


def margins(step: PairStep) -> Chart:
    """The margins of the pool in order, with the chosen ones by the side that is flipped; each bar names its bit."""
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
    named = list(ranks.items())[:: -(-len(ranks) // MAX_NAMED)]
    x_axis = Axis(
        "bit, smallest margin first" if len(named) == len(ranks) else "some bits, smallest margin first",
        lo=0.5, hi=len(ranks) + 0.5, at=tuple(float(rank) for _, rank in named),
        names=tuple(str(bit + 1) for bit, _ in named),
    )  # fmt: skip
    return Chart(title, x_axis, Axis("margin δ", lo=0), tuple(series), (), alt=f"{title}. Bars in order of margin.")


def _targets(step: PairStep, dark: bool) -> Stage:
    names = {"i": "xᵢ", "j": "xⱼ"}
    bits = [f"{bit + 1} of {names[side]}" for bit, side in zip(step.flips.bits[:12], step.flips.sides, strict=False)]
    word, more = "bit" if step.p0 == 1 else "bits", ", …" if step.p0 > 12 else ""
    r, D_g = len(step.h_i), int((step.g_i != step.g_j).sum())
    loss = rf"{D_g} - {step.alpha}" if step.s == 1 else rf"{_n(step.beta)} \cdot {r} - {D_g}"
    return Stage(
        "Zero-loss codes",
        f"With these bits flipped, the pair would have no loss: {word} {', '.join(bits)}{more}.",
        (rf"R(g_i, g_j) = \max(0,\ {loss}) = 0\qquad \text{{Algorithm {3 if step.s == 1 else 2}}}",),
        *_strips(
            {"hᵢ": step.h_i, "gᵢ": step.g_i, "hⱼ": step.h_j, "gⱼ": step.g_j},
            (step.h_i != step.g_i) | (step.h_j != step.g_j), dark,
        ),
    )  # fmt: skip


def _prediction_loss(step: PairStep) -> Stage:
    H, G = _score_parts(step, step.h_i, step.h_j), _score_parts(step, step.g_i, step.g_j)
    return Stage(
        "Prediction loss",
        "How much better the present codes fit the hyperplanes than the zero-loss ones, and a margin for the loss.",
        (
            rf"H = h_i^T W^T x_i + h_j^T W^T x_j = {H} = {_n(step.H, 6)}\qquad \text{{Eq. (4)}}",
            rf"G = g_i^T W^T x_i + g_j^T W^T x_j = {G} = {_n(step.G, 6)}\qquad \text{{Eq. (5)}}",
            rf"\ell = H - G + \sqrt{{R}} = {_n(step.H, 6)} - {in_brackets(step.G, 6)} + \sqrt{{{_n(step.R)}}} = "
            rf"{_n(step.loss)}\qquad \text{{Eq. (6)}}",
        ),
        chart=parts_of_loss(step),
    )


def parts_of_loss(step: PairStep) -> Chart:
    """Eq. (6): both parts of the prediction loss, and their sum; none is negative, as H is the largest score."""
    parts = {"H − G": float(step.H) - float(step.G), "√R": float(np.sqrt(step.R)), "ℓ": float(step.loss)}
    places, values = np.arange(1.0, 4.0), np.array(list(parts.values()))
    title = f"ℓ = {step.loss:.4g} is the sum of H − G and √R"
    series = Series("parts and sum", places, values, kind="bar", role="now", listed=False)
    x_axis = Axis("", lo=0.5, hi=3.5, at=tuple(places.tolist()), names=tuple(parts))
    return Chart(title, x_axis, Axis("value", lo=0), (series,), (), alt=f"{title}. Bars.")


def _score_parts(step: PairStep, c_i: Signs, c_j: Signs) -> str:
    """c_i·p_i + c_j·p_j with both products as numbers."""
    first, second = float(c_i @ step.p_i.astype(np.float64)), float(c_j @ step.p_j.astype(np.float64))
    return f"{_n(first, 6)} + {in_brackets(second, 6)}"


def _outcome(view: PairView, model: int, dark: bool) -> list[Stage]:
    step = view.steps[model]
    if step.degenerate:
        return [Stage("No step", "The items to be flipped are zero vectors: no step can move their hyperplanes.")]
    capped = step.ratio > step.C
    size = Stage(
        "Step size",
        "C caps the step: the loss of this pair requires a larger one." if capped else
        "The step is as large as the loss of this pair requires: C does not cap it.",
        (
            rf"\lVert x (g - h)^T \rVert_F^2 = {_n(step.norm2)}",
            rf"\tau = \min\left\{{C,\ \frac{{\ell}}{{\lVert x (g - h)^T \rVert_F^2}}\right\}} = "
            rf"\min\left\{{{_n(step.C)},\ \frac{{{_n(step.loss)}}}{{{_n(step.norm2)}}}\right\}} = {_n(step.tau)}"
            r"\qquad \text{Eq. (16)}",
        ),
        chart=step_size(step), height=150,
    )  # fmt: skip
    sentence = "The loss of this pair is gone." if step.R_after == 0 else f"A loss of {step.R_after:.4g} is left."
    if view.rounds > 1 and step.R_after > 0:
        left = view.left[model]
        sentence += f" This is the first of up to {view.rounds} steps for this pair; after the last one " + (
            "its loss is gone." if left == 0 else f"a loss of {left:.4g} is left."
        )
    D_after = int((step.h_i_after != step.h_j_after).sum())
    moved = Stage(
        "Update",
        f"Columns of W that move: {len(step.columns)} of {len(step.h_i)}. Then the codes are computed again. "
        f"{sentence}",
        (
            r"W \leftarrow W + \tau\, x (g - h)^T\qquad \text{Eq. (10)}",
            *_moved_column(step, *view.W[model]),
            rf"D_h = {step.D_h} \to {D_after},\qquad R = {_n(step.R)} \to {_n(step.R_after)}",
        ),
        *_strips(
            {"hᵢ before": step.h_i, "hᵢ after": step.h_i_after, "hⱼ before": step.h_j, "hⱼ after": step.h_j_after},
            (step.h_i != step.h_i_after) | (step.h_j != step.h_j_after), dark,
        ),
    )  # fmt: skip
    return [size, moved]


def _moved_column(step: PairStep, before: Matrix, after: Matrix) -> list[str]:
    """Eq. (10) for the column of W whose bit had the smallest margin of those flipped."""
    delta = dict(zip(step.flips.pool.tolist(), step.flips.delta.tolist(), strict=True))
    k, side = min(zip(step.flips.bits.tolist(), step.flips.sides, strict=True), key=lambda one: delta[one[0]])
    g, h = (step.g_i, step.h_i) if side == "i" else (step.g_j, step.h_j)
    name, sign = f"w_{{{k + 1}}}", "+" if g[k] > h[k] else "-"
    old, new = before[:, k], after[:, k]
    lengths = float(np.linalg.norm(old)), float(np.linalg.norm(new))
    digits = next((n for n in range(4, 8) if f"{lengths[0]:.{n}g}" != f"{lengths[1]:.{n}g}"), 8)
    return [
        rf"{name} \leftarrow {name} {sign} 2 \tau x_{side} = {_entries(old, 2, 5)} + {_entries(new - old, 2)}",
        rf"= {_entries(new, 2, 5)},\qquad \lVert {name} \rVert = {_n(lengths[0], digits)} \to {_n(lengths[1], digits)}",
    ]


def step_size(step: PairStep) -> Chart:
    """Both candidates of Eq. (16) on one axis; the smaller one is the step."""
    capped = step.ratio > step.C
    longest = 1.6 * max(step.C, step.ratio)  # the labels stay left of the buttons of the chart
    title = f"τ = {step.tau:.3g}: {'C' if capped else 'the uncapped step'} is the smaller of the two"
    digits = next((n for n in range(3, 7) if f"{step.C:.{n}g}" != f"{step.ratio:.{n}g}"), 7)
    x, y = np.array([0.0, step.tau]), np.array([1.0, 1.0])
    series = Series("τ", x, y, kind="area", role="now", fill=0.3, listed=False)
    marks = (
        Mark(step.C, f"C = {step.C:.{digits}g}", role="cap"),
        Mark(step.ratio, f"ℓ/‖·‖² = {step.ratio:.{digits}g}", role="clipped" if capped else "now", dash="dashed"),
    )
    y_axis = Axis("", lo=0, hi=1, at=(2.0,))
    return Chart(title, Axis("step size τ", lo=0, hi=longest), y_axis, (series,), marks, alt=f"{title}.")
