"""The contest: the same results as single runs, in turn, seed by seed, and nobody's error but one's own."""

import io
import math
import threading
import time
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from ohash.comparison import runner as runner_module
from ohash.comparison.export import TRUTH_COLUMNS, result_rows
from ohash.comparison.runner import ComparisonRunner, compare
from ohash.engine.export import encoder_archive
from ohash.engine.judge import RERANKED, Judge
from ohash.engine.run import Run
from ohash.evaluation.neighbour_recall import recall_with_reranking
from ohash.evaluation.neighbours import exact_neighbours
from ohash.index.hamming_index import HammingIndex
from ohash.models.batch.itq import ITQ
from ohash.models.storage import load as load_model
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import QUICK
from ohash.store.store import Store
from ohash.streams.dataset import Dataset
from tests.comparison.comparisons import finished, small
from tests.engine.runs import finish, own_data, straight

pytestmark = pytest.mark.usefixtures("few_checkpoints")


@pytest.fixture(autouse=True, scope="module")
def here():
    """No worker processes, and no long codes: fits are short."""
    patch = pytest.MonkeyPatch()
    patch.setattr(runner_module, "LENGTHS", (16, 32))
    patch.setattr(runner_module, "WorkerFitter", lambda room: None)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def over(here):
    patch = pytest.MonkeyPatch()
    patch.setattr("ohash.engine.checkpoints.REGULAR", 8)
    yield finished(small(("oh", "hcoh", "itq", "sign"), seeds=(0, 5), sweep=True))
    patch.undo()


@pytest.mark.slow
def test_every_curve_is_that_of_a_run_alone(over):
    now = over.snapshot()
    assert (now.state, now.phase, now.errors) == ("done", "", {})
    for result in now.results:
        alone = Run(over.comparison.experiment(now.entries[result.entry], result.seed))
        alone.judge_less_often()
        finish(alone)
        for column in ("pairs", "map", "recall_10", "recomputed", "flipped"):
            np.testing.assert_array_equal(result.checkpoints[column], alone.checkpoints.scores[column])
        np.testing.assert_array_equal(result.record.ap, alone.checkpoints.last_record.ap)
    assert {(result.entry, result.seed) for result in now.results} == {(at, seed) for at in range(4) for seed in (0, 5)}


@pytest.mark.slow
def test_the_reference_is_every_query_by_the_original_distance(over):
    now = over.snapshot()
    run = Run(over.comparison.experiment(now.entries[0], 0))
    X, queries, database = run.world.dataset.X, run.checkpoints.judge.queries, run.checkpoints.judge.database
    order = np.argsort(((X[queries][:, None] - X[database][None]) ** 2).sum(axis=2), axis=1, kind="stable")
    hits = np.take_along_axis(run.checkpoints.judge.relevant, order, axis=1)
    precision = np.cumsum(hits, axis=1) / np.arange(1, len(database) + 1)
    expected = (precision * hits).sum(axis=1) / hits.sum(axis=1)
    reference = next(one for one in now.references if one.seed == 0)
    np.testing.assert_allclose(reference.scores["map"], expected)
    assert math.isclose(now.floats, np.mean([one.mean("map") for one in now.references]))


def test_re_ranking_is_that_of_the_evaluation(over):
    now = over.snapshot()
    for method_run in over.first_seed_runs:
        run = method_run.run
        X, n = run.world.dataset.X, len(run.checkpoints.judge.database)
        exact = exact_neighbours(X[run.checkpoints.judge.queries], X[run.checkpoints.judge.database], 10, "l2")
        codes = np.asarray(run.checkpoints.codes)
        expected = recall_with_reranking(codes[:, n:], codes[:, :n], exact, 10, RERANKED)
        result = next(one for one in now.results if one.entry == method_run.entry and one.seed == 0)
        assert result.reranked == pytest.approx(expected)


def test_costs_are_measured(over):
    *costs, floats = over.snapshot().costs
    assert [cost.bits for cost in costs] == [16, 16, 16, 8]  # sign: one a dimension
    assert [cost.bytes for cost in costs] == [2, 2, 2, 1]
    for cost in costs:
        assert 0 < cost.encode[0] <= cost.encode[1]
        assert 0 < cost.scan[0] <= cost.scan[1]
        assert cost.memory(10**6) == cost.bytes * 10**6
    assert [cost.recomputed > 0 for cost in costs] == [True, True, True, False]
    assert costs[3].reencode == 0
    assert (floats.bits, floats.bytes) == (256, 32)


def test_other_lengths_are_learnt_at_the_end(over):
    now = over.snapshot()
    lengths = {(one.entry, one.bits) for one in now.lengths}
    assert {(0, bits) for bits in (16, 32)} <= lengths
    assert {bits for entry, bits in lengths if entry == 3} == {8}
    longer = next(one for one in now.lengths if (one.entry, one.bits) == (0, 32))
    alone = straight(over.comparison.experiment(now.entries[0], bits=32))
    assert longer.truth == alone.checkpoints.scores["map"][-1]
    assert longer.recall_10 == alone.checkpoints.scores["recall_10"][-1]


def test_means_and_spreads_are_over_seeds(over):
    now = over.snapshot()
    scores = [result.last("map") for result in now.results_of(0)]
    assert now.score(0, "map") == pytest.approx(np.mean(scores))
    assert now.spread(0, "map") == pytest.approx(np.std(scores, ddof=1))


@pytest.mark.parametrize("asked", [10, 40])
def test_the_comparison_and_the_paper_know_whether_all_seeds_have_the_same_queries(asked):
    X, labels = np.random.default_rng(0).normal(size=(200, 8)), np.arange(200) % 4
    plain = Dataset.from_arrays(X, labels=labels, queries=(20, asked))
    declared = replace(plain, fixed_test=np.arange(160, 200))
    for data, same in ((plain, False), (declared, asked == 40)):
        now = compare(data, ["lsh"], pairs=200, bits=8, kernel="none", sweep=False, seeds=(0, 1))
        one, other = now.queries.values()
        assert np.array_equal(one, other) == same == Measurements(Store(), QUICK, own=data).same_queries


def test_all_seeds_are_judged_by_the_same_later_clicks():
    data, values = own_data("clicks")
    fast = {"bits": 8, "pairs": 200, "sweep": False, "seeds": (0, 1)}
    now = compare(data, ["lsh"], **{**values, **fast})
    one, other = now.queries.values()
    assert len(one) and np.array_equal(one, other)
    *_, floats = result_rows(now)
    reached = [floats[name] for name in TRUTH_COLUMNS["hit_10"]]
    assert all(0 < value <= 1 for value in reached) and "map" not in floats


def test_an_error_of_one_method_is_a_message_and_stops_nothing_else():
    dataset, values = own_data("clicks")
    now = finished(small(("oh", "hcoh", "lsh"), dataset="own", **values), dataset).snapshot()
    assert now.state == "done"
    assert list(now.errors) == ["HCOH"]
    assert "learns from labels" in now.errors["HCOH"]
    assert now.judged == [0, 2]


def test_an_error_in_the_middle_is_a_message_too(monkeypatch):
    step = Run.step

    def broken(run, limit):
        if run.params.method == "itq" and run.t > 250:
            raise ZeroDivisionError("by design")
        return step(run, limit)

    monkeypatch.setattr(Run, "step", broken)
    now = finished(small()).snapshot()
    assert now.errors == {"ITQ": "ZeroDivisionError: by design"}
    assert now.judged == [0, 2]
    assert len(now.results[1].checkpoints["map"]) > 1  # what it had shown stays
    assert now.state == "done"


def test_methods_stay_level():
    runner = ComparisonRunner(small(("oh", "hcoh", "lsh"), pairs=3000))
    work = runner._work()
    apart = 0
    while not all(method_run.done for method_run in runner.first_seed_runs) or not runner.first_seed_runs:
        next(work)
        reached = [
            method_run.t for method_run in runner.first_seed_runs if method_run.run is not None and not method_run.done
        ]
        if len(reached) == 3:
            chunk = max(method_run._chunker.size for method_run in runner.first_seed_runs)
            apart = max(apart, max(reached) - min(reached) - chunk)
    assert apart <= 3000 / 8  # a chunk, at most up to the next checkpoint


def test_pause_resume_and_stop():
    runner = ComparisonRunner(small(pairs=10**7), paused=True)
    runner.start()
    deadline = time.monotonic() + 20
    while runner.snapshot().state != "paused" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert runner.snapshot().state == "paused"
    assert not runner.first_seed_runs
    runner.resume()
    while not runner.snapshot().judged and time.monotonic() < deadline + 60:
        time.sleep(0.01)
    runner.pause()
    while runner.state != "paused":
        time.sleep(0.01)
    stood = [method_run.t for method_run in runner.first_seed_runs]
    time.sleep(0.1)
    assert stood == [method_run.t for method_run in runner.first_seed_runs]
    with runner.between_steps():
        assert runner.first_seed_runs[0].run.checkpoints.codes is not None
    runner.stop()
    assert runner.finished.wait(60)
    assert runner.snapshot().state == "stopped"


def test_stop_before_start():
    runner = ComparisonRunner(small())
    runner.stop()
    runner.start()
    assert runner.finished.is_set()
    assert runner.state == "stopped"


def test_an_error_of_the_contest_itself_is_shown(monkeypatch):
    monkeypatch.setattr(runner_module, "measure_float_cost", lambda run: 1 / 0)
    now = finished(small()).snapshot()
    assert (now.state, now.error) == ("error", "ZeroDivisionError: division by zero")
    assert now.judged == [0, 1, 2]


def test_visitors_are_let_in_while_it_runs():
    runner = ComparisonRunner(small(pairs=10**7))
    runner.start()
    seen = []

    def visit():
        for _ in range(20):
            with runner.between_steps():
                seen.append([method_run.t for method_run in runner.first_seed_runs])

    visitor = threading.Thread(target=visit)
    visitor.start()
    visitor.join(30)
    runner.stop()
    assert len(seen) == 20


def test_methods_on_the_same_features_share_one_world():
    dataset, values = own_data("labels")
    runner = finished(small(("oh", "hcoh", "itq", "sign", "int8"), dataset="own", **values), dataset)
    worlds = [id(method_run.run.world) for method_run in runner.first_seed_runs]
    assert len(set(worlds[:3])) == len(set(worlds[3:])) == 1 and worlds[0] != worlds[3]
    assert runner.snapshot().setup.title == dataset.title


def test_given_neighbours_are_found_once(monkeypatch):
    calls = []
    neighbours = Judge._neighbours
    monkeypatch.setattr(Judge, "_neighbours", lambda *args: calls.append(1) or neighbours(*args))
    finished(small(sweep=True))
    assert len(calls) <= 3  # at most one per method of the curves, none for other lengths


def test_trials_are_on_validation_and_the_best_are_reported_on_test():
    runner = finished(small(("oh", "lsh"), trials=4))
    now = runner.snapshot()
    mine = [trial for trial in now.trials if trial.entry == 0]
    assert [trial.entry for trial in now.trials] == [0, 1, 0, 0, 0]  # nothing of LSH can be tuned
    best = max(mine, key=lambda trial: trial.truth)
    assert now.entries[0].values == best.values
    check = straight(runner.comparison.experiment(now.entries[0]).with_values(judged_by="validation"))
    assert check.checkpoints.scores["map"][-1] == best.truth
    assert {result.params.run.judged_by for result in now.results} == {"test"}
    assert {result.params.model.C for result in now.results if result.entry == 0} == {dict(best.values).get("C", 0.1)}


@pytest.mark.slow
def test_equal_seeds_equal_standings():
    one, other = (finished(small(("oh", "itq"), trials=3)).snapshot() for _ in range(2))
    assert one.trials == other.trials
    for a, b in zip(one.results, other.results, strict=True):
        np.testing.assert_array_equal(a.checkpoints["map"], b.checkpoints["map"])


def test_a_drift_refers_to_the_world_as_it_is_at_the_end():
    now = finished(small(("oh", "lsh"), drift="redefine", drift_at=200, kernel="none")).snapshot()
    run = straight(now.results[0].params)
    assert run.stage == 1
    work = run.checkpoints.judge.float_scores()
    while True:
        try:
            next(work)
        except StopIteration as done:
            np.testing.assert_array_equal(now.references[0].scores["map"], done.value["map"])
            break


def test_a_dataset_that_is_too_small_is_every_methods_message():
    dataset = Dataset.from_arrays(np.random.default_rng(0).normal(size=(40, 4)), labels=np.arange(40) % 2)
    now = finished(small(("oh", "lsh"), dataset="own", kernel="rbf", m=200), dataset).snapshot()
    assert now.state == "done"
    assert "m must be at most" in now.errors["OH"]


def test_a_length_that_fails_is_named(monkeypatch):
    original = ITQ.fit

    def fails(self, X, y=None):
        if self.r == 32:
            raise np.linalg.LinAlgError("SVD did not converge")
        original(self, X, y)

    monkeypatch.setattr(ITQ, "fit", fails)
    now = finished(small(("oh", "itq"), sweep=True)).snapshot()
    assert now.missing == ("ITQ at 32 bits: SVD did not converge",)
    assert {one.bits for one in now.lengths if one.entry == 0} > {one.bits for one in now.lengths if one.entry == 1}


def test_an_encoder_is_taken_with_codes_index_and_exports(over, tmp_path):
    for at, method_run in enumerate(over.first_seed_runs):
        with zipfile.ZipFile(io.BytesIO(encoder_archive(method_run.run))) as archive:
            archive.extractall(tmp_path / str(at))
    out, run = tmp_path / "0", over.first_seed_runs[0].run
    X = run.world.raw(run.stage)
    codes = np.load(out / "codes.npy")
    assert len(codes) == len(X) and np.array_equal(codes, run.hasher.encode(run.Z))
    model = load_model(out / "model.npz")
    np.testing.assert_array_equal(model.encode(model.feature_map.transform(X[:20])), codes[:20])
    names: dict = {"__file__": str(out / "encoder.py")}
    exec((out / "encoder.py").read_text(), names)
    assert (names["encode"](X) == codes).mean() > 0.999  # up to a bit within rounding of its threshold
    assert HammingIndex.load(out / "index.npz").search(codes[:1], 1).distances[0, 0] == 0
    assert (out / "pgvector" / "codes.sql").is_file() and (out / "milvus" / "encoder.py").is_file()
    note = (out / "README.txt").read_text()
    assert note.startswith(f"OH, {run.hasher.r} bits, learnt from {run.t:,} pairs") and "encoder.py" in note
