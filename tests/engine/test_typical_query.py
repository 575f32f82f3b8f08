"""The opening query tells the story of the mean."""

import pytest

from ohash.engine.gallery import nearest_codes, precision, typical_query
from ohash.engine.params import experiment
from ohash.engine.run import Run
from tests.engine.runs import finish, own_data
from tests.selection import first

NEAR = 0.2


@pytest.mark.slow
@pytest.mark.parametrize("seed", first([0, 1, 2, 3]))
def test_its_story_agrees_with_the_mean_and_it_never_changes(seed: int) -> None:
    run = Run(experiment("digits", "oh", pairs=5000, seed=seed))
    number = typical_query(run)
    run.step(1000)
    assert typical_query(run) == number, "on the way"
    finish(run)
    assert typical_query(run) == number, "at the end"
    checkpoints = run.checkpoints
    judge, n = checkpoints.judge, len(checkpoints.judge.database)
    start, now = (precision(judge, nearest_codes(codes, n)) for codes in (checkpoints.first_codes, checkpoints.codes))
    assert abs(start[number] - start.mean()) <= NEAR and abs(now[number] - now.mean()) <= NEAR
    assert now.mean() > start.mean() and now[number] >= start[number]


@pytest.mark.parametrize("kind", ["labels", "multi", "metric", "clicks", "pairs"])
def test_every_kind_of_truth_has_one(kind: str) -> None:
    mine, usual = own_data(kind)
    own = finish(Run(experiment(mine, "oh", r=8, pairs=200, **usual), mine))
    assert 0 <= typical_query(own) < len(own.checkpoints.judge.queries)
