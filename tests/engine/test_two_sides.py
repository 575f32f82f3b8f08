"""A run on two-sided data: real queries search only documents, and what was trained on is hidden."""

import io
import math
import zipfile

import numpy as np
import pytest

from ohash.engine.export import encoder_archive
from ohash.engine.gallery import nearest, typical_query
from ohash.evaluation.neighbour_recall import recall_at_k
from ohash.evaluation.neighbours import exact_neighbours
from ohash.streams.dataset import Dataset
from tests.engine.runs import small, straight
from tests.streams.test_two_sides import sides

pytestmark = pytest.mark.usefixtures("few_checkpoints")


def scattered(n=80, q=40, pairs=400):
    """The same with the query rows anywhere."""
    data, rng = sides(n, q, pairs), np.random.default_rng(5)
    place = rng.permutation(n + q)
    X = np.empty_like(data.X)
    X[place] = data.X
    return Dataset.from_arrays(X, pairs=(place[data.pairs.i], place[data.pairs.j]), query_rows=place[data.query_rows])


@pytest.mark.parametrize("make", [lambda: sides(80, 40, 400), scattered])
def test_scores_of_clicks_equal_a_literal_search(make):
    data = make()
    run = straight(small("oh", "own", kernel="none", dtype="float64", normalize=False, content=""), data)
    judge, pairs = run.checkpoints.judge, data.pairs
    cut, end = round(0.8 * len(pairs)), round(0.9 * len(pairs))
    docs = [row for row in range(data.n) if row not in set(data.query_rows.tolist())]
    assert judge.database.tolist() == docs
    assert judge.queries.tolist() == sorted(set(pairs.i[cut:end].tolist()))
    bits = np.unpackbits(run.hasher.encode(run.Z), axis=1)[:, : run.hasher.r].astype(int)
    hits = []
    for query in judge.queries:
        later = {int(j) for i, j in zip(pairs.i[cut:end], pairs.j[cut:end], strict=True) if i == query}
        trained = {int(j) for i, j in zip(pairs.i[:cut], pairs.j[:cut], strict=True) if i == query}
        left = [row for row in docs if row not in trained]
        apart = {row: int((bits[row] != bits[query]).sum()) for row in left}
        edge = sorted(apart.values())[9]
        nearer, tied = [row for row in left if apart[row] < edge], [row for row in left if apart[row] == edge]
        if set(nearer) & later:
            hits.append(1.0)
        elif later - trained:  # places that are left are filled from the ties at random
            free, wrong = 10 - len(nearer), len(set(tied) - later)
            hits.append(1 - math.comb(wrong, free) / math.comb(len(tied), free))
    codes, scores = run.hasher.encode(run.Z), run.checkpoints.scores
    assert scores["hit_10"][-1] == pytest.approx(np.mean(hits))
    exact = exact_neighbours(data.X[judge.queries], data.X[docs], 10, "l2")
    assert scores["recall_10"][-1] == pytest.approx(recall_at_k(codes[judge.queries], codes[docs], exact, 10))


def test_a_gallery_asks_a_query_and_shows_documents():
    data = scattered()
    run = straight(small("oh", "own", kernel="none", content=""), data)
    result = nearest(run, typical_query(run))
    assert data.is_query[result.query]
    assert not data.is_query[result.rows].any()
    later = run.world.stream().similarity.later("validation")
    wanted = {int(j) for i, j in zip(*later, strict=True) if i == result.query}
    assert result.relevant.tolist() == [int(row) in wanted for row in result.rows]


def test_only_documents_are_exported():
    data = scattered()
    run = straight(small("oh", "own", kernel="none", content=""), data)
    with zipfile.ZipFile(io.BytesIO(encoder_archive(run))) as archive:
        codes = np.load(io.BytesIO(archive.read("codes.npy")))
        assert "codes of the 80 documents" in archive.read("README.txt").decode()
    expected = run.hasher.encode(run.world.feature_map.transform(data.X[data.documents]))
    assert np.array_equal(codes, expected)


@pytest.mark.parametrize(
    ("method", "codes", "ranked"), [("mmoh", "4 models of 16 bits", True), ("oh", "16 bits", False)]
)
def test_a_bundle_says_how_many_models_its_codes_have_and_how_engines_rank_them(method, codes, ranked):
    run = straight(small(method, "own", kernel="none", content="", r=16), scattered())
    with zipfile.ZipFile(io.BytesIO(encoder_archive(run))) as archive:
        text = archive.read("README.txt").decode()
    assert text.startswith(f"{method.upper()}, {codes}, learnt from")
    assert ("ranked by the sum over the models" in text) == ranked


@pytest.mark.parametrize(("method", "numbers"), [("int8", True), ("oh", False)])
def test_a_bundle_says_where_its_codes_are_numbers(method, numbers):
    run = straight(small(method, "own", kernel="none", content="", **({} if numbers else {"r": 16})), scattered())
    with zipfile.ZipFile(io.BytesIO(encoder_archive(run))) as archive:
        text, names = archive.read("README.txt").decode(), archive.namelist()
    assert ("which no Hamming distance ranks" in text) == numbers == ("search.py" in names)
