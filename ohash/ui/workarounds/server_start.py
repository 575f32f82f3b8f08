"""What a server does when it starts: all that its first visitor would otherwise wait for."""

import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from ohash.engine.live.warm_up import warm
from ohash.ui.live import details as below  # noqa: F401 (to have them imported)
from ohash.ui.live.recording import recording


@asynccontextmanager
async def prepared(_: st.App) -> AsyncIterator[None]:
    """The life of the server: it answers when it is warm."""
    warm()
    recording()
    inspect.stack()  # Streamlit does so at its first element, and then it resolves the file of every module
    yield
