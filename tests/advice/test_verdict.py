"""The sentence is true where it would be false: clicks that mean nothing, that contradict the distance, too few."""

import re
from dataclasses import replace

import numpy as np
import pytest

from ohash.advice import contenders, runner, scoring
from ohash.advice.export import contender_rows, protocol, query_rows, table
from ohash.advice.params import AdviceParams
from ohash.advice.runner import AdviceRunner
from ohash.advice.verdict import half_width, number, verdict
from ohash.evaluation.significance import difference_over_seeds
from ohash.runtime import threads
from ohash.streams.dataset import Dataset
from tests.advice.click_logs import FEW, answer, clicks_of_groups, meaningless, misleading


@pytest.fixture(scope="module")
def learnable():
    from tests.advice.conftest import KEPT

    every = contenders.contenders
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            runner, "contenders", lambda log: [one for one in every(log) if one.key in KEPT or one.key == f"oh_{log.d}"]
        )
        yield answer(misleading())


@pytest.mark.slow
def test_clicks_that_contradict_the_distance_are_learnt(learnable):
    result = verdict(learnable)
    assert result.decision == "learn" and result.sentence.startswith("Learn with ")
    assert "on later clicks and loses" in result.sentence


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_clicks_without_information_teach_nothing(few, seed):
    result = verdict(answer(meaningless(seed=seed)))
    assert result.decision in ("rotate", "tie"), result.sentence


def test_the_sentence_follows_from_the_file_of_queries(learnable):
    rows = query_rows(learnable)
    result = verdict(learnable)
    names = learnable.contender(result.learnt).title, learnable.contender(result.free).title

    def scores(title, column):
        mine = [row for row in rows if row["contender"] == title and row["clicks_learnt"] == "all"]
        return [np.array([row[column] for row in mine if row["split"] == split]) for split in learnable.numbers]

    for column, score in (("hit_10", "hit_10"), ("recall_10", "recall_10")):
        gain = difference_over_seeds(scores(names[0], column), scores(names[1], column), score=score)
        assert f"{number(abs(gain.difference))} ± {number(half_width(gain))}" in result.sentence
    means = {row["contender"]: row for row in contender_rows(learnable)}
    assert means[names[0]]["hit_10"] == pytest.approx(np.concatenate(scores(names[0], "hit_10")).mean())


def test_what_would_change_the_answer_is_only_said_if_it_was_measured(learnable):
    changes = " ".join(verdict(learnable).changes)
    assert (
        "rescored by the float vectors" in changes
        and "half of the clicks" in changes
        and "2 bits per dimension" in changes
    )
    without = replace(learnable, half=(), measured=tuple(one for one in learnable.measured if "_2" not in one.key))
    changes = " ".join(verdict(without).changes)
    assert "half of the clicks" not in changes and "2 bits per dimension" not in changes


def test_with_fewer_bytes_the_best_of_one_size_is_named(learnable):
    code = learnable.contender("oh_24")
    twin = replace(code, key="twin", title="a better code")
    smaller = [replace(one, bytes=1.0) for one in learnable.results_of("adapter_rabitq_1")]
    measured = [one for one in learnable.measured if one.key != "oh_24"]
    measured += [replace(one, key="oh_24", validation=one.validation - 0.01) for one in smaller]
    measured += [replace(one, key="twin") for one in smaller]
    other = replace(learnable, contenders=(*learnable.contenders, twin), measured=tuple(measured))
    assert "With fewer bytes: a better code (1 byte per item)" in " ".join(verdict(other).changes)


def test_what_keeps_more_of_the_distance_is_named_where_the_clicks_do_not_tell_it_from_the_best(learnable):
    result = verdict(learnable)
    free = learnable.contender(result.free)
    assert "a keeper" not in result.sentence
    poor, twin = [], []
    for one in learnable.results_of(result.free):
        poor.append(replace(one, scores=replace(one.scores, recall=0.2 * one.scores.recall)))
        whole = replace(one.scores, recall=1 + 0 * one.scores.recall)
        twin.append(replace(one, key="twin", validation=one.validation - 0.01, scores=whole))
    others = [one for one in learnable.measured if one.key != result.free]
    named = (*learnable.contenders, replace(free, key="twin", title="a keeper"))
    other = replace(learnable, contenders=named, measured=(*others, *poor, *twin))
    assert verdict(other).free == result.free
    shown = rf"; a keeper \(\d+ bytes per item\), which these clicks do not show to find less than {free.title}, keeps"
    assert re.search(shown, verdict(other).sentence)
    finds = [replace(one, scores=replace(one.scores, truth=1 + 0 * one.scores.truth)) for one in poor]
    behind = replace(other, measured=(*others, *finds, *twin))
    assert "a keeper" not in verdict(behind).sentence, "the clicks show that it finds less"


def test_more_bits_are_mentioned_only_where_they_change_the_contenders(learnable):
    contenders = tuple(replace(one, bits=8.0) if one.bits == 4 else one for one in learnable.contenders)
    changes = " ".join(verdict(replace(learnable, contenders=contenders)).changes)
    assert "With 2 bits per dimension" in changes and "With 4 bits per dimension" not in changes


def test_rescoring_by_the_float_vectors_takes_back_what_clicks_taught(learnable):
    result = verdict(learnable)
    gain = learnable.difference(result.learnt, result.free, "truth").difference
    rescored = learnable.difference(result.learnt, result.free, "rescored_truth").difference
    assert rescored < gain


def test_an_unfinished_answer_says_so(learnable):
    first = tuple(one for one in learnable.measured if one.split == 0)
    early = verdict(replace(learnable, measured=first, half=(), state="running"))
    assert early.sentence.startswith("So far: ") and "fewer than 3 splits" in " ".join(early.changes)
    assert half_width(replace(learnable, measured=first).difference("oh_24", "sign", "truth")) >= 0.09
    assert verdict(replace(learnable, measured=())).decision == "waiting"


def one_sided(queries, docs, n=200, d=12):
    rng = np.random.default_rng(0)
    return Dataset.from_arrays(rng.normal(size=(n, d)).astype(np.float32), pairs=(queries, docs))


def test_one_query_decides_nothing(few):
    snapshot = answer(one_sided(np.zeros(150, int), np.arange(1, 151)))
    result = verdict(snapshot)
    assert result.decision == "tie" and "only 1 query has a later answer" in result.sentence
    assert "too few to keep their earlier clicks out" in protocol(snapshot)


def test_a_query_that_asks_in_several_splits_counts_once(learnable):
    """In the sentence as in the line below it, which also says how often they ask."""
    often = replace(learnable, queries=(np.arange(7), np.arange(7), np.arange(4, 11)))
    assert ", 21 searches by 11 queries with later clicks (" in protocol(often)
    assert verdict(often).sentence.endswith(": only 11 queries have a later answer, fewer than 20.")
    once = replace(learnable, queries=(np.arange(7), np.arange(7, 14), np.arange(14, 19)))
    assert ", 19 queries with later clicks (" in protocol(once)
    assert verdict(once).sentence.endswith(": only 19 queries have a later answer, fewer than 20.")
    assert "fewer than" not in verdict(replace(once, queries=(*once.queries, np.array([19])))).sentence


def test_why_few_queries_ask_is_said(learnable):
    """That more have no later answer is true only where all were asked that have one."""
    some = replace(learnable, params=replace(learnable.params, options=replace(FEW, queries=4)))
    sampled = replace(some, queries=(np.arange(4), np.arange(4, 8), np.arange(8, 12)))
    assert verdict(sampled).sentence.endswith(": only 12 queries ask, 4 per split as set, fewer than 20.")
    fewer = replace(some, queries=(np.arange(4), np.arange(4, 7)))
    assert verdict(fewer).sentence.endswith(": only 7 queries have a later answer, fewer than 20.")
    labelled = verdict(replace(fewer, source="labels")).sentence
    assert labelled.endswith(": only 7 queries ask, fewer than 20."), "labels have no time"


def test_where_nobody_finds_anything_nobody_is_named(learnable):
    nothing = [replace(one, scores=replace(one.scores, truth=0 * one.scores.truth)) for one in learnable.measured]
    result = verdict(replace(learnable, measured=tuple(nothing)))
    assert result.decision == "tie" and not result.changes
    assert result.sentence.endswith("can show: no contender finds a later answer among its ten nearest.")
    some = replace(nothing[-1], scores=learnable.measured[-1].scores)
    assert "no contender" not in verdict(replace(learnable, measured=(*nothing[:-1], some))).sentence


def test_no_change_is_neither_a_gain_nor_a_loss(learnable):
    """The same number for each query, or as much gained as lost."""
    result = verdict(learnable)
    free, learnt = (learnable.results_of(key) for key in (result.free, result.learnt))
    others = [one for one in learnable.measured if one.key != result.learnt]
    same = [
        replace(one, scores=replace(one.scores, truth=base.scores.truth, recall=base.scores.recall))
        for one, base in zip(learnt, free, strict=True)
    ]
    sentence = verdict(replace(learnable, measured=(*others, *same))).sentence
    assert "leaves hit@10 on later clicks as it is and leaves recall@10 of the float vectors as it is" in sentence
    assert not re.search(r"\b(gains|loses)\b", sentence)
    swapped = []
    for one, base in zip(learnt, free, strict=True):
        order = np.argsort(base.scores.truth, kind="stable")
        values = base.scores.truth.copy()
        values[order] = values[order[::-1]]
        swapped.append(replace(one, scores=replace(one.scores, truth=values, recall=base.scores.recall)))
    sentence = verdict(replace(learnable, measured=(*others, *swapped))).sentence
    assert re.search(r"changes hit@10 on later clicks by 0 ± \.[0-9]*[1-9]", sentence)


def test_of_labels_half_of_the_pairs_are_left_out(learnable):
    labelled = replace(learnable, source="labels")
    sentence = " ".join(verdict(labelled).changes)
    assert "from half of the pairs of one label to all of them" in sentence and "half of the labels" not in sentence


def test_clicks_on_one_document_decide_nothing(few):
    result = verdict(answer(one_sided(np.arange(1, 191), np.zeros(190, int))))
    assert result.decision == "tie" and "fall on 1 document," in result.sentence


def test_tiny_data_are_measured_and_decide_nothing(few):
    rng = np.random.default_rng(0)
    data = Dataset.from_arrays(rng.normal(size=(12, 3)).astype(np.float32), pairs=(np.arange(11), np.arange(11) + 1))
    result = verdict(answer(data))
    assert result.decision == "tie" and "later answer" in result.sentence


def test_labels_stand_for_clicks(few):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 5, 300)
    X = 3 * rng.normal(size=(300, 7))
    X[:, :3] = 0.3 * rng.normal(size=(300, 3)) + rng.normal(size=(5, 3))[group]
    snapshot = answer(Dataset.from_arrays(X, labels=group))
    assert "precision@10 on labels of rows not trained on" in verdict(snapshot).sentence
    assert "pairs of one label" in protocol(snapshot)
    assert table(snapshot)[0][2] == "precision@10"
    assert {row["kind"] for row in contender_rows(snapshot)} == {
        "reference", "without labels", "learns from labels"
    }  # fmt: skip


def test_two_sides_need_not_share_a_mean(few):
    rng = np.random.default_rng(1)
    topic = rng.normal(size=(40, 16))
    docs, queries = rng.integers(0, 40, 400), rng.integers(0, 40, 200)
    X = np.concatenate([topic[docs], topic[queries] + 5]) + 0.3 * rng.normal(size=(600, 16))
    i, j = clicks_of_groups(np.concatenate([docs, queries]), 6000, rng)
    kept = (i >= 400) & (j < 400)
    data = replace(Dataset.from_arrays(X, pairs=(i[kept], j[kept])), query_rows=np.arange(400, 600))
    snapshot = answer(data)
    assert snapshot.n == 400
    assert snapshot.mean("adapter_rabitq_1", "truth") > snapshot.mean("rabitq_1", "truth")


def test_the_progress_never_goes_back(few):
    runner = AdviceRunner(AdviceParams("own", "x", FEW), misleading(n=200, clicks=600))
    shares = []
    runner._publish = lambda *, last=False: (
        AdviceRunner._publish(runner, last=last),
        shares.append(runner.snapshot().share),
    )
    runner.finish()
    assert shares[-1] == 1 and shares == sorted(shares)


@pytest.mark.slow
@pytest.mark.parametrize("data", [misleading, meaningless])
def test_with_every_contender(data):
    snapshot = answer(data(), replace(FEW, queries=100, pairs=5000))
    assert not snapshot.errors and {one.key for one in snapshot.measured} == {one.key for one in snapshot.contenders}
    result = verdict(snapshot)
    assert (result.decision == "learn") == (data is misleading), result.sentence
    assert all(re.search(r"\d", text) for text in result.changes)


@pytest.mark.slow
def test_what_is_not_used_is_in_the_protocol(few):
    data = misleading(n=200, clicks=600)
    held = "(none of their clicks is learnt in a split where they ask; documents may be learnt from)"
    assert protocol(answer(data)).endswith(f"queries with later clicks {held}")
    noted = replace(data, key="own", note="the labels of d are not used, because q has none")
    assert protocol(answer(noted)).endswith(f"later clicks {held}; the labels of d are not used, because q has none")
    labelled = replace(data, labels=np.arange(200) % 3)
    assert protocol(answer(labelled)).endswith(f"later clicks {held}; labels are not used, because there are clicks")


@pytest.mark.slow
def test_the_number_of_threads_changes_nothing(monkeypatch):
    """Every contender but OPQ, with blocks so small that all threads have work."""
    every = contenders.contenders
    monkeypatch.setattr(runner, "contenders", lambda log: [one for one in every(log) if one.key != "opq"])
    for module in (runner, scoring):
        monkeypatch.setattr(module, "ROWS_PER_BLOCK", 128)
    measured = []
    for cores in (1, 3):
        monkeypatch.setattr(threads, "cores", lambda cores=cores: cores)
        threads._pool.cache_clear()
        snapshot = answer(misleading(), replace(FEW, queries=40))
        measured.append({(one.key, one.split): one for one in snapshot.measured})
    threads._pool.cache_clear()
    assert len(measured[0]) == len(measured[1]) == 3 * len(snapshot.contenders)
    for key, one in measured[0].items():
        other = measured[1][key]
        assert (one.validation, one.settings, one.bytes) == (other.validation, other.settings, other.bytes)
        for name, values in vars(one.scores).items():
            np.testing.assert_array_equal(getattr(other.scores, name), values)
        assert min(one.train, one.encode, other.train, other.encode) >= 0


@pytest.mark.slow
def test_two_ways_to_score_the_same_codes_encode_once(monkeypatch):
    every, kept = contenders.contenders, ("float", "rabitq_1", "oh_24", "oh_24_asymmetric")
    monkeypatch.setattr(runner, "contenders", lambda log: [one for one in every(log) if one.key in kept])
    snapshot = answer(misleading())
    for one, other in zip(snapshot.results_of("oh_24"), snapshot.results_of("oh_24_asymmetric"), strict=True):
        assert one.encode == other.encode and one.bytes == other.bytes
        assert not np.array_equal(one.scores.ndcg, other.scores.ndcg)
