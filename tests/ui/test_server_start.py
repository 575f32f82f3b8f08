"""A server is warm before it answers, and app.py is what `streamlit run` takes for one."""

import asyncio
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import streamlit as st  # noqa: TID251
from streamlit.web.server.app_discovery import discover_asgi_app  # noqa: TID251

from ohash.ui import server_start
from ohash.ui.session.limits import limit

APP = Path(__file__).parents[2] / "app.py"


def test_a_server_answers_when_it_is_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(server_start, "limit_log_lines", lambda: done.append("few lines"))
    monkeypatch.setattr(server_start, "allow_open_files", lambda: done.append("many files"))
    monkeypatch.setattr(server_start, "warm_up", lambda: done.append("warm"))
    monkeypatch.setattr(server_start, "recording", lambda: done.append("recording"))

    async def life() -> None:
        async with server_start.lifespan(st.App(APP)):
            done.append("answers")

    asyncio.run(life())
    assert done == ["many files", "few lines", "warm", "recording", "answers"]


@pytest.mark.parametrize(("most", "allowed"), [(300, 300), (1_000_000, 10_240), (-1, 10_240)])
def test_as_many_open_files_are_asked_for_as_a_class_needs(
    most: int, allowed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, most))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    server_start.allow_open_files()
    assert asked == [(allowed, most)], "-1 is no limit"


@pytest.mark.slow
@pytest.mark.parametrize(("most", "allowed"), [(300, 300), (1_000_000, 10_240)])
def test_a_server_can_open_as_many_files_as_a_class_needs(most: int, allowed: int) -> None:
    resource = pytest.importorskip("resource")
    most = min(most, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    start = (
        "import asyncio, resource; from ohash.ui import server_start\n"
        "for name in ('warm_up', 'recording'): setattr(server_start, name, lambda: None)\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (256, {most}))\n"
        "asyncio.run(server_start.lifespan(None).__aenter__())\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"({min(allowed, most)}, {most})"


def test_streamlit_takes_app_py_for_a_server() -> None:
    assert discover_asgi_app(APP).import_string == "app:app"
    served = runpy.run_path(str(APP))["app"]
    assert isinstance(served, st.App) and served.script_path == APP


@pytest.mark.parametrize("given", ["abc", "-1", "2.5", "٣"])
def test_a_limit_that_is_no_number_is_said_in_one_line(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OHASH_MAX_RUNS", given)
    with pytest.raises(SystemExit, match=r"^ohash: OHASH_MAX_RUNS must be a whole number, got '"):
        limit("OHASH_MAX_RUNS", 32)
    monkeypatch.setenv("OHASH_MAX_RUNS", " 3 ")
    assert limit("OHASH_MAX_RUNS", 32) == 3
