"""A query and its nearest items, or an item of the database that asks instead."""

import numpy as np
import pytest

from ohash.engine.gallery import Neighbours, nearest
from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.plots.gallery import ties_note
from tests.engine.runs import finish, own_data
from tests.selection import first


def made(kind, **values):
    mine, usual = own_data(kind)
    return finish(Run(experiment(mine, "oh", r=8, pairs=200, **usual, **values), mine))


@pytest.mark.parametrize("kind", first(["labels", "clicks", "multi", "metric", "pairs"], 2))
def test_an_item_asks_like_a_query_and_does_not_find_itself(kind):
    run = made(kind)
    judge = run.checkpoints.judge
    row = int(judge.database[17])
    neighbours = nearest(run, 0, row=row)
    assert neighbours.query == row and row not in neighbours.rows and len(neighbours.rows) == 10
    assert (np.diff(neighbours.distances) >= 0).all()
    codes = np.unpackbits(run.checkpoints.codes[0], axis=1)
    D = (codes[: len(judge.database)] != codes[17]).sum(axis=1)
    np.testing.assert_array_equal(neighbours.distances, np.sort(np.delete(D, 17))[:10])
    labels = run.world.dataset.labels
    if kind == "labels":
        np.testing.assert_array_equal(neighbours.relevant, labels[neighbours.rows] == labels[row])
    if kind == "multi":
        np.testing.assert_array_equal(neighbours.relevant, (labels[neighbours.rows] & labels[row]).any(axis=1))


@pytest.mark.parametrize("kind", ["labels", "clicks"])
def test_a_query_by_its_row_is_the_query_by_its_number(kind):
    run = made(kind)
    number, row = nearest(run, 3), nearest(run, 0, row=int(run.checkpoints.judge.queries[3]))
    assert number.query == row.query
    for name in ("rows", "distances", "relevant"):
        np.testing.assert_array_equal(getattr(number, name), getattr(row, name))


@pytest.mark.parametrize("row", [-1, 10**9])
def test_a_row_that_is_not_there_is_the_query(row):
    run = made("labels")
    assert nearest(run, 2, row=row).query == nearest(run, 2).query


def test_what_was_clicked_later_is_relevant_to_an_item():
    run = made("clicks")
    judge = run.checkpoints.judge
    i, j = run.world.stream(0).similarity.later(judge.part)
    row = int(np.bincount(i).argmax())
    partners = np.unique(j[i == row])
    np.testing.assert_array_equal(judge.is_relevant(row, partners), True)
    others = np.setdiff1d(judge.database, partners)
    assert not judge.is_relevant(row, others).any()


@pytest.mark.parametrize(
    ("equal", "note"), [(1, ""), (3, "3 of these 10 items have exactly"), (10, "All 10 items have exactly")]
)
def test_the_note_on_ties_counts_items_not_queries(equal, note):
    distances = np.array([0] * equal + [2] * (10 - equal), np.int32)
    one = Neighbours(0, np.arange(10), distances, np.ones(10, bool), 0)
    note_text = ties_note(one, 16)
    assert note_text.startswith(note) and bool(note_text) == bool(note)
