"""The code table: when it is brought up to date, what that costs, and what is searched."""

import numpy as np
import pytest

from ohash.engine.run import Run, run
from ohash.models.registry import find
from tests.engine.cases import case
from tests.engine.runs import advance, assert_same, finish, own_data, small, straight

pytestmark = pytest.mark.usefixtures("few_checkpoints")


def test_without_re_encoding_codes_stay_those_of_the_first_hash():
    going = straight(case("never"))
    fresh = straight(small(center="running"))
    assert np.array_equal(going.checkpoints.codes, going.checkpoints.first_codes)
    assert (going.checkpoints.scores["map"] == going.checkpoints.scores["map"][0]).all()
    assert np.array_equal(going.checkpoints.scores["map_fresh"], fresh.checkpoints.scores["map"])
    assert np.array_equal(fresh.checkpoints.scores["map_fresh"], fresh.checkpoints.scores["map"])
    assert going.checkpoints.recomputed == going.checkpoints.flipped == 0


def test_what_re_encoding_costs_is_counted():
    params = small(reencode="every", reencode_every=100, dtype="float64")
    going = Run(params)
    rows = going.Z[going.checkpoints.judge.rows]
    recomputed = flipped = 0
    seen = going.hasher.bit_updates.copy()
    codes = going.hasher.encode(rows)
    for t in range(100, 701, 100):
        advance(going, t)
        moved = going.hasher.bit_updates != seen
        recomputed += int(moved.sum()) * len(rows)
        fresh = going.hasher.encode(rows)
        flipped += int(np.bitwise_count(fresh ^ codes).sum())
        seen, codes = going.hasher.bit_updates.copy(), fresh
        assert np.array_equal(going.checkpoints.codes[0], fresh)
    assert going.checkpoints.scores["recomputed"][-1] == going.checkpoints.recomputed == recomputed
    assert going.checkpoints.scores["flipped"][-1] == going.checkpoints.flipped == flipped
    assert 0 < flipped < recomputed


def test_stale_codes_are_those_of_the_last_refresh():
    going = Run(small(reencode="every", reencode_every=300, dtype="float64"))
    advance(going, 300)
    then = going.hasher.encode(going.Z[going.checkpoints.judge.rows])
    advance(going, 599)
    assert np.array_equal(going.checkpoints.codes[0], then)
    assert not np.array_equal(going.hasher.encode(going.Z[going.checkpoints.judge.rows]), then)


@pytest.mark.parametrize("reencode", ["every", "never"])
def test_a_moved_world_is_encoded_by_the_hash_of_the_table(reencode):
    """A drift changes the vectors, not the moment at which the table is brought up to date."""
    going = Run(small(drift="rotate", drift_at=250, reencode=reencode, reencode_every=200, dtype="float64"))
    advance(going, 200 if reencode == "every" else 0)
    then, _ = going.replay(0) if reencode == "never" else (find("oh").restore(*going.hasher.state()), None)
    advance(going, 251)
    assert going.stage == 1
    assert np.array_equal(going.checkpoints.codes[0], then.encode(going.Z[going.checkpoints.judge.rows]))
    assert going.checkpoints.recomputed >= going.checkpoints.codes.shape[1] * 16


def test_a_drift_at_the_very_end_is_not_judged():
    going = straight(small(drift="rotate", drift_at=700))
    assert going.stage == 0
    assert np.array_equal(going.checkpoints.scores["map"], straight(small()).checkpoints.scores["map"])


@pytest.mark.parametrize(("at", "comes"), [(699, True), (700, False), (701, False)])
def test_a_drift_that_never_comes_is_noted(at, comes):
    """Pairs are counted from 0: the last of 700 is pair 699."""
    going = straight(small(drift="rotate", drift_at=at))
    assert (going.stage == 1) is comes
    note = f"the drift at pair {at} is never reached: the run ends at pair 700"
    assert [one for one in going.notes if "drift" in one] == [note] * (not comes)


# -- kinds of runs -------------------------------------------------------------------------------------------------


def test_seen_grows_and_only_seen_items_are_found():
    going = Run(small(database="seen"))
    advance(going, 100)
    i, j, _ = going.world.pairs(0, 100)
    expected = np.unique(np.concatenate([i, j, going.world.warm_rows]))
    assert np.array_equal(np.flatnonzero(going.seen), expected)
    finish(going)
    full = straight(small())
    assert not np.array_equal(going.checkpoints.scores["map"][:3], full.checkpoints.scores["map"][:3])
    assert np.array_equal(going.hasher.W, full.hasher.W)


def test_nothing_of_a_disjoint_part_is_searched():
    with pytest.raises(ValueError, match="database='seen' needs train='database'"):
        Run(small(database="seen", train="disjoint"))


@pytest.mark.parametrize(("more", "seen"), [({}, True), ({"train": "disjoint"}, False)])
def test_every_result_says_whether_the_database_was_seen(more, seen):
    for now in run(small(pairs=150, **more)):
        assert now.database_seen is seen
        assert ("training pairs were not drawn from the database" in now.notes) is not seen


@pytest.mark.parametrize("kind", ["clicks", "pairs"])
def test_given_pairs_search_everything_so_it_was_seen(kind):
    dataset, values = own_data(kind)
    now = straight(small("oh", "user", train="disjoint", **values), dataset).snapshot("done")
    assert now.database_seen
    assert all(np.isfinite(now.numbers[name]) for name in ("map", "hit_10", "mrr", "recall_10", "recall_100", "auc"))
    assert now.similar_by == kind


@pytest.mark.parametrize("values", [{"method": "lsh"}, {"center": "running", "C": 1e-9}, {"reencode": "never"}])
def test_codes_that_have_not_changed_are_not_judged_again(values, monkeypatch):
    run = straight(small(**values))
    judged = []
    evaluate = type(run.checkpoints.judge).evaluate
    monkeypatch.setattr(type(run.checkpoints.judge), "evaluate", lambda *args: judged.append(1) or evaluate(*args))
    again = straight(small(**values))
    assert_same(run, again)
    assert values.get("method") != "lsh" or len(judged) == 1
    assert run.checkpoints.scores["map"][-1] == score(run)


def score(run):
    work = run.checkpoints.judge.evaluate(run.checkpoints.codes, run.hasher.r, None)
    while True:
        try:
            next(work)
        except StopIteration as finished:
            return finished.value["map"]
