"""Intervals over queries and seeds: they cover simulated effects, and real seeds vary no more than they allow."""

import numpy as np
import pytest

from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.evaluation.significance import (
    ENOUGH_QUERIES,
    SEED_SPREADS,
    SHOWN,
    difference_over_seeds,
    few_seeds_margin,
    half_width,
    paired_bootstrap,
    score_half_width,
)
from ohash.streams.dataset import Dataset
from ohash.streams.registry import load_by_key

QUERIES = 200


def simulated(rng, seeds, effect, seed_spread, query_spread=0.25):
    """Average precisions of two methods: the effect, a deviation per seed, and noise per query."""
    b = [rng.uniform(0, 1, QUERIES) for _ in range(seeds)]
    a = [one + effect + rng.normal(0, seed_spread) + rng.normal(0, query_spread, QUERIES) for one in b]
    return a, b


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 2, 3, 5])
@pytest.mark.parametrize("seed_spread", [0.0, SEED_SPREADS["map"]])
def test_intervals_cover_simulated_effects(seeds, seed_spread):
    rng, trials = np.random.default_rng([seeds, int(1000 * seed_spread)]), 300
    covered = 0
    for _ in range(trials):
        interval = difference_over_seeds(*simulated(rng, seeds, 0.03, seed_spread), resamples=300)
        covered += interval.low <= 0.03 <= interval.high
    assert covered / trials >= 0.93  # nominally 0.95; two standard errors of 300 trials are 0.025


def simulated_on_the_same_queries(rng, seeds, effect, seed_spread, query_spread=0.2):
    """As `simulated`, but most of what differs between queries is the same for all seeds; each asks all of them."""
    hardness = rng.normal(0, query_spread, QUERIES)
    a = [effect + hardness + rng.normal(0, seed_spread) + rng.normal(0, 0.1, QUERIES) for _ in range(seeds)]
    return a, [np.zeros(QUERIES) for _ in range(seeds)]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 2, 3, 5])
@pytest.mark.parametrize("seed_spread", [0.0, 0.01, SEED_SPREADS["map"]])
def test_intervals_cover_simulated_effects_on_the_queries_that_all_seeds_share(seeds, seed_spread):
    rng, trials = np.random.default_rng([seeds, int(1000 * seed_spread)]), 300
    covered = 0
    for _ in range(trials):
        a, b = simulated_on_the_same_queries(rng, seeds, 0.03, seed_spread)
        interval = difference_over_seeds(a, b, same_queries=True)
        covered += interval.low <= 0.03 <= interval.high
    assert covered / trials >= 0.93  # as above


@pytest.mark.parametrize("seeds", [3, 5])
def test_more_seeds_are_no_more_queries_where_all_share_them(seeds):
    hardness = np.random.default_rng(0).normal(0.03, 0.2, QUERIES)
    hardness[:3] = np.nan
    a, b = [hardness] * seeds, [np.zeros(QUERIES)] * seeds
    once, apart = paired_bootstrap(hardness, b[0]), difference_over_seeds(a, b)
    assert difference_over_seeds(a, b, same_queries=True) == pytest.approx(once)
    assert apart.high - apart.low < 0.7 * (once.high - once.low)


@pytest.mark.parametrize("queries", [2, 3, 5, 10, 29])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.97])
def test_intervals_of_few_queries_cover_the_share_of_those_that_are_right(queries, share):
    rng, trials = np.random.default_rng(queries), 2000
    right = (rng.uniform(size=(trials, queries)) < share).astype(float)
    halves = np.array([score_half_width(one) for one in right])
    assert (np.abs(right.mean(axis=1) - share) <= halves).mean() >= 0.93
    assert halves.min() > 0, "three queries that are all right may be luck"


def test_equal_scores_of_many_queries_do_not_make_sure():
    half = score_half_width(np.ones(100))
    assert 0.03 < half < 0.04 and (1 - half) ** 100 == pytest.approx(0.025)


@pytest.mark.parametrize("queries", [12, 100])
def test_no_scores_make_surer_of_1_than_scores_that_are_all_1(queries):
    best = 1 - score_half_width(np.ones(queries))
    ends = []
    for missed in (0.0, 1e-4, 1e-3, 0.01, 0.03):
        scores = np.r_[np.ones(queries - 1), 1 - missed]
        ends.append(scores.mean() - score_half_width(scores))
    assert max(ends) <= best + 1e-9 and min(ends[:4]) > best - 0.01, "and no step where the first query misses a little"


@pytest.mark.parametrize("queries", [12, 100, 1000])
def test_the_end_of_an_interval_near_1_takes_no_step_up_while_scores_fall(queries):
    rng, ends = np.random.default_rng(queries), []
    down = rng.exponential(1.0, queries)
    for size in np.geomspace(1e-5, 0.3, 60):
        scores = np.maximum(0, 1 - size * down / down.max())
        ends.append(scores.mean() - score_half_width(scores))
    assert max(np.diff(ends)) < SHOWN and min(np.diff(ends)) > -0.05, "neither up nor a leap down"


def test_enough_queries_have_the_normal_interval():
    scores = np.random.default_rng(0).uniform(size=ENOUGH_QUERIES)
    assert score_half_width(scores) == half_width(scores) == pytest.approx(1.96 * scores.std(ddof=1) / 30**0.5)


def clicks(key):
    """Two clicks per point, on other points of its track or class."""
    data, rng = load_by_key(key), np.random.default_rng(0)
    groups = data.labels if data.tracks is None else data.tracks
    pairs = [(row, other) for row, group in enumerate(groups)
             for other in rng.choice(np.flatnonzero(groups == group), 2) if other != row]  # fmt: skip
    return Dataset.from_arrays(data.X, pairs=np.array(pairs), kernel="rbf")


def spreads_over_seeds(data, other, names):
    """The standard deviation over six seeds of OH's scores minus those of another method."""
    gains = []
    for seed in range(6):
        scores = []
        for key in ("oh", other):
            params = experiment(data, key, seed=seed, pairs=5_000, judged_at="ends", r=32)
            run = Run(params, None if isinstance(data, str) else data)
            while not run.done:
                run.step(5_000)
            scores.append(np.array([run.checkpoints.scores[name][-1] for name in names]))
        gains.append(scores[0] - scores[1])
    return np.std(gains, axis=0, ddof=1)


@pytest.mark.slow
@pytest.mark.parametrize(("names", "cases"), [
    (("map", "recall_10"), [("fashion", "itq"), ("patches", "itq"), ("digits", "lsh")]),
    (("hit_10",), [(clicks, "patches", "itq"), (clicks, "digits", "lsh")]),
], ids=("labels", "clicks"))  # fmt: skip
def test_real_seeds_vary_no_more_than_few_seeds_are_allowed_for(names, cases):
    """Differences between two methods over six seeds, on data where seeds matter most."""
    each = {}
    for *data, other in cases:
        given = data[0] if isinstance(data[0], str) else data[0](data[1])
        each[data[-1]] = spreads_over_seeds(given, other, names)
    for name, most in zip(names, np.max(list(each.values()), axis=0), strict=True):
        assert SEED_SPREADS[name] / 2 < most < 1.5 * SEED_SPREADS[name], (name, each)
        assert few_seeds_margin(1, name) > 2 * most, (name, each)
