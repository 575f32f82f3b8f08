"""The moments of a run: one per checkpoint, as it was then, and nothing of it changes the run."""

import numpy as np
import pytest

from ohash.engine.gallery import nearest, typical_query
from ohash.engine.live.runner import Runner
from ohash.engine.moments import Moments
from ohash.engine.run import Run
from tests.engine.runs import own_data, small


def watched(run: Run, chunk: int = 97) -> Moments:
    moments = Moments()
    while not run.done:
        run.step(chunk)
        moments.watch(run)
    return moments


def test_every_checkpoint_is_a_moment_with_the_numbers_of_that_moment() -> None:
    run, then = Run(small()), {}
    moments = Moments()
    while not run.done:
        run.step(97)
        moments.watch(run)
        if not run.evaluating and run.t in run.schedule:
            assert moments.query is not None
            then[run.t] = run.snapshot("running"), nearest(run, moments.query)
    shown = moments.with_curves(run)
    assert moments.query == typical_query(run), "the one that the page opens with"
    assert [now.t for now, _ in shown] == run.schedule == list(then)
    for now, result in shown:
        before, gallery = then[now.t]
        assert {name: value for name, value in now.numbers.items() if name in before.numbers} == pytest.approx(
            before.numbers, nan_ok=True
        )
        assert now.checkpoints.keys() == before.checkpoints.keys()
        for name, column in before.checkpoints.items():
            np.testing.assert_array_equal(now.checkpoints[name], column, err_msg=name)
        np.testing.assert_array_equal(now.columns["cum_R"], before.columns["cum_R"])
        np.testing.assert_array_equal(now.recent["similar"], before.recent["similar"])
        np.testing.assert_array_equal(result.rows, gallery.rows)
    assert shown[-1][0].state == "done"


def test_a_run_that_stands_between_checkpoints_ends_with_the_pair_it_stands_at() -> None:
    run, moments = Run(small()), Moments()
    while run.t < 150:
        run.step(150 - run.t)
        moments.watch(run)
    (*_, judged, last) = (now.t for now, _ in moments.with_curves(run))
    assert judged < last == 150 not in run.schedule
    assert [now.t for now, _ in moments.with_curves(run)][-1] == 150, "to look changes nothing"


@pytest.mark.parametrize("kind", ["clicks", "metric", "multi"])
def test_any_truth_has_moments(kind: str) -> None:
    dataset, values = own_data(kind)
    run = Run(small(dataset="own", content=dataset.fingerprint(), pairs=60, **values), dataset)
    shown = watched(run).with_curves(run)
    assert [now.t for now, _ in shown] == run.schedule
    assert len({result.query for _, result in shown}) == 1, "one query from the start to the end"


def test_a_live_run_keeps_its_moments() -> None:
    runner = Runner(small())
    runner.start()
    assert runner.finished.wait(60)
    assert runner.run is not None
    assert [now.t for now, _ in runner.moments.with_curves(runner.run)] == runner.run.schedule
