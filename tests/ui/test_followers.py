"""`ohash follow` on the dashboard: Live sees it move, Runs lists it, a kill shows, and visitors see nothing."""

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

import ohash
from ohash.production.follower import FollowOptions
from ohash.production.sources import FileSource
from ohash.production.watch import Watch, key_of, read_watched
from ohash.runtime.files import HOME
from ohash.ui.session.access import KEY
from tests.ui.live_app import APP, opened, until

N, D = 300, 8
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 4, N)
X = (RNG.normal(size=(4, D))[LABELS] + 0.7 * RNG.normal(size=(N, D))).astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    np.save(tmp_path / "x.npy", X)
    ohash.save(ohash.OH(r=16, seed=0, center="none"), tmp_path / "model.npz")
    return tmp_path


def append(folder: Path, count: int, seed: int = 1) -> None:
    i, j = np.random.default_rng(seed).integers(0, N, (2, count))
    with (folder / "pairs.csv").open("a") as file:
        file.writelines(f"{a},{b},{1 if LABELS[a] == LABELS[b] else -1}\n" for a, b in zip(i, j, strict=True))


def learn(folder: Path) -> None:
    """Follow to the present end of the file, in this process."""
    source = FileSource(folder / "pairs.csv", wait=False)
    options = FollowOptions(batch=100, check_every=1000)
    watch = Watch(folder / "out.npz", "pairs.csv")
    for last in ohash.follow(source, X, folder / "model.npz", folder / "out.npz", options=options):
        watch.show(last)
    watch.show(last, "ended")


def page_text(app: AppTest) -> str:
    parts = [one.proto.body for one in app.get("html")] + [one.value for one in [*app.markdown, *app.error]]
    return " ".join(parts)


def pairs_shown(app: AppTest) -> int:
    return int(re.search(r'data-pairs="(\d+)"', page_text(app)).group(1))


def test_live_sees_it_move(folder: Path) -> None:
    append(folder, 1500)
    learn(folder)
    app = opened(follow=key_of(folder / "out.npz"))
    assert pairs_shown(app) == 1500 and "out.npz follows pairs.csv" in page_text(app)
    assert "Update rate" in page_text(app) and "Loss R" in page_text(app) and "Step τ" in page_text(app)
    assert "hits per 100 queries" in page_text(app) and "core seconds" in page_text(
        app
    )  # the chart of the checks; the price
    append(folder, 800, seed=2)
    learn(folder)
    app.run()
    assert not app.exception and pairs_shown(app) == 2300
    assert "Reached the end of the stream" in page_text(app)
    app.button(key="leave_follower").click().run()
    assert not app.exception and "out.npz" not in page_text(app) and "follow" not in app.query_params


def test_runs_lists_it(folder: Path) -> None:
    append(folder, 500)
    learn(folder)
    app = AppTest.from_file(APP, default_timeout=30)
    app.switch_page("pages/runs.py")
    app.run()
    assert not app.exception
    assert "1 follower learning beside production" in page_text(app)
    link = app.get("page_link")[0].proto
    assert link.label == "out.npz follows pairs.csv" and f"follow={key_of(folder / 'out.npz')}" in link.query_string
    assert "No check since this process started" in page_text(opened(follow=key_of(folder / "out.npz")))


def test_an_unknown_follower_and_a_forged_key(folder: Path) -> None:
    for key in ("0123456789ab", "../../../etc/passwd", "<script>"):
        assert "No follower of this link is known here" in page_text(opened(follow=key))


def test_a_silent_one_is_not_called_learning(folder: Path) -> None:
    append(folder, 500)
    learn(folder)
    key = key_of(folder / "out.npz")
    seen = read_watched(key)
    old = replace(seen, state="learning", at=time.time() - 100)
    (folder / "home" / "follow" / f"{key}.json").write_text(json.dumps(asdict(old)))
    assert "No sign of life for 1 min" in page_text(opened(follow=key))


def test_a_visitor_sees_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(folder, 500)
    learn(folder)
    monkeypatch.setenv(KEY, "secret")
    app = opened(follow=key_of(folder / "out.npz"))
    assert "out.npz" not in page_text(app) and "owner" in page_text(app)


@pytest.mark.slow
def test_a_process_is_watched_until_it_is_killed(folder: Path) -> None:
    append(folder, 400)
    files = ["model.npz", "--features", "x.npy", "--file", "pairs.csv", "--out", "out.npz"]
    command = [sys.executable, "-m", "ohash", "follow", *files, "--batch", "200", "--check", "500"]
    environment = os.environ | {"PYTHONPATH": str(Path(APP).parent)}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        key = re.search(r"follow=(\w+)", process.stdout.readline()).group(1)
        assert key == key_of(folder / "out.npz")
        deadline = time.monotonic() + 60
        while read_watched(key) is None and time.monotonic() < deadline:
            time.sleep(0.1)
        app = opened(follow=key)
        until(app, lambda: pairs_shown(app) == 400)
        assert ">Learning." in page_text(app)
        append(folder, 600, seed=2)
        until(app, lambda: pairs_shown(app) == 1000)
        until(app, lambda: "core seconds" in page_text(app))  # the price of the check at pair 1,000
    finally:
        process.kill()
        process.communicate()
    until(app, lambda: "No sign of life for 1" in page_text(app))
    assert pairs_shown(app) == 1000
