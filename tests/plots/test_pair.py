"""The stages of an update: the numbers in the equations are those of the step, and what is drawn is what happened."""

import re

import numpy as np
import pytest

from ohash.core.loss import explain
from ohash.engine.microscope import PairView
from ohash.plots.pair import code_strips, margins, stages, step_size

RNG = np.random.default_rng(4)
P_I, P_J = RNG.normal(size=12), RNG.normal(size=12)


def step(s=-1, C=0.1, p_i=P_I, p_j=P_J, **options):
    return explain(p_i, p_j, 1.5, 2.5, s, alpha=0, beta=0.75, C=C, **options)


def titles(*steps, model=0):
    view = PairView(0, 1, 2, steps[0].s, list(steps), list(steps), [(1.0, 1.0)] * len(steps))
    return [stage.title for stage in stages(view, model)]


ALL = ["Codes", "Similarity loss", "Which bits to flip", "Zero-loss codes", "Prediction loss", "Step size", "Update"]


@pytest.mark.parametrize("s", [1, -1])
def test_a_pair_with_a_loss_goes_through_all_stages(s):
    assert titles(step(s)) == ALL


def test_a_pair_without_loss_ends_with_it():
    far = step(p_i=np.ones(12), p_j=-np.ones(12))
    assert far.R == 0 and titles(far) == ALL[:2]


def test_zero_vectors_cannot_be_moved():
    still = explain(P_I, P_J, 0.0, 0.0, -1, alpha=0, beta=0.75, C=0.1)
    assert titles(still) == [*ALL[:5], "No step"]


@pytest.mark.parametrize(("least", "words"), [(0.0, "no model learns"), (2.0, "smaller loss, R = 2, so it learns")])
def test_a_model_that_does_not_learn_says_which_one_does(least, words):
    mine = step(1, selected=False)
    other = step(1, p_j=P_I) if least == 0 else step(1, p_j=np.where(np.arange(12) < 2, -P_I, P_I))
    assert other.R == least < mine.R
    view = PairView(0, 1, 2, 1, [mine, other], [mine, other], [(1.0, 1.0)] * 2)
    last = stages(view, 0)[-1]
    assert last.title == "No update" and words in last.text


def test_the_numbers_put_into_the_equations_give_the_result():
    one = step()
    tex = {stage.title: stage.tex for stage in stages(PairView(0, 1, 2, -1, [one], [one], [(1.0, 1.0)]), 0)}
    beta, r, D_h, R = (float(n) for n in re.search(
        r"\\max\(0,\\ ([\d.]+) \\cdot (\d+) - (\d+)\) = ([\d.]+)", tex["Similarity loss"][0]
    ).groups())  # fmt: skip
    assert beta * r - D_h == pytest.approx(R) and one.R == pytest.approx(R)
    H, G, R, loss = (float(n) for n in re.search(
        r"= ([-\d.]+) - \(?([-\d.]+)\)? \+ \\sqrt\{([\d.]+)\} = ([\d.]+)", tex["Prediction loss"][2]
    ).groups())  # fmt: skip
    assert H - G + R**0.5 == pytest.approx(loss, abs=2e-3)
    C, over, under, tau = (float(n) for n in re.search(
        r"\\min\\left\\\{([\d.]+),\\ \\frac\{([\d.]+)\}\{([\d.]+)\}\\right\\\} = ([\d.]+)", tex["Step size"][1]
    ).groups())  # fmt: skip
    assert min(C, over / under) == pytest.approx(tau, rel=1e-3)


def test_the_flipped_bits_have_the_smallest_margins():
    one = step()
    chart = margins(one)
    chosen = [y for series in chart.series if series.name != "not flipped" for y in series.y]
    left = [y for series in chart.series if series.name == "not flipped" for y in series.y]
    assert len(chosen) == one.p0 and max(chosen) <= min(left)
    assert sorted(np.concatenate([series.x for series in chart.series])) == list(range(1, len(one.flips.pool) + 1))


@pytest.mark.parametrize(("C", "words"), [(1e-3, "C is the smaller"), (1e3, "what the pair asks for is the smaller")])
def test_both_candidates_of_the_step_are_drawn(C, words):
    one = step(C=C)
    chart = step_size(one)
    assert words in chart.title
    assert [mark.at for mark in chart.marks] == [C, one.ratio]
    assert chart.series[0].x[-1] == one.tau == min(C, one.ratio)


def test_candidates_that_are_nearly_equal_are_told_apart():
    one = step(C=step(C=1e3).ratio * 0.9997)
    C, ratio = (float(mark.label.split("= ")[1]) for mark in step_size(one).marks)
    assert C < ratio


def test_a_strip_has_a_square_per_bit_and_a_frame_per_marked_one():
    code = np.array([1, -1, 1, 1])
    svg = code_strips({"a & b": code, "c": -code}, np.array([True, False, False, True]))
    assert svg.count("<rect") == 8 and svg.count("stroke=") == 4 and "a &amp; b" in svg
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', svg)]
    assert len(sizes) == 2 and min(sizes) >= 16, "a name is readable on stage"
    long = code_strips({"a": np.ones(200)}, np.zeros(200, bool))
    assert long.count("<rect") == 128 and "the first 128 of 200 bits" in long
