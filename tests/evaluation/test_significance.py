"""Intervals over queries and seeds: they cover simulated effects, and real seeds vary no more than they allow."""

import numpy as np
import pytest

from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.evaluation.significance import SEED_SPREAD, difference_over_seeds, few_seeds_margin

QUERIES = 200


def simulated(rng, seeds, effect, seed_spread, query_spread=0.25):
    """Average precisions of two methods: the effect, a deviation per seed, and noise per query."""
    b = [rng.uniform(0, 1, QUERIES) for _ in range(seeds)]
    a = [one + effect + rng.normal(0, seed_spread) + rng.normal(0, query_spread, QUERIES) for one in b]
    return a, b


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 2, 3, 5])
@pytest.mark.parametrize("seed_spread", [0.0, SEED_SPREAD])
def test_intervals_cover_simulated_effects(seeds, seed_spread):
    rng, trials = np.random.default_rng([seeds, int(1000 * seed_spread)]), 300
    covered = 0
    for _ in range(trials):
        interval = difference_over_seeds(*simulated(rng, seeds, 0.03, seed_spread), resamples=300)
        covered += interval.low <= 0.03 <= interval.high
    assert covered / trials >= 0.93  # nominally 0.95; two standard errors of 300 trials are 0.025


@pytest.mark.slow
def test_real_seeds_vary_no_more_than_few_seeds_are_allowed_for():
    """Differences between two methods over six seeds, on data where seeds matter most."""
    spreads = {}
    for dataset, method in (("fashion", "itq"), ("patches", "itq"), ("digits", "lsh")):
        gains = []
        for seed in range(6):
            scores = []
            for key in ("oh", method):
                run = Run(experiment(dataset, key, seed=seed, pairs=5_000, judged_at="ends", r=32))
                while not run.done:
                    run.step(5_000)
                scores.append(float(run.checkpoints.scores["map"][-1]))
            gains.append(scores[0] - scores[1])
        spreads[dataset] = float(np.std(gains, ddof=1))
    assert max(spreads.values()) < 1.5 * SEED_SPREAD, spreads
    assert few_seeds_margin(1) > 2 * max(spreads.values()), spreads
