"""The fairness line says what each method was given."""

from dataclasses import replace

import numpy as np
import pytest

from ohash.comparison.export import result_rows
from ohash.comparison.fairness import fairness
from ohash.comparison.runner import compare
from ohash.engine.judge import CLICKS
from ohash.streams.dataset import Dataset
from tests.comparison.snapshots import snapshot


def test_the_fairness_line_names_everything():
    text = fairness(snapshot({"oh": 0.6, "sdh": 0.7, "itq": 0.5, "sign": 0.4}, seeds=(0, 1)))
    assert "total bits: 64 ·" in text
    assert "supervision: pairs (OH), labels (SDH), none (ITQ, Sign)" in text
    assert "vectors of unit length (Sign), RBF, 300 anchors (OH, SDH)" in text
    assert "database seen in training" in text
    assert "SDH, ITQ fitted to the points so far" in text
    assert "200 test queries, 2 seeds" in text
    assert text.endswith("default parameters") and "drift" not in text
    trees = fairness(snapshot({"fasthash": 0.6, "sign": 0.4, "itq": 0.5}))
    assert "vectors as given (FastHash), vectors of unit length (Sign), centred vectors of unit length (ITQ)" in trees
    moved = snapshot({"oh": 0.6}, drift="rotate", drift_at=300)
    assert "drift (rotate) at pair 300 ·" in fairness(moved)
    late = snapshot({"oh": 0.6}, drift="rotate", drift_at=5000)
    assert "no drift: rotate is set for pair 5,000, and the stream ends at 1,000" in fairness(late)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (999, "drift (rotate) at pair 999"),
        (1000, "no drift: rotate is set for pair 1,000, and the stream ends at 1,000"),
    ],
)
def test_a_drift_after_the_last_pair_never_comes(at, expected):
    """Pairs are counted from 0: the last of 1,000 is pair 999."""
    assert expected in fairness(snapshot({"oh": 0.6}, drift="rotate", drift_at=at)).split(" · ")


@pytest.mark.parametrize(
    ("similar_by", "given"),
    [("label", "labels"), ("track", "labels"), ("", "labels"), ("metric", "pairs"), ("topk", "pairs"),
     *((one, "pairs") for one in CLICKS)],
)  # fmt: skip
def test_what_a_method_of_labels_was_given_where_there_are_none(similar_by, given):
    """KSH and FastHash are then fitted to which pairs of a sample are similar."""
    now = snapshot({"oh": 0.7, "ksh": 0.8, "itq": 0.5})
    now = replace(now, setup=replace(now.setup, similar_by=similar_by))
    assert [now.supervision(at) for at in range(3)] == ["pairs", given, "none"]
    assert ("labels" in fairness(now)) == (given == "labels")
    rows = {row["method"]: row["learns_from"] for row in result_rows(now)}
    assert rows["KSH"] == given


def test_the_fairness_line_counts_the_anchors_that_there_are():
    own = Dataset.from_arrays(np.random.default_rng(0).normal(size=(20, 6)))
    now = compare(own, ["oh", "itq"], pairs=100, bits=8, sweep=False, seeds=(0,))
    assert "RBF, 18 anchors (OH)" in fairness(now) and "· 1 test query, 1 seed" in fairness(now)
    assert [row["features"] for row in result_rows(now)[:1]] == ["RBF, 18 anchors"]
    assert "RBF, 18 anchors (OH)" in fairness(compare(now.comparison.with_values(methods=("itq", "oh")), data=own))


def test_the_fairness_line_says_which_methods_miss_their_kernel():
    """The data decide whether a method made for a kernel has one; learnt embeddings have none."""
    without = "OH, SDH made for an RBF kernel, which the features here lack"
    methods = {"oh": 0.6, "sdh": 0.7, "itq": 0.5}
    assert without in fairness(snapshot(methods, kernel="none"))
    assert without not in fairness(snapshot(methods)), "Fashion-MNIST has the kernel"
    now = snapshot(methods, kernel="none")
    same = replace(now.comparison, options=replace(now.comparison.options, maps="same"))
    assert without not in fairness(replace(now, comparison=same)), "as asked for"
