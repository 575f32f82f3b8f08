"""A sweep as an address: who opens it can run it."""

import base64
import json
import zlib
from functools import lru_cache
from urllib.parse import urlencode

import streamlit as st

from ohash.sweeps.sweep import Sweep, check_datasets, from_values
from ohash.ui.workarounds.messages import plain

LONGEST_SPEC = 100_000
MOST_CELLS = 2_000  # every cell is checked before anything is shown


def shared_sweep() -> Sweep | None:
    """The sweep that a link carries; a bad one is a warning."""
    text = st.query_params.get("spec", "")
    if not text:
        return None
    try:
        return decoded(text)
    except ValueError as error:
        st.warning(f"The link was not quite right: {plain(error)}.", icon=":material/info:")
        return None


def encoded(chosen: Sweep) -> str:
    """A sweep as a part of a link."""
    return squeezed(json.dumps(json.loads(chosen.to_json())))


def squeezed(text: str) -> str:
    """A text as a part of a link."""
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()


@lru_cache(maxsize=8)
def decoded(text: str) -> Sweep:
    """The inverse of `encoded`; anything else is a ValueError."""
    try:
        small = base64.urlsafe_b64decode(text.encode())
        said = json.loads(zlib.decompressobj().decompress(small, LONGEST_SPEC))
    except Exception as error:
        raise ValueError("it holds no sweep") from error
    found = from_values(said, most=MOST_CELLS)
    check_datasets(found)
    return found


def link(chosen: Sweep) -> str:
    """The sweep as an address."""
    base = (st.context.url or "http://localhost:8501/sweeps").partition("?")[0]
    return f"{base}?{urlencode({'spec': encoded(chosen)})}"
