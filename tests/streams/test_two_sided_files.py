"""Documents, queries and clicks from files: ids as texts, captions, folders of Parquet, and every mistake by name."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ohash
from ohash.cli.main import main
from ohash.core.rows import is_memory_mapped
from ohash.streams.readers import arrow_columns
from ohash.streams.readers.file_formats import read_path
from ohash.streams.readers.source import BadFileError
from ohash.streams.readers.two_sides import open_two_sides

N, Q, D = 30, 8, 6
RNG = np.random.default_rng(0)
DOCS, QUERIES = RNG.normal(size=(N, D)).astype(np.float32), RNG.normal(size=(Q, D)).astype(np.float32)
DOC_IDS, QUERY_IDS = [f"{row:03}" for row in range(N)], [f"q/{row}" for row in range(Q)]
# Ids with zeros in front must stay as they are written.
CLICKS = [(f"q/{row % Q}", f"{7 * row % N:03}") for row in range(60)]


def vectors(kind, width, X):
    flat = pa.array(X.ravel().astype({"halffloat": np.float16, "double": np.float64}.get(kind, np.float32)))
    if width == "fixed":
        return pa.FixedSizeListArray.from_arrays(flat, D)
    offsets = np.arange(0, X.size + 1, D)
    if width == "large":
        return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), flat)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)


def write_sides(folder, kind="float", width="fixed", **more):
    docs = {"_id": DOC_IDS, "title": [f"title {row}" for row in range(N)], "text": ["…"] * N}
    pq.write_table(pa.table({**docs, "embedding": vectors(kind, width, DOCS)}), folder / "d.parquet")
    pq.write_table(pa.table({"id": QUERY_IDS, "emb": vectors(kind, width, QUERIES), **more}), folder / "q.parquet")
    return folder / "d.parquet", folder / "q.parquet"


def write_clicks(folder, form, rows=CLICKS, scores=None):
    scores = [1] * len(rows) if scores is None else scores
    names = ("query-id", "corpus-id", "score")
    lines = [(*row, score) for row, score in zip(rows, scores, strict=True)]
    file = folder / f"qrels.{form}"
    if form == "tsv":
        file.write_text("\n".join("\t".join(map(str, line)) for line in [names, *lines]) + "\n")
    elif form == "jsonl":
        file.write_text("".join(json.dumps(dict(zip(names, line, strict=True))) + "\n" for line in lines))
    elif form == "parquet":
        pq.write_table(pa.table(dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))), file)
    else:
        file.write_text("\n".join(",".join(map(str, line)) for line in [("query", "item", "label"), *lines]) + "\n")
    return file


@pytest.mark.parametrize("form", ["tsv", "jsonl", "parquet", "csv"])
def test_judgements_name_ids_as_texts(tmp_path, form):
    data = open_two_sides(*write_sides(tmp_path), write_clicks(tmp_path, form))
    assert [(QUERY_IDS[i - N], DOC_IDS[j]) for i, j in zip(data.pairs.i, data.pairs.j, strict=True)] == CLICKS
    assert data.pairs.s is None
    assert np.array_equal(data.X, np.concatenate([DOCS, QUERIES]))
    assert data.captions[3] == "title 3"
    assert data.captions[N + 2] == "q/2"


@pytest.mark.parametrize("form", ["tsv", "jsonl", "parquet"])
def test_a_score_of_0_is_a_judged_negative(tmp_path, form):
    scores = [row % 4 for row in range(60)]
    data = open_two_sides(*write_sides(tmp_path), write_clicks(tmp_path, form, scores=scores))
    assert data.pairs.s.tolist() == [1 if score > 0 else -1 for score in scores]


def test_a_click_log_has_times(tmp_path):
    rows = ["query,item,label,time", "q/1,003,1,2026-01-02T00:00:00", "q/0,001,0,2026-01-01T00:00:00"]
    (tmp_path / "c.csv").write_text("\n".join(rows) + "\n")
    data = open_two_sides(*write_sides(tmp_path), tmp_path / "c.csv")
    assert data.pairs.s.tolist() == [1, -1]
    assert data.pairs.time[0] - data.pairs.time[1] == 86_400


@pytest.mark.parametrize("kind", ["halffloat", "float", "double"])
@pytest.mark.parametrize("width", ["fixed", "list", "large"])
def test_lists_of_every_kind_give_the_same_vectors(tmp_path, kind, width):
    docs, _ = write_sides(tmp_path, kind, width)
    expected = DOCS.astype(np.float16).astype(np.float32) if kind == "halffloat" else DOCS
    assert np.array_equal(read_path(docs).X, expected)


@pytest.mark.parametrize("in_memory", [2**28, 0])
def test_a_folder_is_one_table_by_the_names_of_its_files(tmp_path, monkeypatch, in_memory):
    monkeypatch.setattr(arrow_columns, "IN_MEMORY", in_memory)
    folder = tmp_path / "docs"
    folder.mkdir()
    cuts = [("c-00002", 20, 30), ("c-00000", 0, 11), ("c-00001", 11, 20)]
    for name, start, stop in cuts:
        ids = pa.array(DOC_IDS[start:stop], pa.large_string() if start else pa.string())
        lists = vectors("float", "list" if start else "fixed", DOCS[start:stop])
        pq.write_table(pa.table({"id": ids, "emb": lists}), folder / f"{name}.parquet")
    (folder / "README.md").write_text("not data")
    table = read_path(folder)
    assert np.array_equal(table.X, DOCS)
    assert table.ids.tolist() == DOC_IDS
    assert is_memory_mapped(table.X) == (in_memory == 0)
    assert np.array_equal(ohash.load_dataset(str(folder)).X, DOCS)
    pq.write_table(pa.table({"id": ["x"], "emb": pa.array([[1.0, 2.0]])}), folder / "d.parquet")
    with pytest.raises(BadFileError, match=r"d.parquet differs from c-00000.parquet: .* 2 values instead of .* 6"):
        read_path(folder)


def test_row_numbers_serve_where_there_are_no_ids(tmp_path):
    np.save(tmp_path / "d.npy", DOCS)
    np.save(tmp_path / "q.npy", QUERIES)
    (tmp_path / "c.csv").write_text("query,item\n0,29\n7,0\n")
    data = ohash.load_dataset(tmp_path / "d.npy", queries=tmp_path / "q.npy", pairs=tmp_path / "c.csv")
    assert (data.pairs.i.tolist(), data.pairs.j.tolist()) == ([N, N + 7], [29, 0])
    (tmp_path / "c.csv").write_text("query,item\n0,29\n8,0\n")
    with pytest.raises(
        BadFileError, match=r"row numbers from 0 of q.npy as query: 1 of 2 rows names '8', which is not"
    ):
        open_two_sides(tmp_path / "d.npy", tmp_path / "q.npy", tmp_path / "c.csv")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [*CLICKS, ("q/0", "x"), ("q/1", "y"), ("q/2", "x")],
            "3 of 63 rows name 2 that are not there, first 'x'; leave those rows out",
        ),
        ([*CLICKS, ("q/0", "x")], "as document: 1 of 61 rows names 'x', which is not there; leave that row out"),
        ([*CLICKS, *[("q/0", "x")] * 2], "as document: 2 of 62 rows name 'x', which is not there; leave those rows"),
        ([("a", "001"), ("b", "002")], "ids such as 'q/0' of q.parquet as query, and no row does: the first names 'a'"),
        ([("q/0", "1"), ("q/1", "2")], "ids such as '000' of d.parquet as document, and no row does"),
    ],
)
def test_clicks_of_unknown_items_are_counted(tmp_path, rows, words):
    with pytest.raises(BadFileError, match=words):
        open_two_sides(*write_sides(tmp_path), write_clicks(tmp_path, "tsv", rows))


def test_labels_of_both_sides_are_used(tmp_path):
    docs, queries = labelled(tmp_path, ["10", "9", "b"] * 10, ["9", "c"] * 4)
    data = open_two_sides(docs, queries, write_clicks(tmp_path, "tsv"))
    assert data.class_names == ("9", "10", "b", "c") and not data.note
    assert data.labels.tolist() == [1, 0, 2] * 10 + [0, 3] * 4
    assert data.similarities == ("clicks", "label", "metric", "topk")
    np.savez(tmp_path / "d.npz", X=DOCS, labels=np.arange(N) % 3)
    np.savez(tmp_path / "q.npz", X=QUERIES, labels=np.arange(Q) % 2)
    data = open_two_sides(tmp_path / "d.npz", tmp_path / "q.npz")
    assert data.labels.tolist() == [*(np.arange(N) % 3), *(np.arange(Q) % 2)]
    *_, now = ohash.run(ohash.experiment(data, "oh", r=8, pairs=60, warm=10), data)
    assert np.isfinite(now.numbers["map"])


@pytest.mark.parametrize(
    ("of_docs", "of_queries", "note"),
    [
        (["a", "b"], None, "the labels of d.parquet are not used, because q.parquet has none"),
        (None, ["a", "b"], "the labels of q.parquet are not used, because d.parquet has none"),
        (
            ["a", "b"],
            ["c", "d"],
            "the labels of d.parquet and q.parquet are not used, because they share no class: the first are 'a' and "
            "'c'",
        ),
        (
            ["a", "a"],
            ["a", "a"],
            "the labels of d.parquet and q.parquet are not used, because every row has the class 'a'",
        ),
    ],
)
def test_labels_that_are_not_used_are_explained(tmp_path, capsys, of_docs, of_queries, note):
    docs, queries = labelled(tmp_path, of_docs and of_docs * (N // 2), of_queries and of_queries * (Q // 2))
    clicks = write_clicks(tmp_path, "tsv")
    data = open_two_sides(docs, queries, clicks)
    assert data.labels is None and data.note == note
    files = ["--docs", str(docs), "--queries", str(queries), "--clicks", str(clicks)]
    assert main(["run", *files, "--pairs", "50", "--kernel", "none", "--quiet"]) == 0
    assert note in capsys.readouterr().out


def labelled(folder, of_docs, of_queries):
    docs, queries = write_sides(folder, **({"label": of_queries} if of_queries else {}))
    if of_docs:
        pq.write_table(pq.read_table(docs).append_column("label", pa.array(of_docs)), docs)
    return docs, queries


def test_other_mistakes_are_named(tmp_path):
    docs, queries = write_sides(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(BadFileError, match=r"empty.csv is empty"):
        open_two_sides(docs, queries, tmp_path / "empty.csv")
    (tmp_path / "header.tsv").write_text("query-id\tcorpus-id\tscore\n")
    with pytest.raises(BadFileError, match=r"header.tsv .*0 rows"):
        open_two_sides(docs, queries, tmp_path / "header.tsv")
    (tmp_path / "other.csv").write_text("item,time\n001,3\n")
    with pytest.raises(BadFileError, match="must have columns i and j"):
        open_two_sides(docs, queries, tmp_path / "other.csv")
    (tmp_path / "broken.jsonl").write_text('{"query-id": "q/0", "corpus-id": "001"}\n{"query-id": "q/0"}\n')
    with pytest.raises(BadFileError, match="must have 'corpus-id' in every line"):
        open_two_sides(docs, queries, tmp_path / "broken.jsonl")
    np.save(tmp_path / "short.npy", QUERIES[:, :4])
    with pytest.raises(BadFileError, match=r"short.npy must have vectors as long as those of d.parquet, 6, got 4"):
        open_two_sides(docs, tmp_path / "short.npy")
    np.save(tmp_path / "nan.npy", np.full((4, D), np.nan))
    with pytest.raises(BadFileError, match=r"nan.npy"):
        open_two_sides(docs, tmp_path / "nan.npy")
    (tmp_path / "none").mkdir()
    with pytest.raises(BadFileError, match="folder without any"):
        open_two_sides(tmp_path / "none", queries)


def test_the_command_runs_on_both_sides(tmp_path, capsys):
    docs, queries = write_sides(tmp_path)
    given = ["--docs", str(docs), "--queries", str(queries), "--clicks", str(write_clicks(tmp_path, "tsv"))]
    assert main(["run", *given, "--pairs", "50", "--kernel", "none", "--out", str(tmp_path / "out"), "--quiet"]) == 0
    code = (tmp_path / "out" / "run.py").read_text()
    assert f"queries={str(queries)!r}" in code
    assert main(["run", "--docs", str(docs)]) != 0
    assert "give --queries FILE too" in capsys.readouterr().err
