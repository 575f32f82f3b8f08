"""The Data page: looking at every kind of dataset, the list of everything, uploads good and bad."""

import inspect
import io
import pickle
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.comparison import export as report
from ohash.comparison.params import build_comparison
from ohash.engine.export import Files, code_for
from ohash.engine.params import experiment
from ohash.plots import data as charts
from ohash.runtime.files import HOME
from ohash.streams.dataset import Dataset
from ohash.streams.overview import draw_examples, item_name, leading_singular_vectors, make_overview, project
from ohash.streams.registry import load_by_key
from ohash.ui.data import all_datasets, upload
from ohash.ui.parts import catalogue, items
from ohash.ui.session import live_run, own_data, uploads
from ohash.ui.workarounds.markdown import escape_markdown
from tests.ui.app import APP, open_page
from tests.ui.data_files import Sent, clicks, npy, vectors


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file and no folder of the machine's owner."""
    for variable in (*own_data.FILES, "OHASH_DATA"):
        monkeypatch.delenv(variable, raising=False)


def page(part: str = "", query: dict[str, str] | None = None) -> AppTest:
    state = {"view_part": part} if part else {}
    return open_page("data", query or {"dataset": "digits"}, timeout=30, **state)


def look_at(app: AppTest, key: str) -> AppTest:
    next(box for box in app.selectbox if str(box.key).startswith("w_look_")).set_value(key).run()
    assert not app.exception
    return app


def sent(app: AppTest, *files: Sent | None) -> AppTest:
    keys = ("upload_vectors", "upload_labels", "upload_pairs", "upload_queries")
    for key, file in zip(keys, files, strict=False):
        if file is not None:
            app.file_uploader(key=key).set_value((file.name, file.data, ""))
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return " ".join(element.value for element in [*app.markdown, *app.error, *app.success, *app.info, *app.warning])


@pytest.mark.parametrize("key", ["digits", "fashion", "patches", "words", "moons", "blobs"])
@pytest.mark.slow
def test_every_kind_of_dataset_can_be_looked_at(key: str) -> None:
    app = look_at(page(), key)
    assert f"{load_by_key(key).n:,} × {load_by_key(key).d:,}" in texts(app)
    assert "Two items are similar if" in texts(app)
    assert app.button(key="watch").label == "Watch OH learn this"


@pytest.mark.slow
def test_another_meaning_of_similar_shows_other_pairs() -> None:
    app = page()
    app.segmented_control(key="view_by digits").set_value("metric").run()
    assert "nearest 5 %" in texts(app)


@pytest.mark.slow
def test_watching_begins_the_dataset_on_live() -> None:
    app = look_at(page(), "moons")
    app.button(key="watch").click().run()
    session = app.session_state["ohash"]
    assert session.params.dataset == "moons"
    assert live_run.hub().lease(session.id).runner is not None


def test_everything_is_listed_with_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "mine.npy", vectors()[0])
    (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY nothing")
    monkeypatch.setenv("OHASH_DATA", str(tmp_path))
    page("all")
    groups = catalogue.by_group()
    assert {"embedded", "synthetic", "package", "paper", "folder"} <= groups.keys()
    rows = {spec.title: all_datasets._row(spec) for specs in groups.values() for spec in specs}
    assert rows["mine.npy"][1:3] == ["120", "6"]
    assert rows["mine.npy"][-1] == "✓ available"
    assert rows["broken.npy"][-1].startswith("cannot be read: broken.npy")
    assert rows["GIST1M, 960-d GIST"][-1].startswith("not here: put gist_base.fvecs")


def test_without_a_data_folder_the_list_says_how_to_name_one() -> None:
    assert "OHASH_DATA" in texts(page("all"))


def test_a_bare_matrix_is_welcome_and_goes_to_live() -> None:
    app = sent(page("own"), npy(vectors()[0]))
    assert "x.npy: 120 rows of 6 float32 values" in app.success[0].value
    app.button(key="watch_upload").click().run()
    session = app.session_state["ohash"]
    assert session.params.dataset == "own"
    assert session.own[session.params.content].title == "x.npy"


def test_a_matrix_with_clicks_can_be_looked_at() -> None:
    app = sent(page("own"), npy(vectors()[0]), None, clicks())
    app.button(key="look_upload").click().run()
    assert not app.exception
    assert "similar if clicked together" in texts(app)


def test_documents_queries_and_clicks_are_three_files() -> None:
    lines = ["query-id\tcorpus-id\tscore", *(f"{row % 40}\t{3 * row % 120}\t{row % 3}" for row in range(300))]
    judged = Sent("qrels.tsv", ("\n".join(lines) + "\n").encode())
    queries = npy(vectors(40)[0], "q.npy")
    app = sent(page("own"), npy(vectors()[0], "d.npy"), None, judged, queries)
    assert "d.npy with queries and pairs: 160 rows of 6 float32 values" in app.success[0].value
    assert any("two-sided, 120 documents to search and 40 queries" in html.value for html in app.get("html"))
    app.button(key="look_upload").click().run()
    assert not app.exception
    assert "120 × 6, and 40 queries" in texts(app)
    app = sent(page("own"), npy(vectors()[0]), npy(vectors()[1], "y.npy"), None, queries)
    assert "y.npy must be left out" in app.error[0].value
    app = sent(page("own"), None, None, None, queries)
    assert "Queries need documents to search" in app.info[0].value


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.npy", npy(vectors()[0]).data[:500], "truncated"),
        ("x.pkl", pickle.dumps([1, 2]), "pickle"),
        ("x.npy", npy(np.array([[1.0, np.nan]] * 30)).data, "finite"),
        ("x.csv", b"", "empty"),
        ("x.doc", b"hello", "must be one of"),
        ("x.npy", npy(np.ones((2, 3))).data, "at least 4 rows"),
    ],
)
def test_a_bad_file_is_a_message_and_the_page_lives_on(name: str, data: bytes, message: str) -> None:
    app = sent(page("own"), Sent(name, data))
    assert message in app.error[0].value
    assert app.session_state["ohash"].own == {}


def test_a_class_that_uploads_at_once_is_read_two_by_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file has its turn, also after files that cannot be read."""
    now, most, read, lock, together = 0, 0, [], threading.Lock(), threading.Barrier(2)

    def parse(title: str, *_: object) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        together.wait(30)  # a second one comes
        time.sleep(0.02)  # a third one does not
        with lock:
            now -= 1
            read.append(title)
        if title == "bad":
            raise ValueError(title)

    def send(title: str) -> None:
        with suppress(ValueError):
            inspect.unwrap(upload._read)((), title, None, [])

    monkeypatch.setattr(upload, "_parse", parse)
    readers = [threading.Thread(target=send, args=(title,), daemon=True) for title in ["bad", "good"] * 4]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(60)
    assert sorted(read) == ["bad"] * 4 + ["good"] * 4 and most == 2


def test_labels_without_vectors_are_asked_for_them() -> None:
    app = sent(page("own"), None, npy(vectors()[1], "y.npy"))
    assert "upload those, too" in app.info[0].value


def test_a_link_to_data_of_ones_own_says_which_file_it_needs() -> None:
    app = page(query={"dataset": "own", "content": "00ff"})
    assert "00ff" in app.info[0].value


@pytest.mark.parametrize(
    ("labels", "pairs", "message"),
    [
        (npy(vectors()[1][:7], "y.npy"), None, "one label per row of x.npy"),
        (None, Sent("p.csv", b"i,j\n1,5000\n"), "row numbers"),
        (None, Sent("p.csv", b"i,j\na,b\n"), "ids"),
    ],
)
def test_labels_and_pairs_that_do_not_fit_are_refused(labels: Sent | None, pairs: Sent | None, message: str) -> None:
    app = sent(page("own"), npy(vectors()[0]), labels, pairs)
    assert message in app.error[0].value


def test_labels_give_classes() -> None:
    X, y = vectors()
    app = sent(page("own"), npy(X), npy(y, "y.npy"))
    app.segmented_control(key="view_metric").set_value("cosine").run()
    own_by_metric = {own.metric: own for own in app.session_state["ohash"].own.values()}
    assert set(own_by_metric) == {"l2", "cosine"}  # another distance, other data
    dataset = own_by_metric["cosine"]
    assert (dataset.title, dataset.metric, len(dataset.class_names)) == ("x.npy with labels", "cosine", 3)


def test_code_names_the_files_that_were_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = vectors()
    app = sent(page("own"), npy(X), npy(y, "y.npy"))
    app.segmented_control(key="view_metric").set_value("cosine").run()
    session = app.session_state["ohash"]
    content = next(key for key, own in session.own.items() if own.metric == "cosine")
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    monkeypatch.chdir(tmp_path)
    files = own_data.files_of(session, content)
    assert files == Files("x.npy", "y.npy", metric="cosine")
    small = {"content": content, "pairs": 60, "kernel": "none"}
    for code in (
        code_for(experiment("own", "oh", r=8, **small), files),
        report.code_for(build_comparison("own", ("oh", "lsh"), bits=8, sweep=False, **small), files),
    ):
        exec(code, {})


@pytest.mark.slow
def test_the_look_at_a_dataset_is_an_address() -> None:
    app = page(query={"dataset": "moons"})
    assert app.session_state["ohash"].viewed_dataset == "moons" and app.query_params["dataset"] == "moons"
    app.segmented_control(key="view_part").set_value("all").run()
    assert app.query_params == {"view": "all"}
    again = page(query={"view": "all"})
    assert again.segmented_control(key="view_part").value == "all" and not again.warning
    forged = page(query={"view": "<b>"})
    assert forged.segmented_control(key="view_part").value == "look"


def test_a_link_needs_the_file_with_its_distance() -> None:
    X, _ = vectors()
    wanted = Dataset.from_arrays(X, metric="cosine").fingerprint()
    app = sent(page("own", query={"dataset": "own", "content": wanted}), npy(X))
    assert any("but with the distance cosine" in one.value for one in app.info)
    app.segmented_control(key="view_metric").set_value("cosine").run()
    assert any("This is the file your link needs" in one.value for one in app.info)


def test_another_file_than_the_link_needs_is_said_to_be_another() -> None:
    X, _ = vectors()
    wanted = Dataset.from_arrays(X).fingerprint()
    app = sent(page("own", query={"dataset": "own", "content": wanted}), npy(X + 1))
    assert any(one.value.startswith("This is not what your link needs") for one in app.info)
    app = sent(page("own", query={"dataset": "own", "content": wanted}), npy(X))
    assert not any("not what your link" in one.value for one in app.info)


def test_what_a_link_says_is_run_when_its_file_is_there() -> None:
    X, _ = vectors()
    query = {"dataset": "own", "method": "mmoh", "r": "16", "beta": "0.3", "changes": "50:C:0.02"}
    query["content"] = Dataset.from_arrays(X).fingerprint()
    app = sent(page("own", query=query), npy(X))
    assert not any("Upload that file here" in one.value for one in app.info)
    assert app.button(key="watch_upload").label == "Run the linked experiment"
    app.button(key="watch_upload").click().run()
    params = app.session_state["ohash"].params
    wanted = experiment("own", "mmoh", content=query["content"], r=16, beta=0.3, changes=((50, "C", 0.02),))
    assert not app.exception and params == wanted


def test_what_a_link_compares_is_compared_when_its_file_is_there() -> None:
    X, _ = vectors()
    wanted = build_comparison("own", ("oh", "sign"), bits=16, pairs=300, content=Dataset.from_arrays(X).fingerprint())
    app = page(query=wanted.to_query())
    assert app.segmented_control(key="view_part").value == "own"
    assert any("Upload that file here" in one.value for one in app.info)
    kept = {key: value if isinstance(value, str) else value[0] for key, value in app.query_params.items()}
    assert kept == {**wanted.to_query(), "view": "own"}, "a reload asks for the same file"
    app = sent(app, npy(X))
    assert app.button(key="compare_upload").label == "Run the linked comparison"
    app.button(key="compare_upload").click().run()
    assert not app.exception and app.session_state["ohash"].comparison == wanted


@pytest.mark.parametrize(("dataset", "message"), [("nonsense", "dataset must be one of"), ("cifar10", "CIFAR-10")])
def test_data_that_are_not_here_are_named(dataset: str, message: str) -> None:
    app = page(query={"dataset": dataset})
    assert any(message in warning.value for warning in app.warning)


@pytest.mark.parametrize(
    ("name", "chosen", "metric", "message"),
    [
        ("x-4-angular.hdf5", None, "cosine", "x-4-angular.hdf5 declares the distance cosine"),
        ("x-4-angular.hdf5", "l2", "l2", "declares the distance cosine; l2 was chosen and is used"),
        ("x.hdf5", None, "l2", "the name of x.hdf5 does not say which distance"),
    ],
)
def test_the_distance_is_the_files_own_unless_another_is_chosen(
    name: str, chosen: str | None, metric: str, message: str
) -> None:
    h5py = pytest.importorskip("h5py")
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file["train"], file["test"] = vectors()[0], vectors(20)[0]
    app = page("own")
    if chosen is not None:
        app.segmented_control(key="view_metric").set_value(chosen)
    app = sent(app, Sent(name, stream.getvalue()))
    (own,) = app.session_state["ohash"].own.values()
    assert own.metric == metric
    summary = own_data.check_data(own)
    assert any(line.startswith("note: ") and message in line for line in summary.lines())


def test_data_no_run_can_start_on_are_refused() -> None:
    with pytest.raises(ValueError, match="no run can start"):
        own_data.check_data(Dataset.from_arrays(vectors()[0], labels=np.arange(120)))


def test_the_file_of_the_command_line_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.npy"
    np.save(file, vectors()[0])
    monkeypatch.setenv("OHASH_FILE", str(file))
    app = AppTest.from_file(APP, default_timeout=30)
    app.session_state["ohash"] = None
    app.switch_page("pages/data.py")
    app.run()
    session = app.session_state["ohash"]
    assert session.params.dataset == "own"
    assert "x.npy: 120 × 6" in texts(app)


def test_a_broken_file_of_the_command_line_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OHASH_FILE", str(tmp_path / "gone.npy"))
    own, problem = own_data.load_command_line_data()
    assert own is None
    assert "gone.npy" in problem


def test_the_toml_beside_the_file_of_the_command_line_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "x.npy", vectors()[0])
    monkeypatch.setenv("OHASH_FILE", str(tmp_path / "x.npy"))
    for metric in ("cosine", "dot"):
        (tmp_path / "x.toml").write_text(f'metric = "{metric}"')
        own, problem = own_data.load_command_line_data()
        assert own is not None
        assert (own.metric, own.note, problem) == (metric, "described by x.toml", "")


def test_a_session_keeps_few_datasets_of_its_own_and_the_one_in_use() -> None:
    session = page().session_state["ohash"]
    for k in range(own_data.MAX_DATASETS + 3):
        key = own_data.add(session, Dataset.from_arrays(vectors()[0] + k))
        if k == 0:
            session.params = session.params.with_values(dataset="own")
            session.params = type(session.params)(**{**vars(session.params), "content": key})
    assert len(session.own) == own_data.MAX_DATASETS
    assert session.params.content in session.own


def test_projection_finds_the_plane() -> None:
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(200, 2)) @ np.diag([5, 3]) @ np.linalg.qr(rng.normal(size=(30, 2)))[0].T
    projected = project(Dataset.from_arrays(plane))
    assert sum(projected.explained) == pytest.approx(1)
    exact = np.linalg.svd(plane - plane.mean(0))[1][:2]
    assert leading_singular_vectors(plane - plane.mean(0))[1][:2] == pytest.approx(exact)


def test_examples_are_what_they_say() -> None:
    digits = load_by_key("digits")
    examples = draw_examples(digits)
    assert digits.labels is not None
    assert all(digits.labels[i] == digits.labels[j] for i, j in examples.similar)
    assert all(digits.labels[i] != digits.labels[j] for i, j in examples.dissimilar)


def test_charts_say_what_they_show() -> None:
    digits = load_by_key("digits")
    seen = make_overview(digits)
    assert charts.class_balance(seen).title == "10 classes of 174 to 183 rows"
    assert charts.class_balance(make_overview(load_by_key("words"))).empty
    unit = Dataset.from_arrays(np.eye(40))
    assert charts.norms(make_overview(unit)).title == "Every row has norm 1: only directions differ"
    chart = charts.projection(digits, seen, [3, 8])
    assert [series.name for series in chart.series] == ["the other classes", "3", "8"]
    fig = charts.projection_figure(digits, seen, [3, 8], dark=True)
    assert set(fig.data[1].text) == {"3"}
    assert charts.balance_figure(seen, dark=False).layout.xaxis.ticktext[0] == "0"


def test_names_and_tables_are_escaped() -> None:
    evil = Dataset.from_arrays(vectors()[0], ids=[f"<script>{k}" for k in range(120)])
    assert item_name(evil, 5) == "<script>5"
    assert "<script>" not in items.items_html(evil, [5])
    assert "<script>" not in items.pairs_html(evil, draw_examples(evil), dark=False)
    assert "<b>" not in items.table_html(["a"], [["<b>"]])


def test_names_of_files_and_classes_are_no_markup() -> None:
    hostile = ["**b**", "$x^2$", "![i](https://evil.example/x.png)", ":red[r]", "`c`", "[l](https://evil.example)"]
    X, _ = vectors()
    stream = io.StringIO()
    table = pd.DataFrame(X).assign(label=[hostile[at % 6] for at in range(len(X))])
    table.to_csv(stream, index=False)
    app = sent(page("own"), Sent(f"{hostile[0]} {hostile[1]} [l](evil).csv", stream.getvalue().encode()))
    title = r"\*\*b\*\* \$x^2\$ \[l\](evil).csv"
    assert app.success[0].value.startswith(f"{title}: 120 rows")
    app.button(key="look_upload").click().run()
    assert f"#### {title}: 120 × 6" in [one.value for one in app.markdown]
    (pills,) = (group for group in app.button_group if str(group.key).startswith("view_classes"))
    assert pills.options == [escape_markdown(name) for name in sorted(hostile)]
    assert all(f"\\{one}" in " ".join(pills.options) for one in "*$[`")


def test_a_full_disk_costs_no_name_of_an_earlier_upload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_disk: Callable[[], AbstractContextManager[None]]
) -> None:
    monkeypatch.setenv(HOME, str(tmp_path))
    for at in range(40):
        uploads.remember_name(f"{at:016x}", "a name as long as those of files often are.npy")
    with small_disk():
        uploads.remember_name("ff", "one more.npy")
    assert uploads.name_of(f"{39:016x}") and not uploads.name_of("ff")
