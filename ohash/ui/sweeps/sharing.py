"""A sweep as a link: whoever opens it can run it."""

import base64
import json
import zlib
from functools import lru_cache

import streamlit as st

from ohash.sweeps.specification import check_datasets, from_values
from ohash.sweeps.sweep import Sweep
from ohash.ui.parts.sharing import link_here
from ohash.ui.session.address import IGNORED
from ohash.ui.workarounds.markdown import escape_markdown

MAX_SPEC_BYTES = 100_000
MAX_CELLS = 2_000  # every cell is checked before anything is shown


def shared_sweep() -> Sweep | None:
    """The sweep that a link carries; a bad one is a warning."""
    text = st.query_params.get("spec", "")
    if not text:
        return None
    try:
        return decode(text)
    except ValueError as error:
        st.warning(f"{IGNORED}: {escape_markdown(error)}.", icon=":material/info:")
        return None


def encode(sweep: Sweep) -> str:
    """A sweep as a part of a link."""
    return compress(json.dumps(json.loads(sweep.to_json())))


def compress(text: str) -> str:
    """A text as a part of a link."""
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()


@lru_cache(maxsize=8)
def decode(text: str) -> Sweep:
    """The inverse of `encode`; anything else is a ValueError."""
    try:
        compressed = base64.urlsafe_b64decode(text.encode())
        values = json.loads(zlib.decompressobj().decompress(compressed, MAX_SPEC_BYTES))
    except Exception as error:
        raise ValueError("it holds no sweep") from error
    sweep = from_values(values, max_cells=MAX_CELLS)
    check_datasets(sweep)
    return sweep


def link_to(sweep: Sweep) -> str:
    """The sweep as a link."""
    return link_here({"spec": encode(sweep)})
