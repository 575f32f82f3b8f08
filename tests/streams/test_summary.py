"""The summary says what is there, also what is wrong."""

import numpy as np
import pytest

from ohash.streams import summary as module
from ohash.streams.dataset import Dataset
from ohash.streams.summary import summarize

RNG = np.random.default_rng(8)
X = RNG.normal(size=(300, 6)).astype(np.float32)


def test_facts() -> None:
    A = X.copy()
    A[:, 2] = 5
    A[10] = A[11] = A[12]
    A[20] = 0
    A[20, 2] = 5
    summary = summarize(Dataset.from_arrays(A, labels=np.arange(300) % 3))
    assert (summary.rows, summary.columns, summary.classes, summary.smallest_class) == (300, 6, 3, 100)
    assert (summary.duplicates, summary.constant, summary.sampled) == (2, (2,), 0)
    assert summary.similar_share == pytest.approx(1 / 3, abs=0.01)
    assert summary.norms[0] == pytest.approx(5)
    assert summary.good
    text = "\n".join(summary.lines())
    for part in ("300 rows", "classes: 3", "duplicate rows: 2", "constant columns: 1 (2)", "RBF kernel", "label"):
        assert part in text


def test_vectors_without_a_kernel_are_not_said_to_suit_the_methods_made_for_one() -> None:
    assert "no kernel, though OH was made for one" in "\n".join(
        summarize(Dataset.from_arrays(X, kernel="none")).lines()
    )
    assert "RBF kernel, which OH was made for" in "\n".join(summarize(Dataset.from_arrays(X)).lines())


def test_a_bare_matrix_and_clicks() -> None:
    assert summarize(Dataset.from_arrays(X)).similar_by == "metric"
    clicks = Dataset.from_arrays(X, pairs=(np.arange(200), np.arange(200) + 1))
    summary = summarize(clicks)
    assert (summary.similar_by, summary.pairs) == ("clicks", 200)
    assert "negatives are sampled" in "\n".join(summary.lines())


def test_points_that_are_all_the_same() -> None:
    summary = summarize(Dataset.from_arrays(np.ones((300, 4))))
    assert (summary.duplicates, summary.similar_share) == (299, 1.0)
    assert not summary.good and "nothing to learn" in summary.lines()[-1]


@pytest.mark.parametrize(("metric", "words"), [("l2", "Euclidean"), ("cosine", "cosine"), ("dot", "dot product")])
def test_the_original_distance_is_named(metric: str, words: str) -> None:
    lines = summarize(Dataset.from_arrays(X, metric=metric)).lines()  # type: ignore[arg-type]
    assert any(line.startswith(f"original distance: {words}") for line in lines)


def test_the_natural_share_of_clicks_is_measured() -> None:
    """200 different pairs among 201 items: 1 % of all. Of 300 clicks the first 240 are trained on."""
    i = np.arange(300) % 150
    summary = summarize(Dataset.from_arrays(X, pairs=(i, i + 150)))
    assert summary.similar_share == pytest.approx(150 / (300 * 299 / 2))
    assert "in a run" in "\n".join(summary.lines())


def test_top_k_says_how_many() -> None:
    summary = summarize(Dataset.from_arrays(X), "topk")
    assert "nearest 10" in "\n".join(summary.lines())
    assert 10 / 270 / 1.5 < (summary.similar_share or 0) < 2 * 10 / 270


def test_flags_of_labels() -> None:
    flags = np.zeros((300, 2), int)
    flags[:200, 0] = flags[150:, 1] = 1
    summary = summarize(Dataset.from_arrays(X, labels=flags))
    assert (summary.classes, summary.smallest_class) == (2, 150)


def test_what_is_not_finite_is_placed() -> None:
    A = X.copy()
    A[17, 3] = np.nan
    summary = summarize(not_looked_at(A))
    assert summary.not_finite == (17, 3)
    assert not summary.good
    assert "row 17, column 3" in "\n".join(summary.lines())


def test_a_row_too_long_to_be_measured_is_placed() -> None:
    A = X.copy()
    A[299, 3] = 1e23
    summary = summarize(not_looked_at(A))
    assert not summary.good
    assert "length at most 1e+18, got 1e+23 at row 299, column 3" in summary.lines()[-1]


def test_a_row_much_longer_than_the_others_is_named() -> None:
    A = X / np.linalg.norm(X, axis=1, keepdims=True)
    A[299] *= 1e5
    assert any(line.startswith("row 299 is 1e5 times as long as the median row") for line in lines(A))
    A[299] /= 1e3
    assert not any("times as long" in line for line in lines(A))


def lines(A: np.ndarray) -> list[str]:
    return summarize(Dataset.from_arrays(A)).lines()


def test_a_similarity_that_cannot_be_is_a_problem_not_a_crash() -> None:
    summary = summarize(Dataset.from_arrays(X, labels=np.arange(300)))
    assert not summary.good
    assert "no pair is similar" in summary.lines()[-1]


def test_a_large_set_is_sampled_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WHOLE", 600)
    A = X.copy()
    A[:, 0] = 1
    summary = summarize(Dataset.from_arrays(A))
    assert summary.sampled == 100
    assert "(of 100 sampled rows)" in "\n".join(summary.lines())
    rows = np.sort(np.random.default_rng(0).choice(300, 100, replace=False))
    A[rows[5], 4] = np.inf
    assert summarize(not_looked_at(A)).not_finite == (int(rows[5]), 4)


def not_looked_at(A: np.ndarray) -> Dataset:
    """As a large mapped file comes: its values are not searched for NaN at once."""
    return Dataset(key="user", title="large", X=A, queries=(20, 20))


def test_pairs_of_a_row_with_itself_are_counted() -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    i = np.arange(40)
    summary = summarize(Dataset.from_arrays(X, pairs=(i, np.where(i % 10 == 0, i, i + 1))))
    assert summary.pairs == 36
    assert "pairs: 36; 4 pairs of a row with itself were left out" in summary.lines()


def test_a_column_that_drowns_the_others_is_named() -> None:
    X = np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32)
    assert summarize(Dataset.from_arrays(X)).dominant_column is None
    X[:, 5] = np.arange(200)
    summary = summarize(Dataset.from_arrays(X))
    assert summary.dominant_column is not None and summary.dominant_column[0] == 5
    assert any(line.startswith("column 5 alone accounts for") for line in summary.lines())
