"""What the server does when it starts, so that its first visitor does not have to wait."""

import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

from ohash.engine.live.warm_up import warm
from ohash.ui.live import details  # noqa: F401 (import the Live page early)
from ohash.ui.session.recording import recording
from ohash.ui.workarounds.first_paint import AddToPage
from ohash.ui.workarounds.script import SCRIPT
from ohash.ui.workarounds.style import CSS

MIDDLEWARE = [Middleware(AddToPage, html=CSS + SCRIPT)]


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """The server answers once it is warm."""
    warm()
    recording()
    inspect.stack()  # Streamlit calls it with its first element, and the first call resolves the file of every module
    yield
