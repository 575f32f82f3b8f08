"""The scores of a checkpoint are those of the public functions on the codes of the hasher.

The table and the hasher add up a projection in different orders: where codes of both are compared, runs are in float64,
so that no point lies so near to a hyperplane that rounding decides its bit.
"""

import importlib.util

import numpy as np
import pytest

import ohash
from ohash.engine import judge as judge_module
from ohash.engine import saving
from ohash.engine.checkpoints import CORRELATED, NAMES
from ohash.engine.frozen import Estimates
from ohash.engine.gallery import nearest
from ohash.engine.judge import SCORES, Judge
from ohash.engine.run import Run
from ohash.evaluation.chance import random_order
from ohash.evaluation.diagnostics import code_diagnostics
from ohash.evaluation.distance_ranking import iter_ranking
from ohash.evaluation.neighbour_recall import recall_at_k, recall_with_reranking
from ohash.evaluation.neighbours import exact_neighbours
from ohash.models.registry import find
from ohash.runtime.progress import drain
from tests.engine.runs import advance, own_data, small, straight
from tests.selection import first

pytestmark = pytest.mark.usefixtures("few_checkpoints")
FAISS = pytest.mark.skipif(importlib.util.find_spec("faiss") is None, reason="needs faiss")


def evaluate(judge, codes, r, seen=None):
    work = judge.evaluate(codes, r, seen)
    slices = 0
    while True:
        try:
            next(work)
            slices += 1
        except StopIteration as finished:
            return finished.value, slices


def scores_of(run):
    return {name: run.checkpoints.scores[name][-1] for name in SCORES}


@pytest.mark.parametrize("method", first(["mmoh", "oh", "lsh"]))
@pytest.mark.parametrize("part", ["validation", "test"])
@pytest.mark.parametrize("train", ["database", "disjoint"])
def test_scores_equal_direct_calls(method, part, train):
    run = straight(small(method, r=20, judged_by=part, train=train, dtype="float64"))
    parts, data = run.world.parts, run.world.dataset
    queries = getattr(parts, part)
    query_codes, db_codes = run.hasher.encode(run.Z[queries]), run.hasher.encode(run.Z[parts.database])
    scores = scores_of(run)
    assert scores["map"] == ohash.mean_ap(query_codes, db_codes, data.labels[queries], data.labels[parts.database])
    record = ohash.retrieval(query_codes, db_codes, data.labels[queries], data.labels[parts.database], k=10)
    assert (scores["map_low"], scores["map_high"], scores["mrr"]) == (record.map_low, record.map_high, record.mrr)
    assert (scores["precision_10"], scores["hit_10"]) == (record.precision_at_k[10], record.hit_at_k[10])
    exact = exact_neighbours(data.X[queries], data.X[parts.database], min(100, len(parts.database) - 1), "l2")
    assert scores["recall_10"] == recall_at_k(query_codes, db_codes, exact, 10)
    assert scores["recall_100"] == recall_at_k(query_codes, db_codes, exact, exact.shape[1])
    assert np.array_equal(run.checkpoints.last_record.ap, record.ap)
    again = recall_with_reranking(query_codes, db_codes, exact, 10)
    assert [scores["recall_10"], *(scores[f"recall_10_x{c}"] for c in (2, 4, 16))] == [again[c] for c in (1, 2, 4, 16)]
    seen, numbers = code_diagnostics(db_codes, correlation_rows=CORRELATED), run.snapshot("done").numbers
    assert {name: numbers[name] for name in NAMES} == {name: getattr(seen, name) for name in NAMES}


@pytest.mark.parametrize("method", ["rabitq", "int8", pytest.param("pq", marks=FAISS)])
@pytest.mark.parametrize("database", ["full", "seen"])
def test_methods_with_a_distance_of_their_own_are_ranked_by_it(method, database):
    run = straight(small(method, r=24, database=database, kernel="none"))
    judge, data = run.checkpoints.judge, run.world.dataset
    rows = judge.database if database == "full" else judge.database[run.seen[judge.database]]
    D = run.hasher.estimate_distances(run.Z[judge.queries], run.hasher.quantise(run.Z[rows]))
    relevant = data.labels[judge.queries][:, None] == data.labels[rows]
    *_, record = iter_ranking(lambda a, b: D[a:b], *D.shape, relevant=relevant, k=10)
    result = scores_of(run)
    assert result["map"] == pytest.approx(record.map, abs=1e-6)
    assert result["precision_10"] == pytest.approx(record.precision_at_k[10], abs=1e-6)
    exact = exact_neighbours(data.X[judge.queries], data.X[rows], 10, "l2")
    for factor in (1, 2, 4):
        near = np.argsort(D, axis=1)[:, : 10 * factor]
        recall = np.mean([np.isin(a, b).mean() for a, b in zip(exact, near, strict=True)])
        assert result["recall_10" if factor == 1 else f"recall_10_x{factor}"] == pytest.approx(recall, abs=0.01)
    assert result["recall_10"] > 0.3, "an estimate that finds nothing is none"
    scores, ap, *_ = run.checkpoints.evaluate_on("test")
    assert 0 < scores["map"] <= 1 and len(ap) == scores["queries"] + scores["queries_without_relevant_items"]


@pytest.mark.parametrize("method", ["rabitq", "int8", pytest.param("pq", marks=FAISS)])
def test_pairs_and_gallery_of_such_methods(method, tmp_path):
    run = straight(small(method, r=24, kernel="none"))
    numbers = run.snapshot("done").numbers
    assert numbers["auc"] > 0.6 and numbers["bytes"] == -(-run.hasher.r // 8) + 8 * (method == "rabitq")
    assert numbers["bits"] == run.hasher.r + 64 * (method == "rabitq")
    assert ("balance" in numbers) == (method == "rabitq")
    for before in (False, True):
        neighbours = nearest(run, 3, before=before)
        assert len(neighbours.rows) == 10 and (np.diff(neighbours.distances) >= 0).all()
    D = run.hasher.estimate_distances(
        run.Z[run.checkpoints.judge.queries[3:4]], run.hasher.quantise(run.Z[run.checkpoints.judge.database])
    )
    assert nearest(run, 3).rows[0] == run.checkpoints.judge.database[D[0].argmin()]
    saving.save(run, tmp_path / "run.npz")
    back = saving.load(tmp_path / "run.npz")
    assert scores_of(back) == scores_of(run)


def test_digits_at_the_default_setting():
    run = straight(small(dataset="digits", r=48, m=300, pairs=300, dtype="float64"))
    parts, labels = run.world.parts, run.world.dataset.labels
    codes = run.hasher.encode(run.Z)
    direct = ohash.mean_ap(
        codes[parts.validation], codes[parts.database], labels[parts.validation], labels[parts.database]
    )
    assert run.checkpoints.scores["map"][-1] == direct


def test_only_what_has_arrived_is_searched():
    run = advance(Run(small(database="seen", dtype="float64")), 100)
    parts, labels = run.world.parts, run.world.dataset.labels
    there = parts.database[run.seen[parts.database]]
    assert 2 < len(there) < len(parts.database)
    codes = run.hasher.encode(run.Z)
    scores = scores_of(run)
    assert scores["map"] == ohash.mean_ap(
        codes[parts.validation], codes[there], labels[parts.validation], labels[there]
    )
    X = run.world.dataset.X
    exact = exact_neighbours(X[parts.validation], X[there], min(100, len(there) - 1), "l2")
    assert scores["recall_10"] == recall_at_k(codes[parts.validation], codes[there], exact, 10)


@pytest.mark.parametrize("values", [{}, {"database": "seen"}, {"similar_by": "metric"}])
def test_very_many_flags_are_packed_and_change_nothing(values, monkeypatch):
    plain = straight(small(pairs=200, **values))
    monkeypatch.setattr(judge_module, "DENSE", 1000)
    packed = straight(small(pairs=200, **values))
    assert packed.checkpoints.judge.relevant.dtype == np.uint8 and plain.checkpoints.judge.relevant.dtype == bool
    assert scores_of(packed) == scores_of(plain) and packed.checkpoints.map_float == plain.checkpoints.map_float
    items = np.array([5, 0, 17])
    for query in range(3):
        assert np.array_equal(
            packed.checkpoints.judge.is_relevant(packed.checkpoints.judge.queries[query], items),
            plain.checkpoints.judge.relevant[query, items],
        )


def test_nothing_seen_is_no_number():
    run = Run(small())
    values, _ = evaluate(run.checkpoints.judge, run.checkpoints.codes, 16, np.zeros(run.world.dataset.n, bool))
    assert set(values) == set(SCORES) and all(np.isnan(value) for value in values.values())


@pytest.mark.parametrize("database", ["full", "seen"])
@pytest.mark.parametrize("part", ["validation", "test"])
def test_later_clicks_by_hand(database, part):
    """Every query on a database of its own: without itself and without what it clicked in training."""
    dataset, values = own_data("clicks")
    run = straight(small("oh", "user", judged_by=part, database=database, dtype="float64", **values), dataset)
    source = run.world.stream().similarity
    codes = run.hasher.encode(run.Z)
    train = source.parts.train
    i, j = source.later(part)
    records = []
    for query in np.unique(i):
        known = {*dataset.pairs.j[train][dataset.pairs.i[train] == query]}
        known |= {*dataset.pairs.i[train][dataset.pairs.j[train] == query]}
        there = run.seen if database == "seen" else np.ones(dataset.n, bool)
        items = np.array([row for row in np.flatnonzero(there) if row != query and row not in known])
        wanted = np.flatnonzero(np.isin(items, j[i == query]))
        if len(wanted):
            record = ohash.retrieval(codes[[query]], codes[items], relevant=[wanted], k=10)
            records.append((record.hit_at_k[10], record.mrr, record.map, record.precision_at_k[10]))
    assert run.checkpoints.last_record.queries == len(records) > 20
    scores = scores_of(run)
    assert [scores[name] for name in ("hit_10", "mrr", "map", "precision_10")] == pytest.approx(
        np.mean(records, axis=0)
    )
    assert np.isfinite([scores["recall_10"], scores["recall_100"]]).all()


def test_many_later_clicks_are_sampled_and_that_is_said(monkeypatch):
    dataset, values = own_data("clicks")
    monkeypatch.setattr(judge_module, "MAX_QUERIES", 25)
    run = straight(small("oh", "user", pairs=50, **values), dataset)
    assert len(run.checkpoints.judge.queries) == 25 and (np.diff(run.checkpoints.judge.queries) > 0).all()
    assert "25 of " in run.checkpoints.judge.note and run.checkpoints.judge.note in run.snapshot("done").notes
    again = straight(small("oh", "user", pairs=50, **values), dataset)
    assert np.array_equal(run.checkpoints.judge.queries, again.checkpoints.judge.queries)


def test_work_comes_in_slices(monkeypatch):
    """A command is obeyed between two slices, so every kernel call of a checkpoint must be one."""
    run = Run(small(dataset="digits"))
    monkeypatch.setattr("ohash.evaluation.packed_codes.BLOCK_WORK", 1500 * 10)
    monkeypatch.setattr("ohash.evaluation.neighbours.BLOCK_BYTES", 1500 * 4 * 10)
    _, slices = evaluate(Judge(run.world, 0, "validation"), run.checkpoints.codes, 16)
    assert slices >= 3 * 10  # exact neighbours, ranking, recall


def test_scores_do_not_depend_on_slices(monkeypatch):
    run = straight(small())
    whole, _ = evaluate(
        Judge(run.world, 0, "test"), run.hasher.encode(run.Z[Judge(run.world, 0, "test").rows])[None], 16
    )
    monkeypatch.setattr("ohash.evaluation.packed_codes.BLOCK_WORK", 1)
    monkeypatch.setattr("ohash.evaluation.neighbours.BLOCK_BYTES", 1)
    again, _ = evaluate(
        Judge(run.world, 0, "test"), run.hasher.encode(run.Z[Judge(run.world, 0, "test").rows])[None], 16
    )
    assert all(whole[name] == again[name] for name in SCORES)


def test_drift_is_judged_in_the_world_as_it_is_now():
    run = straight(small(drift="redefine", drift_at=350, dtype="float64"))
    labels = run.world.dataset.superclasses
    parts = run.world.parts
    codes = run.hasher.encode(run.Z)
    assert scores_of(run)["map"] == ohash.mean_ap(
        codes[parts.validation], codes[parts.database], labels[parts.validation], labels[parts.database]
    )
    run = straight(small(drift="rotate", drift_at=350, dtype="float64"))
    parts = run.world.parts
    codes = run.hasher.encode(run.world.mapped(1))
    labels = run.world.dataset.labels
    assert scores_of(run)["map"] == ohash.mean_ap(
        codes[parts.validation], codes[parts.database], labels[parts.validation], labels[parts.database]
    )


def test_the_float_vectors_are_judged_as_codes_are():
    database, values = own_data("clicks")
    judge = Judge(Run(small(dataset="own", **values), database).world, 0, "test")
    ap = drain(judge.float_scores())["map"]
    X = database.X
    for at, query in enumerate(judge.queries):
        hidden = {int(query), *judge.hidden[at].tolist()}
        order = [row for row in np.argsort(((X - X[query]) ** 2).sum(axis=1), kind="stable") if int(row) not in hidden]
        hits = np.flatnonzero(np.isin(order, judge.relevant[at])) + 1
        expected = (np.arange(1, len(hits) + 1) / hits).mean() if len(hits) else np.nan
        np.testing.assert_allclose(ap[at], expected)


def test_the_reference_on_live_is_that_of_all_queries(monkeypatch):
    """Else it is the mean of other queries than the curve beside it."""
    run = Run(small())
    judge = run.checkpoints.judge
    assert len(judge.queries) > 3
    monkeypatch.setattr("ohash.engine.judge.FLOAT_QUERIES", 3)
    every = drain(judge.float_scores())["map"]
    assert drain(judge.float_reference()) == np.nanmean(every)
    monkeypatch.setattr("ohash.engine.judge.FLOAT_WORK", 0)
    run.world.float_map.clear()
    assert drain(judge.float_reference()) == np.nanmean(every[:3])


def test_runs_of_one_world_measure_the_float_vectors_once(monkeypatch):
    first_run, second = straight(small()), Run(small(beta=0.7))
    assert first_run.world is second.world

    def fail(*_given, **_named):
        raise AssertionError("measured again")

    monkeypatch.setattr("ohash.engine.judge.iter_exact_neighbours", fail)
    monkeypatch.setattr("ohash.engine.judge.iter_float_scores", fail)
    advance(second, 100)
    assert second.checkpoints.scores["recall_10"][0] == first_run.checkpoints.scores["recall_10"][0]
    assert second.checkpoints.map_float == first_run.checkpoints.map_float


@pytest.mark.parametrize("kernel", ["rbf", "none", "given"])
def test_what_the_features_leave_of_the_distance_is_that_of_a_literal_search(kernel):
    run = Run(small(kernel=kernel, dtype="float64"))
    judge, Z, X = run.checkpoints.judge, run.Z, run.world.dataset.X.astype(float)
    shares = []
    for query in judge.queries:
        near, exact = (
            np.argsort(((rows[judge.database] - rows[query]) ** 2).sum(axis=1), kind="stable")[:10] for rows in (Z, X)
        )
        shares.append(len(set(near) & set(exact)) / 10)
    assert drain(judge.feature_recall()) == pytest.approx(np.mean(shares), abs=1e-12)
    if kernel == "given":
        assert np.mean(shares) == 1


@pytest.mark.slow
def test_chance_is_the_mean_of_random_orders():
    database, values = own_data("clicks")
    judge = Judge(Run(small(dataset="own", **values), database).world, 0, "test")
    rng, n, drawn = np.random.default_rng(0), len(judge.database) - 1, []
    for rows in judge.relevant:
        R = len(rows)
        for _ in range(200 if R else 0):
            ranks = np.flatnonzero(rng.permutation(n) < R) + 1
            gain = (1 / np.log2(ranks[ranks <= 10] + 1)).sum() / (1 / np.log2(np.arange(2, min(R, 10) + 2))).sum()
            auc = 1 - (ranks.mean() - (R + 1) / 2) / (n - R)
            precision = (np.arange(1, R + 1) / ranks).mean()
            drawn.append((precision, ranks[0] <= 10, 1 / ranks[0], gain, auc))
    chance = judge.chance()
    errors = 4 * np.std(drawn, axis=0) / np.sqrt(len(drawn))
    for name, mean, error in zip(
        ("map", "hit_10", "mrr", "ndcg_10", "auc_later"), np.mean(drawn, axis=0), errors, strict=True
    ):
        assert chance[name] == pytest.approx(mean, abs=error), name


def test_chance_is_the_score_of_codes_that_are_all_equal():
    relevant = [[1], [2, 3, 4], list(range(12)), []]
    scores = ohash.retrieval(np.zeros((4, 1), np.uint8), np.zeros((40, 1), np.uint8), relevant=relevant, r=8, k=10)
    expected = {
        "map": scores.map,
        "hit_10": scores.hit_at_k[10],
        "mrr": scores.mrr,
        "ndcg_10": scores.ndcg_at_k[10],
        "auc_later": scores.auc,
    }
    assert random_order(40, [len(rows) for rows in relevant]) == pytest.approx(expected, abs=1e-12)
    assert random_order(5, [5])["hit_10"] == 1 and np.isnan(random_order(5, [5])["auc_later"])
    assert np.isnan(random_order(5, [0])["mrr"])


def test_a_method_that_estimates_a_distance_refuses_the_dot_product():
    X = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    data = ohash.Dataset.from_arrays(X, labels=np.arange(300) % 3, metric="dot")
    with pytest.raises(ValueError, match="estimates the L2 distance or cosine of vectors, got data whose distance is"):
        Run(ohash.experiment(data, "int8", pairs=50), data)
    assert straight(ohash.experiment(data, "oh", r=8, pairs=50), data).t == 50


@pytest.mark.parametrize(
    ("method", "values", "most", "wrong"),
    [
        pytest.param(
            "pq", {"r": 72}, 64, "r must be at most 64 bits here, 8 for each of d=8 columns, got 72", marks=FAISS
        ),
        pytest.param("pq", {"r": 11}, 20, "than d=8 columns, got 11, which are 11 parts of 1 bit; ", marks=FAISS),
        ("sign", {"r": 9, "dims": "first r"}, 8, "r must be at most d=8 with dims='first r', got 9; .* or rotated"),
        ("bbq", {"r": 9, "dims": "first r"}, 8, "r must be at most d=8 with dims='first r', got 9; .* or rabitq"),
        ("int8", {"r": 65, "dims": "first r"}, 64, "r must be at most 8 d = 64 with dims='first r', got 65"),
    ],
)
def test_more_bits_than_columns_give_are_refused_by_the_card_and_by_the_model(method, values, most, wrong, monkeypatch):
    """By the card before anything is learnt; the number of columns is that after the feature map."""
    spec, X = find(method), np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    model = spec.build(spec.params(**values))
    with pytest.raises(ValueError, match=wrong):
        model.fit(X) if spec.consumes == "batch" else model.warm_up(X)
    data = ohash.Dataset.from_arrays(X, labels=np.arange(300) % 3)
    with monkeypatch.context() as patch:
        patch.setattr(Run, "_start_hasher", lambda *_: pytest.fail("the model was begun"))
        with pytest.raises(ValueError, match=wrong):
            Run(ohash.experiment(data, method, pairs=50, **values), data)
    assert Run(ohash.experiment(data, method, pairs=50, **{**values, "r": most}), data).hasher.r == most
    mapped = ohash.experiment(data, method, pairs=50, kernel="rbf", m=16, **values)
    assert Run(mapped, data).hasher.r == values["r"], "16 anchors are 16 columns"


def test_a_method_that_learns_nothing_stores_the_database_once(monkeypatch):
    """RaBitQ's codes stay as they are, so what it stores of the database is made at the first checkpoint alone."""
    stored = []
    monkeypatch.setattr(
        "ohash.engine.frozen.Estimates.iter_store",
        lambda self, store=Estimates.iter_store: stored.append(len(self._database)) or store(self),
    )
    run = straight(small("rabitq", r=16))
    assert len(run.checkpoints.scores) > 2 and len(stored) == 1
    assert np.isfinite(run.checkpoints.scores["map_prequential"][1:]).all()
