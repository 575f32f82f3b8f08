"""A server is warm before it answers, and app.py is what `streamlit run` takes for one."""

import asyncio
import runpy
from pathlib import Path

import pytest
import streamlit as st  # noqa: TID251
from streamlit.web.server.app_discovery import discover_asgi_app  # noqa: TID251

from ohash.ui import server_start

APP = Path(__file__).parents[2] / "app.py"


def test_a_server_answers_when_it_is_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(server_start, "warm_up", lambda: done.append("warm"))
    monkeypatch.setattr(server_start, "recording", lambda: done.append("recording"))

    async def life() -> None:
        async with server_start.lifespan(st.App(APP)):
            done.append("answers")

    asyncio.run(life())
    assert done == ["warm", "recording", "answers"]


def test_streamlit_takes_app_py_for_a_server() -> None:
    assert discover_asgi_app(APP).import_string == "app:app"
    served = runpy.run_path(str(APP))["app"]
    assert isinstance(served, st.App) and served.script_path == APP
