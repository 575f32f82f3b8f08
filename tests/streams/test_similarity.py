"""What "similar" means, against brute force over every pair of a small pool."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ohash.core.distance import pair_distances
from ohash.streams import metric as metric_module
from ohash.streams.base import Dataset, split
from ohash.streams.given import GivenSimilarity, by_time
from ohash.streams.groups import GroupSimilarity, MultiLabelSimilarity
from ohash.streams.metric import MetricSimilarity
from ohash.streams.similar_by import similarity
from ohash.streams.similarity import rejected, uniform_pairs
from tests.streams.stream_data import all_pairs, clicks, grouped, source_of, whole


def uniform_p(drawn, wanted):
    """P-value of a chi-square test that ordered pairs `drawn` are uniform over `wanted`, both (i, j)."""
    names = {pair: at for at, pair in enumerate(zip(*(part.tolist() for part in wanted), strict=True))}
    counts = np.zeros(len(names))
    for pair in zip(*(part.tolist() for part in drawn), strict=True):
        counts[names[pair]] += 1  # KeyError: a pair that must not come
    return stats.chisquare(counts).pvalue


def kind_of(source, similar):
    i, j = all_pairs(source.pool)
    keep = source.is_similar(i, j) == similar
    return i[keep], j[keep]


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
        "multi-dataset": similarity(multi, rows, "label"),
    }


@pytest.mark.parametrize("name", small_sources())
@pytest.mark.parametrize("similar", [True, False])
def test_draws_are_uniform_over_the_pairs_of_their_kind(name, similar):
    source = small_sources()[name]
    rng = np.random.default_rng(7)
    draw = source.draw_similar if similar else source.draw_dissimilar
    assert uniform_p(draw(rng, 20_000), kind_of(source, similar)) > 1e-4


@pytest.mark.parametrize("name", ["label", "metric", "topk"])
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


def either_of_two(X, pool, database, neighbours, metric):
    """Literal: sort every point's distances to the database without itself; a pair is near if either ball holds it."""
    n = len(X)
    D = np.array([pair_distances(np.repeat(X[a : a + 1], n, axis=0), X, metric) for a in range(n)])
    radius = np.array([np.sort(D[a, database[database != a]])[neighbours - 1] for a in range(n)])
    return D <= np.maximum(radius[:, None], radius)


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("data", ["normal", "ties", "offset", "duplicates", "zeros"])
def test_metric_rule_equals_brute_force(metric, data):
    rng = np.random.default_rng(5)
    X = {
        "normal": rng.normal(size=(80, 6)),
        "ties": rng.integers(0, 3, (80, 3)).astype(float),
        "offset": rng.normal(size=(80, 6)) + 1e6,
        "duplicates": np.repeat(rng.normal(size=(10, 4)), 8, axis=0),
        "zeros": np.where(np.arange(80)[:, None] % 7 == 0, 0, rng.normal(size=(80, 4))),
    }[data]
    dataset = Dataset.from_arrays(X, metric=metric, queries=(8, 8))
    for how, k in ((("metric"), None), ("topk", 5)):
        parts = split(dataset, 1, train="disjoint")
        source = similarity(dataset, parts, how, top_k=5)
        neighbours = k or max(1, round(0.05 * len(parts.database)))
        near = either_of_two(X, parts.train, parts.database, neighbours, metric)
        i, j = all_pairs(np.arange(80))
        assert np.array_equal(source.is_similar(i, j), near[i, j])
        assert np.array_equal(source.relevant(parts.test, parts.database), near[np.ix_(parts.test, parts.database)])
        a, b = all_pairs(parts.train)
        assert source.natural_share == pytest.approx(near[a, b].mean(), abs=1e-12)
        drawn = source.draw_similar(np.random.default_rng(0), 2000)
        assert near[drawn].all() and np.isin(drawn, parts.train).all()
        assert {tuple(pair) for pair in zip(*drawn, strict=True)} <= set(zip(a[near[a, b]], b[near[a, b]], strict=True))


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("distinct", [1, 3, 40])
def test_equal_points_are_measured_once(metric, distinct, monkeypatch):
    """Among equal points every distance is a tie; all pairs of 600 in float64 would be 360,000."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(distinct, 4))[rng.integers(0, distinct, 600)].astype(np.float32)
    dataset = Dataset.from_arrays(X, metric=metric)
    parts = split(dataset, 0)
    measured = []
    apart = MetricSimilarity._apart
    monkeypatch.setattr(MetricSimilarity, "_apart", lambda self, i, j: (measured.append(len(i)), apart(self, i, j))[1])
    source = MetricSimilarity(dataset, parts.train, parts.database)
    near = source.relevant(parts.test, parts.database)
    share = source.natural_share
    assert sum(measured) < 600 * 2 * distinct
    monkeypatch.undo()
    expected = either_of_two(X, parts.train, parts.database, source.neighbours, metric)
    assert np.array_equal(near, expected[np.ix_(parts.test, parts.database)])
    pool = expected[np.ix_(parts.train, parts.train)]
    assert share == pytest.approx((pool.sum() - np.trace(pool)) / (len(pool) * (len(pool) - 1)))


def test_whole_numbers_need_no_second_look(monkeypatch):
    X = np.random.default_rng(0).integers(0, 2, (300, 24)).astype(np.float32)
    dataset = Dataset.from_arrays(X)
    parts = split(dataset, 0)
    monkeypatch.setattr(MetricSimilarity, "_apart", None)
    source = MetricSimilarity(dataset, parts.train, parts.database)
    near = source.relevant(parts.test, parts.database)
    monkeypatch.undo()
    expected = either_of_two(X, parts.train, parts.database, source.neighbours, "l2")
    assert np.array_equal(near, expected[np.ix_(parts.test, parts.database)])


def test_hardly_any_pair_that_is_not_similar_is_not_listed(monkeypatch):
    monkeypatch.setattr(metric_module, "LISTED", 3000)
    source = source_of(Dataset.from_arrays(np.ones((300, 2))), "metric")
    assert source.natural_share == 1.0
    i, j = source.draw_similar(np.random.default_rng(0), 50)
    assert (i != j).all()


@pytest.mark.parametrize("block", [7, 64, 1000])
def test_metric_rule_does_not_depend_on_the_block(monkeypatch, block):
    dataset = Dataset.from_arrays(np.random.default_rng(0).normal(size=(150, 8)), queries=(5, 5))
    straight = source_of(dataset, "metric")
    grid = straight.relevant(np.arange(150), np.arange(150))
    monkeypatch.setattr(metric_module, "BLOCK", block)
    again = source_of(dataset, "metric")
    assert np.array_equal(again.relevant(np.arange(150), np.arange(150)), grid)
    assert np.array_equal(again._listed(), straight._listed())


def test_the_last_neighbour_is_similar_and_its_pair_is_drawn():
    """The pair that defines a radius lies exactly on it: it must be inside, and among the listed pairs."""
    X = np.random.default_rng(2).normal(size=(300, 32)).astype(np.float32)
    dataset = Dataset.from_arrays(X, queries=(2, 2))
    rows = whole(300)
    source = MetricSimilarity(dataset, rows.train, rows.database, k=7)
    D = ((X[:, None].astype(np.float64) - X.astype(np.float64)) ** 2).sum(axis=2)
    seventh = np.argsort(D, axis=1)[:, 7]
    assert source.is_similar(np.arange(300), seventh).all()
    listed = {frozenset(pair) for pair in zip(*source._listed(), strict=True)}
    assert all(frozenset(pair) in listed for pair in zip(range(300), seventh.tolist(), strict=True))


def test_without_a_list_similar_pairs_are_the_same_set(monkeypatch):
    dataset = grouped(14, 2, queries=(1, 1))
    rows = whole(14)
    listed = MetricSimilarity(dataset, rows.train, rows.database, share=0.2)
    monkeypatch.setattr(metric_module, "LISTED", 0)
    rejecting = MetricSimilarity(dataset, rows.train, rows.database, share=0.2)
    wanted = kind_of(listed, True)
    assert uniform_p(rejecting.draw_similar(np.random.default_rng(1), 10_000), wanted) > 1e-4
    p = listed.natural_share
    assert abs(rejecting.natural_share - p) < 5 * np.sqrt(p * (1 - p) / 20_000)


def test_estimated_radii_say_so(monkeypatch):
    dataset = Dataset.from_arrays(np.random.default_rng(0).normal(size=(600, 3)), queries=(5, 5))
    exact = source_of(dataset, "metric")
    assert exact.note == ""
    monkeypatch.setattr(metric_module, "EXACT", 500)
    monkeypatch.setattr(metric_module, "SAMPLE", 200)
    estimated = source_of(dataset, "metric")
    assert estimated.note == "radii estimated from 200 of 590 database points"
    assert estimated.natural_share == pytest.approx(exact.natural_share, rel=0.4)
    assert estimated.natural_share != exact.natural_share
    # also where a point is asked for more neighbours than the sample holds
    assert source_of(dataset, "topk", top_k=589).natural_share > 0.9


@pytest.mark.parametrize("top_k", [0, 54, 10**5])
def test_too_many_neighbours_are_refused(top_k):
    dataset = grouped(60, queries=(3, 3))
    with pytest.raises(ValueError, match=rf"similar_by='topk' needs 1 to 53 neighbours, got {top_k}"):
        source_of(dataset, "topk", top_k=top_k)


# -- drawing by rejection ------------------------------------------------------------------------------------------


def test_rejection_finds_rare_pairs_and_gives_up_on_impossible_ones():
    flags = np.zeros((300, 1), bool)
    flags[[7, 8]] = True  # one similar pair of 44,850
    source = MultiLabelSimilarity(flags, np.arange(300))
    i, j = rejected(np.random.default_rng(0), source, 20, wanted=True)
    assert np.array_equal(np.sort([i, j], axis=0), np.repeat([[7], [8]], 20, axis=1))
    flags[7] = False
    with pytest.raises(ValueError, match="no similar pairs could be drawn"):
        rejected(np.random.default_rng(0), source, 1, wanted=True)


def test_uniform_pairs_are_uniform_and_never_of_one_point():
    pool = np.array([3, 5, 8, 9])
    assert uniform_p(uniform_pairs(np.random.default_rng(0), pool, 12_000), all_pairs(pool)) > 1e-4


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


def keys(i, j, n):
    return set((np.minimum(i, j) * n + np.maximum(i, j)).tolist())


@pytest.mark.parametrize("negatives", ["uniform", "popularity"])
def test_sampled_negatives_are_never_a_known_positive(negatives):
    dataset = clicks(count=600)
    source = GivenSimilarity(dataset, negatives)
    i, j = source.draw_dissimilar(np.random.default_rng(0), 5000)
    assert (i != j).all()
    assert not keys(i, j, dataset.n) & keys(dataset.pairs.i, dataset.pairs.j, dataset.n)  # also none of the later ones
    assert np.isin(j, source.pool).all() and np.isin(i, source.pool).all()
    assert source.note == f"negatives sampled ({negatives})"
    assert source.name == "clicks"


def test_popularity_negatives_follow_the_clicks():
    """One item holds a third of all clicks: uniform negatives take it rarely, popularity-corrected ones as often."""
    rng = np.random.default_rng(0)
    n, count = 400, 3000
    i = rng.integers(1, n, count)
    j = np.where(rng.random(count) < 1 / 3, 0, rng.integers(1, n, count))
    dataset = Dataset.from_arrays(np.eye(n, 3), pairs=(i, j))
    shares = {}
    for negatives in ("uniform", "popularity"):
        source = GivenSimilarity(dataset, negatives)
        # the popular item clicked most others, which are positives; count among those it never met
        items = source._items
        popularity = np.diff(source._popularity, prepend=0)
        assert popularity[items == 0] == pytest.approx(1 / 6, rel=0.15)
        _, drawn = source.draw_dissimilar(np.random.default_rng(1), 20_000)
        shares[negatives] = (drawn == 0).mean()
    assert shares["popularity"] > 10 * shares["uniform"]


def test_impossible_negatives_are_an_error():
    i, j = np.triu_indices(5, 1)
    dataset = Dataset.from_arrays(np.eye(5), pairs=(i, j), queries=(1, 1))
    with pytest.raises(ValueError, match="no negatives could be sampled"):
        GivenSimilarity(dataset).draw_dissimilar(np.random.default_rng(0), 3)


def test_later_clicks_are_never_trained_on():
    dataset = clicks()
    pairs, source = dataset.pairs, GivenSimilarity(dataset)
    first, next_, last = (pairs.time[at] for at in (source.parts.train, source.parts.validation, source.parts.test))
    assert first.max() < next_.min() and next_.max() < last.min()
    assert (len(first), len(next_), len(last)) == (240, 30, 30)
    i, j = source.draw_similar(np.random.default_rng(0), 20_000)
    train = keys(pairs.i[source.parts.train], pairs.j[source.parts.train], dataset.n)
    assert keys(i, j, dataset.n) == train  # all of them, and no later one
    for part, at in (("validation", source.parts.validation), ("test", source.parts.test)):
        assert np.array_equal(source.later(part), (pairs.i[at], pairs.j[at]))
        assert not keys(*source.later(part), dataset.n) & train


def test_pairs_without_time_come_in_their_order():
    dataset = clicks(time=False)
    assert np.array_equal(by_time(dataset.pairs).train, np.arange(240))


def test_given_pairs_keep_their_signs():
    rng = np.random.default_rng(0)
    s = np.where(rng.random(300) < 0.3, 1, -1)
    dataset = clicks(s=s)
    source = GivenSimilarity(dataset)
    assert source.name == "pairs" and source.note == ""
    train = source.parts.train
    assert source.natural_share == (s[train] == 1).mean()
    for draw, sign in ((source.draw_similar, 1), (source.draw_dissimilar, -1)):
        at = train[s[train] == sign]
        assert keys(*draw(rng, 20_000), dataset.n) == keys(dataset.pairs.i[at], dataset.pairs.j[at], dataset.n)
    assert all(
        s[source.parts.test][dataset.pairs.i[source.parts.test] == i].max() == 1 for i in source.later("test")[0]
    )


def test_partners_are_those_of_training_in_either_direction():
    dataset = clicks()
    source = GivenSimilarity(dataset)
    i, j = dataset.pairs.i[source.parts.train], dataset.pairs.j[source.parts.train]
    found = source.partners(np.arange(dataset.n))
    for row in range(dataset.n):
        assert set(found[row].tolist()) == set(j[i == row].tolist()) | set(i[j == row].tolist())


@given(count=st.integers(5, 80), share=st.floats(0.02, 1))
@settings(deadline=None, max_examples=150)
def test_one_pass_over_clicks_brings_every_positive_once(count, share):
    i = np.arange(count)
    j = i + 1
    source = GivenSimilarity(Dataset.from_arrays(np.eye(count + 1), pairs=(i, j), queries=(1, 1)))
    length = source.pass_length(share)
    a, b, s = source.in_order(np.random.default_rng(0), np.arange(length), share)
    positives = len(source.parts.train)
    assert np.array_equal((a[s == 1], b[s == 1]), (i[:positives], j[:positives]))
    assert s[-1] == 1 and (s == 1).sum() == positives


def test_one_pass_over_clicks_must_end():
    source = GivenSimilarity(clicks())
    with pytest.raises(ValueError, match=r"similar_share must be at least 1e-06 with order='once'"):
        source.pass_length(0.0)


def test_negatives_only_is_refused():
    with pytest.raises(ValueError, match="pairs must hold similar ones"):
        GivenSimilarity(clicks(s=np.r_[-np.ones(299, int), 1], time=False))
