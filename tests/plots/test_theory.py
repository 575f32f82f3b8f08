"""Theory of one update: Lemma 1 is an equality of the numbers shown, and the counter-example is one."""

import math
import re

import numpy as np
import pytest

from ohash.engine.params import experiment
from ohash.engine.step_by_step import PairView, PairViewer
from ohash.plots import layout
from ohash.plots.theory import (
    PAIRS,
    counter_example,
    cumulative_loss,
    negative_from,
    right_sides,
    separable_stream,
    streams,
    theory,
)


def small(**values):
    return experiment("blobs2d", "oh", **{"r": 8, "kernel": "none", "pairs": 400, "C": 0.1, **values})


@pytest.fixture(scope="module")
def view() -> PairView:
    viewer = PairViewer(small(dtype="float64"))
    return viewer.view(viewer.find("update", 5))


def test_both_sides_of_lemma_1_are_the_same_number(view):
    tex = theory(view, 0)[0].tex
    left, right = (float(re.search(r"= (-?[\d.]+)$", line)[1]) for line in tex[1:3])
    assert left == pytest.approx(right, rel=1e-5)
    step = view.steps[0]
    before, after = view.W_norm2[0]
    assert step.tau * (2 * step.loss - step.tau * step.norm2) == pytest.approx(
        before - after + 2 * step.tau * step.sqrt_R, rel=1e-9
    )


def number(text):
    mantissa, _, exponent = text.partition(r"\cdot 10^{")
    return float(mantissa) * 10 ** int(exponent.removesuffix("}") or 0)


def test_where_the_rounding_of_w_is_as_large_as_the_step_lemma_1_says_by_how_much_its_sides_differ():
    viewer = PairViewer(experiment("digits", "oh", r=48, m=50, pairs=100))
    view = viewer.view(viewer.find("update", 5), C=1e-5)
    stage, before = theory(view, 0)[0], view.W_norm2[0][0]
    left, right = (number(line.rsplit("= ", 1)[1]) for line in stage.tex[1:3])
    share = float(re.search(r"differ by (\S+) of ‖W‖²", stage.text)[1])
    assert left != right and "digits" not in stage.text
    assert share == pytest.approx(abs(left - right) / before, rel=0.1) and share < 1e-6


def test_both_sides_of_lemma_1_look_the_same_and_their_difference_is_measured():
    """In float32 the sixth digit differs: what is shown has the digits that agree, and says how many they are."""
    viewer = PairViewer(experiment("digits", "oh", r=48, m=50, pairs=100))
    views = [view for t in range(60) if (view := viewer.view(t)).steps[0].updated]
    fewer = 0
    for view in views:
        stage, step = theory(view, 0)[0], view.steps[0]
        left, right = (line.rsplit("= ", 1)[1] for line in stage.tex[1:3])
        assert left == right
        digits = int(re.search(r"shown with (\d) digits", stage.text)[1])
        shown, result = stage.tex[1].split(" = ")
        factors = re.fullmatch(r"(.+) \\cdot \(2 \\cdot (.+) - \1 \\cdot (.+)\)", shown)
        tau, loss, norm2 = (number(text) for text in factors.groups())
        assert tau * (2 * loss - tau * norm2) == pytest.approx(number(result), rel=6 * 10.0**-digits), "as shown"
        exact = step.tau * (2 * step.loss - step.tau * step.norm2)
        before, after = view.W_norm2[0]
        assert digits >= 3 and number(left) == pytest.approx(exact, rel=0.6 * 10 ** (1 - digits))
        measured = exact - (before - after + 2 * step.tau * step.sqrt_R)
        assert number(stage.tex[3].rsplit("= ", 1)[1]) == pytest.approx(measured, rel=0.05)
        fewer += digits < 6
    assert len(views) > 10 and fewer > 0


@pytest.mark.parametrize(("share", "sign", "words"), [(1.0, r"\ge", "not below R"), (1.1, "<", "and so false")])
def test_the_counter_example_has_the_numbers_of_its_c(view, share, sign, words):
    step = view.steps[0]
    C = share * negative_from(step) if share > 1 else 0.5 * negative_from(step)
    stage = theory(view, 0, C)[1]
    assert words in stage.text and f"At C = {C:.3g}" in stage.text
    loss, C_shown, F2, loss_U = (
        float(n) for n in re.search(r"= ([\d.]+) - ([\d.]+) \\cdot ([\d.]+) = (-?[\d.]+)", stage.tex[1]).groups()
    )
    assert (loss, C_shown, F2) == pytest.approx((step.loss, C, step.norm2), rel=1e-3)
    assert loss_U == pytest.approx(step.loss - C * step.norm2, rel=1e-3)
    result, relation = re.search(r"= (-?[\d.]+)\\ (\S+)\\ ", stage.tex[2]).groups()
    assert float(result) == pytest.approx(float(right_sides(step, C)[0]), rel=1e-3) and relation == sign
    assert stage.chart.marks[1].at == C, "the mark moves with C"


def test_the_right_sides_are_those_of_the_literal_u(view):
    """U = W + C D, ℓ_U = ℓ - C ‖D‖²; written with vectors."""
    step = view.steps[0]
    D = np.full(4, math.sqrt(step.norm2 / 4))  # any direction of this length
    for C in (0.01, 1.0, 30.0):
        U_minus_W = C * D
        loss_U = step.loss - float(U_minus_W @ D)
        printed = step.norm2 * (float(U_minus_W @ U_minus_W) + 2 * C * loss_U)
        corrected = step.norm2 * (float(U_minus_W @ U_minus_W) + 2 * C * max(0.0, loss_U))
        assert [float(side) for side in right_sides(step, C)] == pytest.approx([printed, corrected])


def test_the_bound_as_printed_falls_below_the_loss_and_the_corrected_one_does_not(view):
    step = view.steps[0]
    chart = counter_example(step)
    printed, corrected = (series.y for series in chart.series)
    C = chart.series[0].x
    enough = math.sqrt(step.R) / step.norm2 <= C  # what the theorem asks of C
    assert printed[-1] < 0 < step.R
    assert (corrected[enough] >= step.R * (1 - 1e-9)).all()


def test_the_required_c_is_compared_with_the_experiments(view):
    stage_text = theory(view, 0)[2].text
    step = view.steps[0]
    assert (": enough." in stage_text) == (math.sqrt(step.R) / step.norm2 <= step.C)


def test_a_pair_is_not_said_to_break_a_bound_that_the_run_keeps():
    """F² of the bound is the largest so far: Live may count a C as enough that is too small for a pair alone."""
    viewer = PairViewer(small(C=0.1, dtype="float64"))
    views = [view for t in range(60) if (view := viewer.view(t)).steps[0].updated]
    F2, kept = 0.0, []
    for view in views:
        step = view.steps[0]
        F2 = max(F2, step.norm2)
        if math.sqrt(step.R) / F2 <= step.C < math.sqrt(step.R) / step.norm2:
            kept.append(theory(view, 0)[2].text)
    assert kept and all("unless an earlier pair had a larger F²" in stage_text for stage_text in kept)
    tiny = PairViewer(small(C=1e-6))
    assert "too small" in theory(tiny.view(tiny.find("update", 5)), 0)[2].text


def test_a_pair_without_update_has_no_theory():
    viewer = PairViewer(small())
    quiet = next(view for t in range(100) if not (view := viewer.view(t)).steps[0].updated)
    assert theory(quiet, 0) == []


def test_one_stream_is_separable_and_the_other_is_not():
    X, i, j, s = separable_stream(0.0)
    side = X[:, 0] >= 0  # w = (1, 0, 0): all bits agree, or none
    assert ((side[i] == side[j]) == (s == 1)).all()
    assert (separable_stream(0.2)[3] != s).mean() == pytest.approx(0.2, abs=0.03)
    for C in (0.1, 1.0, 10.0):
        clean, noisy = cumulative_loss(0.0, C), cumulative_loss(0.1, C)
        assert clean[-1] == clean[PAIRS // 2] and noisy[-1] > 1.5 * noisy[PAIRS // 2] > 3 * clean[-1]


def test_the_words_about_streams_are_true_of_their_numbers():
    for wrong, C in ((0.0, 0.1), (0.05, 0.1), (0.3, 0.001)):
        clean = cumulative_loss(0.0, C)
        stage_text = streams(wrong, C)
        end = "the last loss comes" if clean[PAIRS // 2] == clean[-1] else "there is still a loss"
        last = int(re.search(rf"{end} with pair ([\d,]+)", stage_text.text)[1].replace(",", ""))
        assert clean[last - 1] == clean[-1] > clean[last - 2]
        assert ("is level" in stage_text.chart.title) == (clean[PAIRS // 2] == clean[-1]) == (C > 0.001)
        assert len(stage_text.chart.series) == (2 if wrong else 1)
        assert (f"{cumulative_loss(wrong, C)[-1]:,.0f} after" in stage_text.text) == bool(wrong)


def test_the_name_of_r_stands_where_no_line_of_c_reaches_it(view):
    step = view.steps[0]
    for share in (0.0, 0.5, 1.0, 1.25):
        chart = counter_example(step, share * negative_from(step))
        R = next(mark for mark in chart.marks if mark.axis == "y")
        assert [label.of for label in layout.labels(chart, 300, 150, 8)] == [R], "beside the plot, not in it"
