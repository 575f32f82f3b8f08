"""A class: visitors have what is theirs, and whoever has the key has everything."""

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string  # noqa: TID251

from ohash.cli import lab
from ohash.cli.new_method import template
from ohash.engine.export import Files
from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.models import registry as methods
from ohash.runtime.files import HOME
from ohash.store.store import Store, StoreError
from ohash.streams.data_folder import DATA
from ohash.streams.dataset import Dataset
from ohash.streams.summary import Summary
from ohash.table_files import to_csv
from ohash.ui.data import upload
from ohash.ui.live import details
from ohash.ui.session import access, live_run, own_data, run_store, uploads
from ohash.ui.session.session import Session
from ohash.ui.workarounds.browser import COOKIE, token_of
from tests.ui.data_files import npy
from tests.ui.live_app import SMALL, opened, session_of

KEY = "a key of the tests"


@pytest.fixture(autouse=True)
def classroom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    monkeypatch.setenv(access.KEY, KEY)
    run = Run(experiment("blobs2d", "oh", pairs=50, r=16))
    while not run.done:
        run.step(100)
    store = run_store.open_store()
    store.save_snapshot(run.snapshot("done"))
    return store


@pytest.mark.parametrize("page", ["pages/sweeps.py", pytest.param("pages/paper.py", marks=pytest.mark.slow)])
def test_sweeps_and_the_reproduction_are_the_owners(page: str) -> None:
    visitor = opened(**SMALL)
    with pytest.raises(ValueError, match="find"):
        visitor.switch_page(page).run()
    owner = opened(**SMALL, key=KEY)
    assert not owner.switch_page(page).run().exception


def test_a_wrong_key_is_no_key_and_no_link_shows_the_right_one() -> None:
    wrong = opened(**SMALL, key=KEY + "x")
    right = opened(**SMALL, key=KEY)
    for app in (wrong, right):
        assert "key" not in app.query_params and not session_of(app).warnings
    runs = [app.switch_page("pages/runs.py").run() for app in (wrong, right)]
    stored = [any("saved" in state for frame in app.dataframe for state in frame.value["state"]) for app in runs]
    assert stored == [False, True]


def test_a_visitor_cannot_touch_the_store_whatever_her_browser_sends(classroom: Store) -> None:
    """As a forged message would call it: the buttons are not on her page."""
    runs = run_store.AllRuns(Session("visitor", experiment("blobs2d")), classroom)
    (line,) = classroom.list()
    assert runs.list() == [] and runs.values([]) == {}
    runs.delete([line.key])
    assert [kept.key for kept in classroom.list()] == [line.key]
    now = classroom.get(line.key)
    for act in (
        lambda: runs.get(line.key),
        lambda: runs.keep([(line, now)]),
        lambda: runs.restore([line.key]),
        lambda: runs.remark(line.key, "x", "y"),
    ):
        with pytest.raises(StoreError, match="needs the key"):
            act()


def test_files_in_the_servers_folder_are_the_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    np.save(folder / "secret.npy", np.random.default_rng(0).normal(size=(60, 4)))
    monkeypatch.setenv(DATA, str(folder))
    key = next(spec.key for spec in access.registry.datasets().values() if spec.group == "folder")
    visitor = opened(dataset=key, method="oh")
    text = " ".join(str(one.value) for kind in (visitor.error, visitor.warning, visitor.markdown) for one in kind)
    assert "offers to visitors" in text and str(folder) not in text
    everything = visitor.switch_page("pages/data.py")
    everything.query_params["view"] = "all"
    everything.run()
    html = [element.proto.body for element in everything.get("html")]
    shown = " ".join([*html, *(str(one.value) for kind in (everything.markdown, everything.caption) for one in kind)])
    assert str(folder) not in shown and "Your data folder" not in shown and "not on this server" in shown
    incomplete = opened(dataset="viewpoints", method="oh")
    assert "offers to visitors" in " ".join(str(one.value) for one in (*incomplete.error, *incomplete.warning))
    for name in (key, "viewpoints"):
        shown = opened(dataset=name, method="oh").switch_page("pages/data.py").run()
        page_text = " ".join(str(one.value) for kind in (shown.warning, shown.markdown, shown.error) for one in kind)
        assert (
            "offers to visitors" in page_text
            and "secret.npy" not in page_text
            and str(tmp_path) not in page_text.replace("\\", "")
        )
    owner = opened(dataset=key, method="oh", key=KEY)
    assert session_of(owner).params.dataset == key and not owner.error


def test_uploads_of_all_visitors_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    uploads._held().clear()
    monkeypatch.setattr(uploads, "MAX_BYTES", 3000)
    sessions = [Session(str(at), experiment("blobs2d")) for at in range(2)]
    X = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    first = own_data.add(sessions[0], Dataset.from_arrays(X, title="first.npy"))
    assert own_data.add(sessions[0], sessions[0].own[first]) == first, "the same again costs nothing"
    with pytest.raises(ValueError, match=r"second\.npy needs .* holds"):
        for at in range(2):
            own_data.add(sessions[1], Dataset.from_arrays(X + at + 1, title="second.npy"))
    del sessions
    own_data.add(Session("later", experiment("blobs2d")), Dataset.from_arrays(X + 9, title="third.npy"))


def test_the_uploads_of_one_visitor_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    uploads._held().clear()
    monkeypatch.setattr(uploads, "MAX_BYTES_OF_VISITOR", 3000)
    X = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    tabs = [Session(str(at), experiment("blobs2d")) for at in range(4)]

    def upload(at: int, visitor: str) -> str:
        monkeypatch.setattr(access, "visitor", lambda: visitor)
        return own_data.add(tabs[at], Dataset.from_arrays(X + at, title=f"{at}.npy"))

    upload(0, "a"), upload(1, "a")
    with pytest.raises(ValueError, match=r"2\.npy needs .* your uploads may take"):
        upload(2, "a")
    upload(2, "b")
    for at in range(4):
        upload(at, "")
    assert len(tabs[3].own) == 1, "the owner has no share but the server's"


def test_what_is_kept_only_for_a_reload_gives_way_to_a_new_upload(monkeypatch: pytest.MonkeyPatch) -> None:
    uploads._held().clear()
    monkeypatch.setattr(uploads, "MAX_BYTES_OF_VISITOR", 3000)
    monkeypatch.setattr(uploads, "browser_token", lambda: "a")
    monkeypatch.setattr(access, "visitor", lambda: "a")
    X = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    tab = Session("0", experiment("blobs2d"))
    content = own_data.add(tab, Dataset.from_arrays(X, title="0.npy"))
    del tab
    own_data.add(Session("1", experiment("blobs2d")), Dataset.from_arrays(X + 1, title="1.npy"))
    assert uploads.find_upload(content), "there is room for both"
    own_data.add(Session("2", experiment("blobs2d")), Dataset.from_arrays(X + 2, title="2.npy"))
    assert not uploads.find_upload(content)


def test_who_uploads_too_much_costs_others_nothing_that_they_would_find_after_a_reload(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    uploads._held().clear()
    uploads._uploads().clear()
    monkeypatch.setattr(uploads, "MAX_BYTES_OF_VISITOR", 3000)
    X = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)

    def upload(at: int, visitor: str, rows: int = 40) -> str:
        monkeypatch.setattr(uploads, "browser_token", lambda: visitor)
        monkeypatch.setattr(access, "visitor", lambda: visitor)
        return own_data.add(
            Session(str(at), experiment("blobs2d")), Dataset.from_arrays(X[:rows] + at, title=f"{at}.npy")
        )

    hers = upload(0, "a")
    for at in range(1, 6):
        upload(at, "b")
    with pytest.raises(ValueError, match="your uploads may take"):
        own_data.add(Session("6", experiment("blobs2d")), Dataset.from_arrays(np.tile(X, (3, 1)), title="6.npy"))
    monkeypatch.setattr(uploads, "MAX_BYTES_OF_VISITOR", 10**6)
    for at in range(10, 10 + 2 * uploads.MAX_KEPT):
        upload(at, "b", rows=20)
    assert len(uploads._uploads()) == 1 + uploads.MAX_KEPT
    monkeypatch.setattr(uploads, "browser_token", lambda: "a")
    assert uploads.find_upload(hers)


def test_all_that_was_read_counts_not_only_the_vectors() -> None:
    X, names = np.zeros((40, 2), np.float32), [f"{at:0100}" for at in range(40)]
    pairs = np.arange(20), np.arange(20, 40)
    plain = Dataset.from_arrays(X)
    full = replace(Dataset.from_arrays(X, pairs=pairs), ids=np.array(names), captions=tuple(names))
    assert uploads._size(plain) == X.nbytes
    assert uploads._size(full) > X.nbytes + 2 * 40 * 100 + 2 * 20 * 4


def test_an_upload_beyond_her_share_is_a_message_and_no_cache_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    uploads._held().clear()
    uploads._uploads().clear()
    monkeypatch.setattr(uploads, "MAX_BYTES_OF_VISITOR", 1000)
    read: list[weakref.ref[Dataset]] = []

    def check(dataset: Dataset) -> Summary:
        read.append(weakref.ref(dataset))
        return own_data.check_data(dataset)

    monkeypatch.setattr(upload, "check_data", check)
    app = opened(**SMALL).switch_page("pages/data.py")
    app.query_params["view"] = "own"
    app.run()
    file = npy(np.random.default_rng(0).normal(size=(60, 8)))
    app.file_uploader(key="upload_vectors").set_value((file.name, file.data, "")).run()
    assert not app.exception and "your uploads may take" in app.error[0].value
    gc.collect()
    assert [dataset() for dataset in read] == [None] and not uploads._held()


def test_a_file_that_is_sent_again_and_again_takes_the_room_of_one() -> None:
    uploads._held().clear()
    app = opened(**SMALL).switch_page("pages/data.py")
    app.query_params["view"] = "own"
    app.run()
    file = npy(np.random.default_rng(0).normal(size=(60, 8)))
    for at in range(4):
        app.file_uploader(key="upload_vectors").set_value((f"{at}.npy", file.data, "")).run()
        assert not app.exception and app.success
    gc.collect()
    assert len(uploads._held()) == 1


def test_the_upload_page_says_how_much_a_visitor_may_send() -> None:
    for key, words in (("", "takes your total above"), (KEY, "can be opened from a shell")):
        app = opened(**SMALL, **({"key": key} if key else {})).switch_page("pages/data.py")
        app.query_params["view"] = "own"
        page_text = " ".join(str(one.value) for one in app.run().markdown)
        assert words in page_text and "names are kept" not in page_text


def test_a_request_tells_who_sends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = generate_xsrf_token_string()
    token = token_of(cookie)
    assert access.visitor_of_request({COOKIE: cookie}, "10.0.0.7") == token
    assert (
        access.visitor_of_request({}, "10.0.0.7") == access.visitor_of_request({COOKIE: "x"}, "10.0.0.7") == "10.0.0.7"
    )
    access._owners().add(token)
    assert access.visitor_of_request({COOKIE: cookie}, "10.0.0.7") == ""
    access._owners().discard(token)
    monkeypatch.delenv(access.KEY)
    assert access.visitor_of_request({}, "10.0.0.7") == "", "everybody is the owner"


def test_the_lab_prints_the_key_and_passes_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(access.KEY)
    _, plain = lab.command(lab.parser().parse_args([]), [])
    _, guarded = lab.command(lab.parser().parse_args(["--class"]), [])
    _, again = lab.command(lab.parser().parse_args(["--class"]), [])
    assert access.KEY not in plain and len(guarded[access.KEY]) >= 16 and guarded[access.KEY] != again[access.KEY]


def test_without_a_key_everybody_is_the_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(access.KEY)
    assert access.is_owner() and not access.is_class() and access.visitor() == ""


def test_a_spreadsheet_computes_nothing_of_what_a_file_said() -> None:
    rows = to_csv({"class": ["=cmd|'/c calc'!A0", "+1 more", "-x", "@a", "fine"], "n": [-1, 2, -3, 4, 5]}).splitlines()
    assert [row.replace('"', "")[0] for row in rows[1:]] == ["'", "'", "'", "'", "f"]
    assert rows[3].endswith(",-3")


def test_exported_code_names_no_folder_of_the_server_to_a_visitor(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session("visitor", experiment("blobs2d"))
    session.files["1f"] = Files("/srv/secret/x.npy", "/srv/secret/y.npy", metric="l2")
    assert own_data.files_of(session, "1f") == Files("x.npy", "y.npy", metric="l2")
    monkeypatch.delenv(access.KEY)
    assert own_data.files_of(session, "1f") == session.files["1f"]


def test_code_names_no_folder_of_a_plugin_to_a_visitor(tmp_path: Path, no_plugins: None) -> None:
    folder = tmp_path / "the 'own' methods"
    folder.mkdir()
    (folder / "mine.py").write_text(template("mine"))
    methods.add_plugin(folder / "mine.py")
    for key, shown in (("", False), (KEY, True)):
        app = opened(**{**SMALL, "method": "mine"}, **({"key": key} if key else {}))
        app.session_state[details.KEY] = details.CODE
        code = next(one.value for one in app.run().code if "OHASH_PLUGINS" in one.value)
        assert "mine.py" in code and (str(tmp_path) in code) is shown
        compile(code, "code", "exec")


def test_a_visitor_is_not_told_where_the_file_of_the_server_lay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(own_data.FILES[0], str(tmp_path / "gone.npy"))
    warnings = [session_of(opened(**SMALL, **key)).warnings for key in ({}, {"key": KEY})]
    assert warnings[0] == [own_data.OWNERS_FILE] and "gone.npy" in warnings[1][0]


def test_the_owner_of_a_class_never_waits_for_its_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_run.hub(), "limit", 0)
    apps = [opened(**SMALL), opened(**SMALL, key=KEY)]
    places = [live_run.hub().place_in_line(session_of(app).id) for app in apps]
    assert places[0] > 0 == places[1]
    for app in apps:
        live_run.hub().end(session_of(app).id)
