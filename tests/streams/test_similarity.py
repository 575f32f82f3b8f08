"""What "similar" means, against brute force over every pair of a small pool."""

import numpy as np
import pytest

from ohash.streams.dataset import Dataset
from ohash.streams.similarity import make_similarity
from ohash.streams.similarity.base import draw_by_rejection, draw_uniform_pairs
from ohash.streams.similarity.groups import GroupSimilarity, MultiLabelSimilarity
from ohash.streams.similarity.metric import MetricSimilarity
from tests.streams.example_datasets import all_pairs, grouped, source_of, whole
from tests.streams.uniformity import kind_of, uniform_p


def small_sources():
    labelled = grouped(12, 3, queries=(1, 1))
    flags = np.random.default_rng(3).random((12, 4)) < 0.4
    multi = Dataset.from_arrays(np.eye(12), labels=flags, queries=(1, 1))
    rows = whole(12)
    return {
        "label": GroupSimilarity(labelled.labels, rows.train),
        "multi": MultiLabelSimilarity(flags, rows.train),
        "metric": MetricSimilarity(labelled, rows.train, rows.database, share=0.2),
        "topk": MetricSimilarity(labelled, rows.train, rows.database, k=3),
        "one-sided": MetricSimilarity(labelled, rows.train, rows.database, share=0.2, one_sided=True),
        "multi-dataset": make_similarity(multi, rows, "label"),
    }


@pytest.mark.parametrize("name", small_sources())
@pytest.mark.parametrize("similar", [True, False])
def test_draws_are_uniform_over_the_pairs_of_their_kind(name, similar):
    source = small_sources()[name]
    rng = np.random.default_rng(7)
    draw = source.draw_similar if similar else source.draw_dissimilar
    assert uniform_p(draw(rng, 20_000), kind_of(source, similar)) > 1e-4


@pytest.mark.parametrize("name", ["label", "metric", "topk", "one-sided"])
def test_natural_share_is_exact(name):
    source = small_sources()[name]
    assert source.natural_share == pytest.approx(source.is_similar(*all_pairs(source.pool)).mean(), abs=1e-12)


def test_natural_share_of_several_labels_is_estimated_within_its_error():
    source = small_sources()["multi"]
    truth = source.is_similar(*all_pairs(source.pool)).mean()
    assert abs(source.natural_share - truth) < 5 * np.sqrt(truth * (1 - truth) / 20_000)


def test_a_shared_label_is_enough():
    flags = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0]], bool)
    source = MultiLabelSimilarity(flags, np.arange(5))
    i, j = all_pairs(np.arange(5))
    literal = [any(a and b for a, b in zip(flags[x], flags[y], strict=True)) for x, y in zip(i, j, strict=True)]
    assert source.is_similar(i, j).tolist() == literal
    assert source.relevant(np.array([0, 4]), np.arange(5)).tolist() == [
        [True, True, True, False, False],
        [False] * 5,
    ]


def test_tracks_are_groups_of_their_own():
    dataset = grouped(40, 3)
    tracks = np.arange(40) // 2
    with_tracks = Dataset(key="t", title="t", X=dataset.X, labels=dataset.labels, tracks=tracks, queries=(2, 2))
    assert with_tracks.similarities == ("track", "label", "metric", "topk")
    source = source_of(with_tracks)
    assert source.name == "track"
    i, j = source.draw_similar(np.random.default_rng(0), 500)
    assert (tracks[i] == tracks[j]).all() and (i != j).all()
    assert source.natural_share == source.is_similar(*all_pairs(source.pool)).mean()
    assert source_of(with_tracks, "label").name == "label"


# -- the metric rule -----------------------------------------------------------------------------------------------


def test_rejection_finds_rare_pairs_and_gives_up_on_impossible_ones():
    flags = np.zeros((300, 1), bool)
    flags[[7, 8]] = True  # one similar pair of 44,850
    source = MultiLabelSimilarity(flags, np.arange(300))
    i, j = draw_by_rejection(np.random.default_rng(0), source, 20, wanted=True)
    assert np.array_equal(np.sort([i, j], axis=0), np.repeat([[7], [8]], 20, axis=1))
    flags[7] = False
    with pytest.raises(ValueError, match="no similar pairs could be drawn"):
        draw_by_rejection(np.random.default_rng(0), source, 1, wanted=True)


def test_uniform_pairs_are_uniform_and_never_of_one_point():
    pool = np.array([3, 5, 8, 9])
    assert uniform_p(draw_uniform_pairs(np.random.default_rng(0), pool, 12_000), all_pairs(pool)) > 1e-4


@pytest.mark.parametrize(
    ("labels", "message"),
    [([0] * 6, "needs at least 2 groups in the training pool, got 1"), (range(6), "no pair is similar")],
)
def test_groups_without_one_kind_of_pair_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        GroupSimilarity(np.array(labels), np.arange(6))


def test_unknown_similarity_is_named():
    with pytest.raises(ValueError, match=r"similar_by must be one of auto, label, metric, topk .* got 'track'"):
        source_of(grouped(), "track")


# -- given pairs and clicks ----------------------------------------------------------------------------------------
