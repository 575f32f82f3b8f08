"""The stages of an update: the numbers in the equations are those of the step, and what is drawn is what happened."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ohash.core.loss import explain
from ohash.engine.step_by_step import PairView
from ohash.plots.code_strips import code_strips, drawn_width
from ohash.plots.renderers.svg import to_svg
from ohash.plots.step_by_step import loss_by_distance, margins, parts_of_loss, stages, step_size

RNG = np.random.default_rng(4)
P_I, P_J = RNG.normal(size=12), RNG.normal(size=12)


def step(s=-1, C=0.1, p_i=P_I, p_j=P_J, **options):
    return explain(p_i, p_j, 1.5, 2.5, s, alpha=0, beta=0.75, C=C, **options)


def view_of(*steps):
    W = np.ones((3, 12)), np.full((3, 12), 2.0)
    return PairView(0, 1, 2, steps[0].s, list(steps), [W] * len(steps), 1, [one.R_after for one in steps])


def titles(*steps, model=0):
    return [stage.title for stage in stages(view_of(*steps), model)]


ALL = ["Codes", "Similarity loss", "Which bits to flip", "Zero-loss codes", "Prediction loss", "Step size", "Update"]


@pytest.mark.parametrize("s", [1, -1])
def test_a_pair_with_a_loss_goes_through_all_stages(s):
    assert titles(step(s)) == ALL


def test_a_pair_without_loss_ends_with_it():
    far = step(p_i=np.ones(12), p_j=-np.ones(12))
    assert far.R == 0 and titles(far) == ALL[:2]


def test_what_an_experiment_does_otherwise_than_the_paper_is_said():
    one = step(largest=True)
    texts = {stage.title: stage.text for stage in stages(view_of(one), 0)}
    assert texts["Which bits to flip"].endswith("the smallest margin δ, and this experiment those with the largest.")
    chosen = set(one.flips.bits.tolist())
    delta = dict(zip(one.flips.pool.tolist(), one.flips.delta, strict=True))
    assert min(delta[bit] for bit in chosen) > max(delta[bit] for bit in set(delta) - chosen)
    thrice = replace(view_of(replace(step(), R_after=2.0)), rounds=3, left=[0.0])
    assert stages(thrice, 0)[-1].text.endswith(
        "the first of up to 3 steps for this pair; after the last one its loss is gone."
    )
    assert "up to" not in stages(view_of(replace(step(), R_after=2.0)), 0)[-1].text


def test_zero_vectors_cannot_be_moved():
    still = explain(P_I, P_J, 0.0, 0.0, -1, alpha=0, beta=0.75, C=0.1)
    assert titles(still) == [*ALL[:5], "No step"]


@pytest.mark.parametrize(("least", "words"), [(0.0, "no model learns"), (2.0, "smaller loss, R = 2, so it learns")])
def test_a_model_that_does_not_learn_says_which_one_does(least, words):
    mine = step(1, selected=False)
    other = step(1, p_j=P_I) if least == 0 else step(1, p_j=np.where(np.arange(12) < 2, -P_I, P_I))
    assert other.R == least < mine.R
    last = stages(view_of(mine, other), 0)[-1]
    assert last.title == "No update" and words in last.text


def test_the_numbers_put_into_the_equations_give_the_result():
    one = step()
    tex = {stage.title: stage.tex for stage in stages(view_of(one), 0)}
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


@pytest.mark.parametrize("s", [1, -1])
def test_every_stage_has_a_picture_to_export(s):
    for stage in stages(view_of(step(s)), 0):
        assert "<svg" in (stage.strips or to_svg(stage.chart)), stage.title


@pytest.mark.parametrize("s", [1, -1])
def test_the_loss_is_drawn_over_the_distance_with_this_pair_on_it(s):
    one = step(s)
    line, pair = loss_by_distance(one).series
    assert (*pair.x, *pair.y) == (one.D_h, one.R) and one.R > 0
    assert np.interp(one.D_h, line.x, line.y) == pytest.approx(one.R)
    assert line.y[0] == (0 if s == 1 else 9) and line.y[-1] == (12 if s == 1 else 0), "βr is 9 of 12 bits"


def test_a_pair_without_loss_is_a_whole_point_on_the_axis_and_a_point_in_the_legend():
    drawing = to_svg(loss_by_distance(step(p_i=np.ones(12), p_j=-np.ones(12))), size=20, heading=False)
    inside = drawing[drawing.index("<g clip-path") :].partition("\n</g>")[0]
    assert drawing.count("<circle") == 2 and "<circle" not in inside
    radii = [float(radius) for radius in re.findall(r'<circle[^>]* r="([^"]*)"', drawing)]
    assert all(4 < radius < 7 for radius in radii), "as large as the letters of a stage ask for"


@pytest.mark.parametrize("s", [1, -1])
def test_the_parts_of_the_prediction_loss_add_up(s):
    one = step(s)
    fit, root, total = parts_of_loss(one).series[0].y
    assert fit >= 0 and root == pytest.approx(one.R**0.5) and fit + root == pytest.approx(total) == one.loss


def test_the_flipped_bits_have_the_smallest_margins():
    one = step()
    chart = margins(one)
    chosen = [y for series in chart.series if series.name != "not flipped" for y in series.y]
    left = [y for series in chart.series if series.name == "not flipped" for y in series.y]
    assert len(chosen) == one.p0 and max(chosen) <= min(left)
    assert sorted(np.concatenate([series.x for series in chart.series])) == list(range(1, len(one.flips.pool) + 1))


@pytest.mark.parametrize("s", [1, -1])
def test_every_bar_names_its_bit_and_no_two_overlap(s):
    one = step(s)
    chart = margins(one)
    delta = dict(zip(one.flips.pool.tolist(), one.flips.delta.tolist(), strict=True))
    assert [delta[int(name) - 1] for name in chart.x.names] == sorted(delta.values())
    assert len(chart.series) > 1, "each had bars of a width of its own"
    bars = [bar for path in re.findall(r'<path d="([^"]+)" fill="#', to_svg(chart)) for bar in path.split("M")[1:]]
    ends = sorted((float(bar.split()[0]), float(bar.split("L")[-1].split()[0])) for bar in bars)
    assert len(ends) == len(delta)
    assert len({round(right - left, 1) for left, right in ends}) == 1, "all are equally wide"
    assert all(right < left for (_, right), (left, _) in pairwise(ends))


def test_of_many_bits_some_are_named():
    many = explain(RNG.normal(size=200), RNG.normal(size=200), 1.5, 2.5, -1, alpha=0, beta=0.75, C=0.1)
    axis = margins(many).x
    assert 12 < len(axis.names) <= 24 and axis.label.startswith("some bits")


@pytest.mark.parametrize(("bits", "width"), [(8, 272), (16, 448), (48, 760), (200, 760)])
def test_strips_are_as_wide_as_their_bits_and_number_them(bits, width):
    h = np.ones(bits, np.int8)
    svg = code_strips({"hᵢ": h, "hⱼ": h}, h > 0)
    assert drawn_width(svg) == pytest.approx(width)
    numbers = [int(number) for number in re.findall(r">(\d+)</text>", svg)]
    assert numbers == (list(range(1, bits + 1)) if bits <= 16 else list(range(8, min(bits, 128) + 1, 8)))


@pytest.mark.parametrize(
    ("bits", "lines", "numbered"), [(8, 1, 8), (16, 1, 16), (48, 3, 48), (128, 8, 16), (200, 8, 16)]
)
def test_narrow_strips_wrap_and_have_every_bit_once(bits, lines, numbered):
    h = np.where(np.arange(bits) % 3, 1, -1)
    rows = {"hᵢ before": h, "hᵢ after": h}
    svg = code_strips(rows, h < 0, narrow=True)
    wide = code_strips(rows, h < 0)
    assert drawn_width(svg) <= 424 and svg.count("<rect") == wide.count("<rect")
    assert svg.count(" stroke=") == wide.count(" stroke=") and svg.count("hᵢ after</text>") == lines
    numbers = [int(number) for number in re.findall(r">(\d+)</text>", svg)]
    assert len(numbers) == numbered and numbers[-1] == min(bits, 128)
    ends = [float(x) + float(width) for x, width in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', svg)]
    assert max(ends) < drawn_width(svg)


def test_narrow_cards_stand_below_each_other():
    first = stages(view_of(step(), step()), 0)[0]
    frames = re.findall(r'<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)" height="\d+" rx="6"', first.narrow_strips)
    assert len(frames) == 2 and len({x for x, _, _ in frames}) == 1 and len({y for _, y, _ in frames}) == 2
    assert drawn_width(first.narrow_strips) == 424


@pytest.mark.parametrize(("C", "words"), [(1e-3, "C is the smaller"), (1e3, "the uncapped step is the smaller")])
def test_both_candidates_of_the_step_are_drawn(C, words):
    one = step(C=C)
    chart = step_size(one)
    assert words in chart.title
    assert [mark.at for mark in chart.marks] == [C, one.ratio]
    assert chart.series[0].x[-1] == one.tau == min(C, one.ratio)
    assert max(mark.at for mark in chart.marks) < 0.65 * chart.x.hi, "the buttons of the chart cover no label"


def test_candidates_that_are_nearly_equal_are_told_apart():
    one = step(C=step(C=1e3).ratio * 0.9997)
    C, ratio = (float(mark.label.split("= ")[1]) for mark in step_size(one).marks)
    assert C < ratio


def test_a_strip_has_a_square_per_bit_and_a_frame_per_marked_one():
    code = np.array([1, -1, 1, 1])
    svg = code_strips({"a & b": code, "c": -code}, np.array([True, False, False, True]))
    assert svg.count("<rect") == 8 and svg.count("stroke=") == 4 and "a &amp; b" in svg
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', svg)]
    assert len(sizes) == 2 + 4 and min(sizes) >= 16, "names and numbers of bits are readable on stage"
    long = code_strips({"a": np.ones(200)}, np.zeros(200, bool))
    assert long.count("<rect") == 128 and "the first 128 of 200 bits" in long


def test_the_models_stand_side_by_side_and_the_chosen_one_is_marked():
    far, near = step(1, selected=False), step(1, p_j=np.where(np.arange(12) < 2, -P_I, P_I))
    first = stages(view_of(far, near), 1)[0]
    assert first.title == "Models" and "Model 2 is chosen" in first.text
    assert rf"\{{{far.R:g},\ 2\}} = 2" in first.tex[0]
    for m, one in enumerate((far, near), start=1):
        assert f"Model {m}: " in first.strips and f"Dₕ = {one.D_h}, R = {one.R:g}" in first.strips
    assert "Model 1: not chosen" in first.strips and "Model 2: learns" in first.strips
    assert len(re.findall(r'fill="(?!none)[^"]*"[^>]*/>', first.strips)) == 2 * 2 * 12, "two codes of each"
    assert first.strips.count('stroke-width="4"') == 1, "one chosen"
    assert far.R > near.R and "Model 2 has a smaller loss" in stages(view_of(far, near), 0)[-1].text
    level = view_of(near, step(1, p_j=np.where(np.arange(12) < 2, -P_I, P_I), selected=False))
    assert "Model 1 is chosen, the first of 2 with this loss." in stages(level, 0)[0].text
    assert "Model 1 has the same loss and comes first, R = 2" in stages(level, 1)[-1].text
    none = stages(view_of(far, step(1, p_j=P_I)), 1)[0]
    assert "none learns" in none.text and "Model 2: no loss" in none.strips
    both = stages(view_of(step(), step()), 0)[0]
    assert r"\{1,\ 2\}" in both.tex[0] and both.strips.count('stroke-width="4"') == 2
    assert titles(step())[0] == "Codes", "one model stands beside none"


def test_every_vector_has_the_numbers_of_the_bits_concerned():
    """δ, W, H and G, which are vectors or sums of products, with numbers that give the result."""
    rng = np.random.default_rng(7)
    before = rng.normal(size=(5, 12))
    x_i, x_j = rng.normal(size=5), rng.normal(size=5)
    one = explain(before.T @ x_i, before.T @ x_j, x_i @ x_i, x_j @ x_j, -1, alpha=0, beta=0.75, C=0.1)
    W = before + one.tau * (np.outer(x_i, one.g_i - one.h_i) + np.outer(x_j, one.g_j - one.h_j))
    texts = {stage.title: stage.tex for stage in stages(PairView(0, 1, 2, -1, [one], [(before, W)], 1, [0.0]), 0)}
    numbers = lambda text: [float(n) for n in re.findall(r"-?\d+\.?\d*", text)]  # noqa: E731

    k, a, b, delta = numbers(texts["Which bits to flip"][2].split(",\\quad")[0])
    k = int(k) - 1
    assert k in one.flips.bits and delta == pytest.approx(min(abs(a), abs(b)), rel=1e-9)
    assert (a, b) == pytest.approx((abs(one.p_i[k]), abs(one.p_j[k])), rel=6e-3)
    assert delta == pytest.approx(one.flips.delta.min(), rel=6e-3)

    for line, total in ((texts["Prediction loss"][0], one.H), (texts["Prediction loss"][1], one.G)):
        first, second, shown = numbers(line.split("x_j =")[1].split("\\qquad")[0].replace("(", "").replace(")", ""))
        assert first + second == pytest.approx(shown, abs=1e-4) and shown == pytest.approx(total, abs=1e-4)

    moved, result = texts["Update"][1:3]
    norms = result.split("\\qquad")[1]
    old, shift, new = (numbers(part) for part in re.findall(r" \(([^)]*)\\ldots\)", f"{moved} {result}"))
    sign, side = re.search(r"([+-]) 2 \\tau x_([ij])", moved).groups()
    x = (x_i if side == "i" else x_j)[:2]
    assert old == pytest.approx(before[:2, k], rel=1e-4) and new == pytest.approx(W[:2, k], rel=1e-4)
    assert shift == pytest.approx(float(f"{sign}2") * one.tau * x, rel=6e-3)
    assert np.array(old) + shift == pytest.approx(new, abs=1e-3) and old != new, "one sees it move"
    assert numbers(norms)[1:] == pytest.approx([np.linalg.norm(before[:, k]), np.linalg.norm(W[:, k])], rel=6e-4)
    assert numbers(norms)[1] != numbers(norms)[2], "as many digits as it takes to see it move"

    h = numbers(texts["Codes"][0].split("= (")[1])
    assert h[:3] == one.h_i[:3].tolist()
    assert r"\max(0,\ 0.75 \cdot 12 - 9) = 0" in texts["Zero-loss codes"][0]
