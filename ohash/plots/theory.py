"""What the paper's theory says of one update, with the numbers put in: Lemma 1, Theorem 2 and the C it requires; and
of streams that are separable or not.

The counter-example to Theorem 2 is a stream of this one pair and U = W + C x (g - h)ᵀ: with F² = ‖x (g - h)ᵀ‖² it has
‖U - W‖² = C² F² and ℓ_U = ℓ - C F², so that the right side is F² (2 C ℓ - C² F²), negative once C > 2 ℓ / F².
"""

import math

import numpy as np
import numpy.typing as npt

from ohash.core.loss import PairStep
from ohash.engine.step_by_step import PairView
from ohash.models.online.oh import OH
from ohash.number_formats import percent
from ohash.plots.chart import Axis, Chart, Mark, Series
from ohash.plots.step_by_step import Stage, in_brackets, tex_number

POINTS, PAIRS, BITS = 60, 2000, 8  # of the two streams
CURVE_POINTS = 121


def separable_stream(
    wrong: float, seed: int = 0
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Points (x, y, 1) and pairs (i, j, s); a share `wrong` of the answers s is flipped.

    The points are two clouds of a class each, so that without wrong answers W with w = (1, 0, 0) in every column has
    R = 0 at every pair: similar ones agree in all bits, dissimilar ones in none.
    """
    rng = np.random.default_rng(seed)
    label = np.arange(POINTS) % 2
    places = rng.uniform(-0.4, 0.4, (POINTS, 2))
    places[:, 0] += 2 * label - 1
    i = rng.integers(0, POINTS, PAIRS)
    j = (i + rng.integers(1, POINTS, PAIRS)) % POINTS
    flipped = rng.random(PAIRS) < wrong
    s = np.where((label[i] == label[j]) != flipped, 1, -1)
    return np.c_[places, np.ones(POINTS)], i, j, s


def cumulative_loss(wrong: float, C: float) -> npt.NDArray[np.float64]:
    """ΣR of OH over the stream."""
    model = OH(r=BITS, beta=0.5, C=C, seed=0, center="none", dtype="float64")
    return np.cumsum(model.learn(*separable_stream(wrong)).R.ravel())


def theory(view: PairView, model: int, C: float | None = None) -> list[Stage]:
    """Three stages for a pair that updates this model; none for another. `C` is that of the counter-example."""
    step = view.steps[model]
    if not step.updated:
        return []
    C = first_C(step) if C is None else C
    return [_lemma(step, *view.W_norm2[model]), _theorem(step, C), _required(step)]


def _lemma(step: PairStep, before: float, after: float) -> Stage:
    n = tex_number
    left = step.tau * (2 * step.loss - step.tau * step.norm2)
    right = before - after + 2 * step.tau * step.sqrt_R
    digits = _common_digits(left, right)
    more = digits + 2  # so that whoever multiplies what is shown gets what is shown
    tau = n(step.tau, more)
    norms = digits + max(0, math.ceil(math.log10(max(before, 1e-9) / max(abs(right), 1e-9))))  # as many after the point
    look_equal = f"{left:.{digits}g}" == f"{right:.{digits}g}"
    sentence = (
        f"both are shown with {digits} digits."
        if look_equal
        else f"here the step is no larger than that, and they differ by {abs(left - right) / before:.1g} of ‖W‖²."
    )
    return Stage(
        "Lemma 1 is an equality",
        "At U = 0 both sides are the same number up to the rounding of W: the left one from the step, the right one "
        f"from the matrix before and after it; {sentence} Summed over the run, this is the certificate that Live "
        "draws under the cumulative loss.",
        (
            r"\tau (2 \ell - \tau F^2) = \lVert W \rVert^2 - \lVert W' \rVert^2 + 2 \tau \sqrt{R},"
            r"\qquad F^2 = \lVert x (g - h)^T \rVert_F^2",
            rf"{tau} \cdot (2 \cdot {n(step.loss, more)} - {tau} \cdot {n(step.norm2, more)}) = {n(left, digits)}",
            rf"{n(before, norms)} - {n(after, norms)} + 2 \cdot {tau} \cdot \sqrt{{{n(step.R)}}} "
            rf"= {n(right, digits)}",
            rf"\text{{left}} - \text{{right}} = {n(left - right, 2)}",
        ),
    )


def _common_digits(left: float, right: float) -> int:
    """The most digits, up to 6, with which two numbers that are equal up to rounding look equal; 6 if none do.

    >>> _common_digits(0.12344, 0.12346), _common_digits(0.1, 0.2)
    (3, 6)
    """
    return next((d for d in range(6, 2, -1) if f"{left:.{d}g}" == f"{right:.{d}g}"), 6)


def right_sides(step: PairStep, C: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The right side of Theorem 2 for the counter-example, as printed and with ℓ_U clipped at 0."""
    C = np.asarray(C, np.float64)
    F2, loss_U = step.norm2, step.loss - C * step.norm2
    distance2 = C**2 * F2
    return F2 * (distance2 + 2 * C * loss_U), F2 * (distance2 + 2 * C * np.maximum(0, loss_U))


def negative_from(step: PairStep) -> float:
    """The C at which the right side as printed turns negative, 2 ℓ / F²."""
    return 2 * step.loss / step.norm2


def first_C(step: PairStep) -> float:
    """The C that the counter-example begins with: the experiment's, but no larger than where ℓ_U is 0."""
    return min(step.C, 0.5 * negative_from(step))


def _theorem(step: PairStep, C: float) -> Stage:
    n, F2, loss_U = tex_number, step.norm2, step.loss - C * step.norm2
    loss_U = 0.0 if abs(loss_U) < 1e-12 * step.loss else loss_U
    printed, corrected = (float(side) for side in right_sides(step, C))
    holds = printed >= step.R
    verdict = (
        f"not below R = {step.R:g}"
        if holds
        else f"below R = {step.R:g}, and so false"
        if corrected >= step.R
        else f"below R = {step.R:g}, but the theorem promises nothing for so small a C"
    )
    return Stage(
        "Theorem 2 is false as printed",
        "It bounds ΣR for every U. Take this pair as the whole stream, and a U that fits it better the larger C is: "
        f"from C = {negative_from(step) / 2:.3g} on its loss is negative. At C = {C:.3g} the bound is {printed:.3g}, "
        f"{verdict}; with the loss clipped at 0 it is {corrected:.3g}.",
        (
            r"\textstyle\sum R \le F^2 \left( \lVert U - W \rVert^2 + 2 C \sum \ell_U \right),\quad "
            r"U = W + C\, x (g - h)^T",
            rf"\ell_U = \ell - C F^2 = {n(step.loss)} - {n(C)} \cdot {n(F2)} = {n(loss_U)}",
            rf"{n(F2)} \cdot ({n(C**2 * F2)} + 2 \cdot {n(C)} \cdot {in_brackets(loss_U, 4)}) = {n(printed)}"
            + (rf"\ \ge\ {n(step.R)} = R" if holds else rf"\ <\ {n(step.R)} = R"),
        ),
        chart=counter_example(step, C),
    )


def counter_example(step: PairStep, C: float | None = None) -> Chart:
    """Both right sides against C, R, which they should not fall below, and the C of the moment."""
    turn = negative_from(step)
    at = first_C(step) if C is None else C
    values = np.linspace(0, 1.25 * turn, CURVE_POINTS)
    printed, corrected = right_sides(step, values)
    title = f"As printed, the bound falls below 0 at C = {turn:.3g}"
    series = (
        Series("as printed", values, printed, role="wrong"),
        Series("with the loss clipped at 0", values, corrected, role="right", dash="dashed"),
    )
    marks = (
        Mark(step.R, f"R = {step.R:g}", axis="y", role="threshold"),
        Mark(at, f"C = {at:.3g}", role="cap"),
    )
    return Chart(title, Axis("C"), Axis("right side"), series, marks, alt=f"{title}. Two curves over C.")


def _required(step: PairStep) -> Stage:
    required = math.sqrt(step.R) / step.norm2
    enough = step.C >= required
    return Stage(
        "The C that the bound requires",
        "The bound needs C ≥ √R / F² at every update, where F² is the largest of the stream so far. Alone, this pair "
        f"requires {required:.3g}; C is {step.C:.3g}: "
        + ("enough." if enough else "too small, unless an earlier pair had a larger F².")
        + " On Live, the certificate says at how many of the updates it was enough.",
        (rf"\frac{{\sqrt{{R}}}}{{F^2}} = \frac{{\sqrt{{{tex_number(step.R)}}}}}{{{tex_number(step.norm2)}}} = "
         rf"{tex_number(required)}\qquad \text{{Eq. (25)}}",),
    )  # fmt: skip


def streams(wrong: float, C: float) -> Stage:
    """ΣR on a separable stream and on the same one with wrong answers, learnt now."""
    clean, noisy = cumulative_loss(0.0, C), cumulative_loss(wrong, C)
    last = int(np.flatnonzero(np.diff(clean, prepend=0.0))[-1]) + 1
    half = noisy[PAIRS // 2 - 1]
    sentence = (
        f"With {percent(wrong)} wrong answers no such W exists: the loss is {half:,.0f} after {PAIRS // 2:,} pairs and "
        f"{noisy[-1]:,.0f} after {PAIRS:,}; the bound grows with the stream, and so may the loss."
        if wrong
        else "Add wrong answers to see a stream without such a W."
    )
    return Stage(
        "Separable and non-separable streams",
        "If one U has no loss, with room to spare, at every pair, the second term of the bound is 0: where C "
        "is large enough, ΣR stays below a constant, however long the stream. Two clouds of points in the plane, "
        f"{BITS} bits, {PAIRS:,} pairs, learnt now with C = {C:g}: without wrong answers {_end(clean, last)} "
        f"{sentence}",
        (
            r"\textstyle\sum R \le F^2 \left( \lVert U - W^1 \rVert^2 + 2 C \sum \max(0, \ell_U) \right)"
            r"\qquad \text{Eq. (27), corrected}",
        ),
        chart=_two_streams(clean, noisy, wrong),
    )


def _is_level(loss: npt.NDArray[np.float64]) -> bool:
    """Whether the second half of a stream has no loss."""
    return bool(loss[-1] == loss[PAIRS // 2])


def _end(loss: npt.NDArray[np.float64], last: int) -> str:
    if _is_level(loss):
        return f"the last loss comes with pair {last:,}, at ΣR = {loss[-1]:,.0f}."
    return f"there is still a loss with pair {last:,}, and ΣR is {loss[-1]:,.0f} by then: this C is too small."


def _two_streams(clean: npt.NDArray[np.float64], noisy: npt.NDArray[np.float64], wrong: float) -> Chart:
    t = np.arange(1, PAIRS + 1)
    lines = [Series("separable", t, clean, role="right", label=f"separable {clean[-1]:,.0f}")]
    if wrong:
        share = percent(wrong)
        label = f"{share} wrong {noisy[-1]:,.0f}"
        lines.append(Series(f"{share} wrong answers", t, noisy, role="wrong", dash="dashed", label=label))
    title = (
        "Cumulative loss is level where a W without loss exists" + (", and climbs where none does" if wrong else "")
        if _is_level(clean)
        else "With so small a C the separable stream still has losses"
    )
    return Chart(title, Axis("pairs", format="count"), Axis("cumulative R", lo=0), tuple(lines), alt=f"{title}.")
