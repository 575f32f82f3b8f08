"""What the server does when it starts, so that its first visitor does not have to wait."""

import inspect
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import streamlit as st
from starlette.middleware import Middleware

from ohash.engine.live.warm_up import warm_up
from ohash.models import registry as methods
from ohash.streams import registry as datasets
from ohash.ui.live import details  # noqa: F401 (import the Live page early)
from ohash.ui.session import access, broadcast, classroom, feed
from ohash.ui.session.limits import MAX_UPLOADS_MB, MAX_UPLOADS_OF_VISITOR_MB
from ohash.ui.session.live_run import recording
from ohash.ui.workarounds.first_paint import STYLE_AND_SCRIPT, AddToPage
from ohash.ui.workarounds.hosts import GuardHosts, refuse_other_names
from ohash.ui.workarounds.log_lines import limit_log_lines
from ohash.ui.workarounds.messages import GuardMessages
from ohash.ui.workarounds.upload_limit import LimitUploads
from ohash.ui.workarounds.widget_values import drop_foreign_values
from ohash.web.bundle import cards_script

MAX_OPEN_FILES = 10_240  # more than macOS allows is refused
OF_CLASS = classroom.SCRIPT if access.is_class() else ""
MIDDLEWARE = [
    Middleware(GuardHosts),
    Middleware(GuardMessages),
    Middleware(
        LimitUploads,
        max_bytes=MAX_UPLOADS_MB * 10**6,
        max_bytes_of_visitor=MAX_UPLOADS_OF_VISITOR_MB * 10**6,
        visitor_of=access.visitor_of_request,
    ),
    Middleware(AddToPage, html=STYLE_AND_SCRIPT + cards_script() + OF_CLASS),
]
ROUTES = [*classroom.ROUTES, *broadcast.ROUTES, *feed.ROUTES]


def check_plugins() -> None:
    """End with one line if a file of OHASH_PLUGINS is broken, or declares a key that is taken."""
    try:
        methods.hashers()
        datasets.named_datasets()
    except ValueError as problem:
        sys.exit(f"ohash: {problem}")


def allow_open_files() -> None:
    """Let the server have as many open files as the system allows at once: each visitor takes four of them.

    Of 128 who have left Streamlit keeps three. Programs have 1,024 at first, and 256 on macOS: too few for a class.
    """
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 (not on Windows)

    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if most == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        with suppress(OSError, ValueError):  # where the system has yet another limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """The server answers once it is warm."""
    allow_open_files()
    refuse_other_names()
    drop_foreign_values()
    limit_log_lines()
    warm_up()
    recording()
    inspect.stack()  # Streamlit calls it with its first element, and the first call resolves the file of every module
    yield
