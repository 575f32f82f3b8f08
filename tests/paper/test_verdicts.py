"""Verdicts follow from intervals, and say when they cannot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ohash.engine.history import LogBins
from ohash.evaluation.significance import ENOUGH_SEEDS, few_seeds_margin
from ohash.paper import cost_claims
from ohash.paper import settings as data
from ohash.paper.claims import CLAIMS
from ohash.paper.findings import Finding, judge_claim
from ohash.paper.protocol import FULL, QUICK
from ohash.paper.tables import claims_table
from ohash.paper.verdicts import (
    Effect,
    Part,
    _widening,
    about,
    above,
    all_of,
    below,
    difference,
    equal,
    range_over_seeds,
    ratio,
    share,
    spread_ratio,
    within,
)
from ohash.plots.paper_report import claims_html
from tests.paper.fake_measurements import FakeMeasurements, claim

numbers = st.floats(-1, 1)
effects = st.tuples(numbers, numbers, numbers).map(sorted).map(lambda ends: Effect(ends[1], ends[0], ends[2]))


@given(effects, numbers)
def test_a_verdict_needs_the_whole_interval_on_one_side(effect, than):
    assert (above(effect, than) == "holds") == (effect.low > than)
    assert (above(effect, than) == "does not hold") == (effect.high <= than)
    assert (below(effect, than) == "holds") == (effect.high < than)
    assert not above(effect, than) == below(effect, than) == "holds"


@given(effects)
def test_equal_and_within(effect):
    assert equal(effect) == within(effect, -0.03, 0.03)
    assert (equal(effect) == "holds") == (max(abs(effect.low), abs(effect.high)) < 0.03)
    if effect.low >= 0.03:
        assert equal(effect) == "does not hold"


def test_one_failure_is_enough():
    assert all_of(["holds", "holds"]) == "holds"
    assert all_of(["holds", "cannot tell"]) == "cannot tell"
    assert all_of(["holds", "cannot tell", "does not hold"]) == "does not hold"
    assert all_of([]) == "cannot tell"


def test_one_seed_swings_and_several_speak_for_themselves():
    rng = np.random.default_rng(0)
    a = [rng.uniform(0.5, 0.6, 300) for _ in range(5)]
    b = [one - 0.1 - 0.001 * at for at, one in enumerate(a)]
    alone = difference(a[:1], b[:1])
    assert alone.value == pytest.approx(0.1) and alone.low == pytest.approx(0.1 - few_seeds_margin(1))
    several = difference(a, b)
    assert several.value == pytest.approx(0.102) and 0.095 < several.low < 0.102 < several.high < 0.11
    noisy = difference(a, [one + shift for one, shift in zip(a, (-0.2, 0.2, -0.1, 0.15, 0.05), strict=True)])
    assert above(noisy) == "cannot tell", "seeds disagree, however many queries there are"
    assert ratio([2.0], [1.0]).low < 2 < ratio([2.0], [1.0]).high


@given(st.lists(st.floats(0, 1), min_size=1, max_size=2))
def test_a_share_of_few_seeds_decides_only_far_from_the_border(values):
    part = share(values)
    assert 0 <= part.low < part.high <= 1 and "± 10 points assumed" in part.interval
    far = min(values) > 0.6 + 1e-9 or max(values) < 0.4 - 1e-9
    if far:
        assert above(part, 0.5) != "cannot tell"
    elif 0.401 < min(values) and max(values) < 0.599:
        assert above(part, 0.5) == "cannot tell"


def test_every_interval_says_what_it_is():
    a = [np.linspace(0.4, 0.6, 50)] * 3
    assert difference(a[:1], a[:1]).interval.endswith("for one seed") and "t over 3 seeds" in difference(a, a).interval
    assert "which all 3 seeds share" in difference(a, a, same_queries=True).interval
    assert ratio([2.0], [1.0]).interval == "one run, timings ± 20 % assumed"
    assert ratio([2.0, 2.2, 2.1], [1.0] * 3).interval == share([0.1, 0.2, 0.3]).interval == "range of 3 seeds"
    assert range_over_seeds([2.0], 0.02, "taken to ± 0.02", "x").interval == "one run, taken to ± 0.02"
    assert str(share([0.25, 0.25, 0.25])) == "25 %", "what has no width is no interval"
    part = Part("Digits", "OH", ratio([2.0], [1.0]), "holds")
    finding = Finding(claim("T-labels"), "holds", (part,))
    assert part.effect.interval in claims_html([finding]) and part.effect.interval in claims_table([finding]).rows[0]
    assert "95 %" not in claims_html([finding])
    both = Finding(claim("T-labels"), "holds", (part, part))
    assert claims_html([both]).count(part.effect.interval) == 1, "what is so of all parts is said once"
    mixed = Finding(claim("T-labels"), "holds", (part, Part("Digits", "OH", share([0.3]), "holds")))
    assert all(one.effect.interval in claims_html([mixed]) for one in mixed.parts)


@pytest.mark.parametrize(("shares", "expected"), [
    ((0.49, 0.9, 0.9), "cannot tell"), ((0.9, 0.9, 0.9), "holds"), ((0.9, 0.3, 0.9), "does not hold"),
])  # fmt: skip
def test_steps_below_the_cap_are_counted_at_every_c_from_a_tenth_on(shares, expected):
    edges = LogBins.edges()
    totals = {}
    for C, below_cap in zip((0.1, 1.0, 10.0), shares, strict=True):
        counts = np.zeros(LogBins.count)
        at = int(np.searchsorted(edges, C * 0.999))
        counts[at - 1], counts[at] = 100 * below_cap, 100 * (1 - below_cap)
        totals[C] = {"totals/ratio": counts}

    class Counted(FakeMeasurements):
        def seeds(self, figure, setting, method, x):
            return [x]

        def arrays(self, seed):
            return totals[seed]

    finding = judge_claim(claim("tau"), Counted({}), [data.EMBEDDED[0]])
    assert finding.verdict == expected and [part.effect.value for part in finding.parts] == pytest.approx(shares)


@pytest.mark.parametrize(("times", "expected"), [
    ((1.0, 1.1, 1.05), "holds"), ((1.5, 1.5, 1.6), "does not hold"), ((1.4,), "cannot tell"), ((1.6,), "does not hold"),
    ((1.1, 1.2, 1.4), "cannot tell"),
])  # fmt: skip
def test_flat_in_r_is_an_equivalence_with_a_stated_margin(monkeypatch, times, expected):
    few = [1.0] * len(times)
    monkeypatch.setattr(
        cost_claims, "seconds_per_pair", lambda m, s, method, r: few if r == QUICK.timed_bits[1] else times
    )
    finding = judge_claim(claim("time-lego-flat"), FakeMeasurements({}), [data.EMBEDDED[0]])
    assert finding.verdict == expected and f"{cost_claims.FLAT:g}" in finding.claim.test


@pytest.mark.parametrize(
    ("times", "expected"),
    [((2.0, 2.2, 1.8), "holds"), ((31.0, 30.0, 33.0), "does not hold"), ((0.4, 0.5, 0.45), "does not hold")],
)
def test_a_ratio_of_the_paper_is_judged_as_a_ratio(times, expected):
    assert about(ratio(times, (1.0, 1.0, 1.0)), 2.0) == expected
    osh = next(one for one in CLAIMS if one.key == "time-osh")
    assert "more than" not in osh.text and "within a factor of 2" in osh.test


def test_what_cannot_be_told_says_why_by_the_number_of_seeds():
    rng = np.random.default_rng(0)
    a = [rng.uniform(0.4, 0.6, 200) for _ in range(4)]
    b = [one + shift for one, shift in zip(a, (0.01, -0.01, 0.2, -0.2), strict=True)]

    def found(seeds):
        effect = difference(a[:seeds], b[:seeds])
        part = Part("Digits", "T = 4 minus T = 1", effect, above(effect))
        return Finding(claim("T-labels"), part.verdict, (part, part))

    assert found(1).reason == f"one seed is too few: the full profile has {FULL.seeds}"
    assert found(2).reason.startswith("2 seeds are too few")
    assert found(4).verdict == "cannot tell" and found(4).reason == "the interval of 4 seeds still lies on both sides"
    assert found(1).reason in claims_table([found(1)]).rows[0][2] and found(1).reason in claims_html([found(1)])
    clear = Part("Digits", "", Effect(0.1, 0.05, 0.2, seeds=1), "holds")
    assert Finding(claim("T-labels"), "holds", (clear,)).reason == ""


@pytest.mark.parametrize("seeds", [1, 2, 3, 5, 9])
def test_quantiles_are_those_of_the_distributions(seeds):
    for level in (0.5, 0.95, 0.999):
        quantile = (1 + level) / 2
        exact = stats.t.ppf(quantile, seeds - 1) if seeds >= ENOUGH_SEEDS else stats.norm.ppf(quantile)
        assert _widening(seeds, level) == exact
    a, b = np.linspace(0, 1, max(3, seeds)), np.linspace(0, 0.5, 4)
    effect = spread_ratio(a, b)
    assert effect.low == effect.value / stats.f.ppf(0.975, len(a) - 1, 3) ** 0.5
    assert effect.high == effect.value / stats.f.ppf(0.025, len(a) - 1, 3) ** 0.5
