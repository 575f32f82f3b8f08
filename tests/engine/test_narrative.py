"""The sentence above the charts says what a method really does with pairs."""

from dataclasses import replace

import pytest

from ohash.engine.gallery import nearest
from ohash.engine.narrative import difference, headline, judged_on, settings_that_differ
from ohash.engine.params import experiment
from ohash.engine.run import Run
from tests.engine.runs import finish, own_data, small


@pytest.mark.parametrize(
    ("method", "before", "after"),
    [
        ("oh", "OH is about to learn from pairs of", "OH is learning from 300 pairs of"),
        ("itq", "ITQ is about to be fitted to", "ITQ was fitted to the points of 300 pairs of"),
        ("lsh", "LSH does not learn; it is about to encode", "LSH does not learn; it has seen 300 pairs of"),
    ],
)
def test_what_is_done_with_pairs(method, before, after):
    params = small(method=method, pairs=1000)
    assert headline(None, params, "starting").startswith(before)
    run = Run(params)
    while run.t < 300 or run.evaluating:
        run.step(300 - run.t or 1)
    sentence = headline(run.snapshot("running"), params, "running")
    assert sentence.startswith(after) and "agreement with labels" in sentence


@pytest.mark.parametrize(("kind", "judged"), [("clicks", False), ("pairs", False), ("labels", True)])
def test_what_nobody_has_said_is_not_known_to_be_wrong(kind, judged):
    mine, values = own_data(kind)
    run = finish(Run(experiment(mine, "oh", r=8, pairs=200, **values), mine))
    assert nearest(run, 0).judged is judged
    assert ("few pairs are labelled" in headline(run.snapshot("done"), run.params, "done")) is not judged


def test_a_number_that_stands_for_a_word_is_the_word():
    assert difference(experiment("digits"), experiment("digits", sigma=0.5)) == "σ auto → 0.5"
    assert "natural" in settings_that_differ(experiment("digits", similar_share=0.5), experiment("digits"))


def test_a_run_paused_before_its_first_checkpoint_tells_of_no_evaluation_that_goes_on():
    run = Run(small(pairs=1000))
    while run.t == 0:
        run.step(1)
    paused = run.snapshot("paused")
    early = replace(paused, checkpoints={name: column[:1] for name, column in paused.checkpoints.items()})
    assert headline(early, run.params, "paused").endswith("; not evaluated since the start.")


@pytest.mark.parametrize(
    ("values", "similar_by", "same"),
    [
        ({"r": 8, "C": 1.0, "pairs": 50, "noise": 0.2, "seed": 3, "similar_by": "label"}, "label", True),
        ({"drift_at": 77}, "label", True),
        ({"similar_by": "metric"}, "metric", False),
        ({"database": "seen"}, "label", False),
        ({"judged_by": "test"}, "label", False),
        ({"drift": "prior", "drift_at": 77}, "label", False),
    ],
)
def test_scores_are_ranked_only_if_they_were_measured_on_the_same(values, similar_by, same):
    usual = judged_on(experiment("digits"), "label")
    assert (judged_on(experiment("digits", **values), similar_by) == usual) is same
