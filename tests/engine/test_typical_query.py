"""The opening query tells the story of the mean."""

import numpy as np
import pytest

from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.engine.typical_query import NEAR, _precision, typical_query
from tests.engine.runs import finish, own_data


@pytest.fixture(scope="module")
def run() -> Run:
    return finish(Run(experiment("digits", "oh", pairs=2000)))


def test_its_story_agrees_with_the_mean(run: Run) -> None:
    start, now = _precision(run, before=True), _precision(run, before=False)
    number = typical_query(run)
    assert abs(start[number] - start.mean()) <= NEAR and abs(now[number] - now.mean()) <= NEAR
    assert (now[number] - start[number]) * (now.mean() - start.mean()) >= 0


def test_it_changes_only_when_it_must(run: Run) -> None:
    start, now = _precision(run, before=True), _precision(run, before=False)
    typical = [n for n in range(len(now)) if now[n] >= start[n] and abs(now[n] - now.mean()) <= NEAR]
    assert now.mean() > start.mean() and all(typical_query(run, n) == n for n in typical)
    odd = int(np.abs(now - now.mean()).argmax())
    assert typical_query(run, odd) != odd


@pytest.mark.parametrize("kind", ["labels", "multi", "metric", "clicks", "pairs"])
def test_every_kind_of_truth_has_one(kind: str) -> None:
    mine, usual = own_data(kind)
    own = finish(Run(experiment(mine, "oh", r=8, pairs=200, **usual), mine))
    assert 0 <= typical_query(own) < len(own.checkpoints.judge.queries)
